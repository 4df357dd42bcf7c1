"""Records the operator calls of PyTorch's own samples, at the level that torch.export sees: composite operators stay whole.

A sample is one call of one operator: its arguments as they were before, and what PyTorch made of them.
"""

import collections
import contextlib
import dataclasses
import functools
import itertools
import sys
import types
import unittest
import unittest.mock
import warnings

import torch
from torch._dispatch.python import enable_pre_dispatch, enable_python_dispatcher, no_python_dispatcher
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

try:
    import expecttest  # noqa: F401
except ImportError:
    # PyTorch's samples stand beside its tests, whose base class is from this package; no sample needs it.
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = unittest.TestCase
    sys.modules["expecttest"] = stand_in

warnings.simplefilter("ignore")
from torch.testing._internal import common_utils  # noqa: E402
from torch.testing._internal.common_device_type import toleranceOverride  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.opinfo.core import DecorateInfo  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Counts:
    """How many samples of one OpInfo and type, chosen evenly from all of them; None is all."""

    plain: int | None
    strided: int | None
    inplace: int | None
    out: int | None


ALL, MANY, FEW = Counts(None, None, None, None), Counts(25, 3, 8, 5), Counts(5, 1, 2, 1)


@dataclasses.dataclass
class Sample:
    """One call. `args` and `kwargs` are as before it, `after` as after it, `outputs` what it returned."""

    op: torch._ops.OpOverload
    args: tuple
    kwargs: dict
    outputs: object
    after: tuple
    shared: list  # for every tensor of the outputs whether it lies in the memory of an argument
    dtype: torch.dtype
    source: str  # the OpInfo, or "by hand"
    tolerance: tuple = None  # (relative, absolute) where the OpInfo is more tolerant than the type's default

    @property
    def name(self):
        return overload_name(self.op)


def copied(tree):
    """A copy with the same strides, in which what shared memory still does."""
    storages = {}

    def copy(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.layout is not torch.strided or leaf.device.type != "cpu":
            raise NotImplementedError(f"{leaf.layout} on {leaf.device}")
        storage = leaf.untyped_storage()
        mine = storages.get(storage._cdata)
        if mine is None:
            mine = storages[storage._cdata] = storage.clone()
        result = torch.empty(0, dtype=leaf.dtype).set_(mine, leaf.storage_offset(), leaf.shape, leaf.stride())
        if leaf.is_conj():
            result = result.conj()
        return torch._neg_view(result) if leaf.is_neg() else result

    return pytree.tree_map(copy, tree)


def tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def same_sizes(before, after):
    """Whether no out= was resized: memory of another library cannot be."""
    return [leaf.shape for leaf in tensors(before)] == [leaf.shape for leaf in tensors(after)]


def sharing(results, arguments):
    """For every tensor of the results whether it lies in the memory of an argument."""
    storages = {leaf.untyped_storage()._cdata for leaf in tensors(arguments)}
    return [leaf.untyped_storage()._cdata in storages for leaf in tensors(results)]


class Recorder(SchemaCheckMode):
    """Keeps the calls whose operator is wanted. PyTorch allows modes of few classes before dispatch, this base among them."""

    def __init__(self, wanted):
        super().__init__()
        self._dispatch_key = torch._C.DispatchKey.PreDispatch
        self.wanted = wanted
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        # With Python's dispatcher some operators run as decompositions in Python: others than the kernels that users get.
        with no_python_dispatcher():
            if not self.wanted(func):
                return func(*args, **kwargs)
            return self.keep(func, args, kwargs)

    def keep(self, func, args, kwargs):
        before = copied((args, kwargs))
        torch.manual_seed(0)
        result = func(*args, **kwargs)
        if same_sizes(before[1], kwargs) and not is_garbage(kwargs.get("out")):
            self.calls.append((func, *before, copied(result), copied((args, kwargs)), sharing(result, (args, kwargs))))
        return result


class InnerRecorder(TorchDispatchMode):
    """Keeps the wanted calls that are left when composite operators have called others."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted = wanted
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return Recorder.keep(self, func, args, kwargs or {}) if self.wanted(func) else func(*args, **(kwargs or {}))


class RefusalRecorder(Recorder):
    """Keeps the calls that PyTorch refuses, with what it says."""

    def keep(self, func, args, kwargs):
        before = copied((args, kwargs))
        try:
            return func(*args, **kwargs)
        except Exception as error:
            self.calls.append((func, *before, f"{type(error).__name__}: {error}", before, []))
            raise


def record(wanted, call, kind=Recorder):
    """The wanted calls that `call()` makes; none where PyTorch refuses it."""
    with contextlib.ExitStack() as modes:
        if kind is not InnerRecorder:
            modes.enter_context(enable_python_dispatcher())
            modes.enter_context(enable_pre_dispatch())
        modes.enter_context(torch.no_grad())
        recorder = modes.enter_context(kind(wanted))
        try:
            call()
        except Exception:
            pass
    return recorder.calls


@contextlib.contextmanager
def quick_seeds():
    """PyTorch notes a seed for every kind of device that it has not started, each time with the text of the whole stack, and
    looks for its own tests there: more work than the samples are."""
    with contextlib.ExitStack() as changed:
        changed.enter_context(unittest.mock.patch.object(torch, "manual_seed", torch.default_generator.manual_seed))
        changed.enter_context(unittest.mock.patch.object(common_utils, "extract_test_fn", lambda: None))
        yield


@functools.cache
def infos():
    """Every OpInfo by a name of its own."""
    return {f"{info.name}{'.' + info.variant_test_name if info.variant_test_name else ''}": info for info in op_db}


def dtypes(info):
    return sorted(info.supported_dtypes("cpu"), key=str)


def tolerance(info, dtype):
    """The loosest that the OpInfo itself grants on a CPU, at most PyTorch's own for the type otherwise."""
    loosest = None
    for decorator in info.decorators:
        if not isinstance(decorator, DecorateInfo) or decorator.device_type not in (None, "cpu"):
            continue
        for inner in decorator.decorators:
            if isinstance(inner, toleranceOverride) and dtype in inner.d:
                allowed = inner.d[dtype]
                loosest = tuple(map(max, zip(loosest or (0, 0), (allowed.rtol, allowed.atol))))
    return loosest


def evenly(items, count):
    """`count` of the items at even distances, the first and the last among them."""
    if count is None or len(items) <= count:
        return items
    if count == 1:
        return [items[len(items) // 2]]
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


GARBAGE = 77


def garbage(expected):
    """Memory of the same kind with other values, for out=."""
    made = copied(expected)
    for leaf in pytree.tree_leaves(made):
        if isinstance(leaf, torch.Tensor) and leaf.numel():
            leaf.fill_(1 if leaf.dtype is torch.bool else GARBAGE)
    return made


def is_garbage(out):
    """Whether a call left what garbage() put there: PyTorch's ihfftn of one dimension does not write to out=."""
    return isinstance(out, torch.Tensor) and out.is_complex() and out.numel() > 0 and bool((out == GARBAGE).all())


def variants(info, dtype, counts):
    """Functions that make the calls of an OpInfo: plain, with other strides, in place, and with out=."""
    torch.manual_seed(0)
    try:
        samples = list(itertools.islice(info.sample_inputs("cpu", dtype), 2000))
    except Exception:
        return
    for sample in evenly(samples, counts.plain):
        yield lambda: info(sample.input, *sample.args, **sample.kwargs)
    for sample in evenly(samples, counts.strided):
        try:
            strided = sample.noncontiguous()
        except Exception:
            continue
        yield lambda: info(strided.input, *strided.args, **strided.kwargs)
    inplace = info.get_inplace()
    if inplace is not None:
        for sample in evenly([s for s in samples if not s.broadcasts_input], counts.inplace):
            changed = copied(sample.input)
            yield lambda: inplace(changed, *sample.args, **sample.kwargs)
    if info.supports_out:
        for sample in evenly(samples, counts.out):
            try:
                with torch.no_grad():
                    out = garbage(info(sample.input, *sample.args, **sample.kwargs))
            except Exception:
                continue
            yield lambda: info(sample.input, *sample.args, **{**sample.kwargs, "out": out})
    for alias in info.aliases:
        for sample in evenly(samples, counts.out):
            yield lambda: alias.op(sample.input, *sample.args, **sample.kwargs)
        if alias.inplace_variant is not None:
            for sample in evenly([s for s in samples if not s.broadcasts_input], counts.out):
                changed = copied(sample.input)
                yield lambda: alias.inplace_variant(changed, *sample.args, **sample.kwargs)


def overload_name(op):
    """As in sources.json: "aten::relu.default"."""
    return op.name() if "." in op.name() else f"{op.name()}.default"


def inner_samples(name, info, dtype, wanted, counts=MANY):
    """The samples of operators that composite ones call."""
    allowed = tolerance(info, dtype)
    for call in itertools.islice(variants(info, dtype, counts), counts.plain):
        for made in record(wanted, call, InnerRecorder):
            yield Sample(*made, dtype, name, allowed)


def samples(name, info, dtype, wanted, derived=(), counts=MANY):
    """The samples of an OpInfo and a type, and of the operators `derived` that it has none of, those made of these."""
    allowed = tolerance(info, dtype)
    given, seen = collections.defaultdict(list), set()
    for call in variants(info, dtype, counts):
        for made in record(wanted, call):
            yield Sample(*made, dtype, name, allowed)
            seen.add(made[0])
            if not made[0]._schema.is_mutable:
                given[made[0]._schema.name].append(made[1:3])
    for op in (op for op in derived if op not in seen):
        base = op._schema.name
        donors = evenly(given.get(base) or given.get(base.removesuffix("_"), []), counts.out and 4 * counts.out)
        made = (call for args, kwargs in donors for call in derive(op, args, kwargs, wanted))
        for call in itertools.islice(made, counts.out or 100):
            yield Sample(*call, dtype, name, allowed)


def refusals(name, info, wanted):
    """The calls inside of OpInfo's erroneous inputs that PyTorch refuses; others are refused before any operator is called."""
    torch.manual_seed(0)
    for given in info.error_inputs("cpu"):
        sample = given.sample_input
        for made in record(wanted, lambda: info(sample.input, *sample.args, **sample.kwargs), RefusalRecorder):
            tensor = next(iter(tensors(made[1:3])), None)
            yield Sample(*made, torch.float32 if tensor is None else tensor.dtype, name)


def derive(op, args, kwargs, wanted):
    """A call of an overload made of the arguments of a sibling, where PyTorch takes it."""
    outs = [a.name for a in op._schema.arguments if a.kwarg_only and a.alias_info]
    plain = getattr(getattr(torch.ops, op.namespace), op._schema.name.partition("::")[2])
    for changed in rewritten(args):
        given, made = dict(kwargs), None
        if outs:
            known = {a.name for a in op._schema.arguments}
            given = {key: value for key, value in kwargs.items() if key in known}
            try:
                made = plain(*copied(changed), **copied(kwargs))
                given |= zip(outs, map(garbage, made if isinstance(made, (list, tuple)) else [made]))
            except Exception:
                continue
        calls = record(wanted, lambda: op(*copied(changed), **copied(given)))
        if calls and made is not None and contradicts(op, made, calls[0][3]):
            return []
        if calls:
            return calls[:1]
    return []


def contradicts(op, made, given):
    """Whether PyTorch's own results with out= are not those without: binary_cross_entropy writes over its mean."""
    if torch.Tag.nondeterministic_seeded in op.tags or "empty" in op._schema.name:
        return False
    for a, b in zip(tensors(made), tensors(given)):
        if a.dtype == b.dtype and a.is_floating_point() and a.dtype.itemsize > 1:
            if not torch.allclose(a.double(), b.double(), rtol=0.05, atol=0.05, equal_nan=True):
                return True
    return False


def rewritten(args):
    """Arguments for another overload: the same, with numbers instead of tensors, or tensors instead of numbers."""
    yield args
    if len(args) < 2:
        return
    if isinstance(args[1], torch.Tensor) and args[1].numel():
        yield (args[0], args[1].reshape(-1)[0].item(), *args[2:])
        if isinstance(args[0], torch.Tensor) and args[0].numel():
            yield (args[0].reshape(-1)[0].item(), *args[1:])
    elif isinstance(args[1], (int, float, complex)):
        yield (args[0], torch.tensor(args[1]), *args[2:])


def sources(wanted):
    """For every wanted operator the OpInfos that have samples of it, and how: "about" where it is what they are about, "beside" where it is a
    step on the way, "inside" where only an operator of theirs calls it."""
    found = collections.defaultdict(dict)
    for name, info in infos().items():
        about = {info.name.rsplit(".", 1)[-1], info.aten_name, *(alias.name.rsplit(".", 1)[-1] for alias in info.aliases)}
        tried = 0
        for dtype in [torch.float32, torch.int64, torch.bool, torch.complex64]:
            if dtype not in info.supported_dtypes("cpu"):
                continue
            for call in variants(info, dtype, Counts(12, 0, 2, 1)):
                made = record(lambda func: func.namespace == "aten", call)
                for func in {call[0] for call in made if wanted(call[0])}:
                    base = func._schema.name.removeprefix("aten::")
                    is_about = len(made) == 1 or base in about or base.rstrip("_") in about
                    note(found, func, name, "about" if is_about else "beside")
                for func in {made[0] for made in record(wanted, call, InnerRecorder)}:
                    note(found, func, name, "inside")
            tried += 1
            if tried == 2:
                break
    return found


def note(found, func, info, how):
    ways = ("about", "beside", "inside")
    known = found[overload_name(func)]
    known[info] = min(known.get(info, how), how, key=ways.index)
