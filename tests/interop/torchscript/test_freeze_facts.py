"""What freezing keeps and gives: for modules whose attributes are shared, nested and written to. What is kept is told by
torch.jit.freeze, what they give by the modules themselves."""

import copy
import json
import pathlib
import subprocess
import sys

import pytest
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import freeze_modules as modules  # noqa: E402

# What stays here where torch.jit.freeze keeps something else: more, as it goes by names and not by objects, or does not ask
# whether a branch is ever taken; less, where it looks into dicts and forks.
OTHERWISE = {
    modules.Numbers: {"g"},
    modules.DictOfTensors: {"table"},
    modules.WritesBelow: {"one", "one.a", "two", "two.b"},
    modules.ForkThatWrites: {"inner", "inner.a", "inner.b"},
    modules.Forks: {"a", "b"},
    modules.Training: set(),
}
# Take a matrix.
WIDE = (modules.Training, modules.Loops, modules.Branches, modules.Containers)


def kept(frozen, plain):
    """Dotted names of what the frozen module still has of the other one's."""
    names = [name for name in vars(plain) if not name.startswith("_") and name != "training"]
    names += [*plain._parameters, *plain._buffers, *plain._modules]
    found = set()
    for name in filter(lambda name: hasattr(frozen, name), names):
        part = getattr(plain, name)
        below = kept(getattr(frozen, name), part) if isinstance(part, nn.Module) else set()
        found |= {f"{name}.{each}" for each in below} | {name}
    return found


# In a process of its own: what a process did before decides how far PyTorch's freezing gets.
KEPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch
import freeze_modules, test_freeze_facts
theirs = torch.jit.freeze(torch.jit.load(sys.argv[3]), optimize_numerics=False)
print(json.dumps(sorted(test_freeze_facts.kept(theirs, getattr(freeze_modules, sys.argv[2])().eval()))))
"""


def kept_by_pytorch(kind, path):
    arguments = [sys.executable, "-W", "ignore", "-c", KEPT, pathlib.Path(__file__).parent, kind.__name__, path]
    return set(json.loads(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout))


@pytest.mark.parametrize("kind", modules.CASES, ids=lambda kind: kind.__name__)
def test_what_stays_and_what_comes(flambeau, tmp_path, kind):
    torch.manual_seed(0)
    plain = kind().eval()
    torch.jit.script(plain).save(tmp_path / "a.pt")
    flambeau("convert", "--freeze", tmp_path / "a.pt", tmp_path / "b.pt")
    ours = torch.jit.load(tmp_path / "b.pt")
    assert not list(ours.parameters())
    if kind not in OTHERWISE:
        assert kept(ours, plain) == kept_by_pytorch(kind, tmp_path / "a.pt")
    else:
        assert kept(ours, plain) == OTHERWISE[kind]
    expected = torch.jit.load(tmp_path / "a.pt")
    x = torch.randn(2, 3) if kind in WIDE else torch.ones(1)
    with torch.no_grad():
        for _ in range(3):
            torch.testing.assert_close(ours(copy.deepcopy(x)), expected(copy.deepcopy(x)))


@pytest.mark.parametrize("kind", modules.WRITTEN_INSIDE, ids=lambda kind: kind.__name__)
def test_memory_that_a_container_shares(flambeau, tmp_path, kind):
    torch.jit.script(kind().eval()).save(tmp_path / "a.pt")
    flambeau("convert", "--freeze", tmp_path / "a.pt", tmp_path / "b.pt")
    ours, expected = torch.jit.load(tmp_path / "b.pt"), torch.jit.load(tmp_path / "a.pt")
    for _ in range(3):
        torch.testing.assert_close(ours(torch.ones(1)), expected(torch.ones(1)))
