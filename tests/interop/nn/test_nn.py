"""Modules written in C++ beside the same modules in PyTorch: initial values for the same seed, outputs for the same
weights and inputs, in evaluation and in training.

The C++ ones are built by the program nn_cases, beside the command under test; nn_layers.py and nn_models.py have the same
names in Python.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import torch
import torch.utils._pytree as pytree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from nn_layers import LAYERS  # noqa: E402
from nn_models import MODELS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASES = {**LAYERS, **MODELS}

# What draws random numbers in training, or counts batches: their training is compared as well.
TRAINING = [name for name in CASES if name.startswith(("batch_norm", "instance_norm", "dropout"))] + [
    "feature_alpha_dropout", "alpha_dropout", "sequential_named", "unet", "resnet18", "encoder_layer", "gpt2", "bert"]


@pytest.fixture(scope="session")
def nn_cases():
    command = pathlib.Path(os.environ.get("FLAMBEAU_BIN", ROOT / "build/dev/apps/flambeau/flambeau"))
    program = command.resolve().parents[2] / "tests/interop/nn/nn_cases"
    if not program.exists():
        pytest.fail(f"there is no program at {program}: build it first")

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"nn_cases {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
        return done.stdout

    return run


def make(name):
    """The Python module with its initial values."""
    torch.manual_seed(0)
    return CASES[name][0]()


def make_value(spec):
    return torch.randn(spec) if isinstance(spec, tuple) else spec()


def make_inputs(name):
    """Positional and keyword arguments, the same ones every time."""
    _, inputs, kwargs = CASES[name]
    torch.manual_seed(1)
    return [make_value(spec) for spec in inputs], {key: make_value(spec) for key, spec in kwargs.items()}


def describe(value, tensors):
    """A value as nn_cases reads it; its tensors go into the dict."""
    if isinstance(value, torch.Tensor):
        for key, other in tensors.items():
            if other is value:
                return {"tensor": key}
        tensors[str(len(tensors))] = value
        return {"tensor": str(len(tensors) - 1)}
    if value is None:
        return {"none": True}
    if isinstance(value, dict) and all(isinstance(key, int) for key in value) and value:
        return {"int_dict": [[key, describe(item, tensors)] for key, item in value.items()]}
    if isinstance(value, dict):
        return {"dict": {key: describe(item, tensors) for key, item in value.items()}}
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [describe(item, tensors) for item in value]}
    return {type(value).__name__: value}


def write_inputs(path, args, kwargs, training=False):
    """INPUTS.json and the file of tensors beside it."""
    tensors = {}
    description = {
        "tensors": path.stem + "_tensors.pt",
        "training": training,
        "args": [describe(value, tensors) for value in args],
        "kwargs": {key: describe(value, tensors) for key, value in kwargs.items()},
    }
    torch.save(tensors, path.parent / description["tensors"])
    path.write_text(json.dumps(description))


def ulps(a, b):
    """How many floats lie between the two, at most."""
    ordered = [torch.where(x.view(torch.int32) < 0, -(x.view(torch.int32) & 0x7FFFFFFF), x.view(torch.int32)).long()
               for x in (a.contiguous(), b.contiguous())]
    return int((ordered[0] - ordered[1]).abs().max()) if a.numel() else 0


def test_the_names_are_the_same(nn_cases):
    assert nn_cases("list").split() == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_initial_values(nn_cases, tmp_path, name):
    nn_cases("init", name, tmp_path / "state.pt")
    ours = torch.load(tmp_path / "state.pt", weights_only=True)
    theirs = make(name).state_dict()
    assert list(ours) == list(theirs)
    for key, expected in theirs.items():
        assert ours[key].dtype == expected.dtype and ours[key].shape == expected.shape, key
        if torch.equal(ours[key], expected):
            continue
        # Only what is drawn from the normal distribution, or computed, may differ in the last bits.
        assert expected.dtype == torch.float32 and ulps(ours[key], expected) <= 2, key


def check_run(nn_cases, tmp_path, name, training):
    module = make(name).train(training)
    torch.save(module.state_dict(), tmp_path / "state.pt")
    args, kwargs = make_inputs(name)
    write_inputs(tmp_path / "inputs.json", args, kwargs, training)
    nn_cases("run", name, tmp_path / "state.pt", tmp_path / "inputs.json", tmp_path / "out.pt")
    ours = torch.load(tmp_path / "out.pt", weights_only=True)
    torch.manual_seed(0)
    leaves = pytree.tree_leaves(module(*args, **kwargs))
    expected = {f"out.{i}": leaf.detach() for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)}
    expected.update({f"state.{key}": value for key, value in module.state_dict().items()})
    assert list(ours) == list(expected)
    for key, value in expected.items():
        torch.testing.assert_close(ours[key], value, msg=lambda text: f"{key}: {text}")


@pytest.mark.parametrize("name", CASES)
def test_outputs(nn_cases, tmp_path, name):
    check_run(nn_cases, tmp_path, name, training=False)


@pytest.mark.parametrize("name", TRAINING)
def test_outputs_in_training(nn_cases, tmp_path, name):
    check_run(nn_cases, tmp_path, name, training=True)
