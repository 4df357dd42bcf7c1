#!/usr/bin/env python3
"""`flambeau opnames` lists what torch.jit.export_opnames does.

    opnames.py --command build/dev/apps/flambeau/flambeau file.pt...
"""

import argparse
import json
import pathlib
import subprocess
import sys
import warnings

import torch


def theirs(path):
    """None where PyTorch does not open the file."""
    try:
        return sorted(torch.jit.export_opnames(torch.jit.load(str(path), map_location="cpu")))
    except Exception:  # noqa: BLE001: PyTorch refuses in many ways
        return None


def ours(command, path):
    done = subprocess.run([command, "opnames", "--json", path], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def judge(command, paths):
    """How many are the same, and what differs, by file."""
    right, wrong = 0, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in paths:
            expected = theirs(path)
            if expected is None:
                continue
            found = ours(command, path)
            if found == expected:
                right += 1
            else:
                wrong[path] = found if isinstance(found, str) else sorted(set(found) ^ set(expected))
    return right, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--command", required=True)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    right, wrong = judge(given.command, given.files)
    for path, why in wrong.items():
        print(path, why)
    print(f"{right} of {right + len(wrong)} are the same")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
