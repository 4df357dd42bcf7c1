#!/usr/bin/env python3
"""Loads mobile modules and runs each once, by Flambeau and by PyTorch's lite interpreter, alternating in one process; then runs again.

    bench/mobile/run [--rounds N] FIXTURES

FIXTURES/torch-2.4 has <name>.ptl, <name>.ff and <name>.io.pt with inputs. Prints medians; fails where loading and the first run are less
than 5 times faster than PyTorch's on the whole, or a later run is slower.
"""

import argparse
import math
import pathlib
import statistics
import sys
import time

import flambeau
import torch
import torch.jit.mobile

LEAST = 5.0


def clock(body):
    begin = time.perf_counter()
    result = body()
    return time.perf_counter() - begin, result


def measure(path, inputs, ours, rounds):
    """Medians of (load and first run, a later run)."""
    given = [flambeau.Tensor(value) if isinstance(value, torch.Tensor) else value for value in inputs] if ours else inputs
    load = flambeau.jit.load if ours else torch.jit.mobile._load_for_lite_interpreter
    firsts, laters = [], []
    for _ in range(rounds):
        seconds, module = clock(lambda: first(load, path, given))
        firsts.append(seconds)
        laters.append(min(clock(lambda: module(*given))[0] for _ in range(20)))
    return statistics.median(firsts), statistics.median(laters)


def first(load, path, given):
    module = load(path)
    module(*given)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("fixtures", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    logs, late = [], []
    print(f"{'':16} {'load and first run':>33} {'later run':>33}")
    print(f"{'file':16} {'PyTorch':>12} {'Flambeau':>12} {'PyTorch':>19} {'Flambeau':>12}")
    for path in sorted(arguments.fixtures.glob("torch-2.4/*.ptl")) + sorted(arguments.fixtures.glob("torch-2.4/*.ff")):
        if path.name.count(".") != 1 or path.stat().st_size == 0:
            continue
        inputs = torch.load(path.with_suffix(".io.pt"), weights_only=True)["inputs"]
        try:
            theirs = measure(str(path), inputs, False, arguments.rounds)
        except RuntimeError as error:
            print(f"{path.name:16} PyTorch: {str(error).splitlines()[0][:80]}")
            continue
        ours = measure(str(path), inputs, True, arguments.rounds)
        logs.append(math.log(theirs[0] / ours[0]))
        late.append(math.log(theirs[1] / ours[1]))
        shown = [f"{b * 1e6:9.0f} us {a * 1e6:9.0f} us {b / a:5.1f}x" for a, b in zip(ours, theirs)]
        print(f"{path.name:16} {shown[0]:>30} {shown[1]:>30}")
    ratio, later = (math.exp(statistics.mean(values)) for values in (logs, late))
    print(f"PyTorch takes {ratio:.1f} times as long to load and run once, {later:.2f} times as long to run again (geometric means)")
    return 0 if ratio >= LEAST and later >= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
