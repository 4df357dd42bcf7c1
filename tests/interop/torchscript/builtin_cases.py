#!/usr/bin/env python3
"""Calls of the operators that only TorchScript has, with PyTorch's answers: samples made from the schemas.

    builtin_cases.py OUT.pt [--only NAME] [--samples N] [--names FILE]

Each call is a graph of that one operator, so that what Python cannot call is called, too. A case is a dict of `op`
("aten::add.int"), `types` (of the inputs), `args`, `written` (which inputs the operator writes) and `result` (a tuple of
the operator's results and the written inputs afterwards) or `error`. script_builtins makes the same calls."""

import argparse
import itertools
import math
import random
import re
import warnings

import torch

warnings.simplefilter("ignore")
torch._C._jit_set_profiling_executor(False)
torch._C._set_graph_executor_optimize(False)

INTS = [0, 1, -1, 2, 3, -3, 5, 7, -7, 10, 64, 100, 255, -128, 1000, 2**31, -2**31, 2**40, 2**53 + 1, 2**63 - 1, -2**63]
SMALL = [0, 1, -1, 2, 3, -2, 5, -5, 10, 4, 1, 2, 0]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 3.5, 0.1, 3.7, -3.7, 1e10, 1e-10, 1e20, 123456.789, 1e300, 5e-324,
          math.inf, -math.inf, math.nan]
COMPLEX = [0j, 1j, 1 + 2j, -1.5 + 0.5j, 2 - 3j, 0.1 + 0j, -2 + 0j, 1e5 - 1e-5j, complex(0.0, -1.0)]
STRINGS = ["", "a", "abc", "ABC", "aXbXc", "Hello World", "  x y  ", "123", "-7", "0.5", "1e3", "é", "a\tb\n", "aaa",
           "Abc Def", "_x1", "\r\nx\x0b", " ", "a,b,,c", "ab" * 5, "{} and {}", "100%", "inf", "nan", " 12", "0x10"]
DTYPES = [6, 7, 4, 3, 11, 0, 5, 15, 9]


def tensors(rng):
    return rng.choice([
        torch.tensor(rng.choice([1, 0, 5, -3])), torch.tensor(rng.choice([0.5, -2.0, 0.0])), torch.tensor(True),
        torch.tensor([1.5, -2.0, 3.25]), torch.arange(6).reshape(2, 3), torch.tensor([]), torch.tensor([[1.0, 2.0]]).t(),
        torch.tensor([7]), torch.tensor([2.5]), torch.tensor(1 + 2j), torch.tensor([True, False]),
        torch.zeros(2, 0, 3), torch.tensor([1, 2, 3], dtype=torch.int32), torch.randn(2, 3, 4, 5).to(torch.float64)])


def scalar(kind, rng, name=""):
    if kind == "int":
        if name == "dtype":
            return rng.choice(DTYPES)
        small = name in ("dim", "start", "end", "step", "idx", "index", "n", "width", "max", "tabsize", "times", "i")
        return rng.choice(SMALL if small else INTS)
    return {"float": lambda: rng.choice(FLOATS), "bool": lambda: rng.choice([True, False]),
            "complex": lambda: rng.choice(COMPLEX), "str": lambda: rng.choice(STRINGS),
            "Tensor": lambda: tensors(rng), "Device": lambda: torch.device(rng.choice(["cpu", "meta"])),
            "Scalar": lambda: rng.choice([rng.choice(INTS), rng.choice(FLOATS)]),
            "ScalarType": lambda: rng.choice(DTYPES), "MemoryFormat": lambda: rng.choice([0, 2, 3]),
            "Any": lambda: rng.choice([1, 2.5, "x"]), "NoneType": lambda: None}[kind]()


def unwrapped(text):
    """The inside of the outermost brackets: "a, b" -> ["a", "b"]."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + ([part.strip()] if part.strip() else [])


def sample(type_text, rng, name=""):
    t = type_text
    if t.endswith("?"):
        return None if rng.random() < 0.35 else sample(t[:-1], rng, name)
    if t.endswith("[]"):
        return [sample(t[:-2], rng, name) for _ in range(rng.choice([0, 1, 2, 3, 4, 6]))]
    if t.startswith("Dict("):
        key, value = unwrapped(t[5:-1])
        return {sample(key, rng): sample(value, rng) for _ in range(rng.choice([0, 1, 2, 4]))}
    if t.startswith("("):
        return tuple(sample(part, rng) for part in unwrapped(t[1:-1]))
    return scalar(t, rng, name)


def concrete(type_text, variables):
    """The schema's type with its variables replaced, and sizes of lists dropped."""
    text = re.sub(r"\[\d+\]", "[]", type_text).replace("SymInt", "int")
    for variable, bound in variables.items():
        text = re.sub(rf"\b{variable}\b", bound, text)
    return text


def graph_type(type_text):
    return type_text.replace("ScalarType", "int").replace("MemoryFormat", "int").replace("Layout", "int")


# What would end or hang PyTorch's process.
def kills(op, args):
    name = op.split("::")[1]
    if name in ("remainder.int", "__round_to_zero_floordiv.int", "floordiv.int", "divmod.int") and len(args) == 2:
        return args[1] == 0 or args[1] == -1
    if name in ("remainder", "floordiv") and all(isinstance(a, int) for a in args):
        return args[1] in (0, -1)
    if name in ("gcd.int", "__range_length"):
        return any(abs(a) >= 2**62 for a in args) or (name == "__range_length" and args[2] == 0)
    if name in ("__lshift__.int", "__rshift__.int"):
        return not 0 <= args[1] < 64
    if name == "factorial.int":
        return not -3 < args[0] < 60
    if name in ("count", "replace", "rsplit", "split.str"):
        return args[1] == ""
    if name in ("center", "ljust", "rjust", "zfill", "expandtabs", "mul.left_t", "mul.right_", "mul_.t", "prim::rangelist"):
        return any(isinstance(a, int) and not -1 <= a < 50 for a in args) or (name == "center" and args[1] < 0)
    if name == "rangelist":
        return not -3 < args[0] < 50
    if name in ("Int.float", "Int.Scalar", "floor.float", "ceil.float", "floor.Scalar", "ceil.Scalar", "Int.Tensor"):
        return any(isinstance(a, float) and not abs(a) < 2**62 for a in args)
    if name == "ldexp":
        return not abs(args[1]) < 3000
    if name in ("neg.int", "abs.int", "hex", "oct", "bin", "neg.Scalar", "abs.Scalar"):
        return args[0] == -2**63
    if name in ("sort.float", "sorted.float"):
        return any(math.isnan(a) for a in args[0])
    if name.startswith("to.prim_"):  # None is read as no type at all
        return args[-1] and args[-3] is None
    if name.endswith("hacked_twin"):  # indices of the wrong kind or number, which PyTorch asserts on
        return any(t.dtype not in (torch.int64, torch.bool) or t.dim() == 0 for t in args[1]) or not args[1]
    if name == "_tensor_to_list":
        return args[0].dtype != torch.int32 or args[0].dim() != 1
    if name == "pop.t" or name == "Delete.t":
        return not args[0]
    return False


SKIPPED = re.compile(
    r"^(prim::(MKLDNN|Autograd|profile|Fus|Tensor[E]|Static|rpc|BailOut|Bailout|Guard|TypeCheck|Requires|oneDNN|mkldnn|Diff"
    r"|Fallback|Python|Ignored|MM|Chunk|ConstantChunk|ConstantMKLDNN|Broadcast|AddStat|TimePoint|Print|RaiseException|id"
    r"|grad|name|Uninitialized|awaitable|ReductionSizes|unchecked_cast|TupleUnpack|tolist|ModuleContainer|Enum|IfThenElse|VarConcat|VarStack)"
    r"|aten::(backward|grad|dist_|save|warn|seed|manual_seed|Generator|initial_seed|wait|to_here|local_value|owner|is_owner"
    r"|confirmed|hash|_get_cpu|has_torch_function|einsum\.sublist|cuda|get_autocast|is_autocast|set_grad|is_grad|_no_grad"
    r"|_pack_sequence|is_scripting|_get_tracing|__is__|__isnot__|eq\.enum|ne\.enum|dequantize|_unwrap_optional|_grad_sum"
    r"|_ncf|percentFormat|to\.prim_other|device\.with_index|sort\.any|sorted\.any|__interpolate|__upsample)|onnx::|profiler::)")


def schemas():
    dispatched = set(torch._C._dispatch_get_all_op_names())
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        if name not in dispatched and not SKIPPED.match(name):
            yield name, str(schema)


def parsed(text):
    """(arguments as (type, name, written), results) of a schema's text; None where it has "..."."""
    inside, results = re.fullmatch(r"[^(]*\((.*)\) -> (.*)", text).groups()
    if "..." in inside or "..." in results:
        return None
    arguments = []
    for part in unwrapped(inside):
        if part == "*":
            continue
        part = part.split("=")[0].strip()
        kind, name = part.rsplit(" ", 1)
        written = "!" in kind
        kind = re.sub(r"\(([a-z]\d?)(!?)( -> [^)]*)?\)", "", kind)
        arguments.append((kind, name, written))
    results = re.sub(r"\((\*|[a-z](\|[a-z])*!?)\)", "", results)
    if results == "()":
        outputs = []
    elif results.startswith("((") and results.endswith(")"):
        outputs = [results[1:-1]]
    elif results.startswith("(") and results.endswith(")"):
        outputs = unwrapped(results[1:-1])
    else:
        outputs = [results]
    return arguments, outputs


def vararg_cases(name):
    if name != "aten::format":
        return
    for args in [("{}", 1), ("{} {}", 0.1, "x"), ("{:.2f}", 1.0), ("a", ), ("{}{}", True, None), ("{}", [1.0, 2.0]),
                 ("{}", {"a": 1.5}), ("{}", (1, "a")), ("{}", 2 + 3j), ("{} {}", 1), ("{}", 1, 2), ("{}", -0.0),
                 ("{}", torch.tensor([1.5, 2.0])), ("{}", torch.tensor(3)), ("{}", [1, 2]), ("{}", 1e20), ("{}", 1e15),
                 ("{}", math.nan), ("{}", 5e-324), ("{}", torch.arange(30).reshape(2, 3, 5)), ("{}", ["a", "b"]),
                 ("{}", torch.tensor([[1e-5, 2e5], [3.0, 4.5]])), ("{}", torch.tensor([1e7, 2.5])),
                 ("{}", torch.randn(3, 40, generator=torch.Generator().manual_seed(0)))]:
        yield args


def type_of(value):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, list):
        return (type_of(value[0]) if value else "int") + "[]"
    if isinstance(value, dict):
        key, held = next(iter(value.items()))
        return f"Dict({type_of(key)}, {type_of(held)})"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(type_of, value)) + ")"
    return {int: "int", float: "float", str: "str", complex: "complex", type(None): "NoneType"}.get(type(value), "Tensor")


def make_function(name, types, written, outputs):
    inputs = ", ".join(f"%a{i} : {graph_type(t)}" for i, t in enumerate(types))
    results = ", ".join(f"%r{i} : {graph_type(t)}" for i, t in enumerate(outputs))
    given = ", ".join(f"%a{i}" for i in range(len(types)))
    kept = [f"%r{i}" for i in range(len(outputs))] + [f"%a{i}" for i in written]
    kinds = [graph_type(t) for t in outputs] + [graph_type(types[i]) for i in written]
    symbol = name.split(".")[0]
    text = f"graph({inputs}):\n  {results + ' = ' if outputs else ''}{symbol}({given})\n"
    text += f"  %t : ({', '.join(kinds)}) = prim::TupleConstruct({', '.join(kept)})\n  return (%t)\n"
    return torch._C._create_function_from_graph("f", torch._C.parse_ir(text))


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, tuple):
        return tuple(copied(item) for item in value)
    if isinstance(value, dict):
        return {copied(key): copied(held) for key, held in value.items()}
    return value


def answer(case, function):
    given = [copied(value) for value in case["args"]]
    try:
        case["result"] = function(*given)
    except Exception as error:  # noqa: BLE001
        case["error"] = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
    return case


def cases_of(name, text, samples, rng):
    found = parsed(text)
    if found is None:
        for args in vararg_cases(name):
            types = [type_of(value) for value in args]
            yield answer({"op": name, "types": types, "args": list(args), "written": []},
                         make_function(name, types, [], ["str"]))
        return
    arguments, outputs = found
    variables = sorted(set(re.findall(r"\b(t|tVal|t1|t2)\b", " ".join(kind for kind, _, _ in arguments))))
    bindings = [dict(zip(variables, chosen)) for chosen in itertools.product(["int", "str", "float", "Tensor"], repeat=len(variables))]
    functions = {}
    made = tries = 0
    while made < samples and tries < samples * 20:
        tries += 1
        variables = rng.choice(bindings)
        if name.startswith(("aten::tensor", "aten::as_tensor")) and variables:
            variables = rng.choice([{"t": "int"}, {"t": "float"}, {"t": "bool"}, {"t": "float[]"}, {"t": "int[]"}])
        types = [concrete(kind, variables) for kind, _, _ in arguments]
        args = [sample(t, rng, argument[1]) for t, argument in zip(types, arguments)]
        if any(t.startswith(("Dict(Tensor", "(Tensor")) for t in types) or any("AnyEnum" in t or "AnyClass" in t for t in types):
            return
        # What is looked for is often there.
        if len(args) > 1 and isinstance(args[0], (list, dict)) and args[0] and rng.random() < 0.5:
            key = rng.choice(list(args[0]))
            if type_of(key) == types[1]:
                args[1] = key
        if kills(name, args):
            continue
        written = [i for i, argument in enumerate(arguments) if argument[2]]
        case = {"op": name, "types": [graph_type(t) for t in types], "args": args, "written": written}
        key = tuple(types)
        try:
            if key not in functions:
                functions[key] = make_function(name, types, written, [concrete(t, variables) for t in outputs])
        except RuntimeError as error:
            print(f"{name} {types}: {str(error).splitlines()[0]}")
            return
        answer(case, functions[key])
        if "codec can't decode" in case.get("error", ""):  # half a character, which Python cannot show
            continue
        yield case
        made += 1


def make(samples, only=""):
    cases = []
    for name, text in sorted(schemas()):
        if only in name:
            rng = random.Random(name)
            torch.manual_seed(0)
            cases += cases_of(name, text, samples, rng)
    return cases


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--only", default="")
    parser.add_argument("--samples", type=int, default=20)
    options = parser.parse_args()
    made = make(options.samples, options.only)
    torch.save(made, options.out)
    print(f"{len(made)} calls of {len({case['op'] for case in made})} operators")
