"""Writes tests/golden/safetensors with the reference library.

python generate_safetensors.py [FOLDER]    (needs torch and safetensors)
"""

import pathlib
import sys

import safetensors
import safetensors.torch
import torch

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "safetensors")
folder.mkdir(parents=True, exist_ok=True)

TYPES = ("uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64 bfloat16 bool complex64 "
         "float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz float8_e8m0fnu float4_e2m1fn_x2").split()


def filled(name):
    """Bytes 0 to 15 seen as a type; 0 and 1 for bool, where nothing else is valid."""
    if name == "bool":
        return torch.tensor([True, False] * 8)
    return torch.arange(16, dtype=torch.uint8).view(getattr(torch, name))


def save(name, tensors, metadata=None):
    safetensors.torch.save_file(tensors, folder / f"{name}.safetensors", metadata=metadata)


types = {f"b.{name}": filled(name) for name in TYPES}
save("types", types | {f"a.{name}": filled(name) for name in TYPES})
# One entry only: the reference library writes several in a random order.
save("metadata", {"x": torch.arange(6, dtype=torch.float32).reshape(2, 3)}, {"format": "pt"})
save("names", {name: torch.tensor([i], dtype=torch.int32) for i, name in enumerate(
    ["", "a.b", "a", "B", "\u00e9", "\U0001f600", "quote\"", "back\\slash", "\x00\x01\x1f\x7f", "\b\f\n\r\t", "a/b"])},
    {"key \u00e9\"\n": "value \U0001f600\\\x02"})
save("shapes", {"scalar": torch.tensor(1.5), "empty": torch.zeros(0), "none": torch.zeros(3, 0),
                "five": torch.arange(5, dtype=torch.uint8), "ones": torch.ones(1, 1, 1, 1, 1, 1, 1)})
save("empty", {})
(folder / "MANIFEST").write_text(
    f"all files\tgenerate_safetensors.py\tPyTorch {torch.__version__}, safetensors {safetensors.__version__}\n")
