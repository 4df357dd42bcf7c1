"""Whether a call gave what PyTorch gave: values, type, shape, strides, changed arguments and shared memory."""

import functools

import torch
from torch.utils import _pytree as pytree

import gauge

# What is in the memory they give is nobody's promise.
WITHOUT_VALUES = ("empty", "new_empty", "_empty")
# Among equal elements any may be named: what they point at counts.
ANY_OF_EQUAL = {"aten::topk": 2, "aten::sort": 1, "aten::argsort": None}

# Each number is a sum of all: an error counts against the largest of them.
OF_ALL = ("aten::_fft_", "aten::fft_", "aten::stft", "aten::istft")

DEFAULT_TOLERANCE = {
    torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5), torch.complex128: (1e-7, 1e-7), torch.complex32: (1e-3, 1e-5),
}
# PyTorch's own are right to this only, whatever the type.
INEXACT = {f"aten::special_bessel_{name}": 5e-7 for name in ("j0", "j1", "y0", "y1")} | {"aten::special_airy_ai": 5e-6}

# PyTorch compares no tensors of these types: they become others that hold the same numbers.
WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.complex32: torch.complex64} | {
    kind: torch.float32 for kind in vars(torch).values() if isinstance(kind, torch.dtype) and "float8" in str(kind)
}


def wide(tensor):
    """For comparisons: the same numbers, or bits, in a type that has them."""
    return tensor.view(torch.int64) if tensor.dtype is torch.uint64 else tensor.to(WIDER.get(tensor.dtype, tensor.dtype))


def significant_strides(tensor):
    """Strides that say where an element is: those of sizes other than one, of tensors that have elements."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size != 1] if tensor.numel() else []


def number(value):
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def values_differ(ours, theirs, tolerance):
    """None, or how many elements differ and the first of them."""
    kind, ours, theirs = theirs.dtype, wide(ours), wide(theirs)
    if ours.numel() == 0 or torch.equal(ours, theirs):
        return None
    relative, absolute = DEFAULT_TOLERANCE.get(kind, (0, 0))
    if tolerance is not None and kind in DEFAULT_TOLERANCE:
        relative, absolute = max(relative, tolerance[0]), max(absolute, tolerance[1])
    exact = kind not in DEFAULT_TOLERANCE
    if exact:
        close = (ours == theirs) | (ours != ours) & (theirs != theirs)
    else:
        close = torch.isclose(ours, theirs, rtol=relative, atol=absolute, equal_nan=True)
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


def tolerance_of(sample, base, expected):
    """What is allowed beside the default: as (relative, absolute), or None."""
    if base.startswith(OF_ALL) and isinstance(expected, torch.Tensor) and expected.numel() and expected.dtype in (torch.float32, torch.complex64):
        relative, absolute = sample.tolerance or (0, 0)
        return relative, max(absolute, 1.3e-6 * expected.abs().max().item())
    if base in INEXACT:
        return tuple(max(allowed, INEXACT[base]) for allowed in sample.tolerance or (0, 0))
    return sample.tolerance


def within_lengths(sample, paths):
    """Of the paths of _ctc_loss what belongs to a sequence: the rest PyTorch leaves as it found the memory."""
    paths = paths.clone()
    for row, time, length in zip(paths, *(torch.as_tensor(sample.args[place]).tolist() for place in (2, 3))):
        row[time:] = 0
        row[:, 2 * length + 1 :] = 0
    return paths


def first_difference(sample, ours, args, kwargs):
    """What is wrong with the results `ours`, and with the arguments after the call; None where nothing is."""
    base = sample.op._schema.name
    with_values = not base.removeprefix("aten::").startswith(WITHOUT_VALUES)
    got, expected = leaves(ours), leaves(sample.outputs)
    if len(got) != len(expected):
        return f"{len(got)} results, expected {len(expected)}"
    exact = functools.cache(lambda: more_exact(sample))
    if (free := gauge.pairs(base, got, expected)) is not None:
        return gauge_differs(sample, got, expected, free)
    for position, (a, b) in enumerate(zip(got, expected)):
        if base == "aten::_ctc_loss" and position == 1:
            a, b = within_lengths(sample, a), within_lengths(sample, b)
        if base in ANY_OF_EQUAL and b.dtype is torch.int64 and position == len(got) - 1 and not out_given(sample):
            if (said := points_elsewhere(sample, base, a, b)) is not None:
                return f"result {position}: {said}"
            continue
        said = value_differs(a, b, tolerance_of(sample, base, b), with_values)
        if said is not None and not is_nearer(a, b, exact, position):
            return said if len(expected) == 1 else f"result {position}: {said}"
    after = tensors((args, kwargs))
    before = tensors((sample.args, sample.kwargs))
    for position, (a, b, earlier) in enumerate(zip(after, tensors(sample.after), before)):
        # Ties are judged above, by the results. A tensor of another library keeps its shape whatever we make of ours.
        if base in ANY_OF_EQUAL and out_given(sample) or (b.shape, b.stride()) != (earlier.shape, earlier.stride()):
            continue
        said = tensor_differs(a, b, tolerance_of(sample, base, b), with_values)
        if said is not None and not is_a_result(a, got):
            return f"argument tensor {position} after the call: {said}"
    return not_shared(sample, got, after)


def is_a_result(tensor, results):
    """Whether a tensor was judged as a result already."""
    return any(isinstance(result, torch.Tensor) and result.data_ptr() == tensor.data_ptr() for result in results)


MORE_EXACT = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64}
MORE_EXACT |= {torch.complex32: torch.complex128, torch.complex64: torch.complex128}


def more_exact(sample):
    """What PyTorch gives for the same numbers in double precision; None where it has no such operator, or draws them at random."""
    if torch.Tag.nondeterministic_seeded in sample.op.tags:
        return None

    def widened(leaf):
        if isinstance(leaf, torch.Tensor):
            return leaf.to(MORE_EXACT[leaf.dtype]) if leaf.dtype in MORE_EXACT else leaf.clone()
        return MORE_EXACT.get(leaf, leaf) if isinstance(leaf, torch.dtype) else leaf

    try:
        with torch.no_grad():
            args, kwargs = pytree.tree_map(widened, (sample.args, sample.kwargs))
            return leaves(sample.op(*args, **kwargs))
    except Exception:
        return None


def is_nearer(ours, theirs, exact, position):
    """Whether what differs from PyTorch's is as near to the exact value as PyTorch's is, or up to twice as far: it rounds elsewhere."""
    if not isinstance(ours, torch.Tensor) or theirs.dtype not in MORE_EXACT or ours.dtype != theirs.dtype or exact() is None:
        return False
    value = exact()[position]
    if not ours.shape == theirs.shape == value.shape or significant_strides(ours) != significant_strides(theirs):
        return False
    kind = MORE_EXACT[theirs.dtype]
    error, allowed = (ours.to(kind) - value).abs(), 2 * (theirs.resolve_conj().to(kind) - value).abs().max()
    relative, absolute = DEFAULT_TOLERANCE[theirs.dtype]
    return bool((error <= allowed + absolute + relative * value.abs()).all())


def gauge_differs(sample, got, expected, free):
    """The same for results that may be right in many ways: of them their kind, of what is free their values."""
    for position, (a, b) in enumerate(zip(got, expected)):
        if (said := value_differs(a, b, None, False)) is not None:
            return f"result {position}: {said}"
    relative, absolute = sample.tolerance or (0, 0)
    for a, b in free:
        # Sums of products of as many numbers as a matrix has rows.
        scale = float(b.abs().max()) if b.numel() else 0
        floor = DEFAULT_TOLERANCE[b.dtype][1] * max(1, scale) * 4
        if (said := values_differ(a, b, (max(relative, 1e-5), max(absolute, floor)))) is not None:
            return f"what every right answer shares: {said}"
    return None


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
    if any(leaf.is_conj() or leaf.is_neg() for leaf in tensors((sample.args, sample.kwargs, sample.outputs))):
        return None  # these went in as copies, or are views that only mark what is to be done
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
