"""Whole programs give what PyTorch gives: values, types, shapes, containers, changed inputs, and buffers from call to call."""

import os
import sys

import pytest
import torch
from torch.utils import _pytree as pytree

flambeau_package = pytest.importorskip("flambeau", reason="the Python package is not installed (pip install ./python)")

import model_cases  # noqa: E402
from flambeau_torch import to_torch, values_to_flambeau  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = model_cases.names()


# Programs that make more of a rounding error than others: the share of the largest number that PyTorch's own float32 result
# is away from its float64 result.
SENSITIVE = {"graphs.lraspp_mobilenet_v3_large": 1.6e-4}


def check_tensor(ours, theirs, where):
    """Deep programs add rounding up: an error counts against the largest number of the result."""
    assert isinstance(ours, torch.Tensor), f"{where}: {type(ours).__name__}, expected a tensor"
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (
        f"{where}: {ours.dtype} {list(ours.shape)}, expected {theirs.dtype} {list(theirs.shape)}"
    )
    if not theirs.is_floating_point() and not theirs.is_complex():
        assert torch.equal(ours, theirs), f"{where}: {(ours != theirs).sum()} of {theirs.numel()} values differ"
        return
    if theirs.numel() == 0:
        return
    finite = theirs.isfinite()
    assert torch.equal(ours[~finite].nan_to_num(), theirs[~finite].nan_to_num()), f"{where}: infinities or NaNs differ"
    if finite.any():
        scale = theirs[finite].abs().max().item()
        error = (ours - theirs)[finite].abs().max().item()
        allowed = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 1e-4, torch.complex64: 1e-4}.get(theirs.dtype, 2e-2)
        allowed = max(allowed, 5 * SENSITIVE.get(where.partition(",")[0].removesuffix(".decomposed"), 0))
        assert error <= allowed * scale + 1e-6, f"{where}: largest error {error:.3g} among numbers up to {scale:.3g}"


def check_value(ours, theirs, where):
    if isinstance(theirs, torch.Tensor):
        check_tensor(to_torch(ours), theirs, where)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs), f"{where}: keys {list(ours)}, expected {list(theirs)}"
        for key, value in theirs.items():
            check_value(ours[key], value, f"{where}[{key!r}]")
    elif isinstance(theirs, (list, tuple)):
        assert type(ours) is type(theirs) or not type(theirs) in (list, tuple), f"{where}: {type(ours)}, expected {type(theirs)}"
        assert len(ours) == len(theirs), f"{where}: {len(ours)} items, expected {len(theirs)}"
        for number, (a, b) in enumerate(zip(ours, theirs)):
            check_value(a, b, f"{where}[{number}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-5, nan_ok=True), where
    else:
        leaves = pytree.tree_leaves(theirs)
        if len(leaves) == 1 and leaves[0] is theirs:
            assert type(ours) is type(theirs) and ours == theirs, f"{where}: {ours!r}, expected {theirs!r}"
        else:  # a container of a class of its own
            for number, (a, b) in enumerate(zip(pytree.tree_leaves(ours), leaves, strict=True)):
                check_value(a, b, f"{where}, leaf {number}")


@pytest.mark.parametrize("name", CASES)
def test_model(name):
    check_case(name)


def check_case(name):
    case = model_cases.case(name)
    program = flambeau_package.load(os.fspath(case.path))
    for number, call in enumerate(case.calls):
        args, kwargs = values_to_flambeau((call["args"], call["kwargs"]))
        flambeau_package.manual_seed(0)
        outputs = program(*args, **kwargs)
        where = f"{name}, call {number}"
        check_value(outputs, call["outputs"], f"{where}: result")
        check_value((args, kwargs), values_to_flambeau(call["after"]), f"{where}: inputs afterwards")


def test_enough_models():
    """What is not there is said, not passed over: the real graphs and transformers come from outside."""
    groups = [name.split(".")[0] for name in CASES]
    assert groups.count("random") >= (300 if model_cases.ALL_MODELS else 60)
    assert groups.count("examples") >= 70
    if groups.count("graphs") == 0:
        pytest.skip("the real graphs are not there (FLAMBEAU_FIXTURES)")
    assert groups.count("graphs") >= 35
    if groups.count("transformers") == 0:
        pytest.skip("transformers is not installed (scripts/setup --interop)")
    assert groups.count("transformers") >= 75


def main():
    """python test_models.py NAME...: without pytest, the first failure of each, for work on one model."""
    wrong = 0
    wanted = [name for name in CASES if any(name == n or name.startswith(f"{n}.") for n in sys.argv[1:] or ["graphs", "examples", "transformers", "random"])]
    for name in wanted:
        try:
            check_case(name)
            print(f"ok   {name}", flush=True)
        except Exception as error:
            wrong += 1
            print(f"FAIL {name}: {type(error).__name__}: {' '.join(str(error).split())[:400]}", flush=True)
    print(f"{len(wanted) - wrong}/{len(wanted)} programs agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
