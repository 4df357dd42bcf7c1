"""Modules as Python: the text runs in plain PyTorch and gives what the module gave."""

import enum
import pathlib
import subprocess
import sys
import zipfile
from typing import Dict, List, NamedTuple, Optional

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import decompiled  # noqa: E402

# decompiled.py takes all of them; so many are enough to notice.
EVERY = 40


@pytest.fixture(scope="session")
def tool(flambeau):
    return pathlib.Path(flambeau.path).parents[2] / "tests/interop/torchscript/script_decompile"


class Point(NamedTuple):
    x: Tensor
    scale: float


class Mode(enum.Enum):
    ADD = 1
    MULTIPLY = 2


class Block(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.conv = nn.Conv2d(size, size, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(size)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)) + x)


class Network(nn.Module):
    """Layers, loops, branches, strings, dicts, attributes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, (3, 1), stride=(2, 1)), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.blocks = nn.ModuleList([Block(4), Block(4)])
        self.head = nn.Linear(4, 5)
        self.dropout = nn.Dropout(0.1)
        self.names = {"a": 1, "b": 2}
        self.limits: List[float] = [0.5, 1.0]
        self.counter = 0
        self.register_buffer("shift", torch.arange(5.0))

    def scaled(self, x: Tensor, by: Optional[float] = None) -> Tensor:
        if by is None:
            return x
        return x * by

    def forward(self, x: Tensor, mode: str = "a", turns: int = 2) -> Dict[str, Tensor]:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = x.mean([2, 3])
        self.counter += 1
        found: List[Tensor] = []
        i = 0
        while i < turns:
            found.append(self.head(x) + self.shift[1:3].sum() / (i + 1))
            i += 1
        y = torch.stack(found)[:, 0]
        if mode in self.names:
            y = y * self.names[mode]
        elif mode == "none":
            y = y - 7 // 2
        else:
            y = self.scaled(y, 0.5)
        return {"y": self.dropout(y), "text": torch.tensor(len("{} of {}".format(mode, 1.5)))}


class Kinds(nn.Module):
    def pair(self, x: Tensor) -> Point:
        return Point(x + 1, 2.0)

    def forward(self, x: Tensor, mode: Mode, n: int):
        point = self.pair(x)
        if mode == Mode.ADD:
            y = point.x + point.scale
        else:
            y = point.x * point.scale
        kind = x.dtype
        total = torch.zeros([n], dtype=torch.float64).to(kind)
        for i in range(1, n, 2):
            total[i] = y[0, -1] / 3
        return y.permute(1, 0).reshape(-1), total, n / 3, -n // 2, -n % 3, round(n / 2), str(n / 4)


def written(flambeau, module, folder):
    """The text, and an object of its class with the weights."""
    module.save(folder / "module.pt")
    flambeau("code", "--python", folder / "module.pt", "-o", folder / "module.py")
    model, space = decompiled.model_of(folder / "module.py", folder / "module.pt")
    return (folder / "module.py").read_text(), model, space


@pytest.mark.parametrize("way", ["script", "trace"])
def test_layers_are_layers(flambeau, tmp_path, way):
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.LeakyReLU(0.2), nn.AvgPool2d(2), nn.Flatten(), nn.Dropout(0.2),
        nn.Linear(64, 6, bias=False), nn.LayerNorm(6), nn.GELU(), nn.Softmax(dim=1),
    ).eval()  # fmt: skip
    x = torch.randn(2, 3, 8, 8)
    module = torch.jit.script(net) if way == "script" else torch.jit.trace(net, x)
    text, model, _ = written(flambeau, module, tmp_path)
    assert torch.equal(model(x), module(x))
    for layer in (
        "nn.Conv2d(3, 4, 3, padding=1)", "nn.BatchNorm2d(4)", "nn.LeakyReLU(negative_slope=0.2)", "nn.AvgPool2d(2)", "nn.Flatten()",
        "nn.Dropout(p=0.2)", "nn.Linear(64, 6, bias=False)", "nn.LayerNorm([6])", "nn.GELU()", "nn.Softmax(dim=1)",
    ):  # fmt: skip
        assert layer in text, text


def test_recurrent_layers_and_embeddings(flambeau, tmp_path):
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(20, 8, padding_idx=0)
            self.lstm = nn.LSTM(8, 6, num_layers=2, batch_first=True, bidirectional=True)
            self.gru = nn.GRU(12, 5, batch_first=True)
            self.attention = nn.MultiheadAttention(5, 1, batch_first=True)

        def forward(self, x):
            y, state = self.lstm(self.words(x))
            z, last = self.gru(y)
            return self.attention(z, z, z)[0], state[0], last

    module = torch.jit.script(Tagger().eval())
    text, model, _ = written(flambeau, module, tmp_path)
    x = torch.randint(0, 20, (2, 7))
    for ours, theirs in zip(model(x), module(x)):
        assert torch.allclose(ours, theirs)
    assert "nn.Embedding(20, 8, padding_idx=0)" in text
    assert "nn.LSTM(8, 6, num_layers=2, batch_first=True, bidirectional=True)" in text
    assert "nn.MultiheadAttention(5, 1, batch_first=True)" in text


def test_code_attributes_and_names(flambeau, tmp_path):
    module = torch.jit.script(Network().eval())
    text, model, _ = written(flambeau, module, tmp_path)
    x = torch.randn(2, 3, 16, 16)
    for mode in ("a", "b", "none", "other"):
        ours, theirs = model(x, mode), module(x, mode)
        assert list(ours) == list(theirs) and all(torch.allclose(ours[key], theirs[key]) for key in ours), mode
    assert model.counter == module.counter
    assert "class Block(nn.Module):" in text and "nn.ModuleList([Block(), Block()])" in text
    assert "def scaled(self, x: Tensor, by: Optional[float] = None) -> Tensor:" in text
    # Nothing of TorchScript is left.
    assert "torch.jit" not in text and "prim" not in text and "torch.ops" not in text, text


def test_named_tuples_enums_numbers(flambeau, tmp_path):
    module = torch.jit.script(Kinds())
    text, model, space = written(flambeau, module, tmp_path)
    x = torch.randn(2, 3)
    for mode in Mode:
        ours = model(x, space.Mode[mode.name], 5)
        for mine, theirs in zip(ours, module(x, mode, 5)):
            assert torch.equal(mine, theirs) if isinstance(mine, Tensor) else mine == theirs
    assert "class Point(NamedTuple):" in text and "class Mode(Enum):" in text


def test_a_layer_that_only_has_the_name(flambeau, tmp_path):
    class Sigmoid(nn.Module):
        def forward(self, x):
            return -torch.sigmoid(x)

    Sigmoid.__module__ = "torch.nn.modules.activation"
    module = torch.jit.script(nn.Sequential(nn.ReLU(), Sigmoid()))
    text, model, _ = written(flambeau, module, tmp_path)
    x = torch.randn(4)
    assert torch.equal(model(x), module(x))
    assert "class Sigmoid(nn.Module):" in text and "nn.ReLU()" in text


def test_what_is_shared_stays_shared(flambeau, tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.second = nn.Linear(3, 3)
            self.second.weight = self.first.weight
            self.again = self.first

        def forward(self, x):
            return self.again(self.second(self.first(x)))

    module = torch.jit.script(Tied())
    _, model, _ = written(flambeau, module, tmp_path)
    x = torch.randn(2, 3)
    assert torch.equal(model(x), module(x))
    assert model.again.weight is model.first.weight and model.second.weight is model.first.weight


def test_quantized_layers(flambeau, tmp_path):
    net = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), {nn.Linear})
    module = torch.jit.script(net)
    _, model, _ = written(flambeau, module, tmp_path)
    x = torch.randn(2, 4)
    assert torch.equal(model(x), module(x))


def test_harvested_modules(tool, fixtures, tmp_path):
    """A sample of decompiled.py."""
    with zipfile.ZipFile(fixtures / "torchscript" / "calls.zip") as whole:
        calls = sorted(name for name in whole.namelist() if name.startswith("calls/"))[::EVERY]
        for name in calls:
            whole.extract(name, tmp_path)
        for call in {torch.load(tmp_path / name, weights_only=True)["archive"] for name in calls}:
            whole.extract(f"archives/{call}.pt", tmp_path)
    (tmp_path / "python").mkdir()
    subprocess.run([tool, tmp_path / "python", *sorted((tmp_path / "archives").glob("*.pt"))], check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, decompiled.__file__, "--list", tmp_path, tmp_path / "python"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
