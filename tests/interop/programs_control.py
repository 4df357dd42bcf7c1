"""Control flow, regions, operators of one's own, effects and mutation."""

import torch
from functorch.experimental import control_flow
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.scan import scan as scan_op
from torch._higher_order_ops.while_loop import while_loop as while_loop_op
from torch.export import Dim
from torch.export.experimental import _export_forward_backward

from programs import Export, program

LIBRARY = torch.library.Library("flambeau_tests", "FRAGMENT")


@torch.library.custom_op("flambeau_tests::scale", mutates_args=())
def scale_op(x: torch.Tensor, factor: float, bias: int = 0) -> torch.Tensor:
    return x * factor + bias


@scale_op.register_fake
def _(x, factor, bias=0):
    return torch.empty_like(x)


@torch.library.custom_op("flambeau_tests::add_to", mutates_args={"x"})
def add_to_op(x: torch.Tensor, y: torch.Tensor) -> None:
    x.add_(y)


@torch.library.custom_op("flambeau_tests::swap", mutates_args={"a", "b"})
def swap_op(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    kept = a.clone()
    a.copy_(b)
    b.copy_(kept)
    return a + b


@swap_op.register_fake
def _(a, b):
    return torch.empty_like(a)


@torch.library.custom_op("flambeau_tests::many", mutates_args=())
def many_op(
    xs: list[torch.Tensor], maybe: torch.Tensor | None, sizes: list[int], ratios: list[float], flags: list[bool],
    mode: str, dtype: torch.dtype, device: torch.device, limit: float | None = None,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    first = torch.zeros(sizes, dtype=dtype, device=device)
    return first, [x * ratios[0] for x in xs]


@many_op.register_fake
def _(xs, maybe, sizes, ratios, flags, mode, dtype, device, limit=None):
    return torch.empty(sizes, dtype=dtype, device=device), [torch.empty_like(x) for x in xs]


@torch.library.custom_op("flambeau_tests::count", mutates_args=())
def count_op(x: torch.Tensor) -> torch.Tensor:
    return x.nonzero()


@count_op.register_fake
def _(x):
    return x.new_empty([torch.library.get_ctx().new_dynamic_size(), x.dim()], dtype=torch.int64)


@torch.library.custom_op("flambeau_tests::note", mutates_args=())
def note_op(message: str, x: torch.Tensor) -> None:
    return None


@note_op.register_fake
def _(message, x):
    return None


note_op.register_effect(torch._higher_order_ops.effects._EffectType.ORDERED)

LIBRARY.define("flagged(Tensor x, *, int[2] pair=[1, 2], ScalarType? dtype=None) -> (Tensor low, Tensor high)")


@torch.library.impl(LIBRARY, "flagged", "CompositeExplicitAutograd")
def flagged_op(x, *, pair=(1, 2), dtype=None):
    return x.to(dtype or x.dtype) - pair[0], x.to(dtype or x.dtype) + pair[1]


@program("strict", "decomposed", "functional")
def cond():
    class Cond(torch.nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() - 1, (x,))

    return Export(Cond(), (torch.randn(3, 4),))


@program("decomposed")
def cond_on_size():
    class Cond(torch.nn.Module):
        def forward(self, x):
            return torch.cond(x.shape[0] > 4, lambda x: x * 2, lambda x: x / 2, (x,))

    return Export(Cond(), (torch.randn(5, 3),), dynamic=({0: Dim("n", min=2, max=30)},))


@program("decomposed")
def cond_nested():
    class Nested(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x, p, q):
            def yes(x):
                return torch.cond(q, lambda x: self.linear(x), lambda x: x + 1, (x,))

            def no(x):
                return torch.cond(q, lambda x: x * 2, lambda x: x - 1, (x,))

            return torch.cond(p, yes, no, (x,))

    return Export(Nested(), (torch.randn(2, 4), torch.tensor(True), torch.tensor(False)))


@program("decomposed")
def cond_outputs():
    """Several results, closed-over tensors and sizes, branches that are modules."""

    class Branch(torch.nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.full((3,), factor))
            self.register_buffer("shift", torch.arange(3.0))

        def forward(self, x):
            return x * self.weight + self.shift, (x.sum(), x.shape[0] + torch.zeros(2))

    class Outputs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.yes, self.no = Branch(2.0), Branch(3.0)

        def forward(self, x, p):
            outside = x + 1
            first, (second, third) = torch.cond(p, lambda x: self.yes(x + outside), lambda x: self.no(x - outside), (x,))
            return first, second + third

    return Export(Outputs(), (torch.randn(4, 3), torch.tensor(True)), dynamic=({0: Dim("n", min=2, max=20)}, None))


@program("decomposed")
def while_loop():
    class While(torch.nn.Module):
        def forward(self, i, x):
            return while_loop_op(lambda i, x: i < 4, lambda i, x: (i + 1, x * 2), (i, x))

    return Export(While(), (torch.tensor(0), torch.randn(3)))


@program("decomposed")
def while_loop_closed():
    class While(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, i, x):
            return while_loop_op(lambda i, x: i < x.shape[0], lambda i, x: (i + 1, self.linear(x)), (i, x))

    return Export(While(), (torch.tensor(0), torch.randn(5, 3)), dynamic=(None, {0: Dim("n", min=2, max=20)}))


@program("decomposed")
def map():
    class Map(torch.nn.Module):
        def forward(self, xs, y):
            return control_flow.map(lambda x, y: x.cos() + y, xs, y)

    return Export(Map(), (torch.randn(4, 3), torch.randn(3)))


@program("decomposed")
def map_dynamic():
    class Map(torch.nn.Module):
        def forward(self, xs, y):
            return control_flow.map(lambda x, y: (x[0] * y, x[1] + y), (xs, xs * 2), y)

    return Export(Map(), (torch.randn(4, 3), torch.randn(3)), dynamic=({0: Dim("n", min=2, max=10)}, None))


@program("decomposed")
def scan():
    class Scan(torch.nn.Module):
        def forward(self, start, xs):
            return scan_op(lambda carry, x: (carry + x, (carry * x).clone()), start, xs, dim=0)

    return Export(Scan(), (torch.zeros(3), torch.randn(5, 3)))


@program("decomposed")
def scan_associative():
    class Scan(torch.nn.Module):
        def forward(self, xs):
            return associative_scan(lambda x, y: x + y, xs, 0, combine_mode="generic")

    return Export(Scan(), (torch.randn(5, 3),))


@program("decomposed")
def no_grad():
    class NoGrad(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x):
            x = self.linear(x)
            with torch.no_grad():
                y = x.sin() + 1
            return x + y

    return Export(NoGrad(), (torch.randn(2, 3),))


@program("decomposed")
def no_grad_nested():
    class NoGrad(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x):
            x = self.linear(x)
            with torch.no_grad():
                y = x.sin() + 1
                with torch.enable_grad():
                    z = y * self.linear(y)
            return x + y + z

    return Export(NoGrad(), (torch.randn(2, 3),))


@program("decomposed")
def autocast():
    class Autocast(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x):
            with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
                y = self.linear(x)
                with torch.autocast(device_type="cpu", enabled=False):
                    z = self.linear(x)
            return y.float() + z

    return Export(Autocast(), (torch.randn(2, 3),))


@program("decomposed", "strict")
def buffer_mutation():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
            self.register_buffer("mean", torch.zeros(3))
            self.register_buffer("untouched", torch.ones(3), persistent=False)

        def forward(self, x):
            self.steps.add_(1)
            self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
            return x - self.mean + self.untouched, self.steps

    return Export(Counter(), (torch.randn(4, 3),))


@program("decomposed")
def buffer_slice_mutation():
    class Cache(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(2, 8, 4), persistent=False)

        def forward(self, x, position):
            self.cache[:, position] = x
            self.cache[0, 2:4] += 1
            return self.cache.sum(1)

    return Export(Cache(), (torch.randn(2, 3, 4), torch.tensor([1, 5, 6])))


@program("decomposed", "functional")
def input_mutation():
    class Mutation(torch.nn.Module):
        def forward(self, x, state):
            x.mul_(2)
            state["sum"].add_(x.sum())
            state["last"][0] = x[1]
            return x.cos(), state["last"]

    return Export(Mutation(), (torch.randn(3), {"sum": torch.zeros(()), "last": torch.zeros(2)}))


@program("functional")
def parameter_mutation():
    class Mutation(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x):
            with torch.no_grad():
                self.weight.add_(x)
            return self.weight * 2

    return Export(Mutation(), (torch.randn(3),))


@program("decomposed")
def batch_norm_training():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(3)
            self.dropout = torch.nn.Dropout(0.25)

        def forward(self, x):
            return self.dropout(self.norm(x))

    return Export(Net().train(), (torch.randn(4, 3),))


@program("decomposed", "strict")
def custom():
    class Custom(torch.nn.Module):
        def forward(self, x):
            return torch.ops.flambeau_tests.scale(x, 2.5, bias=3) + torch.ops.flambeau_tests.scale(x, 0.1)

    return Export(Custom(), (torch.randn(3),))


@program("decomposed", "functional")
def custom_mutable():
    class Custom(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x):
            torch.ops.flambeau_tests.add_to(self.total, x)
            work = x.clone()
            torch.ops.flambeau_tests.add_to(work, x * 2)
            return work + torch.ops.flambeau_tests.swap(work, x.neg())

    return Export(Custom(), (torch.randn(3),))


@program("decomposed")
def custom_arguments():
    class Custom(torch.nn.Module):
        def forward(self, x, y):
            first, rest = torch.ops.flambeau_tests.many(
                [x, y], None, [2, 3], [0.5, float("inf")], [True, False], 'say "hé"\n', torch.float64, torch.device("cpu"), 1.5
            )
            second, more = torch.ops.flambeau_tests.many([y], x, [], [1.0], [], "", torch.bool, torch.device("cpu"))
            return first, rest, second, more

    return Export(Custom(), (torch.randn(3), torch.randn(2)))


@program("decomposed")
def custom_keywords():
    class Custom(torch.nn.Module):
        def forward(self, x):
            low, high = torch.ops.flambeau_tests.flagged(x, pair=[3, 4], dtype=torch.float64)
            plain, _ = torch.ops.flambeau_tests.flagged(x)
            return low, high, plain

    return Export(Custom(), (torch.randn(3),))


@program("decomposed")
def custom_size():
    class Custom(torch.nn.Module):
        def forward(self, x):
            found = torch.ops.flambeau_tests.count(x)
            return found + 1, found.shape[0] * 2

    return Export(Custom(), (torch.tensor([0.0, 1, 2, 0]),))


@program("decomposed")
def effects():
    class Effects(torch.nn.Module):
        def forward(self, x):
            torch.ops.flambeau_tests.note("first", x)
            y = x + 1
            torch.ops.flambeau_tests.note("second", y)
            return y * 2

    return Export(Effects(), (torch.randn(3),))


@program("decomposed")
def asserts():
    class Asserts(torch.nn.Module):
        def forward(self, x):
            torch._assert_async(x.sum() > -1000)
            torch._assert(x.shape[0] > 1, "too short")
            torch.ops.aten._assert_async.msg(x.max() < 1000, 'too large: "x"')
            return x + 1

    return Export(Asserts(), (torch.randn(3),))


@torch.compiler.nested_compile_region
def region(a, b):
    return a.sin() * b


@program("decomposed")
def invoked():
    """A region called twice is a graph of its own."""

    class Invoked(torch.nn.Module):
        def forward(self, x, y):
            return region(x, y) + region(y, x)

    return Export(Invoked(), (torch.randn(3), torch.randn(3)), strict=True)


@program()
def training_step():
    """Forward and backward in one graph: a loss, and gradients of parameters and inputs among the outputs."""

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)
            self.loss = torch.nn.CrossEntropyLoss()

        def forward(self, x, classes):
            return self.loss(self.linear(x).softmax(0), classes)

    return Export(Step(), (torch.randn(3), torch.ones(2)), after=lambda exported: _export_forward_backward(exported))
