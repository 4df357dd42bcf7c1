"""Makes the golden files of the pickle room.

Usage: generate_pickle.py FOLDER
Run with the PyTorch that MANIFEST.tsv names. Every .pickles file holds several pickles in a row.
"""
import collections
import copyreg
import enum
import fractions
import io
import os
import pickle
import sys
import tempfile
import warnings
import zipfile

import torch

warnings.filterwarnings("ignore")


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1, [2]


class NamedList(list):
    pass


class NamedDict(dict):
    pass


class WithKeywords:
    def __new__(cls, *, size):
        return super().__new__(cls)

    def __getnewargs_ex__(self):
        return (), {"size": 3}


class Color(enum.Enum):
    RED = 1


class OwnSetter:
    def __reduce__(self):
        return object, (), {"x": 1}, None, None, set_state


def set_state(target, state):
    pass


Pair = collections.namedtuple("Pair", "left right")


def plain_objects():
    """Objects without classes: the same tree at every protocol."""
    shared = ["shared"]
    own_list = []
    own_list.append(own_list)
    own_dict = {}
    own_dict["self"] = own_dict
    in_tuple = []
    loop = (in_tuple, "x")
    in_tuple.append(loop)
    long_loop_list = []
    long_loop = (1, 2, 3, long_loop_list)
    long_loop_list.append(long_loop)
    return [
        None, True, False, 0, 1, 255, 256, 65535, 65536, -1, -128, -129, 2**31 - 1, 2**31, -(2**31),
        -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, -(10**30), 2**2039, -(2**2039),
        2**2100, 0.0, -0.0, 1.5, 1e300, 5e-324, float("inf"), float("-inf"), float("nan"),
        "", "a", "naïve", "日本", "\U0001f600", "line\nbreak\\slash\r\x00\x1a", "\ud800", "x" * 255, "x" * 256,
        (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), ((), ((),)), [], [1], [1, 2], [[], [[]]],
        {}, {"a": 1}, {"a": 1, "b": 2}, {1: {2: {3: None}}},
        [shared, shared], (shared, {"k": shared}), ["same", "same"], own_list, own_dict, loop, in_tuple, long_loop,
        list(range(1000)), list(range(1001)), list(range(2001)),
        dict.fromkeys(range(999)), dict.fromkeys(range(1000)), dict.fromkeys(range(1001)),
        [str(i) for i in range(300)] * 2,
    ]


def byte_objects():
    """Types that older protocols write as calls."""
    one = b"twice"
    return [
        b"", b"ab", bytes(range(256)), b"x" * 300, [one, one], bytearray(), bytearray(b"xy"), [bytearray(b"xy"), b"xy"],
        set(), {1}, {1, 2, 3}, set(range(1000)), set(range(1001)), frozenset(), frozenset([1]), frozenset(range(2000)),
        {frozenset([(1, 2)]): {b"k": {3}}},
    ]


def class_objects():
    ordered = collections.OrderedDict((str(i), i) for i in range(5))
    ordered.extra = "attribute"
    big = collections.OrderedDict((i, None) for i in range(1001))
    full = collections.OrderedDict((i, None) for i in range(1000))
    one = collections.OrderedDict(a=1)
    named_list = NamedList(range(1001))
    named_list.note = "n"
    named_dict = NamedDict(a=1)
    loop = Point(1, None)
    loop.y = loop
    default = collections.defaultdict(list, {"a": [1]})
    return [
        Point(1, 2), [Point(1, 2), Point(3, 4)], Slotted(), NamedList([1]), named_list, named_dict, ordered, big, full,
        one, loop, default, Pair(1, 2), Color.RED, OwnSetter(), 1 + 2j, fractions.Fraction(1, 3), range(3), slice(1, 2),
        collections.deque([1, 2], 5), collections.Counter("abca"), len, Point, type(None), Ellipsis, ValueError("bad", 1),
        [int, str, collections.OrderedDict, collections.Counter], copyreg._reconstructor,
    ]


def write(folder, name, pickles):
    with open(os.path.join(folder, name), "wb") as out:
        for data in pickles:
            out.write(data)


def python_files(folder):
    for protocol in range(6):
        write(folder, f"plain-protocol{protocol}.pickles", [pickle.dumps(o, protocol) for o in plain_objects()])
        if protocol < 2:
            continue
        write(folder, f"bytes-protocol{protocol}.pickles", [pickle.dumps(o, protocol) for o in byte_objects()])
        objects = class_objects() + ([WithKeywords(size=3)] if protocol >= 4 else [])
        write(folder, f"classes-protocol{protocol}.pickles", [pickle.dumps(o, protocol) for o in objects])


def records(data, endings):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [archive.read(n) for n in sorted(archive.namelist()) if n.split("/")[-1] in endings]


def saved(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.last = torch.nn.Linear(8, 2, bias=False)
        self.names: dict[str, int] = {"a": 1, "b": 2}
        self.sizes: list[int] = [1, 2, 300, 70000, 2**40, -5]
        self.floats: list[float] = [0.5]
        self.flags: list[bool] = [True, False]
        self.texts: list[str] = ["a", "b", "a"]
        self.pair: tuple[int, str] = (1, "a")
        self.where = torch.device("cpu")
        self.nothing: list[int] = []
        self.register_buffer("scalar", torch.tensor(3.0))

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x)))) + torch.ones(2)


def torch_values():
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.rand(3, 4)).sum().backward()
    optimizer.step()
    base = torch.arange(12.0)
    sparse = torch.eye(3).to_sparse()
    values = [
        net.state_dict(), {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3},
        torch.nn.Parameter(torch.ones(2)), [base, base[2:], base.view(3, 4).t()], torch.tensor(1), torch.empty(0, 3),
        sparse, sparse.to_sparse_csr(), torch.ones(2, dtype=torch.complex64).conj(), torch.Size([1, 2]),
        [torch.float32, torch.device("cpu"), torch.strided], torch.zeros(1, dtype=getattr(torch, "uint16", torch.int16)),
        {f"layer{i}.weight": torch.zeros(i % 3 + 1) for i in range(120)},
    ]
    if hasattr(torch, "quantize_per_tensor"):
        values.append(torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8))
        values.append(torch.quantize_per_channel(torch.ones(2, 3), torch.ones(2), torch.zeros(2).long(), 0, torch.qint8))
    return values


def script_values():
    base = torch.arange(6.0)
    repeated = ["one"]
    return [
        1, -1, 2**40, 1.5, True, None, "text", (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [1, 2], [1.5], [True], ["a", "a"],
        [base, base[1:], torch.ones(2)], {"a": base, "b": base}, {1: 2}, [(1, "x"), (2, "x")], torch.device("cpu"),
        [torch.device("cpu"), torch.device("cpu")], 1 + 2j, torch.tensor(1), (repeated, repeated),
        torch.eye(2).to_sparse(), torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8),
        torch.quantize_per_channel(torch.ones(2, 3), torch.ones(2), torch.zeros(2).long(), 0, torch.qint8),
        {f"key{i}": (i, f"value{i}") for i in range(300)},
    ]


def torch_files(folder, version):
    values = torch_values()
    write(folder, f"save-torch{version}.pickles", [r for v in values for r in records(saved(v), {"data.pkl"})])
    scripted = torch.jit.script(Net())
    traced = torch.jit.trace(Net().eval(), torch.rand(1, 4))
    quantized = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(torch.nn.Linear(4, 4)))
    modules = [scripted, traced, torch.jit.script(quantized), torch.jit.freeze(traced)]
    pickles = []
    wanted = {"data.pkl", "constants.pkl", "bytecode.pkl", "mobile_debug_handles.pkl"}
    for module in modules:
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "m.pt")
            torch.jit.save(module, path)
            with open(path, "rb") as file:
                pickles += records(file.read(), wanted)
            module._save_for_lite_interpreter(path)
            with open(path, "rb") as file:
                pickles += records(file.read(), wanted)
    if hasattr(torch._C, "_pickle_save"):
        pickles += [r for v in script_values() for r in records(bytes(torch._C._pickle_save(v)), {"data.pkl"})]
    write(folder, f"script-torch{version}.pickles", pickles)


if __name__ == "__main__":
    target = sys.argv[1]
    os.makedirs(target, exist_ok=True)
    release = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    if release == "2.13":
        python_files(target)
    torch_files(target, release)
