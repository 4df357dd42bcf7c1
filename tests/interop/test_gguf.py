"""GGUF: what the reference library wrote, looked into and converted."""

import json
import pathlib

import numpy
import safetensors.torch
import torch

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "gguf"


def test_inspect(flambeau):
    found = flambeau.json("inspect", GOLDEN / "types.gguf")
    assert found["kind"] == "gguf" and found["format_version"] == 3
    tensors = {tensor["name"]: tensor for tensor in found["tensors"]}
    assert tensors["blocks.Q4_K"]["stored_as"] == "Q4_K" and tensors["blocks.Q4_K"]["dtype"] == "float32"
    assert tensors["plain.F16"]["dtype"] == "float16" and "stored_as" not in tensors["plain.F16"]
    assert any("other.IQ4_XS" in note for note in found["notes"])
    text = flambeau("inspect", GOLDEN / "types.gguf")
    assert "Q6_K" in text and "general.architecture: llama" in text
    assert flambeau.json("inspect", GOLDEN / "metadata.gguf")["metadata"]["x.strings"].endswith("(6 values)")


def test_convert(flambeau, tmp_path):
    expected = numpy.load(GOLDEN / "types.npz")
    text = flambeau.error("convert", GOLDEN / "types.gguf", tmp_path / "a.safetensors")
    assert "the first is other.IQ4_XS: of type IQ4_XS, which is not decoded (leave them out with --filter)" in text
    flambeau("convert", "--filter", "!other.*", GOLDEN / "types.gguf", tmp_path / "a.safetensors")
    values = safetensors.torch.load_file(tmp_path / "a.safetensors")
    assert set(values) == set(expected)
    for name, tensor in values.items():
        assert numpy.array_equal(tensor.float().numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy(), expected[name]), name
    flambeau("convert", "--filter", "blocks.*", "--dtype", "f16", GOLDEN / "types.gguf", tmp_path / "a.pt")
    for name, tensor in torch.load(tmp_path / "a.pt").items():
        assert torch.equal(tensor, torch.from_numpy(expected[name]).half()), name
    assert flambeau.run("diff", GOLDEN / "metadata.gguf", GOLDEN / "version_2.gguf").returncode == 0


def test_check_and_errors(flambeau, tmp_path):
    assert flambeau.json("check", GOLDEN / "types.gguf")["harmless"] is True
    data = (GOLDEN / "types.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(data[:-100])
    done = flambeau.run("inspect", "--json", tmp_path / "cut.gguf")
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 2 and error["code"] == "corrupt" and error["locations"][1]["kind"] == "tensor"
    (tmp_path / "old.gguf").write_bytes(b"GGUF\x01" + data[5:])
    assert "is a GGUF file of version 1" in flambeau.error("inspect", tmp_path / "old.gguf")
