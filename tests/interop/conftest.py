"""What the interop tests share: the command under test, the real PyTorch beside it, and real files.

scripts/test runs them as `pytest tests/interop` and sets:
  FLAMBEAU_BIN       the command; build/dev/apps/flambeau/flambeau when unset
  FLAMBEAU_TORCH113  a Python that has PyTorch 1.13; tests that need it skip themselves when unset
  FLAMBEAU_FIXTURES  a folder of real files made by others; likewise
With pytest-xdist there is a process for each core (-n). What PyTorch computes for the tests is kept (cache.py).
"""

import gc
import json
import os
import pathlib
import subprocess

import pytest

from fork_server import ForkServer

ROOT = pathlib.Path(__file__).resolve().parents[2]

if "PYTEST_XDIST_WORKER" in os.environ:
    # PyTorch's threads spin while they wait, and take the core from the next process.
    os.environ["OMP_NUM_THREADS"] = "1"

# These start first, in this order: what is left for the end is short, and no core waits for another.
FIRST = [
    "test_opinfo.py",
    "test_random_modules.py",
    "test_kill_convert.py",
    "test_graphs_of_real_models",
    "test_symbolic.py",
    "test_models.py",
    "test_decompositions.py",
    "test_export.py",
    "test_constraints.py",
    "test_pt2_round_trip.py",  # makes the programs, one by one, which the tests after it need all at once
    "test_verify.py",
    "test_text.py",
]


def pytest_collection_modifyitems(items):
    def place(item):
        return next((place for place, name in enumerate(FIRST) if name in item.nodeid), len(FIRST))

    items.sort(key=place)


def pytest_collection_finish():
    # What is imported by now stays: going through it again and again is a fifth of the time that an export takes.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from distribution import Scheduler

    return Scheduler(config, log)


class Command:
    """The flambeau command: flambeau("inspect", path) gives its output, or fails the test."""

    def __init__(self, path):
        self.path = path

    def run(self, *arguments, timeout=120):
        """The finished process, whatever it returned."""
        return subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True, timeout=timeout)

    def __call__(self, *arguments):
        done = self.run(*arguments)
        assert done.returncode == 0, f"flambeau {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
        return done.stdout

    def json(self, *arguments):
        return json.loads(self(*arguments, "--json"))

    def error(self, *arguments):
        """What it says on standard error when it refuses; a crash or a success fails the test."""
        done = self.run(*arguments)
        assert 0 < done.returncode < 100, f"expected a clean refusal, got {done.returncode}\n{done.stderr}"
        return done.stderr


@pytest.fixture(scope="session")
def flambeau():
    path = pathlib.Path(os.environ.get("FLAMBEAU_BIN", ROOT / "build/dev/apps/flambeau/flambeau"))
    if not path.exists():
        pytest.fail(f"there is no command at {path}: build it first")
    return Command(path)


@pytest.fixture(scope="session")
def dump(flambeau):
    """Every tensor of a file with all its bits, as Flambeau read it: dump(path) gives a list."""
    tool = pathlib.Path(flambeau.path).parents[2] / "tests/tools/dump_tensors"

    def run(path):
        done = subprocess.run([tool, path], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def torch113():
    """Runs Python source under PyTorch 1.13: torch113("import torch; ...", argument, ...) gives its output."""
    python = os.environ.get("FLAMBEAU_TORCH113")
    if not python:
        pytest.skip("FLAMBEAU_TORCH113 is not set")
    server = ForkServer(python, "torch")

    def run(source, *arguments):
        code, output, errors = server.run(source, *arguments)
        assert code == 0, errors
        return output

    yield run
    server.stop()


@pytest.fixture(scope="session")
def fixtures():
    folder = os.environ.get("FLAMBEAU_FIXTURES")
    if not folder:
        pytest.skip("FLAMBEAU_FIXTURES is not set")
    return pathlib.Path(folder)
