"""Mobile modules in flatbuffers and packages of script modules: what we write is what PyTorch writes, and each opens the other's."""

import pathlib
import subprocess
import sys

import pytest
import torch
import torch.jit.mobile
import torch.package

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import flat_tables  # noqa: E402
import mobile  # noqa: E402

# The full run is mobile.py's; a sample is enough to notice.
EVERY = 150
NAMES = ("attn", "buf", "cnn", "emb", "index", "loop", "mlp", "rnn")


class Shared(torch.nn.Module):
    def __init__(self, linear, times: float):
        super().__init__()
        self.linear = linear
        self.times = times

    def forward(self, x):
        if x.sum() > 0:
            x = x * self.times
        return self.linear(x) + torch.tensor([1.0, 2.0, 3.0])


class Outer(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x) - 1


@pytest.fixture(scope="module")
def packaged():
    """Importing and exporting script modules is behind a gate in 2.13."""
    gate = torch.package.package_exporter._gate_torchscript_serialization
    torch.package.package_exporter._gate_torchscript_serialization = False
    torch.manual_seed(0)
    linear = torch.nn.Linear(3, 3)
    inner = Shared(linear, 2.0)
    yield {"one": torch.jit.script(Shared(linear, 3.0)), "two": torch.jit.script(Outer(inner)), "tensor": linear.weight}
    torch.package.package_exporter._gate_torchscript_serialization = gate


@pytest.fixture(scope="session")
def tool(flambeau):
    return pathlib.Path(flambeau.path).parents[2] / "tests/tools/script_resave"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", ("ff", "lite.ff"))
def test_flatbuffers_are_pytorchs(flambeau, fixtures, tmp_path, name, ending):
    source = fixtures / "torch-2.4" / f"{name}.{ending}"
    flambeau("convert", source, tmp_path / "ours.ff")
    torch.jit.save_jit_module_to_flatbuffer(torch.jit.load(source), str(tmp_path / "theirs.ff"))
    ours, theirs = (flat_tables.Flat((tmp_path / f"{who}.ff").read_bytes()) for who in ("ours", "theirs"))
    assert ours.module() == theirs.module()
    assert ours.without_handles() == theirs.without_handles()


@pytest.mark.parametrize("name", NAMES)
def test_flatbuffers_run_equal(flambeau, fixtures, tmp_path, name):
    """By their code here, and ours by PyTorch: all three ways of loading."""
    call = torch.load(fixtures / "torch-2.4" / f"{name}.io.pt", weights_only=True)
    flambeau("convert", fixtures / "torch-2.4" / f"{name}.ff", tmp_path / "module.pt", "--script")
    flambeau("convert", fixtures / "torch-2.4" / f"{name}.ff", tmp_path / "ours.ff")
    flambeau("convert", "--bytecode-only", fixtures / "torch-2.4" / f"{name}.ff", tmp_path / "bare.ff")
    flambeau("convert", "--script", tmp_path / "bare.ff", tmp_path / "lifted.pt")
    flat, lite = torch.jit.jit_module_from_flatbuffer, torch.jit.mobile._load_for_lite_interpreter
    for load, file in ((torch.jit.load, "module.pt"), (torch.jit.load, "ours.ff"), (flat, "ours.ff"), (lite, "ours.ff"), (lite, "bare.ff"),
                       (torch.jit.load, "lifted.pt")):  # fmt: skip
        result = load(str(tmp_path / file))(*call["inputs"])
        assert mobile.equal(result, call["outputs"]), (load, file)


def test_tensors_that_need_64_bits(flambeau, tmp_path):
    module = torch.nn.Module()
    module.weight = torch.zeros(1).expand(1 << 32)
    torch.jit.script(module).save(tmp_path / "large.pt")
    done = flambeau.run("convert", tmp_path / "large.pt", tmp_path / "large.ff")
    assert done.returncode != 0 and "4294967296 takes more than 32 bits" in done.stderr
    assert not (tmp_path / "large.ff").exists()


def test_harvested_modules(tool, fixtures):
    counts, problems = mobile.judge(tool, fixtures / "torchscript" / "calls.zip", EVERY)
    assert counts["bytecode 8"][1] > 5
    for what, (right, tried) in counts.items():
        assert right >= (1.0 if what.startswith("runs") else 0.9) * tried, f"{what}: {right} of {tried}\n" + "\n".join(problems)


def test_packages_of_pytorch(flambeau, packaged, tmp_path):
    path = tmp_path / "package.pt"
    with torch.package.PackageExporter(str(path)) as exporter:
        exporter.save_pickle("one", "one.pkl", packaged["one"])
        exporter.save_pickle("all", "all.pkl", packaged)
        exporter.save_text("notes", "readme.txt", "hello")
    shown = flambeau("inspect", path)
    assert "one/one.pkl" in shown and "all/all.pkl:two" in shown
    x = torch.ones(2, 3)
    for name, which in (("one/one.pkl", "one"), ("all/all.pkl:two", "two"), ("1", "two")):
        flambeau("convert", f"{path}:{name}", tmp_path / "out.pt")
        assert torch.equal(torch.jit.load(tmp_path / "out.pt")(x), packaged[which](x))
    assert "2 script modules" in flambeau.run("convert", path, tmp_path / "out.pt").stderr
    assert "name one of" in flambeau.run("code", f"{path}:three").stderr


def test_packages_for_pytorch(flambeau, tool, packaged, tmp_path):
    """One, two and nested modules; what several share is there once."""
    packaged["one"].save(tmp_path / "one.pt")
    packaged["two"].save(tmp_path / "two.pt")
    torch.jit.load(tmp_path / "two.pt").inner.save(tmp_path / "inner.pt")
    path, x = tmp_path / "package.pt", torch.ones(2, 3)
    words = ["a/a.pkl", f"={tmp_path / 'one.pt'}", "b.c/all.pkl"]
    words += [f"{name}={tmp_path / name}.pt" for name in ("two", "inner")]
    subprocess.run([tool.parent / "script_pack", path, *words], check=True)
    importer = torch.package.PackageImporter(str(path))
    one = importer.load_pickle("a", "a.pkl")
    loaded = importer.load_pickle("b.c", "all.pkl")
    assert torch.equal(one(x), packaged["one"](x)) and torch.equal(loaded["two"](x), packaged["two"](x))
    assert torch.equal(loaded["inner"](x) - 1, packaged["two"](x))
    # And back again, with what PyTorch's own package shares.
    with torch.package.PackageExporter(str(tmp_path / "theirs.pt")) as exporter:
        exporter.save_pickle("all", "all.pkl", packaged)
    words = ["all/all.pkl"] + [f"{name}={tmp_path / 'theirs.pt'}:all/all.pkl:{name}" for name in ("one", "two")]
    subprocess.run([tool.parent / "script_pack", path, *words], check=True)
    loaded = torch.package.PackageImporter(str(path)).load_pickle("all", "all.pkl")
    for name in ("one", "two"):
        assert torch.equal(loaded[name](x), packaged[name](x))
    assert loaded["one"].linear.weight.data_ptr() == loaded["two"].inner.linear.weight.data_ptr()


def test_old_package(flambeau, fixtures, tmp_path):
    path = fixtures / "real/package/test_torchscript_module.pt"
    flambeau("convert", path, tmp_path / "out.pt")
    importer = torch.package.PackageImporter(str(path))
    theirs = importer.load_pickle("torchscript_module", "torchscript_module.pkl")
    ours = torch.jit.load(tmp_path / "out.pt")
    expected = theirs.state_dict()
    assert list(ours.state_dict()) == list(expected)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in ours.state_dict().items())
