"""Programs taken apart: what PyTorch's run_decompositions gives for the same program, node by node."""

import copy
import logging
import os
import pathlib
import subprocess
import sys
import warnings

import decomposition_cases
import decomposition_models
import side_by_side
import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import cache  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SOURCES = tuple(HERE / name for name in ("test_decompositions.py", "decomposition_cases.py", "decomposition_fourier.py", "decomposition_models.py"))

# Taken apart less far than PyTorch does it, with another storage offset of a copy, or with ranges of symbols that nothing
# has any more; the values are the same.
BY_VALUES = {
    "cross_entropy_probabilities_dynamic",
    "fft_integers_dynamic",
    "fold",
    "istft_dynamic",
    "pad_circular",
    "stft_padded_dynamic",
    "unfold_dynamic",
    "upsample_bicubic",
    "vsplit_dynamic",
    "written_fill",
}
# Random, and kept as one operator; or of an operator that nothing here can trace.
LEFT_OUT = {"rrelu", "Bilinear", "bilinear", "EmbeddingBag"}
# PyTorch refuses these, or cannot save them.
REFUSED = {"gaussian", "max", "topk", "sort", "median"}

CASES = decomposition_cases.all_cases()
MODELS = decomposition_models.models()


def dynamic_batch(module, inputs):
    """The first dimension of every input that has the size of the first one's may vary."""
    size = inputs[0].shape[0] if inputs[0].dim() else None
    shapes = tuple({0: torch.export.Dim.AUTO} if x.dim() and x.shape[0] == size else None for x in inputs)
    return (shapes,) if isinstance(module, decomposition_cases.Call) else shapes


def export_cases(*arguments):
    command = pathlib.Path(os.environ.get("FLAMBEAU_BIN", ROOT / "build/dev/apps/flambeau/flambeau"))
    tool = command.resolve().parents[2] / "tests/interop/export/export_cases"
    if not tool.exists():
        pytest.fail(f"there is no {tool}: build export_cases first")
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def decompose(source, target):
    export_cases("decompose", source, target)


def by_torch(key, module, inputs, shapes, by_values):
    """A folder with before.pt2 and theirs.pt2, and values.pt where they are compared: the inputs and PyTorch's results."""

    def make(folder):
        logging.disable(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.export(module, inputs, dynamic_shapes=shapes)
            torch.export.save(program, folder / "before.pt2")
            decomposed = program.run_decompositions()
            torch.export.save(decomposed, folder / "theirs.pt2")
        if by_values:
            expected = decomposed.module()(*copy.deepcopy(inputs))
            torch.save((inputs, expected), folder / "values.pt")

    return cache.entry("decompositions", SOURCES, (*key, by_values), make)


def check(tmp_path, key, module, inputs, shapes, by_values):
    ours, kept = tmp_path / "ours.pt2", by_torch(key, module, inputs, shapes, by_values)
    decompose(kept / "before.pt2", ours)
    if not by_values:
        found = side_by_side.compare(ours, kept / "theirs.pt2")
        assert [line for line in found if "nan, PyTorch has nan" not in line] == []
        return
    inputs, expected = torch.load(kept / "values.pt", weights_only=False)
    actual = torch.export.load(ours).module()(*inputs)
    torch.testing.assert_close(actual, expected)


def chosen_cases():
    """Static and dynamic by turns; with FLAMBEAU_ALL_MODELS=1 every case both ways."""
    names = sorted(CASES.keys() - REFUSED - LEFT_OUT)
    if os.environ.get("FLAMBEAU_ALL_MODELS"):
        return [(name, is_dynamic) for name in names for is_dynamic in (False, True)]
    return [(name, position % 2 == 1) for position, name in enumerate(names)]


@pytest.mark.parametrize("name, is_dynamic", chosen_cases(), ids=lambda value: value if isinstance(value, str) else "dynamic" if value else "static")
def test_case(tmp_path, name, is_dynamic):
    module, inputs = CASES[name]
    shapes = dynamic_batch(module, inputs) if is_dynamic else None
    is_known = name in BY_VALUES or (is_dynamic and f"{name}_dynamic" in BY_VALUES)
    check(tmp_path, (name, is_dynamic), module, inputs, shapes, by_values=is_known)


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_model(tmp_path, name, is_dynamic):
    model, inputs, shapes = MODELS[name]
    check(tmp_path, ("model", name, is_dynamic), model.eval(), inputs, shapes if is_dynamic else None, by_values=False)


# Taken apart here and not there: PyTorch does it on the way to the graph.
ON_THE_WAY = {"aten::detach_", "aten::lift_fresh_copy"}


def pytorch_level(name, table):
    """When PyTorch takes an operator apart; None where it does not have it."""
    base, _, overload = name.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base, None)
    operator = getattr(packet, overload or "default", None)
    try:
        if torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), "CompositeImplicitAutograd"):
            return "composite"
    except (AttributeError, RuntimeError):
        return None
    return "core" if operator in table else "never"


def test_levels():
    """What says that it is taken apart is so in PyTorch too, at the same time."""
    table = torch.export.default_decompositions() | torch._decomp.core_aten_decompositions()
    wrong = []
    for line in export_cases("levels").splitlines():
        name, level = line.split()
        wanted = pytorch_level(name, table) if name.startswith("aten::") else None
        if level != "never" and wanted not in (None, level) and name not in ON_THE_WAY:
            wrong.append(f"{name} is {level}, in PyTorch {wanted}")
    assert wrong == []
