"""PyTorch's own samples of every operator in scope, through the Python package; run.py says more of a single operator."""

import argparse
import collections
import json
import pathlib

import pytest

package = pytest.importorskip("flambeau", reason="the Python package is not installed (pip install ./python)")

import choose  # noqa: E402
import run  # noqa: E402
import scope  # noqa: E402
from together import run_folder, together  # noqa: E402

ENOUGH = 0.98
PARTS = 60


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    options = argparse.Namespace(op=[], dtype=[], all=False, trace=False, verbose=False, fail_fast=False)
    units = choose.units(scope.operators())

    def run_part(number):
        return run.as_json(run.run_all(package, options, units[number::PARTS]))

    outcomes = {name: run.Outcome() for name in scope.operators()}
    for part in together(run_folder(tmp_path_factory) / "opinfo", PARTS, run_part):
        for name, counts in part["operators"].items():
            outcomes[name].add_counts(counts)
    print("\n".join(run.summary(outcomes)))
    path = run.ROOT / "build/opinfo/results.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run.as_json(outcomes), indent=1))
    return outcomes


def test_samples_agree(outcomes):
    total = sum(outcome.samples for outcome in outcomes.values())
    passed = sum(outcome.passed for outcome in outcomes.values())
    assert total > 30000
    assert passed >= ENOUGH * total, "\n".join(run.summary(outcomes))


def test_no_operator_is_left_out(outcomes):
    counts = collections.Counter()
    for name, outcome in outcomes.items():
        counts[name.partition(".")[0]] += outcome.passed
    assert [name for name in {name.partition(".")[0] for name in scope.operators()} if not counts[name]] == []


def test_the_table_of_operators_is_complete():
    """docs/operators.md is generated (table.py): it names every operator in scope."""
    table = pathlib.Path(run.ROOT / "docs/operators.md").read_text()
    assert [name for name in {n.partition(".")[0] for n in scope.operators()} if f"`{name.removeprefix('aten::')}`" not in table] == []
