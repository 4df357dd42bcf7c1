"""Modules that say what freezing must do with attributes: shared, nested, written to, behind forks and interfaces."""

from typing import Dict, List, Tuple

import torch
from torch import nn


class Numbers(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = 1, 1.2, "hello", True
        self.e, self.f = [3, 4], (5, 6)
        self.g: Dict[str, int] = {"a": 1}
        self.h = torch.tensor([2.0])

    def forward(self, x):
        return x + self.a + self.b + len(self.c) + self.e[0] + self.f[1] + self.g["a"] + self.h


class Child(nn.Module):
    def __init__(self, value: float = 1.0):
        super().__init__()
        self.a, self.value = torch.tensor([1.1]), value
        self.b = torch.tensor([2.2])

    def forward(self, x):
        return self.a + x * self.value

    @torch.jit.export
    def modify_a(self, x):
        self.a[0] += 10
        return self.b

    @torch.jit.export
    def modify_b(self, x):
        self.b[0] += 20
        return self.a


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Child(2.0), Child(3.0)
        self.unused = Child(4.0)

    def forward(self, x):
        return self.one(x) + self.two(x)


class WritesBelow(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Child(), Child()

    def forward(self, x):
        y = self.one.modify_a(x) + self.two.modify_b(x)
        return y + self.one(x) + self.two(x)


class Shared(nn.Module):
    """Both are one module, of which one way writes."""

    def __init__(self):
        super().__init__()
        self.one = Child()
        self.two = self.one

    def forward(self, x):
        return self.one.modify_a(x) + self.two(x)


class Aliased(nn.Module):
    """A tensor under two names, written to under one of them."""

    def __init__(self):
        super().__init__()
        self.a = torch.tensor([1.0, 2.0])
        self.b = self.a.view(2, 1)
        self.c = torch.tensor([5.0])

    def forward(self, x):
        self.b += 1
        return self.a.sum() + self.c * x


class Reassigned(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.tensor([1.0]), 2

    def forward(self, x):
        self.a = x
        return self.a * self.b


class ReassignedBelow(nn.Module):
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.count, self.scale = 0, 2

        def forward(self, x):
            self.count += 1
            return x * self.count * self.scale

    def __init__(self):
        super().__init__()
        self.inner = ReassignedBelow.Inner()

    def forward(self, x):
        return self.inner(x) + self.inner.scale


class ListThatGrows(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen: List[int] = [1]
        self.fixed: List[int] = [7, 8]

    def forward(self, x):
        self.seen.append(len(self.seen))
        return x + len(self.seen) + self.fixed[1]


class DictThatChanges(nn.Module):
    def __init__(self):
        super().__init__()
        self.table: Dict[str, torch.Tensor] = {"a": torch.tensor([1.0])}

    def forward(self, x):
        self.table["b"] = x
        return self.table["a"] + len(self.table)


class DictOfTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.table: Dict[str, torch.Tensor] = {"a": torch.tensor([1.0])}

    def forward(self, x):
        return self.table["a"] + x


def plus(x, y):
    return x + y


class Forks(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.ones(2), torch.ones(2)

    def forward(self, x):
        later = torch.jit.fork(plus, x, self.a)
        return self.b + torch.jit.wait(later)


class ForkThatWrites(nn.Module):
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.ones(2), torch.ones(2)

        def forward(self, x):
            self.a.add_(1)
            return self.a * self.b + x

    def __init__(self):
        super().__init__()
        self.inner = ForkThatWrites.Inner()

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.inner.forward, x))


class Training(nn.Module):
    """Branches on `training` are decided."""

    def __init__(self):
        super().__init__()
        self.drop, self.norm = nn.Dropout(0.9), nn.BatchNorm1d(3)
        self.seen = torch.zeros(1)

    def forward(self, x):
        if self.training:
            self.seen += 1
        return self.norm(self.drop(x))


class Loops(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.turns = 2

    def forward(self, x):
        for i in range(self.turns):
            for layer in self.layers:
                x = layer(x)
        return x


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind, self.yes, self.no = "a", nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        if self.kind == "a":
            return self.yes(x)
        return self.no(x)


class Slices(nn.Module):
    """Views of an attribute are written to."""

    def __init__(self):
        super().__init__()
        self.buffer, self.other = torch.zeros(4), torch.ones(4)

    def forward(self, x):
        part = self.buffer[1:3]
        part += x.sum()
        return self.buffer + self.other


class Conditional(nn.Module):
    """What only some calls write is written."""

    def __init__(self):
        super().__init__()
        self.a = torch.zeros(1)

    def forward(self, x):
        if bool(x.sum() > 0):
            self.a += 1
        return self.a + x


class Containers(nn.Module):
    def __init__(self):
        super().__init__()
        self.named = nn.ModuleDict({"x": nn.Linear(3, 3), "y": nn.ReLU()})
        self.chain = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())

    def forward(self, x):
        for layer in self.named.values():
            x = layer(x)
        return self.chain(x)


class Returned(nn.Module):
    """Whoever gets an attribute may change it; PyTorch does not mind."""

    def __init__(self):
        super().__init__()
        self.a = torch.tensor([1.0])

    def forward(self, x) -> Tuple[torch.Tensor, torch.Tensor]:
        return self.a, x


class InPlaceOfCopies(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.tensor([1.0, 2.0])

    def forward(self, x):
        y = self.a + x.sum()
        y.add_(1)
        return y


class HeldByAList(nn.Module):
    """torch.jit.freeze refuses this one and the next."""

    def __init__(self):
        super().__init__()
        self.a = torch.tensor([1.0])
        self.b = [self.a, torch.tensor([5.0])]

    def forward(self, x):
        self.b[0].mul_(2)
        return x + self.a


class HeldByATuple(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.tensor([1.0])
        self.b = (self.a, [self.a])

    def forward(self, x):
        self.b[1][0].add_(3)
        return x * self.a + self.b[0]


WRITTEN_INSIDE = [HeldByAList, HeldByATuple]
CASES = [
    Numbers, Tree, WritesBelow, Shared, Aliased, Reassigned, ReassignedBelow, ListThatGrows, DictThatChanges,
    DictOfTensors, Forks, ForkThatWrites, Training, Loops, Branches, Slices, Conditional, Containers, Returned, InPlaceOfCopies,
]  # fmt: skip
