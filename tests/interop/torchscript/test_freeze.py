"""Modules that Flambeau froze, loaded and run by PyTorch: they give what the modules gave, and keep what torch.jit.freeze
keeps. What that one's modules give is not asked: PyTorch's tests change how its executor runs them, in the whole process."""

import copy
import os
import pathlib
import subprocess

import pytest
import torch
from torch import nn

BUILD = pathlib.Path(os.environ["FLAMBEAU_BIN"]).resolve().parents[2]
TOOL = BUILD / "tests/interop/torchscript/script_freeze"


class Layer(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm, self.drop = nn.BatchNorm2d(outputs), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(torch.relu(self.norm(self.conv(x))))


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Layer(3, 8), Layer(8, 4))
        self.sizes, self.scale = [2, -1], 0.5

    def forward(self, x):
        y = self.layers(x)
        if self.training:
            y = y + 1
        return y.reshape(self.sizes) * self.scale

    @torch.jit.export
    def begin(self, x):
        return self.layers[0](x) * self.scale


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.linear, self.turn = nn.Linear(4, 4), 0

    def forward(self, x):
        self.count += 1
        self.turn = self.turn + 1
        return self.linear(x) * self.count + self.turn


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4)

    def forward(self, x):
        out, state = self.lstm(x)
        for i in range(2):
            out, state = self.lstm(out, state)
        return out, state


CASES = {
    "image": (Image, (2, 3, 6, 6), ["begin"]),
    "counter": (Counter, (3, 4), []),
    "recurrent": (Recurrent, (3, 2, 4), []),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 3, 8), []),
}


@pytest.mark.parametrize("name", CASES)
def test_frozen_modules_run_in_pytorch(name, tmp_path):
    make, sizes, preserved = CASES[name]
    torch.manual_seed(0)
    plain = make().eval()
    module = torch.jit.script(copy.deepcopy(plain))
    torch.jit.save(module, tmp_path / "model.pt")
    subprocess.run([TOOL, tmp_path / "model.pt", tmp_path / "frozen.pt", *preserved], check=True)
    ours = torch.jit.load(tmp_path / "frozen.pt")
    theirs = torch.jit.freeze(module, preserved_attrs=preserved, optimize_numerics=False)
    assert not list(ours.parameters())
    assert sorted(key for key, _ in ours.named_buffers()) == sorted(key for key, _ in theirs.named_buffers())
    x = torch.randn(sizes)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(ours(x), plain(x))
            for method in preserved:
                torch.testing.assert_close(getattr(ours, method)(x), getattr(plain, method)(x))


def test_what_cannot_be_frozen_is_said(tmp_path):
    torch.jit.save(torch.jit.script(nn.Linear(2, 2).eval()), tmp_path / "model.pt")
    done = subprocess.run([TOOL, tmp_path / "model.pt", tmp_path / "frozen.pt", "nothing"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "has no method or attribute 'nothing'" in done.stderr
