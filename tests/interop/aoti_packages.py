"""Packages that PyTorch's own compiler made, for the tests of what we do with them; kept, as each takes it 10 to 40 seconds.

python aoti_packages.py [MODEL.WAY...]   makes all or those named, and says what each took
"""

import os
import pathlib
import sys
import time

import torch
from torch.export import Dim, export

import cache

MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


@model
def mlp():
    layers = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4))
    return layers, (torch.randn(5, 16),), ({0: Dim("n", min=2, max=64)},)


@model
def cnn():
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 16, 3, stride=2, groups=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
        torch.nn.Linear(16, 10),
    )  # fmt: skip
    return layers, (torch.randn(2, 3, 20, 20),), None


@model
def block():
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, activation="gelu")
    return layer, (torch.randn(2, 7, 32),), None


class Mixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(50, 12)
        self.register_buffer("scale", torch.rand(12))

    def forward(self, tokens, x):
        y = self.table(tokens).cumsum(1) * self.scale
        values, places = torch.topk(y.sum(-1), 3)
        sorted_values, order = x.sort(dim=-1)
        return y @ x.t(), values, places, sorted_values, order, torch.bmm(y, y.transpose(1, 2))


@model
def mixed():
    return Mixed(), (torch.randint(0, 50, (2, 6)), torch.randn(9, 12)), None


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 16, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


@model
def lstm():
    return Recurrent(), (torch.randn(2, 5, 8),), None


class Choice(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.exp() - 1, (x,))


@model
def choice():
    return Choice(), (torch.randn(4, 5),), None


WAYS = ("default", "freezing", "dynamic")


def build(name, way):
    torch.manual_seed(0)
    layers, inputs, dynamic = MODELS[name]()
    layers = layers.eval()
    with torch.no_grad():
        if way == "dynamic" and dynamic is None:
            return None
        return layers, inputs, export(layers, inputs, dynamic_shapes=dynamic if way == "dynamic" else None)


def make(name, way, folder):
    layers, inputs, program = build(name, way)
    options = {"freezing": True} if way == "freezing" else {}
    with torch.no_grad():
        torch._inductor.aoti_compile_and_package(
            program, package_path=os.fspath(folder / "model.pt2"), inductor_configs=options
        )
        torch.save({"inputs": inputs, "outputs": layers(*inputs)}, folder / "values.pt")


def package(name, way):
    """The folder with model.pt2 and values.pt; nothing where the model has no such way."""
    if build(name, way) is None:
        return None
    return cache.entry("aoti", [pathlib.Path(__file__)], (name, way), lambda folder: make(name, way, folder))


def main():
    for name in sys.argv[1:] or [f"{name}.{way}" for name in MODELS for way in WAYS]:
        start = time.time()
        try:
            print(name, package(*name.split(".")), f"{time.time() - start:.1f} s", flush=True)
        except Exception as error:
            print(name, type(error).__name__, str(error)[:300], flush=True)


if __name__ == "__main__":
    main()
