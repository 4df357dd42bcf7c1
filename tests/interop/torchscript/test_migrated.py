"""Migrated modules, loaded and run by PyTorch: quantized ones, those with several methods, states, examples of their own."""

import json
import warnings

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # the operators that quantized programs call
from torch import nn
from torch.ao import quantization
from torch.export.pt2_archive._package import load_pt2

warnings.simplefilter("ignore")


def migrate(flambeau, module, folder, *options, **inputs):
    """The program, in PyTorch. What the command says is in `said.json`."""
    module.save(folder / "m.pt")
    words = []
    for name, value in inputs.items():
        torch.save(value, folder / f"{name}.pt")
        words += ["--input", f"{name}={folder / name}.pt"]
    said = flambeau.json("migrate", folder / "m.pt", "-o", folder / "m.pt2", *words, *options)
    assert [run["difference"] for run in said.get("checks", []) if run["difference"]] == []
    (folder / "said.json").write_text(json.dumps(said))
    return torch.export.load(folder / "m.pt2")


def close(found, expected, step=0.0):
    torch.testing.assert_close(found, expected, rtol=1.3e-6, atol=max(1e-5, step * 1.001))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.conv, self.relu = nn.Conv2d(3, 8, 3, padding=1, groups=1), nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.thin = nn.Conv2d(8, 8, 3, stride=2, groups=8, bias=False)
        self.sum = torch.ao.nn.quantized.FloatFunctional()
        self.linear = nn.Linear(8, 5)

    def forward(self, x):
        x = self.pool(self.relu(self.conv(self.quant(x))))
        y = self.thin(x)
        y = self.sum.add_relu(y, y)
        y = torch.nn.functional.adaptive_avg_pool2d(y, (1, 1)).flatten(1)
        return self.dequant(torch.sigmoid(self.linear(y)))


@pytest.mark.parametrize("per_channel", [False, True])
def test_quantized_layers(flambeau, tmp_path, per_channel):
    torch.manual_seed(0)
    torch.backends.quantized.engine = "fbgemm" if per_channel else "qnnpack"
    module = Convolutions().eval()
    module.qconfig = quantization.get_default_qconfig(torch.backends.quantized.engine)
    quantization.fuse_modules(module, [["conv", "relu"]], inplace=True)
    quantization.prepare(module, inplace=True)
    x = torch.randn(2, 3, 16, 16)
    module(x)
    quantized = torch.jit.script(quantization.convert(module))
    program = migrate(flambeau, quantized, tmp_path, "--dynamic", "x:0=batch", x=x)
    names = {"conv.weight", "conv.bias", "thin.weight", "linear.weight", "linear.bias"}
    assert names <= set(program.state_dict), sorted(program.state_dict)
    assert program.state_dict["conv.weight"].dtype == torch.int8
    targets = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert {"aten.conv2d.default", "aten.linear.default", "quantized_decomposed.quantize_per_tensor.default"} <= targets
    assert not any(target.startswith("quantized.") for target in targets)
    for size in (1, 2, 7):
        other = torch.randn(size, 3, 16, 16)
        close(program.module()(other), quantized(other), step=2 / 256)


def test_layers_quantized_as_they_run(flambeau, tmp_path):
    torch.manual_seed(0)
    torch.backends.quantized.engine = "fbgemm"
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    quantized = torch.jit.script(quantization.quantize_dynamic(module, {nn.Linear}, dtype=torch.qint8))
    x = torch.randn(3, 8)
    program = migrate(flambeau, quantized, tmp_path, "--dynamic", "input:0=batch", input=x)
    for size in (2, 3, 9):
        other = torch.randn(size, 8)
        close(program.module()(other), quantized(other), step=0.02)


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner, self.outer = nn.Linear(8, 4), nn.Linear(4, 8)

    @torch.jit.export
    def encode(self, x):
        return self.inner(x).relu()

    @torch.jit.export
    def decode(self, code):
        return self.outer(code)

    def forward(self, x):
        return self.decode(self.encode(x))


def test_several_methods_in_one_archive(flambeau, tmp_path):
    module = torch.jit.script(Coder())
    module.save(tmp_path / "m.pt")
    methods = [word for name in ("forward", "encode", "decode") for word in ("--method", name)]
    flambeau("migrate", tmp_path / "m.pt", "-o", tmp_path / "m.pt2", *methods, "-i", "forward:2x8", "-i", "encode:2x8", "-i",
             "decode:2x4", "--dynamic", "encode:x:0=batch")
    programs = load_pt2(str(tmp_path / "m.pt2")).exported_programs
    assert set(programs) == {"model", "encode", "decode"}
    x = torch.randn(2, 8)
    close(torch.export.load(tmp_path / "m.pt2").module()(x), module(x))
    close(programs["decode"].module()(module.encode(x)), module(x))
    close(programs["encode"].module()(torch.randn(5, 8) * 0 + 1), module.encode(torch.ones(5, 8)))
    weights = sum(p.numel() * 4 for p in Coder().parameters())
    assert (tmp_path / "m.pt2").stat().st_size < 3 * weights + 60_000


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 3
        self.seen = [torch.zeros(2)]

    def forward(self, x):
        self.count += 1
        self.seen[0] = self.seen[0] + x
        return x * self.count + self.seen[0]


def test_states_that_are_no_tensors(flambeau, tmp_path):
    module = torch.jit.script(Counter())
    x = torch.tensor([1.0, 2.0])
    torch.save(x, tmp_path / "x.pt")
    module.save(tmp_path / "c.pt")
    refused = flambeau.run("migrate", tmp_path / "c.pt", "-o", tmp_path / "c.pt2", "-i", tmp_path / "x.pt")
    assert refused.returncode != 0 and "self.count (int)" in refused.stderr
    program = migrate(flambeau, module, tmp_path, "--state-as-arguments", x=x).module()
    count, seen = 3, [torch.zeros(2)]
    original = torch.jit.load(tmp_path / "m.pt")
    for _ in range(3):
        result, state = program(x, count=count, seen=seen)
        close(result, original(x))
        count, seen = state["count"], state["seen"]
    assert count == 6


class Stream(nn.Module):
    """A state that has its size after the first run."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(0))

    def forward(self, x):
        if self.last.numel() == 0:
            self.last = torch.zeros(x.size(0), 2)
        y = torch.cat([self.last, x], 1)
        self.last = x[:, -2:]
        return y.cumsum(1)


def test_states_without_a_size(flambeau, tmp_path):
    x = torch.arange(8.0).view(2, 4)
    program = migrate(flambeau, torch.jit.script(Stream()), tmp_path, x=x).module()
    original = torch.jit.load(tmp_path / "m.pt")
    for i in range(3):
        close(program(x + i), original(x + i))
    assert "begins with zeros" in (tmp_path / "said.json").read_text()


def test_examples_of_the_file(flambeau, tmp_path):
    traced = torch.jit.trace(nn.Conv2d(3, 4, 3).eval(), torch.randn(1, 3, 8, 8))
    program = migrate(flambeau, traced, tmp_path)
    x = torch.randn(1, 3, 8, 8)
    close(program.module()(x), traced(x))


def test_bundled_examples(flambeau, tmp_path):
    from torch.utils import bundled_inputs

    module = torch.jit.script(nn.Linear(4, 2).eval())
    bundled_inputs.augment_model_with_bundled_inputs(module, inputs=[(torch.ones(3, 4),)])
    program = migrate(flambeau, module, tmp_path)
    close(program.module()(torch.ones(3, 4)), module(torch.ones(3, 4)))


def test_shapes_of_integers(flambeau, tmp_path):
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(10, 4)

        def forward(self, ids, weights):
            return self.table(ids) * weights

    module = torch.jit.script(Words())
    module.save(tmp_path / "m.pt")
    flambeau("migrate", tmp_path / "m.pt", "-o", tmp_path / "m.pt2", "-i", "ids=2x5", "-i", "weights=2x5x4")
    ids, weights = torch.randint(0, 10, (2, 5)), torch.randn(2, 5, 4)
    close(torch.export.load(tmp_path / "m.pt2").module()(ids, weights), module(ids, weights))


def test_reports(flambeau, tmp_path):
    class Loop(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.tensor(3))

        def forward(self, x):
            for _ in range(int(self.steps)):
                x = x * 2
            return x

    migrate(flambeau, torch.jit.script(Loop()), tmp_path, "--report", tmp_path / "r.html", x=torch.ones(2))
    page = (tmp_path / "r.html").read_text()
    assert "<h2>Unrolled (1)</h2>" in page and "ran 3 times" in page and "x * 2" in page
    assert "<h2>Assumed (1)</h2>" in page and "elements of a tensor of the file" in page
    migrate(flambeau, torch.jit.script(Loop()), tmp_path, "--report", tmp_path / "r.txt", x=torch.ones(2))
    assert "Unrolled (1)\n" in (tmp_path / "r.txt").read_text()
