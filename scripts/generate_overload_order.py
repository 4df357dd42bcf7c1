#!/usr/bin/env python3
"""Writes src/flambeau/script/operators/overload_order.txt: the order in which TorchScript tries overloads.

    python scripts/generate_overload_order.py [FILE]     with a Python that has PyTorch 2.13

A line is an operator's name and its overloads in the order PyTorch registers them, "-" for the one without a name. Only
operators whose order is not the alphabetical one have a line. The first overload that fits a call is the one it means.
"""

import argparse
import pathlib
import sys

import torch

FILE = pathlib.Path(__file__).resolve().parents[1] / "src/flambeau/script/operators/overload_order.txt"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=FILE)
    given = parser.parse_args()
    if not torch.__version__.startswith("2.13."):
        sys.exit(f"the order is that of PyTorch 2.13, this is {torch.__version__}")
    lines = []
    for name in sorted({schema.name for schema in torch._C._jit_get_all_schemas()}):
        order = [schema.overload_name for schema in torch._C._jit_get_schemas_for_operator(name)]
        if order != sorted(order):
            lines.append(" ".join([name, *(overload or "-" for overload in order)]))
    head = "# The order of overloads in PyTorch 2.13, written by scripts/generate_overload_order.py.\n"
    given.file.write_text(head + "".join(line + "\n" for line in lines))
    print(f"{len(lines)} operators")


if __name__ == "__main__":
    main()
