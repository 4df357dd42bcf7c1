"""Sizes: static, dynamic with bounds, derived from each other, equal, computed, and known only when the program runs."""

import torch
from torch.export import Dim

from programs import Export, program


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.second = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


@program("strict", "decomposed", "core")
def static():
    return Export(Mlp(), (torch.randn(2, 4),))


@program("strict", "decomposed")
def bounds():
    return Export(Mlp(), (torch.randn(5, 4),), dynamic={"x": {0: Dim("batch", min=2, max=64)}})


@program("decomposed")
def unbounded():
    return Export(Mlp(), (torch.randn(5, 4),), dynamic={"x": {0: Dim("batch")}})


@program()
def least_only():
    return Export(Mlp(), (torch.randn(5, 4),), dynamic=({0: Dim("batch", min=3)},))


@program("decomposed")
def auto():
    class Auto(torch.nn.Module):
        def forward(self, x, y):
            return x + y, x.reshape(-1), x.shape[0] * 2

    return Export(Auto(), (torch.randn(3, 4), torch.randn(3, 4)), dynamic=({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO, 1: Dim.STATIC}))


@program()
def all_dynamic():
    class Dynamic(torch.nn.Module):
        def forward(self, x, y):
            return x @ y

    return Export(Dynamic(), (torch.randn(3, 4), torch.randn(4, 5)), dynamic=({0: Dim.DYNAMIC, 1: Dim.DYNAMIC}, {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}))


@program("strict", "decomposed")
def derived():
    class Derived(torch.nn.Module):
        def forward(self, x, y):
            return x + y[1::2]

    dim = Dim("dim", min=2, max=9)
    return Export(Derived(), (torch.randn(3), torch.randn(7)), dynamic=({0: dim}, {0: 2 * dim + 1}))


@program("decomposed")
def next_to():
    class Next(torch.nn.Module):
        def forward(self, x, y):
            return x + y[1:]

    dim = Dim("dim", min=3, max=6)
    return Export(Next(), (torch.randn(5), torch.randn(6)), dynamic=({0: dim}, {0: dim + 1}))


@program()
def equal():
    class Equal(torch.nn.Module):
        def forward(self, x, y, z):
            return x + y.t() + z

    rows, columns = Dim("rows", max=100), Dim("columns", max=200)
    args = torch.randn(3, 4), torch.randn(4, 3), torch.randn(1, 4)
    return Export(Equal(), args, dynamic=({0: rows, 1: columns}, {0: columns, 1: rows}, {1: columns}))


@program("decomposed")
def several():
    class Several(torch.nn.Module):
        def forward(self, x, y, z):
            return torch.cat([x.flatten(), y.flatten(), z]), x.shape[0] + y.shape[1], x.numel() // 2

    names = [Dim(name, min=2, max=1000) for name in ("zebra", "apple", "mango", "s0")]
    args = torch.randn(3, 5), torch.randn(7, 11), torch.randn(13)
    return Export(Several(), args, dynamic=({0: names[0], 1: names[1]}, {0: names[2], 1: names[3]}, {0: Dim.AUTO}))


@program("decomposed")
def divided():
    class Divided(torch.nn.Module):
        def forward(self, x):
            rest = x.shape[0] % 3 + 2
            return torch.zeros(rest), torch.ones(x.shape[0] // 2 * 2 + 1), x.shape[0] ** 2 - (x.shape[0] // 4), -x.shape[0]

    return Export(Divided(), (torch.randn(11, 2),), dynamic=({0: Dim("n", min=6, max=50)},))


@program("decomposed")
def multiple():
    class Multiple(torch.nn.Module):
        def forward(self, x):
            return x.reshape(x.shape[0] // 4, 4, -1).sum(0), x.unflatten(0, (-1, 2))

    return Export(Multiple(), (torch.randn(8, 3),), dynamic=({0: 4 * Dim("quarter", min=2, max=20)},))


@program("decomposed")
def pooled():
    class Pooled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution = torch.nn.Conv2d(1, 2, 3, stride=2, padding=1)
            self.pool = torch.nn.MaxPool2d(2)

        def forward(self, x):
            return self.pool(self.convolution(x))

    args = (torch.randn(2, 1, 12, 14),)
    return Export(Pooled(), args, dynamic=({0: Dim("n", max=8), 2: Dim("height", min=8, max=64), 3: Dim("width", min=8, max=64)},))


@program("decomposed")
def extremes():
    """Minima and maxima of sizes, square roots and true division of them."""

    class Extremes(torch.nn.Module):
        def forward(self, x, y):
            most = torch.sym_max(x.shape[0], y.shape[0])
            least = torch.sym_min(x.shape[0], y.shape[0])
            return torch.zeros(most), torch.ones(least), x * (x.shape[0] / y.shape[0]), x / torch.sym_sqrt(x.shape[0])

    return Export(Extremes(), (torch.randn(5), torch.randn(8)), dynamic=({0: Dim("m", min=3, max=50)}, {0: Dim("n", min=3, max=50)}))


@program("decomposed", "strict")
def item():
    class Item(torch.nn.Module):
        def forward(self, n, x):
            size = n.item()
            torch._check(size >= 2)
            torch._check(size <= 10)
            return torch.zeros(size, 3), x[:, :1] * size

    return Export(Item(), (torch.tensor(4), torch.randn(3, 12)))


@program("decomposed")
def nonzero():
    class Nonzero(torch.nn.Module):
        def forward(self, x):
            found = x.nonzero()
            torch._check(found.shape[0] >= 1)
            torch._check(found.shape[0] < 100)
            return found, found.shape[0]

    return Export(Nonzero(), (torch.tensor([0.0, 1, 0, 2, 3]),))


@program("decomposed")
def masked():
    class Masked(torch.nn.Module):
        def forward(self, x, mask):
            chosen = torch.masked_select(x, mask)
            torch._check(chosen.shape[0] > 0)
            return chosen * 2, chosen.sum(), torch.cat([chosen, x.flatten()])

    return Export(Masked(), (torch.randn(3, 4), torch.randn(3, 4) > 0), dynamic=({0: Dim("n", max=20)}, {0: Dim("n", max=20)}))


@program("decomposed")
def unbacked_list():
    """Sizes from a tensor's elements."""

    class List(torch.nn.Module):
        def forward(self, x, sizes):
            first, second = sizes.tolist()
            torch._check(first >= 1)
            torch._check(second >= 1)
            torch._check(first + second == x.shape[0])
            return torch.split(x, [first, second])

    return Export(List(), (torch.randn(7, 2), torch.tensor([3, 4])))


@program()
def unbacked_scalar():
    """Numbers, not sizes: negative, floating and truth values of tensors."""

    class Scalars(torch.nn.Module):
        def forward(self, whole, real, truth):
            a, b = whole.item(), real.item()
            torch._check(a > -10)
            torch._check(a < 10)
            return whole + a, real * b, torch.full((2,), b), torch.full((2,), a), truth.logical_not()

    return Export(Scalars(), (torch.tensor(-3), torch.tensor(0.5), torch.tensor(True)))


@program("decomposed")
def repeated():
    class Repeated(torch.nn.Module):
        def forward(self, x, counts):
            return torch.repeat_interleave(x, counts)

    return Export(Repeated(), (torch.randn(3), torch.tensor([1, 2, 3])))


@program("decomposed")
def guards():
    """Conditions on sizes that are left for the run."""

    class Guards(torch.nn.Module):
        def forward(self, x, y):
            torch._check(x.shape[0] != 7)
            torch._check(x.shape[0] * 2 <= y.shape[0] * 3)
            return x.sum() + y.sum()

    options = {"prefer_deferred_runtime_asserts_over_guards": True}
    return Export(Guards(), (torch.randn(4), torch.randn(5)), dynamic=({0: Dim("a", max=30)}, {0: Dim("b", max=40)}), options=options)


@program("decomposed")
def integer_input():
    class Integer(torch.nn.Module):
        def forward(self, x, n):
            return x[: n + 1], n * 3, x + n

    return Export(Integer(), (torch.randn(9), 4), dynamic={"x": None, "n": Dim.DYNAMIC})


@program()
def strided():
    """Inputs that are not contiguous, and a view of a dynamic size."""

    class Strided(torch.nn.Module):
        def forward(self, x, y):
            return x.contiguous().view(-1), y.as_strided((2, 2), (1, 2), 1), x.expand(2, -1, -1)

    args = torch.randn(4, 3).t(), torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    return Export(Strided(), args, dynamic=({0: Dim("n", min=2, max=9)}, None))


@program()
def hints():
    class Hints(torch.nn.Module):
        def forward(self, x):
            return x * 2

    return Export(Hints(), (torch.randn(4, 6),), dynamic=({0: Dim.DYNAMIC(min=2, max=16), 1: Dim.AUTO(max=128)},))
