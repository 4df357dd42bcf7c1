"""Calls that nobody would make: arguments for any operator out of its schema, random and extreme."""

import dataclasses
import math
import random
import re

EXTREME_INTS = [0, 1, -1, 2**31 - 1, 2**31, 2**32, 2**40, 2**61, 2**62, 2**63 - 2, 2**63 - 1, -(2**31), -(2**62), -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-300, 1e30, 1e308, math.nan, math.inf, -math.inf]
DTYPES = ["float32", "float32", "float32", "float64", "int64", "int64", "bool", "float16", "bfloat16", "int32", "int16",
          "int8", "uint8", "complex64", "complex128"]
STRINGS = ["", "none", "mean", "sum", "amax", "amin", "prod", "ij", "xy", "floor", "trunc", "constant", "reflect", "replicate",
           "circular", "valid", "same", "linear", "nearest", "lower", "higher", "midpoint", "left", "right", "fro", "nuc",
           "tanh", "reduced", "complete", "%s", "a" * 300, "ij,jk->ik", "ii", "...i,i...", "é\0"]
MEMORY_FORMATS = ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"]
# Tensors of these names hold positions: random numbers would end at the first check of most calls.
INDEX_NAMES = {"index", "indices", "target", "offsets", "batch_sizes", "lengths", "repeats", "sorter"}
MASK_NAMES = {"mask", "condition", "attn_mask"}
LAYOUTS = ["strided", "strided", "strided", "sparse_coo"]
DEVICES = ["cpu", "cpu", "meta", "cuda"]


@dataclasses.dataclass
class Type:
    name: str  # "Tensor", "int", "Scalar", ...
    is_optional: bool = False
    is_list: bool = False
    length: int | None = None  # of a list
    element_is_optional: bool = False


@dataclasses.dataclass
class Argument:
    name: str
    type: Type
    has_default: bool
    is_keyword: bool


@dataclasses.dataclass
class Schema:
    name: str
    arguments: list
    returns: list


def split_list(text):
    """At the commas that are not inside brackets or quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def parse_type(text):
    text = re.sub(r"\([a-z!|>\- *]*\)", "", text).strip()
    made = Type(text)
    if text.endswith("?"):
        made.is_optional, text = True, text[:-1]
    found = re.fullmatch(r"(.*)\[(\d*)\]", text)
    if found:
        made.is_list, text = True, found.group(1)
        made.length = int(found.group(2)) if found.group(2) else None
        if text.endswith("?"):
            made.element_is_optional, text = True, text[:-1]
    made.name = {"SymInt": "int", "SymFloat": "float", "SymBool": "bool"}.get(text, text)
    return made


def parse_schema(text):
    head, _, rest = text.partition("(")
    depth, end = 1, 0
    for end, c in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if depth == 0:
            break
    arguments, is_keyword = [], False
    for part in split_list(rest[:end]):
        if part == "*":
            is_keyword = True
            continue
        declaration, equals, _ = part.partition("=")
        kind, _, name = declaration.rpartition(" ")
        arguments.append(Argument(name, parse_type(kind), bool(equals), is_keyword))
    returns = rest[end + 1 :].partition("->")[2].strip()
    returns = split_list(returns[1:-1]) if returns.startswith("(") else [returns]
    return Schema(head, arguments, [parse_type(r.split(" ")[0]) for r in returns if r])


@dataclasses.dataclass
class TensorCase:
    """A tensor to be made: a view of a small storage."""

    dtype: str
    sizes: list
    strides: list
    offset: int
    seed: int  # of the numbers; below zero, all of them are small: -1 for 0, -2 for 0 and 1

    def extent(self):
        if 0 in self.sizes:
            return 0
        return self.offset + 1 + sum((n - 1) * s for n, s in zip(self.sizes, self.strides))


class Generator:
    """The arguments of one call. Half of the calls keep to one type and one shape, so that they get past the checks."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.is_coherent = self.random.random() < 0.6
        self.dtype = self.random.choice(DTYPES)
        self.shape = self.small_shape()
        if self.random.random() < 0.5:  # all sizes alike: products and gathers fit
            self.shape = [self.random.choice([1, 2, 3])] * len(self.shape)
        # Wild in places, or in one argument alone, so that the others get the call past the checks.
        self.wildness = self.random.choice([0.0, 0.05, 0.3])
        self.wild_argument = self.random.randrange(6) if self.random.random() < 0.4 else None

    def is_wild(self):
        return self.random.random() < self.wildness

    def small_shape(self):
        return [self.random.choice([0, 1, 2, 2, 3, 3, 4, 5]) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3, 3, 4, 4, 5]))]

    def tensor(self):
        r = self.random
        dtype = self.dtype if self.is_coherent and r.random() < 0.85 else r.choice(DTYPES)
        sizes = list(self.shape) if self.is_coherent and r.random() < 0.85 else self.small_shape()
        strides, step = [0] * len(sizes), 1
        for d in range(len(sizes) - 1, -1, -1):
            strides[d] = step
            step *= max(sizes[d], 1)
        offset = 0
        form = r.random()
        if form < 0.08 and sizes:  # expanded, perhaps very far
            d = r.randrange(len(sizes))
            sizes[d] = r.choice([3, 1000, 2**31, 2**40, 2**50] if self.is_wild() else [3, 7])
            strides[d] = 0
        elif form < 0.16 and len(sizes) > 1:  # transposed
            order = list(range(len(sizes)))
            r.shuffle(order)
            sizes, strides = [sizes[d] for d in order], [strides[d] for d in order]
        elif form < 0.22:  # overlapping, with gaps, somewhere inside
            strides = [r.choice([0, 1, 1, 2, 3, 7]) for _ in sizes]
            offset = r.choice([0, 1, 5])
        elif form < 0.25 and self.is_wild() and sizes:  # empty and enormous
            sizes[r.randrange(len(sizes))] = 0
            sizes.append(r.choice([2**31, 2**62]))
            strides.append(1)
        return TensorCase(dtype, sizes, strides, offset, r.randrange(2**31))

    def int(self):
        r = self.random
        if self.is_wild():
            return r.choice(EXTREME_INTS) + r.choice([0, 0, -1, 1]) if r.random() < 0.2 else r.choice(EXTREME_INTS)
        return r.choice([0, 0, 1, 1, 1, 2, 2, 3, 4, -1, -1, -2, 5, 7])

    def scalar(self):
        r = self.random
        return r.choice([self.int, lambda: r.choice(FLOATS), lambda: r.random() < 0.5, lambda: complex(1, r.choice(FLOATS))])()

    def item(self, kind, name=""):
        r = self.random
        if kind == "Tensor":
            case = self.tensor()
            if name in INDEX_NAMES and not self.is_wild():
                case.dtype, case.seed = "int64", -1 - r.randrange(3)
            if name in MASK_NAMES and not self.is_wild():
                case.dtype = "bool"
            return case
        if kind == "int":
            return min(max(self.int(), -(2**63)), 2**63 - 1)
        if kind == "float":
            return r.choice(FLOATS)
        if kind == "bool":
            return r.random() < 0.5
        if kind == "Scalar":
            value = self.scalar()
            return min(max(value, -(2**63)), 2**63 - 1) if type(value) is int else value
        choices = {"str": STRINGS, "ScalarType": DTYPES, "MemoryFormat": MEMORY_FORMATS, "Layout": LAYOUTS, "Device": DEVICES}
        return r.choice(choices[kind]) if kind in choices else None

    def value(self, kind, name=""):
        r = self.random
        if self.is_wild() and r.random() < 0.1:  # something else altogether
            return r.choice([None, "x", 7, 1.5, [], [None], True, self.tensor(), [self.tensor()], [1, 2], [1.5]])
        if kind.is_optional and r.random() < 0.35:
            return None
        if not kind.is_list:
            return self.item(kind.name, name)
        count = kind.length if kind.length and r.random() < 0.8 else r.choice([0, 1, 2, 2, 3, len(self.shape), len(self.shape)])
        items = [self.item(kind.name, name) for _ in range(count)]
        can_be_none = kind.element_is_optional or (kind.name == "Tensor" and self.is_wild())
        return [None if can_be_none and r.random() < 0.3 else item for item in items]

    def arguments(self, schema):
        """Positional ones, and those by name."""
        given, named, is_positional = [], {}, True
        usual = self.wildness
        for i, argument in enumerate(schema.arguments):
            self.wildness = 0.9 if i == self.wild_argument else 0.0 if self.wild_argument is not None else usual
            if argument.has_default and self.random.random() < 0.4:
                is_positional = False
                continue
            value = self.value(argument.type, argument.name)
            if is_positional and not argument.is_keyword:
                given.append(value)
            else:
                named[argument.name] = value
        return given, named


class Variation(Generator):
    """A call that PyTorch takes, with a thing or two in it changed: it gets past checks that random ones end at."""

    def __init__(self, seed, calls):
        super().__init__(seed)
        self.calls = calls  # (positional, named); tensors are {"tensor": [dtype, sizes]}, floats and complex ones texts

    def arguments(self, schema):
        positional, named = self.random.choice(self.calls)
        count = 0

        def counted(value):
            nonlocal count
            count += 1
            return value

        map_values([positional, list(named.values())], counted)
        changed = {self.random.randrange(max(count, 1)) for _ in range(self.random.choice([0, 1, 1, 1, 2]))}
        at = -1

        def varied(value):
            nonlocal at
            at += 1
            value = self.decoded(value)
            return self.varied(value) if at in changed else value

        return map_values(positional, varied), {name: map_values(value, varied) for name, value in named.items()}

    def decoded(self, value):
        if not isinstance(value, dict):
            return value
        if "number" in value:
            return complex(value["number"]) if "j" in value["number"] else float(value["number"])
        dtype, sizes = value["tensor"]
        is_small = dtype in ("int64", "int32") or self.random.random() < 0.2  # positions, or chances
        return self.packed(dtype, list(sizes), -1 - self.random.randrange(3) if is_small else self.random.randrange(2**31))

    def packed(self, dtype, sizes, seed):
        strides, step = [0] * len(sizes), 1
        for d in range(len(sizes) - 1, -1, -1):
            strides[d] = step
            step *= max(sizes[d], 1)
        return TensorCase(dtype, sizes, strides, 0, seed)

    def varied(self, value):
        r = self.random
        if isinstance(value, TensorCase):
            return self.varied_tensor(value)
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return r.choice([value - 1, value + 1, -value, 2 * value + 1, r.choice(EXTREME_INTS)])
        if isinstance(value, (float, complex)):
            return r.choice(FLOATS)
        if value is None:
            return r.choice([0, 1, 1.5, True, self.tensor()])
        return r.choice([*STRINGS, *DTYPES, None])

    def varied_tensor(self, case):
        r = self.random
        sizes, form = list(case.sizes), r.random()
        if form < 0.5 and sizes:  # one size
            d = r.randrange(len(sizes))
            sizes[d] = max(r.choice([0, 1, sizes[d] - 1, sizes[d] + 1, sizes[d] + 1, 2 * sizes[d], 7]), 0)
        elif form < 0.6 and sizes:
            sizes.pop(r.randrange(len(sizes)))
        elif form < 0.7:
            sizes.insert(r.randrange(len(sizes) + 1), r.choice([0, 1, 1, 2, 3]))
        elif form < 0.8:
            return self.packed(r.choice(DTYPES), sizes, case.seed)
        elif form < 0.9 and len(sizes) > 1:  # lies otherwise
            made = self.packed(case.dtype, sizes[::-1], case.seed)
            return TensorCase(case.dtype, sizes, made.strides[::-1], 0, case.seed)
        elif sizes:  # expanded, perhaps very far
            made = self.packed(case.dtype, sizes, case.seed)
            d = r.randrange(len(sizes))
            made.sizes[d], made.strides[d] = r.choice([0, 3, 2**31, 2**50]), 0
            return made
        return self.packed(case.dtype, sizes, case.seed)


def map_values(value, change):
    if isinstance(value, list):
        return [map_values(item, change) for item in value]
    return change(value)
