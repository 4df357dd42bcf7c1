"""Exports a call of every operator with a first dimension that may vary, and runs the programs in PyTorch.

  python run_export.py                    all functional overloads: what fails by class, what is fixed, the sum
  python run_export.py --op softmax -v    one operator, with every failing sample; repeatable; patterns as run.py takes them
  python run_export.py --beside           also exports with PyTorch what is not free here: whether it is there
  python run_export.py --jobs 2           so many processes
  python run_export.py --few              fewer samples, as the test does
  python run_export.py --json FILE        all that failed, and all that is fixed, one by one

Samples are those of run.py, of float32, or of another type where there is no such sample. A program must load and run in PyTorch with
the inputs of the sample and, where it leaves a first dimension free, with other sizes of it; results must be PyTorch's own, and as the
program's fake values promise. Fails where a sample does of which not_exported.txt does not say why.
"""

import argparse
import collections
import functools
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(path) for path in (HERE, HERE.parent) if str(path) not in sys.path]

import torch  # noqa: E402

import beside  # noqa: E402
import choose  # noqa: E402
import compare  # noqa: E402
import exported  # noqa: E402
import record  # noqa: E402
import run  # noqa: E402
from together import together  # noqa: E402

TYPES = [torch.float32, torch.complex64, torch.int64, torch.bool, torch.float64]  # the first of them that a sample has
VARYING, OTHERS = 8, 2  # samples of one overload and source: with a size that can vary, and without
PARTS = 60
CAUSES = HERE / "not_exported.txt"


def is_functional(name):
    op = choose.overload(name)
    return not op._schema.is_mutable and not name.endswith("out")


def varies(sample):
    return any(tensor.dim() and tensor.shape[0] > 1 for tensor in exported.inputs_of(sample))


def chosen(samples, few):
    """An even choice of the samples of one overload."""
    kinds = {sample.dtype for sample in samples}
    kind = next((kind for kind in TYPES if kind in kinds), samples[0].dtype)
    samples = [sample for sample in samples if sample.dtype == kind]
    varying = [sample for sample in samples if varies(sample)]
    others = [sample for sample in samples if not varies(sample)]
    return record.evenly(varying, 1 if few else VARYING) + record.evenly(others, (0 if varying else 1) if few else OTHERS)


def units(options):
    names = [name for name in run.matching(options.op) if is_functional(name)]
    return names, choose.units(run.matching(options.op))


def run_part(options, names, some):
    """Outcomes of some units, one by one."""
    wanted, found = set(names), []
    for unit in some:
        by_name = collections.defaultdict(list)
        for sample in choose.samples(names, (), record.FEW if options.few else record.MANY, [unit]):
            if sample.name in wanted:
                by_name[sample.name].append(sample)
        samples = [sample for of_one in by_name.values() for sample in chosen(of_one, options.few)]
        if options.few and unit[0] == "OpInfo":
            samples = [sample for sample in samples if is_main(sample.name, unit[1])]
        if samples:
            found += judged(options, samples)
    return found


def is_main(name, info):
    """Whether this is the first OpInfo that has samples of the operator."""
    return (run.scope.infos(name) or [info])[0] == info


def judged(options, samples):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        made = exported.export(samples, folder)
        for number, sample in enumerate(samples):
            outcome = {"name": sample.name, "type": compare.short(sample.dtype), "call": compare.call_text(sample), "free": "", "ran": ""}
            try:
                if made.returncode != 0 and not (folder / f"{number}.pt2").exists():
                    raise exported.Wrong("crash", f"{made.returncode} {made.stderr[-300:]}")
                outcome["free"], outcome["ran"] = exported.judge(sample, folder / f"{number}.pt2")
            except exported.Wrong as wrong:
                outcome |= {"kind": wrong.kind, "wrong": str(wrong)}
            except Exception as error:
                outcome |= {"kind": "judge", "wrong": f"{type(error).__name__}: {error}"}
            if options.beside and ("kind" in outcome or outcome["free"] == exported.FIXED):
                outcome["beside"] = beside.freedom(sample)
            if options.verbose and "kind" in outcome:
                print(f"  FAIL {outcome['call']}\n       {outcome['wrong']}", flush=True)
            found.append(outcome)
    return found


def run_together(options, folder):
    names, all_units = units(options)
    parts = together(folder, PARTS, lambda number: run_part(options, names, all_units[number::PARTS]))
    return [outcome for part in parts for outcome in part]


def run_jobs(options):
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for _ in range(options.jobs - 1):
            if (child := os.fork()) == 0:
                run_together(options, pathlib.Path(folder) / "exported")
                os._exit(0)
            children.append(child)
        outcomes = run_together(options, pathlib.Path(folder) / "exported")
        for child in children:
            os.waitpid(child, 0)
    return outcomes


@functools.cache
def causes():
    """overload -> why some of its samples fail."""
    found, reason = {}, None
    for line in CAUSES.read_text().splitlines():
        if line.startswith("  "):
            found |= {f"aten::{name}": reason for name in line.split()}
        elif line and not line.startswith("#"):
            reason = line
    return found


def is_unexplained(outcome):
    return "kind" in outcome and outcome["name"] not in causes()


def is_excused(outcome):
    """PyTorch does not export the call either, or does not load it, or not run it."""
    return "kind" in outcome and outcome.get("beside", "").startswith(beside.NOT)


def summary(outcomes):
    """Lines: failures by class, what is fixed here and free in PyTorch, the sum."""
    lines, classes, fixed = [], collections.defaultdict(collections.Counter), collections.Counter()
    for outcome in outcomes:
        if "kind" in outcome:
            suffix = ", nor by PyTorch" if is_excused(outcome) else ""
            classes[outcome["kind"] + suffix][outcome["name"]] += 1
        elif outcome["free"] == exported.FIXED and outcome.get("beside") == exported.FREE:
            fixed[outcome["name"]] += 1
    for kind, names in sorted(classes.items(), key=lambda item: -sum(item[1].values())):
        lines.append(f"{kind} ({sum(names.values())}): " + " ".join(f"{name.removeprefix('aten::')}*{count}" for name, count in names.most_common()))
    if fixed:
        lines.append(f"fixed, and free in PyTorch ({sum(fixed.values())}): " + " ".join(f"{name.removeprefix('aten::')}*{n}" for name, n in fixed.most_common()))
    free = collections.Counter(outcome["free"] for outcome in outcomes if outcome["free"])
    ran = collections.Counter(outcome["ran"].partition(":")[0] for outcome in outcomes if outcome["free"] == exported.FREE)
    lines.append("first dimension: " + ", ".join(f"{kind} {count}" for kind, count in free.most_common()))
    lines.append("of the free ones ran with: " + ", ".join(f"{kind} {count}" for kind, count in ran.most_common()))
    good = sum("kind" not in outcome for outcome in outcomes)
    excused = sum(map(is_excused, outcomes))
    names = {outcome["name"] for outcome in outcomes}
    whole = names - {outcome["name"] for outcome in outcomes if "kind" in outcome and not is_excused(outcome)}
    lines.append(
        f"{good} of {len(outcomes)} samples equal ({100 * good / max(1, len(outcomes)):.2f}%), {excused} that PyTorch cannot either; "
        f"{len(whole)} of {len(names)} overloads without a failure"
    )
    for cause, count in collections.Counter(causes().get(outcome["name"], "NOT EXPLAINED") for outcome in outcomes if "kind" in outcome).most_common():
        lines.append(f"  {count:4}  {cause}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.op:
        names, some = units(options)
        outcomes = run_part(options, names, some)
    else:
        outcomes = run_jobs(options)
    if options.json:
        notable = [o for o in outcomes if "kind" in o or o["free"] == exported.FIXED or o["ran"].startswith("refused")]
        options.json.write_text(json.dumps(notable, indent=1) + "\n")
    print("\n".join(summary(outcomes)))
    return 1 if any(map(is_unexplained, outcomes)) else 0


if __name__ == "__main__":
    sys.exit(main())
