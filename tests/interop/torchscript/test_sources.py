"""Texts of users compile as in PyTorch, to the same code, and wrong ones are wrong in the same line."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sources  # noqa: E402


@pytest.fixture(scope="session")
def found(flambeau, fixtures):
    tool = pathlib.Path(flambeau.path).parents[2] / "tests/interop/torchscript/compile_texts"
    return sources.judge(tool, fixtures / "torchscript" / "sources.zip")[-1]


def share(part, rest):
    return len(part) / (len(part) + len(rest))


def test_what_pytorch_compiles_compiles(found):
    assert share(found["compiles"], found["refused by us"]) >= 0.97, found["refused by us"]


def test_code_is_the_same(found):
    assert share(found["code"], found["other code"]) >= 0.99, found["other code"]


def test_errors_are_in_the_same_line(found):
    assert share(found["line"], found["other line"]) >= 0.95, found["other line"]
