"""Samples of linear algebra's own parts, which PyTorch's OpInfos reach through other names or not at all."""

import torch

from by_hand import COMPLEX, call, hand

LINALG = [torch.float32, torch.float64, *COMPLEX]


def squares(dtype):
    """Well-conditioned matrices: alone, batched, turned round, and without elements."""
    for shape in ((3, 3), (2, 5, 5), (2, 0, 0), (0, 3, 3), (1, 1)):
        x = torch.randn(shape, dtype=dtype)
        yield x + 3 * torch.eye(shape[-1], dtype=dtype)
    yield (torch.randn(2, 4, 4, dtype=dtype) + 3 * torch.eye(4, dtype=dtype)).mT


@hand(
    "_linalg_det.default", "_linalg_slogdet.default", "_linalg_eigh.default", "_linalg_eigvals.default", "_linalg_svd.default",
    "linalg_matrix_exp.default", "det.default", "slogdet.default", "inverse.default", "_lu_with_info.default", "nuclear_norm.default",
    types=LINALG,
)  # fmt: skip
def square(dtype):
    for x in squares(dtype):
        yield call(x)


@hand("_linalg_check_errors.default", types=[torch.int32])
def check_errors(dtype):
    yield call(torch.zeros((), dtype=dtype), "linalg.inv", is_matrix=True)
    yield call(torch.zeros(2, 3, dtype=dtype), "linalg.cholesky", is_matrix=False)


@hand("_linalg_solve_ex.default", "linalg_solve_ex.default", types=LINALG)
def solve_ex(dtype):
    for a in squares(dtype):
        n = a.shape[-1]
        yield call(a, torch.randn(*a.shape[:-1], 2, dtype=dtype))
        yield call(a, torch.randn(*a.shape[:-2], 2, n, dtype=dtype), left=False)
        yield call(a, torch.randn(n, dtype=dtype))
        yield call(a, torch.randn(3, *([1] * (a.dim() - 2)), n, 2, dtype=dtype) if a.numel() else torch.randn(n, 2, dtype=dtype))


@hand("_cholesky_solve_helper.default", types=LINALG)
def cholesky_solve_helper(dtype):
    for a in squares(dtype):
        for upper in (False, True):
            yield call(torch.randn(*a.shape[:-1], 2, dtype=dtype), a, upper)


@hand("linalg_cond.p_str", types=LINALG)
def cond(dtype):
    for a in squares(dtype):
        yield call(a, "fro")
        yield call(a, "nuc")


@hand("linalg_matrix_rank.default", "linalg_pinv.default", types=LINALG)
def by_number(dtype):
    for a in squares(dtype):
        yield call(a, 0.5)
        yield call(a @ a.mH, 0.1, True)


@hand("linalg_matrix_rank.tol_tensor", "linalg_pinv.rcond_tensor", types=LINALG)
def by_tensor(dtype):
    for a in squares(dtype):
        yield call(a, torch.tensor(0.5))
        yield call(a @ a.mH, torch.rand(a.shape[:-2]), True)


@hand("matrix_power.default", types=LINALG)
def power(dtype):
    for a in squares(dtype):
        for n in (-2, -1, 0, 1, 2, 3, 11):
            yield call(a / 4, n)


@hand("orgqr.default", types=LINALG)
def orgqr(dtype):
    for shape in ((4, 4), (2, 5, 3), (0, 4, 2)):
        yield call(*torch.geqrf(torch.randn(shape, dtype=dtype)))


@hand("vander.default", types=[torch.int64, *LINALG])
def vander(dtype):
    x = torch.tensor([1, 2, 3, 5]).to(dtype)
    for count in (None, 0, 1, 6):
        yield call(x, count)
        yield call(x, count, True)


@hand("norm_except_dim.default", types=[torch.float32, torch.float64])
def norm_except_dim(dtype):
    for dim in (-1, 0, 1, 2):
        yield call(torch.randn(3, 4, 5, dtype=dtype), 2, dim)


@hand("linalg_lstsq.default", types=LINALG)
def lstsq(dtype):
    for shape in ((5, 3), (2, 5, 3), (2, 3, 5), (4, 4)):
        a = torch.randn(shape, dtype=dtype)
        for driver in ("gels", "gelsy", "gelsd", "gelss"):
            yield call(a, torch.randn(*shape[:-1], 2, dtype=dtype), driver=driver)
        yield call(a, torch.randn(shape[:-1], dtype=dtype))
        yield call(a[..., :1] @ a[..., :1, :], torch.randn(*shape[:-1], 2, dtype=dtype), 1e-3, driver="gelsd")
