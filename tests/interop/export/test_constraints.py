"""Programs that Flambeau exported, run in PyTorch and in Flambeau's runtime with sizes inside the constraints and outside of
them: inside both give what the module gives, outside both refuse, and Flambeau names the input and the dimension.
"""

import copy
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest
import torch
import torch.utils._pytree as pytree

package = pytest.importorskip("flambeau", reason="the Python package is not installed (pip install ./python)")

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[1] / "nn")]
from flambeau_torch import values_to_flambeau, values_to_torch  # noqa: E402
from test_nn import CASES, make, make_inputs, nn_cases, write_inputs  # noqa: E402, F401

# ---- both sides


class Both:
    """One file in PyTorch and in Flambeau."""

    def __init__(self, path):
        self.exported = torch.export.load(path)
        self.theirs, self.ours = self.exported.module(), package.load(path)

    def run(self, args, kwargs=None):
        """(PyTorch's result, Flambeau's): values, or the text of the refusal as a Refusal."""
        kwargs = kwargs or {}
        try:
            theirs = self.theirs(*args, **kwargs)
        except Exception as error:
            theirs = Refusal(f"{type(error).__name__}: {error}")
        try:
            ours = values_to_torch(self.ours(*values_to_flambeau(list(args)), **values_to_flambeau(kwargs)))
        except package.Error as error:
            ours = Refusal(str(error))
        return theirs, ours


class Refusal(str):
    pass


def is_refused(value):
    return isinstance(value, Refusal)


def assert_equal(left, right):
    """Whatever containers the results come in."""
    for a, b in zip(pytree.tree_leaves(left), pytree.tree_leaves(right), strict=True):
        torch.testing.assert_close(a, b)


def names_dimension(text):
    return re.search(r"input '\w+' \([^)]+\): dimension \d+ is \d|dimension \d+ of input '\w+' \([^)]+\) is \d", text)


# ---- small models that ask about their sizes: tests/golden/dynamic_shapes

GOLDEN = [
    case
    for case in json.loads((ROOT / "tests/golden/dynamic_shapes/cases.json").read_text())
    if case["expected"]["status"] == "ok" and "deferred" not in case and not any(step.startswith("int ") for step in case["steps"])
]
SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17, 20, 24, 36, 40]


@pytest.fixture(scope="session")
def golden_files(tmp_path_factory):
    command = pathlib.Path(os.environ.get("FLAMBEAU_BIN", ROOT / "build/dev/apps/flambeau/flambeau"))
    program = command.resolve().parents[2] / "tests/interop/export/constraint_cases"
    if not program.exists():
        pytest.fail(f"there is no program at {program}: build it first")
    folder = tmp_path_factory.mktemp("constraints")
    (folder / "cases.json").write_text(json.dumps(GOLDEN))
    done = subprocess.run([program, folder / "cases.json", folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "", done.stdout + done.stderr
    return folder


def example(case):
    """The sizes of each input, or its value; of w, the numbers in it."""
    return [[3, 8, 5] if name == "w" else copy.copy(value) for name, value in case["inputs"].items()]


def golden_inputs(case, sizes):
    made = []
    for name, given in zip(case["inputs"], sizes):
        if name == "w":
            made.append(torch.tensor(given))
        elif isinstance(given, int):
            made.append(given)
        elif name in case.get("transposed", []):
            made.append(torch.randn(given[::-1]).t())
        else:
            made.append(torch.randn(given))
    return made


def golden_sizes(case):
    """The example; one size changed; all that vary the same, or one a multiple of another; at random."""
    names, base = list(case["inputs"]), example(case)
    places = [(i, d) for i, value in enumerate(base) for d in (range(len(value)) if isinstance(value, list) else [None])]
    varying = [(i, d) for i, d in places if names[i] == "w" or d is None or str(d) in case["dims"].get(names[i], {})]

    def changed(values):
        sizes = copy.deepcopy(base)
        for (i, d), value in values:
            if d is None:
                sizes[i] = value
            else:
                sizes[i][d] = value
        return sizes

    yield base
    for place, size in itertools.product(places, SIZES):
        yield changed([(place, size)])
    for size in SIZES:
        yield changed((place, size) for place in varying)
        for other in varying[1:]:
            for value in (2 * size, size + 1, size - 1, 3 * size + 1, size // 2):
                yield changed([(varying[0], size), (other, max(value, 0))])
    draw = random.Random(0)
    for _ in range(60):
        yield changed((place, draw.choice(SIZES)) for place in varying)


def is_multiple_of_hidden(case):
    """A dimension 2*a where no input has the size a: PyTorch's guards do not ask whether the size is even."""
    said = [text for dims in case["dims"].values() if isinstance(dims, dict) for text in dims.values()]
    roots = {re.search(r"[a-z]\w*", text)[0] for text in said if "*" in text}
    return any(root not in said for root in roots)


@pytest.mark.parametrize("number", range(len(GOLDEN)), ids=[case["name"] for case in GOLDEN])
def test_small_models(golden_files, number):
    case = GOLDEN[number]
    both = Both(golden_files / f"{number}.pt2")
    accepted = refused = 0
    for sizes in {repr(sizes): sizes for sizes in golden_sizes(case)}.values():
        args = golden_inputs(case, sizes)
        theirs, ours = both.run(args)
        if not is_refused(theirs) and is_refused(ours) and is_multiple_of_hidden(case):
            # Ours asks, as PyTorch does where its guards are off.
            with pytest.raises(RuntimeError, match="to be of the form"):
                both.exported.module(check_guards=False)(*args)
            assert names_dimension(ours), ours
            continue
        assert is_refused(theirs) == is_refused(ours), (sizes, theirs, ours)
        if is_refused(ours):
            refused += 1
            assert names_dimension(ours) or "input 'n'" in ours or "Runtime assertion failed" in ours, (sizes, ours, theirs)
        else:
            accepted += 1
            expected = [value + 1 for value in args if isinstance(value, torch.Tensor)]
            assert_equal(theirs, expected)
            assert_equal(ours, expected)
    assert accepted and (refused or case["name"] == "AUTO, transposed")  # which takes everything


@pytest.mark.parametrize(
    "name, sizes, text",
    [
        ("a name with bounds", [[17, 3]], "input 'x' (args[0]): dimension 0 is 17, and must fulfil 2 <= s77 <= 16 (the program was exported for sizes in this range)"),
        ("the example at its own lower bound", [[3, 3]], "input 'x' (args[0]): dimension 0 is 3, and must fulfil 4 <= s77 (the program was exported for sizes in this range)"),
        ("the same name", [[4, 3], [5, 3]], "input 'y' (args[1]): dimension 0 is 5, and must be 4, the same as dimension 0 of input 'x' (args[0])"),
        ("twice", [[4, 3], [9, 3]], "input 'y' (args[1]): dimension 0 is 9, and must be 2*s77 = 8 (s77 is 4 by dimension 0 of input 'x' (args[0]))"),
        ("no root, bounds", [[9, 3]], "input 'x' (args[0]): dimension 0 is 9, and must be 4*s99"),
        (
            "AUTO, a multiple",
            [[7, 3]],
            "the inputs break the program's guard (L['x'].size()[0] % 3) == 0: dimension 0 of input 'x' (args[0]) is 7 (the program was exported under this condition)",
        ),
        (
            "a literal",
            [[5, 3]],
            "input 'x' (args[0]): dimension 0 is 5, and must be 4 (the program was exported with this size fixed; export it with a dynamic dimension to vary it)",
        ),
    ],
)
def test_what_is_said(golden_files, name, sizes, text):
    number = next(i for i, case in enumerate(GOLDEN) if case["name"] == name)
    _, ours = Both(golden_files / f"{number}.pt2").run(golden_inputs(GOLDEN[number], sizes))
    assert ours == text


# ---- layers and models with a dynamic batch


@pytest.fixture(scope="session")
def exported(nn_cases, tmp_path_factory):  # noqa: F811
    """exported(name): (module, args, kwargs, both sides), exported once."""
    made = {}

    def export(name):
        if name not in made:
            folder = tmp_path_factory.mktemp("module")
            module = make(name).eval()
            torch.save(module.state_dict(), folder / "state.pt")
            args, kwargs = make_inputs(name)
            write_inputs(folder / "inputs.json", args, kwargs)
            description = json.loads((folder / "inputs.json").read_text())
            tensors = torch.load(folder / description["tensors"], weights_only=True)
            size = next(leaf for leaf in pytree.tree_leaves(args) if isinstance(leaf, torch.Tensor)).shape[0]
            description["dynamic"] = {key: {"0": "AUTO"} for key, value in tensors.items() if value.dim() > 1 and value.shape[0] == size}
            (folder / "inputs.json").write_text(json.dumps(description))
            nn_cases("export", name, folder / "state.pt", folder / "inputs.json", folder / "ours.pt2")
            made[name] = module, tuple(args), kwargs, Both(folder / "ours.pt2")
        return made[name]

    return export


def with_leaf(args, kwargs, index, change):
    """The arguments with one leaf changed."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    leaves[index] = change(leaves[index])
    return pytree.tree_unflatten(leaves, spec)


def grown(tensor, dim, by=1):
    """A tensor with more elements in a dimension: some of its own again."""
    more = torch.arange(tensor.shape[dim] + by) % max(tensor.shape[dim], 1)
    return tensor.index_select(dim, more)


def sized(args, kwargs, inputs, symbol, count):
    """Every dimension of that symbol with another size."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    for i, leaf in enumerate(inputs):
        for d, size in enumerate(leaf.shape or ()):
            if size == symbol:
                leaves[i] = leaves[i].index_select(d, torch.arange(count) % leaves[i].shape[d])
    return pytree.tree_unflatten(leaves, spec)


@pytest.mark.parametrize("name", CASES)
def test_inside(exported, name):
    module, args, kwargs, both = exported(name)
    symbols = {size for leaf in both.ours.inputs for size in leaf.shape or () if isinstance(size, str)}
    others = [sized(args, kwargs, both.ours.inputs, symbol, count) for symbol, count in itertools.product(symbols, (1, 2, 3, 5))]
    for given, named in [(args, kwargs), *others]:
        theirs, ours = both.run(given, named)
        assert not is_refused(theirs) and not is_refused(ours), (theirs, ours)
        expected = module(*given, **named)
        assert_equal(theirs, expected)
        assert_equal(ours, expected)


@pytest.mark.parametrize("name", CASES)
def test_outside(exported, name):
    _, args, kwargs, both = exported(name)
    inputs = both.ours.inputs
    users = [size for leaf in inputs for size in leaf.shape or () if isinstance(size, str)]
    for i, leaf in enumerate(inputs):
        for d, size in enumerate(leaf.shape or ()):
            if users.count(size) == 1:
                continue  # free to vary
            theirs, ours = both.run(*with_leaf(args, kwargs, i, lambda tensor: grown(tensor, d)))
            assert is_refused(theirs) and is_refused(ours), (leaf.name, d)
            assert names_dimension(ours) and f"dimension {d}" in ours, ours
            if isinstance(size, int):
                assert ours.startswith(f"input '{leaf.name}' ({leaf.path}): dimension {d} is {size + 1}, and must be {size}"), ours


@pytest.mark.parametrize("name", CASES)
def test_other_inputs(exported, name):
    """Another type or rank, one input less, one more. PyTorch leaves types to the operators, some of which take them."""
    _, args, kwargs, both = exported(name)
    for i, leaf in enumerate(both.ours.inputs):
        if leaf.kind != "tensor":
            continue
        other = torch.float64 if leaf.dtype != "float64" else torch.float32
        _, ours = both.run(*with_leaf(args, kwargs, i, lambda tensor: tensor.to(other)))
        assert is_refused(ours) and f"input '{leaf.name}' ({leaf.path}) has elements of type {str(other)[6:]}, {leaf.dtype} is expected" in ours
        theirs, ours = both.run(*with_leaf(args, kwargs, i, lambda tensor: tensor[None]))
        rank = len(leaf.shape)
        assert is_refused(theirs) and is_refused(ours) and f"input '{leaf.name}' ({leaf.path}) has {rank + 1} dimensions" in ours and f"{rank} are expected" in ours
        theirs, ours = both.run(*with_leaf(args, kwargs, i, lambda tensor: None))
        assert is_refused(theirs) and is_refused(ours), (theirs, ours)
    theirs, ours = both.run(args[:-1], kwargs)
    assert is_refused(theirs) and is_refused(ours), (theirs, ours)
    theirs, ours = both.run([*args, args[0]], kwargs)
    assert is_refused(theirs) and is_refused(ours), (theirs, ours)
