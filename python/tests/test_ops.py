"""Operators by name: arguments, overloads, results, errors, threads, operators of Python's own."""

import threading

import flambeau
import pytest

np = pytest.importorskip("numpy")
aten = flambeau.ops.aten


def floats(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def test_overloads_by_name():
    x = floats(2, 3)
    y = aten.add.Tensor(x, x, alpha=2)
    assert isinstance(y, flambeau.Tensor)
    assert np.array_equal(y.numpy(), x * 3)
    assert aten.clone.default(x).tolist() == x.tolist()
    assert aten.add.Tensor.name == "aten::add.Tensor"
    assert aten.add.Tensor.schema == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert "Tensor" in aten.add.overloads()
    assert "aten::add" in repr(aten.add) and repr(flambeau.ops) and repr(aten)


def test_the_overload_that_fits():
    x = floats(3)
    assert aten.add(x, x).tolist() == [0, 2, 4]
    assert aten.add(x, 1).tolist() == [1, 2, 3]
    assert aten.add(x, np.float32(1), alpha=np.int64(2)).dtype == "float32"
    out = np.zeros(3, dtype="float32")
    aten.add(x, x, out=out)
    assert out.tolist() == [0, 2, 4]
    with pytest.raises(flambeau.Error, match="no overload of aten::add takes these arguments"):
        aten.add(x, "y")


def test_in_place_changes_the_callers_memory():
    x = floats(2, 2)
    result = aten.add_.Tensor(x.T, x.copy())
    assert x.tolist() == [[0, 3], [3, 6]]
    assert result.data_ptr == x.ctypes.data
    held = flambeau.Tensor(x)
    aten.add_.Tensor(held, 1)
    assert x.tolist() == [[1, 4], [4, 7]]


def test_memory_that_arguments_share_is_seen():
    x = floats(2, 2)
    aten.add_.Tensor(x.T, x)  # two arrays, one memory
    assert x.tolist() == [[0, 3], [3, 6]]
    x = floats(6)
    aten.add.out(x[:-1], x[1:], out=x[1:])
    assert x.tolist() == [0, 1, 3, 5, 7, 9]


def test_types_come_in_every_form():
    x = floats(2, 2)
    for dtype in ("int32", "torch.int32", np.int32, np.dtype("int32")):
        assert aten.zeros_like(x, dtype=dtype).dtype == "int32"
    assert aten.zeros_like(x, dtype=float).dtype == "float64"
    assert aten.zeros_like(x, dtype=bool).dtype == "bool"
    y = aten.zeros_like(x, device="cpu", layout="strided", memory_format="preserve_format")
    assert y.shape == (2, 2)
    torch = pytest.importorskip("torch")
    y = aten.zeros_like(
        x,
        dtype=torch.complex64,
        device=torch.device("cpu"),
        layout=torch.strided,
        memory_format=torch.contiguous_format,
    )
    assert y.dtype == "complex64"


def test_errors():
    x = floats(2)
    with pytest.raises(flambeau.Error, match="must match the size of tensor b") as caught:
        aten.add.Tensor(x, floats(3))
    assert caught.value.code == "invalid_argument"
    assert caught.value.locations == [("operator", "aten::add.Tensor")]
    assert caught.value.message.startswith("The size of tensor a")
    with pytest.raises(flambeau.Error, match="nobody knows the operator aten::nosuch") as caught:
        aten.nosuch(x)
    assert caught.value.code == "unsupported"
    with pytest.raises(flambeau.Error, match="argument 'other' is missing"):
        aten.add.Tensor(x)
    with pytest.raises(flambeau.Error, match="it has no argument 'beta'"):
        aten.add.Tensor(x, x, beta=1)
    with pytest.raises(flambeau.Error, match="an operator takes no object"):
        aten.add.Tensor(x, object())


def test_what_there_is():
    assert "aten::add.Tensor" in flambeau.operators()
    assert "aten::add_.Tensor" not in flambeau.operators()
    assert "aten::add_.Tensor" in flambeau.operators(derived=True)
    assert flambeau.ops.has("aten::add.Tensor") and flambeau.ops.has("aten.add_.Tensor")
    assert flambeau.ops.has("aten::clone.default")
    assert not flambeau.ops.has("aten::nosuch")
    assert flambeau.schema("aten::relu") == "aten::relu(Tensor self) -> Tensor"
    assert not hasattr(flambeau.ops.aten, "__wrapped__")
    with pytest.raises(flambeau.Error) as caught:
        flambeau.schema("aten::nosuch")
    assert caught.value.code == "not_found"


def test_an_operator_in_python():
    seen = []

    def scale(x, factor, names, dtype):
        seen.append((type(x), factor, names, dtype))
        return aten.add.Tensor(x, x, alpha=factor - 1)

    flambeau.register("pytest::scale(Tensor x, float factor, str[] names, ScalarType? dtype=None) -> Tensor", scale)
    assert flambeau.ops.pytest.scale(floats(3), 3, ["a"], dtype="int64").tolist() == [0, 3, 6]
    assert seen == [(flambeau.Tensor, 3.0, ["a"], "int64")]

    flambeau.register("pytest::two(Tensor x) -> (Tensor, int)", lambda x: (x, 7))
    tensor, number = flambeau.ops.pytest.two(floats(2))
    assert tensor.tolist() == [0, 1] and number == 7

    flambeau.register("pytest::none(Tensor[] xs, Tensor? y=None) -> ()", lambda xs, y: None)
    assert flambeau.ops.pytest.none([floats(1), floats(2)]) is None


def test_errors_of_operators_in_python():
    def fails(x):
        raise KeyError("inside")

    flambeau.register("pytest::fails(Tensor x) -> Tensor", fails)
    with pytest.raises(KeyError, match="inside"):
        flambeau.ops.pytest.fails(floats(1))
    flambeau.register("pytest::liar(Tensor x) -> (Tensor, Tensor)", lambda x: x)
    with pytest.raises(flambeau.Error, match="its schema promises a tuple of 2"):
        flambeau.ops.pytest.liar(floats(1))
    with pytest.raises(flambeau.Error, match="exists already"):
        flambeau.register("aten::add.Tensor(Tensor x) -> Tensor", fails)
    with pytest.raises(flambeau.Error):
        flambeau.register("no schema", fails)

    def registers(x):
        flambeau.register("pytest::inner(Tensor x) -> Tensor", fails)

    flambeau.register("pytest::registers(Tensor x) -> Tensor", registers)
    with pytest.raises(flambeau.Error, match="while another one runs"):
        flambeau.ops.pytest.registers(floats(1))


def test_threads_call_and_register_at_once():
    x = floats(64, 64)
    flambeau.register("pytest::slow(Tensor x) -> Tensor", lambda x: aten.add.Tensor(x, x))
    failures = []

    def work(number):
        try:
            for i in range(30):
                assert aten.add.Tensor(x, x).numpy()[1, 1] == 130
                assert flambeau.ops.pytest.slow(x).numpy()[1, 1] == 130
                if i % 10 == 0:
                    flambeau.register(f"pytest::t{number}_{i}(Tensor x) -> Tensor", lambda x: x)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_thread_count():
    before = flambeau.get_threads()
    flambeau.set_threads(1)
    assert flambeau.get_threads() == 1
    assert aten.add.Tensor(floats(300, 300), 1).numpy()[0, 0] == 1
    flambeau.set_threads(before)
    with pytest.raises(flambeau.Error, match="at least 1"):
        flambeau.set_threads(0)


def test_random_numbers_are_pytorchs():
    flambeau.manual_seed(7)
    state = flambeau.get_rng_state()
    torch = pytest.importorskip("torch")
    torch.manual_seed(7)
    assert state == bytes(torch.get_rng_state().tolist())
    flambeau.set_rng_state(torch.get_rng_state())
    assert aten.rand([5]).tolist() == torch.rand(5).tolist()
    flambeau.set_rng_state(state)
    assert flambeau.get_rng_state() == state
