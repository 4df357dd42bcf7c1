"""Running exported programs against eager PyTorch, in one run, alternating, medians; bench/runtime/run builds and calls this.

  latency     8 models, batch 1 and 8, 1 and 2 threads: times faster than eager PyTorch, and the geometric mean
  --compile, --onnxruntime   also torch.compile and onnxruntime beside them
  memory      resident memory over 10,000 runs of a small model
  cold start  process start to first output of ResNet-18: `flambeau run` against a Python script with PyTorch
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.utils import _pytree as pytree

import models

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))
from flambeau_torch import to_torch, values_to_flambeau  # noqa: E402

MEAN_BAR, LEAST_BAR, COLD_BAR = 1.0, 0.7, 20
FLAT = 1 << 20  # bytes that memory may grow between the first thousand runs and the last
BLOCK_SECONDS = 0.15  # one side's turn


class Flambeau:
    name = "flambeau"

    def __init__(self, name, batch, folder):
        import flambeau

        self.package = flambeau
        self.path = os.fspath(models.exported(name, batch, folder))

    def threads(self, count):
        """A program has threads of its own."""
        self.program = self.package.load(self.path, threads=count)

    def prepare(self, args):
        given = values_to_flambeau(args)
        return lambda: self.program(*given)


class Eager:
    name = "eager"

    def __init__(self, name, batch, folder):
        self.module, _ = models.build(name, batch)

    def threads(self, count):
        torch.set_num_threads(count)

    def prepare(self, args):
        def run():
            with torch.inference_mode():
                return self.module(*args)

        return run


class Compiled(Eager):
    name = "compile"

    def __init__(self, name, batch, folder):
        super().__init__(name, batch, folder)
        torch._dynamo.reset()
        self.module = torch.compile(self.module)


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, name, batch, folder):
        self.path = pathlib.Path(folder) / f"{name}-{batch}.onnx"
        if not self.path.exists():
            module, args = models.build(name, batch)
            torch.onnx.export(module, args, self.path, dynamo=True, verbose=False)
        self.session = None

    def threads(self, count):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = count, 1
        # Threads that wait in a loop would take the other sides' time.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(os.fspath(self.path), options, providers=["CPUExecutionProvider"])

    def prepare(self, args):
        feed = {given.name: leaf.numpy() for given, leaf in zip(self.session.get_inputs(), pytree.tree_leaves(args))}
        return lambda: [torch.from_numpy(array) for array in self.session.run(None, feed)]


def error(ours, theirs):
    """The largest difference, against the largest number."""
    worst = 0.0
    for a, b in zip(pytree.tree_leaves(ours), pytree.tree_leaves(theirs), strict=True):
        a = to_torch(a)
        if a.shape != b.shape or a.dtype != b.dtype:
            return math.inf
        worst = max(worst, ((a - b).abs().max() / b.abs().max()).item())
    return worst


def block(run, seconds=BLOCK_SECONDS):
    """The times of single runs for a while, three at least."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def alternate(sides, rounds):
    """Median seconds of each, in turns; a pause lets threads that still wait in a loop go to sleep."""
    times = [[] for _ in sides]
    for run in sides:
        run(), run()
    for _ in range(rounds):
        for position, run in enumerate(sides):
            time.sleep(0.02)
            times[position] += block(run)
    return [statistics.median(of) for of in times]


def latency(options, folder):
    kinds = [Flambeau, Eager] + [Compiled] * options.compile + [OnnxRuntime] * options.onnxruntime
    if options.without_flambeau:
        kinds = kinds[1:]
    print(f"{'model':14} batch threads " + "".join(f"{kind.name:>13}" for kind in kinds) + "".join(f"{'x ' + kind.name:>14}" for kind in kinds[1:]))
    ratios, ok = {kind.name: [] for kind in kinds[1:]}, True
    for name in options.models or models.MODELS:
        for batch in options.batches:
            _, args = models.build(name, batch)
            sides = []
            for kind in kinds:
                try:
                    sides.append(kind(name, batch, folder))
                except Exception as reason:  # one side that cannot do a model does not stop the others
                    print(f"{name} batch {batch}: {kind.name}: {type(reason).__name__}: {' '.join(str(reason).split())[:200]}")
                    sides.append(None)
            for count in options.threads:
                times, agree = measure(sides, args, count, options.rounds)
                cells = "".join(f"{'-' if t is None else f'{t * 1e3:.3f} ms':>13}" for t in times)
                for kind, t in zip(kinds[1:], times[1:]):
                    ratio = t / times[0] if t and times[0] else None
                    cells += f"{'-' if ratio is None else f'{ratio:.2f}':>14}"
                    if ratio is not None:
                        ratios[kind.name].append((ratio, f"{name} batch {batch}, {count} threads"))
                print(f"{name:14} {batch:5} {count:7} {cells}{'' if agree else '   WRONG RESULT'}", flush=True)
                ok &= agree and times[0] is not None
    for kind, found in ratios.items():
        if found and not options.without_flambeau:
            mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in found))
            least, where = min(found)
            judged = kind == "eager"
            good = mean >= MEAN_BAR and least >= LEAST_BAR
            bar = f"  (bars {MEAN_BAR} and {LEAST_BAR}) {'ok' if good else 'BELOW THE BAR'}" if judged else ""
            print(f"against {kind}: geometric mean {mean:.2f}, least {least:.2f} ({where}){bar}")
            ok &= good or not judged
    return ok


def measure(sides, args, threads, rounds):
    """(median seconds of each side, whether all agree with eager PyTorch)."""
    runs = []
    for side in sides:
        if side is None:
            runs.append(None)
            continue
        side.threads(threads)
        runs.append(side.prepare(args))
    expected = next(run() for side, run in zip(sides, runs) if isinstance(side, Eager))
    agree = all(error(run(), expected) < 1e-3 for run in runs if run)
    there = [run for run in runs if run]
    found = iter(alternate(there, rounds))
    return [next(found) if run else None for run in runs], agree


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory(folder):
    """Resident memory after 1,000 runs and after 10,000."""
    import flambeau

    _, args = models.build("tiny-mlp", 8)
    program = flambeau.load(os.fspath(models.exported("tiny-mlp", 8, folder)))
    given = values_to_flambeau(args)
    readings = {}
    for number in range(1, 10_001):
        program(*given)
        if number in (1000, 5000, 10_000):
            readings[number] = resident()
    grown = readings[10_000] - readings[1000]
    print("memory: " + ", ".join(f"{size / 1e6:.2f} MB after {runs:,} runs" for runs, size in readings.items()), end="  ")
    print("flat" if grown < FLAT else f"GREW BY {grown / 1e6:.2f} MB")
    return grown < FLAT


# Starts a process and says how long it took and how much memory it had. A process of its own, since what this one holds would
# count as the child's until it has become its own program.
STARTER = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss * 1024)
sys.exit(status != 0)
"""


def finished(command):
    """Seconds from start to end of a process, and its largest resident memory."""
    done = subprocess.run([sys.executable, "-S", "-c", STARTER, *command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-400:]}")
    seconds, memory_bytes = done.stdout.split()
    return float(seconds), int(memory_bytes)


THEIRS = """
import sys, torch
program = torch.export.load(sys.argv[1])
args, kwargs = program.example_inputs
with torch.inference_mode():
    torch.save(program.module()(*args, **kwargs), sys.argv[2])
"""


def cold_start(folder, rounds):
    path = models.exported("resnet-18", 1, folder)
    command = os.environ.get("FLAMBEAU_BIN", os.fspath(ROOT / "build/release/apps/flambeau/flambeau"))
    with tempfile.TemporaryDirectory() as out:
        ours = [finished([command, "run", os.fspath(path), "--output", out]) for _ in range(rounds * 3)]
        theirs = [finished([sys.executable, "-c", THEIRS, os.fspath(path), f"{out}/out.pt"]) for _ in range(rounds)]
    (our_time, our_memory), (their_time, their_memory) = ([statistics.median(column) for column in zip(*side)] for side in (ours, theirs))
    ratio = their_time / our_time
    print(f"cold start of resnet-18: {our_time * 1e3:.1f} ms, {our_memory / 1e6:.0f} MB resident; Python with PyTorch {their_time * 1e3:.0f} ms, ", end="")
    print(f"{their_memory / 1e6:.0f} MB: {ratio:.1f} times faster  (bar {COLD_BAR}) {'ok' if ratio >= COLD_BAR else 'BELOW THE BAR'}")
    return ratio >= COLD_BAR


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="latency, memory, cold-start; all unless named")
    parser.add_argument("--folder", default=ROOT / "build/bench-models", help="where the exported models are kept")
    parser.add_argument("--models", nargs="+", choices=list(models.MODELS))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    for flag in ("--compile", "--onnxruntime", "--without-flambeau"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    parts = options.parts or ["latency", "memory", "cold-start"]
    print(f"PyTorch {torch.__version__}, {os.cpu_count()} cores")
    ok = True
    if "latency" in parts:
        ok &= latency(options, options.folder)
    if "memory" in parts and not options.without_flambeau:
        ok &= memory(options.folder)
    if "cold-start" in parts and not options.without_flambeau:
        ok &= cold_start(options.folder, options.rounds)
    raise SystemExit(0 if ok else 1)


if __name__ == "__main__":
    main()
