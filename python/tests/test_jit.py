"""TorchScript modules from Python, beside PyTorch's own."""

import copy
import io
import os
import pathlib
import signal
import threading
import time
import typing

import numpy
import pytest

import flambeau

torch = pytest.importorskip("torch")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/torchscript"


class Point(typing.NamedTuple):
    x: torch.Tensor
    label: str


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        self.calls += 1
        if x.shape[1] != 3:
            raise ValueError("three columns are expected")
        return x @ self.weight.t()


class Model(torch.nn.Module):
    names: typing.List[str]

    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.twin = self.inner
        self.drop = torch.nn.Dropout(0.5)
        self.names = ["a", "b"]
        self.scale = 2.0
        self.state: typing.Dict[str, int] = {"seen": 0}

    def forward(self, x, bias: float = 0.0):
        return self.drop(self.inner(x)) * self.scale + bias

    @torch.jit.export
    def parts(self, items: typing.List[torch.Tensor], table: typing.Dict[str, int], pair: typing.Tuple[int, str]):
        print("parts of", pair[1])
        return {"sum": torch.stack([t.sum() for t in items]).sum(), "n": torch.tensor(table["n"] + pair[0])}

    @torch.jit.export
    def point(self, x):
        return Point(x + 1, "p"), [1, 2], None, 2 + 3j

    @torch.jit.export
    def forever(self, x: int) -> int:
        while x >= 0:
            x = x + 1 if x < 1000 else 0
        return x


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("jit") / "model.pt"
    torch.manual_seed(0)
    torch.jit.script(Model()).save(path, _extra_files={"notes.txt": "hello"})
    return path


@pytest.fixture
def both(path):
    return flambeau.jit.load(path).eval(), torch.jit.load(path).eval()


def same(ours, theirs):
    if isinstance(theirs, torch.Tensor):
        assert torch.equal(torch.from_dlpack(ours), theirs)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key, value in theirs.items():
            same(ours[key], value)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same(a, b)
    else:
        assert type(ours) is type(theirs) and ours == theirs


def test_runs_as_in_pytorch(both):
    ours, theirs = both
    x = torch.arange(12.0).reshape(4, 3)
    same(ours(x), theirs(x))
    same(ours(x.numpy(), bias=1), theirs(x, bias=1.0))
    same(ours.forward(x, 0.5), theirs.forward(x, 0.5))
    same(ours.point(x), theirs.point(x))
    assert ours.point(x)[0].label == "p"
    same(ours.inner(x), theirs.inner(x))


def test_lists_and_dicts_and_what_it_prints(both, capsys):
    ours, theirs = both
    arguments = [torch.ones(2), torch.ones(3)], {"n": 3}, (4, "five")
    same(ours.parts(*arguments), theirs.parts(*arguments))
    assert capsys.readouterr().out.startswith("parts of five\n")


def test_shows_what_it_holds(both):
    ours, theirs = both
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]
    assert [name for name, _ in ours.named_buffers()] == [name for name, _ in theirs.named_buffers()]
    assert list(ours.state_dict()) == list(theirs.state_dict())
    same(dict(ours.state_dict()), dict(theirs.state_dict()))
    assert [name for name, _ in ours.named_children()] == [name for name, _ in theirs.named_children()]
    assert ours.names == ["a", "b"] and ours.scale == 2.0 and ours.state == {"seen": 0}
    assert ours.code == theirs.code
    assert ours.inner.forward.code == theirs.inner.forward.code
    assert "prim::If" in ours.inner.graph
    assert ours.original_name == theirs.original_name == "Model"
    assert ours.forward.schema == "forward(Tensor x, float bias=0) -> Tensor"
    assert ours.extra_files == {"notes.txt": b"hello"}
    assert ours.attributes()["names"] == "List[str]"
    assert "aten::matmul" in ours.operators()
    assert ours.problems() == [] and ours.outside_calls() == [] and ours.run_at_load() == []
    assert "three columns" in ours.inner.forward.original_code
    assert repr(ours).startswith("ScriptModule(original_name=Model\n  (inner): ScriptModule(original_name=Inner)")
    assert "scale" in dir(ours) and "point" in dir(ours)
    with pytest.raises(AttributeError, match="has no attribute or method 'scal'"):
        ours.scal


def test_other_forms(both):
    ours, theirs = both
    space = {}
    exec(ours.python_code(), space)
    model = space["Model"]()
    model.load_state_dict(theirs.state_dict())
    assert list(model.state_dict()) == list(theirs.state_dict())
    ours.eval()
    assert [name for name, _ in ours.freeze().named_children()] == ["inner"]  # whose buffer is written to
    assert ours.optimize(["scale"]).scale == 2.0


def test_changes_come_back_in_pytorch(both, tmp_path):
    ours, _ = both
    ours.scale = 3
    ours.names = ["x"]
    ours.register_buffer("extra", numpy.ones(2, "float32"))
    ours.define("def twice(self, x: Tensor) -> Tensor:\n  return x * 2 + self.extra[0]\n")
    same(ours.twice(torch.ones(2)), torch.full((2,), 3.0))
    with pytest.raises(flambeau.Error, match="is of type float, not str"):
        ours.scale = "x"
    with pytest.raises(AttributeError, match="register_attribute"):
        ours.nothing = 1
    flambeau.jit.save(ours, tmp_path / "changed.pt", _extra_files={"a.txt": b"\x00\xff"})
    files = {"a.txt": ""}
    theirs = torch.jit.load(tmp_path / "changed.pt", _extra_files=files)
    assert theirs.scale == 3.0 and theirs.names == ["x"] and files["a.txt"] == b"\x00\xff"
    x = torch.ones(2, 3)
    same(ours(x), theirs(x))
    same(ours.twice(x), theirs.twice(x))


def test_files_and_bytes(path, tmp_path):
    ours = flambeau.jit.load(path)
    buffer = io.BytesIO()
    flambeau.jit.save(ours, buffer)
    again = flambeau.jit.load(buffer.getvalue())
    with open(path, "rb") as file:
        third = flambeau.jit.load(file)
    x = torch.ones(1, 3)
    same(again.eval()(x), torch.from_dlpack(third.eval()(x)))
    buffer.seek(0)
    same(again(x), torch.jit.load(buffer).eval()(x))
    files = {"notes.txt": "", "none.txt": "as it was"}
    flambeau.jit.load(path, _extra_files=files)
    assert files == {"notes.txt": b"hello", "none.txt": "as it was"}
    with pytest.raises(flambeau.Error, match="nosuch.pt") as caught:
        flambeau.jit.load(tmp_path / "nosuch.pt")
    assert caught.value.code == "not_found"


def test_saves_the_bytes_that_pytorch_saves(path, tmp_path):
    torch.jit.save(torch.jit.load(path), tmp_path / "m.pt")
    theirs = (tmp_path / "m.pt").read_bytes()
    flambeau.jit.save(flambeau.jit.load(path), tmp_path / "m.pt")
    assert (tmp_path / "m.pt").read_bytes() == theirs


def test_types_training_copies(both):
    ours, theirs = both
    assert not ours.training and ours.train().training and not ours.eval().inner.training
    deep = copy.deepcopy(ours)
    shallow = copy.copy(ours)
    ours.double()
    theirs.double()
    x = torch.ones(2, 3, dtype=torch.float64)
    same(ours(x), theirs(x))
    assert ours.inner.calls.dtype == "int64"
    same(deep(x.float()), theirs.float()(x.float()))
    assert shallow.inner.weight.dtype == "float64"  # the same tensor
    ours.load_state_dict({"inner.weight": numpy.zeros((2, 3)), "inner.calls": [5], "twin.weight": numpy.zeros((2, 3)), "twin.calls": [5]})
    assert ours.inner.weight.tolist() == [[0.0] * 3] * 2
    with pytest.raises(KeyError, match="missing"):
        ours.load_state_dict({})
    with pytest.raises(flambeau.Error, match="floating-point"):
        ours.to("int8")


def test_errors_have_every_call(both):
    ours, _ = both
    with pytest.raises(flambeau.Error) as caught:
        ours(torch.ones(2, 4))
    error = caught.value
    assert error.message == "three columns are expected"
    assert [(function.rpartition(".")[2], module) for function, module, _, _ in error.frames] == [
        ("forward", ""),
        ("forward", "inner"),
    ]
    assert error.frames[0][2].startswith("code/__torch__")
    assert error.frames[1][3].startswith(__file__)
    text = str(error)
    assert "Traceback of TorchScript, serialized code (most recent call last):" in text
    assert "Traceback of TorchScript, original code (most recent call last):" in text
    assert "(self.inner)" in text and "<--- HERE" in text
    assert text.rstrip().endswith("builtins.ValueError: three columns are expected")
    with pytest.raises(flambeau.Error, match="missing value for argument 'x'"):
        ours()
    with pytest.raises(flambeau.Error, match="expected a value of type 'Tensor' for argument 'x'"):
        ours(1)


def test_limits(path):
    ours = flambeau.jit.load(path, step_limit=1000)
    with pytest.raises(flambeau.Error, match="more than 1000 steps") as caught:
        ours.forever(1)
    assert caught.value.code == "limit"
    ours.set_limits(time_limit=0.2)
    started = time.monotonic()
    with pytest.raises(flambeau.Error, match="takes longer than the 0.2 s"):
        ours.forever(1)
    assert time.monotonic() - started < 3
    ours.set_limits(memory_limit=100)
    with pytest.raises(flambeau.Error, match="bytes of memory"):
        ours(torch.ones(1000, 3))


def test_control_c(path):
    ours = flambeau.jit.load(path)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ours.forever(1)
    assert time.monotonic() - started < 3


def test_threads(path):
    ours = flambeau.jit.load(path).eval()
    x = numpy.ones((2, 3), "float32")
    expected = ours(x).tolist()
    results = []
    threads = [threading.Thread(target=lambda: results.append([ours(x).tolist() for _ in range(20)])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[expected] * 20] * 8
    assert ours.inner.calls.tolist() == [161]


def test_made_from_nothing(tmp_path):
    module = flambeau.jit.make("Affine")
    module.register_parameter("weight", numpy.array([2.0, 3.0], "float32"))
    inner = module.add_module("inner", "Bias")
    inner.register_attribute("table", "Dict[str, float]", {"bias": 1.5})
    inner.define("def forward(self, x: Tensor) -> Tensor:\n  return x + self.table['bias']\n")
    module.define("def forward(self, x: Tensor) -> Tensor:\n  return self.inner.forward(x * self.weight)\n")
    assert module(numpy.ones(2, "float32")).tolist() == [3.5, 4.5]
    module.save(tmp_path / "affine.pt")
    theirs = torch.jit.load(tmp_path / "affine.pt")
    assert theirs(torch.ones(2)).tolist() == [3.5, 4.5]
    assert list(theirs.state_dict()) == ["weight"]


def test_nothing_runs_unless_asked_for():
    inert = flambeau.jit.load(GOLDEN / "state.pt", run_setstate=False)
    assert inert.run_at_load() == ["__torch__.State.__setstate__"]
    assert flambeau.jit.load(GOLDEN / "state.pt").value is not None
