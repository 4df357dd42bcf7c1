"""flambeau compile --kernels: machine code of the model's own groups runs in PyTorch, and nowhere else unasked."""

import json
import os
import shutil
import subprocess
import sys
import threading

import pytest
import torch
from torch.export import Dim, export, save

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler"),
]


class Chains(torch.nn.Module):
    """Chains of floats, of half precision, of integers and of truth values, broadcast and not."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.first = torch.nn.Linear(16, 40)
        self.second = torch.nn.Linear(40, 16)
        self.register_buffer("scale", torch.rand(40))

    def forward(self, x, y, counts):
        hidden = self.first(x)
        hidden = torch.nn.functional.silu(hidden * self.scale + 0.5) * torch.exp(-hidden.abs())
        back = self.second(hidden)
        short = (y.to(torch.bfloat16) * 2 + 1).relu()
        kept = torch.where((y > 0) & (counts[:, None] % 3 != 0), torch.tanh(y) * 3, y - 1)
        return back + kept, short, (counts * 7 + 2) * counts


def inputs(rows):
    return torch.randn(rows, 16), torch.randn(rows, 16), torch.arange(rows)


@pytest.fixture(scope="module")
def packages(tmp_path_factory, flambeau):
    folder = tmp_path_factory.mktemp("kernels")
    rows = {0: Dim("rows", min=0, max=200)}
    with torch.no_grad():
        program = export(Chains(), inputs(5), dynamic_shapes=(rows, rows, rows), strict=False)
    save(program, folder / "chains.pt2")
    for name, options in (("fast.pt2", []), ("alone.pt2", ["--library-only"]), ("fast.so", [])):
        made = flambeau.json("compile", folder / "chains.pt2", "--kernels", "-o", folder / name, *options)
        assert made["kernels"] >= 3
    return folder


def same(got, expected):
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-2 if a.dtype == torch.bfloat16 else 1e-5, atol=1e-5, equal_nan=True)


def loaders(folder):
    yield torch._inductor.aoti_load_package(str(folder / "fast.pt2"))
    yield torch._inductor.aoti_load_package(str(folder / "alone.pt2"))
    yield torch._export.aot_load(str(folder / "fast.so"), "cpu")


def test_every_loader_runs_them(packages):
    model = Chains()
    with torch.no_grad():
        for loaded in loaders(packages):
            assert "memfd:kernels" in open("/proc/self/maps").read()
            for rows in (5, 1, 0, 200, 33):
                given = inputs(rows)
                same(loaded(*given), model(*given))
            x, y, counts = torch.randn(16, 9).t(), torch.randn(9, 32)[:, ::2], torch.arange(18)[::2]
            same(loaded(x, y, counts), model(x, y, counts))
            special = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-40, 3e38, -1e-7]).repeat(7, 2)
            same(loaded(x[:7], special, counts[:7]), model(x[:7], special, counts[:7]))


def test_callers_run_at_once(packages):
    runner = torch._C._aoti.AOTIModelContainerRunnerCpu(str(packages / "fast.so"), 4)
    model, failures = Chains(), []

    def call(rows):
        given = inputs(rows)
        with torch.no_grad():
            expected = model(*given)
        for _ in range(40):
            try:
                same(runner.run(list(given)), expected)
            except AssertionError as error:
                failures.append(str(error))

    callers = [threading.Thread(target=call, args=(3 + 20 * number,)) for number in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures


def test_new_constants_keep_the_kernels(packages):
    loaded = torch._inductor.aoti_load_package(str(packages / "alone.pt2"))
    torch.manual_seed(8)
    model = Chains()
    model.load_state_dict({name: torch.randn_like(value) for name, value in model.state_dict().items()})
    loaded.load_constants(model.state_dict(), check_full_update=True)
    given = inputs(12)
    with torch.no_grad():
        same(loaded(*given), model(*given))


def test_no_code_runs_unasked(packages, flambeau, tmp_path):
    """`run` and `verify` take the program and leave the library alone; the option for native code uses its kernels."""
    model, given = Chains(), inputs(5)
    for index, value in enumerate(given):
        torch.save(value, tmp_path / f"{index}.pt")
    with torch.no_grad():
        torch.save(model(*given), tmp_path / "expected.pt")
    named, in_order = [], []
    for index, name in enumerate(("x", "y", "counts")):
        named += ["-i", f"{name}={tmp_path}/{index}.pt"]
        in_order += ["-i", tmp_path / f"{index}.pt"]
    checked = ("--check-against", tmp_path / "expected.pt", "--atol", "1e-2")
    mapped = shutil.which("strace")
    for name in ("fast.pt2", "alone.pt2", "fast.so"):
        if mapped:
            log = tmp_path / "trace"
            subprocess.run([mapped, "-f", "-o", log, "-e", "memfd_create,execve", flambeau.path, "run", packages / name,
                            *named, *checked], check=True, capture_output=True)  # fmt: skip
            assert "memfd_create" not in log.read_text()
        flambeau("run", packages / name, *named, *checked)
        flambeau("run", "--run-native-code", packages / name, *in_order, *checked)


def test_a_broken_table_is_refused(packages, tmp_path, capfd):
    whole = bytearray((packages / "fast.so").read_bytes())
    at = whole.rindex(b"flambeau kernels")
    for place, value in ((16, 9), (20, 255), (31, 127), (32 + 32 * whole[at + 20] + 200, 255)):
        broken = bytearray(whole)
        broken[at + place] ^= value
        (tmp_path / "broken.so").write_bytes(broken)
        script = f"import torch; torch._C._aoti.AOTIModelContainerRunnerCpu({str(tmp_path / 'broken.so')!r}, 1)"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr  # an error, or what was hit does not matter; no crash


def test_what_it_needs_is_said(packages, flambeau, tmp_path):
    program = packages / "chains.pt2"
    assert "no compiler '/no/such'" in flambeau.error("compile", program, "-o", tmp_path / "x.pt2", "--compiler", "/no/such")
    done = subprocess.run([flambeau.path, "compile", program, "--kernels", "-o", tmp_path / "x.pt2"],
                          env={**os.environ, "PATH": ""}, capture_output=True, text=True)  # fmt: skip
    assert done.returncode != 0 and "kernels need a C compiler" in done.stderr
    assert not (tmp_path / "x.pt2").exists()
    shown = json.loads(subprocess.run([flambeau.path, "compile", program, "-o", tmp_path / "y.pt2", "--json"],
                                      check=True, capture_output=True, text=True).stdout)  # fmt: skip
    assert "kernels" not in shown
