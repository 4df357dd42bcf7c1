"""Makes docs/operators.md of what run.py --json wrote.

python table.py [RESULTS]   build/opinfo/results.json unless named
"""

import collections
import fnmatch
import json
import pathlib
import sys

import scope

ROOT = pathlib.Path(__file__).resolve().parents[3]
REASONS = pathlib.Path(__file__).resolve().parent / "not_done.txt"

HEAD = """# Operators

What PyTorch's own sample inputs say about every operator: the samples of `OpInfo`, of every type that it claims on a CPU, and samples by
hand for operators that have none (`tests/interop/opinfo`). Values, type, shape, strides, changed arguments
and shared memory must be PyTorch {torch}'s, within the tolerances of `torch.testing.assert_close` or the sample's own. A sample of an
operator that is not there fails.

{passed:,} of {samples:,} samples pass ({share:.2f}%), of {operators} operators with {overloads} overloads. This page is generated:

```
python tests/interop/opinfo/run.py --jobs 2 --json build/opinfo/results.json && python tests/interop/opinfo/table.py
```

| operator | overloads | types | samples | passed | notes |
|---|---|---|---:|---:|---|
"""

NOT_DONE = """
## Not there

Operators of PyTorch's `aten` that Flambeau does not have, {count} of {all}, and why:

"""
NOT_YET = "Not done yet"

SHORT = {"float": "f", "bfloat": "bf", "uint": "u", "int": "i", "complex": "c"}
ORDER = ["bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
ORDER += ["complex32", "complex64", "complex128"]


def short(name):
    for long, letter in SHORT.items():
        if name.startswith(long) and name[len(long) :].isdigit():
            return letter + name[len(long) :]
    return name


def rows(results):
    operators = collections.defaultdict(dict)
    for name, counts in results["operators"].items():
        base, _, overload = name.partition(".")
        operators[base][overload] = counts
    for base in sorted(operators, key=lambda name: name.removeprefix("aten::").strip("_")):
        overloads = operators[base]
        samples = sum(counts["samples"] for counts in overloads.values())
        passed = sum(counts["passed"] for counts in overloads.values())
        good, all_types = set(), set()
        for counts in overloads.values():
            all_types |= set(counts["types"])
            good |= {kind for kind, (right, of) in counts["types"].items() if right}
        types = [short(kind) for kind in sorted(good, key=lambda kind: ORDER.index(kind) if kind in ORDER else 99)]
        notes = []
        if samples and not passed and scope.functional(base) not in scope.ours():
            notes.append("not there")
        elif missing := sorted(all_types - good):
            notes.append("no sample of " + ", ".join(map(short, missing)))
        if untested := sorted(overload for overload, counts in overloads.items() if not counts["samples"]):
            notes.append("no samples for " + ", ".join(untested))
        if weak := sorted(overload for overload, counts in overloads.items() if 0 < counts["samples"] != counts["passed"] and passed):
            notes.append("not whole: " + ", ".join(weak))
        yield f"| `{base.removeprefix('aten::')}` | {', '.join(sorted(overloads))} | {' '.join(types)} | {samples} | {passed} | {'; '.join(notes)} |"


def reasons():
    """(pattern of a name, reason) of not_done.txt, in its order."""
    reason = None
    for line in REASONS.read_text().splitlines():
        if line.startswith(" "):
            yield from ((pattern, reason) for pattern in line.split())
        elif line and not line.startswith("#"):
            reason = line


def not_done():
    """reason -> names of aten that are not there; the in-place form of an operator is no name of its own."""
    found, known = collections.defaultdict(list), list(reasons())
    for name in sorted({scope.functional(name) for name in scope.dispatched()} - scope.ours()):
        name = name.removeprefix("aten::")
        found[next((reason for pattern, reason in known if fnmatch.fnmatchcase(name, pattern)), NOT_YET)].append(name)
    return dict(sorted(found.items(), key=lambda group: (group[0] != NOT_YET, group[0])))


def not_done_text():
    groups = not_done()
    every = len({scope.functional(name) for name in scope.dispatched()})
    lines = [f"- {reason} ({len(names)}): {', '.join(f'`{name}`' for name in names)}" for reason, names in groups.items()]
    return NOT_DONE.format(count=sum(map(len, groups.values())), all=every) + "\n".join(lines) + "\n"


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/opinfo/results.json"
    results = json.loads(path.read_text())
    counts = results["operators"].values()
    samples, passed = sum(c["samples"] for c in counts), sum(c["passed"] for c in counts)
    lines = list(rows(results))
    head = HEAD.format(
        torch=results["torch"].partition("+")[0], samples=samples, passed=passed, share=100 * passed / max(1, samples),
        operators=len(lines), overloads=len(counts),
    )
    (ROOT / "docs/operators.md").write_text(head + "\n".join(lines) + "\n" + not_done_text())
    print(f"docs/operators.md: {len(lines)} operators, {passed}/{samples} samples")


if __name__ == "__main__":
    main()
