"""Branches, loops and state that is replaced, in modules written in C++: the programs equal PyTorch's, as they are traced and
after they are taken apart, and give the eager values in PyTorch whichever way the data goes.
"""

import copy
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
from nn_flow import FLOWS  # noqa: E402
from test_decompositions import decompose  # noqa: E402
from test_nn import nn_cases, write_inputs  # noqa: E402, F401

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = (HERE / "test_control_flow.py", HERE.parent / "nn/nn_flow.py")


def both(nn_cases, tmp_path, name, dynamic):  # noqa: F811
    """Exports by both, ours into ours.pt2; the Python module, its inputs, and the folder of theirs.pt2 and apart.pt2."""
    make, inputs = FLOWS[name]
    torch.manual_seed(0)
    module, args = make().eval(), inputs()
    torch.save(module.state_dict(), tmp_path / "state.pt")
    write_inputs(tmp_path / "inputs.json", args, {})
    shapes = None
    if dynamic:
        batch = Dim("batch")
        # PyTorch makes one symbol of two sizes that are equal in the example when it traces branches: one is free here.
        free = [arg.dim() == 2 and (i == 0 or name != "cond_sizes") for i, arg in enumerate(args)]
        shapes = tuple({0: batch} if is_free else None for is_free in free)
        description = json.loads((tmp_path / "inputs.json").read_text())
        description["dynamic"] = {str(i): {"0": "batch"} for i, is_free in enumerate(free) if is_free}
        (tmp_path / "inputs.json").write_text(json.dumps(description))

    def by_torch(folder):
        program = torch.export.export(copy.deepcopy(module), args, dynamic_shapes=shapes, strict=False)
        torch.export.save(program, folder / "theirs.pt2")
        if not dynamic:
            torch.export.save(program.run_decompositions(), folder / "apart.pt2")

    theirs = cache.entry("control-flow", SOURCES, (name, dynamic), by_torch)
    nn_cases("export", name, tmp_path / "state.pt", tmp_path / "inputs.json", tmp_path / "ours.pt2")
    return module, args, theirs


def test_the_names_are_the_same(nn_cases):  # noqa: F811
    assert nn_cases("list", "flow").split() == list(FLOWS)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", FLOWS)
def test_equal(nn_cases, tmp_path, name, dynamic):  # noqa: F811
    module, args, theirs = both(nn_cases, tmp_path, name, dynamic)
    # PyTorch traces branches twice, which changes the order of its guards.
    ignored = ("torch_version", "guards_code") if dynamic and name == "cond_closures" else ("torch_version",)
    assert side_by_side.compare(tmp_path / "ours.pt2", theirs / "theirs.pt2", ignored) == []
    loaded = torch.export.load(tmp_path / "ours.pt2").module()
    for change in (lambda arg: arg, torch.neg):
        given = [change(arg) if arg.is_floating_point() else arg for arg in args]
        expected = copy.deepcopy(module)(*given)
        for one, other in zip(pytree.tree_leaves(copy.deepcopy(loaded)(*given)), pytree.tree_leaves(expected)):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", FLOWS)
def test_equal_when_taken_apart(nn_cases, tmp_path, name):  # noqa: F811
    _, _, theirs = both(nn_cases, tmp_path, name, dynamic=False)
    decompose(tmp_path / "ours.pt2", tmp_path / "ours_apart.pt2")
    found = side_by_side.compare(tmp_path / "ours_apart.pt2", theirs / "apart.pt2")
    # PyTorch counts nodes that are gone again when it names those that an assertion's text mentions.
    assert [line for line in found if "Runtime assertion failed" not in line] == []


def test_preserved_calls(nn_cases, tmp_path):  # noqa: F811
    make, inputs = FLOWS["called_twice"]
    torch.manual_seed(0)
    module, args = make().eval(), inputs()
    torch.save(module.state_dict(), tmp_path / "state.pt")
    write_inputs(tmp_path / "inputs.json", args, {})
    description = json.loads((tmp_path / "inputs.json").read_text())
    (tmp_path / "inputs.json").write_text(json.dumps({**description, "preserved": ["block", "last"]}))
    theirs = torch.export.export(module, args, strict=False, preserve_module_call_signature=("block", "last"))
    torch.export.save(theirs, tmp_path / "theirs.pt2")
    nn_cases("export", "called_twice", tmp_path / "state.pt", tmp_path / "inputs.json", tmp_path / "ours.pt2")
    assert side_by_side.compare(tmp_path / "ours.pt2", tmp_path / "theirs.pt2") == []
    unflattened = torch.export.unflatten(torch.export.load(tmp_path / "ours.pt2"))
    torch.testing.assert_close(unflattened(*args), module(*args))
    torch.testing.assert_close(unflattened.last(*args), module.last(*args))
