"""Files of models: what they hold, whether they are safe to open, from one format to another, and how two differ.

Paths are str, bytes or os.PathLike. Reports are dicts as `flambeau --json` prints them."""

import os

from flambeau import _flambeau


def _patterns(filter):
    return [filter] if isinstance(filter, str) else list(filter)


def inspect(session, path, *, stats=False, sha256=False):
    return _flambeau.inspect(session, os.fsencode(path), stats, sha256)


def check(path):
    return _flambeau.check(os.fsencode(path))


def convert(session, source, target, *, dtype=None, filter=(), format="", shard_size=""):
    name = "" if dtype is None else str(getattr(dtype, "__name__", dtype))
    return _flambeau.convert(session, os.fsencode(source), os.fsencode(target), name, _patterns(filter), format, str(shard_size))


def diff(a, b, *, filter=(), tolerance=0.0, ignore_dtype=False):
    return _flambeau.diff(os.fsencode(a), os.fsencode(b), _patterns(filter), tolerance, ignore_dtype)


def verify(path, *, dialect="auto", limit=100):
    return _flambeau.verify(os.fsencode(path), dialect, limit)
