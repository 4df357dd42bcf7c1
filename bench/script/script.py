"""TorchScript against PyTorch, in one run, alternating, medians; bench/script/run builds and calls this.

  load        30 files: models made here, and files of --files
  calls       the first and the tenth call of models; PyTorch's first two
  loops       nanoseconds a turn: numbers, lists, dicts
  operators   nanoseconds for a small tensor operator
  frozen      frozen models after a warm-up
  cold start  process start to first output of a scripted ResNet-18: `flambeau run` against Python
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import torch

import cases

warnings.simplefilter("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]
BARS = {"load": 10, "first": 1.3, "first two": 3, "turn": 2, "operator": 2, "frozen": 1, "cold start": 20}


class Ours:
    """A process of script_bench.cpp."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if answer.startswith("error") or not answer:
            raise RuntimeError(f"{' '.join(map(str, words))}: {answer or 'it ended'}")
        return [int(word) for word in answer.split()] if answer[0].isdigit() else answer

    def open(self, path):
        self.ask("open", path)


def timed(function):
    begin = time.perf_counter_ns()
    function()
    return time.perf_counter_ns() - begin


class Report:
    def __init__(self):
        self.missed = []

    def row(self, what, ours, theirs, unit, bar, ratio=None, less=False):
        ratio = theirs / ours if ratio is None else ratio
        ok = ratio <= bar if less else ratio >= bar
        if not ok:
            self.missed.append(what)
        scale = {"ms": 1e6, "us": 1e3, "ns": 1}[unit]
        print(f"{what:34} {ours / scale:10.2f} {theirs / scale:10.2f} {unit}  x {ratio:6.2f}  "
              f"{'at most' if less else 'at least'} {bar:g} {'' if ok else 'MISSED'}", flush=True)


def made_models(folder, models):
    paths = {}
    for name, (make, argument) in models.items():
        torch.manual_seed(0)
        paths[name] = folder / f"{name.replace(' ', '_')}.pt"
        torch.jit.save(torch.jit.script(make().eval()), paths[name])
        traced = paths[name].with_stem(paths[name].stem + "_trace")
        with torch.no_grad():
            torch.jit.save(torch.jit.trace(make().eval(), cases.tensor(argument), check_trace=False), traced)
        paths[name + " trace"] = traced
    return paths


def load(ours, paths, others, report, rounds):
    files = list(paths.values()) + others
    ratios, shown = [], []
    for path in files:
        try:
            torch.jit.load(path, map_location="cpu")
            ours.ask("load", path, 1)
        except Exception as error:  # what neither can open is no case
            print(f"{path.name}: {' '.join(str(error).split())[:100]}")
            continue
        mine, theirs = [], []
        for _ in range(rounds):
            mine += ours.ask("load", path, 3)
            theirs.append(timed(lambda: torch.jit.load(path, map_location="cpu")))
        pair = statistics.median(mine), statistics.median(theirs)
        ratios.append(pair[1] / pair[0])
        shown.append((path, *pair))
    for path, mine, theirs in shown:
        print(f"  load {path.name[:28]:28} {mine / 1e6:9.2f} {theirs / 1e6:9.2f} ms  x {theirs / mine:6.1f}")
    middle = statistics.median(ratios)
    report.row(f"load, median of {len(ratios)} files", 1e6, middle * 1e6, "ms", BARS["load"], middle)


def calls(ours, paths, report):
    for name, (_, argument) in cases.MODELS.items():
        given = cases.tensor(argument)
        first, tenth, two = [], [], []
        for _ in range(3):
            ours.open(paths[name])
            mine = ours.ask("call", 10, argument)
            first.append(mine[0])
            tenth.append(statistics.median(mine[6:]))
            with torch.no_grad():
                module = torch.jit.load(paths[name])
                two.append((timed(lambda: module(given)) + timed(lambda: module(given))) / 2)
        mine, later, theirs = map(statistics.median, (first, tenth, two))
        report.row(f"first call {name}, by the tenth", mine, later, "ms", BARS["first"], mine / later, less=True)
        report.row(f"first call {name}, by their two", mine, theirs, "ms", BARS["first two"])


def loops(ours, functions, folder, report, kind, rounds):
    for name, (function, turns) in functions.items():
        scripted, path, x = torch.jit.script(function), folder / f"loop_{name}.pt", "float32:4x4"
        torch.jit.save(scripted, os.fspath(path))
        ours.open(path)
        given = cases.tensor(x)
        with torch.no_grad():
            for _ in range(3):
                scripted(turns // 10, given)
            ours.ask("call", 2, turns // 10, x)
            mine, theirs = [], []
            for _ in range(rounds):
                mine += [each / turns for each in ours.ask("call", 1, turns, x)]
                theirs.append(timed(lambda: scripted(turns, given)) / turns)
        report.row(f"{kind} {name}", statistics.median(mine), statistics.median(theirs), "ns", BARS[kind])


def frozen(ours, paths, report, rounds):
    for name, (_, argument) in cases.MODELS.items():
        given = cases.tensor(argument)
        ours.open(paths[name])
        ours.ask("freeze")
        ours.ask("call", 3, argument)
        module = torch.jit.freeze(torch.jit.load(paths[name]).eval())
        with torch.no_grad():
            for _ in range(5):
                module(given)
            mine, theirs = [], []
            for _ in range(rounds):
                mine += ours.ask("call", 5, argument)
                theirs += [timed(lambda: module(given)) for _ in range(5)]
        report.row(f"frozen {name}", statistics.median(mine), statistics.median(theirs), "ms", BARS["frozen"])


def cold_start(command, paths, folder, report, rounds):
    image, path = folder / "image.npy", paths["resnet18"]
    import numpy

    numpy.save(image, cases.tensor(cases.IMAGE).numpy())
    python = f"import torch, numpy; m = torch.jit.load({os.fspath(path)!r}); " \
             f"print(m(torch.from_numpy(numpy.load({os.fspath(image)!r}))).shape)"
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(timed(lambda: subprocess.run([command, "run", path, "--input", image], check=True, stdout=subprocess.DEVNULL)))
        theirs.append(timed(lambda: subprocess.run([sys.executable, "-c", python], check=True, stdout=subprocess.DEVNULL)))
    report.row("cold start", statistics.median(mine), statistics.median(theirs), "ms", BARS["cold start"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["load", "calls", "loops", "operators", "frozen", "cold"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", nargs="*", type=pathlib.Path, default=[], help="more files to load")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options = parser.parse_args()
    torch.set_num_threads(1)
    report = Report()
    print(f"{'':34} {'ours':>10} {'PyTorch':>10}")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        ours = Ours(options.build / "bench/bench_script_bench")
        stack.callback(ours.process.kill)
        paths = made_models(folder, cases.MODELS) if set(options.parts) & {"load", "calls", "frozen", "cold"} else {}
        loaded = paths | made_models(folder, cases.LOADED) if "load" in options.parts else {}
        for part, run in {
            "load": lambda: load(ours, loaded, options.files, report, options.rounds),
            "calls": lambda: calls(ours, paths, report),
            "loops": lambda: loops(ours, cases.SCALARS, folder, report, "turn", options.rounds),
            "operators": lambda: loops(ours, cases.OPERATORS, folder, report, "operator", options.rounds),
            "frozen": lambda: frozen(ours, paths, report, options.rounds),
            "cold": lambda: cold_start(options.build / "apps/flambeau/flambeau", paths, folder, report, options.rounds),
        }.items():
            if part in options.parts:
                run()
    print("all bars hold" if not report.missed else f"missed: {', '.join(report.missed)}")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
