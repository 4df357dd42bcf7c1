"""TorchScript's own operators give what PyTorch gives, for samples made from their schemas."""

import pathlib
import subprocess
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import builtin_cases  # noqa: E402

# Samples of each operator; builtin_cases.py takes any number.
SAMPLES = 20
# What PyTorch answers otherwise than it should: abs of bools is refused, complex numbers overflow where floats do not.
LEAST_RIGHT = 0.998


@pytest.fixture(scope="session")
def tool(flambeau):
    return pathlib.Path(flambeau.path).parents[2] / "tests/interop/torchscript/script_builtins"


def test_builtins(tool, tmp_path):
    cases = builtin_cases.make(SAMPLES)
    assert len({case["op"] for case in cases}) > 600
    torch.save(cases, tmp_path / "cases.pt")
    run = subprocess.run([tool, tmp_path / "cases.pt"], capture_output=True, text=True, check=False)
    right, count = (int(word) for word in run.stdout.splitlines()[-1].split()[:3:2])
    assert count == len(cases)
    assert right >= LEAST_RIGHT * count, run.stdout
