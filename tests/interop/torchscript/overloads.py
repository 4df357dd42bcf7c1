"""Calls of operators with arguments of many types: which overload they mean, and what is converted for it, is for PyTorch
to say."""

import pathlib
import random

import torch

# What may be given where a schema wants a type: itself, what converts to it, and what does not.
GIVEN = {
    "Tensor": ["Tensor", "Tensor", "Tensor", "Optional[Tensor]", "float"],
    "int": ["int", "int", "bool", "Tensor", "float", "number"],
    "float": ["float", "float", "int", "bool", "Tensor", "number"],
    "bool": ["bool", "bool", "int", "Tensor"],
    "complex": ["complex", "float", "Tensor"],
    "Scalar": ["int", "float", "complex", "bool", "Tensor", "number"],
    "str": ["str", "str", "int"],
    "Device": ["Device", "str"],
    "Any": ["int", "Tensor", "List[str]", "Optional[int]"],
    "t": ["int", "str", "Tensor", "List[int]", "Optional[Tensor]"],
    "int[]": ["List[int]", "List[int]", "int", "Tuple[int, int]", "Tensor", "List[float]"],
    "float[]": ["List[float]", "float", "Tuple[float, float]", "List[int]"],
    "bool[]": ["List[bool]", "bool"],
    "str[]": ["List[str]", "Tuple[str, str]", "str"],
    "Tensor[]": ["List[Tensor]", "List[Tensor]", "Tuple[Tensor, Tensor]", "Tensor", "List[Optional[Tensor]]"],
    "t[]": ["List[int]", "List[str]", "List[Tensor]", "Tuple[int, int]", "List[List[int]]"],
}
CALLEE = "the_operator"
NAMES = {"ScalarType": "int", "Layout": "int", "MemoryFormat": "int", "SymInt": "int"}
# They need a process group, a device that is not there, or what text of today cannot say.
LEFT_OUT = ("prim::", "profiler::", "cuda::", "rpc", "_c10d", "c10d", "onnx", "onednn", "mkldnn", "debugprims", "prims::")


def script_type(kind):
    """The name of a schema's type in GIVEN, and whether None will do."""
    text = str(kind)
    optional = text.startswith("Optional[")
    if optional:
        text = text[len("Optional[") : -1]
    depth = 0
    while text.startswith("List["):
        text, depth = text[len("List[") : -1], depth + 1
    if text.startswith("number"):
        text = "Scalar"
    return NAMES.get(text, text) + "[]" * depth, optional


def given_type(kind, chance, exact):
    name, optional = script_type(kind)
    choices = GIVEN.get(name)
    if choices is None:
        return None
    if optional and chance.random() < 0.2:
        return chance.choice(["None", f"Optional[{choices[0]}]"])
    return choices[0] if exact else chance.choice(choices)


def calls_of(schema, chance):
    """Some calls that are meant for the overload, or nearly."""
    for exact in (True, False, False):
        positional, keyword = [], []
        given_all = chance.random() < 0.5
        for argument in schema.arguments:
            if argument.has_default_value() and not (given_all and chance.random() < 0.7):
                given_all = False
                continue
            kind = given_type(argument.type, chance, exact)
            if kind is None:
                return
            if argument.kwarg_only or keyword or (chance.random() < 0.1 and positional):
                keyword.append((argument.name, kind))
            else:
                positional.append(kind)
        yield positional, keyword


def function_text(callee, positional, keyword):
    parameters, given = [], []
    for place, kind in enumerate(positional):
        parameters += [] if kind == "None" else [f"a{place}: {kind}"]
        given.append("None" if kind == "None" else f"a{place}")
    for place, (argument, kind) in enumerate(keyword):
        parameters += [] if kind == "None" else [f"k{place}: {kind}"]
        given.append(f"{argument}=" + ("None" if kind == "None" else f"k{place}"))
    return f"def f({', '.join(parameters)}):\n  return {callee}({', '.join(given)})\n"


def sample(count, seed):
    """Names of operators and texts of functions that call them, as CALLEE: each once before one is called again."""
    chance = random.Random(seed)
    # Other tests and libraries in the same process add operators of their own.
    table = pathlib.Path(__file__).resolve().parents[3] / "src/flambeau/value/schemas_2_13.txt"
    known = {line.partition("(")[0].partition(".")[0] for line in table.read_text().splitlines()}
    by_name = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name in known and not schema.name.startswith(LEFT_OUT) and schema.name.split("::")[1].isidentifier():
            by_name.setdefault(schema.name, []).append(schema)
    texts = {}
    names = sorted(by_name)
    while len(texts) < count:
        chance.shuffle(names)
        for name in names:
            # Overloads count by their number: that is where a call may go wrong.
            for schema in chance.sample(by_name[name], min(len(by_name[name]), 1 + len(by_name[name]) // 3)):
                for positional, keyword in calls_of(schema, chance):
                    texts[name, function_text(CALLEE, positional, keyword)] = None
            if len(texts) >= count:
                break
    return list(texts)[:count]


def nodes_of(block):
    for node in block.nodes():
        if node.kind() != "prim::Constant":
            schema = node.schema() if node.schema() != "(no schema)" else ""
            yield schema.split("(")[0] or node.kind()
        for inner in node.blocks():
            yield from nodes_of(inner)


def in_torch(name):
    """How archives and TorchScript's own text name the operator."""
    namespace, _, operator = name.partition("::")
    return f"torch.{operator}" if namespace == "aten" else f"torch.ops.{namespace}.{operator}"


STUBS = {}


def stub(name):
    """A callable of Python that means the operator to the compiler: not all have one."""
    if name not in STUBS:
        STUBS[name] = lambda: None
        torch.jit._builtins._register_builtin(STUBS[name], name)
    return STUBS[name]


def expected(name, text):
    """The nodes that PyTorch makes of it; nothing when it refuses."""
    unit = torch._C.CompilationUnit()
    try:
        unit.define(text, lambda used: stub(name) if used == CALLEE else None)
        graph = unit.find_function("f").graph
    except RuntimeError:
        return None
    return " ".join(nodes_of(graph))
