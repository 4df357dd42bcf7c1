"""Runs PyTorch's own samples of every operator in scope through Flambeau's Python package and compares.

  python run.py                      all of them: a table of what fails, and the sum
  python run.py --op softmax -v      one operator, its in-place and out= forms too, with every failing sample; repeatable;
                                     "aten::add.Tensor" is one overload, "conv*" a pattern
  python run.py --dtype float32      these types only; repeatable
  python run.py --fail-fast          stops at the first failing sample, with its tensors written out
  python run.py --all                all samples, not an even choice of them
  python run.py --trace              names each sample before it runs: the last line is what crashed
  python run.py --list               what there is: overloads, and where their samples come from
  python run.py --json FILE          counts for each overload (docs/operators.md is made of it)
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(path) for path in (HERE, HERE.parent) if str(path) not in sys.path]

import torch  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import by_hand  # noqa: E402
import choose  # noqa: E402
import compare  # noqa: E402
import record  # noqa: E402
import scope  # noqa: E402
from flambeau_torch import to_flambeau, to_torch, values_to_torch  # noqa: E402

SHOWN = 12  # failing samples of one overload
FAILURES = 3  # of them in the results


class Outcome:
    """Counts of one overload."""

    def __init__(self):
        self.samples = self.passed = 0
        self.types = collections.defaultdict(lambda: [0, 0])
        self.failures = []

    def add(self, sample, wrong):
        self.samples += 1
        self.passed += wrong is None
        counts = self.types[compare.short(sample.dtype)]
        counts[0] += wrong is None
        counts[1] += 1

    def add_counts(self, counts):
        """Those of other samples, as as_json() has them."""
        self.samples += counts["samples"]
        self.passed += counts["passed"]
        for kind, (good, of) in counts["types"].items():
            self.types[kind][0] += good
            self.types[kind][1] += of
        self.failures = (self.failures + counts["failures"])[:FAILURES]


def matching(patterns):
    """The overloads in scope that one of the patterns means; all without patterns."""
    if not patterns:
        return scope.operators()
    chosen = []
    for name in scope.operators():
        base, _, kind = name.removeprefix("aten::").partition(".")
        for pattern in patterns:
            pattern = pattern.replace("::", ".").removeprefix("aten.")
            plain = base.removesuffix("_") if not base.startswith("__") else base
            if any(fnmatch.fnmatchcase(form, pattern) for form in (base, plain, f"{base}.{kind}")):
                chosen.append(name)
                break
    return chosen


def run(flambeau, sample):
    """What is wrong with Flambeau's answer to a sample; None where nothing is."""
    if not flambeau.ops.has(sample.name) and not flambeau.ops.has(sample.name.removesuffix(".default")):
        return "is not there"
    namespace, rest = sample.name.split("::")
    base, _, kind = rest.partition(".")
    call = getattr(getattr(getattr(flambeau.ops, namespace), base), kind)
    args, kwargs = pytree.tree_map(to_flambeau, record.copied((sample.args, sample.kwargs)))
    flambeau.manual_seed(0)
    try:
        ours = call(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return compare.first_difference(sample, values_to_torch(leaves_to_torch(ours)), args, kwargs)


def leaves_to_torch(value):
    """Tuples and lists of whatever class become plain ones."""
    if isinstance(value, (list, tuple)):
        return [leaves_to_torch(item) for item in value]
    return to_torch(value)


def show(sample, wrong):
    print(f"  FAIL {compare.call_text(sample)}\n       {wrong}   [{sample.source}]", flush=True)


def write_out(sample):
    """All of a failing sample, as Python source where tensors are small."""
    torch.set_printoptions(precision=9, threshold=200, linewidth=140)
    for position, value in enumerate(pytree.tree_leaves((sample.args, sample.kwargs))):
        if isinstance(value, torch.Tensor):
            print(f"  argument {position}: {compare.brief(value, 0)}\n{value}")
    for position, value in enumerate(compare.leaves(sample.outputs)):
        print(f"  expected {position}: {compare.brief(value, 0)}\n{value}" if isinstance(value, torch.Tensor) else f"  expected {position}: {value!r}")


def run_all(flambeau, options, units=None):
    outcomes = {name: Outcome() for name in matching(options.op)}
    if not outcomes:
        sys.exit(f"opinfo: no operator in scope.txt is meant by {' '.join(options.op)}")
    for sample in choose.samples(list(outcomes), options.dtype, not options.all, units):
        outcome = outcomes[sample.name]
        if options.trace:
            print(compare.call_text(sample), flush=True)
        wrong = run(flambeau, sample)
        outcome.add(sample, wrong)
        if wrong is None:
            continue
        if len(outcome.failures) < FAILURES:
            outcome.failures.append(f"{compare.call_text(sample)}: {wrong}")
        shown = outcome.samples - outcome.passed
        if (options.verbose or options.fail_fast) and (shown <= SHOWN or options.all):
            show(sample, wrong)
        elif options.verbose and shown == SHOWN + 1:
            print(f"  ... more of {sample.name} (--all shows them)")
        if options.fail_fast:
            write_out(sample)
            break
    return outcomes


def as_json(outcomes):
    return {
        "torch": torch.__version__,
        "operators": {
            name: {"samples": o.samples, "passed": o.passed, "types": dict(o.types), "failures": o.failures} for name, o in outcomes.items()
        },
    }


def summary(outcomes):
    """Lines: overloads that do not pass, those without a sample, the sum."""
    lines = []
    for name, o in outcomes.items():
        if o.passed < o.samples:
            bad = [f"{kind} {good}/{of}" for kind, (good, of) in o.types.items() if good < of]
            whole = " (every type)" if len(bad) == len(o.types) and len(bad) > 1 and o.passed == 0 else ": " + ", ".join(bad)
            lines.append(f"{name:48} {o.passed:5}/{o.samples:<5}{whole}")
    without = [name for name, o in outcomes.items() if not o.samples]
    if without:
        lines.append(f"no samples: {' '.join(without)}")
    total, passed = sum(o.samples for o in outcomes.values()), sum(o.passed for o in outcomes.values())
    with_samples = [o for o in outcomes.values() if o.samples]
    lines.append(
        f"{passed}/{total} samples pass ({100 * passed / max(1, total):.2f}%), "
        f"{sum(o.passed == o.samples for o in with_samples)}/{len(with_samples)} overloads whole, "
        f"{sum(o.passed == 0 for o in with_samples)} at zero"
    )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", action="append", default=[], metavar="NAME")
    parser.add_argument("--dtype", action="append", default=[])
    parser.add_argument("-v", "--verbose", action="store_true")
    for flag in ("--fail-fast", "--all", "--trace", "--list"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    if options.list:
        known = scope.sources()
        for name in matching(options.op):
            direct = [info for info, is_direct in known.get(name, {}).items() if is_direct] or list(known.get(name, {}))[:4]
            print(f"{name:48} {'by hand' if name in by_hand.SAMPLES else ' '.join(direct) or 'derived'}")
        return 0
    import faulthandler

    import flambeau

    faulthandler.enable()
    start = time.time()
    outcomes = run_all(flambeau, options)
    print("\n".join(summary(outcomes)), f"in {time.time() - start:.1f} s")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(as_json(outcomes), indent=1))
    return 0 if all(o.passed == o.samples for o in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
