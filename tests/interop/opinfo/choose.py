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

SOURCES = tuple(HERE / name for name in ("by_hand.py", "choose.py", "kept.py", "record.py"))


@functools.cache
def overload(name):
    """torch.ops' own object: "aten::add.Tensor" gives torch.ops.aten.add.Tensor."""
    namespace, rest = name.split("::")
    base, _, kind = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), kind or "default")


def plan(chosen):
    """OpInfo -> (operators to record, operators to derive from their samples)."""
    known, chosen_set = scope.sources(), set(chosen)
    plans = collections.defaultdict(lambda: (set(), set()))
    about = {}  # the OpInfos of every operator without overload
    for name, infos in known.items():
        direct = [info for info, is_direct in infos.items() if is_direct] or list(infos)[:4]
        about.setdefault(name.partition(".")[0], set()).update(direct)
        if name in chosen_set:
            for info in direct:
                plans[info][0].add(name)
    for name in chosen:
        if name in known or name in by_hand.SAMPLES:
            continue
        base = name.partition(".")[0]
        for info in about.get(base) or about.get(base.removesuffix("_"), ()):
            # The calls in place and with out= are recorded; where there is none it is derived from its siblings' samples.
            plans[info][0].add(name)
            plans[info][0].update(o for o in known if o.partition(".")[0] in (base, base.removesuffix("_")))
            plans[info][1].add(name)
    return plans, chosen_set


def units(chosen):
    """What samples come from, one by one:
    ("OpInfo", name, operators to record, operators to derive), ("by hand", operator) or ("out", operator)."""
    plans, chosen = plan(chosen)
    found = [("OpInfo", info, *map(sorted, plans[info])) for info in sorted(plans)]
    found += [("by hand", name) for name in sorted(chosen & set(by_hand.SAMPLES))]
    with_info = {name.partition(".")[0] for name in scope.sources()}
    found += [
        ("out", name)
        for name in sorted(chosen - set(by_hand.SAMPLES))
        if name.endswith("out") and name.partition(".")[0] not in with_info
    ]
    return found


def recorded(unit, types, limit):
    """The samples of a unit, as PyTorch runs them."""
    kind, name, *plan = unit
    if kind == "OpInfo":
        info, wanted, derived = record.infos()[name], set(plan[0]), [overload(op) for op in plan[1]]
        for dtype in record.dtypes(info):
            if not types or short(dtype) in types:
                yield from record.samples(name, info, dtype, lambda op: record.overload_name(op) in wanted, derived, limit)
        return
    made = by_hand.samples(overload(name), by_hand.SAMPLES[name]) if kind == "by hand" else by_hand.with_out(overload(name))
    yield from (sample for sample in made if not types or short(sample.dtype) in types)


def keep(folder, unit, types):
    with record.quick_seeds():
        kept.write(folder, list(recorded(unit, types, limit=True)))


def samples(chosen, types=(), limit=True, some=None):
    """Every sample of the chosen overloads, or of some units of them."""
    chosen_set = set(chosen)
    for unit in units(chosen) if some is None else some:
        if limit:
            made = kept.read(cache.entry("opinfo", SOURCES, (*unit, *types), lambda folder: keep(folder, unit, types)), overload)
        else:
            made = recorded(unit, types, limit)
        yield from (sample for sample in made if sample.name in chosen_set)
