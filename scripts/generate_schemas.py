#!/usr/bin/env python3
"""Writes src/flambeau/value/schemas_2_13.txt: the schema of every operator that PyTorch has, and its flags.

    python scripts/generate_schemas.py [FILE]     with a Python that has PyTorch 2.13

A line is a schema as PyTorch prints it, then a tab and the operator's flags where it has any. The lines are sorted by
the operator's name and overload in bytes, so that a reader can search without an index.
"""

import importlib
import pathlib
import sys

import torch

TARGET = pathlib.Path(__file__).resolve().parents[1] / "src/flambeau/value/schemas_2_13.txt"

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
    if not torch.__version__.startswith("2.13."):
        sys.exit(f"the table is that of PyTorch 2.13, this is {torch.__version__}")
    for module in MODULES:
        importlib.import_module(module)
    lines = {}
    for schema in torch._C._jit_get_all_schemas():
        text = str(schema)
        key = text[: text.index("(")]
        line = "\t".join([text, " ".join(flags(schema))]).rstrip("\t")
        if lines.setdefault(key, line) != line:
            sys.exit(f"{key} has two schemas")
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    head = "# The schemas of PyTorch 2.13, written by scripts/generate_schemas.py.\n"
    target.write_text(head + "".join(lines[key] + "\n" for key in sorted(lines)))
    print(f"{len(lines)} schemas of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
