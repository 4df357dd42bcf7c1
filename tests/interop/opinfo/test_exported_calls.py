"""A call of every operator exported with a first dimension that may vary, and run in PyTorch: a sample of each. run_export.py runs more,
and says more of one."""

import argparse

import pytest

pytest.importorskip("flambeau", reason="the Python package is not installed (pip install ./python)")

import exported  # noqa: E402
import run_export  # noqa: E402
from together import run_folder  # noqa: E402

ENOUGH = 0.995  # of the calls of which not_exported.txt does not say why they fail
ENOUGH_FREE = 0.9  # of those that have a size that could vary


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    if not exported.TOOL.exists():
        pytest.skip(f"{exported.TOOL.name} is not built")
    options = argparse.Namespace(op=[], few=True, beside=False, verbose=False)
    found = run_export.run_together(options, run_folder(tmp_path_factory) / "exported")
    print("\n".join(run_export.summary(found)))
    return found


def test_programs_give_what_pytorch_gives(outcomes):
    assert len(outcomes) > 900
    bad = sum(map(run_export.is_unexplained, outcomes))
    assert bad <= (1 - ENOUGH) * len(outcomes), "\n".join(run_export.summary(outcomes))


def test_the_first_dimension_stays_free(outcomes):
    free = sum(outcome["free"] == exported.FREE for outcome in outcomes)
    fixed = sum(outcome["free"] == exported.FIXED for outcome in outcomes)
    assert free >= ENOUGH_FREE * (free + fixed), "\n".join(run_export.summary(outcomes))
