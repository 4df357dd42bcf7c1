"""What bench/script measures: loops, small operators, and models, as TorchScript."""

import pathlib
import sys
from typing import Dict, List

import torch
from torch import Tensor, nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "runtime"))
import models as exported  # noqa: E402


def numbers(n: int, x: Tensor) -> int:
    s = 0
    for i in range(n):
        s = s + i * 3
    return s


def floats(n: int, x: Tensor) -> float:
    y = 1.0
    for i in range(n):
        y = y * 0.5 + 0.5
    return y


def lists(n: int, x: Tensor) -> int:
    items: List[int] = []
    s = 0
    for i in range(n):
        items.append(i)
        s = s + items[i]
    return s


def dicts(n: int, x: Tensor) -> int:
    d: Dict[str, int] = {}
    for i in range(n):
        d[str(i % 100)] = i
    return len(d)


def add(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = s + x
    return s


def mul(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = s * 0.5
    return s


def relu(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = torch.relu(s)
    return s


def relu_in_place(n: int, x: Tensor) -> Tensor:
    s = x + 1
    for i in range(n):
        torch.relu_(s)
    return s


def cat_slice(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = torch.cat([s, x])[4:]
    return s


def view(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = s.view(-1, 4)
    return s


def reshape(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = s.reshape(4, 4)
    return s


def size_view(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = s.view(s.size(1), s.size(0))
    return s


def index_add(n: int, x: Tensor) -> Tensor:
    s = x[0]
    for i in range(n):
        s = s + x[i % 4]
    return s


def linear(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = torch.nn.functional.linear(s, x)
    return s


def matmul(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = torch.matmul(s, x)
    return s


def softmax(n: int, x: Tensor) -> Tensor:
    s = x
    for i in range(n):
        s = torch.softmax(s, 1)
    return s


def compare(n: int, x: Tensor) -> int:
    s = 0
    y = x[0, 0]
    for i in range(n):
        if bool(y < 2.0):
            s = s + 1
    return s


# Each turn needs the last one: PyTorch leaves out what nobody does. Name: function, turns.
SCALARS = {"numbers": (numbers, 300_000), "floats": (floats, 300_000), "lists": (lists, 200_000), "dicts": (dicts, 100_000)}
OPERATORS = {function.__name__: (function, 20_000) for function in
             (add, mul, relu, relu_in_place, cat_slice, view, reshape, size_view, index_add, linear, matmul, softmax, compare)}


class Encoder(nn.Module):
    """BERT-like: embedding, six layers, a pooled output."""

    def __init__(self, width=256, layers=6, heads=4):
        super().__init__()
        self.words, self.places = nn.Embedding(1000, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(layers)])
        self.pool = nn.Linear(width, width)

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.size(1), device=ids.device)
        x = self.norm(self.words(ids) + self.places(places))
        for layer in self.layers:
            x = layer(x)
        return torch.tanh(self.pool(x[:, 0]))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inputs, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.size(0), x.size(1), x.size(2)
        q, k, v = self.inputs(x).view(batch, length, 3 * self.heads, width // self.heads).transpose(1, 2).chunk(3, 1)
        scores = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) * ((width // self.heads) ** -0.5), -1)
        mixed = torch.matmul(self.dropout(scores), v).transpose(1, 2).reshape(batch, length, width)
        x = self.first(x + self.dropout(self.out(mixed)))
        return self.second(x + self.dropout(self.down(torch.nn.functional.gelu(self.up(x)))))


class Dense(nn.Module):
    """DenseNet-121."""

    def __init__(self):
        super().__init__()
        channels, layers = 64, [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
        for number, count in enumerate((6, 12, 24, 16)):
            for _ in range(count):
                layers.append(Growth(channels))
                channels += 32
            if number < 3:
                layers += [nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
                channels //= 2
        self.layers = nn.Sequential(*layers, nn.BatchNorm2d(channels), nn.ReLU(inplace=True))
        self.head = nn.Linear(channels, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(self.layers(x), (1, 1)), 1))


class Growth(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.Conv2d(channels, 128, 1, bias=False),
                                    nn.BatchNorm2d(128), nn.ReLU(inplace=True), nn.Conv2d(128, 32, 3, padding=1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.layers(x)], 1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(256, 256, num_layers=2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]


class Gated(nn.Module):
    """A recurrent one over chunks of sound, with a convolution before it."""

    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(1, 64, 25, stride=10)
        self.layers = nn.GRU(64, 128, num_layers=2, batch_first=True)
        self.head = nn.Linear(128, 1)

    def forward(self, x: Tensor) -> Tensor:
        seen, _ = self.layers(torch.relu(self.front(x)).transpose(1, 2))
        return torch.sigmoid(self.head(seen[:, -1]))


class Ladder(nn.Module):
    """A U-Net."""

    def __init__(self, width=16):
        super().__init__()
        self.down, self.under = double(3, width), double(width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.join, self.head = double(2 * width, width), nn.Conv2d(width, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = self.down(x)
        x = self.up(self.under(nn.functional.max_pool2d(kept, 2)))
        return self.head(self.join(torch.cat([x, kept], 1)))


def double(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


def vgg():
    layers, inputs = [], 3
    for outputs, count in ((32, 1), (64, 1), (128, 2), (256, 2), (256, 2)):
        for _ in range(count):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True)]
            inputs = outputs
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 512), nn.ReLU(), nn.Dropout(), nn.Linear(512, 1000))


def generator():
    layers, width = [nn.ConvTranspose2d(64, 256, 4), nn.BatchNorm2d(256), nn.ReLU()], 256
    for _ in range(3):
        layers += [nn.ConvTranspose2d(width, width // 2, 4, 2, 1), nn.BatchNorm2d(width // 2), nn.ReLU()]
        width //= 2
    return nn.Sequential(*layers, nn.Conv2d(width, 3, 3, padding=1), nn.Tanh())


def temporal():
    layers = []
    for level in range(8):
        layers += [nn.Conv1d(32, 32, 3, padding=2**level, dilation=2**level), nn.BatchNorm1d(32), nn.PReLU()]
    return nn.Sequential(*layers, nn.Conv1d(32, 4, 1))


def perceptron():
    return nn.Sequential(*[layer for _ in range(20) for layer in (nn.Linear(64, 64), nn.ReLU())])


def transformer():
    layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    return nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)


IMAGE = "float32:1x3x224x224"
# Name: module, the argument as script_bench.cpp writes it.
MODELS = {
    "resnet18": (lambda: exported.resnet_18(1)[0], IMAGE),
    "mobilenet": (lambda: exported.mobilenet_v2(1)[0], IMAGE),
    "densenet": (Dense, IMAGE),
    "lstm": (Recurrent, "float32:1x32x256"),
    "encoder": (Encoder, "int64:1x64"),
}

# Further ones that are loaded alone.
LOADED = {
    "resnet50": (lambda: exported.resnet_50(1)[0], IMAGE),
    "vgg": (vgg, "float32:1x3x64x64"),
    "unet": (Ladder, "float32:1x3x64x64"),
    "generator": (generator, "float32:1x64x1x1"),
    "temporal": (temporal, "float32:1x32x256"),
    "gru": (Gated, "float32:1x1x1600"),
    "perceptron": (perceptron, "float32:1x64"),
    "transformer": (transformer, "float32:1x32x128"),
    "wide encoder": (lambda: Encoder(512, 12, 8), "int64:1x64"),
    "bilinear": (lambda: nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear"), double(3, 16), nn.GELU()), "float32:1x3x16x16"),
}


def tensor(text):
    """The tensor that script_bench.cpp makes of this text."""
    kind, sizes = text.split(":")
    sizes = [int(size) for size in sizes.split("x") if size]
    numbers = torch.arange(torch.Size(sizes).numel()) % 17
    return numbers.view(sizes) if kind == "int64" else (numbers / 8 - 1).view(sizes).float()
