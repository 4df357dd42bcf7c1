"""Tensors in and out: numpy, PyTorch, DLPack; what is shared and what is copied."""

import gc
import weakref

import flambeau
import pytest

np = pytest.importorskip("numpy")


def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
    + ["float16", "float32", "float64", "complex64", "complex128"],
)
def test_numpy_is_shared(dtype):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)[:, ::2, 1:]
    tensor = flambeau.Tensor(array)
    assert tensor.dtype == dtype
    assert tensor.shape == array.shape
    assert tensor.strides == tuple(s // array.itemsize for s in array.strides)
    assert tensor.data_ptr == array.ctypes.data
    back = tensor.numpy()
    assert back.dtype == array.dtype and back.strides == array.strides
    array[0, 0, 0] = 1
    assert back[0, 0, 0] == 1
    assert np.array_equal(np.asarray(tensor), array)
    assert np.array_equal(np.from_dlpack(tensor), array)


def test_what_numpy_shows_otherwise_is_copied():
    backwards = np.arange(6, dtype="int32")[::-1]
    assert flambeau.Tensor(backwards).tolist() == [5, 4, 3, 2, 1, 0]
    read_only = np.arange(3)
    read_only.flags.writeable = False
    tensor = flambeau.Tensor(read_only)
    assert tensor.tolist() == [0, 1, 2] and tensor.data_ptr != read_only.ctypes.data
    assert flambeau.Tensor(np.arange(3, dtype=">i4")).tolist() == [0, 1, 2]
    packed = np.zeros(3, dtype=[("a", "u1"), ("b", "<f4")])
    packed["b"] = [1, 2, 3]
    assert flambeau.Tensor(packed["b"]).tolist() == [1, 2, 3]


def test_numbers_and_lists():
    assert flambeau.Tensor(3).dtype == "int64" and flambeau.Tensor(3).item() == 3
    assert flambeau.Tensor(2.5).item() == 2.5
    assert flambeau.Tensor(True).item() is True
    assert flambeau.Tensor(1 + 2j).item() == 1 + 2j
    assert flambeau.Tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert flambeau.Tensor(np.zeros((0, 3))).tolist() == []
    assert repr(flambeau.Tensor([1.5])) == "flambeau.Tensor(float64[1], [1.5])"
    assert len(flambeau.Tensor([1, 2])) == 2 and bool(flambeau.Tensor(1)) and float(flambeau.Tensor(2)) == 2.0
    with pytest.raises(TypeError):
        len(flambeau.Tensor(1))


def test_errors_say_what_was_given():
    with pytest.raises(flambeau.Error, match="a dict is no tensor") as caught:
        flambeau.Tensor({})
    assert caught.value.code == "invalid_argument"
    assert "__dlpack__" in caught.value.remedy
    with pytest.raises(flambeau.Error, match="numpy's type 'longdouble|numpy's type 'float128"):
        flambeau.Tensor(np.zeros(2, dtype=np.longdouble))
    with pytest.raises(flambeau.Error, match="does not fit into 64 bits"):
        flambeau.Tensor(2**70)
    assert issubclass(flambeau.Error, RuntimeError)


def test_memory_lives_as_long_as_somebody_looks():
    array = np.arange(1000.0)
    alive = weakref.ref(array)
    tensor = flambeau.Tensor(array)
    view = tensor.numpy()
    del array, tensor
    gc.collect()
    assert alive() is not None and view[999] == 999.0
    del view
    gc.collect()
    assert alive() is None


def test_capsules_nobody_takes_are_freed():
    array = np.arange(3)
    alive = weakref.ref(array)
    tensor = flambeau.Tensor(array)
    for version in (None, (1, 0)):
        tensor.__dlpack__(max_version=version)
    del array, tensor
    gc.collect()
    assert alive() is None


def test_dlpack_arguments():
    tensor = flambeau.Tensor([1, 2])
    assert tensor.__dlpack_device__() == (1, 0)
    copy = np.from_dlpack(tensor, copy=True)
    copy[0] = 9
    assert tensor.tolist() == [1, 2]
    with pytest.raises(BufferError):
        tensor.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))


class Exporter:
    """Speaks DLPack and nothing else, as a library that nobody here knows."""

    def __init__(self, inner):
        self.inner = inner

    def __dlpack__(self, **kwargs):
        return self.inner.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.inner.__dlpack_device__()


def test_any_dlpack_exporter():
    array = np.arange(6.0).reshape(2, 3).T
    tensor = flambeau.Tensor(Exporter(array))
    assert tensor.shape == (3, 2) and tensor.strides == (1, 3) and tensor.data_ptr == array.ctypes.data
    assert flambeau.Tensor(Exporter(array[::-1])).tolist() == array[::-1].tolist()
    read_only = np.arange(3)
    read_only.flags.writeable = False
    assert flambeau.Tensor(Exporter(read_only)).data_ptr != read_only.ctypes.data
    assert flambeau.Tensor(Exporter(flambeau.Tensor([1, 2]))).tolist() == [1, 2]


def test_torch_of_every_type_is_shared():
    t = torch()
    names = ["bool", "bfloat16", "float16", "float32", "complex64", "complex128", "uint8", "int64"]
    names += ["uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]
    for name in names:
        theirs = t.zeros(4, 6, dtype=getattr(t, name))[1:, ::2]
        ours = flambeau.Tensor(theirs)
        assert ours.dtype == name and ours.offset == 6
        back = t.from_dlpack(ours)
        assert back.dtype == theirs.dtype and back.stride() == theirs.stride()
        assert back.data_ptr() == theirs.data_ptr() == ours.data_ptr


def test_torch_that_is_not_plain():
    t = torch()
    z = t.tensor([1 + 2j, 3 - 1j])
    assert flambeau.Tensor(z.conj()).tolist() == [1 - 2j, 3 + 1j]
    assert flambeau.Tensor(z.conj().imag).tolist() == [-2.0, 1.0]
    assert flambeau.Tensor(t.ones(2, requires_grad=True)).tolist() == [1.0, 1.0]
    assert flambeau.Tensor(t.nn.Parameter(t.ones(1))).item() == 1.0
    meta = flambeau.Tensor(t.empty(2, 3, device="meta"))
    assert meta.device == "meta" and meta.shape == (2, 3)
    with pytest.raises(flambeau.Error, match="has no plain memory to show"):
        meta.numpy()
    with pytest.raises(flambeau.Error, match="a PyTorch tensor of layout torch.sparse_coo cannot be taken"):
        flambeau.Tensor(t.ones(2, 2).to_sparse())
    with pytest.raises(flambeau.Error, match="numpy has no type for bfloat16"):
        flambeau.Tensor(t.ones(2, dtype=t.bfloat16)).numpy()
