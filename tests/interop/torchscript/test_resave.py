"""What Flambeau writes after reading and compiling a module is what PyTorch writes, byte for byte."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import resave  # noqa: E402

# The full run is resave.py's; a sample is enough to notice.
EVERY = 25


@pytest.fixture(scope="session")
def tool(flambeau):
    return pathlib.Path(flambeau.path).parents[2] / "tests/tools/script_resave"


def check(tool, files, least_same):
    results = resave.compare(tool, files)
    same = sum(not result for result in results.values())
    wrong = "\n".join(f"{name}: {result}" for name, result in results.items() if result)
    assert same >= least_same * len(results), f"{same} of {len(results)} are the same:\n{wrong}"


def test_harvested_archives(tool, fixtures):
    files = resave.gather([fixtures / "torchscript" / "calls.zip"], EVERY)
    assert files
    check(tool, files, 0.9)
