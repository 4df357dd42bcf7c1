#!/usr/bin/env python3
"""Compares mobile modules that Flambeau writes with PyTorch's, and what runs of them.

    mobile.py --tool build/dev/tests/tools/script_resave [--every N] [--list] CALLS.zip

Of each archive in the zip that PyTorch saves for its lite interpreter:
- bytecode: `bytecode.pkl` of version 8 is the same, byte for byte; of 4 to 7, what PyTorch's backport makes, but for the numbers of
  warnings, which go on counting with each version, and names of storages, which are addresses there; 9, the flatbuffer, but for the numbers of debug handles
- runs: the lite interpreter gives for ours (.ptl and flatbuffer) what PyTorch's tests saw
- back: TorchScript that Flambeau makes of PyTorch's bytecode alone, and PyTorch runs, gives it, too
"""

import argparse
import collections
import io
import os
import pathlib
import pickle
import pickletools
import subprocess
import sys
import tempfile
import warnings
import zipfile

import torch
import torch.jit.mobile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import flat_tables  # noqa: E402

VERSIONS = (4, 5, 6, 7, 8, 9)


def record(data, name):
    archive = zipfile.ZipFile(io.BytesIO(data))
    for entry in archive.namelist():
        if entry.split("/", 1)[1] == name:
            return archive.read(entry)
    return None


def by_pytorch(data):
    """Version to the file that PyTorch writes; empty where it refuses."""
    made = {}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        path = pathlib.Path(folder, "a.pt")
        try:
            module = torch.jit.load(io.BytesIO(data))
            module._save_for_lite_interpreter(str(path))
        except (RuntimeError, ValueError, AttributeError, IndexError):
            return {}
        made[8] = path.read_bytes()
        for version in (7, 6, 5, 4):
            older = pathlib.Path(folder, f"{version}.pt")
            try:
                if torch.jit.mobile._backport_for_mobile(str(path), str(older), version):
                    made[version] = older.read_bytes()
            except (RuntimeError, ValueError, IndexError):
                break
        try:
            torch.jit.save_jit_module_to_flatbuffer(module, str(path))
            made[9] = path.read_bytes()
        except (RuntimeError, ValueError, IndexError):
            pass
    return made


def without_code(data):
    """The file with bytecode alone."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            if "/code/" not in entry.filename:
                new.writestr(entry.filename, old.read(entry))
    return made.getvalue()


def without_process(data):
    """The operations of a pickle of bytecode, but for what is of the process: numbers of warnings, and names of storages that PyTorch
    makes of addresses."""
    made, memo, last, after_warning = [], {}, None, False
    storages = {}
    for operation, argument, _ in pickletools.genops(data):
        name = operation.name
        if name.endswith("BINPUT"):
            memo[argument] = last
        elif after_warning:
            made.append("number of a warning")
            after_warning = False
            continue
        else:
            last = argument if name == "BINUNICODE" else memo.get(argument) if name.endswith("BINGET") else None
            after_warning = last == "WARN"
            if name == "BINUNICODE" and argument.endswith(".storage"):
                argument = storages.setdefault(argument, len(storages))
        made.append((name, argument))
    return made


def is_same(version, ours, theirs):
    if version == 9:
        return flat_tables.Flat(ours).without_handles() == flat_tables.Flat(theirs).without_handles()
    ours, theirs = record(ours, "bytecode.pkl"), record(theirs, "bytecode.pkl")
    return ours == theirs or (version < 8 and without_process(ours) == without_process(theirs))


def apart(function, *arguments):
    """What it gives in a process of its own: numbers and orders in PyTorch's files depend on what a process did before, and some files
    make PyTorch crash. None for a crash."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "wb") as sink:
            sink.write(pickle.dumps(function(*arguments)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as source:
        data = source.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def equal(a, b):
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
            return False
        if a.dtype != b.dtype or a.shape != b.shape or a.layout != b.layout:
            return False
        if a.is_quantized:
            return torch.equal(a.int_repr(), b.int_repr())
        if a.layout != torch.strided:
            a, b = a.to_dense(), b.to_dense()
        return torch.allclose(a.detach(), b.detach(), 1e-4, 1e-5, equal_nan=True) if a.is_floating_point() or a.is_complex() else torch.equal(a, b)
    if isinstance(b, dict) and "__namedtuple__" in b:
        return equal(list(a), list(b["values"]))
    if isinstance(b, dict):
        return isinstance(a, dict) and list(a) == list(b) and all(equal(a[key], b[key]) for key in b)
    if isinstance(b, (list, tuple)):
        return isinstance(a, (list, tuple)) and len(a) == len(b) and all(map(equal, a, b))
    return a == b or (a != a and b != b)


def run(load, path, call):
    """None for what was expected, or what was not."""
    try:
        module = load(path)
    except Exception as error:
        return f"does not load: {str(error).strip().splitlines()[0][:100]}"
    if isinstance(call.get("rng"), torch.Tensor):
        torch.set_rng_state(call["rng"])
    try:
        result = getattr(module, call["method"])(*call["args"], **call["kwargs"])
    except Exception as error:
        return None if "error" in call else f"fails: {str(error).strip().splitlines()[-1][:100]}"
    if "error" in call:
        return "does not fail"
    return None if equal(result, call["result"]) else "gives something else"


class Lite:
    """A mobile module, whose methods take arguments by their places alone."""

    def __init__(self, path):
        self.module = torch.jit.mobile._load_for_lite_interpreter(path)

    def __getattr__(self, name):
        return lambda *arguments: self.module.run_method(name, arguments) if name != "forward" else self.module(*arguments)


def calls_of(archive, every):
    """Archive to one call of it that PyTorch answers without an error, for every n-th archive."""
    found = {}
    for name in sorted(name for name in archive.namelist() if name.startswith("calls/")):
        call = torch.load(io.BytesIO(archive.read(name)), weights_only=True)
        simple = "error" not in call and not call.get("kwargs") and call.get("default_dtype", torch.float32) == torch.float32
        if simple:
            found.setdefault(call["archive"], call)
    names = sorted(found)[::every]
    return {name: found[name] for name in names}


def tool_run(tool, *words):
    done = subprocess.run([tool, *map(str, words)], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, f"{tool} ended with {done.returncode}: {done.stderr}"
    errors = {}
    for line in done.stdout.splitlines():
        path, tab, error = line.partition("\t")
        if tab:
            errors[path if path[0].isdigit() and path[1:2] == "/" else pathlib.Path(path).name] = error
    return errors


def judge(tool, zip_path, every=1):
    """(counts, problems): by what was judged, [right, of how many], and lines of what is wrong."""
    counts = collections.defaultdict(lambda: [0, 0])
    problems = []

    def note(what, name, wrong):
        counts[what][1] += 1
        counts[what][0] += wrong is None
        if wrong is not None:
            problems.append(f"{what} {name}: {wrong}")

    with zipfile.ZipFile(zip_path) as archive, tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        calls = calls_of(archive, every)
        source, ours, stripped, back = (folder / name for name in ("in", "ours", "stripped", "back"))
        for made in (source, stripped, back, *(ours / str(version) for version in VERSIONS)):
            made.mkdir(parents=True)
        theirs = {}
        for name in calls:
            data = archive.read(f"archives/{name}.pt")
            files = apart(by_pytorch, data)
            if files is None:
                problems.append(f"{name}: PyTorch crashes when it saves it")
            elif 8 in files:
                theirs[name] = files
                (source / f"{name}.pt").write_bytes(data)
                (stripped / f"{name}.pt").write_bytes(without_code(files[8]))
        paths = sorted(source.iterdir())
        versions = [word for version in VERSIONS for word in ("--mobile", version)]
        errors = tool_run(tool, *versions, ours, *paths)
        back_errors = tool_run(tool, "--bytecode", back, *sorted(stripped.iterdir()))
        for name, files in theirs.items():
            for version, data in sorted(files.items()):
                made = ours / str(version) / f"{name}.pt"
                if not made.exists():
                    note(f"bytecode {version}", name, errors.get(f"{version}/{name}.pt", errors.get(f"{name}.pt", "nothing was written"))[:200])
                else:
                    note(f"bytecode {version}", name, None if is_same(version, made.read_bytes(), data) else "differs")
            # What PyTorch's own file does not give, ours need not.
            theirs_run = folder / "theirs.pt"
            for version in (8, 9):
                made = ours / str(version) / f"{name}.pt"
                if version not in files:
                    continue
                theirs_run.write_bytes(files[version])
                if runs(Lite, theirs_run, calls[name]) is not None:
                    continue
                if made.exists():
                    note(f"runs {version}", name, runs(Lite, made, calls[name]))
                if version == 8:
                    made = back / f"{name}.pt"
                    note("back", name, runs(torch.jit.load, made, calls[name]) if made.exists() else back_errors.get(made.name, "?")[:200])
    return counts, problems


def runs(load, path, call):
    """None for what was expected, or what was not."""
    said = apart(lambda: run(load, str(path), call) or "right")
    return None if said == "right" else said or "PyTorch crashes"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="say what is wrong")
    parser.add_argument("zip")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "fbgemm"
    counts, problems = judge(arguments.tool, arguments.zip, arguments.every)
    assert counts, "nothing was judged"
    if arguments.list:
        print("\n".join(problems))
    for what, (right, tried) in sorted(counts.items()):
        print(f"{what}: {right} of {tried}")


if __name__ == "__main__":
    main()
