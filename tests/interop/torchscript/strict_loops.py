"""Scripts whose loops depend on data: each with inputs that take every way, the first of them the example."""

from typing import List

import torch
from torch import Tensor, nn

from strict_branches import DOWN, UP, ramp

CASES = {}


def case(*inputs):
    def add(cls):
        CASES[cls.__name__] = (cls, [args if isinstance(args, tuple) else (args,) for args in inputs])
        return cls

    return add


SMALL, LARGE = ramp(2, 3), ramp(2, 3, start=100)


@case(SMALL, LARGE)
class While(nn.Module):
    def forward(self, x):
        while bool(x.sum() < 50):
            x = x * 2
        return x


@case(SMALL, LARGE)
class WhileTwo(nn.Module):
    def forward(self, x):
        y = x.clone()
        while bool(x.sum() < 50):
            x = x * 2
            y = y + x
        return x, y


@case(SMALL, LARGE)
class CountsTurns(nn.Module):
    def forward(self, x):
        n = 0
        while bool(x.sum() < 50):
            x = x * 2
            n += 1
        return x + n


@case(SMALL, LARGE)
class BoundedWhile(nn.Module):
    def forward(self, x):
        n = 0
        while bool(x.sum() < 5000) and n < 4:
            x = x * 2
            n = n + 1
        return x


@case((UP, torch.tensor(3)), (UP, torch.tensor(0)), (UP, torch.tensor(7)))
class ForOfData(nn.Module):
    def forward(self, x, n):
        for i in range(int(n)):
            x = x * 2 - 1
        return x


@case((UP, torch.tensor(3)), (UP, torch.tensor(0)), (UP, torch.tensor(7)))
class ForUsesTurn(nn.Module):
    def forward(self, x, n):
        for i in range(int(n)):
            x = x + i
        return x


@case((UP, torch.tensor(3)), (UP, torch.tensor(1)), (UP, torch.tensor(7)))
class ForFromTo(nn.Module):
    def forward(self, x, n):
        total = torch.zeros(3)
        for i in range(1, int(n)):
            total = total + x[0] * i
        return total


@case(SMALL, LARGE)
class BreakInFor(nn.Module):
    def forward(self, x):
        for i in range(10):
            x = x * 2
            if bool(x.sum() > 60):
                break
        return x


@case(SMALL, LARGE)
class BreakAtStart(nn.Module):
    def forward(self, x):
        for i in range(10):
            if bool(x.sum() > 60):
                break
            x = x * 2 + i
        return x


@case(SMALL, LARGE, DOWN)
class ContinueInFor(nn.Module):
    def forward(self, x):
        for i in range(4):
            if bool(x.sum() > 60):
                continue
            x = x * 2 + i
        return x


@case(SMALL, LARGE, DOWN)
class ReturnInFor(nn.Module):
    def forward(self, x):
        for i in range(5):
            x = x + i
            if bool(x.sum() > 30):
                return x * 100
        return x


@case(SMALL, LARGE)
class ReturnInWhile(nn.Module):
    def forward(self, x):
        n = 0
        while True:
            x = x + 1
            n += 1
            if bool(x.sum() > 60):
                return x * n
        return x


@case(SMALL, LARGE, DOWN)
class BranchInWhile(nn.Module):
    def forward(self, x):
        n = 0
        while bool(x.abs().sum() < 80):
            if bool(x.sum() > 0):
                x = x * 2
            else:
                x = x - 3
            n += 1
        return x + n


@case(SMALL, LARGE)
class WhileInBranch(nn.Module):
    def forward(self, x):
        if bool(x.sum() < 50):
            while bool(x.sum() < 50):
                x = x + 1
        else:
            x = x / 2
        return x


@case((UP, torch.tensor(2)), (UP, torch.tensor(0)), (UP, torch.tensor(3)))
class NestedLoops(nn.Module):
    def forward(self, x, n):
        for i in range(int(n)):
            for j in range(int(n)):
                x = x + i * j
        return x


@case(SMALL, LARGE)
class KnownLoopInside(nn.Module):
    def forward(self, x):
        while bool(x.sum() < 80):
            for i in range(3):
                x = x + i
        return x


@case(SMALL, LARGE)
class ClosesOverWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        with torch.no_grad():
            self.layer.weight.copy_(torch.eye(3) * 2)
            self.layer.bias.fill_(0.5)

    def forward(self, x):
        while bool(x.sum() < 80):
            x = self.layer(x)
        return x


@case(SMALL, LARGE)
class BufferInLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(3))

    def forward(self, x):
        n = 0
        while bool(self.state.sum() < 20) and n < 8:
            self.state = self.state + x.mean(0)
            n += 1
        return x + self.state


@case((torch.arange(10.0), torch.tensor(3)), (torch.arange(10.0), torch.tensor(9)))
class ReadsElements(nn.Module):
    def forward(self, x, n):
        total = torch.zeros(())
        for i in range(int(n)):
            total = total * 0.5 + x[i]
        return total


@case((torch.tensor([1.0, 2.0]), torch.tensor(10)), (torch.tensor([1.0, 2.0]), torch.tensor(1)))
class Collatz(nn.Module):
    def forward(self, x, n):
        k = int(n)
        steps = 0
        while k != 1:
            if k % 2 == 0:
                k = k // 2
            else:
                k = 3 * k + 1
            steps += 1
        return x * steps


@case(torch.tensor(10.0), torch.tensor(3.0), torch.tensor(0.5))
class Newton(nn.Module):
    def forward(self, a):
        x = a
        while bool((x * x - a).abs() > 1e-4):
            x = 0.5 * (x + a / x)
        return x


@case(SMALL, LARGE)
class FloatCarried(nn.Module):
    def forward(self, x):
        rate = 1.0
        while bool((x * rate).sum() < 90):
            rate = rate * 1.5
        return x * rate


@case(SMALL, LARGE)
class TupleCarried(nn.Module):
    def forward(self, x):
        state = (x, x + 1)
        while bool(state[0].sum() < 90):
            state = (state[1], state[0] + state[1])
        return state[0] - state[1]


@case(SMALL, LARGE)
class ListCarried(nn.Module):
    def forward(self, x):
        parts = [x, x * 2]
        while bool(parts[0].sum() < 90):
            parts = [parts[1], parts[0] + parts[1]]
        return torch.cat(parts)


@case(SMALL, LARGE)
class SetsItemInLoop(nn.Module):
    def forward(self, x):
        parts: List[Tensor] = [x, x * 2]
        while bool(parts[0].sum() < 90):
            parts[0] = parts[0] + parts[1]
        return parts[0]


@case(SMALL, LARGE)
class WritesInLoop(nn.Module):
    def forward(self, x):
        y = x * 2
        while bool(x.sum() < 50):
            x = x * 2
            y.mul_(2)
        return y


@case(SMALL, LARGE, DOWN)
class FillsRows(nn.Module):
    """As a decoder does, which ends when data says so."""

    def forward(self, x):
        rows = torch.zeros(6, 3)
        n = 0
        while n < 6:
            x = x * 2 - 1
            rows[n] = x[0]
            n += 1
            if bool(x.sum() > 60):
                break
        return rows, n


@case((UP, torch.tensor(3)), (UP, torch.tensor(0)), (UP, torch.tensor(7)))
class ComputesWithBits(nn.Module):
    def forward(self, x, n):
        bits = int(n)
        for i in range(bits & 6):
            x = x + (i ^ bits)
        return x * (bits << 1) - (bits >> 1 | 8)


@case(torch.tensor([1.0, -1.0, 2.0]), torch.tensor([-1.0, -1.0, -2.0]), torch.tensor([1.0, 1.0, 1.0]))
class GoesThroughPlaces(nn.Module):
    def forward(self, x):
        places = torch.nonzero(x > 0)
        total = torch.zeros_like(x)
        for i in range(places.size(0)):
            total[places[i, 0]] += 1.0
        return total
