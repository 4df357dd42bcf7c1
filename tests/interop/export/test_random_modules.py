"""Random modules over many operators with random dynamic dimensions: what the C++ module computes is what its exported
program computes in memory, loaded from the file, and run by PyTorch, at three sizes each.

random_modules compares the first three and leaves the files that PyTorch runs here. FLAMBEAU_RANDOM_MODULES=FIRST:COUNT
takes other seeds; `random_modules show SEED` prints one module.
"""

import os
import pathlib
import subprocess
import warnings

import pytest
import torch
import torch.utils._pytree as pytree

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIRST, COUNT = map(int, os.environ.get("FLAMBEAU_RANDOM_MODULES", "0:300").split(":"))
SIZES = 3
BATCH = 60  # modules of one process
# Of all programs together: fewer means that the generator lost some.
LEAST_OPERATORS = 200


def command():
    flambeau = pathlib.Path(os.environ.get("FLAMBEAU_BIN", ROOT / "build/dev/apps/flambeau/flambeau"))
    program = flambeau.resolve().parents[2] / "tests/interop/export/random_modules"
    if not program.exists():
        pytest.fail(f"there is no program at {program}: build it first")
    return program


def leaves(tensors, prefix):
    """The values under "PREFIX.0", "PREFIX.1", ...; numbers as Python has them."""
    found = []
    while True:
        key = f"{prefix}.{len(found)}"
        if key in tensors:
            found.append(tensors[key])
        elif f"{key}.number" in tensors:
            found.append(int(tensors[f"{key}.number"]))
        else:
            return found


def check_close(what, actual, expected):
    assert len(actual) == len(expected), f"{what}: {len(actual)} values, the module gives {len(expected)}"
    for position, (ours, wanted) in enumerate(zip(actual, expected)):
        place = f"{what} {position}"
        if not isinstance(wanted, torch.Tensor):
            assert ours == wanted, f"{place}: {ours}, the module gives {wanted}"
            continue
        # Wide floats were computed from narrow ones.
        tolerances = {"rtol": 1.3e-6, "atol": 1e-5} if wanted.dtype == torch.float64 else {}
        torch.testing.assert_close(ours, wanted, msg=lambda text: f"{place}: {text}", **tolerances)


def run_by_torch(program, tensors):
    """Runs a program at each size from the state it was saved with."""
    module = program.module()
    saved = {name: buffer.clone() for name, buffer in module.named_buffers()}
    for size in range(SIZES):
        given = leaves(tensors, f"{size}.in")
        args, kwargs = pytree.tree_unflatten(given, program.call_spec.in_spec)
        if f"{size}.refused" in tensors:
            with pytest.raises((AssertionError, RuntimeError), match="[Gg]uard"):
                module(*args, **kwargs)
            continue
        with torch.no_grad():
            outputs = pytree.tree_leaves(module(*args, **kwargs))
        check_close(f"output of size {size}:", outputs, leaves(tensors, f"{size}.out"))
        check_close(f"argument after size {size}:", given, leaves(tensors, f"{size}.after"))
        prefix = f"{size}.state."
        for key, expected in tensors.items():
            if key.startswith(prefix):
                actual = module.get_buffer(key.removeprefix(prefix))
                check_close(f"buffer {key}", [actual], [expected])
        with torch.no_grad():
            for name, buffer in module.named_buffers():
                buffer.copy_(saved[name])


def check_seed(folder, seed, operators):
    error = folder / f"{seed}.error"
    if error.exists():
        return error.read_text()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.load(folder / f"{seed}.pt2")
        operators.update(str(node.target) for node in program.graph.nodes if node.op == "call_function")
        run_by_torch(program, torch.load(folder / f"{seed}.pt", weights_only=True))
    except Exception as failure:  # noqa: BLE001: whatever PyTorch says of the program
        return f"PyTorch: {type(failure).__name__}: {failure}"
    return None


@pytest.fixture(scope="session")
def operators():
    """The targets of all programs so far."""
    return set()


@pytest.fixture(scope="session")
def nameless():
    """The modules so far that cannot have named dimensions, a line for each."""
    return set()


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, BATCH))
def test_random_modules(tmp_path, operators, nameless, first):
    seeds = range(first, min(first + BATCH, FIRST + COUNT))
    done = subprocess.run([command(), "export", str(first), str(len(seeds)), tmp_path],
                          capture_output=True, text=True, timeout=300)
    nameless.update(done.stdout.splitlines())
    assert done.returncode in (0, 1), f"random_modules stopped with {done.returncode}"
    failures = []
    for seed in seeds:
        failure = check_seed(tmp_path, seed, operators)
        if failure is not None:
            plan = subprocess.run([command(), "show", str(seed)], capture_output=True, text=True, timeout=60).stdout
            failures.append(f"seed {seed}: {failure}\n{plan}")
    assert not failures, f"{len(failures)} of {len(seeds)} modules\n\n" + "\n".join(failures)


def test_operators_are_many(operators, nameless):
    if COUNT < 300:
        pytest.skip("of 300 modules")
    assert len(operators) > LEAST_OPERATORS, sorted(operators)
    assert len(nameless) < 0.05 * COUNT, sorted(nameless)
