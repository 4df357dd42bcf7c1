"""Optimized modules give in PyTorch what they gave before, with less code."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn


class Arithmetic(nn.Module):
    """A convolution and constants behind it."""

    def __init__(self, bias):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, bias=bias)
        self.register_buffer("scale", torch.rand(1, 4, 1, 1) + 0.5)
        self.register_buffer("shift", torch.rand(4, 1, 1))

    def forward(self, x):
        return ((self.conv(x) + self.shift) * self.scale - 0.25) / 2.0


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        y = self.conv(x)
        return self.norm(y) + y  # the convolution's own result is needed


class Hidden(nn.Module):
    def forward(self, x):
        y = x * 2
        y.relu_()
        found = [y]
        found.append(x.sigmoid() + x.sigmoid())
        return torch.cat(found)


def rectified(x):
    return torch.relu(x)


class Forked(nn.Module):
    def forward(self, x):
        task = torch.jit.fork(rectified, x)
        return torch.jit.wait(task) + x


def normed(*layers):
    for each in nn.Sequential(*layers).modules():
        if isinstance(each, nn.modules.batchnorm._BatchNorm):
            each.running_mean.uniform_(-1, 1)
            each.running_var.uniform_(0.5, 2)
            if each.affine:
                nn.init.uniform_(each.weight, 0.5, 2)
                nn.init.uniform_(each.bias)
    return nn.Sequential(*layers)


X1, X2, X3 = torch.randn(2, 3, 9), torch.randn(2, 3, 9, 8), torch.randn(2, 3, 5, 6, 7)
# The module, an input, and operators that its code must not have any more.
CASES = {
    "conv1d": (normed(nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4)), X1, ["batch_norm"]),
    "conv2d": (normed(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU()), X2, ["batch_norm"]),
    "conv2d_groups": (normed(nn.Conv2d(3, 6, 3, groups=3), nn.BatchNorm2d(6, affine=False)), X2, ["batch_norm"]),
    "conv3d": (normed(nn.Conv3d(3, 4, 3), nn.BatchNorm3d(4)), X3, ["batch_norm"]),
    "linear": (normed(nn.Linear(3, 4), nn.BatchNorm1d(4)), torch.randn(5, 3), ["batch_norm"]),
    "dropout": (nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5)), torch.randn(5, 3), ["dropout"]),
    "arithmetic": (Arithmetic(True), X2, ["torch.add", "torch.mul", "torch.sub", "torch.div"]),
    "arithmetic_without_bias": (Arithmetic(False), X2, ["torch.add", "torch.mul", "torch.sub", "torch.div"]),
    "branch": (normed(Branch())[0], X2, []),
    "hidden": (Hidden(), X1, ["relu_", "append"]),
    "forked": (Forked(), X1, ["fork", "wait"]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_with_less(flambeau, tmp_path, name):
    net, x, gone = CASES[name]
    module = torch.jit.script(net.eval())
    module.save(tmp_path / "a.pt")
    flambeau("optimize", tmp_path / "a.pt", tmp_path / "b.pt")
    made = torch.jit.load(tmp_path / "b.pt")
    for each in (x, x * 3):
        assert torch.allclose(made(each), module(each), rtol=1e-4, atol=1e-5)
    for word in gone:
        assert f"{word}(" not in made.code, made.code
    if name == "branch":
        assert "batch_norm" in made.code
    if name == "hidden":
        assert made.code.count("sigmoid") == 1


def test_methods_and_attributes_that_stay(flambeau, tmp_path):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 2.0
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(x) * self.scale

        @torch.jit.export
        def encode(self, x):
            return F.relu(self.linear(x))

    module = torch.jit.script(Two().eval())
    module.save(tmp_path / "a.pt")
    flambeau("optimize", "--preserve", "encode", "--preserve", "scale", tmp_path / "a.pt", tmp_path / "b.pt")
    made = torch.jit.load(tmp_path / "b.pt")
    x = torch.randn(2, 3)
    assert torch.allclose(made.encode(x), module.encode(x)) and made.scale == 2.0
    made.scale = 3.0
    assert torch.allclose(made(x), module(x) * 1.5)
