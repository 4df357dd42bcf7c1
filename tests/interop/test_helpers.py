"""What the tests themselves lean on: the cache of PyTorch's work, work shared by processes, a Python that forks."""

import os
import pathlib
import subprocess
import sys

import pytest

import cache
from fork_server import ForkServer
from together import together

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def made(tmp_path, monkeypatch):
    """made(text) asks for an entry that a source file of that text makes; made.count says how often it was made."""
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")

    def ask(text="source", parameters=("name", 1)):
        for known in (cache.digest, cache.forget_others):
            known.cache_clear()
        cache.found.clear()
        source = tmp_path / "source.py"
        source.write_text(text)

        def make(folder):
            ask.count += 1
            (folder / "a file").write_text(text)

        return cache.entry("kind", (source,), parameters, make)

    ask.count = 0
    return ask


def test_an_entry_is_made_once(made):
    assert (made() / "a file").read_text() == "source"
    assert made() == made() and made.count == 1


def test_other_sources_and_parameters_are_other_entries(made):
    first = made()
    assert made(parameters=("name", 2)) != first and made.count == 2
    second = made("another source")
    assert (second / "a file").read_text() == "another source" and made.count == 3
    assert not first.exists(), "what the older source made is of no use"


@pytest.mark.parametrize("damage", [lambda file: file.write_text("sour"), lambda file: file.write_text("sourCe"), pathlib.Path.unlink])
@pytest.mark.parametrize("name", ["a file", cache.SUMS])
def test_a_damaged_entry_is_made_again(made, name, damage):
    damage(made() / name)
    assert (made() / "a file").read_text() == "source" and made.count == 2


def test_what_fails_is_not_kept(made, monkeypatch):
    with monkeypatch.context() as context:
        context.setattr(cache, "checksum", lambda file: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            made()
    assert list((cache.FOLDER / "kind").glob("*/*")) == []
    assert (made() / "a file").read_text() == "source"


def test_work_is_shared(tmp_path):
    program = (
        "import os, pathlib, sys; from together import together; "
        "print(together(pathlib.Path(sys.argv[1]), 40, lambda n: [n, os.getpid()]))"
    )
    command = [sys.executable, "-c", program, tmp_path]
    running = [subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert said[0] == said[1] and [number for number, _ in eval(said[0])] == list(range(40))


def test_work_that_failed_is_not_waited_for(tmp_path):
    with pytest.raises(RuntimeError, match="part 0: ZeroDivisionError: division by zero"):
        together(tmp_path / "error", 1, lambda number: 1 / 0)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / "0.taken").write_text(str(gone.pid))
    with pytest.raises(RuntimeError, match=f"process {gone.pid} stopped at part 0"):
        together(tmp_path, 1, os.getpid)


def test_sources_run_in_forks_of_another_python():
    server = ForkServer(sys.executable, "json")
    assert server.run("import sys; print(sys.argv[1:], sys.modules['json'].__name__); x = 1", 5, HERE) == (0, f"['5', '{HERE}'] json\n", "")
    code, output, errors = server.run("print(x)")
    assert (code, output) == (1, "") and "NameError: name 'x' is not defined" in errors
    assert server.run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")[0] == -9
    assert server.run("print(2)")[:2] == (0, "2\n")
    server.stop()
