"""flambeau convert against the libraries themselves: safetensors, NumPy and PyTorch."""

import collections
import warnings

import numpy
import pytest
import safetensors
import safetensors.torch
import torch

from torch_values import FLOAT8_TYPES, FLOAT_TYPES, INTEGER_TYPES, bits, random_bits, same, trained_checkpoint

warnings.simplefilter("ignore")
NUMPY_TYPES = [torch.bool, *INTEGER_TYPES, torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128]
SAFETENSORS_TYPES = [torch.bool, *INTEGER_TYPES, *FLOAT_TYPES, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu, torch.complex64]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def values(types):
    result = collections.OrderedDict()
    for dtype in types:
        result[f"{name_of(dtype)}.matrix"] = random_bits(dtype, 3, 4)
        result[f"{name_of(dtype)}.turned"] = random_bits(dtype, 4, 3).t()
        result[f"{name_of(dtype)}.scalar"] = random_bits(dtype)
        result[f"{name_of(dtype)}.empty"] = random_bits(dtype, 0, 2)
    return result


def same_bits(ours, theirs):
    assert list(ours) == list(theirs)
    for key, tensor in theirs.items():
        assert ours[key].dtype == tensor.dtype and ours[key].shape == tensor.shape, key
        assert bits(ours[key]) == bits(tensor), key


# Formats


def test_to_safetensors(flambeau, tmp_path):
    value = values(SAFETENSORS_TYPES)
    torch.save(value, tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "a.safetensors")
    ours = safetensors.torch.load_file(tmp_path / "a.safetensors")
    same_bits({key: ours[key] for key in value}, value)


def test_from_safetensors(flambeau, tmp_path):
    value = {key: tensor.contiguous() for key, tensor in values(SAFETENSORS_TYPES).items()}
    safetensors.torch.save_file(value, tmp_path / "a.safetensors", metadata={"format": "pt"})
    flambeau("convert", tmp_path / "a.safetensors", tmp_path / "a.pt")
    ours = torch.load(tmp_path / "a.pt", weights_only=True)
    same_bits({key: ours[key] for key in value}, value)
    flambeau("convert", tmp_path / "a.safetensors", tmp_path / "b.safetensors")
    with safetensors.safe_open(tmp_path / "b.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}


def test_to_npz(flambeau, tmp_path):
    value = values(NUMPY_TYPES)
    torch.save(value, tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "a.npz")
    with numpy.load(tmp_path / "a.npz") as ours:
        assert list(ours) == list(value)
        for key, tensor in value.items():
            assert ours[key].dtype == tensor.numpy().dtype and ours[key].shape == tuple(tensor.shape)
            assert ours[key].tobytes() == tensor.numpy().tobytes(), key


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_from_npz(save, flambeau, tmp_path):
    value = {key: tensor.numpy() for key, tensor in values(NUMPY_TYPES).items()}
    value["fortran"] = numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3))
    value["big"] = numpy.arange(4, dtype=">f4")
    save(tmp_path / "a.npz", **value)
    for target in ("a.pt", "a.safetensors"):
        if target == "a.safetensors":
            flambeau("convert", tmp_path / "a.npz", tmp_path / target, "--filter", "!complex128*")
            ours = safetensors.torch.load_file(tmp_path / target)
        else:
            flambeau("convert", tmp_path / "a.npz", tmp_path / target)
            ours = torch.load(tmp_path / target, weights_only=True)
        for key, tensor in ours.items():
            assert tensor.numpy().tobytes() == value[key].astype(value[key].dtype.newbyteorder("<")).tobytes(), key
        assert len(ours) == len(value) - (4 if target == "a.safetensors" else 0)


def test_npy_becomes_a_named_array(flambeau, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.eye(3))
    flambeau("convert", tmp_path / "a.npy", tmp_path / "a.pt")
    assert torch.equal(torch.load(tmp_path / "a.pt")["array"], torch.eye(3, dtype=torch.float64))


def test_round_the_houses(flambeau, tmp_path):
    """pt -> safetensors -> npz -> pt -> npz -> safetensors -> pt: the same bits."""
    value = values([torch.float32, torch.int64, torch.float16, torch.bool])
    torch.save(value, tmp_path / "0.pt")
    route = ["0.pt", "1.safetensors", "2.npz", "3.pt", "4.npz", "5.safetensors", "6.pt"]
    for source, target in zip(route, route[1:]):
        flambeau("convert", tmp_path / source, tmp_path / target)
    ours = torch.load(tmp_path / "6.pt")
    same_bits({key: ours[key] for key in value}, value)
    assert flambeau.run("diff", tmp_path / "0.pt", tmp_path / "6.pt").returncode == 0


def test_nested_names_are_joined(flambeau, tmp_path):
    torch.save({"model": {"weight": torch.ones(2)}, "list": [torch.zeros(1)], "epoch": 3}, tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "a.safetensors")
    assert set(safetensors.torch.load_file(tmp_path / "a.safetensors")) == {"model.weight", "list.0"}


def test_shared_tensors_are_written_each(flambeau, tmp_path):
    shared = torch.arange(4.0)
    torch.save({"a": shared, "b": shared, "c": shared[1:3]}, tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "a.safetensors")
    ours = safetensors.torch.load_file(tmp_path / "a.safetensors")
    assert torch.equal(ours["b"], shared) and torch.equal(ours["c"], shared[1:3])


# Structure


def test_checkpoints_keep_their_structure(flambeau, tmp_path):
    value = trained_checkpoint()
    torch.save(value, tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt")
    same(torch.load(tmp_path / "a.pt"), torch.load(tmp_path / "b.pt"))
    flambeau("convert", "--dtype", "bfloat16", tmp_path / "a.pt", tmp_path / "c.pt")
    ours = torch.load(tmp_path / "c.pt")
    assert ours["epoch"] == 7 and ours["name"] == value["name"] and ours["flags"] == value["flags"]
    assert ours["model"]["0.weight"].dtype == torch.bfloat16
    assert torch.equal(ours["model"]["0.weight"], value["model"]["0.weight"].bfloat16())
    assert ours["model"]["1.num_batches_tracked"].dtype == torch.int64
    assert torch.equal(ours["rng"], value["rng"])
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(16, 2))
    model.bfloat16().load_state_dict(ours["model"])


def test_what_else_hangs_on_tensors(flambeau, tmp_path):
    noted = torch.nn.Parameter(torch.ones(2))
    noted.note = {"inner": torch.tensor([1, 2, 3])}
    key = torch.nn.Parameter(torch.zeros(2))
    plain = torch.ones(3)
    plain.more = torch.arange(5)
    objects = numpy.array([torch.ones(4), None], dtype=object)
    torch.save({"first": torch.zeros(7), "noted": noted, "keyed": {key: {"step": torch.tensor(5)}}, "plain": plain, "objects": objects}, tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt")
    ours = torch.load(tmp_path / "b.pt", weights_only=False)
    assert torch.equal(ours["noted"].note["inner"], torch.tensor([1, 2, 3]))
    assert [value["step"].item() for value in ours["keyed"].values()] == [5]
    assert torch.equal(ours["plain"].more, torch.arange(5))
    assert torch.equal(ours["objects"][0], torch.ones(4))
    (tmp_path / "x").mkdir()
    flambeau("convert", tmp_path / "a.pt", tmp_path / "x" / "a.pt")
    assert (tmp_path / "x" / "a.pt").read_bytes() == (tmp_path / "a.pt").read_bytes()


def test_whole_modules(flambeau, tmp_path):
    """Their classes would be imported by whoever opens the new file: only the tensors are carried over."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    for zipped in (True, False):
        torch.save(model, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
        assert "(keep the tensors alone with --filter '*')" in flambeau.error("convert", tmp_path / "a.pt", tmp_path / "b.pt")
        flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt", "--filter", "*")
        flat = torch.load(tmp_path / "b.pt", weights_only=True)
        assert list(flat) == list(model.state_dict())
        model.load_state_dict(flat)


def test_torchscript_becomes_a_state_dict(flambeau, tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.jit.script(model).save(str(tmp_path / "a.pt"))
    flambeau("convert", "--weights-only", tmp_path / "a.pt", tmp_path / "b.pt")
    ours = torch.load(tmp_path / "b.pt", weights_only=True)
    assert list(ours) == list(model.state_dict())
    model.load_state_dict(ours)


def test_over_itself(flambeau, tmp_path):
    value = {"x": torch.arange(1000.0), "y": torch.arange(3)}
    torch.save(value, tmp_path / "a.pt")
    before = (tmp_path / "a.pt").read_bytes()
    flambeau("convert", tmp_path / "a.pt", tmp_path / "a.pt")
    assert (tmp_path / "a.pt").read_bytes() == before
    flambeau("convert", "--dtype", "float64", tmp_path / "a.pt", tmp_path / "a.pt")
    assert torch.equal(torch.load(tmp_path / "a.pt")["x"], value["x"].double())
    (tmp_path / "link.pt").symlink_to("a.pt")
    flambeau("convert", tmp_path / "link.pt", tmp_path / "link.pt")
    assert (tmp_path / "link.pt").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pt", "link.pt"]


@pytest.mark.parametrize("name", ["model.pt", "model.v1.pt", "mödel.pt", "a b.pt", "x.pth", "y.bin", "z.ckpt"])
def test_the_folder_inside_is_named_as_torch_does(name, flambeau, tmp_path):
    (tmp_path / "x").mkdir()
    torch.save({"a": torch.ones(2)}, tmp_path / name)
    flambeau("convert", tmp_path / name, tmp_path / "x" / name)
    assert (tmp_path / "x" / name).read_bytes() == (tmp_path / name).read_bytes()


# Filters


@pytest.mark.parametrize("filters, kept", [
    (["encoder.*"], ["encoder.weight", "encoder.bias"]),
    (["*.weight"], ["encoder.weight", "head.weight"]),
    (["!*.bias"], ["encoder.weight", "head.weight"]),
    (["encoder.*", "!*.bias"], ["encoder.weight"]),
    (["head.?eight"], ["head.weight"]),
    (["encoder.bias", "head.bias"], ["encoder.bias", "head.bias"]),
])
def test_filters(filters, kept, flambeau, tmp_path):
    value = {f"{part}.{kind}": torch.ones(2) for part in ("encoder", "head") for kind in ("weight", "bias")}
    torch.save(value, tmp_path / "a.pt")
    arguments = [word for pattern in filters for word in ("--filter", pattern)]
    for target in ("b.pt", "b.safetensors", "b.npz"):
        done = flambeau.json("convert", *arguments, tmp_path / "a.pt", tmp_path / target)
        assert done["tensors"] == len(kept)
    assert list(torch.load(tmp_path / "b.pt")) == kept


def test_a_filter_that_keeps_nothing(flambeau, tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "a.pt")
    assert flambeau.error("convert", "--filter", "b", tmp_path / "a.pt", tmp_path / "b.pt") == (
        f"flambeau: {tmp_path}/a.pt: none of the 1 tensors is kept by the filter ('flambeau inspect' shows the names)\n")
    assert not (tmp_path / "b.pt").exists()


def test_two_tensors_of_one_name(flambeau, tmp_path):
    torch.save({"a.b": torch.ones(1), "a": {"b": torch.zeros(1)}}, tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt")
    same(torch.load(tmp_path / "a.pt"), torch.load(tmp_path / "b.pt"))
    for target in (["b.safetensors"], ["b.npz"], ["c.pt", "--filter", "*"]):
        assert "a.b" in flambeau.error("convert", tmp_path / "a.pt", tmp_path / target[0], *target[1:])


# Types


@pytest.mark.parametrize("source", [*FLOAT_TYPES, *FLOAT8_TYPES], ids=name_of)
@pytest.mark.parametrize("target", [*FLOAT_TYPES, *FLOAT8_TYPES], ids=name_of)
def test_types_as_torch_converts_them(source, target, flambeau, tmp_path):
    """Every bit pattern of the 8- and 16-bit types, and many of the wider ones."""
    size = torch.empty(0, dtype=source).element_size()
    if size == 1:
        value = torch.arange(256).to(torch.uint8).view(source)
    elif size == 2:
        value = torch.arange(65536).to(torch.int32).to(torch.uint16).view(source)
    else:
        plain = torch.linspace(-3, 3, 2001).to(source)
        powers = torch.tensor([s * 2.0**e for e in range(-40, 40) for s in (1, -1)]).to(source)
        value = torch.cat([random_bits(source, 4096), plain, powers, powers * 1.0625, powers * 1.5])
    torch.save({"x": value, "n": torch.arange(3)}, tmp_path / "a.pt")
    flambeau("convert", "--dtype", name_of(target), tmp_path / "a.pt", tmp_path / "b.pt")
    ours = torch.load(tmp_path / "b.pt")
    theirs = value.to(target)
    assert ours["x"].dtype == target and torch.equal(ours["n"], torch.arange(3))
    if bits(ours["x"]) == bits(theirs):
        return
    # NaNs may carry another payload.
    a, b = ours["x"].to(torch.float64), theirs.to(torch.float64)
    different = ~((a == b) & (a.signbit() == b.signbit()) | (a.isnan() & b.isnan()))
    assert not different.any(), f"{value[different][:5]}: {a[different][:5]} and {b[different][:5]}"


@pytest.mark.parametrize("name", ["int8", "int64", "bool", "complex64", "uint16"])
def test_types_that_weights_cannot_have(name, flambeau, tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "a.pt")
    assert f"weights cannot be converted to {name} (choose a floating-point type: " in flambeau.error(
        "convert", "--dtype", name, tmp_path / "a.pt", tmp_path / "b.pt")


def test_other_tensors_keep_their_type(flambeau, tmp_path):
    value = {"q": torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "c": torch.ones(2, dtype=torch.complex64),
             "i": torch.arange(3), "s": torch.eye(3).to_sparse(), "f": torch.ones(2), "p": torch.nn.Parameter(torch.ones(2))}
    torch.save(value, tmp_path / "a.pt")
    flambeau("convert", "--dtype", "float16", tmp_path / "a.pt", tmp_path / "b.pt")
    ours = torch.load(tmp_path / "b.pt")
    assert [ours[key].dtype for key in value] == [torch.qint8, torch.complex64, torch.int64, torch.float16, torch.float16, torch.float16]
    assert isinstance(ours["p"], torch.nn.Parameter) and ours["p"].requires_grad
    assert torch.equal(ours["s"].to_dense(), torch.eye(3, dtype=torch.float16))


# What a format cannot hold


@pytest.mark.parametrize("value, format, said", [
    (torch.eye(3).to_sparse(), "safetensors", "is sparse, safetensors holds dense tensors only (make it dense first, or save a .pt file)"),
    (torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "npz", "is quantized, npy has no place for its scales (dequantize it first, or save a .pt file)"),
    (torch.empty(2, device="meta"), "safetensors", "is on the meta device and has no data to save (load its weights first)"),
    (torch.ones(2, dtype=torch.bfloat16), "npz", "bfloat16"),
    (torch.ones(2).to(torch.float8_e5m2), "npz", "float8_e5m2"),
    (torch.ones(2, dtype=torch.complex128), "safetensors", "complex128"),
    (torch.ones(2, dtype=torch.complex32), "npz", "complex32"),
])
def test_what_a_format_cannot_hold(value, format, said, flambeau, tmp_path):
    torch.save({"good": torch.ones(1), "bad": value}, tmp_path / "a.pt")
    text = flambeau.error("convert", tmp_path / "a.pt", tmp_path / f"b.{format}")
    assert text.count("\n") == 1 and "tensor 'bad': " in text and said in text, text
    assert text.rstrip().endswith(")"), "there is something to do about it"
    assert not (tmp_path / f"b.{format}").exists()
    flambeau("convert", "--filter", "!bad", tmp_path / "a.pt", tmp_path / f"b.{format}")


def test_the_format_can_be_named(flambeau, tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "a.pt")
    flambeau("convert", "--format", "safetensors", tmp_path / "a.pt", tmp_path / "weights")
    assert list(safetensors.torch.load_file(tmp_path / "weights")) == ["a"]


def test_older_forms_become_todays(flambeau, torch113, tmp_path):
    torch113("import sys, torch; torch.save({'a': torch.arange(3.), 'b': torch.ones(2).half()}, sys.argv[1], _use_new_zipfile_serialization=False)", tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt")
    assert flambeau.json("inspect", tmp_path / "b.pt")["kind"] == "torch_save"
    same(torch.load(tmp_path / "a.pt"), torch.load(tmp_path / "b.pt"))
