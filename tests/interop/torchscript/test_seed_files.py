"""Files of modules that were built from text, by the tests of saving and loading: PyTorch opens them and gives the same results."""

import json
import os
import pathlib
import subprocess

import pytest
import torch


@pytest.fixture(scope="session")
def folder(flambeau, tmp_path_factory):
    made = tmp_path_factory.mktemp("seed_files")
    test = pathlib.Path(flambeau.path).parents[2] / "tests/seed_save_load_test"
    done = subprocess.run([test], env={**os.environ, "FLAMBEAU_SEED_FOLDER": str(made)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return made


def value(said):
    """What the C++ side noted of a value."""
    if isinstance(said, dict) and "tuple" in said:
        return tuple(map(value, said["tuple"]))
    if isinstance(said, dict):
        return torch.tensor(said["values"]).reshape(said["sizes"])
    return said


def same(ours, theirs):
    if isinstance(ours, torch.Tensor):
        return torch.allclose(ours.double(), theirs.double())
    return ours == theirs


def test_files_open_and_run(folder):
    files = sorted([*folder.glob("*.pt"), *folder.glob("*.ff")])
    assert len(files) >= 30 and len([path for path in files if path.suffix == ".ff"]) >= 10
    called = 0
    for path in files:
        module = torch.jit.load(path)
        note = pathlib.Path(f"{path}.json")
        if not note.exists():
            continue
        call = json.loads(note.read_text())
        result = module(*map(value, call["arguments"]))
        assert same(value(call["result"]), result), f"{path.name}: {result}"
        called += 1
    assert called >= 17


def test_module_info_of_a_flatbuffer(folder):
    with open(folder / "module_info.pt.ff", "rb") as file:
        said = torch.jit._serialization.get_flatbuffer_module_info(file)
    assert said["bytecode_version"] == 9 and said["operator_version"] == 1
    assert said["type_names"] == set() and said["opname_to_num_args"] == {"aten::linear": 3}
    assert len(said["function_names"]) == 1 and next(iter(said["function_names"])).endswith("forward")


@pytest.mark.parametrize("ending", ["pt", "ff"])
def test_extra_files(folder, ending):
    extra = {"foo": "", "foo2": ""}
    torch.jit.load(folder / f"extra_files.{ending}", _extra_files=extra)
    assert extra == {"foo": b"bar\x00\xffbaz", "foo2": b"bar"}


def test_meta_tensors(folder):
    module = torch.jit.load(folder / "meta.pt", map_location="cpu")
    assert module.foo.weight.is_meta and module.buffer.is_meta
    assert not module.bar.weight.is_meta


SOURCE = """
class Linear(Module):
    weight: nn.Parameter
    bias: nn.Parameter

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class Network(Module):
    first: Linear
    second: Linear
    calls: int = 0
    scale: Final[float] = 2.0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.second(torch.relu(self.first(x))) * self.scale
"""


def test_compile_script(flambeau, tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    model = torch.nn.ModuleDict({"first": torch.nn.Linear(3, 4), "second": torch.nn.Linear(4, 2)})
    safetensors.save_file(model.state_dict(), tmp_path / "w.safetensors")
    (tmp_path / "model.py").write_text(SOURCE)
    flambeau("compile-script", tmp_path / "model.py", "--weights", tmp_path / "w.safetensors", "-o", tmp_path / "model.pt")
    module = torch.jit.load(tmp_path / "model.pt")
    x = torch.randn(5, 3)
    expected = model["second"](torch.relu(model["first"](x))) * 2
    assert torch.allclose(module(x), expected)
    assert module.calls == 1
    assert [name for name, _ in module.named_parameters()] == ["first.weight", "first.bias", "second.weight", "second.bias"]


def test_compile_script_of_functions(flambeau, tmp_path):
    (tmp_path / "f.py").write_text("def twice(x, by: int = 2):\n  return x * by\n")
    flambeau("compile-script", tmp_path / "f.py", "-o", tmp_path / "f.pt")
    module = torch.jit.load(tmp_path / "f.pt")
    assert torch.equal(module(torch.ones(2)), torch.full((2,), 2.0))
    assert torch.equal(module.twice(torch.ones(2), 3), torch.full((2,), 3.0))


def test_compile_script_says_what_is_wrong(flambeau, tmp_path):
    (tmp_path / "f.py").write_text("def f(value: int):\n  return valu\n\ndef g(x):\n  return x.reluu()\n")
    done = flambeau.run("compile-script", "--check", tmp_path / "f.py")
    assert done.returncode == 2
    assert "f.py:2:10: there is no 'valu' here" in done.stderr and "did you mean 'value'?" in done.stderr
    assert "f.py:5:12:" in done.stderr


FUNCTIONS = {
    "relu6": "F.relu6(x * 4)", "elu": "F.elu(x, 0.5)", "leaky": "F.leaky_relu(x, 0.2)", "hardtanh": "F.hardtanh(x)",
    "hardsigmoid": "F.hardsigmoid(x)", "silu": "F.silu(x)", "softmax": "F.softmax(x, dim=1)", "log_softmax": "F.log_softmax(x, 1)",
    "normalize": "F.normalize(x)", "dropout": "F.dropout(x, 0.5, training=False)", "pool": "F.max_pool2d(x, 2)",
    "pool_stride": "F.max_pool2d(x, 3, [2, 1], padding=1)", "adaptive": "F.adaptive_avg_pool2d(x, 2)",
    "layer_norm": "F.layer_norm(x, [4])", "group_norm": "F.group_norm(x, 1)", "batch_norm": "F.batch_norm(x, None, None, training=True)",
    "mse": "F.mse_loss(x, x * 2)", "l1": "F.l1_loss(x, x * 2, reduction='sum')", "huber": "F.huber_loss(x, x * 3)",
    "bce": "F.binary_cross_entropy_with_logits(x, torch.sigmoid(x))", "cross": "F.cross_entropy(x[0, 0], torch.arange(4))",
    "resize": "F.interpolate(x, [8, 8])", "bilinear": "F.interpolate(x, scale_factor=[2.0, 2.0], mode='bilinear')",
    "tanhshrink": "F.tanhshrink(x)", "softsign": "F.softsign(x)", "glu": "F.glu(x, 1)", "mish": "F.mish(x)", "relu": "F.relu(x)",
    "embedding": "F.embedding(torch.arange(3), x[0, 0])", "celu": "F.celu(x)", "selu": "F.selu(x)", "threshold": "F.threshold(x, 0.1, 2.0)",
}


def test_functional(flambeau, tmp_path):
    """Functions of torch.nn.functional, compiled here and run by PyTorch, are PyTorch's own."""
    import torch.nn.functional as F  # noqa: F401

    text = "".join(f"def {name}(x):\n  return {call}\n" for name, call in FUNCTIONS.items())
    (tmp_path / "f.py").write_text("import torch.nn.functional as F\n" + text)
    flambeau("compile-script", tmp_path / "f.py", "-o", tmp_path / "f.pt")
    module = torch.jit.load(tmp_path / "f.pt")
    x = torch.randn(2, 2, 4, 4)
    for name, call in FUNCTIONS.items():
        assert torch.allclose(getattr(module, name)(x), eval(call)), name
