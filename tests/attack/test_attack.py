"""Every file that does something to whoever opens it with PyTorch is called dangerous, or at least not harmless.

By default a sample of each class; FLAMBEAU_ALL_ATTACKS=1 takes all of them.
"""

import collections
import json
import os
import subprocess

import pytest

import exploits
import openings

ALL = os.environ.get("FLAMBEAU_ALL_ATTACKS") == "1"
SAMPLE = 2  # of each class


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack")
    modules = folder / "modules"
    modules.mkdir()
    marker = folder / "m"
    (modules / "attack_module.py").write_text(f"import enum, os\nos.system('touch {marker}')\nx = dict\nclass Color(enum.Enum):\n    RED = 1\n")
    return exploits.exploits(folder, marker), marker, modules


def chosen(found):
    if ALL:
        return found
    count = collections.Counter()
    kept = []
    for exploit in found:
        count[exploit.kind] += 1
        if count[exploit.kind] <= SAMPLE:
            kept.append(exploit)
    return kept


def check(path):
    done = subprocess.run([os.environ["FLAMBEAU_BIN"], "check", "--json", path], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_there_are_many(made):
    found, _, _ = made
    assert len(found) >= 250
    assert len({exploit.kind for exploit in found}) >= 50


def test_each_runs_in_pytorch_and_none_is_called_harmless(made):
    found, marker, modules = made
    dead, missed = [], []
    for exploit in chosen(found):
        label = f"{exploit.kind}: {exploit.name} ({exploit.path.name})"
        did, said = openings.happens(exploit.path, exploit.opening, marker, modules)
        if not did:
            dead.append(f"{label}: {said}")
        report = check(exploit.path)
        assert not marker.exists(), f"{label}: checking it ran it"
        way = {"load": 1, "mmap": 1, "crash": 1, "use": 1, "hang": 1, "bomb": 0, "bomb_full": 1, "export": 2, "call": 2, "graph_module": 2, "bomb_export": 2, "opset": 2, "aoti": 2, "jit": 2, "lite": 2}.get(exploit.opening)
        verdict = report["openings"][way]["verdict"] if way is not None else "dangerous"
        if report["harmless"] or verdict not in ("dangerous", "caution"):
            missed.append(f"{label}: {verdict}")
    assert not missed, "\n".join(missed)
    assert not dead, "\n".join(dead)
