"""Whether a call gave what PyTorch gave: values, type, shape, strides, changed arguments and shared memory."""

import torch
from torch.utils import _pytree as pytree

# What is in the memory they give is nobody's promise.
WITHOUT_VALUES = ("empty", "new_empty", "_empty")
# Among equal elements any may be named: what they point at counts.
ANY_OF_EQUAL = {"aten::topk": 2, "aten::sort": 1, "aten::argsort": None}

DEFAULT_TOLERANCE = {
    torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5), torch.complex128: (1e-7, 1e-7),
}


def significant_strides(tensor):
    """Strides that say where an element is: those of sizes other than one, of tensors that have elements."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size != 1] if tensor.numel() else []


def number(value):
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def values_differ(ours, theirs, tolerance):
    """None, or how many elements differ and the first of them."""
    if ours.numel() == 0 or torch.equal(ours, theirs):
        return None
    relative, absolute = DEFAULT_TOLERANCE.get(theirs.dtype, (0, 0))
    if tolerance is not None and theirs.dtype in DEFAULT_TOLERANCE:
        relative, absolute = max(relative, tolerance[0]), max(absolute, tolerance[1])
    exact = theirs.dtype not in DEFAULT_TOLERANCE
    close = ours == theirs if exact else torch.isclose(ours, theirs, rtol=relative, atol=absolute, equal_nan=True)
    if close.all():
        return None
    wrong = (~close).nonzero()
    first = tuple(wrong[0].tolist())
    said = f"{len(wrong)}/{ours.numel()} values differ, first at {list(first)}: {number(ours[first].item())}, expected {number(theirs[first].item())}"
    if not exact and ours.dtype.is_floating_point:
        error = (ours.double() - theirs.double()).abs()
        error = error[error.isfinite()]
        if error.numel():
            said += f"; largest error {error.max().item():.3g}, allowed {absolute:.2g} + {relative:.2g} * |expected|"
    return said


def tensor_differs(ours, theirs, tolerance, with_values):
    theirs = theirs.resolve_conj().resolve_neg()
    if ours.dtype != theirs.dtype:
        return f"dtype {short(ours.dtype)}, expected {short(theirs.dtype)}"
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)}, expected {list(theirs.shape)}"
    if significant_strides(ours) != significant_strides(theirs):
        return f"strides {list(ours.stride())}, expected {list(theirs.stride())} (shape {list(theirs.shape)})"
    return values_differ(ours, theirs, tolerance) if with_values else None


def value_differs(ours, theirs, tolerance, with_values):
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, torch.Tensor):
            return f"{type(ours).__name__} {ours!r}, expected a tensor"
        return tensor_differs(ours, theirs, tolerance, with_values)
    if theirs is None or isinstance(theirs, (bool, str)):
        return None if ours is theirs or ours == theirs and type(ours) is type(theirs) else f"{ours!r}, expected {theirs!r}"
    if isinstance(ours, torch.Tensor) or type(ours) is not type(theirs):
        return f"{type(ours).__name__} {ours!r}, expected {type(theirs).__name__} {theirs!r}"
    same = ours == theirs or (ours != ours and theirs != theirs) or abs(ours - theirs) <= 1e-6 * abs(theirs)
    return None if same else f"{ours!r}, expected {theirs!r}"


def tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def leaves(value):
    """The results of a call one after the other; tuples and lists are alike, None is a result."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def shares_memory(tensor, others):
    """Whether a tensor lies in the memory of one of the others."""
    start = tensor.data_ptr()
    for other in others:
        storage = other.untyped_storage()
        if storage.data_ptr() <= start < storage.data_ptr() + storage.nbytes():
            return True
    return False


def first_difference(sample, ours, args, kwargs):
    """What is wrong with the results `ours`, and with the arguments after the call; None where nothing is."""
    base = sample.op._schema.name
    with_values = not base.removeprefix("aten::").startswith(WITHOUT_VALUES)
    got, expected = leaves(ours), leaves(sample.outputs)
    if len(got) != len(expected):
        return f"{len(got)} results, expected {len(expected)}"
    for position, (a, b) in enumerate(zip(got, expected)):
        if base in ANY_OF_EQUAL and b.dtype is torch.int64 and position == len(got) - 1 and not out_given(sample):
            if (said := points_elsewhere(sample, base, a, b)) is not None:
                return f"result {position}: {said}"
            continue
        if (said := value_differs(a, b, sample.tolerance, with_values)) is not None:
            return said if len(expected) == 1 else f"result {position}: {said}"
    after = tensors((args, kwargs))
    before = tensors((sample.args, sample.kwargs))
    for position, (a, b, earlier) in enumerate(zip(after, tensors(sample.after), before)):
        # Ties are judged above, by the results. A tensor of another library keeps its shape whatever we make of ours.
        if base in ANY_OF_EQUAL and out_given(sample) or (b.shape, b.stride()) != (earlier.shape, earlier.stride()):
            continue
        if (said := tensor_differs(a, b, sample.tolerance, with_values)) is not None:
            return f"argument tensor {position} after the call: {said}"
    return not_shared(sample, got, after)


def out_given(sample):
    return "out" in sample.op._overloadname or "values" in sample.op._overloadname


def points_elsewhere(sample, base, ours, theirs):
    """Compares indices by the elements that they name."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{short(ours.dtype)}{list(ours.shape)}, expected {short(theirs.dtype)}{list(theirs.shape)}"
    if torch.equal(ours, theirs) or ours.dim() == 0:
        return None
    source = sample.args[0]
    arguments = bound(sample)
    dim = arguments.get("dim", -1)
    if ours.numel() and (ours.min() < 0 or ours.max() >= source.shape[dim]):
        return "indices out of range"
    return values_differ(source.gather(dim, ours), source.gather(dim, theirs), None)


def bound(sample):
    """Arguments by name, with defaults."""
    named = {a.name: a.default_value for a in sample.op._schema.arguments if a.has_default_value()}
    named |= {a.name: value for a, value in zip(sample.op._schema.arguments, sample.args)}
    return named | sample.kwargs


def not_shared(sample, got, arguments):
    """Results that the schema says may be views, and that are in PyTorch, must lie in the memory of an argument."""
    if any(leaf.is_conj() or leaf.is_neg() for leaf in tensors((sample.args, sample.kwargs))):
        return None  # these went in as copies
    annotated = [of.alias_info for of in sample.op._schema.returns]
    if not any(annotated):
        return None
    for position, (result, shared) in enumerate(zip((leaf for leaf in got if isinstance(leaf, torch.Tensor)), sample.shared)):
        alias = annotated[min(position, len(annotated) - 1)]
        if alias and shared and result.numel() and not shares_memory(result, arguments):
            return f"result {position} is a copy, expected " + ("the argument itself" if alias.is_write else "a view")
    return None


def short(dtype):
    return str(dtype).removeprefix("torch.")


def brief(value, with_values=4):
    """A value in a few words: f32[2, 3](strides 1, 2) and its elements where they are few."""
    if isinstance(value, torch.Tensor):
        said = f"{short(value.dtype)}{list(value.shape)}"
        if not value.is_contiguous():
            said += f" strides {list(value.stride())}"
        if value.is_conj() or value.is_neg():
            said += " conj" if value.is_conj() else " neg"
        if 0 < value.numel() <= with_values:
            said += f" = {value.tolist()}"
        return said
    if isinstance(value, (list, tuple)):
        return ("[" if isinstance(value, list) else "(") + ", ".join(brief(item) for item in value) + ("]" if isinstance(value, list) else ")")
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return short(value)
    return repr(value)


def call_text(sample):
    given = [brief(arg) for arg in sample.args] + [f"{key}={brief(value)}" for key, value in sample.kwargs.items()]
    return f"{sample.name}({', '.join(given)})"
