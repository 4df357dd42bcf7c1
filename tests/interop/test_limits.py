"""Whatever is written is read again, and whatever the reference libraries read: many tensors, long names, many
dimensions."""

import json
import struct

import numpy as np
import pytest
import torch
from safetensors import safe_open

MANY = 130_000


def write_safetensors(path, tensors):
    """As the format says: {name: a list of sizes}, of bytes."""
    header, at = {}, 0
    for name, sizes in tensors.items():
        size = int(np.prod(sizes))
        header[name] = {"dtype": "U8", "shape": sizes, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(at))


def count(flambeau, path):
    return len(flambeau.json("inspect", "-n", "0", path)["tensors"])


@pytest.mark.parametrize("ending", ["safetensors", "pt", "npz"])
def test_many_tensors(flambeau, tmp_path, ending):
    source, target = tmp_path / "many.safetensors", tmp_path / f"out.{ending}"
    write_safetensors(source, {f"{i}": [1] for i in range(MANY)})
    flambeau("convert", "-q", source, target)
    assert count(flambeau, target) == MANY
    if ending == "pt":
        assert len(torch.load(target)) == MANY


def test_the_smallest_descriptions(flambeau, tmp_path):
    path = tmp_path / "small.safetensors"
    write_safetensors(path, {f"{i}": [0] for i in range(MANY)})
    with safe_open(path, "np") as file:
        assert len(file.keys()) == MANY
    assert count(flambeau, path) == MANY


@pytest.mark.parametrize("ending", ["safetensors", "pt", "npz"])
@pytest.mark.parametrize("length", [1000, 60_000, 70_000, 1_000_000])
def test_long_names(flambeau, tmp_path, ending, length):
    source, target = tmp_path / "long.safetensors", tmp_path / f"out.{ending}"
    write_safetensors(source, {"x" * length: [3]})
    if ending == "npz" and length > 65_000:
        assert "longer than 65535 bytes" in flambeau.error("convert", "-q", source, target)
        return
    flambeau("convert", "-q", source, target)
    assert flambeau.json("inspect", target)["tensors"][0]["name"] == "x" * length


@pytest.mark.parametrize("ending", ["safetensors", "pt"])
def test_many_dimensions(flambeau, tmp_path, ending):
    source, target = tmp_path / "deep.safetensors", tmp_path / f"out.{ending}"
    write_safetensors(source, {"x": [1] * 1000 + [2]})
    flambeau("convert", "-q", source, target)
    assert flambeau.json("inspect", target)["tensors"][0]["shape"] == [1] * 1000 + [2]
