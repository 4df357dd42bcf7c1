"""Real files that others made: their kinds, and every tensor as PyTorch reads it."""

import json
import os
import pathlib
import pickle
import struct
import tarfile
import warnings

import pytest
import torch

from torch_values import bits, check_all, check_tensor, named

warnings.simplefilter("ignore")
FOLDER = pathlib.Path(os.environ.get("FLAMBEAU_FIXTURES", "/nonexistent")) / "real"


def files(folder, *endings):
    """Names of files for parametrize; one that skips itself when there are no fixtures."""
    found = [path for path in sorted((FOLDER / folder).glob("**/*")) if path.is_file() and path.name.endswith(endings or ("",))]
    names = [str(path.relative_to(FOLDER)) for path in found if path.name != "MANIFEST.tsv"]
    return names or [pytest.param("none", marks=pytest.mark.skip(reason="FLAMBEAU_FIXTURES is not set"))]


def expected_kind(name):
    folder, file = name.split("/")
    if folder == "state-dict":
        if file == "broken.pt":
            return "unknown"
        return "torch_save_tar" if file.endswith(".tar") else "torch_save_legacy" if "legacy" in file else "torch_save"
    if folder == "package" or file.endswith(".package.pt"):
        return "torch_package"
    if folder == "pt2-old-layout":
        return "pt2_old_layout"
    if file.endswith(".ff"):
        return "mobile_flatbuffer"
    if folder in ("mobile", "mobile-upgraders") or file.endswith(".ptl"):
        return "torchscript_mobile"
    if folder == "quantized" and not file.endswith((".scripted.pt", ".traced.pt")):
        return "torch_save*"
    return "torchscript"


@pytest.mark.parametrize("name", files("."))
def test_names_the_kind(name, flambeau):
    expected = expected_kind(name)
    done = flambeau.run("inspect", FOLDER / name, "--json")
    assert done.returncode == (1 if expected == "unknown" else 0), done.stderr
    found = json.loads(done.stdout)
    if expected == "torch_save*":  # both forms occur
        with open(FOLDER / name, "rb") as file:
            expected = "torch_save" if file.read(2) == b"PK" else "torch_save_legacy"
    assert found["kind"] == expected
    assert found["bytes"] == (FOLDER / name).stat().st_size


def test_inspects_what_pytorch_2_4_wrote(flambeau, fixtures):
    programs = sorted((fixtures / "torch-2.4").glob("*.pt2"))
    assert programs
    for path in programs:
        found = flambeau.json("inspect", path)
        assert found["kind"] == "pt2_old_layout" and found["programs"], path


def test_an_archive_of_other_things(flambeau, fixtures):
    found = flambeau.json("inspect", fixtures / "graphs-torch-2.11.zip")
    assert found["kind"] == "zip" and len(found["records"]) == 35 and found["tensors"] == []


STATE_DICTS = [name for name in files("state-dict", ".pt") if not str(name).endswith("broken.pt")]


@pytest.mark.parametrize("name", STATE_DICTS)
def test_state_dicts_as_pytorch_reads_them(name, dump):
    check_all(dump(FOLDER / name), torch.load(FOLDER / name, weights_only=False))


@pytest.mark.parametrize("name", STATE_DICTS)
def test_state_dicts_written_again(name, flambeau, tmp_path):
    flambeau("convert", FOLDER / name, tmp_path / "a.pt")
    theirs = dict(named(torch.load(FOLDER / name, weights_only=False)))
    ours = dict(named(torch.load(tmp_path / "a.pt", weights_only=False)))
    assert list(theirs) == list(ours)
    for key, tensor in theirs.items():
        assert ours[key].dtype == tensor.dtype and ours[key].stride() == tensor.stride()
        assert bits(ours[key]) == bits(tensor)


def test_a_broken_file(flambeau, fixtures):
    path = fixtures / "real/state-dict/broken.pt"
    assert flambeau.error("convert", path, "/nonexistent/x.pt") == (
        f"flambeau: {path}: is not a file of a known kind "
        "(Flambeau reads torch.save, TorchScript, safetensors, GGUF, npy and npz files)\n"
    )
    assert flambeau.run("check", path).returncode == 1


def tar_tensors(path):
    """name -> (dtype, shape, bytes), from the members of a tar whose pickle holds the ids themselves."""
    types = {"FloatStorage": ("float32", 4), "DoubleStorage": ("float64", 8), "LongStorage": ("int64", 8)}

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            return name if module == "torch" else (lambda *arguments: arguments)

    storages, result = {}, {}
    with tarfile.open(path) as archive:
        stream = archive.extractfile("storages")
        for _ in range(Unpickler(stream).load()):
            key, _, kind = Unpickler(stream).load()
            (count,) = struct.unpack("<q", stream.read(8))
            storages[key] = stream.read(count * types[kind][1])
        pairs = Unpickler(archive.extractfile("pickle")).load()[0]
    for name, ((_, kind, key, _, count), offset, shape, strides, _, _) in pairs:
        assert offset == 0 and len(storages[key]) == count * types[kind][1]
        result[name] = (types[kind][0], list(shape), storages[key].hex())
    return result


@pytest.mark.parametrize("name", files("state-dict", ".tar"))
def test_tar_files_that_pytorch_cannot_read(name, dump):
    with pytest.raises(Exception):
        torch.load(FOLDER / name, weights_only=False)
    ours = {entry["name"]: (entry["dtype"], entry["shape"], entry["data"]) for entry in dump(FOLDER / name)}
    assert ours == tar_tensors(FOLDER / name)


QUANTIZED = [name for name in files("quantized", ".state_dict.pt", ".input.pt", ".expected.pt", ".get_attr_targets.pt")]


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_files(name, dump):
    try:
        theirs = torch.load(FOLDER / name, weights_only=False)
    except Exception as error:
        pytest.skip(f"PyTorch itself cannot load it: {error}")
    ours = {entry["name"]: entry for entry in dump(FOLDER / name)}
    for key, tensor in named(theirs):
        check_tensor(ours[key], tensor, key)


SCRIPTS = [name for name in files(".", ".pt", ".ptl") if isinstance(name, str) and expected_kind(name).startswith("torchscript")]


@pytest.mark.parametrize("name", SCRIPTS or files("none"))
def test_weights_of_torchscript(name, dump):
    ours = {entry["name"]: entry for entry in dump(FOLDER / name)}
    try:
        theirs = torch.jit.load(FOLDER / name).state_dict()
    except Exception as error:
        pytest.skip(f"PyTorch cannot load it: {str(error).splitlines()[0]}")
    # Quantized modules keep their weights packed, under names of their own.
    for key, tensor in theirs.items():
        if key not in ours:
            assert "quantized" in name or "quant" in name, f"{key} is missing"
            continue
        assert ours[key]["dtype"] == str(tensor.dtype)[6:] and ours[key]["shape"] == list(tensor.shape), key
        if not tensor.is_quantized:
            assert ours[key]["data"] == bits(tensor), key


@pytest.mark.parametrize("name", SCRIPTS or files("none"))
def test_torchscript_weights_become_state_dicts(name, flambeau, tmp_path):
    done = flambeau.run("convert", "--weights-only", FOLDER / name, tmp_path / "a.pt")
    assert done.returncode == 0, done.stderr
    loaded = torch.load(tmp_path / "a.pt", weights_only=True)
    assert isinstance(loaded, dict) and all(isinstance(value, torch.Tensor) for value in loaded.values())


@pytest.mark.parametrize("name", files("."))
def test_every_subcommand_survives_every_file(name, flambeau, tmp_path):
    for arguments in (["inspect", "--stats", "--records", "--globals", "--structure"], ["list"], ["check"]):
        done = flambeau.run(*arguments, FOLDER / name)
        assert done.returncode in (0, 1, 2), done.stderr
        assert "bug of Flambeau" not in done.stderr, done.stderr
    assert flambeau.run("extract", FOLDER / name, "-o", tmp_path).returncode in (0, 2)
