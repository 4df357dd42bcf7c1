#!/usr/bin/env python3
"""Compares archives that Flambeau wrote anew with torch.jit.save(torch.jit.load(x)), record by record.

    resave.py --tool build/dev/tests/tools/script_resave [--every N] FILE-OR-FOLDER-OR-ZIP...

prints how many files are the same, and in which kinds of records the others differ.
"""

import argparse
import collections
import io
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zipfile

ENDINGS = (".pt", ".ptl", ".pth", ".jit")
KINDS = ("code", "debug", "data.pkl", "storages", "constants", "version", "other")


def kind_of(record):
    """Which of KINDS a record is; the checksum over all says nothing of its own."""
    name = record.split("/", 1)[1]
    if name.startswith("code/"):
        return "debug" if name.endswith(".debug_pkl") else "code"
    if name.startswith("data/"):
        return "storages"
    if name.startswith("constants"):
        return "constants"
    if name == "data.pkl":
        return name
    if name in ("version", ".data/version"):
        return "version"
    return None if name == ".data/serialization_id" else "other"


def differences(ours, theirs):
    """The kinds of records that two archives differ in; "order" when they hold the same in another order, "bytes" when only the
    container differs. Empty for the same bytes."""
    if ours == theirs:
        return set()
    left, right = zipfile.ZipFile(io.BytesIO(ours)), zipfile.ZipFile(io.BytesIO(theirs))
    found = set()
    for name in set(left.namelist()) | set(right.namelist()):
        both = name in left.NameToInfo and name in right.NameToInfo
        if not both or left.read(name) != right.read(name):
            found.add(kind_of(name))
    found.discard(None)
    # PyTorch lays out packed weights as the processor's engine likes them.
    if b"Conv2dPackedParamsBase" in ours or b"Conv3dPackedParamsBase" in ours:
        if found <= {"data.pkl", "storages", "constants"}:
            return set()
    if not found:
        found.add("order" if left.namelist() != right.namelist() else "bytes")
    return found


def by_pytorch(name, data):
    """What PyTorch makes of an archive, saved under that name; None when it does not load it."""
    import torch

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        try:
            path = pathlib.Path(folder, name)
            torch.jit.save(torch.jit.load(io.BytesIO(data)), path)
            return path.read_bytes()
        except (RuntimeError, ValueError, AttributeError):
            return None


def by_flambeau(tool, files):
    """Name to bytes, or to the text of an error. `files`: name to bytes."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
        source.mkdir()
        target.mkdir()
        for name, data in files.items():
            (source / name).write_bytes(data)
        done = subprocess.run([tool, target, *(source / name for name in files)], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{tool} ended with {done.returncode}: {done.stderr}"
        results = {name: (target / name).read_bytes() for name in files if (target / name).exists()}
        for line in done.stdout.splitlines():
            path, tab, error = line.partition("\t")
            if tab:  # else the rest of a message
                results[pathlib.Path(path).name] = error
    return results


def gather(paths, every=1):
    """Name to bytes of every archive in files, folders and zips of archives."""
    found = {}
    for path in map(pathlib.Path, paths):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                names = sorted(name for name in archive.namelist() if name.startswith("archives/"))
                found.update((name.split("/")[-1], archive.read(name)) for name in names[::every])
        elif path.is_dir():
            members = sorted(member for member in path.glob("**/*") if member.name.endswith(ENDINGS))
            found.update((str(member.relative_to(path)).replace("/", "-"), member.read_bytes()) for member in members[::every])
        else:
            found[path.name] = path.read_bytes()
    return {name: data for name, data in found.items() if is_script(data)}


def is_script(data):
    try:
        names = {name.split("/", 1)[-1] for name in zipfile.ZipFile(io.BytesIO(data)).namelist()}
    except zipfile.BadZipFile:
        return False
    return {"data.pkl", "constants.pkl"} <= names


def compare(tool, files):
    """Name to what differs (see differences), or to the text of Flambeau's error. Files that PyTorch refuses are left out."""
    theirs = {name: by_pytorch(name, data) for name, data in files.items()}
    ours = by_flambeau(tool, {name: data for name, data in files.items() if theirs[name] is not None})
    return {
        name: result if isinstance(result, str) else differences(result, theirs[name]) for name, result in sorted(ours.items())
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="say of every file what differs")
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    results = compare(arguments.tool, gather(arguments.paths, arguments.every))
    counts = collections.Counter()
    for name, result in results.items():
        counts["same" if not result else "error" if isinstance(result, str) else "different"] += 1
        if not isinstance(result, str):
            counts.update(result)
        if arguments.list and result:
            print(name, result if isinstance(result, str) else " ".join(sorted(result)))
    print(f"{counts['same']} of {len(results)} files are the same; {counts['error']} errors")
    for kind in (*KINDS, "order", "bytes"):
        if counts[kind]:
            print(f"  {kind}: {counts[kind]} differ")
    return 0 if counts["same"] == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
