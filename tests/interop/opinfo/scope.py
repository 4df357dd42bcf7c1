"""Which operators the samples are for, and where samples of them are.

scope.txt has a line "namespace::name.overload" for each; sources.json says for most of them which OpInfos call it, and whether it
is what an OpInfo is about (true) or a step on the way (false).

python scope.py  makes both anew, which takes a minute. In scope are all overloads that programs can hold, of all names in real models, in the export cases
that PyTorch documents and in the tiny models beside (../models/operators.txt), with their in-place and out= forms.
"""

import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PATH, SOURCES = HERE / "scope.txt", HERE / "sources.json"


def operators():
    """Every overload in scope, in the order of the file."""
    return [line for line in PATH.read_text().splitlines() if line and not line.startswith("#")]


def sources():
    return json.loads(SOURCES.read_text())


def names():
    """Names of operators that were seen, without overload."""
    found = set()
    fixtures = pathlib.Path(os.environ.get("FLAMBEAU_FIXTURES", ROOT.parent / "shared/fixtures"))
    for path in (fixtures / "operators-seen.tsv", HERE.parent / "models/operators.txt"):
        found |= set(re.findall(r"^aten\.(\w+)\.", path.read_text(), re.M))
    return found


# Few models hold these, but sizes that depend on data, and random numbers, cannot do without.
MORE = {
    "sym_size", "sym_numel", "sym_stride", "sym_storage_offset", "sym_constrain_range", "sym_constrain_range_for_size", "_assert_async",
    "_assert_scalar", "rand", "randn", "randint", "randperm", "bernoulli", "native_dropout", "rand_like", "randn_like", "uniform", "normal",
}  # fmt: skip

# Types that only an eager program in Python has, not an exported one.
NOT_EXPORTED = re.compile(r"Dimname|Generator\? generator(?!=None)|Stream|Storage|ConstQuantizerPtr|QScheme")


def make():
    import torch

    seen = names() | MORE
    # An operator in place makes the plain one needed: export turns the former into the latter.
    seen |= {name[:-1] for name in seen if name.endswith("_") and not name.startswith("__") and hasattr(torch.ops.aten, name[:-1])}
    seen |= {f"{name}_" for name in seen if not name.startswith("__") and hasattr(torch.ops.aten, f"{name}_")}
    lines = []
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        full = f"{schema.name}.{schema.overload_name or 'default'}"
        if schema.overload_name in ("dtype", "dtype_out") and name in ("mm", "bmm", "addmm", "baddbmm"):
            continue  # no kernel for a CPU
        if schema.name == f"aten::{name}" and name in seen and not NOT_EXPORTED.search(str(schema)):
            # TorchScript has more overloads, of numbers and lists, which are not operators of the dispatcher.
            if torch._C._dispatch_has_kernel(full.removesuffix(".default")):
                lines.append(full)
    head = "# operators whose samples are run, with all overloads that exported programs can hold; made by scope.py\n"
    PATH.write_text(head + "".join(f"{line}\n" for line in sorted(set(lines))))
    print(f"{len(lines)} overloads of {len({line.partition('.')[0] for line in lines})} operators")
    import record

    wanted = set(lines)
    found = record.sources(lambda op: record.overload_name(op) in wanted)
    entries = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    SOURCES.write_text("{\n" + ",\n".join(entries) + "\n}\n")


if __name__ == "__main__":
    sys.exit(make())
