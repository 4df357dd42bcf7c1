"""Which operators the samples are for, and where samples of them are.

In scope is what PyTorch has: every operator that an OpInfo of PyTorch calls on a CPU, and every one that Flambeau defines, with all overloads
that exported programs can hold, in place and with out= too. sources.json says which OpInfos call an overload, and how (record.sources).

python scope.py  makes sources.json anew, which takes some minutes; it changes with the version of PyTorch only
"""

import functools
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "sources.json"
INDIRECT = 4  # OpInfos for an operator that none is about

# Types that only an eager program in Python has, not an exported one.
NOT_EXPORTED = re.compile(r"Dimname|Generator\? generator(?!=None)|Stream|Storage|ConstQuantizerPtr|QScheme")
# The overload with another type of the results has no kernel for a CPU.
WITH_TYPE = {f"aten::{name}" for name in ("mm", "bmm", "addmm", "baddbmm")}


@functools.cache
def sources():
    """overload -> {"about", "beside" or "inside": OpInfos}"""
    return json.loads(SOURCES.read_text())


def infos(name):
    return [info for infos in sources().get(name, {}).values() for info in infos]


def base(name):
    return name.partition(".")[0]


def functional(name):
    """The name without what says that it works in place: "aten::add_.Tensor" and "aten::add" give "aten::add"."""
    name = base(name)
    return name if name.endswith("__") else name.removesuffix("_")


@functools.cache
def dispatched():
    """Every overload of aten that an exported program can hold, by the names of PyTorch's own objects."""
    import torch

    found = []
    for schema in torch._C._jit_get_all_schemas():
        full = f"{schema.name}.{schema.overload_name or 'default'}"
        if not schema.name.startswith("aten::") or NOT_EXPORTED.search(str(schema)):
            continue
        if schema.overload_name in ("dtype", "dtype_out") and schema.name in WITH_TYPE:
            continue
        # TorchScript has more overloads, of numbers and lists, which are not operators of the dispatcher.
        if torch._C._dispatch_has_kernel(full.removesuffix(".default")):
            found.append(full)
    return sorted(set(found))


@functools.cache
def ours():
    """The names that Flambeau has, without overload; none without its package."""
    try:
        import flambeau
    except ImportError:
        return frozenset()
    return frozenset(functional(name) for name in dispatched() if flambeau.ops.has(name.removesuffix(".default")))


@functools.cache
def operators():
    """Every overload in scope."""
    names = {functional(name) for name in sources()} | ours()
    return [name for name in dispatched() if functional(name) in names]


def make():
    import record

    wanted = set(dispatched())
    found = record.sources(lambda op: record.overload_name(op) in wanted)
    for name, infos in found.items():
        for way, most in (("about", None), ("beside", INDIRECT), ("inside", INDIRECT)):
            if chosen := [info for info, how in infos.items() if how == way][:most]:
                found[name] = {way: chosen}
                break
    entries = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    SOURCES.write_text("{\n" + ",\n".join(entries) + "\n}\n")
    print(f"{len(found)} overloads of {len({base(name) for name in found})} operators")


if __name__ == "__main__":
    sys.exit(make())
