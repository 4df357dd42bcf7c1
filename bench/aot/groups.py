"""Groups of elementwise operators as they stand in models, between their products: 20 of them, each a small program."""

import torch

GROUPS = {}


def group(*make):
    """Of a function, which is the group; `make` gives its inputs."""

    def add(function):
        class Group(torch.nn.Module):
            def forward(self, *inputs):
                return function(*inputs)

        GROUPS[function.__name__] = (Group, lambda: tuple(each() for each in make))
        return function

    return add


def of(*sizes):
    return lambda: torch.randn(*sizes)


def half(*sizes):
    return lambda: torch.randn(*sizes).to(torch.bfloat16)


def ints(*sizes):
    return lambda: torch.randint(-1000, 1000, sizes, dtype=torch.int32)


def mask(*sizes):
    return lambda: torch.rand(*sizes) > 0.3


@group(of(128, 1024), of(128, 1024))
def residual_relu(x, y):
    return torch.relu(x + y)


@group(of(128, 1024), of(1024), of(1024))
def affine(x, w, b):
    return x * w + b


@group(of(128, 1024), of(1024))
def bias_gelu(x, b):
    return torch.nn.functional.gelu(x + b)


@group(of(128, 1024), of(1024))
def bias_gelu_tanh(x, b):
    return torch.nn.functional.gelu(x + b, approximate="tanh")


@group(of(128, 1024), of(128, 1024))
def swiglu(x, y):
    return torch.nn.functional.silu(x) * y


@group(of(128, 1024), of(128, 1024))
def gate(x, y):
    return torch.sigmoid(x) * torch.tanh(y)


@group(of(64, 512), of(64, 512), of(64, 512), of(64, 512), of(64, 512))
def lstm_cell(i, f, g, o, c):
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


@group(of(128, 1024), of(128, 1024))
def moving_average(x, y):
    return x * 0.9 + y * 0.1


@group(of(128, 1024), of(1024), of(1024))
def norm_hardswish(x, w, b):
    return torch.nn.functional.hardswish(x * w + b)


@group(of(12, 128, 128), mask(128, 128))
def masked_scores(x, keep):
    return torch.where(keep, x / 8, -1e9)


@group(of(128, 1024), of(128, 1024))
def mish_product(x, y):
    return torch.nn.functional.mish(x * y)


@group(of(128, 1024))
def bounded_root(x):
    return torch.sqrt(torch.clamp(x.abs() + 0.1, max=4.0)) - 1


@group(of(128, 1024), of(128, 1), of(128, 1), of(1024), of(1024))
def normalize(x, mean, rstd, w, b):
    return (x - mean) * rstd * w + b


@group(of(8, 128, 64), of(8, 128, 64), of(128, 64), of(128, 64))
def rotary(x, turned, cos, sin):
    return x * cos + turned * sin


@group(of(128, 1024), of(128, 1024))
def gaussian(x, y):
    return torch.exp((x - y) * (x - y) * -0.5)


@group(of(128, 1024))
def softplus(x):
    return torch.log1p(torch.exp(x)) * 0.5 + x


@group(half(128, 1024), half(128, 1024), half(128, 1024))
def bfloat16_affine(x, y, z):
    return torch.relu(x * y + z)


@group(ints(128, 1024), ints(128, 1024), ints(128, 1024))
def integers(x, y, z):
    return (x * y + z) * 3 - x


@group(of(4, 32, 28, 28), of(32, 1, 1), of(32, 1, 1))
def channels(x, w, b):
    return torch.nn.functional.leaky_relu(x * w + b, 0.1)


@group(of(128, 1024))
def polynomial(x):
    return torch.tanh(((x * 0.1 + 0.2) * x + 0.3) * x + 1)
