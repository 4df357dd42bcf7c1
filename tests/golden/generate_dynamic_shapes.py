"""Writes tests/golden/dynamic_shapes/cases.json: small models that ask about their sizes, exported with dynamic shapes,
and what torch.export says: constraints and guards, or the findings and the suggested fixes, and what comes of the fixes.
Run it with the Python that has PyTorch (2.13); the tests read only the file.

A case: sizes of the inputs, what is said of their dimensions (a name, 2*a + 1, AUTO, DYNAMIC(min=2), a literal), bounds
of the names, and the steps of the model: questions over x0 (the size 0 of x), "check ..." for torch._check, "size u0" for
torch._check_is_size, "item" for a number from data (u0, u1...), "int x0" for a size used as a number.
"""

import json
import logging
import pathlib
import re
import warnings

import torch
from torch.export import Dim, export
from torch.export.dynamic_shapes import refine_dynamic_shapes_from_suggested_fixes

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent / "dynamic_shapes"
HERE.mkdir(exist_ok=True)


class Model(torch.nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def run_steps(self, **inputs):
        values = {}
        for name, value in inputs.items():
            if isinstance(value, torch.Tensor):
                for i, size in enumerate(value.shape):
                    values[f"{name}{i}"] = size
            else:
                values[name] = value
        count = 0
        for step in self.steps:
            if step == "item":
                values[f"u{count}"] = inputs["w"][count].item()
                count += 1
            elif step.startswith("check "):
                torch._check(eval(step[6:], {"max": torch.sym_max, "min": torch.sym_min}, values))
            elif step.startswith("size "):
                torch._check_is_size(values[step[5:]])
            elif step.startswith("int "):
                int(eval(step[4:], {}, values))
            elif eval(step, {"max": torch.sym_max, "min": torch.sym_min}, values):
                pass
        return [value + 1 for value in inputs.values() if isinstance(value, torch.Tensor)]


def model_of(steps, names):
    model = Model(steps)
    scope = {}
    arguments = ", ".join(names)
    passed = ", ".join(f"{name}={name}" for name in names)
    exec(f"def forward(self, {arguments}):\n    return self.run_steps({passed})", scope)
    model.forward = scope["forward"].__get__(model)
    return model


def dim_of(text, bounds):
    hint = re.fullmatch(r"(AUTO|DYNAMIC|STATIC)(\((.*)\))?", text)
    if hint:
        result = getattr(Dim, hint[1])
        return result(**eval(f"dict({hint[3]})")) if hint[2] else result
    if text.isdigit():
        return int(text)
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    dims = {name: Dim(name, **dict(zip(("min", "max"), bounds.get(name, (None, None))))) for name in names}
    return eval(text, {}, dims)


def shapes_of(case):
    result = {}
    for name, value in case["inputs"].items():
        said = case["dims"].get(name)
        if said is None:
            result[name] = None
        elif isinstance(said, str):
            result[name] = dim_of(said, case.get("bounds", {}))
        else:
            result[name] = {int(i): dim_of(text, case.get("bounds", {})) for i, text in said.items()}
    return result


def bound(value):
    return None if "oo" in str(value) else int(value)


NOISE = " and [^ ]+ <= IntInfinity\\(\\)"


def findings_of(text):
    result = []
    for line in text.replace("Specializations unexpectedly", "\nSpecializations unexpectedly").split("\n"):
        line = line.strip()
        if m := re.match(r"- The values of (.*?) = \S+ and (.*?) = \S+ must always be equal", line):
            result.append(["equal", m[1], m[2]])
        elif m := re.match(r"- The values of (.*?) = \S+ must always be related .* by \1 = (.*)\.$", line):
            result.append(["related", m[1], m[2]])
        elif m := re.match(r"- Not all values of (.*?) = \S+ in the specified range.* satisfy the generated guard (.*)", line):
            guard = re.sub(NOISE, "", m[2].rstrip("."))
            result.append(["guard", m[1], re.sub(r"^2 <= \S+ and ", "", guard)])
        elif m := re.match(r"- You marked (.*?) as dynamic but your code specialized it to be a constant \((\d+)\)", line):
            result.append(["specialized", m[1], m[2]])
        elif m := re.match(r"- solving the guards generated for (.*?) = \S+ resulted in a specialized value of (\d+)", line):
            result.append(["forced", m[1], m[2]])
    return sorted(list(part) for part in set(map(tuple, result)))


def fixes_of(text):
    if "Suggested fixes:" not in text:
        return []
    block = text.split("Suggested fixes:")[1].split("\n\n")[0]
    fixes = [line.strip().replace(", max=oo", "") for line in block.strip().split("\n")]
    return [fix for fix in fixes if not re.search(r"= .*- _?[a-z]", fix)]  # a Dim cannot be subtracted


KINDS = [
    ("is not equal to", "unequal"),
    ("Expected input", "unequal"),
    ("not in range [", "outside"),
    ("Invalid ranges", "outside"),
    ("Static shape constraint", "literal"),
    ("Found the following conflicts", "conflict"),
    ("Expected derived min value", "negative"),
    ("data-dependent expression", "data"),
    ("Expected cond to be True", "check"),
    ("Found different definitions", "twice"),
]


def outcome(case, shapes):
    inputs = {}
    for name, value in case["inputs"].items():
        if name == "w":
            inputs[name] = torch.tensor([3, 8, 5])
        elif isinstance(value, int):
            inputs[name] = value
        else:
            inputs[name] = torch.randn(value)
            if name in case.get("transposed", []):
                inputs[name] = torch.randn(value[::-1]).t()
    try:
        program = export(
            model_of(case["steps"], list(inputs)),
            tuple(inputs.values()),
            dynamic_shapes=shapes,
            prefer_deferred_runtime_asserts_over_guards=case.get("deferred", False),
        )
    except Exception as error:
        text = str(error)
        if "Constraints violated" in text or "Specializations unexpectedly" in text:
            return {"status": "findings", "findings": findings_of(text), "fixes": fixes_of(text)}, text
        for part, kind in KINDS:
            if part in text:
                return {"status": kind}, text
        # A bug of PyTorch's own; there is nothing to compare with.
        print(f"{case['name']}: {type(error).__name__}: {text.splitlines()[0] if text else ''}")
        return {"status": "crash"}, text
    shapes = {}
    for node in program.graph.nodes:
        if node.op == "placeholder":
            value = node.meta["val"]
            if isinstance(value, torch.Tensor):
                shapes[node.name] = [str(size) for size in value.shape] + [str(stride) for stride in value.stride()]
            else:
                shapes[node.name] = [str(value)]
    assertions = [node.args[1] for node in program.graph.nodes if "_assert_scalar" in str(node.target)]
    assertions = [re.search("for expression (.*) on node", message)[1] for message in assertions]
    return {
        "status": "ok",
        "assertions": assertions,
        "ranges": {str(k): [bound(v.lower), bound(v.upper)] for k, v in program.range_constraints.items()},
        "guards": program._guards_code,
        "shapes": shapes,
    }, ""


def run(case):
    shapes = shapes_of(case)
    expected, text = outcome(case, shapes)
    case["expected"] = expected
    if expected["status"] == "findings" and expected["fixes"]:
        try:
            refined = refine_dynamic_shapes_from_suggested_fixes(text.split("\n\nThe error above")[0].strip(), shapes)
            case["fixed"] = outcome(case, refined)[0]
        except Exception as error:
            case["fixed"] = {"status": "refused"}
    return case


A4 = {"x": [4, 3]}
X6 = {"x": [6, 3]}
XY = {"x": [4, 3], "y": [4, 3]}
X4Y8 = {"x": [4, 3], "y": [8, 3]}
a = {"x": {"0": "a"}}
ab = {"x": {"0": "a"}, "y": {"0": "b"}}
aa = {"x": {"0": "a"}, "y": {"0": "a"}}
auto = {"x": {"0": "AUTO"}}
auto2 = {"x": {"0": "AUTO"}, "y": {"0": "AUTO"}}
dyn = {"x": {"0": "DYNAMIC"}}
dyn2 = {"x": {"0": "DYNAMIC"}, "y": {"0": "DYNAMIC"}}
W = {"x": [9, 3], "w": [3]}

CASES = [
    # one name
    ("a name alone", A4, a, {}, []),
    ("a name with bounds", A4, a, {"a": [2, 16]}, []),
    ("bounds that hold the question", A4, a, {"a": [4, 16]}, ["x0 > 3"]),
    ("the example at its own lower bound", A4, a, {"a": [4, None]}, ["x0 >= 4"]),
    ("the example at its own upper bound", A4, a, {"a": [None, 4]}, ["x0 <= 4"]),
    ("the example below its range", A4, a, {"a": [5, None]}, []),
    ("the example above its range", A4, a, {"a": [None, 3]}, []),
    ("a range without sizes", A4, a, {"a": [0, 1]}, []),
    ("minimum 1", A4, a, {"a": [1, None]}, []),
    ("needs a minimum", A4, a, {}, ["x0 > 3"]),
    ("needs a maximum", A4, a, {}, ["x0 < 7"]),
    ("needs both", A4, a, {}, ["x0 > 3", "x0 <= 10"]),
    ("needs a maximum within bounds", A4, a, {"a": [3, 100]}, ["x0 < 50"]),
    ("needs a minimum of a multiple", A4, a, {}, ["2*x0 > 7"]),
    ("needs a minimum of a sum", A4, a, {}, ["x0 + 5 > 8"]),
    ("is a constant", A4, a, {}, ["x0 == 4"]),
    ("is a constant by a product", A4, a, {}, ["3*x0 == 12"]),
    ("is a constant by its bounds", A4, a, {}, ["x0 > 3", "x0 < 5"]),
    ("is used as a number", A4, a, {}, ["int x0"]),
    ("is not a number", A4, a, {}, ["x0 != 7"]),
    ("is not the other answer", A4, a, {}, ["x0 == 7"]),
    ("is a multiple", X6, a, {}, ["x0 % 3 == 0"]),
    ("is a multiple plus one", {"x": [7, 3]}, a, {}, ["x0 % 3 == 1"]),
    ("is no multiple", {"x": [7, 3]}, a, {}, ["x0 % 3 == 0"]),
    ("is a multiple of two numbers", {"x": [12, 3]}, a, {}, ["x0 % 3 == 0", "x0 % 4 == 0"]),
    ("is a multiple within bounds", X6, a, {"a": [4, 20]}, ["x0 % 2 == 0"]),
    ("a sum is a multiple", X6, a, {}, ["(x0 + 2) % 4 == 0"]),
    ("its double is a multiple", X6, a, {}, ["(2*x0) % 4 == 0"]),
    ("a quotient is a number", X6, a, {}, ["x0 // 2 == 3"]),
    ("a quotient is large", X6, a, {}, ["x0 // 2 > 2"]),
    ("a square is large", A4, a, {}, ["x0*x0 > 10"]),
    ("the answer is known", A4, a, {}, ["x0 > 1", "x0 >= 0", "x0 != 0", "x0 + 1 > 2"]),
    ("asked twice", A4, a, {}, ["x0 > 3", "x0 > 3", "x0 >= 4"]),
    ("an example of one", {"x": [1, 3]}, a, {}, []),
    ("an example of zero", {"x": [0, 3]}, a, {}, []),
    ("an example of one in its bounds", {"x": [1, 3]}, a, {"a": [1, 8]}, []),
    ("large and not a number", A4, a, {}, ["x0 > 3", "x0 != 7"]),
    ("large and a multiple", {"x": [8, 3]}, a, {}, ["x0 > 3", "x0 % 2 == 0"]),
    ("a multiple of itself", X6, a, {}, ["x0 % 6 == 0"]),
    # two names
    ("two names", X4Y8, ab, {}, []),
    ("two names that are equal", XY, ab, {}, ["x0 == y0"]),
    ("two names that are equal, with bounds", XY, ab, {"a": [2, 8], "b": [3, 9]}, ["x0 == y0"]),
    ("two names that are unequal", X4Y8, ab, {}, ["x0 == y0"]),
    ("one is twice the other", X4Y8, ab, {}, ["2*x0 == y0"]),
    ("one is the other plus four", X4Y8, ab, {}, ["x0 + 4 == y0"]),
    ("one is the other minus four", X4Y8, ab, {}, ["y0 - 4 == x0"]),
    ("both add up", X4Y8, ab, {}, ["x0 + y0 == 12"]),
    ("both add up to much", X4Y8, ab, {}, ["x0 + y0 > 10"]),
    ("one is less than the other", X4Y8, ab, {}, ["x0 < y0"]),
    ("one is more than the other", X4Y8, ab, {}, ["y0 > x0"]),
    ("their product is a number", X4Y8, ab, {}, ["x0*y0 == 32"]),
    ("their sum is a multiple", X4Y8, ab, {}, ["(x0 + y0) % 3 == 0"]),
    ("equal and large", XY, ab, {}, ["x0 == y0", "x0 > 3"]),
    ("equal and a multiple", {"x": [6, 3], "y": [6, 3]}, ab, {}, ["x0 == y0", "x0 % 3 == 0"]),
    ("one more than a multiple", {"x": [6, 3], "y": [7, 3]}, ab, {}, ["x0 % 3 == 0", "y0 == x0 + 1"]),
    ("equal and a constant", XY, ab, {}, ["x0 == y0", "y0 == 4"]),
    ("two answers make a constant", XY, ab, {}, ["x0 + y0 == 8", "x0 == y0"]),
    ("one follows from a maximum", X4Y8, ab, {}, ["y0 == max(x0, 8)"]),
    # the same name
    ("the same name", XY, aa, {}, []),
    ("the same name with another size", X4Y8, aa, {}, []),
    ("the same name, asked", XY, aa, {}, ["x0 == y0", "x0 > 2"]),
    ("the same name in one tensor", {"x": [4, 4]}, {"x": {"0": "a", "1": "a"}}, {}, []),
    ("the same name, one size asked", {"x": [4, 4]}, {"x": {"0": "a", "1": "a"}}, {}, ["x1 == 4"]),
    ("the same name three times", {"x": [4, 4], "y": [4]}, {"x": {"0": "a", "1": "a"}, "y": {"0": "a"}}, {"a": [2, 9]}, []),
    # derived
    ("twice", X4Y8, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {}, []),
    ("twice with bounds", X4Y8, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {"a": [2, 16]}, []),
    ("twice, but the example is not", {"x": [4, 3], "y": [9, 3]}, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {}, []),
    ("plus one", {"x": [4, 3], "y": [5, 3]}, {"x": {"0": "a"}, "y": {"0": "a + 1"}}, {}, []),
    ("the root comes later", {"x": [8, 3], "y": [4, 3]}, {"x": {"0": "2*a"}, "y": {"0": "a"}}, {}, []),
    ("minus one of what may be zero", {"x": [4, 3], "y": [3, 3]}, {"x": {"0": "a"}, "y": {"0": "a - 1"}}, {}, []),
    ("minus one", {"x": [4, 3], "y": [3, 3]}, {"x": {"0": "a"}, "y": {"0": "a - 1"}}, {"a": [3, 9]}, []),
    ("twice and asked", X4Y8, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {}, ["y0 == 2*x0"]),
    ("twice and large", X4Y8, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {}, ["x0 > 3"]),
    ("twice, and the derived one large", X4Y8, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {}, ["y0 > 7"]),
    ("twice, and a constant", X4Y8, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {}, ["y0 == 8"]),
    ("no root among the inputs", {"x": [8, 3]}, {"x": {"0": "2*a"}}, {}, []),
    ("no root, two derived", {"x": [8, 3], "y": [9, 3]}, {"x": {"0": "2*a"}, "y": {"0": "2*a + 1"}}, {}, []),
    ("no root, a multiple", {"x": [8, 3]}, {"x": {"0": "4*a"}}, {"a": [1, 9]}, ["x0 % 4 == 0"]),
    ("a multiple said and asked", X6, {"x": {"0": "3*a"}}, {}, ["x0 % 3 == 0"]),
    ("no root, bounds", {"x": [8, 3]}, {"x": {"0": "4*a"}}, {"a": [2, 9]}, ["x0 >= 8"]),
    ("three times and one", {"x": [4, 3], "y": [13, 3]}, {"x": {"0": "a"}, "y": {"0": "3*a + 1"}}, {"a": [2, 10]}, []),
    # hints
    ("AUTO", A4, auto, {}, []),
    ("AUTO, a constant", A4, auto, {}, ["x0 == 4"]),
    ("AUTO, large", A4, auto, {}, ["x0 > 3"]),
    ("AUTO, a multiple", X6, auto, {}, ["x0 % 3 == 0"]),
    ("AUTO, equal", XY, auto2, {}, ["x0 == y0"]),
    ("AUTO, twice", X4Y8, auto2, {}, ["2*x0 == y0"]),
    ("AUTO, compared", X4Y8, auto2, {}, ["x0 < y0", "x0 != 7", "x0 + y0 > 4"]),
    ("AUTO of one", {"x": [1, 3]}, auto, {}, []),
    ("AUTO with bounds", A4, {"x": {"0": "AUTO(min=2,max=16)"}}, {}, ["x0 > 3"]),
    ("AUTO with bounds that contradict", A4, {"x": {"0": "AUTO(max=3)"}}, {}, ["x0 > 3"]),
    ("AUTO in two dimensions", A4, {"x": {"0": "AUTO", "1": "AUTO"}}, {}, ["x0*x1 > 10"]),
    ("AUTO, divided", {"x": [8, 3]}, auto, {}, ["x0 % 2 == 0", "x0 // 2 > 3", "(x0 // 2) * 2 == x0"]),
    ("AUTO and a name that are equal", XY, {"x": {"0": "AUTO"}, "y": {"0": "b"}}, {}, ["x0 == y0"]),
    ("AUTO and a name, twice", X4Y8, {"x": {"0": "AUTO"}, "y": {"0": "b"}}, {}, ["2*x0 == y0"]),
    ("AUTO, transposed", {"x": [4, 3]}, {"x": {"0": "AUTO", "1": "AUTO"}}, {}, [], ["x"]),
    ("a name, transposed", {"x": [4, 3]}, a, {}, [], ["x"]),
    ("DYNAMIC", A4, dyn, {}, ["x0 > 2"]),
    ("DYNAMIC, a constant", A4, dyn, {}, ["x0 == 4"]),
    ("DYNAMIC, equal", XY, dyn2, {}, ["x0 == y0"]),
    ("DYNAMIC of one", {"x": [1, 3]}, dyn, {}, []),
    ("DYNAMIC with bounds", A4, {"x": {"0": "DYNAMIC(min=2,max=16)"}}, {}, ["x0 < 10"]),
    ("DYNAMIC with bounds that contradict", A4, {"x": {"0": "DYNAMIC(max=3)"}}, {}, ["x0 > 3"]),
    ("DYNAMIC with bounds of one size", A4, {"x": {"0": "DYNAMIC(max=4)"}}, {}, ["x0 > 3"]),
    ("STATIC", A4, {"x": {"0": "STATIC"}}, {}, ["x0 == 4"]),
    ("a literal", A4, {"x": {"0": "4"}}, {}, []),
    ("another literal", A4, {"x": {"0": "5"}}, {}, []),
    ("nothing", A4, {}, {}, ["x0 == 4"]),
    ("an integer, DYNAMIC", {"x": [4, 3], "n": 5}, {"x": {"0": "a"}, "n": "DYNAMIC"}, {}, ["n > 2"]),
    ("an integer, AUTO", {"x": [4, 3], "n": 5}, {"x": {"0": "AUTO"}, "n": "AUTO"}, {}, ["n == 5"]),
    ("an integer, static", {"x": [4, 3], "n": 5}, {"x": {"0": "a"}}, {}, ["n > 2"]),
    # data
    ("a number from data", W, {"x": {"0": "AUTO"}}, {}, ["item"]),
    ("a number from data, asked", W, {"x": {"0": "AUTO"}}, {}, ["item", "u0 > 3"]),
    ("a number from data, checked", W, {"x": {"0": "AUTO"}}, {}, ["item", "check u0 >= 2", "check u0 <= 7", "u0 > 1"]),
    ("a number from data, checked against a size", W, {"x": {"0": "a"}}, {}, ["item", "check u0 >= 0", "check u0 < x0", "u0 <= x0"]),
    ("a number from data that is a size", W, {"x": {"0": "a"}}, {}, ["item", "size u0", "u0 >= 0"]),
    ("a number from data that equals a size", W, {"x": {"0": "AUTO"}}, {}, ["item", "check u0 == x0", "u0 > 1"]),
    ("two numbers from data", W, {"x": {"0": "AUTO"}}, {}, ["item", "item", "check u0 == u1", "u0 == u1"]),
    ("two numbers from data, compared", W, {"x": {"0": "AUTO"}}, {}, ["item", "item", "check u0 + 2 < u1", "u0 < u1"]),
    ("a number from data that is a constant", W, {"x": {"0": "AUTO"}}, {}, ["item", "check u0 == 5", "u0 == 5"]),
    ("a number from data that is a multiple", W, {"x": {"0": "AUTO"}}, {}, ["item", "check u0 % 4 == 0", "u0 % 4 == 0"]),
    ("a number from data that is not another", W, {"x": {"0": "AUTO"}}, {}, ["item", "check u0 != 3", "u0 == 3"]),
    ("a number from data, strictly more", W, {"x": {"0": "AUTO"}}, {}, ["item", "check u0 > 1", "u0 != 0"]),
    ("a number from data, doubled", W, {"x": {"0": "AUTO"}}, {}, ["item", "check 2*u0 > 5", "2*u0 > 5"]),
    ("a number from data, checked twice", W, {"x": {"0": "a"}}, {}, ["item", "check u0 < x0", "check u0 < x0", "check u0 <= x0"]),
    ("a number from data less than another", W, {"x": {"0": "a"}}, {}, ["item", "item", "check u1 >= 0", "check u0 < u1", "check u0 + u1 <= x0"]),
    ("a size from data at most eight", W, {"x": {"0": "a"}}, {}, ["item", "size u0", "check u0 <= 8", "u0 < 9", "u0 != 9"]),
    ("a number from data, quotient", W, {"x": {"0": "a"}}, {}, ["item", "check u0 // 4 > 2"]),
    ("a number from data that is a derived size", {"x": [6, 3], "w": [3]}, {"x": {"0": "2*a + 2"}}, {}, ["item", "check u0 == x0"]),
    ("an equal number from data, and two equal names", {"x": [4, 3], "y": [4, 3], "w": [3]}, ab, {}, ["item", "check u0 == x0", "x0 == y0"]),
    ("a number from data that is twice a size", W, {"x": {"0": "AUTO"}}, {}, ["item", "check u0 == 2*x0", "u0 > x0"]),
    ("a sum with a number from data, asked", W, {"x": {"0": "AUTO"}}, {}, ["item", "u0 + x0 > 4"]),
    ("a number from data as a number", W, {"x": {"0": "AUTO"}}, {}, ["item", "int u0"]),
    ("a check of a size", A4, a, {}, ["check x0 >= 3"]),
    ("a check of a size that fails", A4, a, {}, ["check x0 >= 9"]),
]

# with prefer_deferred_runtime_asserts_over_guards
DEFERRED = [
    (f"deferred: {kind} {step}", inputs, dims, {}, [step])
    for kind, dims in (("a, b", ab), ("AUTO", auto2))
    for inputs, step in (
        (X4Y8, "x0 == 4"),
        ({"x": [6, 3], "y": [8, 3]}, "x0 % 3 == 0"),
        (X4Y8, "x0 > 3"),
        (X4Y8, "x0 != 7"),
        (X4Y8, "x0 < y0"),
        (XY, "x0 == y0"),
        (X4Y8, "2*x0 == y0"),
        (X4Y8, "x0 + y0 > 10"),
        (X4Y8, "x0*y0 == 32"),
        (X4Y8, "(x0 + y0) % 3 == 0"),
        ({"x": [6, 3], "y": [8, 3]}, "x0 // 2 == 3"),
        (X4Y8, "check x0 >= 3"),
        (X4Y8, "check x0 < y0"),
        (X4Y8, "x0*x0 > 10"),
    )
] + [
    ("deferred: the same name", XY, aa, {}, ["x0 > 1"]),
    ("deferred: twice, a multiple", {"x": [4, 3], "y": [8, 3]}, {"x": {"0": "a"}, "y": {"0": "2*a"}}, {}, ["x0 % 4 == 0"]),
    ("deferred: no root", {"x": [8, 3]}, {"x": {"0": "2*a"}}, {}, ["x0 != 7"]),
]


def main():
    cases = []
    for name, inputs, dims, bounds, steps, *rest in CASES:
        torch._dynamo.reset()
        case = {"name": name, "inputs": inputs, "dims": dims, "bounds": bounds, "steps": steps}
        if rest:
            case["transposed"] = rest[0]
        cases.append(run(case))
    for name, inputs, dims, bounds, steps in DEFERRED:
        torch._dynamo.reset()
        cases.append(
            run({"name": name, "inputs": inputs, "dims": dims, "bounds": bounds, "steps": steps, "deferred": True})
        )
    text = ",\n".join(json.dumps(case) for case in cases)
    (HERE / "cases.json").write_text(f"[\n{text}\n]\n")
    (HERE / "MANIFEST").write_text(f"all files\tPyTorch {torch.__version__}, by generate_dynamic_shapes.py\n")


main()
