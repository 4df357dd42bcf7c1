"""Times single operators against eager PyTorch, in one run, alternating; bench/operators/run builds and calls this.

  bench/operators/run [OPERATOR...] [--threads N...] [--sizes small large] [--rounds N] [--part I/N] [--json FILE]
  bench/operators/run --judge FILE...     joins what runs of parts wrote, and judges them as one

Both sides call the operator in a loop in C++ with the same tensors, bound once: ours by ops::call, PyTorch's through its dispatcher,
boxed, in inference mode (torch_loop.py). Results are made anew by each call. A turn takes some milliseconds; the sides take turns, and
the ratio is PyTorch's time over ours, the median of the rounds: above 1 ours is faster. With one thread the processor's time counts, with more
the clock's, which says nothing on a machine that has other work: PyTorch's threads wait for each other, and a call of a microsecond
takes thirty thousand where one of them is not running. Both keep the memory that results give back (TUNABLES): how often malloc asks the system anew depends on what else a
process did, and costs more than most operators. Fails when the geometric mean of all cases is
below 1, or a case below 0.5 that reasons.json does not explain.
"""

import argparse
import fnmatch
import json
import math
import pathlib
import os
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import torch  # noqa: E402

import cases  # noqa: E402
import torch_loop  # noqa: E402

BAR, LEAST = 1.0, 0.5
TURN = 4e-3  # seconds
TUNABLES = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296"}
REASONS = HERE / "reasons.json"


def as_json(value, keep):
    if isinstance(value, torch.Tensor):
        return {"tensor": keep(value)}
    if isinstance(value, (list, tuple)):
        return [as_json(item, keep) for item in value]
    return str(value).removeprefix("torch.") if isinstance(value, torch.dtype) else value


class Ours:
    """A process of bench_operators."""

    def __init__(self, program, calls, folder, threads):
        tensors = {}

        def keep(tensor):
            tensors[str(len(tensors))] = tensor
            return next(reversed(tensors))

        said = [{"op": name, "args": as_json(args, keep), "kwargs": {}} for name, args in calls]
        (folder / "calls.json").write_text(json.dumps(said))
        torch.save(tensors, folder / "tensors.pt")
        command = [program, folder / "calls.json", folder / "tensors.pt", str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def seconds(self, number, count):
        self.process.stdin.write(f"{number} {count}\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        if not said or said.startswith("error"):
            raise RuntimeError(said or "bench_operators ended")
        return float(said)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def calibrated(seconds):
    """How many calls take a turn. The first ones ask the system for memory, and do not count."""
    seconds(8)
    count = 1
    while (taken := seconds(count)) < TURN / 4 and count < 1 << 20:
        count *= 4
    return max(1, round(count * TURN / max(taken, 1e-9)))


def measure(ours, theirs, rounds):
    """Seconds for a call of each side, and the median of the ratios."""
    counts = [calibrated(ours), calibrated(theirs)]
    times = [[], []]
    for _ in range(rounds):
        for side, seconds in enumerate((ours, theirs)):
            times[side].append(seconds(counts[side]) / counts[side])
    return *map(statistics.median, times), statistics.median(b / a for a, b in zip(*times))


def title(name, args):
    shapes = [list(leaf.shape) for leaf in torch.utils._pytree.tree_leaves(args) if isinstance(leaf, torch.Tensor)]
    return f"{name.removeprefix('aten::')} {' '.join(str(shape).replace(' ', '') for shape in shapes[:2])}"


def part(text):
    """"2/5" is the second of five parts of the cases."""
    number, _, of = text.partition("/")
    number, of = int(number), int(of)
    if not 1 <= number <= of:
        raise ValueError
    return number - 1, of


def chosen(patterns, is_large, taken):
    torch.manual_seed(0)
    sizes = cases.Sizes(is_large)
    number, of = taken
    for name, make in cases.CASES[number::of]:
        short = name.removeprefix("aten::")
        if not patterns or any(fnmatch.fnmatch(part, pattern) for pattern in patterns for part in (short, short.partition(".")[0])):
            yield name, make(sizes)


def reasons():
    """(operator, size) -> why it may be slower: {"operator": {"small": "..."}}."""
    said = json.loads(REASONS.read_text()) if REASONS.exists() else {}
    return {(name, size): text for name, of_size in said.items() for size, text in of_size.items()}


def run(options, loop):
    rows = []
    for size in options.sizes:
        calls = list(chosen(options.names, size == "large", options.part))
        for threads in options.threads:
            torch.set_num_threads(threads)
            with tempfile.TemporaryDirectory() as folder:
                ours = Ours(options.program, calls, pathlib.Path(folder), threads)
                for number, (name, args) in enumerate(calls):
                    base, _, overload = name.partition(".")
                    row = {"operator": name, "case": title(name, args), "size": size, "threads": threads}
                    try:
                        row["ours"], row["pytorch"], row["ratio"] = measure(
                            lambda count: ours.seconds(number, count),
                            lambda count: loop.seconds(base, overload, tuple(args), count, threads),
                            options.rounds,
                        )
                        print(f"{row['case']:56} {size:5} {threads} thread{'s' if threads > 1 else ' '} PyTorch {1e6 * row['pytorch']:10.2f} us"
                              f"  ours {1e6 * row['ours']:10.2f} us  ratio {row['ratio']:6.2f}", flush=True)
                    except Exception as error:  # what one case cannot do is a line of the table
                        row["failed"] = " ".join(str(error).split())[:200]
                        print(f"{row['case']:56} {size:5} FAILED: {row['failed']}", flush=True)
                    rows.append(row)
                ours.close()
    return rows


def mean(rows):
    ratios = [row["ratio"] for row in rows]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="OPERATOR")
    parser.add_argument("--program", default=ROOT / "build/release/bench/bench_operators", type=pathlib.Path)
    parser.add_argument("--loop", default=ROOT / "build/torch-loop", type=pathlib.Path)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--sizes", nargs="+", choices=["small", "large"], default=["small", "large"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--part", type=part, default=(0, 1), metavar="I/N")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--judge", nargs="+", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    if options.judge:
        return judge([row for file in options.judge for row in json.loads(file.read_text())])
    if "GLIBC_TUNABLES" not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | TUNABLES)
    rows = run(options, torch_loop.load(options.loop))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return judge(rows)


def judge(rows):
    """Prints what the rows amount to; the exit status."""
    good = [row for row in rows if "ratio" in row]
    known = reasons()
    slow = sorted((row for row in good if row["ratio"] < LEAST), key=lambda row: row["ratio"])
    unexplained = [row for row in slow if (row["operator"].removeprefix("aten::"), row["size"]) not in known]
    print(f"\n{len({row['operator'] for row in good})} operators, {len(good)} cases, {len(rows) - len(good)} failed")
    for size, threads in dict.fromkeys((row["size"], row["threads"]) for row in good):
        print(f"  {size}, {threads} threads: {mean([r for r in good if r['size'] == size and r['threads'] == threads]):.2f}")
    for row in slow:
        reason = known.get((row["operator"].removeprefix("aten::"), row["size"]), "NOT EXPLAINED")
        print(f"  below {LEAST}: {row['case']} {row['size']} {row['threads']}: {row['ratio']:.2f}  {reason}")
    print(f"geometric mean {mean(good):.2f} (bar {BAR})")
    return 1 if len(good) < len(rows) or unexplained or not mean(good) >= BAR else 0


if __name__ == "__main__":
    sys.exit(main())
