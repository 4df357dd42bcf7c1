"""The operators that a build for a module needs are those that PyTorch lists."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import opnames  # noqa: E402

# Modules in which PyTorch computes lengths of known lists, and remainders of them, before it lists: ours lists those operators, too.
LISTED_TOO = {"dynamic_quant_ops.ptl", "normalization_ops.ptl", "padding_ops.ptl", "transformer_ops.ptl"}


def test_fixtures(flambeau, fixtures):
    files = [path for folder in ("real", "torch-2.4") for path in sorted((fixtures / folder).rglob("*")) if path.suffix in (".pt", ".ptl", ".pth")]
    right, wrong = opnames.judge(flambeau.path, files)
    assert right > 40 and {path.name for path in wrong} <= LISTED_TOO, wrong
    assert all(set(names) <= {"aten::len.t", "aten::remainder.int", "aten::floordiv.int"} for names in wrong.values()), wrong
