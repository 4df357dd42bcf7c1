"""Makes tests/golden/torchscript/ with real PyTorch: modules that were loaded and saved again, which loading and saving then leaves as
they are, byte for byte. Run it in that folder's parent:

    python generate_torchscript.py
"""

import io
import pathlib
import zipfile
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch

FOLDER = pathlib.Path(__file__).parent / "torchscript"


class Point(NamedTuple):
    x: int
    y: float


class Color(Enum):
    RED = 1
    GREEN = 2


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 3)
        self.twin = self.linear
        self.norm = torch.nn.BatchNorm1d(3)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.names = ["a", "b"]
        self.sizes = {"a": [1, 2], "b": [3]}
        self.pair = (1.5, True)
        self.number = 1 + 2j
        self.device = torch.device("cpu")
        self.sparse = torch.eye(2).to_sparse()
        self.parts = [torch.ones(1), torch.zeros(1)]
        self.color = Color.GREEN

    def forward(self, x, scale: Optional[float] = None) -> Tuple[torch.Tensor, int]:
        self.calls += 1
        total = 0
        for name in self.names:
            total += len(self.sizes[name])
        if scale is not None:
            x = x * scale
        while total < 10:
            total += 1
        return self.norm(self.linear(x)) + self.parts[0], total

    @torch.jit.export
    def point(self, values: Dict[str, int]) -> Point:
        if self.color == Color.RED:
            return Point(0, 0.0)
        return Point(values["x"], float(values["x"]) / 2)

    @torch.jit.export
    def fails(self, values: List[int]) -> int:
        if len(values) > 2:
            raise ValueError("too many: {}".format(len(values)))
        return values[0]


class State(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.value = 3

    @torch.jit.export
    def __getstate__(self):
        return (self.value, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, bool]):
        self.value = state[0] * 1
        self.training = state[1]

    def forward(self, x: List[int]) -> int:
        return self.value + x[0]


def constants(x):
    return x + torch.tensor([1.0, 2.0])


def save(module, name):
    fresh = io.BytesIO()
    torch.jit.save(module, fresh)
    # Loaded without debug information, so that no file tells of the machine it was made on.
    stripped = io.BytesIO()
    with zipfile.ZipFile(fresh) as old, zipfile.ZipFile(stripped, "w") as new:
        for entry in old.infolist():
            if not entry.filename.endswith(".debug_pkl"):
                new.writestr(entry.filename, old.read(entry))
    stripped.seek(0)
    path = FOLDER / name
    torch.jit.save(torch.jit.load(stripped), path)
    torch.jit.save(torch.jit.load(path), path)
    (FOLDER / "MANIFEST.tsv").open("a").write(f"{name}\tPyTorch {torch.__version__} torch.jit.save(torch.jit.load(...))\n")


def main():
    torch.manual_seed(0)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "MANIFEST.tsv").unlink(missing_ok=True)
    save(torch.jit.script(Counter()), "counter.pt")
    save(torch.jit.script(State()), "state.pt")
    save(torch.jit.trace(constants, torch.ones(2)), "constants.pt")
    save(torch.jit.trace(torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU()), torch.ones(1, 1)), "traced.pt")


if __name__ == "__main__":
    main()
