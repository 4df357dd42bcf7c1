"""PyTorch's values to Flambeau's Python package and back: tensors by DLPack, without a copy; types and devices by name.

The package takes everything that has __dlpack__, so a torch tensor goes in as it is: what the operator writes into an argument is
then seen in that tensor. What DLPack cannot say is resolved first: gradients, and bits that mark a view as conjugate or negative.
"""

import torch
from torch.utils import _pytree as pytree

NAMED = (torch.dtype, torch.layout, torch.memory_format)


def to_flambeau(value):
    """A leaf as the package takes it; names are PyTorch's without "torch.": "float32", "strided", "channels_last", "cpu"."""
    if isinstance(value, torch.Tensor):
        return value.detach().resolve_conj().resolve_neg()
    if isinstance(value, NAMED):
        return str(value).removeprefix("torch.")
    if isinstance(value, torch.device):
        return str(value)
    return value


def to_torch(value):
    if isinstance(value, torch.Tensor) or not hasattr(value, "__dlpack__"):
        return value
    return torch.from_dlpack(value)


def values_to_flambeau(tree):
    """The same containers with every leaf as the package takes it."""
    return pytree.tree_map(to_flambeau, tree)


def values_to_torch(tree):
    return pytree.tree_map(to_torch, tree)
