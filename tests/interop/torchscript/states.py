#!/usr/bin/env python3
"""Makes the calls of a folder for script_calls in PyTorch, and keeps the modules that they changed, as they are afterwards.

    states.py [--every N] FOLDER STATES

FOLDER has archives/ and calls/ (see calls.cpp); STATES/<n>.pt is written for a call that changed its module.
"""

import argparse
import io
import pathlib
import sys
import warnings
import zipfile

import torch


def contents(data):
    """What a module holds: its values and storages, code aside."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist() if "/data" in name and "/code/" not in name}


def saved(module):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    return buffer.getvalue()


def state_after(archive, call):
    """The module after the call, None where it is as it was or PyTorch does not come so far."""
    torch.set_default_dtype(call.get("default_dtype") or torch.float32)
    module = torch.jit.load(archive)
    before = contents(saved(module))
    if call.get("rng") is not None:
        torch.set_rng_state(call["rng"])
    getattr(module, call["method"])(*call["args"], **call["kwargs"])
    after = saved(module)
    return after if contents(after) != before else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("states", type=pathlib.Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.states.mkdir(exist_ok=True, parents=True)
    torch.backends.quantized.engine = "fbgemm"
    changed = failed = 0
    for path in sorted((arguments.folder / "calls").glob("*.pt"))[:: arguments.every]:
        call = torch.load(path, weights_only=True)
        if "error" in call:
            continue
        try:
            with torch.no_grad():
                after = state_after(arguments.folder / "archives" / f"{call['archive']}.pt", call)
        except (RuntimeError, ValueError, TypeError):
            failed += 1
            continue
        if after is not None:
            changed += 1
            (arguments.states / path.name).write_bytes(after)
    print(f"{changed} calls changed their module; {failed} could not be made")
    return 0


if __name__ == "__main__":
    sys.exit(main())
