"""The operators that a build for a module needs are those that PyTorch lists."""

import json
import pathlib
import subprocess
import sys

# Modules in which PyTorch computes lengths of known lists, and remainders of them, before it lists: ours lists those operators, too.
LISTED_TOO = {"dynamic_quant_ops.ptl", "normalization_ops.ptl", "padding_ops.ptl", "transformer_ops.ptl"}

# In a process of its own: what a process did before decides what PyTorch lists.
JUDGE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import opnames
print(json.dumps(opnames.judge(sys.argv[2], sys.argv[3:])))
"""


def test_fixtures(flambeau, fixtures):
    files = [path for folder in ("real", "torch-2.4") for path in sorted((fixtures / folder).rglob("*")) if path.suffix in (".pt", ".ptl", ".pth")]
    arguments = [sys.executable, "-W", "ignore", "-c", JUDGE, pathlib.Path(__file__).parent, flambeau.path, *files]
    right, wrong = json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    assert right > 40 and {pathlib.Path(path).name for path in wrong} <= LISTED_TOO, wrong
    assert all(set(names) <= {"aten::len.t", "aten::remainder.int", "aten::floordiv.int"} for names in wrong.values()), wrong
