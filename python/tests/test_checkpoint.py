"""Files of weights from Python: load_checkpoint, save_checkpoint."""

import collections.abc
import pathlib

import flambeau
import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
ENDINGS = ["pt", "safetensors", "npz"]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.pt"
    torch.save({"encoder.weight": torch.arange(6.0).reshape(2, 3), "head": torch.tensor([1, 2])}, path)
    return path


def test_a_checkpoint_is_a_mapping(model):
    weights = flambeau.load_checkpoint(model)
    assert isinstance(weights, collections.abc.Mapping) and weights.kind == "torch_save"
    assert list(weights) == ["encoder.weight", "head"] and len(weights) == 2 and "head" in weights
    assert weights["head"].tolist() == [1, 2] and weights.get("tail") is None
    assert {name: tensor.shape for name, tensor in weights.items()} == {"encoder.weight": (2, 3), "head": (2,)}
    assert weights.metadata == weights.skipped == {} and weights.notes == []
    assert "encoder.weight: float32[2, 3]" in repr(weights)
    for wrong in ("tail", None, 0, []):
        with pytest.raises(KeyError):
            weights[wrong]


def test_memory_is_shared_and_outlives_the_checkpoint(model):
    weights = flambeau.load_checkpoint(model)
    array = weights["encoder.weight"].numpy()
    tensor = torch.from_dlpack(weights["encoder.weight"])
    assert array.ctypes.data == tensor.data_ptr() == weights["encoder.weight"].data_ptr
    array[0, 0] = 7
    assert tensor[0, 0] == 7 and torch.load(model)["encoder.weight"][0, 0] == 0
    del weights
    assert array.sum() == 22


def test_bytes_instead_of_a_path(model):
    for source in (model.read_bytes(), bytearray(model.read_bytes()), memoryview(model.read_bytes())):
        assert flambeau.load_checkpoint(source)["head"].tolist() == [1, 2]


@pytest.mark.parametrize("ending", ENDINGS)
def test_round_trip(ending, tmp_path):
    path = tmp_path / f"a.{ending}"
    given = {
        "torch": torch.arange(6, dtype=torch.int32).reshape(2, 3).T,
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "numpy": np.arange(3, dtype="float64")[::-1],
        "flambeau": flambeau.Tensor([1.5, 2.5]),
        "empty": np.zeros((0, 3), dtype="float32"),
    }
    done = flambeau.save_checkpoint(given, path)
    assert done["files"] == [str(path)] and done["tensors"] == 5
    read = flambeau.load_checkpoint(path)
    assert sorted(read) == sorted(given)
    assert read["torch"].tolist() == [[0, 3], [1, 4], [2, 5]] and read["numpy"].tolist() == [2.0, 1.0, 0.0]
    assert read["parameter"].tolist() == [1.0, 1.0] and read["empty"].shape == (0, 3)
    if ending == "pt":
        assert torch.load(path)["flambeau"].tolist() == [1.5, 2.5]


def test_types_metadata_filter_and_shards(model, tmp_path):
    weights = flambeau.load_checkpoint(model)
    half = weights.to(torch.float16)
    assert half["encoder.weight"].dtype == "float16" and half["head"].dtype == "int64"
    assert weights["encoder.weight"].dtype == "float32"
    assert list(weights.filter("encoder.*")) == ["encoder.weight"] and list(weights.filter("!encoder.*")) == ["head"]
    flambeau.save_checkpoint(weights, tmp_path / "b.safetensors", dtype="bf16", metadata={"by": "hand"})
    read = flambeau.load_checkpoint(tmp_path / "b.safetensors")
    assert read.metadata == {"by": "hand"} and read["encoder.weight"].dtype == "bfloat16"
    assert torch.from_dlpack(read["encoder.weight"]).dtype == torch.bfloat16
    done = weights.save(tmp_path / "folder", shard_size=16)
    assert len(done["files"]) == 3
    whole = flambeau.load_checkpoint(tmp_path / "folder")
    assert whole.kind == "shard_index" and whole["head"].tolist() == [1, 2]


def test_a_pt_keeps_what_is_around_the_tensors(tmp_path):
    tied = torch.ones(3)
    torch.save({"model": {"a": tied, "b": tied}, "epoch": 3}, tmp_path / "a.pt")
    flambeau.load_checkpoint(tmp_path / "a.pt").save(tmp_path / "b.pt")
    read = torch.load(tmp_path / "b.pt")
    assert read["epoch"] == 3 and read["model"]["a"].data_ptr() == read["model"]["b"].data_ptr()


def test_tied_tensors_stay_tied(tmp_path):
    tied = torch.zeros(1000)
    flambeau.save_checkpoint({"a": tied, "b": tied[10:]}, tmp_path / "a.pt")
    assert (tmp_path / "a.pt").stat().st_size < 6000
    read = torch.load(tmp_path / "a.pt")
    assert read["a"].untyped_storage().data_ptr() == read["b"].untyped_storage().data_ptr()


def test_what_is_more_than_data_is_not_handed_on(tmp_path):
    class Thing:
        pass

    Thing.__module__, Thing.__qualname__ = "collections", "Thing"
    import collections

    collections.Thing = Thing
    try:
        torch.save({"a": torch.ones(2), "thing": Thing()}, tmp_path / "a.pt")
    finally:
        del collections.Thing
    weights = flambeau.load_checkpoint(tmp_path / "a.pt")
    with pytest.raises(flambeau.Error, match="holds more than data") as caught:
        weights.save(tmp_path / "b.pt")
    assert caught.value.code == "unsafe"
    weights.save(tmp_path / "b.safetensors")


def test_other_formats():
    assert flambeau.load_checkpoint(GOLDEN / "run" / "classifier.pt2").kind == "pt2"
    npy = flambeau.load_checkpoint(GOLDEN / "npy" / "matrix.npy")
    assert list(npy) == ["array"] and npy.kind == "npy"


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda t: flambeau.load_checkpoint(t / "missing.pt"), "cannot be opened"),
        (lambda t: flambeau.load_checkpoint(b"abc"), "is not a file of a known kind"),
        (lambda t: flambeau.save_checkpoint({"a": [1.0]}, t / "a.pt"), "tensor 'a': a list is no tensor"),
        (lambda t: flambeau.save_checkpoint({"a": None}, t / "a.pt"), "a NoneType is no tensor"),
        (lambda t: flambeau.save_checkpoint({"a": {"b": np.ones(2)}}, t / "a.pt"), "a dict is no tensor"),
        (lambda t: flambeau.save_checkpoint({3: np.ones(2)}, t / "a.pt"), "a int is no text"),
        (lambda t: flambeau.save_checkpoint({"a": np.ones(2)}, t / "a.xyz"), "the format cannot be told"),
        (lambda t: flambeau.save_checkpoint({"a": np.ones(2)}, t / "a", format="gguf"), "'gguf' is no format"),
        (lambda t: flambeau.save_checkpoint({"a": np.ones(2)}, t / "a.pt", dtype="f33"), "'f33' is not an element type"),
        (lambda t: flambeau.save_checkpoint({"a": np.ones(2)}, t / "a.pt", dtype="int8"), "weights cannot be converted"),
        (lambda t: flambeau.save_checkpoint({"a": np.ones(2)}, t / "a.pt", metadata={"k": 3}), "a int is no text"),
        (lambda t: flambeau.save_checkpoint({"a": np.array(["x"])}, t / "a.pt"), "is no type of a tensor"),
        (lambda t: flambeau.save_checkpoint({"a": np.ones(2)}, t / "no" / "a.pt"), "No such file"),
    ],
)
def test_errors(call, said, tmp_path):
    with pytest.raises(flambeau.Error, match=said):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_misuse_is_no_crash(model, tmp_path):
    for wrong in (None, 3, object(), [model]):
        with pytest.raises(TypeError):
            flambeau.load_checkpoint(wrong)
        with pytest.raises(TypeError):
            flambeau.save_checkpoint(wrong, tmp_path / "a.pt")
        with pytest.raises(TypeError):
            flambeau.save_checkpoint({}, wrong)
    with pytest.raises(TypeError):
        flambeau._flambeau.Checkpoint()
    with pytest.raises(AttributeError):
        len(flambeau.Checkpoint.__new__(flambeau.Checkpoint))
    unmade = flambeau._flambeau.Checkpoint.__new__(flambeau._flambeau.Checkpoint)
    for call in (unmade.names, lambda: unmade.kind, lambda: unmade.tensor(0)):
        with pytest.raises(TypeError, match="never initialized"):
            call()
    with pytest.raises(IndexError):
        flambeau.load_checkpoint(model)._handle.tensor(99)
