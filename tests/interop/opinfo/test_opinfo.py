"""PyTorch's own samples of every operator, through the Python package: an even sample of them. run.py runs more, and says more of one."""

import argparse
import collections
import pathlib

import pytest

package = pytest.importorskip("flambeau", reason="the Python package is not installed (pip install ./python)")

import run  # noqa: E402
import scope  # noqa: E402
from together import run_folder  # noqa: E402

ENOUGH = 0.999  # of the samples of operators that are there
ENOUGH_REFUSED = 0.99


def options(**given):
    plain = {"op": [], "dtype": [], "all": False, "few": True, "errors": False, "trace": False, "verbose": False, "fail_fast": False}
    return argparse.Namespace(**plain | given)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    found = run.run_together(package, options(), run_folder(tmp_path_factory) / "opinfo")
    print("\n".join(run.summary(found)))
    return found


def share(outcomes):
    there = [outcome for outcome in outcomes.values() if not run.is_missing(outcome)]
    return sum(outcome.passed for outcome in there), sum(outcome.samples for outcome in there)


def test_samples_agree(outcomes):
    passed, total = share(outcomes)
    assert total > 20000
    assert passed >= ENOUGH * total, "\n".join(run.summary(outcomes))


def test_no_operator_is_left_out(outcomes):
    """Of whatever Flambeau has and was tried some sample passes."""
    samples, passed = collections.Counter(), collections.Counter()
    for name, outcome in outcomes.items():
        samples[scope.functional(name)] += outcome.samples
        passed[scope.functional(name)] += outcome.passed
    assert sorted(name for name in scope.ours() if samples[name] and not passed[name]) == []


def test_what_pytorch_refuses_is_refused(tmp_path_factory):
    found = run.run_together(package, options(errors=True), run_folder(tmp_path_factory) / "opinfo-errors")
    passed, total = share(found)
    assert total > 300
    assert passed >= ENOUGH_REFUSED * total, "\n".join(run.summary(found, with_unsampled=False))


def test_the_table_of_operators_is_complete():
    """docs/operators.md is generated (table.py): it names every operator that is there."""
    table = pathlib.Path(run.ROOT / "docs/operators.md").read_text()
    assert sorted(name for name in scope.ours() if f"`{name.removeprefix('aten::')}`" not in table) == []
