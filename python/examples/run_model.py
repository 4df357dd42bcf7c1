"""Runs an exported model on random inputs and says where the time goes: run_model.py MODEL.pt2 [SIZE]

SIZE is what dimensions that are not fixed get; 2 when left out."""

import sys

import flambeau
import numpy


def random_input(leaf, size):
    if leaf.kind != "tensor":
        raise SystemExit(f"{leaf} is no tensor: this example cannot invent one")
    shape = [d if isinstance(d, int) else size for d in leaf.shape]
    if leaf.dtype.startswith(("float", "complex")):
        return numpy.random.rand(*shape).astype(leaf.dtype)
    return numpy.zeros(shape, dtype=leaf.dtype)


model = flambeau.load(sys.argv[1])
print(model)
size = int(sys.argv[2]) if len(sys.argv) > 2 else 2
inputs = [random_input(leaf, size) for leaf in model.inputs]
print(model.profile(*inputs))
