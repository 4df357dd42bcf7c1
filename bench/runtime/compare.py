"""Two builds of the Python package against each other, in one run, alternating, medians.

  python bench/runtime/compare.py OLD NEW [--models NAME...] [--batches N...] [--threads N...] [--rounds N] [--bar X]

OLD and NEW are the folders that hold the package, such as build/release/python. Each build has a process of its own, all
else is the same. Prints times of OLD / times of NEW; fails when their geometric mean is below the bar.
"""

import argparse
import math
import multiprocessing
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK_SECONDS = 0.1


def serve(folder, connection):
    """Loads and times what it is asked to, with the package of `folder`."""
    sys.path[:0] = [folder, os.fspath(ROOT / "tests/interop")]
    import flambeau
    from flambeau_torch import values_to_flambeau

    import models

    assert pathlib.Path(flambeau.__file__).is_relative_to(pathlib.Path(folder).resolve()), flambeau.__file__
    while (asked := connection.recv()) is not None:
        if asked[0] == "load":
            _, name, batch, path, threads = asked
            program = flambeau.load(path, threads=threads)
            given = values_to_flambeau(models.build(name, batch)[1])
            for _ in range(3):
                program(*given)
            connection.send("ready")
            continue
        times, end = [], time.perf_counter() + BLOCK_SECONDS
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            program(*given)
            times.append(time.perf_counter() - start)
        connection.send(times)


def main():
    import models

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--folder", default=ROOT / "build/bench-models", help="where the exported models are kept")
    parser.add_argument("--models", nargs="+", choices=list(models.MODELS), default=list(models.MODELS))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--bar", type=float, default=0.98)
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    sides = []
    for folder in (options.old, options.new):
        here, there = spawn.Pipe()
        process = spawn.Process(target=serve, args=(os.path.abspath(folder), there), daemon=True)
        process.start()
        there.close()
        sides.append(here)

    def ask(side, *asked):
        side.send(asked)
        return side.recv()

    ratios = []
    print(f"{'model':14} batch threads {'old':>12} {'new':>12}  old / new")
    for name in options.models:
        for batch in options.batches:
            path = os.fspath(models.exported(name, batch, options.folder))
            for threads in options.threads:
                for side in sides:
                    ask(side, "load", name, batch, path, threads)
                times = [[], []]
                for turn in range(options.rounds):
                    for position in (0, 1) if turn % 2 == 0 else (1, 0):
                        time.sleep(0.02)  # threads that still wait in a loop go to sleep
                        times[position] += ask(sides[position], "block")
                old, new = (statistics.median(of) for of in times)
                ratios.append((old / new, f"{name} batch {batch}, {threads} threads"))
                print(f"{name:14} {batch:5} {threads:7} {old * 1e3:9.3f} ms {new * 1e3:9.3f} ms  {old / new:.3f}", flush=True)
    for side in sides:
        side.send(None)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios))
    least, where = min(ratios)
    good = mean >= options.bar
    print(f"geometric mean {mean:.3f}, least {least:.3f} ({where})  (bar of the mean {options.bar}) {'ok' if good else 'SLOWER'}")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
