"""Samples of operators that no OpInfo of PyTorch calls: what exported programs hold but nobody writes in Python.

SAMPLES maps an overload to a function that gives calls, as (args, kwargs), of a type; and to the types. PyTorch's kernels
check less than its Python interface does: a call must be a valid one.
"""

import pathlib

import torch

import record

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]
ALL = [torch.bool, *INTEGERS, *FLOATS, *COMPLEX]
SINGLE = [torch.float32, torch.float64]

SAMPLES = {}
TOLERANCES = {}  # by overload and type, where the types' own are too narrow


def hand(*names, types=ALL, tolerance=None):
    """The function gives calls for all of the named overloads of aten. `tolerance` has a pair for some of the types."""

    def register(function):
        for name in names:
            SAMPLES[f"aten::{name}"] = (function, types)
            TOLERANCES[f"aten::{name}"] = tolerance or {}
        return function

    return register


def source(name):
    """The file in which the samples of an overload are written."""
    return pathlib.Path(SAMPLES[name][0].__code__.co_filename)


def samples(op, of):
    """The calls of an overload, run by PyTorch; one that it refuses is not a sample."""
    function, types = of
    for dtype in types:
        torch.manual_seed(0)
        for args, kwargs in function(dtype):
            for call in record.record(lambda func: func is op, lambda: op(*args, **kwargs)):
                yield record.Sample(*call, dtype, "by hand", TOLERANCES.get(record.overload_name(op), {}).get(dtype))


def with_out(op):
    """Samples of an out= form, made of those of the plain overload."""
    plain = f"{op._schema.name}.default"
    function, types = SAMPLES.get(plain, (None, ()))
    for dtype in types:
        torch.manual_seed(0)
        donors = record.evenly([given for given in function(dtype)], 2 * record.MANY.out)
        for args, kwargs in donors:
            for call in record.derive(op, args, kwargs, lambda func: func is op):
                yield record.Sample(*call, dtype, "by hand")


def make(dtype, *shape):
    if dtype is torch.bool:
        return torch.rand(shape) > 0.5
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(0 if dtype is torch.uint8 else -9, 10, shape).to(dtype)
    return torch.randn(shape, dtype=dtype if dtype.is_complex else torch.float64).to(dtype)


def call(*args, **kwargs):
    return args, kwargs


def layouts(dtype):
    """Tensors of every sort of strides."""
    yield make(dtype)
    yield make(dtype, 0, 3)
    yield make(dtype, 3, 4)
    yield make(dtype, 3, 4).t()
    yield make(dtype, 5, 6)[1:, ::2]
    yield make(dtype, 1, 4).expand(3, 4)
    yield make(dtype, 2, 3, 4, 5).to(memory_format=torch.channels_last)


@hand("alias.default", "lift_fresh_copy.default", "copy.default", "zero.default", "detach.default", "detach_.default", "clone.default")
def one_tensor(dtype):
    for x in layouts(dtype):
        yield call(x)
        yield call(x, make(dtype, *x.shape))


@hand("copy.default", "copy_.default")
def copies(dtype):
    for x in layouts(dtype):
        if x.stride()[:1] != (0,):
            yield call(x, make(dtype, *x.shape))
            yield call(x, make(torch.float32, *x.shape))
            yield call(x, make(torch.int64, *x.shape[1:]))


@hand("contiguous.default")
def contiguous(dtype):
    for x in layouts(dtype):
        yield call(x)
    yield call(make(dtype, 2, 3, 4, 5), memory_format=torch.channels_last)
    yield call(make(dtype, 2, 3, 4, 5, 6), memory_format=torch.channels_last_3d)
    yield call(make(dtype, 2, 3, 4, 5).to(memory_format=torch.channels_last), memory_format=torch.channels_last)


@hand("_to_copy.default")
def to_copy(dtype):
    for x in layouts(dtype):
        yield call(x)
        for to in (torch.float32, torch.int64, torch.bool, torch.float16, torch.bfloat16, torch.complex64, torch.uint8):
            yield call(x.abs() if to is torch.uint8 and dtype is not torch.bool else x, dtype=to)
        yield call(x, dtype=torch.float64, layout=torch.strided, device=torch.device("cpu"), memory_format=torch.contiguous_format)
        yield call(x, device=torch.device("cpu"), pin_memory=False, non_blocking=False)
    yield call(make(dtype, 2, 3, 4, 5), memory_format=torch.channels_last)


@hand("to.dtype_layout")
def to_dtype_layout(dtype):
    for x in layouts(dtype):
        yield call(x, dtype=torch.float32, layout=torch.strided, device=torch.device("cpu"))
        yield call(x, dtype=torch.int64, copy=True)
        yield call(x, layout=torch.strided, device=torch.device("cpu"), pin_memory=False)
    yield call(make(dtype, 2, 3, 4, 5), dtype=dtype, memory_format=torch.channels_last)


@hand("to.other", "type_as.default")
def to_other(dtype):
    for x in layouts(dtype):
        for to in (torch.float32, torch.int64, torch.bool, torch.complex64, dtype):
            yield call(x, make(to, 2))


@hand("view.dtype")
def view_dtype(dtype):
    for to in ALL:
        yield call(make(dtype, 3, 16), to)
    yield call(make(dtype, 4, 3, 16).transpose(0, 1), torch.uint8)


@hand("__and__.Tensor", "__and__.Scalar", types=[torch.bool, *INTEGERS])
def bit_and(dtype):
    for x in layouts(dtype):
        yield call(x, make(dtype, *x.shape))
        yield call(x, make(torch.bool))
        yield call(x, True)
        yield call(x, 5)


@hand("_assert_tensor_metadata.default")
def assert_metadata(dtype):
    for x in layouts(dtype):
        yield call(x, None, None, dtype)
        yield call(x, list(x.shape), list(x.stride()), dtype, device=torch.device("cpu"), layout=torch.strided)


@hand("_assert_scalar.default", types=[torch.int64])
def assert_scalar(dtype):
    yield call(1, "never said")
    yield call(True, "never said")
    yield call(2.5, "never said")


@hand("_local_scalar_dense.default", "item.default")
def local_scalar(dtype):
    yield call(make(dtype))
    yield call(make(dtype, 1, 1))
    yield call(make(dtype, 5)[2:3])


@hand("sym_size.int", types=[torch.float32])
def sym_size(dtype):
    x = make(dtype, 3, 4, 5)
    for dim in (0, 1, 2, -1, -3):
        yield call(x, dim)


@hand("sym_numel.default", "sym_storage_offset.default", types=[torch.float32])
def sym_of_tensor(dtype):
    for x in layouts(dtype):
        yield call(x)


@hand("sym_stride.int", types=[torch.float32])
def sym_stride(dtype):
    for x in layouts(dtype):
        for dim in range(-x.dim(), x.dim()):
            yield call(x, dim)


@hand("sym_constrain_range.default", "sym_constrain_range_for_size.default", types=[torch.int64])
def sym_constrain_range(dtype):
    yield call(5)
    yield call(5, min=2, max=9)
    yield call(5, min=0)


@hand("_assert_async.default", "_assert_async.msg")
def assert_async(dtype):
    yield call(torch.ones((), dtype=dtype))
    yield call(torch.ones(1, dtype=dtype), "never said")


@hand("_softmax.default", types=FLOATS)
def softmax(dtype):
    for x in layouts(dtype):
        for dim in range(-1, max(1, x.dim())):
            yield call(x, dim, False)


@hand("_adaptive_avg_pool2d.default", types=FLOATS)
def adaptive_pool(dtype):
    for size in ([1, 1], [3, 2], [7, 9], [5, 5]):
        yield call(make(dtype, 2, 3, 5, 7), size)
        yield call(make(dtype, 3, 8, 6), size)
        yield call(make(dtype, 2, 3, 9, 8).to(memory_format=torch.channels_last), size)


@hand("_native_batch_norm_legit_no_training.default", types=[torch.bfloat16, *SINGLE])
def batch_norm(dtype):
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 5), (1, 3, 2, 3, 4)):
        mean, var = make(dtype, 3), make(dtype, 3).abs() + 0.5
        yield call(make(dtype, *shape), make(dtype, 3), make(dtype, 3), mean, var, 0.1, 1e-5)
        yield call(make(dtype, *shape), None, None, mean, var, 0.1, 1e-3)
    channels_last = make(dtype, 2, 3, 4, 5).to(memory_format=torch.channels_last)
    yield call(channels_last, make(dtype, 3), make(dtype, 3), mean, var, 0.1, 1e-5)


@hand("_weight_norm.default", types=[torch.bfloat16, *SINGLE])
def weight_norm(dtype):
    yield call(make(dtype, 6, 4, 3), make(dtype, 6, 1, 1))
    yield call(make(dtype, 6, 4, 3), make(dtype, 1, 1, 3), 2)
    yield call(make(dtype, 6, 4), make(dtype, 6, 1), 0)
    yield call(make(dtype, 6, 4), make(dtype, 1), -1)


@hand("convolution.default", types=[torch.bfloat16, *SINGLE, torch.complex64])
def convolution(dtype):
    one, two = ([1], [0], [1]), ([1, 1], [0, 0], [1, 1])
    yield call(make(dtype, 2, 4, 9), make(dtype, 6, 4, 3), make(dtype, 6), *one, False, [0], 1)
    yield call(make(dtype, 2, 4, 9), make(dtype, 6, 2, 3), None, [2], [1], [2], False, [0], 2)
    yield call(make(dtype, 2, 4, 9), make(dtype, 4, 6, 3), make(dtype, 6), [2], [1], [1], True, [1], 1)
    yield call(make(dtype, 2, 3, 8, 9), make(dtype, 4, 3, 3, 3), make(dtype, 4), *two, False, [0, 0], 1)
    yield call(make(dtype, 2, 3, 8, 9), make(dtype, 4, 3, 3, 2), None, [2, 1], [1, 2], [1, 2], False, [0, 0], 1)
    yield call(make(dtype, 1, 4, 6, 6), make(dtype, 4, 1, 3, 3), make(dtype, 4), [1, 1], [1, 1], [1, 1], False, [0, 0], 4)
    yield call(make(dtype, 1, 4, 6, 6), make(dtype, 8, 1, 3, 3), None, [2, 2], [1, 1], [1, 1], False, [0, 0], 4)
    yield call(make(dtype, 1, 4, 5, 5), make(dtype, 4, 3, 2, 2), make(dtype, 6), [2, 2], [0, 0], [1, 1], True, [1, 1], 2)
    yield call(make(dtype, 1, 16, 5, 5).to(memory_format=torch.channels_last), make(dtype, 8, 16, 1, 1), make(dtype, 8), *two, False, [0, 0], 1)
    yield call(make(dtype, 1, 2, 4, 5, 6), make(dtype, 3, 2, 2, 2, 2), make(dtype, 3), [1, 2, 1], [0, 1, 0], [1, 1, 1], False, [0, 0, 0], 1)
    yield call(make(dtype, 0, 3, 8, 9), make(dtype, 4, 3, 3, 3), None, *two, False, [0, 0], 1)


def recurrent(gates, dtype):
    """Layers, directions, biases and batch first, for a network with so many gates: input, weights, flags."""
    for layers, directions, biases, first in ((1, 1, True, False), (2, 1, True, True), (1, 2, False, False), (2, 2, True, True)):
        hidden, width = 5, 3
        weights = []
        for layer in range(layers):
            for _ in range(directions):
                wide = width if layer == 0 else hidden * directions
                weights += [make(dtype, gates * hidden, wide) * 0.5, make(dtype, gates * hidden, hidden) * 0.5]
                weights += [make(dtype, gates * hidden), make(dtype, gates * hidden)] if biases else []
        state = [make(dtype, layers * directions, 2, hidden) for _ in range(2)]
        x = make(dtype, 2, 6, width) if first else make(dtype, 6, 2, width)
        yield x, state, weights, (biases, layers, 0.0, False, directions == 2), first


@hand("lstm.input", types=SINGLE)
def lstm(dtype):
    for x, state, weights, flags, first in recurrent(4, dtype):
        yield call(x, state, weights, *flags, first)


@hand("gru.input", types=SINGLE)
def gru(dtype):
    for x, state, weights, flags, first in recurrent(3, dtype):
        yield call(x, state[0], weights, *flags, first)


@hand("rnn_tanh.input", types=SINGLE)
def rnn(dtype):
    for x, state, weights, flags, first in recurrent(1, dtype):
        yield call(x, state[0], weights, *flags, first)


def packed(gates, dtype):
    for x, state, weights, flags, first in recurrent(gates, dtype):
        if not first:
            yield x.reshape(-1, x.shape[-1])[:9], torch.tensor([2, 2, 2, 2, 1]), state, weights, flags


@hand("lstm.data", types=SINGLE)
def lstm_packed(dtype):
    for data, sizes, state, weights, flags in packed(4, dtype):
        yield call(data, sizes, state, weights, *flags)


@hand("gru.data", types=SINGLE)
def gru_packed(dtype):
    for data, sizes, state, weights, flags in packed(3, dtype):
        yield call(data, sizes, state[0], weights, *flags)


@hand("rnn_tanh.data", types=SINGLE)
def rnn_packed(dtype):
    for data, sizes, state, weights, flags in packed(1, dtype):
        yield call(data, sizes, state[0], weights, *flags)


@hand("where.default", types=[torch.bool, torch.int64, torch.float32])
def where_alone(dtype):
    for x in layouts(dtype):
        yield call(x)


@hand("where.Scalar", "where.ScalarOther", "where.ScalarSelf")
def where_numbers(dtype):
    for x in layouts(dtype):
        condition = make(torch.bool, *x.shape)
        yield call(condition, x, 2.5)
        yield call(condition, 3, x)
        yield call(condition, x, True)
        yield call(condition, 1.5, 2)
        yield call(condition, 3, 2)
    yield call(make(torch.bool, 3, 1), make(dtype, 4), -1)


@hand("split.sizes")
def split_sizes(dtype):
    yield call(make(dtype, 7, 3), [2, 5])
    yield call(make(dtype, 3, 7), [1, 0, 6], 1)


@hand("repeat_interleave.Tensor", types=[torch.int32, torch.int64])
def repeat_interleave(dtype):
    yield call(torch.tensor([2, 0, 3], dtype=dtype))
    yield call(torch.tensor([1, 1], dtype=dtype), output_size=2)


@hand("swapaxes.default", "swapaxes_.default")
def swapaxes(dtype):
    yield call(make(dtype, 2, 3, 4), 0, 2)
    yield call(make(dtype, 2, 3, 4), -1, 1)


@hand("multiply.Tensor", "multiply.Scalar", "multiply_.Tensor", "multiply_.Scalar")
def multiply(dtype):
    for x in layouts(dtype):
        if x.stride()[:1] != (0,):
            yield call(x, make(dtype, *x.shape))
            yield call(x, make(torch.int64))
            yield call(x, 3)
            yield call(x, 2.5)


@hand("clamp.default", "clamp_.default", types=[*INTEGERS, *FLOATS])
def clamp(dtype):
    for x in layouts(dtype):
        if x.stride()[:1] != (0,):
            yield call(x, 1, 3)
            yield call(x, None, 2)
            yield call(x, -1.5)
            yield call(x, min=1, max=0)
    if dtype.is_floating_point:
        yield call(torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0], dtype=dtype), -1, 1)


@hand("rand.default", types=FLOATS)
def rand(dtype):
    for shape in ([], [0], [3], [5, 7], [40, 50]):
        yield call(shape, dtype=dtype)
    yield call([3, 2], dtype=dtype, device=torch.device("cpu"), pin_memory=False)


@hand("rand_like.default", types=FLOATS)
def rand_like(dtype):
    for x in layouts(dtype):
        yield call(x)
    yield call(make(dtype, 3, 4), dtype=torch.float32, pin_memory=False)


@hand("randperm.default", types=[torch.int64, torch.int32, torch.float32])
def randperm(dtype):
    for count in (0, 1, 2, 9, 500):
        yield call(count, dtype=dtype)


@hand("bernoulli.p", "bernoulli.Tensor", "bernoulli_.Tensor", types=[torch.bool, torch.int64, *FLOATS])
def bernoulli(dtype):
    for shape in ((), (7,), (30, 40)):
        yield call(make(dtype, *shape), 0.3)
        yield call(make(dtype, *shape), torch.rand(shape))


@hand("uniform.default", types=FLOATS)
def uniform(dtype):
    for x in layouts(dtype):
        yield call(x)
        yield call(x, -2.0, 3.0)


@hand("native_dropout.default", types=FLOATS)
def native_dropout(dtype):
    for x in layouts(dtype):
        for chance in (0.0, 0.4, 1.0):
            yield call(x, chance, True)
        yield call(x, 0.5, False)


@hand("arange.default", types=[*INTEGERS, *FLOATS])
def arange(dtype):
    yield call(5)
    yield call(4.5)
    yield call(0)
    yield call(7, dtype=dtype)
    yield call(9, dtype=dtype, device=torch.device("cpu"), pin_memory=False)


@hand("empty_permuted.default")
def empty_permuted(dtype):
    yield call([2, 3, 4], [2, 0, 1], dtype=dtype)
    yield call([2, 3], [0, 1], dtype=dtype, device=torch.device("cpu"))


import by_hand_more  # noqa: E402, F401
import by_hand_backward  # noqa: E402,F401 (registers its samples)
import by_hand_linalg  # noqa: E402, F401
import by_hand_fourier  # noqa: E402, F401
