"""Files that change while they are read, streams that are closed, full or endless: an error, never a signal or a wrong
result. tests/attack/truncate.py does more of the first."""

import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "attack"))
import truncate  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "source.pt2"
    truncate.make_model(path)
    return path


@pytest.mark.parametrize("kind", truncate.WORK)
def test_cut_short_at_any_moment(flambeau, model, tmp_path, kind):
    assert truncate.attack(flambeau.path, kind, model, tmp_path, rounds=12) > 0


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "weights.pt"
    torch.save({f"layer.{i}": torch.ones(3) for i in range(2000)}, path)
    return path


@pytest.fixture
def shell(flambeau, weights):
    """Runs bash with the command as $F and a file as $W, and gives its exit code, output and errors."""

    def run(line, timeout=60):
        done = subprocess.run(
            ["bash", "-c", line],
            env={**os.environ, "F": str(flambeau.path), "W": str(weights)},
            capture_output=True,
            text=True,
            timeout=timeout,
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL),
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_closed_streams(shell, tmp_path):
    right = shell("$F inspect $W")
    assert right[0] == 0
    assert shell("$F inspect $W <&-") == right
    assert shell("$F inspect $W 2>&-") == right
    assert shell("$F inspect $W.none 2>&-")[0] == 2
    lost = (2, "", "flambeau: standard output cannot be written\n")
    assert shell("$F inspect $W >&-") == lost
    assert shell("$F inspect $W --json >&-") == lost
    assert shell("$F --help >&-") == lost
    assert shell("$F inspect $W >&- 2>&- <&-")[0] == 2
    # No file of the command's may become standard output or error.
    target = tmp_path / "out.safetensors"
    assert shell(f"$F convert -q $W {target} >&- 2>&- <&-")[0] == 0
    assert shell(f"$F inspect --json {target}")[0] == 0


def test_full_streams(shell):
    assert shell("$F inspect $W >/dev/full") == (2, "", "flambeau: standard output cannot be written\n")
    assert shell("$F inspect -n 0 $W >/dev/full")[0] == 2
    assert shell("$F inspect $W.none 2>/dev/full")[0] == 2


def test_a_reader_that_has_enough(shell):
    assert shell("$F inspect -n 0 $W | head -1")[2] == ""
    assert shell("trap '' PIPE; $F inspect -n 0 $W | head -1; echo ${PIPESTATUS[0]} >&2")[2] in ("0\n", "2\n")
    assert shell("trap '' PIPE; $F inspect --json -n 0 $W | true")[2] == ""


def test_endless_input(shell):
    message = "is no regular file, and what it begins with is of no known kind (the rest was not read)"
    for command in ("inspect", "check", "list", "run", "verify"):
        code, _, errors = shell(f"ulimit -v 800000; $F {command} /dev/zero")
        assert code == 2 and errors == f"flambeau: /dev/zero: {message}\n", (command, errors)
    # What begins like a file by chance is read up to a limit.
    assert shell("ulimit -v 800000; $F inspect /dev/urandom")[0] == 2
    code, _, errors = shell("yes | $F inspect /dev/stdin")
    assert code == 2 and message in errors


def test_files_that_are_none(shell, tmp_path):
    assert shell("$F inspect /proc/self/mem")[0] == 2
    assert "the folder holds no weights" in shell(f"$F inspect {tmp_path}")[2]
    name = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(tmp_path)  # the names of sockets are short
        listener.bind("socket")
        assert shell(f"$F inspect {name}")[2] == f"flambeau: {name}: is a socket, a file is needed\n"


def test_a_pipe_is_a_file(shell):
    right = shell("$F inspect --json $W")[1].replace("weights.pt", "")
    for line in ("cat $W | $F inspect --json /dev/stdin", "$F inspect --json <(cat $W)"):
        code, output, errors = shell(line)
        assert code == 0, errors
        assert output.count('"name"') == right.count('"name"') > 2000
