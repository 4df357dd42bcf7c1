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


def shared_values_to_flambeau(flambeau, tree):
    """The same, and tensors of one storage stay views of one, which DLPack does not say: it tells where memory begins, not whose it is."""
    leaves = [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
    bases = {}

    def convert(leaf):
        if not isinstance(leaf, torch.Tensor) or leaf.is_conj() or leaf.is_neg():
            return to_flambeau(leaf)
        storage = leaf.untyped_storage()
        sharing = [other for other in leaves if other.untyped_storage()._cdata == storage._cdata]
        if len(sharing) == 1 or any(other.dtype != leaf.dtype for other in sharing):
            return to_flambeau(leaf)
        if storage._cdata not in bases:
            flat = torch.empty(0, dtype=leaf.dtype).set_(storage, 0, (storage.nbytes() // leaf.itemsize,), (1,))
            bases[storage._cdata] = flambeau.ops.aten.alias(flat)
        return flambeau.ops.aten.as_strided(bases[storage._cdata], list(leaf.shape), list(leaf.stride()), leaf.storage_offset())

    return pytree.tree_map(convert, tree)


def values_to_torch(tree):
    return pytree.tree_map(to_torch, tree)
