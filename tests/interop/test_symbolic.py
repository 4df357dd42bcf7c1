"""Symbolic expressions: Flambeau's text forms and values against sympy with PyTorch's own sympy functions.

Ten thousand random expressions with a fixed seed. Each is built in sympy; a recipe of the same calls, not yet in
canonical form, is kept beside it. One run of tests/tools/symbolic_eval reads them all.
"""

import dataclasses
import fractions
import json
import math
import pathlib
import pickle
import random
import re
import subprocess
import zipfile

import pytest

sympy = pytest.importorskip("sympy")
torch = pytest.importorskip("torch")

import cache  # noqa: E402
from torch.utils._sympy import functions as F  # noqa: E402
from torch.utils._sympy.numbers import int_oo  # noqa: E402

COUNT = 10_000

SYMBOLS = [
    sympy.Symbol("s0", positive=True, integer=True),
    sympy.Symbol("s1", positive=True, integer=True),
    sympy.Symbol("s77", positive=True, integer=True),
    sympy.Symbol("s2", positive=True, integer=True),
    sympy.Symbol("u0", integer=True),
    sympy.Symbol("u1", integer=True, nonnegative=True),
]
FLOATS = [sympy.Symbol("zf0", real=True), sympy.Symbol("zuf1", real=True)]
LOCALS = {name: getattr(F, name) for name in F.__all__}
LOCALS |= {"Max": F.Max, "Min": F.Min, "int_oo": int_oo}
LOCALS |= {n: getattr(F, n) for n in dir(F) if n.startswith(("OpaqueUnaryFn_", "BitwiseFn_"))}
BY_NAME = {s.name: s for s in SYMBOLS + FLOATS}


REFUSALS = (ZeroDivisionError, ValueError, AssertionError, TypeError, OverflowError, AttributeError,
            sympy.polys.polyerrors.BasePolynomialError)


class Refused(Exception):
    """sympy would not build it (a division by zero, a negative shift): try another."""


def call(function, *parts, name=None):
    """Builds function(*parts) in sympy, and the text of that call; parts are (expression, text)."""
    name = name or function.__name__
    try:
        value = function(*(part[0] for part in parts))
    except REFUSALS as problem:
        raise Refused from problem
    return value, f"{name}({', '.join(part[1] for part in parts)})"


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low=-6, high=12):
        value = self.random.choice([1, 2, 3, 4, 8, 16, 64, self.random.randint(low, high)])
        return sympy.Integer(value), f"Integer({value})"

    def positive(self):
        value = self.random.choice([2, 2, 3, 4, 5, 8, 16, 32, 64, 7])
        return sympy.Integer(value), f"Integer({value})"

    def symbol(self):
        s = self.random.choice(SYMBOLS)
        return s, sympy.srepr(s)

    def expression(self, depth):
        """An integer expression."""
        if depth <= 0:
            return self.symbol() if self.random.random() < 0.75 else self.integer()
        kind = self.random.choices(
            ["add", "mul", "scaled", "floordiv", "mod", "pythonmod", "max", "min", "pow", "cleandiv", "where",
             "piecewise", "modular", "negate", "natural", "toint", "abs", "bitwise", "dense", "rounded", "shift",
             "identity", "unknown"],
            [22, 14, 14, 12, 8, 4, 5, 4, 4, 2, 2, 2, 2, 4, 1, 3, 1, 1, 0.5, 2, 1, 0.5, 0.5])[0]
        sub = lambda: self.expression(depth - 1 - (self.random.random() < 0.4))  # noqa: E731
        if kind == "add":
            return call(sympy.Add, *(sub() for _ in range(self.random.choice([2, 2, 3, 4]))))
        if kind == "mul":
            return call(sympy.Mul, *(sub() for _ in range(self.random.choice([2, 2, 3]))))
        if kind == "scaled":
            return call(sympy.Add, call(sympy.Mul, self.integer(), sub()), self.integer())
        if kind == "negate":
            return call(sympy.Mul, (sympy.Integer(-1), "Integer(-1)"), sub())
        if kind == "pow":
            exponent = self.random.choice([2, 2, 3])
            return call(sympy.Pow, sub(), (sympy.Integer(exponent), f"Integer({exponent})"))
        if kind in ("floordiv", "cleandiv"):
            function = F.FloorDiv if kind == "floordiv" else F.CleanDiv
            return call(function, sub(), self.positive() if self.random.random() < 0.8 else sub())
        if kind == "mod":
            return call(F.Mod, sub(), self.positive() if self.random.random() < 0.8 else sub())
        if kind == "pythonmod":
            return call(F.PythonMod, sub(), self.positive() if self.random.random() < 0.8 else sub())
        if kind in ("max", "min"):
            function = F.Max if kind == "max" else F.Min
            others = [sub() for _ in range(self.random.choice([1, 1, 2]))]
            return call(function, self.integer() if self.random.random() < 0.5 else sub(), *others)
        if kind == "where":
            return call(F.Where, self.condition(depth - 1), sub(), sub())
        if kind == "piecewise":
            # PyTorch writes int(condition) this way.
            condition = self.condition(depth - 1)
            if self.random.random() < 0.6:
                first, last = (sympy.Integer(1), "Integer(1)"), (sympy.Integer(0), "Integer(0)")
            else:
                first, last = sub(), sub()
            pairs = [(first[0], condition[0]), (last[0], sympy.true)]
            try:
                value = sympy.Piecewise(*pairs)
            except REFUSALS as problem:
                raise Refused from problem
            text = f"Piecewise(ExprCondPair({first[1]}, {condition[1]}), ExprCondPair({last[1]}, true))"
            return value, text
        if kind == "modular":
            return call(F.ModularIndexing, sub(), self.positive(), self.positive())
        if kind == "natural":
            return call(F.PowByNatural, self.positive(), self.symbol())
        if kind == "abs":
            return call(sympy.Abs, sub())
        if kind == "bitwise":
            function = self.random.choice([F.BitwiseFn_bitwise_and, F.BitwiseFn_bitwise_or, F.BitwiseFn_bitwise_xor])
            return call(function, sub(), self.integer(0))
        if kind == "rounded":
            return call(self.random.choice([sympy.floor, sympy.ceiling]), self.rational(depth - 1))
        if kind == "shift":
            return call(self.random.choice([F.LShift, F.RShift]), sub(), self.integer(0, 5))
        if kind == "identity":
            return call(F.Identity, sub())
        if kind == "unknown":
            return call(sympy.Function("unknown_size"), sub(), self.symbol(), name="Function('unknown_size')")
        if kind == "dense":
            return call(F.IsNonOverlappingAndDenseIndicator, sub(), self.symbol(), self.symbol(), self.integer(1))
        function = self.random.choice([F.CeilToInt, F.FloorToInt, F.TruncToInt, F.RoundToInt])
        return call(function, self.real(depth - 1))

    def rational(self, depth):
        """Divisions and roots that stay exact."""
        kind = self.random.choice(["half", "half", "quotient", "root", "sum", "exponential"])
        sub = lambda: self.expression(depth - 1)  # noqa: E731
        if kind == "half":
            p, q = self.random.choice([1, 1, -1, 3, 5]), self.random.choice([2, 3, 4, 8])
            return call(sympy.Mul, (sympy.Rational(p, q), f"Rational({p}, {q})"), sub())
        if kind == "quotient":
            s = self.random.choice(SYMBOLS[:4])
            divisor = call(sympy.Pow, (s, sympy.srepr(s)), (sympy.Integer(-1), "Integer(-1)"))
            return call(sympy.Mul, sub(), divisor)
        if kind == "root":
            p, q = self.random.choice([(1, 2), (1, 2), (3, 2), (1, 3), (-1, 2)])
            s = self.random.choice(SYMBOLS[:4])
            base = call(sympy.Mul, self.positive(), (s, sympy.srepr(s)))
            return call(sympy.Pow, base, (sympy.Rational(p, q), f"Rational({p}, {q})"))
        if kind == "exponential":
            return call(sympy.Mul, call(sympy.Pow, self.positive(), self.symbol()), self.symbol())
        if depth <= 0:
            return self.symbol()
        return call(sympy.Add, self.rational(depth - 1), sub(), self.rational(depth - 1))

    def real(self, depth):
        """A float expression, as sizes computed with true division give it."""
        kind = self.random.choice(["intdiv", "intdiv", "tofloat", "floatdiv", "opaque", "floatpow", "round", "sum",
                                   "symbol", "rational", "truncate"])
        sub = lambda: self.expression(depth - 1)  # noqa: E731
        if depth <= 0 or kind == "symbol":
            s = self.random.choice(FLOATS)
            return s, sympy.srepr(s)
        if kind == "intdiv":
            return call(F.IntTrueDiv, sub(), self.positive() if self.random.random() < 0.6 else sub())
        if kind == "tofloat":
            return call(F.ToFloat, sub())
        if kind == "floatdiv":
            return call(F.FloatTrueDiv, self.real(depth - 1), self.constant())
        if kind == "opaque":
            names = ["sqrt", "sqrt", "cos", "sin", "tanh", "atan", "asinh", "log", "log2", "exp"]
            function = getattr(F, "OpaqueUnaryFn_" + self.random.choice(names))
            return call(function, call(F.ToFloat, sub()))
        if kind == "rational":
            return self.rational(depth - 1)
        if kind == "truncate":
            return call(F.TruncToFloat, self.real(depth - 1))
        if kind == "floatpow":
            return call(F.FloatPow, call(F.ToFloat, self.symbol()), self.constant())
        if kind == "round":
            return call(F.RoundDecimal, self.real(depth - 1), (sympy.Integer(2), "Integer(2)"))
        return call(sympy.Add, call(sympy.Mul, self.constant(), self.real(depth - 1)), self.constant())

    def constant(self):
        value = self.random.choice([0.5, 2.0, 1.5, 0.1, 3.25, 1e-7, 123456789.125, self.random.uniform(0.1, 9)])
        value = sympy.Float(value)
        return value, sympy.srepr(value)

    def condition(self, depth):
        kind = self.random.choices(["relation", "and", "or", "not"], [12, 2, 2, 1])[0]
        if kind == "relation" or depth <= 0:
            function, name = self.random.choice(
                [(sympy.Eq, "Equality"), (sympy.Ne, "Unequality"), (sympy.Lt, "StrictLessThan"),
                 (sympy.Le, "LessThan"), (sympy.Gt, "StrictGreaterThan"), (sympy.Ge, "GreaterThan")])
            right = self.integer() if self.random.random() < 0.5 else self.expression(depth - 1)
            return call(function, self.expression(depth - 1), right, name=name)
        if kind == "not":
            return call(sympy.Not, self.condition(depth - 1))
        parts = [self.condition(depth - 1) for _ in range(self.random.choice([2, 2, 3]))]
        return call(sympy.And if kind == "and" else sympy.Or, *parts)

    def case(self):
        while True:
            depth = self.random.choice([1, 2, 2, 3, 3])
            kind = self.random.choices(["integer", "real", "condition"], [7, 1, 2])[0]
            try:
                if kind == "integer":
                    value, text = self.expression(depth)
                elif kind == "real":
                    value, text = self.real(depth)
                else:
                    value, text = self.condition(depth)
            except Refused:
                continue
            if value.has(sympy.I, sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
                continue
            if any(abs(n.p) >= 2**62 or abs(n.q) >= 2**62 for n in value.atoms(sympy.Rational)):
                continue
            return value, text

    def values(self, expression):
        """Values for its symbols that fit their assumptions."""
        chosen = {}
        # PyTorch rounds PowByNatural beyond 64 bits to an infinity; Flambeau says that it does not fit.
        small = expression.has(F.PowByNatural) or any(not p.exp.is_Number for p in expression.atoms(sympy.Pow))
        for s in sorted(expression.free_symbols, key=str):
            if s in FLOATS:
                chosen[s] = sympy.Float(self.random.choice([0.5, 2.25, -1.75, 10.0, 0.1]))
            elif s.is_positive:
                chosen[s] = sympy.Integer(self.random.choice([1, 2, 3, 4] if small else [1, 2, 3, 4, 7, 16, 64, 100]))
            elif s.is_nonnegative:
                chosen[s] = sympy.Integer(self.random.choice([0, 1, 2, 5] if small else [0, 1, 2, 5, 32]))
            else:
                chosen[s] = sympy.Integer(self.random.choice([-4, -1, 0, 1, 3] if small else [-9, -4, -1, 0, 1, 3, 8, 50]))
        return chosen


def describe(value):
    """The value in the words of the tool; None where sympy's answer is no plain number."""
    if value in (sympy.true, sympy.false):
        return ("bool", bool(value))
    if value.is_Integer:
        return ("int", int(value)) if abs(value) < 2**63 else None
    if value.is_Rational and not value.is_infinite:
        return ("rational", fractions.Fraction(int(value.p), int(value.q)))
    if value.is_Float and math.isfinite(value):
        return ("float", float(value))
    return None


def read(text):
    kind, _, rest = text.partition(" ")
    if kind == "int":
        return (kind, int(rest))
    if kind == "rational":
        return (kind, fractions.Fraction(rest))
    if kind == "float":
        return (kind, float(rest))
    if kind == "bool":
        return (kind, rest == "True")
    return (kind, rest)


def same(a, b):
    if a[0] == b[0] == "float":
        return a[1] == b[1] or abs(a[1] - b[1]) <= 4e-15 * max(abs(a[1]), abs(b[1]))
    return a == b


def expected_value(expression, chosen):
    if expression.has(sympy.core.function.AppliedUndef):
        return None
    try:
        return describe(expression.xreplace(chosen))
    except (ZeroDivisionError, AssertionError, ValueError, TypeError, OverflowError):
        return None


@dataclasses.dataclass
class Case:
    """An expression; reading one of sympy's takes a millisecond, and few tests need it."""

    pickled: bytes
    recipe: str
    srepr: str
    text: str
    chosen: str
    expected: tuple

    @property
    def value(self):
        return pickle.loads(self.pickled)


def generate():
    generator = Generator(20)
    seen = set()
    result = []
    while len(result) < COUNT:
        value, recipe = generator.case()
        key = sympy.srepr(value)
        # Numbers alone, and repetitions, would only look like more cases.
        if key in seen or not value.free_symbols:
            continue
        seen.add(key)
        chosen = generator.values(value)
        said = ";".join(f"{s}={sympy.srepr(v)}" for s, v in chosen.items())
        result.append(Case(pickle.dumps(value), recipe, key, str(value), said, expected_value(value, chosen)))
    return result


@pytest.fixture(scope="module")
def cases():
    def make(folder):
        (folder / "cases").write_bytes(pickle.dumps([dataclasses.astuple(case) for case in generate()]))

    folder = cache.entry("symbolic", (pathlib.Path(__file__), f"sympy {sympy.__version__}"), (), make)
    return [Case(*fields) for fields in pickle.loads((folder / "cases").read_bytes())]


@pytest.fixture(scope="module")
def answers(cases, flambeau, tmp_path_factory):
    tool = pathlib.Path(flambeau.path).parents[2] / "tests/tools/symbolic_eval"
    path = tmp_path_factory.mktemp("symbolic") / "cases.tsv"
    lines = []
    for case in cases:
        lines.append(f"{case.srepr}\t{case.text}\t{case.chosen}")
        lines.append(case.recipe)
    path.write_text("\n".join(lines) + "\n")
    done = subprocess.run([tool, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert len(rows) == 2 * len(cases)
    return [row.split("\t") for row in rows[0::2]], [row.split("\t") for row in rows[1::2]]


def again(text):
    """What sympy itself makes of the text it printed."""
    return sympy.sympify(text, locals={**LOCALS, **BY_NAME})


def show(failures, total):
    head = "\n".join("\n   ".join(map(str, failure)) for failure in failures[:10])
    return f"{len(failures)} of {total} differ:\n{head}"


def test_srepr_reads_and_prints_as_sympy(cases, answers):
    failures = []
    for case, row in zip(cases, answers[0]):
        if row[:2] == [case.srepr, case.text]:
            continue
        # sympy does not always print what it reads back unchanged; then its second reading counts.
        second = again(case.srepr)
        if row[:2] != [sympy.srepr(second), str(second)]:
            failures.append((case.srepr, case.text, row[:2]))
    assert not failures, show(failures, len(cases))


def as_text_shows_it(value):
    """str() does not tell CleanDiv from FloorDiv, shows 15 digits of a float, and hides Identity."""
    value = value.replace(lambda e: isinstance(e, F.Identity), lambda e: e.args[0])
    value = value.replace(lambda e: isinstance(e, F.CleanDiv), lambda e: F.FloorDiv(*e.args))
    return value.xreplace({f: sympy.Float(str(f)) for f in value.atoms(sympy.Float)})


def test_str_reads_and_prints_as_sympy(cases, answers):
    failures = []
    for case, row in zip(cases, answers[0]):
        if row[2:4] == [case.srepr, case.text]:
            continue
        shown = as_text_shows_it(case.value)
        if row[2:4] != [sympy.srepr(shown), str(shown)]:
            failures.append((case.text, case.srepr, row[2:4], str(shown)))
    assert not failures, show(failures, len(cases))


def test_values_are_those_of_sympy(cases, answers):
    failures = []
    compared = 0
    for case, row in zip(cases, answers[0]):
        if case.expected is None:
            continue
        compared += 1
        if not same(read(row[-1]), case.expected):
            failures.append((case.text, case.chosen, case.expected, row[-1]))
    assert compared > 0.9 * len(cases)
    assert not failures, show(failures, compared)


def test_building_gives_sympys_canonical_form(cases, answers):
    failures = []
    for case, row in zip(cases, answers[1]):
        if row[:2] != [case.srepr, case.text]:
            failures.append((case.recipe, case.text, row[1] if len(row) > 1 else row))
    # Known to differ: a Piecewise inside the condition of another (sympy rewrites it as ITE), and quotients that
    # sympy.simplify() rewrites on its way through FloorDiv.
    assert len(failures) <= 0.002 * len(cases), show(failures, len(cases))


class Shapes(torch.nn.Module):
    """Sizes as real models compute them."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.second = torch.nn.Conv2d(4, 4, 5, stride=3)

    def forward(self, x, y):
        image = self.second(self.first(x))
        joined = torch.cat([y, y[1:]], 0)
        count = joined.shape[0]
        return (
            torch.nn.functional.max_pool2d(image, 2).flatten(1),
            torch.nn.functional.interpolate(x, scale_factor=0.5),
            joined[: count // 3].repeat(3, 2),
            torch.arange(max(count - 3, 1)),
            joined.chunk(3)[0],
            y.unfold(0, 3, 2),
        )


def test_expressions_of_an_exported_program(flambeau, tmp_path):
    auto = torch.export.Dim.AUTO
    inputs = (torch.randn(2, 3, 64, 65), torch.randn(9, 4))
    program = torch.export.export(
        Shapes(), inputs, dynamic_shapes={"x": {0: auto, 2: auto, 3: auto}, "y": {0: auto}})
    torch.export.save(program, tmp_path / "program.pt2")
    found, guards = set(), set()
    with zipfile.ZipFile(tmp_path / "program.pt2") as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                text = archive.read(name).decode()
                found |= set(re.findall(r'"expr_str":\s*"((?:[^"\\]|\\.)*)"', text))
                content = json.loads(text)
                guards |= set(content.get("guards_code") or []) if isinstance(content, dict) else set()
    assert len(found) > 10 and len(guards) > 3

    tool = pathlib.Path(flambeau.path).parents[2] / "tests/tools/symbolic_eval"
    lines = sorted(found) + sorted(guards)
    done = subprocess.run([tool], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60)
    rows = done.stdout.splitlines()
    assert [row.split("\t")[0] for row in rows[: len(found)]] == sorted(found)
    assert not [row for row in rows[len(found) :] if row.startswith("error")]
