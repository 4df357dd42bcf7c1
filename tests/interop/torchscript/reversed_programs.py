"""Judges programs that became TorchScript modules: torch.jit.load opens each, and it gives what the program gives.

    python reversed_programs.py [NAME...]      all programs of the tests, or those named

Programs with operators that take graphs are left out, except those that TorchScript can say all the same.
"""

import argparse
import collections
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import torch  # noqa: E402

import programs  # noqa: E402

COMMAND = os.environ.get("FLAMBEAU_BIN", str(HERE.parents[2] / "build/dev/apps/flambeau/flambeau"))


def plain(value):
    """Named tuples, sequences and dicts by their contents."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def leaves(value):
    return torch.utils._pytree.tree_leaves(plain(value))


def difference(found, expected):
    found, expected = leaves(found), leaves(expected)
    if len(found) != len(expected):
        return f"{len(found)} values for {len(expected)}"
    for a, b in zip(found, expected):
        if isinstance(b, torch.Tensor):
            try:
                torch.testing.assert_close(a, b, equal_nan=True)
            except AssertionError as error:
                return str(error).splitlines()[0]
        elif a != b and not (a != a and b != b):
            return f"{a!r} for {b!r}"
    return ""


def higher_order(exported):
    """Operators that take graphs, which TorchScript has nothing for."""
    found = set()
    for module in exported.graph_module.modules():
        for node in getattr(module, "graph", torch.fx.Graph()).nodes:
            if node.op == "call_function" and isinstance(node.target, torch._ops.HigherOrderOperator):
                found.add(str(node.target))
    return found


def judge(name, folder):
    """(status, why): equal, different, refused, higher-order, unloadable."""
    path, script = programs.saved(name), folder / f"{name}.pt"
    try:
        exported = torch.export.load(path)
    except Exception as error:
        return "unloadable", f"{type(error).__name__}: {error}".splitlines()[0]
    done = subprocess.run([COMMAND, "convert", "--script", str(path), str(script)], capture_output=True, text=True)
    graphs = higher_order(exported)
    if done.returncode != 0:
        return ("higher-order" if graphs else "refused"), done.stderr.strip().replace(str(folder), "")
    try:
        module = torch.jit.load(script)
    except Exception as error:
        return "different", f"torch.jit.load: {str(error)[:600]}"
    if exported.example_inputs is None:
        return "not run", "it has no example inputs"
    args, kwargs = programs.inputs(exported)
    torch.manual_seed(1)
    expected = torch.export.load(path).module()(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    torch.manual_seed(1)
    try:
        found = module(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except Exception as error:
        return "different", f"run: {str(error)[-600:]}"
    text = difference(found, expected)
    return ("different" if text else "equal"), text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    programs.quiet()
    programs.load_rooms()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or programs.PROGRAMS:
            try:
                status, why = judge(name, pathlib.Path(folder))
            except Exception as error:
                status, why = "broken test", f"{type(error).__name__}: {str(error)[:300]}"
            counts[status] += 1
            if status != "equal" or options.verbose:
                print(f"{name}: {status}: {why}", flush=True)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
