"""Modules that PyTorch's own export refuses for sizes that vary, or exports for one size alone, because its solver does not see that
what they ask holds for all sizes. Migrated, they load in PyTorch and give what the modules give, at both ends of their ranges."""

import pytest
import torch
from torch import nn
from torch.export import Dim

LEAST, MOST = 8, 67


class HalfNarrow(nn.Module):
    def forward(self, x):
        return x.narrow(0, 0, x.size(0) // 2) * 2


class RestNarrow(nn.Module):
    def forward(self, x):
        half = x.size(0) // 2
        return x.narrow(0, half, x.size(0) - half).relu()


class MiddleNarrow(nn.Module):
    def forward(self, x):
        quarter = x.size(0) // 4
        return x.narrow(0, quarter, x.size(0) // 2).sum(1)


class ThirdNarrow(nn.Module):
    def forward(self, x):
        third = x.size(0) // 3
        return x.narrow(0, 2 * third, third) + 1


class Interleaved(nn.Module):
    def forward(self, x):
        half = x.size(0) // 2
        return x.narrow(0, 0, half) + x.narrow(0, x.size(0) - half, half)


class HalfSlice(nn.Module):
    def forward(self, x):
        return x[: x.size(0) // 2] - 1


class LastSlice(nn.Module):
    def forward(self, x):
        return x[x.size(0) - x.size(0) // 2 :].exp()


class Halves(nn.Module):
    def forward(self, x):
        half = x.size(0) // 2
        a, b = torch.split(x, [half, x.size(0) - half])
        return torch.cat([b, a])


class Quarters(nn.Module):
    def forward(self, x):
        quarter = x.size(0) // 4
        a, b, c = torch.split(x, [quarter, quarter, x.size(0) - 2 * quarter])
        return a * b, c


class EvenPart(nn.Module):
    def forward(self, x):
        return x.narrow(0, 0, x.size(0) - x.size(0) % 2).view(-1, 2, x.size(1))


class Blocks(nn.Module):
    def forward(self, x):
        blocks = x.size(0) // 4
        return x.narrow(0, 0, 4 * blocks).view(blocks, 4, x.size(1)).mean(1)


class Asked(nn.Module):
    def forward(self, x):
        if x.size(0) // 2 <= x.size(0):
            return x + 1
        return x - 1


class AskedRest(nn.Module):
    def forward(self, x):
        n = x.size(0)
        if n - n // 2 >= 0 and n // 3 + n // 3 <= n:
            return x.cos()
        return x.sin()


class AskedRemainder(nn.Module):
    def forward(self, x):
        assert x.size(0) % 5 < 5 and x.size(0) - x.size(0) % 5 >= 0
        return x * x


class Padded(nn.Module):
    def forward(self, x):
        padded = torch.nn.functional.pad(x, [0, 0, 0, 1])
        return padded.narrow(0, 0, (x.size(0) + 1) // 2)


class UpperHalf(nn.Module):
    def forward(self, x):
        return x.narrow(0, 0, (x.size(0) + 1) // 2)


class Windows(nn.Module):
    def forward(self, x):
        count = (x.size(0) - 2) // 2 + 1
        return x.unfold(0, 2, 2).narrow(0, 0, count)


class Fifths(nn.Module):
    def forward(self, x):
        fifth = x.size(0) // 5
        return x.narrow(0, x.size(0) - 2 * fifth, fifth)


class Nested(nn.Module):
    def forward(self, x):
        half = x.narrow(0, 0, x.size(0) // 2)
        return half.narrow(0, 0, half.size(0) // 2)


class Rounded(nn.Module):
    def forward(self, x):
        n = x.size(0)
        return x.narrow(0, 0, 4 * (n // 4)) * 3


class TwoThirds(nn.Module):
    def forward(self, x):
        return x[x.size(0) // 3 : x.size(0) - x.size(0) // 3].abs()


class Length(nn.Module):
    """A recurrent layer over any number of steps."""

    def __init__(self, kind, **options):
        super().__init__()
        torch.manual_seed(0)
        self.layer = kind(6, 5, **options)

    def forward(self, x):
        return self.layer(x)[0]


MODULES = [HalfNarrow(), RestNarrow(), MiddleNarrow(), ThirdNarrow(), Interleaved(), HalfSlice(), LastSlice(), Halves(), Quarters(),
           EvenPart(), Blocks(), Asked(), AskedRest(), AskedRemainder(), Padded(), UpperHalf(), Windows(), Fifths(), Nested(), Rounded(), TwoThirds(), Length(nn.LSTM),
           Length(nn.GRU), Length(nn.LSTM, num_layers=2, bidirectional=True), Length(nn.GRU, num_layers=2), Length(nn.RNN)]


def name_of(module):
    return f"{type(module).__name__}{type(module.layer).__name__ if hasattr(module, 'layer') else ''}"


def example(module, size):
    torch.manual_seed(size)
    return torch.randn(size, 2, 6) if hasattr(module, "layer") else torch.randn(size, 6)


def migrate(flambeau, module, folder, *options):
    torch.jit.script(module).save(folder / "m.pt")
    torch.save(example(module, 12), folder / "x.pt")
    return flambeau.run("migrate", folder / "m.pt", "-o", folder / "m.pt2", "--input", folder / "x.pt", "--dynamic",
                        f"x:0=n:{LEAST}..{MOST}", *options)


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_sizes_that_pytorch_does_not_see(flambeau, tmp_path, module):
    done = migrate(flambeau, module, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    program = torch.export.load(tmp_path / "m.pt2").module()
    for size in (LEAST, LEAST + 1, 12, 33, MOST - 1, MOST):
        x = example(module, size)
        with torch.no_grad():
            torch.testing.assert_close(program(x), module(x))
    with pytest.raises(Exception):
        program(example(module, MOST + 1))


def refused_by_pytorch(module):
    try:
        torch.export.export(module, (example(module, 12),), dynamic_shapes=({0: Dim("n", min=LEAST, max=MOST)},))
    except Exception:
        return True
    return False


def test_pytorch_refuses_them():
    refused = [name_of(module) for module in MODULES if refused_by_pytorch(module)]
    print(f"PyTorch refuses {len(refused)} of {len(MODULES)}: {refused}")
    assert len(refused) >= 20


def test_an_option_keeps_what_pytorch_does(flambeau, tmp_path):
    done = migrate(flambeau, Length(nn.LSTM), tmp_path, "--like-pytorch")
    assert done.returncode != 0
    assert "the trace does not accept all sizes" in done.stderr
