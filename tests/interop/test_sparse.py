"""Operators on sparse tensors against the real ones: random tensors of every layout, coalesced or not, with dense dimensions.

A sparse tensor goes in by its parts, and comes out by them.
"""

import zlib

import pytest
import torch

flambeau = pytest.importorskip("flambeau")

CASES = 20
aten = flambeau.ops.aten
LAYOUTS = {"csr": torch.sparse_csr, "csc": torch.sparse_csc, "bsr": torch.sparse_bsr, "bsc": torch.sparse_bsc}
COMPRESSED = {layout: name for name, layout in LAYOUTS.items()}


def pick(*choices):
    return choices[torch.randint(len(choices), ()).item()]


def given(value):
    """The same as Flambeau has it."""
    if isinstance(value, (list, tuple)):
        return [given(each) for each in value]
    if not isinstance(value, torch.Tensor):
        return str(value).removeprefix("torch.") if isinstance(value, (torch.dtype, torch.layout)) else value
    if value.layout is torch.sparse_coo:
        return aten._sparse_coo_tensor_unsafe(value._indices(), value._values(), list(value.shape), is_coalesced=value.is_coalesced())
    if value.layout in COMPRESSED:
        by_row = value.layout in (torch.sparse_csr, torch.sparse_bsr)
        parts = (value.crow_indices(), value.col_indices()) if by_row else (value.ccol_indices(), value.row_indices())
        return aten._sparse_compressed_tensor_unsafe(*parts, value.values(), list(value.shape), layout=given(value.layout))
    return value


def back(value):
    """A result as PyTorch has it, made by its own checked constructors."""
    if not hasattr(value, "layout") or isinstance(value, torch.Tensor):
        return value
    if value.layout == "strided":
        return torch.from_dlpack(value)
    part = lambda name: torch.from_dlpack(getattr(aten, name)(value))
    if value.layout == "sparse_coo":
        made = torch.sparse_coo_tensor(part("_indices"), part("_values"), tuple(value.shape), check_invariants=True)
        return made._coalesced_(aten.is_coalesced(value))
    names = ("crow_indices", "col_indices") if value.layout in ("sparse_csr", "sparse_bsr") else ("ccol_indices", "row_indices")
    layout = getattr(torch, value.layout)
    return torch.sparse_compressed_tensor(part(names[0]), part(names[1]), part("values"), tuple(value.shape), layout=layout, check_invariants=True)


def check(name, *arguments, overload="default", **named):
    theirs = getattr(getattr(torch.ops.aten, name), overload)(*arguments, **named)
    ours = getattr(getattr(aten, name), overload)(*given(arguments), **{key: given(value) for key, value in named.items()})
    ours = back(ours)
    if not isinstance(theirs, torch.Tensor):
        assert ours == theirs
        return
    assert ours.layout == theirs.layout and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if theirs.layout is torch.sparse_coo:
        assert ours.sparse_dim() == theirs.sparse_dim()
        if ours.is_coalesced():
            assert ours.coalesce()._nnz() == ours._nnz()
    half = theirs.dtype in (torch.float16, torch.bfloat16)
    tolerance = dict(rtol=2e-2, atol=2e-2) if half else dict(rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(ours.to_dense(), theirs.to_dense(), equal_nan=True, **tolerance)


def numbers(shape, dtype):
    if dtype is torch.bool:
        return torch.rand(shape) > 0.5
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, dtype=dtype if dtype.is_complex else torch.float64).to(dtype)
    return torch.randint(-9, 10, shape).to(dtype)


def coo(*shape, dtype=torch.float32, dense=0):
    split = len(shape) - dense
    count = pick(0, 1, 4, 15) if all(shape[:split]) else 0
    indices = torch.stack([torch.randint(max(size, 1), (count,)) for size in shape[:split]]) if split else torch.zeros(0, count, dtype=torch.long)
    made = torch.sparse_coo_tensor(indices, numbers((count, *shape[split:]), dtype), shape)
    return made.coalesce() if pick(True, False) else made


def compressed(layout, *shape, dtype=torch.float32):
    dense = numbers(shape, dtype) * (torch.rand(shape) < 0.4)
    block = (1, 1) if layout in ("csr", "csc") else (pick(*(b for b in (1, 2, 3) if shape[-2] % b == 0)), pick(*(b for b in (1, 2, 3) if shape[-1] % b == 0)))
    return dense.to_sparse(layout=LAYOUTS[layout], blocksize=None if block == (1, 1) and layout in ("csr", "csc") else block)


@pytest.fixture(autouse=True)
def seed(request):
    """The same numbers in every run, others in every case."""
    torch.manual_seed(zlib.crc32(request.node.name.encode()))


repeated = pytest.mark.parametrize("case", range(CASES))


UNARY = ["abs", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1", "floor", "frac", "isinf", "isnan", "isneginf", "isposinf",
         "log1p", "neg", "rad2deg", "relu", "round", "sgn", "sign", "signbit", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"]


@pytest.mark.parametrize("name", UNARY)
@repeated
def test_functions_of_values(name, case):
    dtype = pick(torch.float32, torch.float64)
    check(name, coo(3, 4, dtype=dtype))
    check(name, coo(3, 4, 2, dtype=dtype, dense=1))
    layout = pick(*LAYOUTS)
    check(name, compressed(layout, 6, 6, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.complex64, torch.int64, torch.bool], ids=str)
@repeated
def test_to_dense_and_back(dtype, case):
    for x in (coo(3, 4, dtype=dtype), coo(3, 4, 2, dtype=dtype, dense=1), coo(2, 3, 4, dtype=dtype), coo(0, 3, dtype=dtype)):
        check("to_dense", x)
        check("_to_dense", x)
        check("coalesce", x)
        for name in ("_nnz", "sparse_dim", "dense_dim", "is_coalesced", "_indices", "_values"):
            check(name, x)
    dense = numbers((2, 6, 6), dtype) * (torch.rand(2, 6, 6) < 0.5)
    check("_to_sparse", dense)
    check("to_sparse", dense, pick(1, 2, 3), overload="sparse_dim")
    for name in ("csr", "csc"):
        check(f"to_sparse_{name}", dense[0])
        check(f"_to_sparse_{name}", dense[0], 0)
    for name in ("bsr", "bsc"):
        check(f"to_sparse_{name}", dense[0], [pick(1, 2, 3), pick(1, 2, 3)])
    hybrid = numbers((4, 6, 2), dtype)
    check("to_sparse_csr", hybrid, 1)
    check("to_sparse_bsr", hybrid, [2, 3], 1)
    batched = numbers((2, 3, 4), dtype)
    batched = torch.ones_like(batched)
    check("to_sparse_csr", batched)
    for layout in LAYOUTS:
        x = compressed(layout, 6, 6, dtype=dtype) if dtype is not torch.bool else compressed(layout, 6, 6, dtype=torch.int64)
        check("to_dense", x)
        check("to_sparse", x)
        check("values", x)
        check("_nnz", x)
        if layout in ("csr", "csc"):
            check("to_sparse_csr", x)
            check("to_sparse_csc", x)


@repeated
def test_sums_and_products_of_two(case):
    left, right = pick((torch.float32, torch.float32), (torch.float32, torch.float64), (torch.int64, torch.float32), (torch.int32, torch.int64))
    shape, dense = pick(((3, 4), 0), ((3, 4, 2), 1), ((2, 3, 4), 0))
    a, b = coo(*shape, dtype=left, dense=dense), coo(*shape, dtype=right, dense=dense)
    d = numbers(shape, right)
    for name in ("add", "sub"):
        check(name, a, b, overload="Tensor")
        check(name, d, a, overload="Tensor")
        check(name, a, b, overload="Tensor", alpha=2)
    check("mul", a, b, overload="Tensor")
    check("mul", a, d, overload="Tensor")
    check("mul", d, a, overload="Tensor")
    check("mul", a, 3, overload="Tensor")
    check("mul", a, numbers(shape[-1:], right), overload="Tensor")
    check("mul", a, torch.tensor(2.5), overload="Tensor")
    check("div", a, 2.0, overload="Tensor")
    check("div", a, torch.tensor(4), overload="Tensor")
    check("div", a, 2, overload="Tensor_mode", rounding_mode=pick("floor", "trunc", None))
    check("pow", a, 2, overload="Tensor_Scalar")
    if dense == 0:
        check("mul", a, numbers((2, *(1 for _ in shape[1:]), shape[-1]), right), overload="Tensor")


@pytest.mark.parametrize("layout", LAYOUTS)
@repeated
def test_compressed_sums(layout, case):
    a = compressed(layout, 6, 6)
    check("add", a, a, overload="Tensor")
    if layout in ("csr", "csc"):
        check("add", a, torch.rand(6, 6), overload="Tensor")
        check("add", torch.rand(6, 6), a, overload="Tensor")
    check("mul", a, 2.5, overload="Tensor")
    check("transpose", a, 0, 1, overload="int")
    check("clone", a)
    check("sum", a)
    if layout == "csr":
        check("mul", a, torch.rand(6, 6), overload="Tensor")
        check("mul", a, compressed("csr", 6, 6), overload="Tensor")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64], ids=str)
@repeated
def test_products(dtype, case):
    a, b = coo(3, 4, dtype=dtype), coo(4, 5, dtype=dtype)
    d, m = numbers((4, 5), dtype), numbers((3, 5), dtype)
    check("mm", a, d)
    check("mm", a, b)
    check("_sparse_mm", a, d)
    check("_sparse_mm", a, b)
    check("_sparse_sparse_matmul", a, b)
    check("mm", numbers((2, 3), dtype), a)
    check("matmul", a, d)
    check("matmul", a, numbers((4,), dtype))
    check("mv", a, numbers((4,), dtype))
    check("addmm", m, a, d, beta=2, alpha=3)
    check("_sparse_addmm", m, a, d)
    check("addmm", numbers((5,), dtype), a, d)
    if dtype is not torch.complex64:
        check("hspmm", a, d)
        check("sspaddmm", coo(3, 5, dtype=dtype), a, d, beta=2, alpha=3)
        check("smm", a, d)
    check("bmm", coo(2, 3, 4, dtype=dtype), numbers((2, 4, 5), dtype))
    r = compressed("csr", 3, 4, dtype=dtype)
    check("mm", r, d)
    check("mm", r, compressed("csr", 4, 5, dtype=dtype))
    check("matmul", r, numbers((4,), dtype))
    check("addmm", m, r, d)
    check("mm", compressed("csc", 3, 4, dtype=dtype), d)


@repeated
def test_shapes(case):
    dtype = pick(torch.float32, torch.int64, torch.complex64)
    plain, hybrid = coo(3, 4, dtype=dtype), coo(3, 4, 2, dtype=dtype, dense=1)
    check("transpose", plain, 0, 1, overload="int")
    check("t", plain)
    check("permute", plain, [1, 0])
    check("permute", coo(2, 3, 4, dtype=dtype), pick([2, 0, 1], [0, 2, 1], [0, 1, 2]))
    check("permute", coo(2, 3, 4, dtype=dtype, dense=2), [0, 2, 1])
    for x in (plain, hybrid):
        check("unsqueeze", x, pick(-1, 0, 1, 2))
        d = pick(*range(x.dim()))
        check("index_select", x, d, torch.randint(x.shape[d], (pick(0, 1, 5),)))
        check("select", x, d, pick(-1, 0, 1), overload="int")
        check("clone", x)
        check("zeros_like", x)
        check("cat", [x, x, x], d)
        check("_to_copy", x, dtype=torch.complex128)
        check("detach", x)
    check("cat", [coo(2, 4), coo(3, 4, dtype=torch.float64)], 0)
    check("cat", [coo(3, 2), coo(3, 4)], 1)
    check("_sparse_broadcast_to", coo(1, 4), [2, 3, 4])
    check("sparse_mask", numbers((3, 4), dtype), coo(3, 4, dtype=dtype).coalesce())
    check("sparse_mask", torch.rand(4, 4), compressed("csr", 4, 4))


@repeated
def test_sums(case):
    dtype = pick(torch.float32, torch.int64, torch.float64)
    x, h = coo(3, 4, dtype=dtype), coo(3, 4, 2, dtype=dtype, dense=1)
    check("sum", x)
    check("sum", h, dtype=torch.float64)
    for y in (x, h):
        check("_sparse_sum", y)
        for dims in ([0], [1], [0, 1], [-1]):
            check("sum", y, dims, overload="dim_IntList")
            check("_sparse_sum", y, dims, overload="dim")
            check("_sparse_sum", y, dims, overload="dim_dtype", dtype=torch.float64)
    check("sum", x, [0], True, overload="dim_IntList")
    check("sum", h, [0, 2], overload="dim_IntList")


def test_in_place_and_out():
    x = torch.eye(3).to_sparse()
    ours = given(x)
    assert torch.equal(back(aten.mul_.Tensor(ours, 3)).to_dense(), torch.eye(3) * 3)
    assert torch.equal(back(ours).to_dense(), torch.eye(3) * 3)
    assert torch.equal(back(aten.sin.out(ours, out=given(torch.zeros(3, 3).to_sparse()))).to_dense(), (torch.eye(3) * 3).sin())
    dense = torch.zeros(3, 3)
    aten.add_.Tensor(dense, ours)
    assert torch.equal(dense, torch.eye(3) * 3)
    with pytest.raises(flambeau.Error, match="a result of layout strided cannot be written to a tensor of layout sparse_coo"):
        aten.sin.out(dense, out=ours)


def test_indices_are_checked():
    for indices in ([[0, 3]], [[-1, 0]]):
        with pytest.raises(flambeau.Error, match="whose size is 3"):
            aten._sparse_coo_tensor_unsafe(torch.tensor(indices), torch.rand(2), [3])
    with pytest.raises(flambeau.Error):
        aten._sparse_csr_tensor_unsafe(torch.tensor([0, 5, 2]), torch.tensor([0, 1]), torch.rand(2), [2, 2])
    with pytest.raises(flambeau.Error, match="takes no sparse tensor: argument 'self' is float32\\[3, 3\\]"):
        aten.cos(given(torch.eye(3).to_sparse()))
