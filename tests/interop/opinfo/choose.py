"""Where the samples of chosen operators come from: PyTorch's OpInfos, or by hand; recorded once, then kept."""

import collections
import functools
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(path) for path in (HERE, HERE.parent) if str(path) not in sys.path]

import by_hand  # noqa: E402
import cache  # noqa: E402
import kept  # noqa: E402
import record  # noqa: E402
import scope  # noqa: E402
from compare import short  # noqa: E402

SOURCES = tuple(HERE / name for name in ("choose.py", "kept.py", "record.py"))


@functools.cache
def overload(name):
    """torch.ops' own object: "aten::add.Tensor" gives torch.ops.aten.add.Tensor."""
    namespace, rest = name.split("::")
    base, _, kind = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), kind or "default")


def plan(chosen):
    """OpInfo -> (operators to record, operators to derive from their samples, operators to record inside of others)."""
    known, chosen_set = scope.sources(), set(chosen)
    plans = collections.defaultdict(lambda: (set(), set(), set()))
    about = collections.defaultdict(set)  # the OpInfos of every operator without overload
    siblings = collections.defaultdict(set)
    for name, ways in known.items():
        is_inside = "inside" in ways
        if not is_inside:
            about[scope.base(name)].update(scope.infos(name))
            siblings[scope.functional(name)].add(name)
        if name in chosen_set and not (is_inside and name in by_hand.SAMPLES):
            for info in scope.infos(name):
                plans[info][2 if is_inside else 0].add(name)
    for name in chosen:
        if name in known or name in by_hand.SAMPLES:
            continue
        for info in about.get(scope.base(name)) or about.get(scope.functional(name), ()):
            # The calls in place and with out= are recorded; where there is none it is derived from its siblings' samples.
            plans[info][0].update({name} | siblings[scope.functional(name)])
            plans[info][1].add(name)
    return plans, chosen_set


def units(chosen):
    """What samples come from, one by one: ("OpInfo", name, operators to record, operators to derive, operators to record inside of others),
    ("by hand", operator) or ("out", operator)."""
    plans, chosen = plan(chosen)
    found = [("OpInfo", info, *map(sorted, plans[info])) for info in sorted(plans)]
    found += [("by hand", name) for name in sorted(chosen & set(by_hand.SAMPLES))]
    with_info = {scope.base(name) for name, ways in scope.sources().items() if "inside" not in ways}
    found += [
        ("out", name)
        for name in sorted(chosen - set(by_hand.SAMPLES))
        if name.endswith("out") and scope.base(name) not in with_info and f"{scope.base(name)}.default" in by_hand.SAMPLES
    ]
    return found


def refusal_units(chosen):
    """("refused", OpInfo, operators): where PyTorch's samples of what it refuses are."""
    plans, _ = plan(chosen)
    return [("refused", name, sorted(plans[name][0])) for name in sorted(plans) if record.infos()[name].error_inputs_func is not None]


def recorded(unit, types, counts):
    """The samples of a unit, as PyTorch runs them."""
    kind, name, *plan = unit
    if kind == "OpInfo":
        info, wanted, derived, inside = record.infos()[name], set(plan[0]), [overload(op) for op in plan[1]], set(plan[2])
        for dtype in record.dtypes(info):
            if types and short(dtype) not in types:
                continue
            if wanted:
                yield from record.samples(name, info, dtype, lambda op: record.overload_name(op) in wanted, derived, counts)
            if inside:
                yield from record.inner_samples(name, info, dtype, lambda op: record.overload_name(op) in inside, counts)
        return
    if kind == "refused":
        wanted = set(plan[0])
        made = record.refusals(name, record.infos()[name], lambda op: record.overload_name(op) in wanted)
    elif kind == "by hand":
        made = by_hand.samples(overload(name), by_hand.SAMPLES[name])
    else:
        made = by_hand.with_out(overload(name))
    yield from (sample for sample in made if not types or short(sample.dtype) in types)


def entry(unit, types, counts):
    """The folder in which the samples of a unit are kept; those by hand are made again when the file changes in which they are written."""
    kind, name, *_ = unit
    place, sources, parameters = "opinfo", SOURCES, (*unit, *types)
    if kind == "OpInfo":
        parameters += (counts,)
    elif kind != "refused":
        source = by_hand.source(name if kind == "by hand" else f"{scope.base(name)}.default")
        place, sources = f"opinfo-{source.stem}", (*SOURCES, HERE / "by_hand.py", source)

    def make(folder):
        with record.quick_seeds():
            kept.write(folder, list(recorded(unit, types, counts)))

    return cache.entry(place, sources, parameters, make)


def samples(chosen, types=(), counts=record.MANY, some=None):
    """Every sample of the chosen overloads, or of some units of them."""
    chosen_set = set(chosen)
    for unit in units(chosen) if some is None else some:
        made = recorded(unit, types, counts) if counts == record.ALL else kept.read(entry(unit, types, counts), overload)
        yield from (sample for sample in made if sample.name in chosen_set)
