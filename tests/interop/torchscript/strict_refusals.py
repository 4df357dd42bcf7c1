"""Scripts that no program can say: each with the arguments of an example, and what the error says: the line of the script, the
reason, and the remedy."""

from typing import Dict, List, Optional

import torch
from torch import Tensor, nn

from strict_branches import UP, ramp

CASES = {}


def refused(line, reason, remedy, *args):
    """`line`: of the script, as it stands in the original source."""

    def add(cls):
        CASES[cls.__name__] = (cls, args or (UP,), line, reason, remedy)
        return cls

    return add


THREE = torch.tensor(3)


@refused("if x.sum() > 0", "sides disagree about 'y'", "None")
class NoneOrTensor(nn.Module):
    def forward(self, x):
        y: Optional[Tensor] = None
        if x.sum() > 0:
            y = x
        return y


@refused("if x.sum() > 0", "the text 'up'", "no texts")
class TextOfBranch(nn.Module):
    def forward(self, x):
        name = "down"
        if x.sum() > 0:
            name = "up"
        return x, name


@refused("if x.sum() > 0", "give different tensors", "same type")
class TypesOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x
        else:
            y = x.to(torch.int64)
        return y


@refused("if x.sum() > 0", "give different tensors", "number of dimensions")
class RanksOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x
        else:
            y = x.sum(0)
        return y


@refused("if x.sum() > 0", "a list of 2", "same length")
class LengthsOfBranch(nn.Module):
    def forward(self, x):
        parts = [x]
        if x.sum() > 0:
            parts = [x, x]
        return torch.cat(parts)


@refused("if x.sum() > 0", "sides disagree about", "same length")
class AppendsOnOneSide(nn.Module):
    def forward(self, x):
        parts = [x]
        if x.sum() > 0:
            parts.append(x)
        return torch.cat(parts)


@refused("if x.sum() > 0", "a dict of", "keys")
class KeysOfBranch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            found = {"a": x}
        else:
            found = {"b": x}
        return found


@refused("if x.sum() > 0", "sides disagree about", "keys")
class AddsKeyOnOneSide(nn.Module):
    def forward(self, x):
        found: Dict[str, Tensor] = {"a": x}
        if x.sum() > 0:
            found["b"] = x
        return found


@refused("while bool(x.sum() < 50)", "changes what kind of thing", "same length")
class GrowingList(nn.Module):
    def forward(self, x):
        parts: List[Tensor] = []
        while bool(x.sum() < 50):
            x = x * 2
            parts.append(x)
        return parts


@refused("while bool(x.sum() < 50)", "what was", "keeps its type and its sizes")
class GrowingTensor(nn.Module):
    def forward(self, x):
        y = x
        while bool(x.sum() < 50):
            x = x * 2
            y = torch.cat([y, x])
        return y


@refused("while bool(x.sum() < 50)", "what was", "keeps its type and its sizes")
class TypeInLoop(nn.Module):
    def forward(self, x):
        y = torch.zeros(2, 3, dtype=torch.int64)
        while bool(x.sum() < 50):
            x = x * 2
            y = x + y
        return y


@refused("while bool(x.sum() < 50)", "what was", "keeps its type and its sizes")
class RankInLoop(nn.Module):
    def forward(self, x):
        y = x
        while bool(x.sum() < 50):
            x = x * 2
            y = y.unsqueeze(0)
        return y


@refused("while bool(x.sum() < 50)", "the text", "no texts")
class TextInLoop(nn.Module):
    def forward(self, x):
        name = "a"
        while bool(x.sum() < 50):
            x = x * 2
            name = name + "a"
        return x, name


@refused("while bool(x.sum() < 50)", "None", "flag")
class NoneInLoop(nn.Module):
    def forward(self, x):
        y: Optional[Tensor] = None
        while bool(x.sum() < 50):
            x = x * 2
            y = x
        return y


@refused("row.add_(1)", "taken before a branch or loop", "where it is used")
class WritesOldPart(nn.Module):
    def forward(self, x):
        y = x * 2
        row = y[0]
        if x.sum() > 0:
            row.add_(1)
        return y


@refused("z = row * 2", "taken before a branch or loop", "where it is used")
class UsesOldPart(nn.Module):
    def forward(self, x):
        y = x * 2
        row = y[0]
        z = row
        while bool(x.sum() < 50):
            x = x * 2
            y.mul_(2)
            z = row * 2
        return y, z


@refused("", "gives 'up', which PyTorch does not read", "give tensors")
class GivesText(nn.Module):
    def forward(self, x):
        return x, "up"


@refused("", "gives cpu, which PyTorch does not read", "give tensors")
class GivesDevice(nn.Module):
    def forward(self, x):
        return x, x.device


@refused("", "changes self.turns (", "forgotten")
class CountsCalls(nn.Module):
    def __init__(self):
        super().__init__()
        self.turns = 0

    def forward(self, x):
        self.turns += 1
        return x


@refused("", "changes self.turns (", "forgotten")
class CountsInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.turns = 0

    def forward(self, x):
        if x.sum() > 0:
            self.turns += 1
        return x


@refused("", "changes self.seen (", "forgotten")
class KeepsList(nn.Module):
    seen: List[Tensor]

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(x)
        return x


@refused("", "changes self.seen (", "forgotten")
class KeepsDict(nn.Module):
    seen: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.seen = {"a": 1}

    def forward(self, x):
        self.seen["a"] = 2
        return x


@refused("numbers[0]", "elements of a tensor that depends on the inputs", "compute with tensors", torch.tensor([1j, 2.0]))
class ListOfElements(nn.Module):
    def forward(self, x):
        numbers: List[complex] = x.tolist()
        return x * numbers[0]


@refused("parts[int(n)]", "comes from data", "fix the number", UP, torch.tensor(1))
class ListByData(nn.Module):
    def forward(self, x, n):
        parts = [x, x * 2, x * 3]
        return parts[int(n)]


@refused("[x] * int(n)", "comes from data", "fix the number", UP, THREE)
class LengthByData(nn.Module):
    def forward(self, x, n):
        return torch.cat([x] * int(n))


@refused("found[int(n)]", "cannot be the key of a dict", "keys are numbers", UP, torch.tensor(1))
class DictByData(nn.Module):
    def forward(self, x, n):
        found: Dict[int, Tensor] = {0: x, 1: x * 2}
        return found[int(n)]


@refused("str(int(n))", "comes from data", "fix the number", UP, THREE)
class TextByData(nn.Module):
    def forward(self, x, n):
        return x, str(int(n))


@refused("keepdim=", "takes a fixed bool for 'keepdim'", "a number that is known")
class FlagByData(nn.Module):
    def forward(self, x):
        return x.sum(0, keepdim=bool(x.sum() > 0))


@refused("dropout", "takes a fixed float for 'p'", "a number that is known")
class FloatByData(nn.Module):
    def forward(self, x):
        return torch.nn.functional.dropout(x, p=float(x[0, 0]), training=True)


@refused("sum(int(n))", "comes from data", "fix the number", UP, torch.tensor(1))
class DimensionByData(nn.Module):
    def forward(self, x, n):
        return x.sum(int(n))


@refused("complex(", "needs float here", "compute with tensors")
class ComplexByData(nn.Module):
    def forward(self, x):
        return x * complex(float(x[0, 0]), 1.0)


@refused("torch.save(", "may read or write files", "grant")
class SavesFile(nn.Module):
    def forward(self, x):
        torch.save(x, "x.pt")
        return x


@refused("torch.manual_seed(", "seed", "grant")
class SetsSeed(nn.Module):
    def forward(self, x):
        torch.manual_seed(3)
        return x


@torch.jit.script
class Holder:
    def __init__(self, x: Tensor):
        self.x = x


@refused("", "cannot take or give", "give tensors")
class GivesObject(nn.Module):
    def forward(self, x):
        return Holder(x)


@refused("raise ValueError", "never", "")
class AlwaysRaises(nn.Module):
    def forward(self, x):
        if x.sum() < 1000000:
            raise ValueError("never")
        else:
            raise ValueError("not at all")
        return x


@refused("", "another size or type", "final size")
class BufferGrows(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(1, 3))

    def forward(self, x):
        self.state = torch.cat([self.state, x])
        return self.state.sum(0)


@refused("if x.sum() > 0", "give different tensors", "same type")
class BufferTypeInBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(3))

    def forward(self, x):
        if x.sum() > 0:
            self.state = x.to(torch.int64).sum(0)
        return x


@refused("", "puts None in the place", "migrate a method")
class DropsBuffer(nn.Module):
    state: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.register_buffer("state", ramp(3))

    def forward(self, x):
        self.state = None
        return x


@refused("if x.sum() > 0", "2 things cannot be said", "")
class TwoObstacles(nn.Module):
    def forward(self, x):
        y: Optional[Tensor] = None
        if x.sum() > 0:
            y = x
        parts = [x]
        if x.max() > 3:
            parts = [x, x]
        return y, parts


@refused("parts[: int(n)]", "comes from data", "fix the number", UP, torch.tensor(2))
class SliceByData(nn.Module):
    def forward(self, x, n):
        parts = [x, x * 2, x * 3]
        return torch.cat(parts[: int(n)])


@refused("chr(int(n))", "comes from data", "fix the number", UP, torch.tensor(65))
class CharacterByData(nn.Module):
    def forward(self, x, n):
        return x, chr(int(n))
