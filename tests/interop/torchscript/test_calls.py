"""Real modules give what PyTorch gives, and are afterwards what they are there."""

import pathlib
import subprocess
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sequences  # noqa: E402

# sequences.py takes any number; so many are enough to notice.
CHUNKS = 60

ASL = """
import sys, torch
module = torch.jit.load(sys.argv[1])
torch.manual_seed(0)
x = torch.rand(2, 3, 128, 128)
torch.save({"archive": "asl", "method": "forward", "args": [x], "kwargs": {}, "result": module(x)}, sys.argv[2])
"""


@pytest.fixture(scope="session")
def tool(flambeau):
    return pathlib.Path(flambeau.path).parents[2] / "tests/interop/torchscript/script_calls"


def check(*words):
    run = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_module_that_hears_chunk_after_chunk(tool, fixtures, tmp_path):
    sequences.make(fixtures, tmp_path, CHUNKS)
    check(tool, "--states", tmp_path / "states", tmp_path)


def test_layers_packed_for_xnnpack(tool, fixtures, torch113, tmp_path):
    """PyTorch 2.13 has them no more."""
    source = fixtures / "real/mobile/asl.ptl"
    with pytest.raises(RuntimeError):
        torch.jit.load(source)
    for name in ("archives", "calls"):
        (tmp_path / name).mkdir()
    (tmp_path / "archives/asl.pt").write_bytes(source.read_bytes())
    torch113(ASL, str(source), str(tmp_path / "calls/asl.pt"))
    check(tool, tmp_path)


def test_memories_of_calls(tool, tmp_path):
    """States that a call changes: numbers, lists, dicts and tensors."""

    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0
            self.seen = [0]
            self.named = {"a": torch.zeros(2)}
            self.text = ""
            self.register_buffer("total", torch.zeros(2))

        def forward(self, x):
            self.count += 1
            self.seen.append(self.count)
            self.named["k%d" % self.count] = x * 2
            self.text += "x"
            self.total += x
            return self.total * self.count, self.seen

    for name in ("archives", "calls", "states"):
        (tmp_path / name).mkdir()
    module = torch.jit.script(Memory())
    module.save(tmp_path / "archives/memory.pt")
    x = torch.tensor([1.0, 2.0])
    call = {"archive": "memory", "method": "forward", "args": [x], "kwargs": {}, "result": module(x)}
    torch.save(call, tmp_path / "calls/memory.pt")
    module.save(tmp_path / "states/memory.pt")
    check(tool, "--states", tmp_path / "states", tmp_path)
