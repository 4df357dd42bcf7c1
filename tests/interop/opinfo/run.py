"""Runs PyTorch's own samples of every operator in scope through Flambeau's Python package and compares.

  python run.py                      all of them: a table of what fails, and the sum
  python run.py --op softmax -v      one operator, its in-place and out= forms too, with every failing sample; repeatable;
                                     "aten::add.Tensor" is one overload, "conv*" a pattern
  python run.py --errors             what PyTorch refuses must be refused, instead of the samples
  python run.py --dtype float32      these types only; repeatable
  python run.py --jobs 2             so many processes
  python run.py --few, --all         fewer samples (as the test does), or all of them; otherwise an even choice
  python run.py --fail-fast          stops at the first failing sample, with its tensors written out
  python run.py --trace              names each sample before it runs: the last line is what crashed
  python run.py --list               what there is: overloads, and where their samples come from
  python run.py --json FILE          counts for each overload (docs/operators.md is made of it)
"""

import argparse
import collections
import fnmatch
import functools
import json
import pathlib
import os
import sys
import tempfile
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
from flambeau_torch import shared_values_to_flambeau, to_torch, values_to_flambeau, values_to_torch  # noqa: E402
from together import together  # noqa: E402

SHOWN = 12  # failing samples of one overload
FAILURES = 3  # of them in the results
PARTS = 60  # of the work, when several processes share it
NOT_THERE = "is not there"


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


def has(flambeau, name):
    return flambeau.ops.has(name) or flambeau.ops.has(name.removesuffix(".default"))


def call(flambeau, sample, convert=values_to_flambeau):
    """(what Flambeau gives, arguments after the call), or the exception."""
    namespace, rest = sample.name.split("::")
    base, _, kind = rest.partition(".")
    operator = getattr(getattr(getattr(flambeau.ops, namespace), base), kind)
    args, kwargs = convert(record.copied((sample.args, sample.kwargs)))
    flambeau.manual_seed(0)
    try:
        return operator(*args, **kwargs), args, kwargs
    except Exception as error:
        return error


def said(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def run(flambeau, sample):
    """What is wrong with Flambeau's answer to a sample; None where nothing is."""
    if not has(flambeau, sample.name):
        return NOT_THERE
    made = call(flambeau, sample)
    if isinstance(made, Exception):
        return said(made)
    ours, args, kwargs = made
    return compare.first_difference(sample, values_to_torch(leaves_to_torch(ours)), args, kwargs)


def run_refused(flambeau, sample):
    """What is wrong with how Flambeau takes a call that PyTorch refuses; None where it refuses it too."""
    if not has(flambeau, sample.name):
        return NOT_THERE
    made = call(flambeau, sample, functools.partial(shared_values_to_flambeau, flambeau))
    if not isinstance(made, Exception):
        return f"was taken; PyTorch says {' '.join(sample.outputs.split())[:300]}"
    # Arguments that do not fit the schema are a TypeError, as everywhere in Python.
    refused = isinstance(made, TypeError) or isinstance(made, flambeau.Error) and made.code != "internal"
    return None if refused else said(made)


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
        sys.exit(f"opinfo: no operator of PyTorch's samples or of Flambeau is meant by {' '.join(options.op)}")
    judge = run_refused if options.errors else run
    for sample in choose.samples(list(outcomes), options.dtype, counts(options), all_units(options) if units is None else units):
        outcome = outcomes[sample.name]
        if options.trace:
            print(compare.call_text(sample), flush=True)
        wrong = judge(flambeau, sample)
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


def counts(options):
    return record.ALL if options.all else record.FEW if options.few else record.MANY


def all_units(options):
    chosen = matching(options.op)
    return choose.refusal_units(chosen) if options.errors else choose.units(chosen)


def run_together(flambeau, options, folder):
    """Outcomes of all parts, of which every process that calls this with the same folder takes some."""
    units = all_units(options)

    def run_part(number):
        return as_json(run_all(flambeau, options, units[number::PARTS]))

    outcomes = {name: Outcome() for name in matching(options.op)}
    for part in together(folder, PARTS, run_part):
        for name, of_part in part["operators"].items():
            outcomes[name].add_counts(of_part)
    return outcomes


def run_jobs(flambeau, options):
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for _ in range(options.jobs - 1):
            if (child := os.fork()) == 0:
                run_together(flambeau, options, pathlib.Path(folder) / "opinfo")
                os._exit(0)
            children.append(child)
        outcomes = run_together(flambeau, options, pathlib.Path(folder) / "opinfo")
        for child in children:
            os.waitpid(child, 0)
    return outcomes


def as_json(outcomes):
    return {
        "torch": torch.__version__,
        "operators": {
            name: {"samples": o.samples, "passed": o.passed, "types": dict(o.types), "failures": o.failures} for name, o in outcomes.items()
        },
    }


def summary(outcomes, with_unsampled=True):
    """Lines: overloads that do not pass, those without a sample, operators that are not there, the sum."""
    lines, operators = [], collections.defaultdict(Outcome)
    for name, o in outcomes.items():
        operators[scope.functional(name)].samples += o.samples
        operators[scope.functional(name)].passed += o.passed
        if o.passed < o.samples and not is_missing(o):
            bad = [f"{kind} {good}/{of}" for kind, (good, of) in o.types.items() if good < of]
            whole = " (every type)" if len(bad) == len(o.types) and len(bad) > 1 and o.passed == 0 else ": " + ", ".join(bad)
            lines.append(f"{name:48} {o.passed:5}/{o.samples:<5}{whole}")
    if without := [name for name, o in outcomes.items() if not o.samples and with_unsampled]:
        lines.append(f"no samples ({len(without)}): {' '.join(without)}")
    if missing := [name for name, o in outcomes.items() if is_missing(o)]:
        lines.append(f"not there ({len(missing)}): {' '.join(missing)}")
    sampled = [o for o in operators.values() if o.samples]
    total, passed = sum(o.samples for o in sampled), sum(o.passed for o in sampled)
    lines.append(
        f"{passed}/{total} samples pass ({100 * passed / max(1, total):.2f}%); of {len(sampled)} operators "
        f"{sum(o.passed == o.samples for o in sampled)} are whole, {sum(0 < o.passed < o.samples for o in sampled)} are not whole, "
        f"{sum(o.passed == 0 for o in sampled)} are at zero"
    )
    return lines


def is_missing(outcome):
    return bool(outcome.failures) and outcome.failures[0].endswith(NOT_THERE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", action="append", default=[], metavar="NAME")
    parser.add_argument("--dtype", action="append", default=[])
    parser.add_argument("-v", "--verbose", action="store_true")
    for flag in ("--fail-fast", "--all", "--few", "--errors", "--trace", "--list"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    if options.list:
        for name in matching(options.op):
            print(f"{name:48} {'by hand' if name in by_hand.SAMPLES else ' '.join(scope.infos(name)) or 'derived'}")
        return 0
    import faulthandler

    import flambeau

    faulthandler.enable()
    start = time.time()
    outcomes = run_jobs(flambeau, options) if options.jobs > 1 else run_all(flambeau, options)
    print("\n".join(summary(outcomes, with_unsampled=not options.errors)), f"in {time.time() - start:.1f} s")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(as_json(outcomes), indent=1))
    return 0 if all(o.passed == o.samples for o in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
