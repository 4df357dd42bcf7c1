"""Packages that PyTorch's own compiler made, run by us with no PyTorch in the process, and with one that must not be touched."""

import os
import pathlib
import subprocess
import zipfile

import numpy
import pytest
import torch
from torch.utils import _pytree as pytree

import aoti_packages

pytestmark = pytest.mark.filterwarnings("ignore")

# Each takes PyTorch half a minute to make, once; FLAMBEAU_ALL=1 takes all there are.
SOME = [("mlp", "default"), ("cnn", "freezing"), ("block", "default")]
if os.environ.get("FLAMBEAU_ALL"):
    SOME = [(name, way) for name in aoti_packages.MODELS for way in aoti_packages.WAYS]


def run(flambeau, folder, inputs, out, *more, env=None):
    """What the library gives for these, as a list of tensors."""
    words = []
    for index, value in enumerate(inputs):
        numpy.save(out / f"{index}.npy", value.numpy())
        words += ["-i", str(out / f"{index}.npy")]
    command = [flambeau.path, "run", "--run-native-code", folder / "model.pt2", *words, "--output", out / "outputs.npz", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    given = numpy.load(out / "outputs.npz")
    return [torch.from_numpy(given[name]) for name in given.files]


@pytest.mark.parametrize("name,way", SOME)
def test_gives_what_pytorch_gives(name, way, flambeau, tmp_path):
    folder = aoti_packages.package(name, way)
    if folder is None:
        pytest.skip("the model has no sizes that vary")
    values = torch.load(folder / "values.pt")
    wanted = pytree.tree_leaves(values["outputs"])
    given = run(flambeau, folder, values["inputs"], tmp_path)
    assert len(given) == len(wanted)
    for ours, theirs in zip(given, wanted):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    if way == "dynamic":
        layers, _, _ = aoti_packages.build(name, way)
        x = torch.randn(33, 16)
        torch.testing.assert_close(run(flambeau, folder, [x], tmp_path)[0], layers(x).detach(), rtol=1e-4, atol=1e-4)


def test_a_pytorch_in_the_same_process_is_left_alone(flambeau, tmp_path):
    folder = aoti_packages.package(*SOME[0])
    values = torch.load(folder / "values.pt")
    library = pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"
    given = run(flambeau, folder, values["inputs"], tmp_path, env={**os.environ, "LD_PRELOAD": str(library)})
    torch.testing.assert_close(given[0], values["outputs"], rtol=1e-4, atol=1e-4)


def test_nothing_is_loaded_unless_it_is_asked_for(flambeau, tmp_path):
    package = aoti_packages.package(*SOME[0]) / "model.pt2"
    for words in (["run", package], ["check", package], ["inspect", package], ["verify", package]):
        done = subprocess.run([flambeau.path, *words], capture_output=True, text=True, env={**os.environ, "LD_DEBUG": "files"})
        assert "/proc/self/fd" not in done.stderr and "memfd" not in done.stderr
    done = flambeau.run("run", package)
    assert done.returncode == 2 and "--run-native-code" in done.stderr


def changed(package, to, change):
    """The package with other bytes in its library."""
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(to, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            new.writestr(entry.filename, change(data) if entry.filename.endswith(".so") else data)


@pytest.mark.parametrize(
    "old,new,said",
    [
        (b"aoti_torch_clone\0", b"aoti_torch_clonk\0", "the library calls aoti_torch_clonk, which there is no counterpart of"),
        (b"libgcc_s.so.1\0", b"libevil_s.so.\0", "the library needs 'libevil_s.so.', which compiled models"),
        (b"\x7fELF", b"\x7fELV", "ELF"),
    ],
)
def test_broken_libraries_are_refused_before_they_run(old, new, said, flambeau, tmp_path):
    package = aoti_packages.package(*SOME[0]) / "model.pt2"
    changed(package, tmp_path / "model.pt2", lambda data: data.replace(old, new))
    done = flambeau.run("run", "--run-native-code", tmp_path / "model.pt2", "-i", "random:2x16")
    assert done.returncode == 2
    assert said in done.stderr


def test_wrong_calls_are_told(flambeau):
    package = aoti_packages.package(*SOME[0]) / "model.pt2"
    done = flambeau.run("run", "--run-native-code", package)
    assert done.returncode == 2 and "is not given" in done.stderr
    done = flambeau.run("run", "--run-native-code", package, "-i", "random:2x16", "-i", "random:2")
    assert done.returncode == 2 and "no tensor that the model takes" in done.stderr
