"""Exported programs from Python: files that PyTorch exports here and now, arguments and results of every shape."""

import collections
import threading

import flambeau
import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


def export(tmp_path, module, args, kwargs=None, **options):
    path = tmp_path / "model.pt2"
    program = torch.export.export(module.eval(), args, kwargs, **options).run_decompositions({})
    torch.export.save(program, path)
    return path


class Nested(torch.nn.Module):
    def forward(self, x, pair, *, named):
        a, (b,) = pair
        return {"sum": x + a, "list": [b + named["m"], x], "tuple": (x + 1,)}


ARGS = (torch.ones(2, 3), (torch.full((2, 3), 2.0), [torch.full((2, 3), 3.0)]))
KWARGS = {"named": {"m": torch.full((2, 3), 4.0)}}


def test_nested_arguments_and_results(tmp_path):
    program = flambeau.load(export(tmp_path, Nested(), ARGS, KWARGS))
    result = program(*ARGS, **KWARGS)
    assert list(result) == ["sum", "list", "tuple"]
    assert isinstance(result["list"], list) and isinstance(result["tuple"], tuple)
    assert result["sum"].tolist() == [[3.0] * 3] * 2
    assert result["list"][0].numpy()[1, 2] == 7
    assert result["tuple"][0].strides == (3, 1)
    # By the names of forward(), and with numpy's arrays.
    x, pair = ARGS
    pair = (pair[0].numpy(), [pair[1][0].numpy()])
    again = program(x.numpy(), named=KWARGS["named"], pair=pair)
    assert again["sum"].tolist() == result["sum"].tolist()


class Images(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Conv2d(3, 16, 3, 2, 1, bias=False)
        self.n = torch.nn.BatchNorm2d(16)
        self.b = torch.nn.Conv2d(16, 16, 3, 1, 1, groups=16)
        self.c = torch.nn.Conv2d(16, 16, 1)
        self.d = torch.nn.ConvTranspose2d(16, 8, 2, 2)
        self.out = torch.nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.n(self.a(x)))
        x = torch.nn.functional.hardtanh(self.c(torch.nn.functional.silu(self.b(x))) + x)
        return torch.nn.functional.gelu(self.out(torch.tanh(self.d(x)).mean((2, 3))))


@pytest.mark.parametrize("backend", ["", "portable"])
@pytest.mark.parametrize("threads", [1, 2])
def test_backends(backend, threads, tmp_path):
    torch.manual_seed(0)
    module, x = Images().eval(), torch.randn(3, 3, 33, 21)
    module.n.running_mean.uniform_(-1, 1), module.n.running_var.uniform_(0.5, 2)
    program = flambeau.load(export(tmp_path, module, (x,)), backend=backend, threads=threads)
    first = torch.from_dlpack(program(x))
    torch.testing.assert_close(first, module(x).detach())
    assert torch.equal(first, torch.from_dlpack(program(x)))


def test_an_unknown_backend(tmp_path):
    path = export(tmp_path, torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    with pytest.raises(flambeau.Error, match="there is no backend 'abacus' in this build; it has .*portable"):
        flambeau.load(path, backend="abacus")


def test_what_does_not_fit(tmp_path):
    program = flambeau.load(export(tmp_path, Nested(), ARGS, KWARGS))
    x, pair = ARGS
    cases = [
        ((x,), KWARGS, "the argument 'pair' (args[1]) is missing"),
        (ARGS, {}, "the keyword argument 'named' is missing"),
        ((*ARGS, x), KWARGS, "the program takes 2 positional arguments, 3 are given"),
        (ARGS, {**KWARGS, "other": x}, "the program has no argument 'other'"),
        (ARGS, {**KWARGS, "x": x}, "the argument 'x' is given twice"),
        ((x, (x,)), KWARGS, "args[1] is 1 items, expected are 2"),
        ((x, x), {"named": x}, "args[1]"),
        ((x, "ab"), KWARGS, "args[1] is a str, expected are a sequence of 2"),
        (ARGS, {"named": {"k": x}}, "kwargs['named'] is a dict without 'm', expected are the keys ['m']"),
        (ARGS, {"named": {"m": x, "k": x}}, "a dict with the keys ['m', 'k']"),
        ((object(), pair), KWARGS, "an operator takes no object"),
    ]
    for args, kwargs, text in cases:
        with pytest.raises(flambeau.Error) as caught:
            program(*args, **kwargs)
        assert text in str(caught.value)
        assert caught.value.code == "invalid_argument"


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


def test_inspection_dynamic_shapes_and_state(tmp_path):
    batch = torch.export.Dim("batch", min=2, max=9)
    path = export(tmp_path, Scale(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: batch}})
    program = flambeau.load(str(path), threads=1)
    (leaf,) = program.inputs
    assert (leaf.name, leaf.path, leaf.kind, leaf.dtype) == ("x", "args[0]", "tensor", "float32")
    assert isinstance(leaf.shape[0], str) and leaf.shape[1] == 3
    assert "<= 9" in leaf.range and "x: float32[" in repr(program)
    assert program.in_spec == "((*,), {})"
    assert len(program.outputs) == 1
    assert program(torch.ones(2, 3)).tolist() == [[2.0] * 3] * 2
    assert program(np.ones((5, 3), dtype="float32")).shape == (5, 3)
    assert program.state("count").item() == 2.0
    with pytest.raises(flambeau.Error):
        program(torch.ones(10, 3))
    assert program.state("count").item() == 2.0
    with pytest.raises(flambeau.Error, match="no weight 'nosuch'"):
        program.state("nosuch")


def test_from_bytes_and_profile(tmp_path):
    path = export(tmp_path, Scale(), (torch.ones(4, 3),))
    program = flambeau.load(path.read_bytes(), plan=False)
    profile = program.profile(torch.ones(4, 3))
    assert profile.result.tolist() == [[2.0] * 3] * 4
    assert any("add" in entry.op for entry in profile) and "add" in str(profile)
    assert all(entry.seconds >= 0 for entry in profile)


def test_errors_of_files(tmp_path):
    with pytest.raises(flambeau.Error) as caught:
        flambeau.load(tmp_path / "nosuch.pt2")
    assert caught.value.code == "not_found"
    with pytest.raises(flambeau.Error):
        flambeau.load(b"not a model")


def test_an_operator_of_the_users(tmp_path):
    library = torch.library.Library("flambeau_pytest", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeExplicitAutograd")
    library.impl("twice", lambda x: torch.empty_like(x), "Meta")

    class Uses(torch.nn.Module):
        def forward(self, x):
            return torch.ops.flambeau_pytest.twice(x)

    path = export(tmp_path, Uses(), (torch.ones(3),))
    with pytest.raises(flambeau.Error, match="flambeau_pytest"):
        flambeau.load(path)
    flambeau.register("flambeau_pytest::twice(Tensor x) -> Tensor", lambda x: flambeau.ops.aten.add.Tensor(x, x))
    assert flambeau.load(path)(torch.ones(3)).tolist() == [2.0] * 3


def test_many_threads_run_one_program(tmp_path):
    path = export(tmp_path, Nested(), ARGS, KWARGS)
    program = flambeau.load(path)
    sums = collections.deque()

    def work():
        for _ in range(20):
            sums.append(program(*ARGS, **KWARGS)["sum"].numpy().sum())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert list(sums) == [18.0] * 80


class Image(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 3, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Conv2d(16, 8, 3)
        )
        self.head = torch.nn.Linear(8, 10)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LSTM(24, 40, 2, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0]


FIRST_RUNS = {
    "image": (Image, (3, 17, 17)),
    "linear": (lambda: torch.nn.Sequential(torch.nn.Linear(300, 500), torch.nn.GELU(), torch.nn.Linear(500, 70)), (300,)),
    "recurrent": (Recurrent, (7, 24)),
    "attention": (lambda: torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), (9, 64)),
}


@pytest.mark.parametrize("name", FIRST_RUNS)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_the_first_run_gives_the_bits_of_the_others(tmp_path, name, is_dynamic):
    torch.manual_seed(3)
    make, sizes = FIRST_RUNS[name]
    module = make().eval()
    shapes = ({0: torch.export.Dim("batch", min=1, max=64)},) if is_dynamic else None
    path = export(tmp_path, module, (torch.randn(5, *sizes),), dynamic_shapes=shapes)
    program = flambeau.load(path)
    for batch in (5, 2, 11, 5) if is_dynamic else (5,):
        x = torch.randn(batch, *sizes)
        first = program(x).numpy().copy()
        for _ in range(3):
            assert (program(x).numpy().view(np.int32) == first.view(np.int32)).all(), batch
        # Nor does it matter what ran before.
        assert (flambeau.load(path)(x).numpy().view(np.int32) == first.view(np.int32)).all(), batch
        np.testing.assert_allclose(first, module(x).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_guards_that_cannot_be_read(tmp_path):
    class Add(torch.nn.Module):
        def forward(self, x):
            return x + 1

    import zipfile

    path, changed = export(tmp_path, Add(), (torch.ones(3),)), tmp_path / "changed.pt2"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            if "/models/" in name:
                assert b'"guards_code": []' in data
                data = data.replace(b'"guards_code": []', b'"guards_code": ["math.asin(L[\'x\'].size()[0]) < 9"]')
            new.writestr(name, data)
    with pytest.raises(flambeau.Error, match=r"cannot be read, and so not be checked: math.asin"):
        flambeau.load(changed)
    program = flambeau.load(changed, ignore_guards=True)
    assert program.unknown_guards == ["math.asin(L['x'].size()[0]) < 9"]
    assert program(torch.ones(3)).tolist() == [2.0] * 3
