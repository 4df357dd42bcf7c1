"""Samples of Fourier transforms and windows that no OpInfo calls: the three transforms that all others are made of, and
windows of every length."""

import torch

from by_hand import COMPLEX, FLOATS, SINGLE, call, hand, make

LENGTHS = [1, 2, 3, 8, 15, 31, 64, 67, 90, 128, 210, 1024, 1009]


def regions(dtype):
    """Tensors of every order of strides, with dimensions to transform."""
    for length in LENGTHS:
        yield make(dtype, length), [0]
    for batch, length in ((40, 12), (5, 300), (33, 600), (3, 67)):
        yield make(dtype, batch, length), [1]
        yield make(dtype, length, batch), [0]
        yield make(dtype, length, batch).t(), [1]
    for dims in ([0], [1], [2], [3], [0, 1], [3, 1], [2, 0, 1], [0, 1, 2, 3]):
        x = make(dtype, 3, 4, 5, 6)
        yield x, dims
        yield x.permute(2, 0, 3, 1), dims
        yield x[:, ::2], dims
        yield x[:, :1].expand(3, 4, 5, 6), dims
        yield make(dtype, 3, 1, 5, 2), dims


@hand("_fft_c2c.default", types=COMPLEX)
def complex_to_complex(dtype):
    for number, (x, dims) in enumerate(regions(dtype)):
        yield call(x, dims, number % 3, number % 2 == 0)
    yield call(make(dtype, 3, 4).t(), [], 1, True)


@hand("_fft_r2c.default", types=SINGLE)
def real_to_complex(dtype):
    for number, (x, dims) in enumerate(regions(dtype)):
        yield call(x, dims, number % 3, number % 2 == 0)
        yield call(x, dims, 0, number % 2 != 0)


@hand("_fft_c2r.default", types=COMPLEX)
def complex_to_real(dtype):
    for number, (x, dims) in enumerate(regions(dtype)):
        size = 2 * (x.shape[dims[-1]] - 1)
        if size > 0:
            yield call(x, dims, number % 3, size)
        yield call(x, dims, number % 3, size + 1)


# Of the short types PyTorch rounds every step between, and not always in the same way: those are left out.
@hand("hann_window.default", "hamming_window.default", "bartlett_window.default", "blackman_window.default", "kaiser_window.default", types=SINGLE)
def window(dtype):
    for length in (0, 1, 2, 3, 8, 65):
        yield call(length, dtype=dtype)


@hand("hann_window.periodic", "hamming_window.periodic", "bartlett_window.periodic", "blackman_window.periodic", "kaiser_window.periodic", types=SINGLE)
def periodic_window(dtype):
    for length in (0, 1, 2, 3, 8, 65):
        for periodic in (False, True):
            yield call(length, periodic, dtype=dtype)


@hand("hamming_window.periodic_alpha", types=SINGLE)
@hand("kaiser_window.beta", types=FLOATS)
def window_with_one_number(dtype):
    for length in (0, 1, 2, 9, 64):
        yield call(length, length % 2 == 0, 2.5, dtype=dtype)


@hand("hamming_window.periodic_alpha_beta", types=SINGLE)
def window_with_two_numbers(dtype):
    for length in (0, 1, 2, 9, 64):
        yield call(length, length % 2 == 0, 0.7, 0.2, dtype=dtype)


@hand("fft_fftfreq.default", "fft_rfftfreq.default", types=FLOATS)
def frequencies(dtype):
    for n in (0, 1, 2, 7, 8, 300):
        yield call(n, dtype=dtype)
        yield call(n, 0.25, dtype=dtype)


@hand("stft.center", types=[*SINGLE, *COMPLEX])
def centred_stft(dtype):
    real = dtype.to_real() if dtype.is_complex else dtype
    for x in (make(dtype, 100), make(dtype, 2, 100)):
        yield call(x, 16, 4, None, torch.hann_window(16, dtype=real), return_complex=True)
        yield call(x, 20, 5, 15, torch.hann_window(15, dtype=real), True, "constant", True, False, True)
        yield call(x, 16, center=False, return_complex=True)
        if not dtype.is_complex:
            yield call(x, 16, 4, 9, center=False, return_complex=False, align_to_window=True)


@hand("unfold_backward.default", types=[*FLOATS, *COMPLEX, torch.int32])
def unfold_backward(dtype):
    yield call(make(dtype, 3, 4, 5), [3, 11], 1, 5, 2)
    yield call(make(dtype, 4, 3, 5), [11, 3], 0, 5, 2)
    yield call(make(dtype, 2, 3, 2), [2, 9], 1, 2, 3)
    yield call(make(dtype, 5, 4, 3).permute(2, 1, 0), [3, 11], -1, 5, 2)
