"""Modules written in C++ and traced by Flambeau, beside the same modules exported by PyTorch: the programs are equal in
PyTorch's own canonical form, and what Flambeau wrote opens and runs in PyTorch, with other sizes too.
"""

import inspect
import json
import pathlib
import sys

import pytest
import torch
import torch.utils._pytree as pytree
from torch.export import Dim

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / folder) for folder in ("export", "nn", ".")]
import cache  # noqa: E402
import side_by_side  # noqa: E402
from test_nn import CASES, make as make_module, make_inputs, nn_cases, write_inputs  # noqa: E402, F401

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = (HERE / "test_export.py", *(HERE.parent / "nn" / name for name in ("test_nn.py", "nn_layers.py", "nn_models.py")))


def is_batch(value, size):
    return isinstance(value, torch.Tensor) and value.dim() > 1 and value.shape[0] == size


def batch_size(args):
    return next(leaf for leaf in pytree.tree_leaves(args) if isinstance(leaf, torch.Tensor)).shape[0]


def export_by_torch(module, args, kwargs, dim):
    """With the first dimension of everything that has the batch's size dynamic; None when PyTorch refuses."""
    shapes = None
    if dim is not None:
        size = batch_size(args)

        def spec(value):
            return {0: dim} if is_batch(value, size) else None

        names = list(inspect.signature(module.forward).parameters)
        shapes = {name: pytree.tree_map(spec, value) for name, value in [*zip(names, args), *kwargs.items()]}
    try:
        return torch.export.export(module, tuple(args), kwargs, dynamic_shapes=shapes)
    except (torch._dynamo.exc.UserError, ValueError):
        return None


def by_torch(name, training, dynamic):
    """The program that PyTorch exports, and how its batch is called: as a name where PyTorch takes one."""

    def make(folder):
        module = make_module(name).train(training)
        args, kwargs = make_inputs(name)
        for word in ("batch", "AUTO") if dynamic else ("",):
            theirs = export_by_torch(module, args, kwargs, Dim(word) if word == "batch" else Dim.AUTO if word else None)
            if theirs is not None:
                break
        assert theirs is not None, "PyTorch refuses the module"
        torch.export.save(theirs, folder / "theirs.pt2")
        (folder / "word").write_text(word)

    folder = cache.entry("export", SOURCES, (name, training, dynamic), make)
    return folder / "theirs.pt2", (folder / "word").read_text()


def check(nn_cases, tmp_path, name, training, dynamic):  # noqa: F811
    module = make_module(name).train(training)
    torch.save(module.state_dict(), tmp_path / "state.pt")
    args, kwargs = make_inputs(name)
    write_inputs(tmp_path / "inputs.json", args, kwargs, training)
    theirs, word = by_torch(name, training, dynamic)
    if dynamic:
        description = json.loads((tmp_path / "inputs.json").read_text())
        tensors = torch.load(tmp_path / description["tensors"], weights_only=True)
        size = batch_size(args)
        description["dynamic"] = {key: {"0": word} for key, value in tensors.items() if is_batch(value, size)}
        (tmp_path / "inputs.json").write_text(json.dumps(description))
    nn_cases("export", name, tmp_path / "state.pt", tmp_path / "inputs.json", tmp_path / "ours.pt2")
    assert side_by_side.compare(tmp_path / "ours.pt2", theirs) == []
    if training:
        return
    loaded = torch.export.load(tmp_path / "ours.pt2").module()
    torch.testing.assert_close(loaded(*args, **kwargs), module(*args, **kwargs))
    if dynamic and word == "batch":
        # Twice the batch: within the constraints, so PyTorch runs it as it runs the module.
        def twice(value):
            return torch.cat([value, value]) if is_batch(value, batch_size(args)) else value

        more, named = pytree.tree_map(twice, list(args)), pytree.tree_map(twice, kwargs)
        torch.testing.assert_close(loaded(*more, **named), module(*more, **named))


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("name", CASES)
def test_static(nn_cases, tmp_path, name, training):  # noqa: F811
    check(nn_cases, tmp_path, name, training, dynamic=False)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("name", CASES)
def test_dynamic_batch(nn_cases, tmp_path, name, training):  # noqa: F811
    check(nn_cases, tmp_path, name, training, dynamic=True)
