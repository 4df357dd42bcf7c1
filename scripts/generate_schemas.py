#!/usr/bin/env python3
"""Writes src/flambeau/value/schemas_2_13.txt: the schema of every operator that PyTorch has, and its flags.

    python scripts/generate_schemas.py [FILE]     with a Python that has PyTorch 2.13
    python scripts/generate_schemas.py --torchvision [FILE]     the same of torchvision 0.28, with one that has both

A line is a schema as PyTorch prints it, then a tab and the operator's flags where it has any. The lines are sorted by
the operator's name and overload in bytes, so that a reader can search without an index.
"""

import argparse
import importlib
import pathlib
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "src/flambeau/value"

# Operators that exported programs use but that PyTorch registers only when these are imported.
MODULES = [
    "torch._dynamo",
    "torch._prims",
    "torch.ao.quantization.fx._decomposed",
    "torch.export",
    "torch.distributed._functional_collectives",
    "torch.nn.attention.varlen",
]

# Tags that say how PyTorch is built or tested, not what an operator does.
DROPPED_TAGS = {"generated", "pt2_compliant_tag"}

# What no tag says: operators that read or write files, and checks on symbols and tensors that PyTorch's decompositions
# leave in core programs without calling them core.
MORE_FLAGS = {
    "files": {"aten::from_file", "aten::save", "debugprims::load_tensor"},
    # How many boxes are left is for data to say; torchvision has no tag for it.
    "dynamic_output_shape": {"torchvision::nms"},
    "kept_in_core": {
        "aten::_assert_async",
        "aten::_assert_scalar",
        "aten::_assert_tensor_metadata",
        "aten::sym_constrain_range",
        "aten::sym_constrain_range_for_size",
        "aten::sym_size",
        "aten::sym_stride",
    },
}


def flags(schema):
    """The tags of an operator, which TorchScript's own operators have none of, and what they do not say."""
    try:
        _, _, tags = torch._C._get_operation_overload(schema.name, schema.overload_name)
    except RuntimeError:
        tags = []
    found = {tag.name for tag in tags} - DROPPED_TAGS
    found |= {flag for flag, names in MORE_FLAGS.items() if schema.name in names}
    return sorted(found - {"kept_in_core"} if "core" in found else found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torchvision", action="store_true")
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    given = parser.parse_args()
    if not torch.__version__.startswith("2.13."):
        sys.exit(f"the table is that of PyTorch 2.13, this is {torch.__version__}")
    for module in ["torchvision"] if given.torchvision else MODULES:
        importlib.import_module(module)
    if given.torchvision:
        version = importlib.import_module("torchvision").__version__
        if not version.startswith("0.28."):
            sys.exit(f"the table is that of torchvision 0.28, this is {version}")
    lines = {}
    for schema in torch._C._jit_get_all_schemas():
        text = str(schema)
        key = text[: text.index("(")]
        if given.torchvision and not key.startswith("torchvision::"):
            continue
        line = "\t".join([text, " ".join(flags(schema))]).rstrip("\t")
        if lines.setdefault(key, line) != line:
            sys.exit(f"{key} has two schemas")
    whose, name = ("torchvision 0.28", "torchvision_0_28") if given.torchvision else ("PyTorch 2.13", "2_13")
    target = given.file or FOLDER / f"schemas_{name}.txt"
    head = f"# The schemas of {whose}, written by scripts/generate_schemas.py.\n"
    target.write_text(head + "".join(lines[key] + "\n" for key in sorted(lines)))
    print(f"{len(lines)} schemas of {whose}")


if __name__ == "__main__":
    main()
