"""Whether more threads pay: our backends against eager PyTorch and, where it is installed, onnxruntime, with 1, 4, 8 and 16.

  python bench/runtime/threads.py [--package FOLDER] [--threads N...] [--cases NAME:BATCH...] [--rounds N] [--minutes N]

FOLDER holds the Python package in a release build (build/release/python; `cp -rL` it to carry it along). Needs no network, and less than eight minutes on
sixteen cores. All sides run in turns, medians count. The bar: against eager PyTorch a geometric mean of 1.0 at least for each
number of threads, no case below 0.8, and no case slower than with fewer threads by more than a tenth.
"""

import argparse
import importlib.util
import math
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEAN_BAR, LEAST_BAR, SLOWER_BAR = 1.0, 0.8, 1.1
CASES = ["gpt2-step:1", "gpt2-step:8", "lstm:1", "lstm:8", "bert-base:1", "unet:1", "resnet-50:1", "mobilenet-v2:1", "tiny-mlp:1"]


def make_sides(runtime, backends):
    def ours(backend):
        class Side(runtime.Flambeau):
            name = backend

            def threads(self, count):
                self.program = self.package.load(self.path, threads=count, backend=backend)

        return Side

    kinds = [ours(backend) for backend in backends] + [runtime.Eager]
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnxscript"):
        kinds.append(runtime.OnnxRuntime)
    return kinds


def mean_of(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def judge(times, counts, names):
    """Prints what the bars say of {(case, threads): [seconds of each side]}, and gives whether all are met."""
    ok = True
    eager = names.index("eager")
    for position, name in enumerate(names):
        if name == "eager":
            continue
        is_ours = position < eager
        against = range(eager, len(names)) if is_ours else ()
        for other in against:
            for count in counts:
                found = [(row[other] / row[position], case) for (case, threads), row in times.items() if threads == count and row[position] and row[other]]
                if not found:
                    continue
                mean, (least, where) = mean_of(ratio for ratio, _ in found), min(found)
                judged = is_ours and position == 0 and other == eager
                good = mean >= MEAN_BAR and least >= LEAST_BAR
                verdict = ("ok" if good else "BELOW THE BAR") if judged else ""
                print(f"{name} against {names[other]}, {count:2} threads: geometric mean {mean:.2f}, least {least:.2f} ({where})  {verdict}")
                ok &= good or not judged
    for position, name in enumerate(names):
        slower = []
        for (case, threads), row in times.items():
            fewer = [times[case, count][position] for count in counts if count < threads and (case, count) in times and times[case, count][position]]
            if fewer and row[position] and row[position] > SLOWER_BAR * min(fewer):
                slower.append(f"{case} with {threads}: {row[position] / min(fewer):.2f}")
        judged = position < eager
        print(f"{name}: slower than with fewer threads in {len(slower)} of {len(times)}  {', '.join(slower)}")
        ok &= not (judged and slower)
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=ROOT / "build/release/python", help="the folder that holds our package")
    parser.add_argument("--folder", default=ROOT / "build/bench-models", help="where the exported models are kept")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 4, 8, 16])
    parser.add_argument("--cases", nargs="+", default=CASES)
    parser.add_argument("--backends", nargs="+", default=["onednn", "portable"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=8, help="what is not measured by then is left out")
    options = parser.parse_args()
    begun = time.monotonic()
    sys.path.insert(0, os.fspath(pathlib.Path(options.package).resolve()))
    import torch

    import models
    import runtime

    kinds = make_sides(runtime, options.backends)
    names = [kind.name for kind in kinds]
    print(f"PyTorch {torch.__version__}, {len(os.sched_getaffinity(0))} cores")
    eager = names.index("eager")
    print(f"{'case':15} threads " + "".join(f"{name:>13}" for name in names) + "".join(f"{names[0] + ' x ' + name:>22}" for name in names[eager:]))
    times, counts, ok, left_out = {}, sorted(options.threads), True, 0
    for case in options.cases:
        name, batch = case.split(":")
        args = models.build(name, int(batch))[1]
        sides = [kind(name, int(batch), options.folder) for kind in kinds]
        for count in counts:
            if time.monotonic() - begun > options.minutes * 60:
                left_out += 1
                continue
            row, agree = runtime.measure(sides, args, count, options.rounds)
            times[case, count] = row
            cells = "".join(f"{t * 1e3:10.3f} ms" for t in row) + "".join(f"{t / row[0]:22.2f}" for t in row[eager:])
            print(f"{case:15} {count:7} {cells}{'' if agree else '   WRONG RESULT'}", flush=True)
            ok &= agree
    ok &= judge(times, counts, names)
    if left_out:
        print(f"{left_out} measurements LEFT OUT for lack of time (--minutes)")
    print(f"{time.monotonic() - begun:.0f} s: {'all bars are met' if ok and not left_out else 'NOT ALL BARS ARE MET'}")
    raise SystemExit(0 if ok and not left_out else 1)


if __name__ == "__main__":
    main()
