#!/usr/bin/env python3
"""Writes src/flambeau/script/operators/python/spellings.txt: what Python calls the operators of TorchScript.

    python scripts/generate_python_spellings.py [FILE]     with a Python that has PyTorch 2.13

A line is a place and names of aten operators that can be called there with the arguments of their schemas: "torch abs add" means
torch.abs(x), "method view" x.view(). Functions of PyTorch that are written in Python, and so are functions of an archive's code,
have a line each: the archive's name, what to write for it, and the names of its arguments.
"""

import argparse
import inspect
import pathlib
import sys
import textwrap
import types

import torch
import torch.nn.functional as F

FILE = pathlib.Path(__file__).resolve().parents[1] / "src/flambeau/script/operators/python/spellings.txt"

# Written in Python there; with the arguments of the schema they do what the operator does.
IN_PYTHON = [
    "silu", "mish", "relu6", "hardswish", "hardsigmoid", "hardtanh", "leaky_relu", "glu", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "pad",
]  # fmt: skip
METHODS_IN_PYTHON = ["split"]
# Take other arguments than their schemas say, or give objects where TorchScript has numbers.
OTHERWISE = {"sym_constrain_range", "result_type", "promote_types", "qscheme", "norm", "from_file", "_to_cpu", "tensor_split"}


def place(name):
    if name in OTHERWISE:
        return None
    if name in IN_PYTHON:
        return "F"
    if name in METHODS_IN_PYTHON:
        return "method"
    method = torch._C.TensorBase.__dict__.get(name)
    is_method = type(method).__name__ == "method_descriptor" and isinstance(getattr(torch.Tensor, name), type(method))
    if name.endswith("_") and is_method:
        return "method"
    if isinstance(getattr(torch, name, None), types.BuiltinFunctionType) and hasattr(torch._C._VariableFunctions, name):
        return "torch"
    if is_method:
        return "method"
    if hasattr(torch._C._nn, name) and getattr(F, name, None) is getattr(torch._C._nn, name):
        return "F"
    for space in ("special", "linalg", "fft"):
        found = getattr(getattr(torch, space), name.removeprefix(space + "_"), None)
        if name.startswith(space + "_") and isinstance(found, types.BuiltinFunctionType):
            return space
    return None


def functions():
    """Lines for the functions of Python modules."""
    for module, written in ((torch.nn.functional, "F"), (torch.functional, "torch.functional")):
        for name, found in sorted(vars(module).items()):
            if not isinstance(found, types.FunctionType) or found.__module__ != module.__name__:
                continue
            parameters = inspect.signature(found).parameters.values()
            if all(each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters):
                yield f"function {module.__name__}.{name} {written}.{name} {','.join(each.name for each in parameters)}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=FILE)
    given = parser.parse_args()
    if not torch.__version__.startswith("2.13."):
        sys.exit(f"the names are those of PyTorch 2.13, this is {torch.__version__}")
    places = {}
    for name in sorted({schema.name.removeprefix("aten::") for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")}):
        if found := place(name):
            places.setdefault(found, []).append(name)
    text = "# What Python calls operators in PyTorch 2.13, written by scripts/generate_python_spellings.py.\n"
    for found, names in sorted(places.items()):
        text += "".join(f"{found} {line}\n" for line in textwrap.wrap(" ".join(names), 140))
    given.file.write_text(text + "".join(functions()))
    print({found: len(names) for found, names in places.items()})


if __name__ == "__main__":
    main()
