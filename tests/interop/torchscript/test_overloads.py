"""Overload resolution against the real PyTorch: of the same calls, the same operators with the same conversions."""

import pathlib
import subprocess

import pytest
import torch

from overloads import CALLEE, expected, in_torch, sample


@pytest.fixture(scope="session")
def script_nodes(flambeau):
    tool = pathlib.Path(flambeau.path).parents[2] / "tests/tools/script_nodes"

    def run(texts):
        done = subprocess.run([tool], input="".join(text + "%%\n" for text in texts), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    return run


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the overloads are those of PyTorch 2.13")
def test_calls_mean_the_same_overloads(script_nodes):
    calls = sample(20000, seed=1)
    texts = [text.replace(CALLEE, in_torch(name)) for name, text in calls]
    wrong = []
    accepted = 0
    for (name, call), text, ours in zip(calls, texts, script_nodes(texts), strict=True):
        theirs = expected(name, call)
        accepted += theirs is not None
        # PyTorch drops calls whose result is not used, also some that write to their arguments.
        if theirs == "" or (ours.startswith("error: ") if theirs is None else ours == theirs):
            continue
        wrong.append(f"{text}PyTorch: {theirs}\nFlambeau: {ours}\n")
    assert accepted > len(texts) / 4
    assert not wrong, f"{len(wrong)} of {len(texts)}:\n" + "\n".join(wrong[:20])
