#!/usr/bin/env python3
"""Writes calls that PyTorch takes, for attack.py to vary: the small ones of its own samples (tests/interop/opinfo), and
some by hand.

    build/venv/bin/python tests/attack/operators/valid_calls.py build/valid_calls.json
    PYTHONPATH=build/dev/python tests/attack/operators/attack.py --valid-calls build/valid_calls.json --calls 200"""

import argparse
import collections
import json
import pathlib
import random
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "interop/opinfo")]

import calls_by_hand  # noqa: E402
import choose  # noqa: E402
import scope  # noqa: E402
from cases import DTYPES  # noqa: E402

CALLS = 6  # of one overload
MOST_ELEMENTS = 300


class NotSmall(Exception):
    pass


def named(value):
    return str(value).partition(".")[2]


def encoded(value):
    """As cases.Variation reads it."""
    if isinstance(value, torch.Tensor):
        if value.numel() > MOST_ELEMENTS or named(value.dtype) not in DTYPES:
            raise NotSmall
        return {"tensor": [named(value.dtype), list(value.shape)]}
    if isinstance(value, (list, tuple)):
        return [encoded(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, complex)):
        return {"number": repr(value)}
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return named(value)
    if isinstance(value, torch.device):
        return value.type
    raise NotSmall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    options = parser.parse_args()
    all_calls = collections.defaultdict(list)
    for sample in choose.samples(scope.operators()):
        try:
            call = [encoded(sample.args), {name: encoded(value) for name, value in sample.kwargs.items()}]
        except NotSmall:
            continue
        calls = all_calls[sample.name.removesuffix(".default")]
        if call not in calls:
            calls.append(call)
    choices = {name: random.Random(name).sample(calls, min(CALLS, len(calls))) for name, calls in all_calls.items()}
    for name, calls in calls_by_hand.CALLS.items():
        choices.setdefault(name, []).extend(calls)
    options.file.write_text(json.dumps(choices))
    print(f"{sum(map(len, choices.values()))} calls of {len(choices)} operators")


if __name__ == "__main__":
    main()
