"""The operators that a build for a module needs are those that PyTorch lists."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import opnames  # noqa: E402


def test_fixtures(flambeau, fixtures):
    files = [path for folder in ("real", "torch-2.4") for path in sorted((fixtures / folder).rglob("*")) if path.suffix in (".pt", ".ptl", ".pth")]
    right, wrong = opnames.judge(flambeau.path, files)
    assert right > 40 and not wrong, wrong
