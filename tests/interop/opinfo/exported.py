"""One call of an operator as an exported program of Flambeau's, run in PyTorch: the sizes that the program promises, its results, and the
same for another size of the first dimension."""

import json
import os
import pathlib
import subprocess

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import is_symbolic
from torch.utils import _pytree as pytree

import compare
import record
from flambeau_torch import to_flambeau

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOL = pathlib.Path(os.environ.get("FLAMBEAU_OPERATOR_CALLS", ROOT / "build/dev/tests/interop/export/operator_calls"))

# What is free of the first dimension of a program's inputs.
FREE, FIXED, NOTHING = "free", "fixed", "nothing to vary"


def resolved(tree):
    """What a program can hold of a call: no bits that only mark what is to be done."""
    return pytree.tree_map(lambda leaf: leaf.resolve_conj().resolve_neg() if isinstance(leaf, torch.Tensor) else leaf, tree)


def as_json(value, keep):
    """An argument as operator_calls takes it; keep(tensor) gives the key of a tensor."""
    if isinstance(value, torch.Tensor):
        return {"tensor": keep(value)}
    if isinstance(value, (list, tuple)):
        return [as_json(item, keep) for item in value]
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, torch.SymInt):
        return int(value)
    return to_flambeau(value)


def export(samples, folder):
    """Writes N.pt2 or N.error for the sample N."""
    calls, tensors = [], {}
    for number, sample in enumerate(samples):
        args, kwargs = record.copied(resolved((sample.args, sample.kwargs)))

        def keep(tensor):
            tensors[f"{number}.{len(tensors)}"] = tensor
            return next(reversed(tensors))

        name = sample.name.removesuffix(".default")
        calls.append({"name": str(number), "op": name, "args": as_json(args, keep), "kwargs": {k: as_json(v, keep) for k, v in kwargs.items()}})
    (folder / "calls.json").write_text(json.dumps(calls))
    torch.save(tensors, folder / "tensors.pt")
    return subprocess.run([TOOL, folder / "calls.json", folder / "tensors.pt", folder], capture_output=True, text=True)


def inputs_of(sample):
    """The tensors of a call in the order in which it names them."""
    return compare.tensors((list(sample.args), list(sample.kwargs.values())))


class Wrong(Exception):
    """With a class of failures, and what is wrong."""

    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


def meta(program):
    """The fake values of a program's inputs and outputs."""
    graph = program.graph_module.graph
    inputs = [node.meta["val"] for node in graph.nodes if node.op == "placeholder"]
    outputs = [getattr(leaf, "meta", {}).get("val", leaf) for leaf in compare.leaves(graph.output_node().args[0])]
    return inputs, outputs


def freedom(inputs):
    """Whether a first dimension of the inputs may vary that is not 0 or 1, which the export takes for constants."""
    sizes = [value.shape[0] for value in inputs if isinstance(value, torch.Tensor) and value.dim()]
    if any(is_symbolic(size) and size.node.expr.free_symbols for size in sizes):
        return FREE
    return FIXED if any(size not in (0, 1) for size in sizes) else NOTHING


def evaluate(size, known):
    """The number that an expression stands for; None where it is data that decides."""
    if not is_symbolic(size):
        return int(size)
    expression = size.node.expr
    if not expression.free_symbols <= set(known):
        return None
    return int(expression.subs(known))


def symbols(inputs, tensors):
    """The symbols of the inputs with their numbers for these tensors."""
    known = {}
    for value, tensor in zip(inputs, tensors):
        if isinstance(value, torch.Tensor) and value.dim():
            size = value.shape[0]
            if is_symbolic(size) and isinstance(size.node.expr, sympy.Symbol):
                known[size.node.expr] = tensor.shape[0]
    return known


def check_promised(outputs, results, known):
    """That results are as large, of the type and with the strides that the program says."""
    for position, (promised, result) in enumerate(zip(outputs, results)):
        if not isinstance(promised, torch.Tensor):
            if isinstance(promised, torch.SymInt) and evaluate(promised, known) not in (None, result):
                raise Wrong("number promised", f"result {position} is {result}, {promised} was promised")
            continue
        if not isinstance(result, torch.Tensor):
            raise Wrong("kind promised", f"result {position} is {result}, a tensor was promised")
        if promised.dtype != result.dtype:
            raise Wrong("type promised", f"result {position} is {result.dtype}, {promised.dtype} was promised")
        sizes = [evaluate(size, known) for size in promised.shape]
        if len(sizes) != result.dim() or any(size not in (None, real) for size, real in zip(sizes, result.shape)):
            raise Wrong("shape promised", f"result {position} is {list(result.shape)}, {list(promised.shape)} was promised, {known}")
        strides = [evaluate(stride, known) for stride in promised.stride()]
        if result.numel() and any(
            size != 1 and stride not in (None, real) for size, stride, real in zip(result.shape, strides, result.stride())
        ):
            raise Wrong("strides promised", f"result {position} of {list(result.shape)} has {list(result.stride())}, {list(promised.stride())} were promised, {known}")


def eager(sample, tensors):
    """The same call with other tensors, as PyTorch runs it; None where it refuses them."""
    rest = iter(tensors)
    swap = lambda leaf: next(rest) if isinstance(leaf, torch.Tensor) else leaf  # noqa: E731
    args, kwargs = pytree.tree_map(swap, (list(sample.args), list(sample.kwargs.values())))
    args, kwargs = record.copied((tuple(args), dict(zip(sample.kwargs, kwargs))))
    before = record.copied((args, kwargs))
    torch.manual_seed(0)
    with torch.no_grad():
        try:
            outputs = sample.op(*args, **kwargs)
        except Exception:
            return None
    return record.Sample(sample.op, *before, outputs, (args, kwargs), [], sample.dtype, sample.source, sample.tolerance)


def check_run(module, outputs, sample, known, where):
    """Runs the program with the tensors of a sample, and compares with what it has as outputs."""
    tensors = record.copied(inputs_of(sample))
    torch.manual_seed(0)
    with torch.no_grad():
        try:
            got = module(*tensors)
        except Exception as error:
            text = " ".join(str(error).split())
            kind = "guard refuses" if "Guard failed" in text else "PyTorch does not run it"
            raise Wrong(f"{kind}{where}", f"{type(error).__name__}: {text[:300]}") from None
    if not sample.op._schema.returns:
        return
    given = iter(tensors)
    args, kwargs = pytree.tree_map(lambda leaf: next(given) if isinstance(leaf, torch.Tensor) else leaf, (list(sample.args), list(sample.kwargs.values())))
    said = compare.first_difference(sample, got, args, dict(zip(sample.kwargs, kwargs)))
    if said is not None:
        raise Wrong(f"other results{where}", said)
    check_promised(outputs, compare.leaves(got), known)


def other_sizes(inputs, tensors, ranges):
    """Tensors with other sizes of the first dimension where the program leaves it free, in several ways."""
    known = symbols(inputs, tensors)
    for change in (lambda n: n + 1, lambda n: 2 * n, lambda n: n - 1):
        sizes = {symbol: change(size) for symbol, size in known.items()}
        if any(symbol in ranges and not ranges[symbol].lower <= size <= ranges[symbol].upper for symbol, size in sizes.items()):
            continue
        if any(size < 2 for size in sizes.values()):
            continue
        made = []
        for value, tensor in zip(inputs, tensors):
            wanted = evaluate(value.shape[0], sizes) if isinstance(value, torch.Tensor) and value.dim() else None
            if wanted is not None and tensor.dim() and wanted != tensor.shape[0]:
                tensor = resized(tensor, wanted)
            made.append(tensor)
        yield sizes, made


def resized(tensor, rows):
    """Rows of a tensor, the last one repeated, so that what is sorted stays so; dense in the order of the strides that it has."""
    sizes = [size if stride else 1 for size, stride in zip(tensor.shape, tensor.stride())]
    core = tensor[tuple(slice(0, size) for size in sizes)]
    order = sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d))
    chosen = torch.arange(rows if tensor.stride(0) else 1).clamp(max=core.shape[0] - 1)
    made = core.permute(order).index_select(order.index(0), chosen).contiguous()
    made = made.permute(sorted(range(tensor.dim()), key=order.__getitem__))
    return made.expand(rows, *tensor.shape[1:])


def judge(sample, file):
    """(None or what is wrong, what is free of the first dimension, whether another size was run)."""
    said = file.with_suffix(".error")
    if said.exists():
        raise Wrong("not exported", " ".join(said.read_text().split())[:400])
    try:
        program = torch.export.load(file)
        module = program.module()
    except Exception as error:
        raise Wrong("PyTorch does not load it", f"{type(error).__name__}: {' '.join(str(error).split())[:400]}") from None
    inputs, outputs = meta(program)
    tensors = inputs_of(sample)
    known = symbols(inputs, tensors)
    check_run(module, outputs, sample, known, "")
    free = freedom(inputs)
    if free != FREE:
        return free, "as exported"
    refused = None
    for sizes, made in other_sizes(inputs, resolved(tensors), program.range_constraints):
        other = eager(sample, made)
        if other is None:
            continue
        try:
            check_run(module, outputs, other, sizes, ", another size")
            return free, "another size"
        except Wrong as wrong:
            if not wrong.kind.startswith("guard"):
                raise
            refused = wrong
    return free, "as exported" if refused is None else f"refused: {refused}"

