"""What torch.export itself makes of one call of an operator with a first dimension that may vary."""

import io

import torch
from torch.utils import _pytree as pytree

import exported
import record

NOT = "PyTorch neither"


class Call(torch.nn.Module):
    def __init__(self, sample):
        super().__init__()
        self.op = sample.op
        self.leaves, self.spec = pytree.tree_flatten((list(sample.args), list(sample.kwargs.values())))
        self.names = list(sample.kwargs)

    def forward(self, tensors):
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return self.op(*args, **dict(zip(self.names, kwargs)))


def program(sample):
    """The program that PyTorch exports."""
    tensors = exported.resolved(record.copied(exported.inputs_of(sample)))
    call = Call(sample)
    shapes = [{0: torch.export.Dim.AUTO} if tensor.dim() else None for tensor in tensors]
    with torch.no_grad():
        return torch.export.export(call, (tensors,), dynamic_shapes=(shapes,))


def freedom(sample):
    """What is free of the first dimension, or why PyTorch does not export, save, load or run the program."""
    try:
        made = program(sample)
        found = exported.freedom(exported.meta(made)[0])
        file = io.BytesIO()
        torch.export.save(made, file)
        file.seek(0)
        torch.export.load(file).module()(exported.resolved(record.copied(exported.inputs_of(sample))))
        return found
    except Exception as error:
        return f"{NOT}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
