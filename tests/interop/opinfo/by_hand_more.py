"""Samples by hand: distributions drawn by rejection, packed and padded sequences, and forms that no OpInfo calls."""

import torch

from by_hand import FLOATS, SINGLE, call, hand, layouts, make


@hand("poisson.default", types=FLOATS)
def poisson(dtype):
    for x in layouts(dtype):
        yield call(x.abs() * 3)
    yield call(torch.linspace(0, 60, 200).to(dtype))


@hand("_standard_gamma.default", types=SINGLE)
def standard_gamma(dtype):
    yield call(torch.linspace(0.05, 20, 100).to(dtype))
    yield call(make(dtype, 5, 6).abs() + 0.1)


@hand("_sample_dirichlet.default", types=SINGLE)
def sample_dirichlet(dtype):
    yield call(make(dtype, 5, 6).abs() + 0.3)
    yield call(make(dtype, 4).abs() + 2)


@hand("binomial.default", types=SINGLE)
def binomial(dtype):
    counts = torch.randint(0, 100, (6, 30)).to(dtype)
    yield call(counts, torch.rand(6, 30).to(dtype))
    yield call(counts, torch.tensor(0.02, dtype=dtype).expand(6, 30))


@hand("rrelu_with_noise.default", "rrelu_with_noise_functional.default", types=[torch.bfloat16, *SINGLE])
def rrelu_with_noise(dtype):
    for training in (True, False):
        x = make(dtype, 5, 7)
        yield call(x, torch.zeros_like(x), 0.1, 0.4, training)


@hand("pad_sequence.default")
def pad_sequence(dtype):
    sequences = [make(dtype, length, 3) for length in (4, 2, 5)]
    yield call(sequences)
    yield call(sequences, True, 0.0)
    yield call(sequences, True, 1.0, "left")


@hand("_pack_padded_sequence.default", types=SINGLE)
def pack_padded_sequence(dtype):
    yield call(make(dtype, 5, 3, 2), torch.tensor([5, 3, 1]), False)
    yield call(make(dtype, 4, 6), torch.tensor([6, 6, 2, 2]), True)


@hand("_pad_packed_sequence.default", types=SINGLE)
def pad_packed_sequence(dtype):
    sizes = torch.tensor([3, 3, 2, 1])
    yield call(make(dtype, 9, 2), sizes, False, 0.0, -1)
    yield call(make(dtype, 9), sizes, True, -1.5, 6)


@hand("vander.default")
def vander(dtype):
    x = make(dtype, 4)
    yield call(x)
    yield call(x, 3, True)
    yield call(x, 0)
    yield call(x, 1)


@hand("norm_except_dim.default", types=SINGLE)
def norm_except_dim(dtype):
    for dim in (-1, 0, 1, 2):
        yield call(make(dtype, 3, 4, 5), 2, dim)


@hand("polygamma_.default", types=SINGLE)
def polygamma_in_place(dtype):
    for order in (0, 1, 3):
        yield call(make(dtype, 5).abs() + 0.5, order)


@hand("special_airy_ai.default", "special_bessel_j1.default", "special_bessel_y0.default", types=SINGLE)
def oscillating(dtype):
    yield call(torch.linspace(-30, 30, 500, dtype=dtype))


@hand("special_modified_bessel_k0.default", "special_modified_bessel_k1.default", "special_scaled_modified_bessel_k0.default", types=SINGLE)
def falling(dtype):
    yield call(torch.cat([torch.logspace(-8, 2, 300, dtype=dtype), torch.tensor([0.0, -1.0, float("inf"), float("nan")], dtype=dtype)]))


@hand("igamma.default", "igammac.default", types=SINGLE)
def incomplete_gamma(dtype):
    a = torch.logspace(-3, 5, 60, dtype=dtype)
    yield call(a[:, None], a[None, :])
    yield call(a, a * (1 + 0.3 * torch.randn(60, dtype=dtype) / a.sqrt().clamp(min=1)))
    special = torch.tensor([0.0, 1.0, -1.0, float("inf"), float("nan")], dtype=dtype)
    yield call(special[:, None], special[None, :])
