"""Random valid programs over many operators: a number gives a program, always the same one.

A program is built by running it: a step takes values that are there, and is kept when PyTorch takes it and gives numbers of a
sane size. All steps are then replayed by a module, which is exported.

python random_programs.py NUMBER   prints the graph of one
"""

import random
import sys

import torch
import torch.nn.functional as F
from torch.export import Dim

STEPS = (6, 22)  # of a program, at least and at most
LARGEST, MOST_ELEMENTS = 1e4, 4000

UNARY = [
    torch.relu, torch.sigmoid, torch.tanh, F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu, torch.sin, torch.cos, torch.neg,
    torch.abs, torch.sign, torch.ceil, torch.floor, F.hardswish, F.hardsigmoid, F.hardtanh, F.softplus, F.relu6,
    lambda x: torch.exp(x.clamp(max=3)), lambda x: torch.log(x.abs() + 1), lambda x: torch.log1p(x.abs()), lambda x: torch.sqrt(x.abs()),
    lambda x: torch.rsqrt(x.abs() + 0.5), lambda x: torch.reciprocal(x.abs() + 0.5), lambda x: x.pow(2), lambda x: x.clamp(-1.5, 1),
    lambda x: x.clamp_min(0.1), lambda x: torch.fmod(x, 1.5), lambda x: x + 1.5, lambda x: 2 - x, lambda x: x * 0.5, lambda x: x / 3,
    lambda x: x.clone().mul_(2), lambda x: x.clone().relu_(), lambda x: x.clone().add_(x, alpha=0.5), lambda x: x.contiguous(),
    lambda x: x.clone().fill_(0.25), lambda x: torch.zeros_like(x), lambda x: torch.full_like(x, 2.5), lambda x: x.new_ones(3),
    lambda x: torch.where(x > 0, x, 0.1 * x), lambda x: x.masked_fill(x > 1, -1.0), lambda x: torch.histc(x.float(), 5, -2, 2),
]  # fmt: skip
COMPARE = [torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge]
BINARY = [torch.add, torch.sub, torch.mul, torch.minimum, lambda a, b: a / (b.abs() + 0.5), lambda a, b: torch.add(a, b, alpha=2)]
INTEGER = [
    lambda x: x + 1, lambda x: x * 2, lambda x: x // 3, lambda x: x.clamp(0, 5), lambda x: x.to(torch.float32), lambda x: x.cumsum(-1),
    lambda x: x.sum(), lambda x: x & 3, lambda x: ~x, lambda x: x.sort(-1)[0], lambda x: x.eq(2), lambda x: torch.bitwise_not(x),
]  # fmt: skip
BOOLEAN = [
    lambda x: ~x, lambda x: x.any(), lambda x: x.any(-1), lambda x: x.to(torch.float32), lambda x: x.logical_not(), lambda x: x.to(torch.int64),
    lambda x: x.sum(-1), lambda x: x.cumsum(-1), lambda x: torch.where(x, 1.5, -0.5), lambda x: torch.where(x, 2, 3),
]  # fmt: skip


class Builder:
    """The values so far, by name, and how each was made."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.values, self.steps, self.used = {}, [], set()
        self.parameters = {}
        torch.manual_seed(number)

    def pick(self, wanted=lambda value: True):
        """The name of a value, later ones more often; None where none is as wanted."""
        names = [name for name, value in self.values.items() if wanted(value)]
        return names[int(len(names) * self.random.random() ** 0.5)] if names else None

    def floats(self, dims=None):
        return self.pick(lambda value: value.is_floating_point() and (dims is None or value.dim() in dims))

    def parameter(self, *shape):
        name = f"weight_{len(self.parameters)}"
        self.parameters[name] = torch.randn(shape) / max(1, shape[-1]) ** 0.5
        return name

    def add(self, function, *names):
        """Runs a step; keeps it when its results are fit to go on with."""
        if None in names:
            return
        given = [self.values[name] if name in self.values else self.parameters[name] for name in names]
        try:
            results = function(*[value.clone() for value in given])
        except (RuntimeError, IndexError, ValueError, TypeError):
            return
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        if not results or not all(isinstance(value, torch.Tensor) and self.fit(value) for value in results):
            return
        outputs = [f"value_{len(self.values) + position}" for position in range(len(results))]
        self.values.update(zip(outputs, results))
        self.steps.append((function, names, outputs))
        self.used.update(names)

    @staticmethod
    def fit(value):
        if not 0 < value.numel() <= MOST_ELEMENTS or value.dim() > 5:
            return False
        return not value.is_floating_point() or bool(value.isfinite().all() and value.abs().max() < LARGEST)


def step(b):
    """One random step of a random kind."""
    b.random.choice(KINDS)(b)


def unary(b):
    b.add(b.random.choice(UNARY), b.floats())


def binary(b):
    first = b.floats()
    shape = b.values[first].shape if first else ()
    other = b.pick(lambda value: value.is_floating_point() and broadcasts(value.shape, shape))
    b.add(b.random.choice(BINARY), first, other)


def compare(b):
    """Numbers that are so close that rounding decides are not compared."""
    first = b.floats()
    if first is None:
        return
    value = b.values[first]
    function = b.random.choice(COMPARE)
    if b.random.random() < 0.5:
        if (value - 0.5).abs().min() > 1e-3:
            b.add(lambda x: function(x, 0.5), first)
    else:
        def is_clear(other):
            return other.dtype == value.dtype and broadcasts(other.shape, value.shape) and (value - other).abs().min() > 1e-3
        b.add(function, first, b.pick(is_clear))


def select_by(b):
    condition = b.pick(lambda value: value.dtype is torch.bool)
    first = b.pick(lambda value: condition and value.is_floating_point() and broadcasts(value.shape, b.values[condition].shape))
    if b.random.random() < 0.5:
        b.add(lambda c, x: x.masked_fill(c, 0.5), condition, first)
    else:
        b.add(lambda c, x, y: torch.where(c, x, y), condition, first, first)


def integer(b):
    b.add(b.random.choice(INTEGER), b.pick(lambda value: value.dtype is torch.int64))


def boolean(b):
    b.add(b.random.choice(BOOLEAN), b.pick(lambda value: value.dtype is torch.bool))


def broadcasts(a, b):
    try:
        torch.broadcast_shapes(a, b)
        return True
    except RuntimeError:
        return False


def reduction(b):
    name = b.floats(range(1, 6))
    if name is None:
        return
    dim, keep = b.random.randrange(-b.values[name].dim(), b.values[name].dim()), b.random.random() < 0.5
    b.add(
        b.random.choice(
            [
                lambda x: x.sum(dim, keepdim=keep), lambda x: x.mean(dim, keepdim=keep), lambda x: x.sum(), lambda x: x.softmax(dim),
                lambda x: x.argmax(dim, keepdim=keep), lambda x: x.cumsum(dim), lambda x: torch.linalg.vector_norm(x, dim=dim, keepdim=keep),
                lambda x: x.sort(dim, stable=True), lambda x: x.topk(1, dim), lambda x: x.diff(dim=dim), lambda x: x.argsort(dim, stable=True),
                lambda x: x.min(dim, keepdim=keep)[0], lambda x: x / (x.sum(dim, keepdim=True).abs() + 1), lambda x: x - x.mean(dim, keepdim=True),
            ]
        ),
        name,
    )  # fmt: skip


def shape(b):
    name = b.pick(lambda value: value.dim() >= 1)
    if name is None:
        return
    value = b.values[name]
    dim = b.random.randrange(value.dim())
    size = value.shape[dim]
    order = list(range(value.dim()))
    b.random.shuffle(order)
    start = b.random.randrange(size)
    half = [value.shape[0] * 2 if i == 0 else s for i, s in enumerate(value.shape)]
    b.add(
        b.random.choice(
            [
                lambda x: x.permute(order), lambda x: x.transpose(0, -1), lambda x: x.unsqueeze(dim), lambda x: x.squeeze(dim),
                lambda x: x.squeeze(), lambda x: x.reshape(-1), lambda x: x.flatten(dim), lambda x: x.select(dim, start),
                lambda x: x.narrow(dim, start, size - start), lambda x: x[start:], lambda x: x[..., ::2], lambda x: x.flip(dim),
                lambda x: x.roll(1, dim), lambda x: x.unsqueeze(0).expand(2, *x.shape), lambda x: x.repeat(2, *[1] * (x.dim() - 1)),
                lambda x: x.chunk(2, dim), lambda x: x.split(max(1, size // 2), dim), lambda x: x.unbind(dim)[:3], lambda x: torch.cat([x, x], dim),
                lambda x: torch.stack([x, x], dim), lambda x: x.repeat_interleave(2, dim), lambda x: x.reshape(2, -1), lambda x: x.contiguous(),
                lambda x: x.index_select(dim, torch.arange(size - 1, -1, -1)), lambda x: x.unflatten(dim, (1, size)), lambda x: x.view(-1, 1),
                lambda x: x.split([start, size - start], dim)[-1], lambda x: F.pad(x, (1, 2)), lambda x: F.pad(x, (0, 1, 2, 0), value=1),
                lambda x: x.t(), lambda x: x.swapaxes(0, -1), lambda x: x.expand(half[:1] + list(x.shape)), lambda x: x.clone(),
            ]
        ),
        name,
    )  # fmt: skip


def index(b):
    name = b.floats(range(1, 5))
    if name is None:
        return
    size = b.values[name].shape[0]
    rows = torch.randint(0, size, (4,))
    last = torch.randint(0, b.values[name].shape[-1], (*b.values[name].shape[:-1], 2))
    b.add(
        b.random.choice(
            [
                lambda x: x[rows], lambda x: x.gather(-1, last), lambda x: x.index_select(0, rows), lambda x: x[:, rows % x.shape[1]],
                lambda x: torch.index_put(x, (rows,), torch.tensor(0.5, dtype=x.dtype)), lambda x: torch.slice_scatter(x, x[:1] + 1, 0, 0, 1),
                lambda x: x[rows.unsqueeze(1), rows.unsqueeze(0) % x.shape[1]], lambda x: x[x[..., 0] > -10],
            ][:7]
        ),
        name,
    )  # fmt: skip


def product(b):
    kind = b.random.randrange(6)
    name = b.pick(lambda value: value.dtype is torch.float32 and value.dim() in (2, 3))
    if name is None:
        return
    width = b.values[name].shape[-1]
    if kind == 0:
        b.add(lambda x, w, c: F.linear(x, w, c), name, b.parameter(5, width), b.parameter(5))
    elif kind == 1:
        b.add(lambda x, w: x @ w, name, b.parameter(width, 4))
    elif kind == 2:
        b.add(lambda x: x @ x.transpose(-1, -2), name)
    elif kind == 3:
        b.add(lambda x, w: torch.einsum("...i,ji->...j", x, w), name, b.parameter(3, width))
    elif kind == 4:
        b.add(lambda x, w, c: torch.addmm(c, x, w, alpha=0.5), name, b.parameter(width, 6), b.parameter(6))
    else:
        b.add(lambda x: torch.bmm(x, x.transpose(1, 2)), b.pick(lambda value: value.dtype is torch.float32 and value.dim() == 3))


def norm(b):
    name = b.pick(lambda value: value.dtype is torch.float32 and value.dim() >= 2)
    if name is None:
        return
    value = b.values[name]
    width, channels = value.shape[-1], value.shape[1]
    kind = b.random.randrange(4)
    if kind == 0:
        b.add(lambda x, w, c: F.layer_norm(x, (width,), w, c), name, b.parameter(width), b.parameter(width))
    elif kind == 1:
        b.add(lambda x, w, c, m, v: F.batch_norm(x, m, v.abs() + 0.5, w, c), name, *(b.parameter(channels) for _ in range(4)))
    elif kind == 2 and value.dim() > 2:
        b.add(lambda x, w, c: F.group_norm(x, channels, w, c), name, b.parameter(channels), b.parameter(channels))
    else:
        b.add(lambda x: F.layer_norm(x, (width,)), name)


def image(b):
    name = b.pick(lambda value: value.dtype is torch.float32 and value.dim() == 4 and min(value.shape[2:]) >= 3)
    if name is None:
        return
    channels = b.values[name].shape[1]
    kind = b.random.randrange(8)
    if kind == 0:
        b.add(lambda x, w, c: F.conv2d(x, w, c, padding=1), name, b.parameter(4, channels, 3, 3), b.parameter(4))
    elif kind == 1:
        b.add(lambda x, w: F.conv2d(x, w, stride=2, dilation=1, groups=channels), name, b.parameter(2 * channels, 1, 2, 2))
    elif kind == 2:
        b.add(lambda x, w: F.conv_transpose2d(x, w, stride=2), name, b.parameter(channels, 2, 2, 2))
    else:
        functions = [
            lambda x: F.max_pool2d(x, 2), lambda x: F.avg_pool2d(x, 3, 1, 1), lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
            lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), lambda x: F.unfold(x, 2),
            lambda x: F.interpolate(x, size=(5, 4), mode="bilinear", align_corners=True),
        ]  # fmt: skip
        b.add(b.random.choice(functions), name)


def sequence(b):
    name = b.pick(lambda value: value.dtype is torch.float32 and value.dim() == 3)
    if name is None:
        return
    channels = b.values[name].shape[1]
    kind = b.random.randrange(4)
    if kind == 0:
        b.add(lambda x, w, c: F.conv1d(x, w, c, padding=1), name, b.parameter(4, channels, 3), b.parameter(4))
    elif kind == 1:
        b.add(lambda x: F.scaled_dot_product_attention(x, x, x), name)
    elif kind == 2:
        b.add(lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), name)
    else:
        b.add(lambda x: F.adaptive_avg_pool1d(x, 3), name)


def embedding(b):
    name = b.pick(lambda value: value.dtype is torch.int64)
    b.add(lambda x, w: F.embedding(x.clamp(0, 9), w), name, b.parameter(10, 4))


def creation(b):
    name = b.floats()
    size = b.random.randrange(1, 7)
    b.add(
        b.random.choice(
            [
                lambda x: torch.arange(size, dtype=x.dtype), lambda x: torch.zeros(size, 2), lambda x: torch.ones_like(x), lambda x: torch.full((size,), 1.5),
                lambda x: torch.arange(size), lambda x: torch.arange(0, 2 * size, 2), lambda x: x.new_zeros(2, size), lambda x: torch.scalar_tensor(size, dtype=x.dtype),
                lambda x: x.to(torch.float64), lambda x: x.to(torch.float32), lambda x: x.to(torch.int64), lambda x: x.bool(), lambda x: x.type_as(x.sum()),
            ]
        ),
        name,
    )  # fmt: skip


KINDS = [
    unary, unary, unary, binary, binary, compare, select_by, integer, boolean, reduction, reduction, shape, shape, shape, index, product,
    norm, image, sequence, embedding, creation,
]  # fmt: skip


class Replay(torch.nn.Module):
    """Runs the steps again; gives every value that no step took."""

    def __init__(self, inputs, builder, outputs):
        super().__init__()
        self.inputs, self.steps, self.outputs = inputs, builder.steps, outputs
        for name, value in builder.parameters.items():
            if name in builder.used:
                self.register_parameter(name, torch.nn.Parameter(value))

    def forward(self, *inputs):
        values = dict(zip(self.inputs, inputs))
        for function, names, outputs in self.steps:
            results = function(*[values[name] if name in values else getattr(self, name) for name in names])
            values.update(zip(outputs, results if isinstance(results, (list, tuple)) else [results]))
        return {name: values[name] for name in self.outputs}


def inputs(b):
    """One to three tensors of random type and shape, at least one of float32."""
    kinds = ["image", "sequence", "matrix", "matrix", "double", "integers", "booleans", "scalar"]
    for kind in [b.random.choice(kinds[:4]), *b.random.sample(kinds, b.random.randrange(3))]:
        size = [b.random.randrange(2, 6) for _ in range(4)]
        value = {
            "image": lambda: torch.randn(size[0] // 2, size[1], size[2] + 2, size[3] + 2), "sequence": lambda: torch.randn(size[:3]),
            "matrix": lambda: torch.randn(size[:2]), "double": lambda: torch.randn(size[:2], dtype=torch.float64), "scalar": lambda: torch.randn(()),
            "integers": lambda: torch.randint(-5, 12, size[:2]), "booleans": lambda: torch.rand(size[:2]) > 0.5,
        }[kind]()  # fmt: skip
        b.values[f"value_{len(b.values)}"] = value
    return list(b.values)


def build(number):
    b = Builder(number)
    names = inputs(b)
    wanted = b.random.randint(*STEPS)
    for _ in range(10 * wanted):
        if len(b.steps) >= wanted:
            break
        step(b)
    loose = [name for name in b.values if name not in b.used and name not in names] or [list(b.values)[-1]]
    return Replay(names, b, loose[-6:]), tuple(b.values[name] for name in names)


def larger(args):
    """The same inputs with one more row each."""
    grown = [torch.cat([value, value[:1]]) if value.dim() else value for value in args]
    return None if all(value.dim() == 0 for value in args) else tuple(grown)


def export(number):
    """A program and the calls for it. Every size may be dynamic, and stays so where no step fixes it."""
    for attempt in range(number, number + 1000000, 1000):
        module, args = build(attempt)
        shapes = tuple({dim: Dim.AUTO for dim in range(value.dim())} for value in args) if attempt % 3 == 0 else None
        try:
            with torch.no_grad():
                program = torch.export.export(module.eval(), args, dynamic_shapes=(shapes,) if shapes else None)
        except Exception:
            continue  # some step does not export
        calls = [(args, {})]
        if not repeats(program, args):
            continue
        if shapes and (more := larger(args)) is not None and repeats(program, more):
            calls.append((more, {}))
        return program, calls


def repeats(program, args):
    """Whether PyTorch itself runs it, twice with the same result."""
    try:
        with torch.no_grad():
            first, second = (program.module()(*[value.clone() for value in args]) for _ in range(2))
    except Exception:
        return False
    return all(torch.equal(a, b) for a, b in zip(first.values(), second.values()))


if __name__ == "__main__":
    made, calls = export(int(sys.argv[1]))
    print(made, len(calls), "calls")
