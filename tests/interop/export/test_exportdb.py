"""PyTorch's database of what export takes, torch._export.db.examples: every case, written as a module in C++ under the same
name, gives the program that PyTorch gives; what PyTorch refuses is refused with a message of ours.
"""

import copy
import inspect
import json
import pathlib
import sys

import pytest
import torch
import torch.utils._pytree as pytree
from torch._export.db.case import SupportLevel
from torch._export.db.examples import all_examples

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / folder) for folder in ("export", "nn", ".")]
import cache  # noqa: E402
import side_by_side  # noqa: E402
from test_nn import nn_cases, write_inputs  # noqa: E402, F401

EXAMPLES = all_examples()
SUPPORTED = [name for name, case in EXAMPLES.items() if case.support_level == SupportLevel.SUPPORTED]
REFUSED = {
    "dynamic_shape_round": ["exportdb_cases.cpp", "no operators compute the size RoundToInt(IntTrueDiv(s77, 2))",
                            "compute sizes with +, -, *, whole division"],
}


def prepare(name, tmp_path):
    case = EXAMPLES[name]
    if name == "optional_input":  # the constant that C++ has as well
        type(case.model).forward.__defaults__ = (torch.ones(2, 3),)
    torch.save(case.model.state_dict(), tmp_path / "state.pt")
    write_inputs(tmp_path / "inputs.json", case.example_args, case.example_kwargs)
    if case.dynamic_shapes:
        description = json.loads((tmp_path / "inputs.json").read_text())
        keys = {}
        for given, argument in zip(description["args"], case.dynamic_shapes.values()):
            if argument:
                keys[given["tensor"]] = {str(dim): bound.__name__ for dim, bound in argument.items()}
        description["dynamic"] = keys
        (tmp_path / "inputs.json").write_text(json.dumps(description))
    return case


def by_torch(name, case):
    def make(folder):
        program = torch.export.export(case.model, case.example_args, case.example_kwargs, dynamic_shapes=case.dynamic_shapes,
                                      strict=False)
        torch.export.save(program, folder / "theirs.pt2")

    return cache.entry("exportdb", (pathlib.Path(__file__),), (name,), make) / "theirs.pt2"


def test_every_case_is_here(nn_cases):  # noqa: F811
    assert sorted(nn_cases("list", "exportdb").split()) == sorted(EXAMPLES)
    assert sorted(REFUSED) == sorted(set(EXAMPLES) - set(SUPPORTED))


@pytest.mark.parametrize("name", SUPPORTED)
def test_supported(nn_cases, tmp_path, name):  # noqa: F811
    case = prepare(name, tmp_path)
    theirs = by_torch(name, case)
    nn_cases("export", name, tmp_path / "state.pt", tmp_path / "inputs.json", tmp_path / "ours.pt2")
    assert side_by_side.compare(tmp_path / "ours.pt2", theirs) == []
    loaded = torch.export.load(tmp_path / "ours.pt2").module()
    extra = getattr(inspect.getmodule(type(case.model)), "extra_inputs", None)
    inputs = [(case.example_args, case.example_kwargs)] + ([(extra, {})] if extra else [])
    for args, kwargs in inputs:
        expected = case.model(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        actual = loaded(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        assert pytree.tree_structure(actual) == pytree.tree_structure(expected)
        for one, other in zip(pytree.tree_leaves(actual), pytree.tree_leaves(expected)):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(nn_cases, tmp_path, name):  # noqa: F811
    case = prepare(name, tmp_path)
    with pytest.raises(Exception, match="."):
        torch.export.export(case.model, case.example_args, case.example_kwargs, dynamic_shapes=case.dynamic_shapes)
    with pytest.raises(AssertionError) as failure:
        nn_cases("export", name, tmp_path / "state.pt", tmp_path / "inputs.json", tmp_path / "ours.pt2")
    for text in REFUSED[name]:
        assert text in str(failure.value)
