"""Scripts whose branches depend on data: each with inputs that take every way, the first of them the example."""

from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn

CASES = {}


def case(*inputs):
    """The module's constructor is called without arguments; each of `inputs` is the arguments of one call."""

    def add(cls):
        CASES[cls.__name__] = (cls, [args if isinstance(args, tuple) else (args,) for args in inputs])
        return cls

    return add


def ramp(*sizes, start=1.0):
    count = 1
    for size in sizes:
        count *= size
    return torch.arange(count, dtype=torch.float32).reshape(sizes) * 0.25 + start


UP, DOWN = ramp(2, 3), -ramp(2, 3)


@case(UP, DOWN)
class Plain(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        return y


@case(UP, DOWN)
class OnlyIf(nn.Module):
    def forward(self, x):
        y = x + 1
        if bool(x.mean() > 0):
            y = y * 3
        return y


@case(UP, DOWN, ramp(2, 3, start=10))
class ElseIf(nn.Module):
    def forward(self, x):
        if x.sum() > 20:
            y = x / 2
        elif x.sum() > 0:
            y = x * 2
        else:
            y = -x
        return y


@case(UP, DOWN, ramp(2, 3, start=10), -ramp(2, 3, start=10))
class NestedBranches(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            if x.max() > 5:
                y = torch.sin(x)
            else:
                y = torch.cos(x)
        else:
            if x.min() < -5:
                y = torch.exp(x)
            else:
                y = torch.tanh(x)
        return y + 1


@case(UP, DOWN)
class EarlyReturn(nn.Module):
    def forward(self, x):
        if x.sum() < 0:
            return x.abs()
        y = x * 2
        return y + 1


@case(UP, DOWN, ramp(2, 3, start=10))
class TwoEarlyReturns(nn.Module):
    def forward(self, x):
        if x.sum() < 0:
            return x.abs()
        z = x.sqrt()
        if x.max() > 8:
            return z - 1
        return z * 2


@case(UP, DOWN)
class ReturnInBoth(nn.Module):
    def forward(self, x):
        if x[0, 0] > 0:
            return x + 1
        else:
            return x - 1


@case(UP, DOWN)
class ThreeResults(nn.Module):
    def forward(self, x):
        a, b, c = x, x, x
        if x.sum() > 0:
            a = x + 1
            b = x * 2
        else:
            c = x - 4
        return a, b, c


@case(UP, DOWN)
class SwappedResults(nn.Module):
    def forward(self, x):
        a, b = x.sin(), x.cos()
        if x.sum() > 0:
            a, b = b, a
        return a - 2 * b


@case(UP, DOWN)
class ClosesOverParameters(nn.Module):
    def __init__(self):
        super().__init__()
        self.yes, self.no = nn.Linear(3, 4), nn.Linear(3, 4)

    def forward(self, x):
        if x.mean() > 0:
            return self.yes(x)
        return self.no(x)


@case(UP, DOWN)
class CallsSubmodules(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 3))

    def forward(self, x):
        y = self.body(x)
        if y.sum() > x.sum():
            y = self.body(y)
        return y


@case(UP, DOWN)
class AttributeDecides(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("threshold", torch.tensor(0.5))
        self.limit = 2.5

    def forward(self, x):
        if x.mean() > self.threshold:
            return x.clamp(max=self.limit)
        return x * self.threshold


@case((UP, torch.tensor(True)), (UP, torch.tensor(False)))
class FlagInput(nn.Module):
    def forward(self, x, flag):
        if flag:
            x = x + 10
        return x


@case(UP, DOWN, ramp(2, 3, start=10))
class AndCondition(nn.Module):
    def forward(self, x):
        if x.sum() > 0 and x.max() < 5:
            return x * 2
        return x * 3


@case(UP, DOWN, ramp(2, 3, start=10))
class OrCondition(nn.Module):
    def forward(self, x):
        if x.sum() < 0 or x.max() > 5:
            return x * 2
        return x * 3


@case(UP, DOWN)
class NotCondition(nn.Module):
    def forward(self, x):
        if not bool(x.sum() > 0):
            return x * 2
        return x * 3


@case(UP, DOWN)
class NumberOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            scale = 2
        else:
            scale = 5
        return x * scale


@case(UP, DOWN)
class FloatOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            scale = 0.5
        else:
            scale = 1.5
        return x * scale + 1


@case(UP, DOWN)
class FlagOfBranch(nn.Module):
    def forward(self, x):
        big = False
        if x.sum() > 0:
            big = True
        y = x + 1
        if big:
            y = y * 2
        return y


@case(UP, DOWN)
class TupleOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            pair = (x, x + 1)
        else:
            pair = (x - 1, x * 2)
        return pair[0] * pair[1]


@case(UP, DOWN)
class ListOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            parts = [x, x + 1]
        else:
            parts = [x * 2, x * 3]
        return torch.cat(parts)


@case(UP, DOWN)
class DictOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            found = {"a": x, "b": x + 1}
        else:
            found = {"a": x * 2, "b": x * 3}
        return found["a"] - found["b"]


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


@case(UP, DOWN)
class NamedTupleOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            pair = Pair(x, x + 1)
        else:
            pair = Pair(x * 2, x * 3)
        return pair.first + pair.second * 2


@case(UP, DOWN)
class AppendsInBoth(nn.Module):
    def forward(self, x):
        parts: List[Tensor] = []
        if x.sum() > 0:
            parts.append(x)
        else:
            parts.append(x * 2)
        parts.append(x + 1)
        return torch.stack(parts)


@case(UP, DOWN)
class SetsItemOfList(nn.Module):
    def forward(self, x):
        parts = [x, x]
        if x.sum() > 0:
            parts[1] = x * 4
        return parts[0] + parts[1]


@case(UP, DOWN)
class SetsItemOfDict(nn.Module):
    def forward(self, x):
        found: Dict[str, Tensor] = {"x": x}
        if x.sum() > 0:
            found["x"] = x * 4
        return found["x"] + 1


@case(UP, DOWN)
class WritesBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        if x.sum() > 0:
            self.count = self.count + 1
        else:
            self.count = self.count + 10
        return x + self.count


@case(UP, DOWN)
class WritesBufferOnOneSide(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        if x.sum() > 0:
            self.mean = 0.5 * self.mean + 0.5 * x.mean(0)
        return x - self.mean


@case(ramp(2, 3), ramp(2, 3, start=2))
class AssertsData(nn.Module):
    def forward(self, x):
        assert bool(x.min() > 0), "only positive numbers"
        return x.log()


@case(ramp(2, 3), ramp(2, 3, start=2))
class RaisesInBranch(nn.Module):
    def forward(self, x):
        if bool(x.isnan().any()):
            raise ValueError("nan")
        return x.log() + 1


@case(UP, DOWN)
class RaisesInside(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            if bool(x.max() > 1000):
                raise ValueError("too large")
            y = x * 2
        else:
            y = x - 1
        return y


@case(UP, DOWN)
class ViewsInside(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x.t()
        else:
            y = x.reshape(3, 2)
        return y * 2


@case(UP, DOWN)
class GivesInput(nn.Module):
    def forward(self, x):
        y = x.exp()
        if x.sum() > 0:
            z = x
        else:
            z = y
        return z + 1


@case(UP, DOWN)
class WritesOwnTensor(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x.clone()
            y[0] = 7.0
            y += 1
        else:
            y = torch.zeros_like(x)
            y.add_(3)
        return y


@case(UP, DOWN)
class SizesOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = torch.cat([x, x])
        else:
            y = x
        return y.sum(0)


@case(UP, DOWN, -ramp(2, 3, start=10))
class FunctionWithReturns(nn.Module):
    def choose(self, x):
        if x.sum() > 0:
            return x * 2
        if x.min() < -5:
            return x / 3
        return x + 1

    def forward(self, x):
        return self.choose(x) + self.choose(-x)


@case((UP, torch.tensor(2)), (UP, torch.tensor(0)), (UP, torch.tensor(-3)))
class BranchOnNumber(nn.Module):
    def forward(self, x, n):
        k = int(n)
        if k > 1:
            return x * k
        elif k == 0:
            return x
        return x - k


@case((UP, torch.tensor(2.0)), (UP, torch.tensor(-3.0)))
class BranchOnFloat(nn.Module):
    def forward(self, x, n):
        k = float(n) * 2 + 1
        if k > 1:
            return x * k
        return x - k


@case(UP, DOWN)
class OptionalKnown(nn.Module):
    def helper(self, x: Tensor, y: Optional[Tensor] = None):
        if y is not None:
            x = x + y
        if x.sum() > 0:
            return x
        return x * 2

    def forward(self, x):
        return self.helper(x) + self.helper(x, x)


@case(UP, DOWN)
class ItemDecides(nn.Module):
    def forward(self, x):
        mean = x.mean().item()
        if mean > 0.5:
            return x * mean
        return x - torch.tensor(float(x[0, 0])) * 2


@case((UP, torch.tensor([True])), (UP, torch.tensor([False])))
class FlagOfOneElement(nn.Module):
    def forward(self, x, flag):
        on = bool(flag)
        if on:
            x = x * 2
        return x + 1


@case(UP, DOWN)
class WritesInput(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x.add_(1)
        return x


@case(UP, DOWN)
class WritesPart(nn.Module):
    def forward(self, x):
        y = x * 2
        z = y
        if x.sum() > 0:
            y[0] = 5.0
            y[:, 1] += x[:, 0]
        return y, z[0] + 1


@case(UP, DOWN)
class WritesBufferInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        if x.sum() > 0:
            self.count.add_(1)
        else:
            self.count.mul_(2).sub_(3)
        return x + self.count


@case(UP, DOWN, ramp(2, 3, start=10), -ramp(2, 3, start=10))
class WritesInNestedBranches(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        if x.sum() > 0:
            y.add_(x)
            if x.max() > 5:
                y[1].mul_(3)
            z = y.sum()
        else:
            z = x.max()
            if x.min() < -5:
                y.fill_(7)
        return y, z


@case(UP, DOWN)
class LooksAtWhatItWrites(nn.Module):
    """The branch is another one when it is called again."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        if int(self.calls) > 0:
            x = x * 2
        self.calls += 1
        return x


@case((torch.tensor([1, 2]), torch.tensor([1, 2])), (torch.tensor([1, 2]), torch.tensor([1, 3])))
class AskedForEquality(nn.Module):
    def forward(self, x, y):
        if torch.equal(x, y):
            return x + 1
        if torch.allclose(x * 1.5, y * 1.5, rtol=0.5):
            return x - 1
        return x
