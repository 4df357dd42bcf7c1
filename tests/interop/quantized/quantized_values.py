"""Quantized tensors and packed weights of PyTorch as Flambeau's, and results of both compared."""

import dataclasses

import torch


@dataclasses.dataclass
class Packed:
    """An object that an operator makes: each side makes its own."""

    name: str
    args: tuple


def torch_op(name):
    namespace, rest = name.split("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")


def flambeau_op(flambeau, name):
    namespace, rest = name.split("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(flambeau.ops, namespace), base)
    return getattr(packet, overload) if overload else packet.default


def for_torch(value):
    if isinstance(value, Packed):
        return torch_op(value.name)(*[for_torch(item) for item in value.args])
    if isinstance(value, (list, tuple)):
        return [for_torch(item) for item in value]
    return value.clone() if isinstance(value, torch.Tensor) else value


def for_flambeau(flambeau, value):
    if isinstance(value, Packed):
        return flambeau_op(flambeau, value.name)(*[for_flambeau(flambeau, item) for item in value.args])
    if isinstance(value, (list, tuple)):
        return [for_flambeau(flambeau, item) for item in value]
    if isinstance(value, torch.Tensor) and value.is_quantized:
        integers = value.int_repr().contiguous()
        if value.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            return flambeau.ops.aten._make_per_tensor_quantized_tensor(integers, value.q_scale(), value.q_zero_point())
        return flambeau.ops.aten._make_per_channel_quantized_tensor(
            integers, value.q_per_channel_scales(), value.q_per_channel_zero_points(), value.q_per_channel_axis()
        )
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    return value


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def difference(flambeau, ours, theirs, quanta, atol=1e-5):
    """What is wrong with a result, in words; None where nothing is. Integers may be so many quanta apart."""
    ours, theirs = leaves(ours), leaves(theirs)
    if len(ours) != len(theirs):
        return f"{len(ours)} results for {len(theirs)}"
    for mine, other in zip(ours, theirs):
        wrong = leaf_difference(flambeau, mine, other, quanta, atol)
        if wrong:
            return wrong
    return None


def leaf_difference(flambeau, mine, other, quanta, atol):
    aten = flambeau.ops.aten
    if not isinstance(other, torch.Tensor):
        if isinstance(other, float):
            return None if abs(mine - other) <= 1e-6 * abs(other) else f"{mine} for {other}"
        return None if mine == other else f"{mine} for {other}"
    if not other.is_quantized:
        mine = torch.from_dlpack(mine)
        try:
            loose = {"rtol": 1e-4, "atol": atol} if quanta and other.is_floating_point() else {}
            torch.testing.assert_close(mine, other, equal_nan=True, **loose)
        except AssertionError as error:
            return " ".join(str(error).split())[:200]
        return None
    integers, expected = torch.from_dlpack(aten.int_repr(mine)), other.int_repr()
    if integers.dtype != expected.dtype or integers.shape != expected.shape:
        return f"{integers.dtype} {tuple(integers.shape)} for {expected.dtype} {tuple(expected.shape)}"
    if other.qscheme() == torch.per_tensor_affine:
        scale, point = aten.q_scale(mine), aten.q_zero_point(mine)
        if abs(scale - other.q_scale()) > 1e-6 * other.q_scale() or point != other.q_zero_point():
            return f"scale {scale} and zero point {point} for {other.q_scale()} and {other.q_zero_point()}"
    else:
        if aten.q_per_channel_axis(mine) != other.q_per_channel_axis():
            return "another axis"
        if not torch.equal(torch.from_dlpack(aten.q_per_channel_scales(mine)), other.q_per_channel_scales()):
            return "other scales"
        if not torch.equal(torch.from_dlpack(aten.q_per_channel_zero_points(mine)), other.q_per_channel_zero_points()):
            return "other zero points"
    apart = (integers.long() - expected.long()).abs()
    most = int(apart.max()) if apart.numel() else 0
    if most > quanta:
        return f"{most} quanta apart, {int((apart > quanta).sum())} of {apart.numel()} elements"
    return None
