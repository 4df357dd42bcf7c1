"""flambeau compile: PyTorch loads and runs what we make, through each of its loaders, as if its own compiler had made it.

python test_aot.py [NAME...]   compiles all programs of programs.py, or those named, and compares what PyTorch gets from both
"""

import gc
import os
import pathlib
import resource
import subprocess
import sys
import threading

import pytest
import torch
from torch.export import Dim, export, save
from torch.utils import _pytree as pytree

import programs
from conftest import ROOT

programs.load_rooms()
pytestmark = pytest.mark.filterwarnings("ignore")

SOME = [
    "control.buffer_mutation",
    "control.cond",
    "examples.user_input_mutation",
    "shapes.auto",
    "values.containers",
    "values.keywords",
    "values.no_inputs",
    "weights.tied",
]


class Net(torch.nn.Module):
    """More weights than a package has twice."""

    def __init__(self, width=800):
        super().__init__()
        torch.manual_seed(5)
        self.first = torch.nn.Linear(8, width)
        self.second = torch.nn.Linear(width, width)
        self.register_buffer("shift", torch.ones(width))

    def forward(self, x, *, scale):
        return self.second(torch.relu(self.first(x))) * scale + self.shift


def exported(model, *args, dynamic=None, **kwargs):
    return export(model, args, kwargs, dynamic_shapes=dynamic, strict=False)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp("net")
    program = exported(
        Net(), torch.ones(3, 8), scale=torch.tensor(2.0), dynamic={"x": {0: Dim("n", min=2, max=64)}, "scale": None}
    )
    save(program, folder / "net.pt2")
    return folder / "net.pt2"


@pytest.fixture(scope="module")
def compiled(net, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    command = os.environ.get("FLAMBEAU_BIN", str(ROOT / "build/dev/apps/flambeau/flambeau"))
    for name in ("net.pt2", "net.so"):
        subprocess.run([command, "compile", net, "-o", folder / name], check=True, capture_output=True)
    subprocess.run([command, "compile", net, "--library-only", "-o", folder / "alone.pt2"], check=True)
    return folder


def same(got, expected):
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


def loaders(folder):
    """A callable for each way there is into a compiled model."""
    yield torch._inductor.aoti_load_package(str(folder / "net.pt2"))
    yield torch._inductor.aoti_load_package(str(folder / "alone.pt2"))
    yield torch._export.aot_load(str(folder / "net.so"), "cpu")


def test_every_loader_runs_it(compiled):
    model = Net()
    for loaded in loaders(compiled):
        for rows in (2, 5, 64):
            x = torch.randn(rows, 8)
            same(loaded(x, scale=torch.tensor(3.0)), model(x, scale=torch.tensor(3.0)))
        strided = torch.randn(8, 7).t()
        same(loaded(strided, scale=torch.tensor(3.0)), model(strided, scale=torch.tensor(3.0)))


def test_it_is_an_exported_program_as_well(net, compiled, flambeau, tmp_path):
    x = torch.randn(4, 8)
    loaded = torch.export.load(compiled / "net.pt2").module()
    same(loaded(x, scale=torch.tensor(3.0)), Net()(x, scale=torch.tensor(3.0)))
    assert ": valid, " in flambeau("verify", compiled / "net.pt2")
    # The weights are in it once.
    flambeau("compile", net, "--stored", "-o", tmp_path / "stored.pt2")
    assert abs(os.path.getsize(compiled / "net.so") - os.path.getsize(tmp_path / "stored.pt2")) < 100_000
    # And the library is compressed, as PyTorch unpacks it in any case.
    weights = sum(value.nbytes for value in Net().state_dict().values())
    assert os.path.getsize(compiled / "net.pt2") - weights < 8_000_000
    loaded = torch._inductor.aoti_load_package(str(tmp_path / "stored.pt2"))
    same(loaded(x, scale=torch.tensor(3.0)), Net()(x, scale=torch.tensor(3.0)))


def test_loading_elsewhere_says_where_the_weights_are(compiled, monkeypatch, capfd):
    load = torch._C._aoti.AOTIModelPackageLoader
    gc.collect()
    with pytest.raises(RuntimeError, match="create_func_"):
        load(str(compiled / "net.pt2"), "model", False, 1, -1)
    assert "not open here (load it with torch._inductor.aoti_load_package" in capfd.readouterr().err
    monkeypatch.setenv("FLAMBEAU_PACKAGE", str(compiled / "net.pt2"))
    x = torch.randn(4, 8)
    for name in ("net.pt2", "alone.pt2"):
        loaded = load(str(compiled / name), "model", False, 1, -1)
        same(loaded.boxed_run([x, torch.tensor(3.0)])[0], Net()(x, scale=torch.tensor(3.0)))


def test_wrong_inputs_are_refused(compiled):
    run = torch._C._aoti.AOTIModelContainerRunnerCpu(str(compiled / "net.so"), 1).run
    one = torch.tensor(1.0)
    for inputs, message in [
        ([torch.ones(3, 8)], "takes 2 tensors"),
        ([torch.ones(3, 9), one], "dimension 1 is 9"),
        ([torch.ones(3, 8, dtype=torch.float64), one], "float64"),
        ([torch.ones(65, 8), one], "65"),
        ([torch.ones(8), one], "has 1 dimensions"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            run(inputs)
    same(run([torch.ones(3, 8), one])[0], Net()(torch.ones(3, 8), scale=one))


def test_keywords_as_torch_checks_them(compiled):
    for loaded in loaders(compiled):
        with pytest.raises(ValueError, match="keyword mismatch"):
            loaded(torch.ones(3, 8), factor=torch.tensor(1.0))


def test_constants_are_listed_exchanged_and_swapped(compiled, capfd):
    runner = torch._C._aoti.AOTIModelContainerRunnerCpu(str(compiled / "net.so"), 1)
    names = runner.get_constant_names_to_original_fqns()
    assert names["second_weight"] == "second.weight"
    assert runner.get_constant_names_to_dtypes()["shift"] == 6
    x, one = torch.ones(3, 8), torch.tensor(1.0)
    model = Net()
    before = model(x, scale=one)
    values = {name: torch.randn_like(value) for name, value in model.state_dict().items()}
    changed = Net()
    changed.load_state_dict(values)
    after = changed(x, scale=one)
    runner.update_constant_buffer(values, True, True)
    same(runner.run([x, one])[0], before)
    runner.swap_constant_buffer()
    same(runner.run([x, one])[0], after)
    runner.swap_constant_buffer()
    same(runner.run([x, one])[0], before)
    runner.free_inactive_constant_buffer()
    for message, attempt in [
        ("no inactive set", runner.swap_constant_buffer),
        ("left out", lambda: runner.update_constant_buffer({"shift": values["shift"]}, False, True)),
        ("second.weight' is float", lambda: runner.update_constant_buffer({"second.weight": one}, False, False)),
    ]:
        with pytest.raises(RuntimeError, match="API call failed"):
            attempt()
        assert message in capfd.readouterr().err
    runner.update_constant_buffer({"shift": torch.zeros(800)}, False, False)
    same(runner.run([x, one])[0], before - 1)
    loaded = torch._inductor.aoti_load_package(str(compiled / "alone.pt2"))
    assert sorted(loaded.get_constant_fqns()) == sorted(values)
    # What the caller keeps is seen as it is at each run.
    loaded.load_constants(values, check_full_update=True, user_managed=True)
    same(loaded(x, scale=one), after)
    values["shift"] += 1
    same(loaded(x, scale=one), after + 1)


def test_callers_run_at_once_while_constants_change(compiled):
    runner = torch._C._aoti.AOTIModelContainerRunnerCpu(str(compiled / "net.so"), 2)
    x, one = torch.randn(3, 8), torch.tensor(1.0)
    values = Net().state_dict()
    before = Net()(x, scale=one)
    values["shift"] = values["shift"] + 1
    failures = []

    def call():
        for _ in range(60):
            got = runner.run([x, one])[0]
            if not (torch.allclose(got, before, atol=1e-4) or torch.allclose(got, before + 1, atol=1e-4)):
                failures.append(got)

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    runner.update_constant_buffer(values, True, True)
    for _ in range(20):
        runner.swap_constant_buffer()
    for caller in callers:
        caller.join()
    assert not failures


class Odd(torch.nn.Module):
    """Outputs that are inputs, views of them, constants, empty, without dimensions, None; inputs and buffers that are written to."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3))

    def forward(self, x, y):
        self.count += 1
        y.add_(1)
        return {"same": x, "view": x[1:].t(), "table": self.table, "empty": x[:0], "sum": x.sum(), "none": None, "count": self.count + 0}


def test_odd_outputs_and_changes(tmp_path, flambeau):
    x, y = torch.randn(3, 2), torch.zeros(2)
    save(exported(Odd(), x, y), tmp_path / "odd.pt2")
    flambeau("compile", tmp_path / "odd.pt2", "-o", tmp_path / "compiled.pt2")
    loaded = torch._inductor.aoti_load_package(str(tmp_path / "compiled.pt2"))
    reference = Odd()
    for run in range(3):
        expected = reference(x, torch.zeros(2))
        got = loaded(x, y)
        assert got["none"] is None
        for name, value in expected.items():
            if value is not None:
                same(got[name], value)
        assert y.tolist() == [run + 1.0] * 2


class Large(torch.nn.Module):
    """Outputs that are computed in PyTorch's memory, some of which the model keeps, of two types."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(3000))

    def forward(self, x):
        self.state.add_(x)
        doubled = (x * 2).reshape(60, 50)
        return self.state, self.state * 1, doubled.t(), doubled[7:9], x.long(), x > 0, (x + 1).bfloat16()


def test_outputs_are_the_callers(tmp_path, flambeau):
    x = torch.arange(3000.0)
    save(exported(Large(), x), tmp_path / "large.pt2")
    flambeau("compile", tmp_path / "large.pt2", "-o", tmp_path / "large.so")
    runner = torch._C._aoti.AOTIModelContainerRunnerCpu(str(tmp_path / "large.so"), 1)
    reference, kept = Large(), []
    for _ in range(4):
        expected = [each.clone() for each in reference(x)]
        got = runner.run([x])
        same(got, expected)
        assert [each.stride() for each in got] == [each.stride() for each in expected]
        kept.append((got[2:], expected[2:]))
        got[0].fill_(7)  # nothing that the model keeps
        got[1].fill_(8)
    del runner
    for got, expected in kept:
        same(got, expected)


def test_runs_do_not_grow(compiled):
    runner = torch._C._aoti.AOTIModelContainerRunnerCpu(str(compiled / "net.so"), 1)
    x, one = torch.ones(2, 8), torch.tensor(1.0)

    def peak(calls):
        for _ in range(calls):
            runner.run([x, one])
            try:
                runner.run([x])
            except RuntimeError:
                pass
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    start = peak(500)
    assert peak(2000) - start < 4096  # kB


def compare(name, command, folder):
    """One of programs.py through PyTorch's loader; gives what is different, or nothing."""
    path = programs.saved(name)
    out = pathlib.Path(folder) / "compiled.pt2"
    done = subprocess.run([command, "compile", path, "-o", out], capture_output=True, text=True)
    if done.returncode != 0:
        return f"refused: {done.stderr.strip()}"
    program = torch.export.load(path)
    args, kwargs = program.example_inputs
    expected = program.module()(*pytree.tree_map(copied, args), **pytree.tree_map(copied, kwargs))
    loaded = torch._inductor.aoti_load_package(str(out))
    got = loaded(*pytree.tree_map(copied, args), **pytree.tree_map(copied, kwargs))
    wanted = [leaf for leaf in pytree.tree_leaves(expected)]
    for ours, theirs in zip(pytree.tree_leaves(got), wanted, strict=True):
        if isinstance(theirs, torch.Tensor):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4, equal_nan=True)
        elif theirs is None:
            assert ours is None
        elif isinstance(theirs, (int, float)):
            assert ours.item() == theirs
    return None


def copied(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("name", SOME)
def test_program(name, tmp_path, flambeau):
    programs.quiet()
    assert compare(name, flambeau.path, tmp_path) is None


def main():
    import tempfile

    programs.quiet()
    command = os.environ.get("FLAMBEAU_BIN", str(ROOT / "build/dev/apps/flambeau/flambeau"))
    names = sys.argv[1:] or sorted(programs.PROGRAMS)
    counts = {"equal": 0, "refused": 0, "different": 0}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                said = compare(name, command, folder)
            except Exception as error:
                said = f"{type(error).__name__}: {str(error)[:300]}"
        verdict = "equal" if said is None else "refused" if said.startswith("refused") else "different"
        counts[verdict] += 1
        if said is not None:
            print(f"{name}: {said}", flush=True)
    print(counts)


if __name__ == "__main__":
    main()
