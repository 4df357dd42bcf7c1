#!/usr/bin/env python3
"""Compiled models of ours beside those of PyTorch's compiler: making, size, loading and running, in real PyTorch.

    bench/aot/aot.py [MODEL...]        in an environment with PyTorch 2.13; FLAMBEAU_BIN names the command

Packages of PyTorch's compiler come from the tests' cache, or are made, which takes half a minute each. One thread."""

import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))

import torch  # noqa: E402
from torch.export import export, save  # noqa: E402

import aoti_packages  # noqa: E402

COMMAND = os.environ.get("FLAMBEAU_BIN", str(ROOT / "build/dev/apps/flambeau/flambeau"))
LOADER = torch._C._aoti.AOTIModelPackageLoader


def best(body, seconds=1.0, least=5):
    """The shortest of many runs, in microseconds."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = time.perf_counter()
        body()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def peak_kilobytes():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])


def row(*cells):
    print("".join(f"{cell:>13}" for cell in cells), flush=True)


def measure(name, folder):
    layers, inputs, program = aoti_packages.build(name, "default")
    with torch.no_grad():
        save(program, folder / "model.pt2")

    def ours(file, *options):
        arguments = ["compile", folder / "model.pt2", "--library-only", "-o", folder / file, "--json", *options]
        done = subprocess.run([COMMAND, *arguments], check=True, capture_output=True, text=True)
        return str(folder / file), json.loads(done.stdout)

    plain, made = ours("plain.pt2")
    fast, kernels = ours("fast.pt2", "--kernels")
    theirs = str(aoti_packages.package(name, "default") / "model.pt2")
    weights = sum(tensor.nbytes for tensor in program.state_dict.values())
    load = [best(lambda path=path: LOADER(path, "model", False, 1, -1), 0.5) / 1e3 for path in (plain, theirs)]
    runs = []
    for path in (plain, fast, theirs):
        model = LOADER(path, "model", False, 1, -1)
        runs.append(best(lambda: model.boxed_run(list(inputs))))
    alone = json.loads(
        subprocess.run([COMMAND, "bench", folder / "model.pt2", "-j1", "--seconds", "1", "--json"],
                       check=True, capture_output=True, text=True).stdout
    )  # fmt: skip
    row(name, f"{made['ms']:.1f}", f"{kernels['ms']:.0f}", f"{(made['bytes'] - weights) / 1e6:.2f}", f"{load[0]:.2f}",
        f"{load[1]:.2f}", f"{runs[0]:.1f}", f"{runs[1]:.1f}", f"{shortest(alone):.1f}", f"{runs[2]:.1f}")  # fmt: skip
    return plain, inputs


def shortest(report):
    """Microseconds of the fastest run that bench tells."""
    return report["latency_ms"]["min"] * 1e3


def steady(path, inputs, calls=100_000):
    """Memory before and after many calls, by eight callers."""
    model = LOADER(path, "model", False, 1, -1)

    def call(count):
        for _ in range(count):
            model.boxed_run(list(inputs))

    call(1000)
    gc.collect()
    before = peak_kilobytes()
    callers = [threading.Thread(target=call, args=(calls // 8,)) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    print(f"{calls} calls by 8 callers: {before} kB before, {peak_kilobytes()} kB after")


def main():
    row("model", "compile ms", "--kernels", "+MB", "load ms", "AOTI load", "run us", "kernels us", "alone us", "AOTI run")
    for name in sys.argv[1:] or ["mlp", "block"]:
        with tempfile.TemporaryDirectory() as folder:
            ours, inputs = measure(name, pathlib.Path(folder))
            if name == "mlp":
                steady(ours, inputs)


if __name__ == "__main__":
    main()
