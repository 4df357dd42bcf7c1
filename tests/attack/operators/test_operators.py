"""A short run of attack.py over all operators: a few calls of each, the same every time."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attack  # noqa: E402

NAMES = attack.operator_names()
GROUPS = 16


@pytest.mark.parametrize("group", range(GROUPS))
def test_operators_survive(group):
    found = attack.attack(NAMES[group::GROUPS], calls=4, seed=1, routes=attack.ROUTES, workers=1, say=lambda *_, **__: None)
    assert found == []
