"""What the interop tests share: the command under test, the real PyTorch beside it, and real files.

scripts/test runs them as `pytest tests/interop` and sets:
  FLAMBEAU_BIN       the command; build/dev/apps/flambeau/flambeau when unset
  FLAMBEAU_TORCH113  a Python that has PyTorch 1.13; tests that need it skip themselves when unset
  FLAMBEAU_FIXTURES  a folder of real files made by others; likewise
"""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


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

    def run(source, *arguments):
        done = subprocess.run([python, "-c", source, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def fixtures():
    folder = os.environ.get("FLAMBEAU_FIXTURES")
    if not folder:
        pytest.skip("FLAMBEAU_FIXTURES is not set")
    return pathlib.Path(folder)
