"""Parameters, buffers and constants: shared, viewed, empty, of every type."""

import torch
from torch._library.opaque_object import register_opaque_type
from torch._opaque_base import OpaqueBase
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.two_tensor import TwoTensor

from programs import Export, program
from torch_values import ALL_TYPES, random_bits


class Settings(OpaqueBase):
    def __init__(self, factor):
        self.factor = factor

    def __eq__(self, other):
        return isinstance(other, Settings) and self.factor == other.factor

    def __hash__(self):
        return hash(self.factor)

    def __fx_repr__(self):
        return f"Settings({self.factor})", {"Settings": Settings}


register_opaque_type(Settings, typ="reference")


@torch.library.custom_op("flambeau_tests::with_settings", mutates_args=())
def with_settings(x: torch.Tensor, settings: Settings) -> torch.Tensor:
    return x * settings.factor


@with_settings.register_fake
def _(x, settings):
    return torch.empty_like(x)


class Bag(torch.nn.Module):
    """Has the tensors it is given; Parameters are parameters, the rest are buffers."""

    def __init__(self, tensors, persistent=True):
        super().__init__()
        self.listed = list(tensors)
        for name, tensor in tensors.items():
            if isinstance(tensor, torch.nn.Parameter):
                self.register_parameter(name, tensor)
            else:
                self.register_buffer(name, tensor, persistent=persistent)

    def forward(self, x):
        return x + 1, [getattr(self, name).clone() for name in self.listed]


def bag(tensors, **options):
    return Export(Bag(tensors, **options), (torch.randn(2),))


@program()
def types():
    return bag({"of_" + str(dtype).removeprefix("torch."): random_bits(dtype, 3) for dtype in ALL_TYPES})


@program()
def some_types():
    kinds = [torch.bool, torch.uint8, torch.int64, torch.uint16, torch.bfloat16, torch.float8_e4m3fn, torch.complex64]
    return bag({"of_" + str(dtype).removeprefix("torch."): random_bits(dtype, 3) for dtype in kinds})


@program()
def parameter_types():
    kinds = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128]
    return bag({"of_" + str(dtype).removeprefix("torch."): torch.nn.Parameter(torch.ones(2, dtype=dtype)) for dtype in kinds})


@program("decomposed")
def tied():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(5, 3)
            self.head = torch.nn.Linear(3, 5, bias=False)
            self.head.weight = self.embedding.weight
            self.twice = self.head

        def forward(self, x):
            return self.head(self.embedding(x)) + self.twice(self.embedding(x))

    return Export(Tied(), (torch.tensor([0, 3]),))


@program()
def views():
    base = torch.arange(24.0)
    return bag({
        "whole": base, "part": base[4:10], "turned": base.view(4, 6).t(), "every_other": base[1::2],
        "expanded": base[:1].expand(3), "last": base[23], "block": base.view(4, 6)[1:3, 2:5],
    })


@program()
def views_without_whole():
    """No tensor of the storage covers it: what PyTorch writes ends with the last one that is contiguous."""
    base = torch.arange(24.0)
    return bag({"part": base[4:10], "later": base[12:20]})


@program()
def view_alone():
    base = torch.arange(24.0)
    return bag({"turned": base.view(4, 6).t(), "other": torch.arange(12.0).view(3, 4)[:, 1:3]})


@program()
def offset():
    return bag({"weight": torch.nn.Parameter(torch.arange(10.0)[3:7]), "plain": torch.arange(5)[2:]})


@program()
def formats():
    image = torch.arange(24.0).view(1, 2, 3, 4)
    return bag({"image": image.to(memory_format=torch.channels_last), "turned": image.permute(3, 1, 0, 2), "weight": torch.nn.Parameter(torch.randn(3, 4).t())})


@program()
def empty():
    return bag({
        "none": torch.empty(0), "flat": torch.empty(3, 0, 2), "scalar": torch.tensor(2.5), "empty_parameter": torch.nn.Parameter(torch.empty(0, 4)),
        "long": torch.tensor(7), "other_none": torch.empty(0, dtype=torch.int64),
    })


@program()
def frozen():
    return bag({"frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False), "live": torch.nn.Parameter(torch.ones(2)), "both": torch.ones(2)})


@program("decomposed")
def not_persistent():
    return bag({"a": torch.ones(2), "b": torch.zeros(3, dtype=torch.int32)}, persistent=False)


@program("decomposed", "strict")
def constants():
    class Constants(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fixed = torch.arange(3.0)
            self.alias = self.fixed
            self.part = self.fixed[1:]
            self.low = torch.ones(2, dtype=torch.float16)

        def forward(self, x):
            made = torch.tensor([1.0, 2.0, 3.0])
            return x + self.fixed + self.alias + made + torch.tensor(5), self.part + self.low, torch.tensor([[True], [False]])

    return Export(Constants(), (torch.randn(3),))


@program("decomposed")
def lifted_in_branches():
    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.arange(3.0)

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x + self.table, lambda x: x - self.table * 2, (x,))

    return Export(Branches(), (torch.randn(3),))


@program()
def unused():
    class Unused(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = torch.nn.Linear(2, 2), torch.nn.Linear(3, 3)
            self.register_buffer("idle", torch.ones(4))

        def forward(self, x):
            return self.used(x)

    return Export(Unused(), (torch.randn(1, 2),))


@program()
def names():
    """Names with dots and digits, and some that meet once they are made into names of the graph."""

    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))
            self.register_buffer("0", torch.ones(1))

        def forward(self, x):
            return x * self.weight + getattr(self, "0")

    class Names(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(Inner(), Inner())
            self.layers_0_weight = torch.nn.Parameter(torch.ones(1))
            self.x = torch.nn.Parameter(torch.ones(1))
            self.layers_0 = Inner()

        def forward(self, x, weight, add):
            return self.layers(x) + self.layers_0_weight + self.x + self.layers_0(x) + weight + add

    return Export(Names(), (torch.randn(1), torch.randn(1), torch.randn(1)))


@program("decomposed")
def subclass():
    """A tensor of a class of its own is pickled whole."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(TwoTensor(torch.ones(2), torch.zeros(2)))
            self.register_buffer("marked", TwoTensor(torch.arange(2.0), torch.ones(2)))
            self.plain = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return x * self.weight + self.marked + self.plain

    return Export(Net(), (torch.randn(2),))


@program()
def fake():
    """Weights without values: PyTorch writes no bytes for them and reads zeros."""
    with FakeTensorMode():
        return Export(torch.nn.Linear(3, 2), (torch.randn(1, 3),))


@program()
def opaque():
    """An object of a Python class among the constants."""

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.settings = Settings(3)

        def forward(self, x):
            return torch.ops.flambeau_tests.with_settings(x, self.settings)

    return Export(Scaled(), (torch.randn(2),))


@program()
def sharded_inputs():
    """Inputs that share their storage and need gradients."""

    class Plain(torch.nn.Module):
        def forward(self, x, y, z):
            return x + y + z

    base = torch.randn(6)
    return Export(Plain(), (base[:3], base[3:], torch.randn(3, requires_grad=True)))


@program()
def large():
    """Fifty megabytes."""

    class Large(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(12_500_000, dtype=torch.float32).view(5000, 2500))

        def forward(self, x):
            return x @ self.weight[:, :2]

    return Export(Large(), (torch.randn(1, 5000),))
