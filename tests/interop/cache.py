"""What PyTorch computes for the tests, kept in build/test-cache, and made again when what makes it changes.

An entry is a folder of files. Its key is a digest of the source files that make it, of the versions they run with and of the
parameters. Nothing that Flambeau computes is kept: that is what the tests are about.

rm -r build/test-cache        empties it; the next run makes all of it again
FLAMBEAU_TEST_CACHE=FOLDER    keeps it elsewhere
"""

import functools
import hashlib
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import zlib

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("FLAMBEAU_TEST_CACHE", ROOT / "build/test-cache"))
SUMS = "SUMS"  # in every entry: a line "checksum size name" for each file

found = set()  # the entries that were read or made by this process


@functools.cache
def digest(*sources):
    """Of files, by their paths, and of plain texts such as versions."""
    # Kernels for other processors round in another way.
    setting = [torch.__version__, sys.version, platform.machine(), torch.backends.cpu.get_cpu_capability()]
    made = hashlib.sha256(" ".join(setting).encode())
    for source in (pathlib.Path(__file__), *sources):
        content = source.read_bytes() if isinstance(source, pathlib.Path) else source.encode()
        made.update(f"{len(content)} ".encode() + content)
    return made.hexdigest()[:16]


def entry(kind, sources, parameters, make):
    """The folder of an entry; where there is none, or a damaged one, make(folder) puts its files there.

    `sources` are paths and texts as digest() takes them, the parameters are what their repr() says."""
    home = FOLDER / kind / digest(*sources)
    said = re.sub(r"[^\w.]+", "-", "-".join(map(str, parameters))).strip("-")[:80]
    path = home / f"{said}-{hashlib.sha256(repr(parameters).encode()).hexdigest()[:8]}"
    if path in found or is_whole(path):
        found.add(path)
        return path
    forget_others(home)
    home.mkdir(parents=True, exist_ok=True)
    # Other processes may be making the same entry: the first one's is kept.
    part = pathlib.Path(tempfile.mkdtemp(prefix="part-", dir=home))
    try:
        make(part)
        (part / SUMS).write_text("".join(f"{checksum(file)} {file.name}\n" for file in sorted(part.iterdir())))
        put(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    found.add(path)
    return path


def put(part, path):
    try:
        os.rename(part, path)
    except OSError:
        if not is_whole(path):
            shutil.rmtree(path, ignore_errors=True)
            os.rename(part, path)


def checksum(file):
    return f"{zlib.crc32(file.read_bytes()):08x} {file.stat().st_size}"


def is_whole(path):
    """Whether every file of an entry is as it was written: a full disk or a lost machine leaves others."""
    try:
        lines = [line.split(" ", 2) for line in (path / SUMS).read_text().splitlines()]
        return bool(lines) and all(checksum(path / name) == f"{sum} {size}" for sum, size, name in lines)
    except (OSError, ValueError):
        return False


@functools.cache
def forget_others(home):
    """What other sources made is of no use any more."""
    for old in home.parent.glob("*"):
        if old != home:
            shutil.rmtree(old, ignore_errors=True)
