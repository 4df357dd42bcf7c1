"""torch.save and torch.load against Flambeau, both ways, for every sort of tensor."""

import io
import pickle
import struct
import tarfile
import zipfile

import pytest
import torch

from torch_values import cases, check_all, same

CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_reads_what_torch_saves(name, dump, tmp_path):
    torch.save(CASES[name], tmp_path / "a.pt")
    check_all(dump(tmp_path / "a.pt"), CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_torch_loads_what_flambeau_writes(name, flambeau, tmp_path):
    torch.save(CASES[name], tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt")
    theirs = torch.load(tmp_path / "a.pt", weights_only=True)
    ours = torch.load(tmp_path / "b.pt", weights_only=True)
    same(theirs, ours)
    mapped = torch.load(tmp_path / "b.pt", weights_only=True, mmap=True)
    same(theirs, mapped)


# Marks are resolved and storages of untouched names stay: everything else comes back byte for byte.
CHANGED = {"marks"}


@pytest.mark.parametrize("name", [name for name in CASES if name not in CHANGED])
def test_writes_the_bytes_of_torch_save(name, flambeau, tmp_path):
    (tmp_path / "x").mkdir()
    torch.save(CASES[name], tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "x" / "a.pt")
    assert (tmp_path / "x" / "a.pt").read_bytes() == (tmp_path / "a.pt").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_reads_the_legacy_form(name, dump, tmp_path):
    try:
        torch.save(CASES[name], tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    except RuntimeError as error:
        pytest.skip(f"PyTorch cannot write this in the legacy form: {error}")
    check_all(dump(tmp_path / "a.pt"), CASES[name])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_reads_every_pickle_protocol(protocol, dump, flambeau, tmp_path):
    torch.save(CASES["checkpoint"], tmp_path / "a.pt", pickle_protocol=protocol)
    check_all(dump(tmp_path / "a.pt"), CASES["checkpoint"])
    if protocol == 2:
        flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt")
        same(torch.load(tmp_path / "a.pt"), torch.load(tmp_path / "b.pt"))


def test_shared_storages_stay_shared(flambeau, tmp_path):
    torch.save(CASES["shared"], tmp_path / "a.pt")
    flambeau("convert", "--dtype", "float64", tmp_path / "a.pt", tmp_path / "b.pt")
    loaded = torch.load(tmp_path / "b.pt", weights_only=True)
    loaded["a"][3] = 42
    assert loaded["b"][3] == 42 and loaded["c"][1] == 42 and loaded["e"][0, 3] == 42
    assert loaded["a"].dtype == torch.float64


def make_big_endian(source, target):
    """The same file as a big-endian machine would have written it."""
    with zipfile.ZipFile(source) as archive:
        records = {info.filename: archive.read(info) for info in archive.infolist()}
    top = next(iter(records)).split("/")[0]
    storages = {}
    loaded = torch.load(source)
    for tensor in loaded.values():
        storages[tensor.untyped_storage().data_ptr()] = tensor
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in records.items():
            if name == f"{top}/byteorder":
                data = b"big"
            elif name.startswith(f"{top}/data/"):
                size = loaded[f"k{name.split('/')[-1]}"].element_size()
                if loaded[f"k{name.split('/')[-1]}"].is_complex():
                    size //= 2
                data = b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))
            archive.writestr(name, data)


def test_reads_big_endian_files(dump, tmp_path):
    types = [torch.float32, torch.int16, torch.float64, torch.complex64, torch.bool, torch.bfloat16, torch.int64]
    value = {f"k{i}": torch.arange(5).to(dtype) for i, dtype in enumerate(types)}
    torch.save(value, tmp_path / "little.pt")
    make_big_endian(tmp_path / "little.pt", tmp_path / "big.pt")
    same(torch.load(tmp_path / "big.pt"), value)
    ours = dump(tmp_path / "big.pt")
    check_all(ours, value)


def test_reads_the_tar_form(dump, tmp_path):
    """Made as torch.save made it before 0.1.10; torch.load must open it too."""
    values = {"weight": torch.arange(6.0).reshape(2, 3), "bias": torch.tensor([1, 2, 3])}

    def pickled(value):
        return pickle.dumps(value, protocol=2)

    storages, tensors = pickled(len(values)), pickled(len(values))
    for number, tensor in enumerate(values.values()):
        kind = torch.FloatStorage if tensor.dtype == torch.float32 else torch.LongStorage
        storages += pickled((100 + number, "cpu", kind)) + struct.pack("<q", tensor.numel()) + tensor.numpy().tobytes()
        tensors += pickled((200 + number, 100 + number, torch.FloatTensor)) + struct.pack("<ii", tensor.dim(), 0)
        tensors += struct.pack(f"<{2 * tensor.dim() + 1}q", *tensor.shape, *tensor.stride(), 0)
    storages += pickled([])
    stream = io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            names = {id(tensor): str(200 + i) for i, tensor in enumerate(values.values())}
            return names.get(id(value))

    Pickler(stream, protocol=2).dump(values)
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, data in {"sys_info": pickled({}), "pickle": stream.getvalue(), "storages": storages, "tensors": tensors}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    same(torch.load(tmp_path / "a.tar", weights_only=False), values)
    check_all(dump(tmp_path / "a.tar"), values)


def test_a_whole_module_gives_its_state_dict(dump, tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save(model, tmp_path / "model.pt")
    names = [entry["name"] for entry in dump(tmp_path / "model.pt")]
    assert sorted(names) == sorted(model.state_dict())


def test_numpy_values(dump, tmp_path):
    import numpy

    value = {"array": numpy.arange(6, dtype=numpy.float32).reshape(2, 3), "f": numpy.asfortranarray(numpy.eye(3)), "scalar": numpy.float64(2.5)}
    torch.save(value, tmp_path / "a.pt")
    ours = dump(tmp_path / "a.pt")
    assert [entry["name"] for entry in ours] == ["array", "f", "scalar"]
    assert ours[0]["data"] == value["array"].tobytes().hex()
    assert ours[1]["data"] == value["f"].tobytes().hex()
    assert ours[2]["shape"] == [] and ours[2]["data"] == value["scalar"].tobytes().hex()


PORTABLE = [name for name in CASES if name not in {"uint16", "uint32", "uint64", "meta", "checkpoint", "parameter_kinds", "sparse", "marks"} and "float8" not in name and name != "complex32"]


@pytest.mark.parametrize("name", PORTABLE)
def test_torch_1_13_loads_what_flambeau_writes(name, flambeau, torch113, tmp_path):
    torch.save(CASES[name], tmp_path / "a.pt")
    flambeau("convert", tmp_path / "a.pt", tmp_path / "b.pt")
    source = (
        "import sys, torch\n"
        "def walk(a, b):\n"
        "    if isinstance(a, torch.Tensor):\n"
        "        assert a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()\n"
        "        x, y = (a.dequantize(), b.dequantize()) if a.is_quantized else (a, b)\n"
        "        assert torch.allclose(x, y, equal_nan=True) if x.dtype.is_floating_point or x.dtype.is_complex else torch.equal(x, y)\n"
        "    elif isinstance(a, dict): [walk(a[k], b[k]) for k in a]; assert list(a) == list(b)\n"
        "    elif isinstance(a, (list, tuple)): [walk(x, y) for x, y in zip(a, b)]; assert len(a) == len(b)\n"
        "    else: assert a == b or a != a\n"
        "walk(torch.load(sys.argv[1]), torch.load(sys.argv[2]))\n"
    )
    torch113(source, tmp_path / "a.pt", tmp_path / "b.pt")


def test_reads_what_torch_1_13_saves(dump, torch113, tmp_path):
    source = (
        "import sys, torch\n"
        "v = {'a': torch.arange(6.).reshape(2, 3).t(), 'b': torch.nn.Parameter(torch.ones(2)), 'c': torch.tensor(3, dtype=torch.int16)}\n"
        "torch.save(v, sys.argv[1])\n"
        "torch.save(v, sys.argv[2], _use_new_zipfile_serialization=False)\n"
    )
    torch113(source, tmp_path / "zip.pt", tmp_path / "legacy.pt")
    value = {"a": torch.arange(6.0).reshape(2, 3).t(), "b": torch.nn.Parameter(torch.ones(2)), "c": torch.tensor(3, dtype=torch.int16)}
    check_all(dump(tmp_path / "zip.pt"), value)
    check_all(dump(tmp_path / "legacy.pt"), value)
