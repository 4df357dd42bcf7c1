#!/usr/bin/env python3
"""Fused groups as machine code: our kernels beside those of PyTorch's compiler and our interpreted groups, in real PyTorch.

    bench/aot/kernels.py [GROUP...]        in an environment with PyTorch 2.13; FLAMBEAU_BIN names the command

One thread; the three take turns in one run, medians in microseconds of what is computed beside a call of an empty model.
Packages of PyTorch's compiler come from the tests' cache, or are made, 10 to 30 seconds each."""

import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))

import torch  # noqa: E402
from torch.export import export, save  # noqa: E402

import cache  # noqa: E402
import groups  # noqa: E402

COMMAND = os.environ.get("FLAMBEAU_BIN", str(ROOT / "build/dev/apps/flambeau/flambeau"))
LOADER = torch._C._aoti.AOTIModelPackageLoader
BAR = 1.1  # times the speed of PyTorch's compiler, geometric mean


class Nothing(torch.nn.Module):
    def forward(self, x):
        return x + 1


def program(name):
    torch.manual_seed(0)
    kind, make = groups.GROUPS[name] if name != "nothing" else (Nothing, lambda: (torch.zeros(1),))
    inputs = make()
    with torch.no_grad():
        return export(kind(), inputs), inputs


def theirs(name):
    """The package of PyTorch's compiler, and the seconds that it took."""

    def make(folder):
        start = time.perf_counter()
        with torch.no_grad():
            torch._inductor.aoti_compile_and_package(program(name)[0], package_path=os.fspath(folder / "model.pt2"))
        (folder / "seconds").write_text(str(time.perf_counter() - start))

    sources = [pathlib.Path(__file__).parent / "groups.py"]
    folder = cache.entry("aoti-groups", sources, (name,), make)
    return folder / "model.pt2", float((folder / "seconds").read_text())


def ours(name, folder, *options):
    made, _ = program(name)
    save(made, folder / "model.pt2")
    out = folder / f"ours{len(options)}.pt2"
    done = subprocess.run([COMMAND, "compile", folder / "model.pt2", "--library-only", "-o", out, "--json", *options],
                          check=True, capture_output=True, text=True)  # fmt: skip
    return out, json.loads(done.stdout)["ms"] / 1e3


def turns(models, inputs, rounds=300):
    """Median microseconds of each, called in turn."""
    times = [[] for _ in models]
    for number in range(rounds):
        for index, model in enumerate(models):
            given = list(inputs)
            start = time.perf_counter()
            model.boxed_run(given)
            if number >= rounds // 10:
                times[index].append(time.perf_counter() - start)
    return [statistics.median(each) * 1e6 for each in times]


def measure(name, folder):
    """Microseconds and seconds of compiling: Inductor, interpreted, kernels."""
    made = [theirs(name), ours(name, folder), ours(name, folder, "--kernels")]
    models = [LOADER(str(path), "model", False, 1, -1) for path, _ in made]
    inputs = program(name)[1]
    results = [model.boxed_run(list(inputs)) for model in models]
    for found in results[1:]:
        for a, b in zip(found, results[0], strict=True):
            # PyTorch's compiler does not round bfloat16 between operators.
            allowed = 2e-2 if a.dtype == torch.bfloat16 else 1e-5
            torch.testing.assert_close(a, b, rtol=allowed, atol=allowed)
    return turns(models, inputs), [seconds for _, seconds in made]


def row(name, *cells):
    print(f"{name:18}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def main():
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        empty, _ = measure("nothing", folder)
        row("", "Inductor us", "ours us", "kernels us", "x Inductor", "x ours", "Inductor s", "kernels s")
        row("(a call alone)", *(f"{each:.1f}" for each in empty))
        gains = []
        for name in sys.argv[1:] or groups.GROUPS:
            found, seconds = measure(name, folder)
            inductor, interpreted, kernels = (max(a - b, 0.1) for a, b in zip(found, empty, strict=True))
            gains.append((inductor / kernels, interpreted / kernels))
            row(name, f"{inductor:.1f}", f"{interpreted:.1f}", f"{kernels:.1f}", f"{inductor / kernels:.2f}",
                f"{interpreted / kernels:.2f}", f"{seconds[0]:.1f}", f"{seconds[2]:.1f}")  # fmt: skip
        means = [math.exp(statistics.fmean(math.log(gain[i]) for gain in gains)) for i in (0, 1)]
        row("geometric mean", "", "", "", *(f"{mean:.2f}" for mean in means))
        if means[0] < BAR:
            sys.exit(f"kernels: {means[0]:.2f} times as fast as PyTorch's compiler, the bar is {BAR}")


if __name__ == "__main__":
    main()
