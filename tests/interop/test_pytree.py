"""Tree specs against the real PyTorch: what it dumps comes back byte for byte, with the same leaves and paths."""

import collections
import dataclasses
import enum
import json
import pathlib
import random
import subprocess

import pytest
import torch
import torch.utils._pytree as pytree
from torch.fx.immutable_collections import immutable_dict, immutable_list


class Color(enum.Enum):
    RED = 1
    GREEN = "g"


class Level(enum.IntEnum):
    LOW = 1


Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass
class Box:
    first: object
    second: object = None
    third: object = None


class Odd:
    """A class whose context is an object, not text."""

    def __init__(self, *items):
        self.items = items


@pytest.fixture(scope="module", autouse=True)
def registered():
    pytree._register_namedtuple(Point, serialized_type_name="test_pytree.Point")
    pytree.register_dataclass(Box, serialized_type_name="test_pytree.Box")
    pytree.register_pytree_node(
        Odd,
        lambda odd: (list(odd.items), len(odd.items)),
        lambda items, context: Odd(*items),
        serialized_type_name="test_pytree.Odd",
        to_dumpable_context=lambda context: {"count": context, "é": [None, True, 1.5, "\u2028\U0001f600"]},
        from_dumpable_context=lambda dumped: dumped["count"],
        flatten_with_keys_fn=lambda odd: (
            [(pytree.SequenceKey(i), item) for i, item in enumerate(odd.items)],
            len(odd.items),
        ),
    )


@pytest.fixture(scope="session")
def echo(flambeau):
    """What Flambeau makes of the texts of tree specs, a dict for each."""
    tool = pathlib.Path(flambeau.path).parents[2] / "tests/tools/pytree_echo"

    def run(texts):
        done = subprocess.run([tool], input="".join(text + "\n" for text in texts), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.split("\n")[:-1]]

    return run


TREES = {
    "leaf": 1,
    "none": None,
    "size": torch.Size([1, 2]),
    "empty": ((), [], {}),
    "call": ((1, 2), {"x": 3}),
    "nested": ([1, (2, [3, {"a": (4,)}])], {"k": {"l": [5, {"m": 6}]}}),
    "ordered": collections.OrderedDict([("b", 1), ("a", [2])]),
    "default": collections.defaultdict(int, {"a": 1, "b": (2, 3)}),
    "default_list": collections.defaultdict(list, {1: [1, 2]}),
    "deque": collections.deque([1, 2, 3]),
    "deque_most": collections.deque([1, 2, 3], maxlen=5),
    "keys": {"it's": 1, 'say "so"': 2, "é\n\\": 3, 4: 5, -6: 7, 1.5: 8, None: 9, "": 10, True: 11},
    "big_keys": {2**53: 1, -(2**63): 2, 2**64 - 1: 3, 1e300: 4, 0.1: 5},
    "enum_keys": {Color.RED: 1, Color.GREEN: 2, Level.LOW: 3},
    "enum_default": collections.defaultdict(int, {Color.RED: 1}),
    "tuple_keys": {("a", 1): 1, ("b",): 2, (): 3},
    "named": Point(1, [2, 3]),
    "dataclass": Box(1, None, {"x": [2]}),
    "dataclass_empty": Box(None),
    "immutable": immutable_list([1, immutable_dict({"a": 2})]),
    "odd": Odd(1, [2], Odd()),
    "tensors": {"weight": torch.zeros(2), "state": [torch.zeros(1)] * 3},
}


def random_tree(source, depth):
    kind = source.randrange(9) if depth > 0 else 0
    width = source.randrange(4) if depth > 0 else 0
    children = [random_tree(source, depth - 1) for _ in range(width)]
    keys = source.sample(["a", "b", "c d", "ü", 0, 7, Color.RED], width)
    makers = [
        lambda: 0,
        lambda: tuple(children),
        lambda: list(children),
        lambda: dict(zip(keys, children)),
        lambda: collections.OrderedDict(zip(keys, children)),
        lambda: collections.defaultdict(list, zip(keys, children)),
        lambda: collections.deque(children, maxlen=source.choice([None, 4])),
        lambda: Point(children, 1),
        lambda: Box(children, None, 2),
    ]
    return makers[kind]()


def random_trees():
    source = random.Random(0)
    return [random_tree(source, 6) for _ in range(500)]


def check(echo, trees):
    specs = [pytree.tree_structure(tree) for tree in trees]
    texts = [pytree.treespec_dumps(spec) for spec in specs]
    for tree, spec, text, found in zip(trees, specs, texts, echo(texts)):
        assert found.get("text") == text, found
        assert found["leaves"] == spec.num_leaves
        assert found["nodes"] == spec.num_nodes
        assert len(found["paths"]) == spec.num_leaves


@pytest.mark.parametrize("name", TREES)
def test_comes_back_byte_for_byte(echo, name):
    check(echo, [TREES[name]])


def test_random_trees_come_back(echo):
    check(echo, random_trees())


# Where Python shows a key or a class in its own way (enum members, named tuples), only the text must be the same.
@pytest.mark.parametrize("name", sorted(TREES.keys() - {"enum_keys", "enum_default", "named"}))
def test_paths_are_those_of_pytorch(echo, name):
    paths = [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(TREES[name])]
    (found,) = echo([pytree.treespec_dumps(pytree.tree_structure(TREES[name]))])
    assert found["paths"] == paths


@pytest.mark.parametrize("name", ["leaf", "none", "empty", "call", "nested", "keys", "deque", "deque_most", "tuple_keys"])
def test_looks_as_in_python(echo, name):
    spec = pytree.tree_structure(TREES[name])
    (found,) = echo([pytree.treespec_dumps(spec)])
    assert found["shown"] == pytree.treespec_pprint(spec)


def test_specs_of_an_exported_program(echo):
    class Model(torch.nn.Module):
        def forward(self, x, pair, *, mask=None, options):
            return {"sum": x + pair[0] * options["scale"], "rest": [pair[1], (x, mask)]}

    x = torch.zeros(2)
    program = torch.export.export(Model(), (x, (x, x)), {"options": {"scale": x}, "mask": x})
    for spec in (program.call_spec.in_spec, program.call_spec.out_spec):
        text = pytree.treespec_dumps(spec)
        (found,) = echo([text])
        assert found["text"] == text
        assert found["leaves"] == spec.num_leaves
