"""Scripts with branches and loops that data decides: migrated, verified and run by PyTorch, which gives what the script gives
on inputs that take every way."""

import copy
import os
import pathlib
import re
import subprocess
from typing import Optional

import pytest
import torch

import strict_branches
import strict_loops
import strict_refusals

CASES = strict_branches.CASES | strict_loops.CASES
COMMAND = os.environ["FLAMBEAU_BIN"]


def migrate(module, args, folder, *options):
    script, program = folder / "script.pt", folder / "program.pt2"
    torch.jit.save(module, script)
    inputs = []
    for i, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            torch.save(value, folder / f"{i}.pt")
            value = folder / f"{i}.pt"
        inputs += ["-i", str(value)]
    done = subprocess.run(
        [COMMAND, "migrate", str(script), "-o", str(program), *inputs, *options], capture_output=True, text=True
    )
    return done, program


def copied(args):
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in args]


@pytest.mark.parametrize("name", sorted(CASES))
def test_takes_every_way(name, tmp_path):
    cls, calls = CASES[name]
    torch.manual_seed(0)
    module = torch.jit.script(cls().eval())
    done, path = migrate(module, calls[0], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    program = torch.export.load(path)
    operators = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    for call in calls:
        expected_module, found_module = torch.jit.load(tmp_path / "script.pt"), copy.deepcopy(program).module()
        for _ in range(2):
            ours, theirs = copied(call), copied(call)
            torch.testing.assert_close(found_module(*ours), expected_module(*theirs))
            torch.testing.assert_close(ours, theirs)
        for key, value in expected_module.state_dict().items():
            torch.testing.assert_close(found_module.state_dict()[key], value)
    only_asserts = name in ("AssertsData", "RaisesInBranch")
    assert only_asserts or operators & {"cond", "while_loop"}, operators


@pytest.mark.parametrize("name", ["AssertsData", "RaisesInBranch"])
def test_assertions_hold(name, tmp_path):
    cls, calls = CASES[name]
    done, path = migrate(torch.jit.script(cls().eval()), calls[0], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.raises(RuntimeError):
        torch.export.load(path).module()(torch.full((2, 3), float("nan")))


@pytest.mark.parametrize("name", sorted(strict_refusals.CASES))
def test_says_what_cannot_be_said(name, tmp_path):
    cls, args, line, reason, remedy = strict_refusals.CASES[name]
    done, _ = migrate(torch.jit.script(cls().eval()), args, tmp_path)
    assert done.returncode != 0, done.stdout
    assert reason in done.stderr, done.stderr
    assert remedy in done.stderr, done.stderr
    if not line:
        return
    # The place is one of the original source: its line holds the construct.
    source = pathlib.Path(strict_refusals.__file__).read_text().splitlines()
    places = re.findall(r"strict_refusals\.py(?::|\", line )(\d+)", done.stderr)
    assert any(line in source[int(number) - 1] for number in places), done.stderr


class Specialized(torch.nn.Module):
    def forward(self, x, flag: bool, mode: str, bias: Optional[torch.Tensor] = None):
        if flag:
            x = x * 2
        if mode == "neg":
            x = -x
        return x if bias is None else x + bias


def test_fixes_arguments(tmp_path):
    x = torch.randn(3)
    options = ["--specialize", "flag=True", "--specialize", "mode='neg'", "--specialize", "bias=None"]
    done, path = migrate(torch.jit.script(Specialized()), [x], tmp_path, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    torch.testing.assert_close(torch.export.load(path).module()(x, True, "neg", None), x * -2)
    done, path = migrate(torch.jit.script(Specialized()), [x], tmp_path, "--specialize", "flag=maybe")
    assert done.returncode != 0 and "gives no value that can be fixed" in done.stderr
