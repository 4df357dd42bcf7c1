"""Tracing models against torch.export.export(strict=False), in one run, alternating, medians; bench/export/run calls this.

  models  the six models of examples/models, static and with a dynamic batch: times faster than PyTorch. Decomposing and
          saving beside it, without a bar
  nodes   linear, relu, add and mul in turns: the time for each node while their number grows; PyTorch's beside the least

The first export of each side is not counted. The program answers with a line {"nodes": N, "seconds": [...]}.
"""

import argparse
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import torch
from torch import nn
from torch.export import Dim

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/interop/nn"))
from nn_models import MODELS  # noqa: E402

NAMES = ["resnet18", "bert", "gpt2", "lstm_tagger", "unet", "llama"]
TRACE_BAR = 20  # times faster than PyTorch
GROWTH_BAR, GROWTH_FROM = 2.0, 5000  # time for a node, against that of a program of so many


class Steps(nn.Module):
    """As the program has it."""

    def __init__(self, count):
        super().__init__()
        self.count = count
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(0, count, 4))

    def forward(self, x):
        y = x
        for i in range(self.count):
            y = self.step(i, x, y)
        return y

    def step(self, i, x, y):
        match i % 4:
            case 0:
                return self.layers[i // 4](y)
            case 1:
                return torch.relu(y)
            case 2:
                return y + x
        return y * 0.5


def make(name):
    if name.startswith("steps:"):
        return Steps(int(name.removeprefix("steps:"))).eval(), (torch.randn(2, 8),)
    build, inputs, _ = MODELS[name]
    return build().eval(), tuple(torch.randn(spec) if isinstance(spec, tuple) else spec() for spec in inputs)


def seconds_of(run):
    gc.collect()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


class Ours:
    def __init__(self, program, name, kind, folder):
        self.program, self.rest, self.folder = program, [name, kind], folder

    def times(self, what, rounds=3):
        out = [f"{self.folder}/ours.pt2"] if what == "save" else []
        done = subprocess.run([self.program, what, *self.rest, str(rounds), *out], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{self.program} {what} {' '.join(self.rest)}: {done.stderr}")
        answer = json.loads(done.stdout)
        self.nodes = answer["nodes"]
        return answer["seconds"]


class Theirs:
    def __init__(self, name, kind, folder):
        self.module, self.args = make(name)
        self.shapes = tuple({0: Dim("batch")} for _ in self.args) if kind == "dynamic" else None
        self.folder = folder
        self.exported = self.trace()

    def trace(self):
        return torch.export.export(self.module, self.args, dynamic_shapes=self.shapes, strict=False)

    def nodes(self):
        """As programs have them when they are saved: the parts of a result are no nodes."""
        nodes = (node for node in self.exported.graph.nodes if node.op == "call_function")
        return sum(getattr(node.target, "__name__", "") != "getitem" for node in nodes)

    def times(self, what, rounds=1):
        run = {
            "trace": self.trace,
            "decompose": lambda: self.exported.run_decompositions(),
            "save": lambda: torch.export.save(self.exported, f"{self.folder}/theirs.pt2"),
        }[what]
        return [seconds_of(run) for _ in range(rounds)]


def alternate(ours, theirs, what, rounds):
    """Median seconds of both."""
    times = [], []
    theirs.times(what)
    for _ in range(rounds):
        times[0].extend(ours.times(what))
        times[1].extend(theirs.times(what))
    return [statistics.median(side) for side in times]


def models(program, options, folder):
    print(f"{'model':20} {'nodes':>6} {'ours':>12} {'PyTorch':>12} {'ratio':>8}   {'decompose: ours':>15} {'PyTorch':>12} {'ratio':>8}", end="")
    print(f"   {'save: ours':>12} {'PyTorch':>12} {'ratio':>8}")
    ok = True
    for name in options.models:
        for kind in ("static", "dynamic"):
            ours, theirs = Ours(program, name, kind, folder), Theirs(name, kind, folder)
            cells = []
            for what, rounds, width in (("trace", options.rounds, 12), ("decompose", 2, 15), ("save", 2, 12)):
                a, b = alternate(ours, theirs, what, rounds)
                cells.append(f"{a * 1e3:{width - 3}.3f} ms {b * 1e3:9.1f} ms {b / a:8.1f}")
                good = what != "trace" or b / a >= TRACE_BAR
                ok &= good
                if not good:
                    cells[-1] += " BELOW THE BAR"
            same = ours.nodes == theirs.nodes()
            ok &= same
            print(f"{name + ', ' + kind:20} {ours.nodes:6} {'   '.join(cells)}{'' if same else f'   PYTORCH HAS {theirs.nodes()} NODES'}", flush=True)
    return ok


def nodes(program, options, folder):
    ok = True
    for kind in ("static", "dynamic"):
        sides = {count: Ours(program, f"steps:{count}", kind, folder) for count in options.nodes}
        times = {count: [] for count in sides}
        for _ in range(options.rounds):
            for count, side in sides.items():
                times[count] += side.times("trace")
        each = {count: statistics.median(times[count]) / side.nodes for count, side in sides.items()}
        for count, side in sides.items():
            grown = each[count] / each[GROWTH_FROM] if GROWTH_FROM in each else 1.0
            good = grown <= GROWTH_BAR
            ok &= good
            print(f"{side.nodes:7,} nodes, {kind:8} {each[count] * count * 1e3:9.1f} ms, {each[count] * 1e6:6.2f} us for each", end="")
            print(f", {grown:.2f} of that with {GROWTH_FROM:,}{'' if good else '  NOT LINEAR'}", flush=True)
        if options.torch_nodes:
            theirs = statistics.median(Theirs(f"steps:{options.torch_nodes}", kind, folder).times("trace", 2))
            print(f"{options.torch_nodes:7,} nodes, {kind:8} {theirs * 1e3:9.1f} ms, {theirs / options.torch_nodes * 1e6:6.1f} us for each in PyTorch")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("parts", nargs="*", help="models, nodes; both unless named")
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", nargs="+", type=int, default=[1000, 5000, 10_000, 50_000])
    parser.add_argument("--torch-nodes", type=int, default=1000, help="0: none")
    options = parser.parse_args()
    parts = options.parts or ["models", "nodes"]
    warnings.simplefilter("ignore")  # of PyTorch to itself
    print(f"PyTorch {torch.__version__}, {os.cpu_count()} cores")
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        if "models" in parts:
            ok &= models(options.program, options, folder)
        if "nodes" in parts:
            ok &= nodes(options.program, options, folder)
    print(f"bars: tracing {TRACE_BAR} times faster, time for a node at most {GROWTH_BAR} times that with {GROWTH_FROM:,}: {'ok' if ok else 'MISSED'}")
    raise SystemExit(0 if ok else 1)


if __name__ == "__main__":
    main()
