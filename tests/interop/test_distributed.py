"""Folders of torch.distributed.checkpoint, written by PyTorch."""

import pytest
import torch
import torch.distributed.checkpoint as dcp


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    state = {
        "model": {f"layers.{i}": torch.randn(3, i + 1) for i in range(5)},
        "half": torch.randn(4).to(torch.bfloat16),
        "none": torch.zeros(0, 2),
        "step": torch.tensor(3),
        "epoch": 4,
    }
    dcp.save(state, checkpoint_id=tmp_path / "dcp", no_dist=True)
    flat = {f"model.layers.{i}": state["model"][f"layers.{i}"] for i in range(5)}
    return tmp_path / "dcp", flat | {name: state[name] for name in ("half", "none", "step")}


def test_converts_to_what_pytorch_loads(flambeau, folder, tmp_path):
    path, expected = folder
    done = flambeau.json("convert", path, tmp_path / "out.pt")
    assert done["tensors"] == len(expected)
    found = torch.load(tmp_path / "out.pt")
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_inspect_and_diff(flambeau, folder, tmp_path):
    path, expected = folder
    shown = flambeau.json("inspect", path)
    assert shown["kind"] == "distributed" and [record["name"] for record in shown["records"]] == ["__0_0.distcp"]
    assert {tensor["name"] for tensor in shown["tensors"]} == set(expected)
    torch.save(expected, tmp_path / "flat.pt")
    assert flambeau.json("diff", path, tmp_path / "flat.pt")["equal"] is True
