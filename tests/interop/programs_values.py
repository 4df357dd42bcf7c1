"""Inputs, outputs and arguments of every type."""

import collections
import dataclasses
import math
import typing

import torch
from torch.export import Dim

from programs import Export, Package, program


class Pair(typing.NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


@dataclasses.dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor
    scale: typing.Optional[float] = None


torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="flambeau_tests.Pair")
torch.export.register_dataclass(Batch, serialized_type_name="flambeau_tests.Batch")


@program("decomposed")
def keywords():
    class Keywords(torch.nn.Module):
        def forward(self, x, *, y, scale=2.0, **rest):
            return x + y * scale + rest["z"] - rest["w"]

    ones = torch.ones(3)
    return Export(Keywords(), (torch.randn(3),), {"y": ones, "w": ones * 2, "z": ones * 3})


@program()
def variadic():
    class Variadic(torch.nn.Module):
        def forward(self, first, *args, last=None, **kwargs):
            return first + sum(args) + sum(kwargs.values())

    return Export(Variadic(), tuple(torch.randn(2) for _ in range(4)), {"a": torch.ones(2), "b": torch.zeros(2)})


@program("decomposed", "strict")
def nested_inputs():
    class Nested(torch.nn.Module):
        def forward(self, table, pair, items):
            a, (b, [c]) = items
            return {"sum": table["x"] + table["inner"]["y"] + pair.left * pair.right, "rest": [a, (b, c)]}

    table = {"x": torch.randn(2), "inner": {"y": torch.randn(2)}, "unused": torch.zeros(1)}
    return Export(Nested(), (table, Pair(torch.randn(2), torch.randn(2)), [torch.ones(1), (torch.ones(2), [torch.ones(3)])]))


@program()
def containers():
    class Containers(torch.nn.Module):
        def forward(self, ordered, default, queue):
            return ordered["b"] + default["k"] + queue[0], collections.OrderedDict(z=ordered["a"], a=queue[1])

    ordered = collections.OrderedDict(b=torch.ones(2), a=torch.zeros(2))
    default = collections.defaultdict(list, k=torch.ones(2))
    return Export(Containers(), (ordered, default, collections.deque([torch.ones(2), torch.zeros(2)])))


@program()
def integer_keys():
    class Keys(torch.nn.Module):
        def forward(self, table):
            return {1: table[0] + 1, 0: table[7]}

    return Export(Keys(), ({7: torch.ones(2), 0: torch.zeros(2)},))


@program()
def odd_keys():
    """Names that JSON must escape."""

    class Keys(torch.nn.Module):
        def forward(self, table):
            return {'quote " slash \\ tab \t': table["grüße 🔥"] + 1, "": table["a.b/c"]}

    return Export(Keys(), ({"grüße 🔥": torch.ones(2), "a.b/c": torch.zeros(2)},))


@program()
def dataclass():
    class Data(torch.nn.Module):
        def forward(self, batch):
            return Batch(batch.x * batch.mask, batch.mask, None)

    return Export(Data(), (Batch(torch.randn(3), torch.ones(3)),))


@program("decomposed", "strict")
def plain_inputs():
    class Plain(torch.nn.Module):
        def forward(self, x, count, ratio, flag, mode, nothing, unused=1.5):
            y = x * count + ratio
            if flag and mode == "double" and nothing is None:
                y = y * 2
            return y

    return Export(Plain(), (torch.randn(3), 3, 0.1, True, "double", None), {"unused": 2.5})


@program()
def unused_inputs():
    class Unused(torch.nn.Module):
        def forward(self, x, y, n, z=None):
            return x + 1

    return Export(Unused(), (torch.randn(3), torch.randn(2), -7, None))


@program()
def no_inputs():
    class Empty(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        def forward(self):
            return self.weight + torch.ones(2)

    return Export(Empty())


@program()
def special_floats():
    class Special(torch.nn.Module):
        def forward(self, x, high, low, nan, tiny, zero):
            return x * 2, x.clamp(low, high)

    return Export(Special(), (torch.randn(3), float("inf"), -float("inf"), float("nan"), 5e-324, -0.0))


@program("decomposed")
def outputs():
    """An input, a parameter, the same result twice, constants, nothing."""

    class Outputs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("state", torch.zeros(2))
            self.fixed = torch.arange(2.0)

        def forward(self, x, y):
            z = x + y
            return x, z, z, self.weight, self.state, self.fixed, None, 3, 2.5, True, {"again": x, "list": [z, ()]}

    return Export(Outputs(), (torch.randn(2), torch.randn(2)))


@program()
def string_output():
    class Text(torch.nn.Module):
        def forward(self, x):
            return x + 1, "text"

    return Export(Text(), (torch.randn(2),))


@program()
def only_input():
    class Identity(torch.nn.Module):
        def forward(self, x):
            return x

    return Export(Identity(), (torch.randn(2),))


@program("functional")
def single_output_list():
    class List(torch.nn.Module):
        def forward(self, x):
            return [x + 1]

    return Export(List(), (torch.randn(2),))


@program()
def no_outputs():
    class Nothing(torch.nn.Module):
        def forward(self, x):
            x.add_(1)

    return Export(Nothing(), (torch.randn(2),))


@program("decomposed")
def symbolic_outputs():
    class Symbolic(torch.nn.Module):
        def forward(self, x, n):
            return x.shape[0], x.shape[0] * 2.5, x.shape[0] / n.item(), n.item(), [x.shape[0] + 1]

    return Export(Symbolic(), (torch.randn(5), torch.tensor(3)), dynamic=({0: Dim("n", min=2, max=40)}, None))


@program("decomposed")
def special_scalars():
    class Scalars(torch.nn.Module):
        def forward(self, x):
            inf, nan = float("inf"), float("nan")
            return (
                torch.full((2,), inf), torch.full((2,), -inf), torch.full((2,), nan), x.masked_fill(x > 0, -inf),
                torch.nan_to_num(x, nan=nan, posinf=inf, neginf=-inf), x + 1e-45, x * 1e300, x - 0.1, x * -0.0, x + 1e16, x + 1e15, x * 1e-5,
                x * 123456789012345678, torch.full((2,), 2**62), x.clamp(min=-inf, max=1), torch.full((1,), -(2**63)),
            )

    return Export(Scalars(), (torch.randn(3),))


@program()
def complex_scalars():
    class Scalars(torch.nn.Module):
        def forward(self, x):
            return torch.add(x, x, alpha=2 + 3j), x * (1 - 0.5j), torch.full((2,), 1j)

    return Export(Scalars(), (torch.randn(3, dtype=torch.complex64),))


@program("decomposed")
def type_arguments():
    class Types(torch.nn.Module):
        def forward(self, x):
            return (
                x.to(torch.float64), x.to(torch.bfloat16), torch.zeros(2, 2, dtype=torch.int16, device="cpu", layout=torch.strided),
                torch.empty_like(x, memory_format=torch.channels_last).fill_(1), x.contiguous(memory_format=torch.channels_last),
                x.clone(memory_format=torch.preserve_format), x.to(device="cpu", dtype=torch.float16, copy=True), x.sum(dtype=torch.float64),
                torch.arange(0, 5, 2), torch.linspace(0, 1, 3, dtype=torch.float64), x.bool(), x.view(torch.int32), torch.ones(2, pin_memory=False),
            )

    return Export(Types(), (torch.randn(1, 2, 3, 4),))


@program("decomposed")
def string_arguments():
    class Strings(torch.nn.Module):
        def forward(self, x, image):
            return (
                torch.nn.functional.gelu(x, approximate="tanh"), torch.div(x, 2, rounding_mode="floor"), torch.einsum("ij,kj->ik", x, x),
                torch.meshgrid(x[0], x[1], indexing="ij"), torch.searchsorted(x[0].sort().values, x[1].contiguous(), side="right"),
                torch.scatter_reduce(x, 0, torch.zeros_like(x, dtype=torch.int64), x, "amax"),
                torch.nn.functional.pad(image, (1, 1, 2, 2), mode="reflect"), torch.nn.functional.interpolate(image, scale_factor=1.5),
            )

    return Export(Strings(), (torch.randn(3, 3), torch.randn(1, 1, 4, 4)))


@program("decomposed", "core")
def indexing():
    class Index(torch.nn.Module):
        def forward(self, x, i, j):
            y = x.clone()
            y[:, i] = 0
            y[i, :, j] += 1
            return x[:, i], x[i, :, j], x[..., None, 0], x[1:-1:2], x[:, [0, 2]], y, x[x > 0], torch.ops.aten.index(x, [None, i, None])

    return Export(Index(), (torch.randn(4, 4, 4), torch.tensor([0, 2]), torch.tensor([1, 3])))


@program("decomposed")
def lists():
    class Lists(torch.nn.Module):
        def forward(self, x, n):
            size = x.shape[0]
            parts = torch.split(x, 2, dim=1)
            return (
                torch.cat(parts, 1), torch.stack([x, x, x]), x.permute(1, 0), torch.chunk(x, 2, 1), x.new_zeros([size, 3, size * 2]),
                x.expand(2, size, 4), torch.roll(x, [1, 1], [0, 1]), x.unbind(1), torch.tensor_split(x, [1, 3], dim=1), x.sum([]), x.mean([0, 1]),
                torch.broadcast_to(n, [size, 2]), torch.zeros([]),
            )

    return Export(Lists(), (torch.randn(3, 4), torch.tensor(2)), dynamic=({0: Dim("n", min=2, max=10)}, None))


@program("decomposed")
def many_results():
    class Results(torch.nn.Module):
        def forward(self, x):
            values, indices = x.max(0)
            top = torch.topk(x, 2)
            q, r = torch.linalg.qr(x)
            mean, std = torch.std_mean(x), torch.var_mean(x, 0)
            _, unused = x.min(1)
            return values, indices, top.values, q @ r, mean[0], std, torch.sort(x, stable=True, descending=True).indices, torch.unique(x)

    return Export(Results(), (torch.randn(3, 3),))


@program("decomposed")
def random():
    class Random(torch.nn.Module):
        def forward(self, x):
            return x + torch.rand(3), torch.randint(0, 5, (2,)), torch.dropout(x, 0.5, True), torch.randn_like(x), torch.bernoulli(x.sigmoid())

    return Export(Random(), (torch.randn(3),))


@program("decomposed")
def complex_tensors():
    class Complex(torch.nn.Module):
        def forward(self, x):
            y = torch.fft.rfft(x, norm="ortho")
            return torch.fft.irfft(y * y.conj()), torch.view_as_real(y), y.abs(), torch.complex(x, x)

    return Export(Complex(), (torch.randn(8),))


@program()
def sparse_and_types():
    class Types(torch.nn.Module):
        def forward(self, a, b, c, d, e):
            return a.to(torch.float32), b.to(torch.int64) + 1, ~c, d.to(torch.float32), e.real

    args = (
        torch.ones(2).to(torch.float8_e4m3fn), torch.ones(2, dtype=torch.uint16), torch.tensor([True, False]),
        torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.complex128),
    )
    return Export(Types(), args)


@program()
def operators():
    """Python operators on sizes become functions of the operator module."""

    class Operators(torch.nn.Module):
        def forward(self, x, y):
            m, n = x.shape[0], y.shape[0]
            whole = [m + n, m - n, m * n, m // n, m % n, m**2, -m, torch.sym_max(m, n), math.trunc(m / 2)]
            real = [m / n, torch.sym_float(m) * 0.5, torch.sym_float(m) ** 0.5, torch.sym_sqrt(n)]
            kept = [m < n * 40, m <= n * 40, m > n - 80, m >= n - 80, m != n + 80, torch.sym_not(m == n + 90)]
            return whole, real, x.sum() if all(kept) else y.sum()

    return Export(Operators(), (torch.randn(9), torch.randn(4)), dynamic=({0: Dim("m", min=5, max=60)}, {0: Dim("n", min=2, max=70)}))


@program("decomposed")
def module_calls():
    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, pair, *, bias=None):
            x, y = pair
            return {"out": self.linear(x) + y, "bias": bias}

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.blocks = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(2)])

        def forward(self, x):
            y = self.inner((x, x + 1), bias=x)["out"]
            for block in self.blocks:
                y = block(y)
            return y

    return Export(Outer(), (torch.randn(2, 3),), options={"preserve_module_call_signature": ("inner", "blocks.1")})


@program("decomposed")
def annotated():
    class Annotated(torch.nn.Module):
        def forward(self, x):
            with torch.fx.traceback.annotate({"stage": 1, "name": "first"}):
                y = x + 1
            with torch.fx.traceback.annotate({"stage": 2}):
                z = y * 2
                with torch.fx.traceback.annotate({"inner": "yes"}):
                    z = z.sin()
            return y - z

    return Export(Annotated(), (torch.randn(3),))


@program()
def custom_metadata():
    class Plain(torch.nn.Module):
        def forward(self, x):
            return (x + 1).relu()

    def mark(exported):
        for number, node in enumerate(exported.graph.nodes):
            if node.op == "call_function":
                node.meta["custom"] = {"number": number, "text": 'a "b" ü', "nested": {"list": [1, 2.5, None, True]}}
        return exported

    return Export(Plain(), (torch.randn(3),), after=mark)


@program()
def without_example_inputs():
    class Plain(torch.nn.Module):
        def forward(self, x):
            return x + 1

    def forget(exported):
        exported.example_inputs = None
        return exported

    return Export(Plain(), (torch.randn(3),), after=forget)


@program()
def packaged():
    """Three programs in one archive, with files besides."""

    class Scale(torch.nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([factor]))
            self.fixed = torch.tensor([factor, 1.0])

        def forward(self, x):
            return x * self.weight + self.fixed

    x = torch.randn(2)
    programs = {name: Export(Scale(i + 1.0), (x,)) for i, name in enumerate(["model", "zweites", "another.one"])}
    return Package(programs, {"notes.txt": "grüße\n", "folder/config.json": '{"a": 1}', "empty": ""})


@program()
def shared_between():
    """Two programs of one module: its weights are written once for each."""

    class Linear(torch.nn.Module):
        def __init__(self, linear, sign):
            super().__init__()
            self.linear, self.sign = linear, sign

        def forward(self, x):
            return self.linear(x) * self.sign

    linear = torch.nn.Linear(3, 3)
    return Package({"model": Export(Linear(linear, 1), (torch.randn(1, 3),)), "negative": Export(Linear(linear, -1), (torch.randn(1, 3),))})
