"""The command on TorchScript files: inspect, code, graph, run, bench, diff, convert, verify, check."""

import json
import re
import subprocess
import typing

import pytest
import torch


class Layer(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, size)

    def forward(self, x):
        if x.sum() > 1e9:
            raise ValueError("too large")
        return torch.relu(self.linear(x))


class Model(torch.nn.Module):
    def __init__(self, factor: float = 2.0):
        super().__init__()
        self.layers = torch.nn.Sequential(Layer(3), Layer(3))
        self.factor = factor
        self.names = ["a", "b"]

    def forward(self, x):
        return self.layers(x) * self.factor

    @torch.jit.export
    def table(self, x, sizes: typing.List[int], extra: typing.Dict[str, float]):
        return {"x": x * extra["a"], "n": torch.tensor(sizes)}

    @torch.jit.export
    def speak(self, word: str) -> str:
        print("hello", word)
        return word + "!"


class Changed(Model):
    def forward(self, x):
        return self.layers(x) - self.factor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("script")
    torch.manual_seed(0)
    model = torch.jit.script(Model().eval())
    model.save(folder / "a.pt", _extra_files={"notes.txt": "hello"})
    torch.jit.load(folder / "a.pt").save(folder / "b.pt", _extra_files={"notes.txt": "hello"})
    torch.manual_seed(0)
    torch.jit.script(Changed(3.0).eval()).save(folder / "c.pt")
    return folder


def test_inspect(flambeau, folder):
    text = flambeau("inspect", folder / "a.pt")
    assert "forward(Tensor x) -> Tensor" in text
    assert "factor: float = 2." in text
    text = flambeau("inspect", "--code", folder / "a.pt")
    # Of two classes of one name that a process scripts, PyTorch mangles the later one's.
    assert re.search(r"layers\.0\.linear: __torch__\.torch\.nn\.modules\.linear\.(___torch_mangle_\d+\.)?Linear\b", text)
    assert "aten::relu" in text and "notes.txt: 5 B" in text
    script = flambeau.json("inspect", "--code", folder / "a.pt")["script"]
    assert script["extra_files"] == ["notes.txt"]
    assert [each["name"] for each in script["methods"]] == ["forward", "speak", "table"]


def test_code(flambeau, folder):
    assert flambeau("code", folder / "a.pt").startswith("class Model(Module):")
    assert "torch.relu" in flambeau("code", folder / "a.pt", "layers.0.forward")
    assert "raise ValueError" in flambeau("code", "--original", folder / "a.pt", "layers.0.forward")
    wrong = flambeau.run("code", folder / "a.pt", "layers.0.forwar")
    assert wrong.returncode == 2
    assert "there is no module and no method 'layers.0.forwar' (did you mean 'layers.0.forward'" in wrong.stderr
    with open(folder / "a.pt", "rb") as file:
        piped = subprocess.run([flambeau.path, "code", "-", "forward"], stdin=file, capture_output=True, text=True)
    assert piped.stdout.startswith("def forward(self,"), piped.stderr


def test_run(flambeau, folder, tmp_path):
    torch.manual_seed(5)
    x = torch.randn(4, 3)
    expected = torch.jit.load(folder / "a.pt")(x)
    torch.save({"output": expected.detach()}, tmp_path / "expected.pt")
    flambeau("run", folder / "a.pt", "--seed", 5, "-i", "random:4x3", "--check-against", tmp_path / "expected.pt")
    done = flambeau.json("run", folder / "a.pt", "--method", "table", "-i", "ones:2", "-i", "[1, 2, 3]", "-i", "extra={'a': 4}")
    assert [each["path"] for each in done["outputs"]] == ["output['x']", "output['n']"]
    assert done["result"] == '{"x": float32[2], "n": int64[3]}'
    spoken = flambeau.run("run", folder / "a.pt", "--method", "speak", "-i", "'you'")
    assert spoken.stderr == "hello you\n" and "you!" in spoken.stdout
    assert "[1, 3]" in flambeau("run", folder / "a.pt", "--method", "layers.1.forward", "-i", "ones:1x3")


def test_run_reads_a_pipe(flambeau, folder):
    with open(folder / "a.pt", "rb") as file:
        done = subprocess.run([flambeau.path, "run", "-", "-i", "ones:1x3", "--json"], stdin=file, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outputs"][0]["shape"] == [1, 3]


def test_errors_show_every_call(flambeau, folder, tmp_path):
    torch.save(torch.full((1, 3), 1e12), tmp_path / "large.pt")
    done = flambeau.run("run", folder / "a.pt", "-i", tmp_path / "large.pt")
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback of TorchScript, serialized code (most recent call last):"
    assert any(line.endswith("Layer.forward (self.layers.0)") for line in lines), done.stderr
    assert any(__file__ in line for line in lines), done.stderr
    assert lines[-1] == f"flambeau: {folder / 'a.pt'}: too large"
    missing = flambeau.run("run", folder / "a.pt")
    assert "forward() is missing value for argument 'x'. Declaration: forward(" in missing.stderr
    unknown = flambeau.run("run", folder / "a.pt", "-i", "nonsense")
    assert "'nonsense' is no file and no value (give a file with one tensor, random:8x128" in unknown.stderr


def test_bench(flambeau, folder):
    done = flambeau.json("bench", folder / "a.pt", "-i", "ones:1x3", "--runs", 3, "--compare", folder / "b.pt")
    assert done["runs"] == 3 and done["ratio"] > 0
    assert "median" in flambeau("bench", folder / "a.pt", "-i", "ones:1x3", "--runs", 3)


def test_diff(flambeau, folder):
    assert "code: equal" in flambeau("diff", folder / "a.pt", folder / "b.pt")
    done = flambeau.run("diff", folder / "a.pt", folder / "c.pt", "--json")
    assert done.returncode == 1
    found = {(row["part"], row["name"]): row for row in json.loads(done.stdout)["code"]}
    assert ("attribute", "factor") in found
    assert "aten::mul" in found["method", "forward"]["detail"] and "aten::sub" in found["method", "forward"]["detail"]
    assert ("method", "layers.0.forward") not in found
    assert json.loads(done.stdout)["differences"] == []


def test_convert_keeps_a_module(flambeau, folder, tmp_path):
    said = flambeau("convert", folder / "a.pt", tmp_path / "b.pt")
    assert "a TorchScript module" in said and "--weights-only" in said
    assert (tmp_path / "b.pt").read_bytes() == (folder / "b.pt").read_bytes()
    flambeau("convert", "--dtype", "float64", folder / "a.pt", tmp_path / "double.pt")
    theirs = torch.jit.load(tmp_path / "double.pt")
    assert theirs(torch.ones(1, 3, dtype=torch.float64)).dtype == torch.float64
    flambeau("convert", "--method", "table", folder / "a.pt", tmp_path / "table.pt")
    theirs = torch.jit.load(tmp_path / "table.pt")
    assert not hasattr(theirs, "speak") and theirs.table(torch.ones(1), [1], {"a": 2.0})["x"].item() == 2.0


def test_convert_freezes(flambeau, folder, tmp_path):
    flambeau("convert", "--freeze", folder / "a.pt", tmp_path / "frozen.pt")
    frozen, module = torch.jit.load(tmp_path / "frozen.pt"), torch.jit.load(folder / "a.pt").eval()
    assert not list(frozen.parameters())
    x = torch.ones(1, 3)
    torch.testing.assert_close(frozen(x), module(x))
    wrong = flambeau.run("convert", "--freeze", folder / "a.pt", tmp_path / "x.ptl")
    assert "--freeze does not write bytecode" in wrong.stderr


def test_convert_takes_weights_out(flambeau, folder, tmp_path):
    names = list(torch.jit.load(folder / "a.pt").state_dict())
    flambeau("convert", "--weights-only", folder / "a.pt", tmp_path / "w.pt")
    assert sorted(torch.load(tmp_path / "w.pt")) == sorted(names)
    flambeau("convert", folder / "a.pt", tmp_path / "w.safetensors")
    flambeau("convert", "--filter", "*weight", folder / "a.pt", tmp_path / "some.pt")
    assert sorted(torch.load(tmp_path / "some.pt")) == sorted(name for name in names if name.endswith("weight"))
    wrong = flambeau.run("convert", "--method", "forward", tmp_path / "w.pt", tmp_path / "x.pt")
    assert "--method is for TorchScript modules" in wrong.stderr


def test_verify_shows_the_place(flambeau, folder, tmp_path):
    import zipfile

    with zipfile.ZipFile(folder / "a.pt") as archive, zipfile.ZipFile(tmp_path / "bad.pt", "w") as broken:
        for name in archive.namelist():
            text = archive.read(name)
            if name.endswith(".py") and b"torch.relu" in text:
                text = text.replace(b"torch.relu", b"torch.rel_")
                file = name.partition("/")[2]
            broken.writestr(name, text)
    done = flambeau.run("verify", tmp_path / "bad.pt", "--json")
    assert done.returncode == 1
    finding = json.loads(done.stdout)["findings"][0]
    assert finding["place"].startswith(file + ":") and finding["original"].startswith(__file__ + ":")
    shown = flambeau.run("verify", tmp_path / "bad.pt").stdout
    assert "<--- HERE" in shown
    assert "valid" in flambeau("verify", folder / "a.pt")
