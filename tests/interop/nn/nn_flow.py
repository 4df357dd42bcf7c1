"""The modules of flow_cases.cpp in Python, by name, with inputs for each."""

import torch
from functorch.experimental.control_flow import map as map_rows
from torch import nn


class CondClosures(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("offset", torch.ones(3))

    def forward(self, pred, x, y, z):
        def if_true(a, b):
            return self.linear(a) + self.offset + z * y

        def if_false(a, b):
            return b * 2 + z

        return torch.cond(pred, if_true, if_false, [x, x + 1])


class CondLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.yes = nn.Linear(3, 3)
        self.no = nn.Linear(3, 3)

    def forward(self, x):
        def if_true(a):
            return self.yes(a), a.sin()

        def if_false(a):
            return self.no(a), a.cos()

        return torch.cond(x.sum() > 0, if_true, if_false, [x])


class CondNested(nn.Module):
    def forward(self, x):
        def inner(a):
            return torch.cond(a.sum() > 2, lambda b: b + 1, lambda b: b + 2, [a])

        return torch.cond(x.shape[0] > 2, inner, lambda a: a - 1, [x])


class CondSizes(nn.Module):
    def forward(self, x, y):
        return torch.cond(x.sum() > 4, lambda a: a + y.sum() * y.shape[0], lambda a: a * a.shape[0], [x])


class WhileClosures(nn.Module):
    def forward(self, x, n, k, w):
        def condition(i, a):
            return (i < n) & (w.sum() > -100)

        def body(i, a):
            return i + 1, a * k + n

        return torch.while_loop(condition, body, (torch.zeros((), dtype=torch.int64), x))


class MapRows(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, k):
        return map_rows(lambda row, b: (self.linear(row) * b, row.sum()), x, k)


class Replaced(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        self.total = self.total + x.sum((0,))
        return x + self.total


class SlicedByData(nn.Module):
    def forward(self, x, count):
        n = count.item()
        torch._check(n >= 0)
        torch._check(n <= x.shape[0])
        return x[:n], torch.zeros((n, 2))


class CalledTwice(nn.Module):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, y, scale):
            z = self.linear(x) * scale
            return z, [z + y]

    def __init__(self):
        super().__init__()
        self.block = CalledTwice.Block()
        self.last = nn.Linear(3, 3)

    def forward(self, x):
        y = x + 1
        first = self.block(x, y, 3.0)
        second = self.block(first[0], x, 4.0)
        return self.last(first[1][0]), second[0]


class HalfTheRows(nn.Module):
    def forward(self, x):
        half = x.shape[0] // 2
        return x * half, torch.ones((x.shape[0] + 4) // 2)


class RestOfRows(nn.Module):
    def forward(self, x):
        rest = x.shape[0] % 2
        return x * rest, torch.zeros(rest + 2), torch.ones(torch.sym_min(x.shape[0], 4))


def rows():
    return torch.randn(5, 3)


FLOWS = {
    "cond_closures": (CondClosures, lambda: (torch.tensor(True), rows(), rows(), rows())),
    "cond_layers": (CondLayers, lambda: (rows(),)),
    "cond_nested": (CondNested, lambda: (rows(),)),
    "cond_sizes": (CondSizes, lambda: (rows(), torch.randn(4, 3))),
    "while_closures": (WhileClosures, lambda: (rows(), torch.tensor(3), torch.tensor(0.5), rows())),
    "map_rows": (MapRows, lambda: (rows(), torch.randn(3))),
    "replaced": (Replaced, lambda: (rows(),)),
    "sliced_by_data": (SlicedByData, lambda: (rows(), torch.tensor(3))),
    "called_twice": (CalledTwice, lambda: (rows(),)),
    "half_the_rows": (HalfTheRows, lambda: (rows(),)),
    "rest_of_rows": (RestOfRows, lambda: (rows(),)),
}
