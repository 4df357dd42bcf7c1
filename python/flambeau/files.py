"""Files of models: what they hold, whether they are safe to open, from one format to another, and how two differ.

Paths are str, bytes or os.PathLike. Reports are dicts as `flambeau --json` prints them."""

import os

from flambeau import _flambeau
from flambeau.checkpoint import dtype_name, patterns


def inspect(session, path, *, stats=False, sha256=False):
    return _flambeau.inspect(session, os.fsencode(path), stats, sha256)


def check(session, path):
    return _flambeau.check(session, os.fsencode(path))


def convert(session, source, target, *, dtype=None, filter=(), format="", shard_size=""):
    return _flambeau.convert(
        session,
        os.fsencode(source),
        os.fsencode(target),
        dtype_name(dtype),
        patterns(filter),
        format,
        str(shard_size),
    )


def diff(session, a, b, *, filter=(), tolerance=0.0, ignore_dtype=False):
    return _flambeau.diff(session, os.fsencode(a), os.fsencode(b), patterns(filter), tolerance, ignore_dtype)


def verify(session, path, *, dialect="auto", limit=100):
    return _flambeau.verify(session, os.fsencode(path), dialect, limit)
