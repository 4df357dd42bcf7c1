"""Files from Python: inspect, check, convert, diff and verify."""

import os
import pathlib
import pickle

import flambeau
import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.pt"
    torch.save({"encoder.weight": torch.arange(6.0).reshape(2, 3), "head": torch.tensor([1, 2]), "x": torch.tensor([float("inf")])}, path)
    return path


def test_inspect(model):
    found = flambeau.inspect(model)
    assert found["kind"] == "torch_save" and found["file"] == str(model)
    assert [tensor["name"] for tensor in found["tensors"]] == ["encoder.weight", "head", "x"]
    assert "statistics" not in found["tensors"][0] and "sha256" not in found
    found = flambeau.inspect(str(model), stats=True, sha256=True)
    assert found["tensors"][0]["statistics"]["max"] == 5.0
    assert found["tensors"][2]["statistics"]["max"] == float("inf")
    assert len(found["sha256"]) == len(found["tensors"][0]["sha256"]) == 64
    assert flambeau.inspect(GOLDEN / "run" / "classifier.pt2")["programs"][0]["nodes"] > 0


def test_names_of_files_may_be_any_bytes(model):
    path = os.fsencode(model.parent) + b"/\xff.pt"
    os.rename(model, path)
    assert os.fsencode(flambeau.inspect(path)["file"]) == path
    assert flambeau.check(os.fsdecode(path))["harmless"]


def test_check(model, tmp_path):
    assert flambeau.check(model)["harmless"] is True

    class Evil:
        def __reduce__(self):
            return os.system, ("true",)

    (tmp_path / "evil.pt").write_bytes(pickle.dumps(Evil()))
    report = flambeau.check(tmp_path / "evil.pt")
    assert report["verdict"] == "dangerous" and "system" in report["findings"][0]["message"]


@pytest.mark.parametrize("dtype", ["bf16", "bfloat16", torch.bfloat16, "torch.bfloat16"])
def test_convert(dtype, model, tmp_path):
    done = flambeau.convert(model, tmp_path / "b.pt", dtype=dtype, filter=["encoder.*", "head"])
    assert done == {"files": [str(tmp_path / "b.pt")], "tensors": 2, "bytes": 28}
    values = torch.load(tmp_path / "b.pt")
    assert values["encoder.weight"].dtype == torch.bfloat16 and values["head"].dtype == torch.int64


def test_convert_numpy_type_and_shards(model, tmp_path):
    flambeau.convert(model, tmp_path / "half.npz", dtype=np.float16, filter="encoder.*")
    assert np.load(tmp_path / "half.npz")["encoder.weight"].dtype == np.float16
    done = flambeau.convert(model, tmp_path / "out", shard_size=24)
    assert len(done["files"]) == 3 and done["files"][0].endswith("model.safetensors.index.json")
    assert flambeau.diff(model, tmp_path / "out")["equal"] is True


def test_diff(model, tmp_path):
    value = torch.load(model)
    value["head"] += 1
    torch.save(value, tmp_path / "b.pt")
    found = flambeau.diff(model, tmp_path / "b.pt")
    assert found["equal"] is False and found["tensors_equal"] == 2
    assert found["differences"][0]["name"] == "head" and found["differences"][0]["facts"]["max_abs"] == 1
    assert flambeau.diff(model, tmp_path / "b.pt", tolerance=1)["equal"]
    assert flambeau.diff(model, tmp_path / "b.pt", filter="!head")["equal"]


def test_verify():
    found = flambeau.verify(GOLDEN / "run" / "classifier.pt2")
    assert found["valid"] is True and found["findings"] == []


def test_errors(model, tmp_path):
    with pytest.raises(flambeau.Error) as caught:
        flambeau.inspect(tmp_path / "missing.pt")
    assert caught.value.code == "not_found" and caught.value.locations == [("file", str(tmp_path / "missing.pt"))]
    for call, said in (
        (lambda: flambeau.convert(model, tmp_path / "b.pt", dtype="f33"), "'f33' is not an element type"),
        (lambda: flambeau.convert(model, tmp_path / "b.pt", format="xyz"), "'xyz' is no format of weights"),
        (lambda: flambeau.convert(model, tmp_path / "b", shard_size="many"), "'many' is no size of shards"),
        (lambda: flambeau.verify(GOLDEN / "run" / "classifier.pt2", dialect="cor"), "did you mean 'core'?"),
        (lambda: flambeau.verify(model), "model.pt: "),
    ):
        with pytest.raises(flambeau.Error, match=said.replace("?", r"\?")):
            call()
    with pytest.raises(TypeError):
        flambeau.inspect(3)
