"""What PyTorch's own converter makes of the calls that migrate_calls migrates, judged the same way.

    python converter.py FOLDER [--sample N] [--part I/N] [--only NAME] [--verbose]

FOLDER has archives/<id>.pt and calls/<n>.pt. Calls of `forward` with a tensor among the arguments count, as in migrate_calls.
A crash of the converter would end this process: each call is tried in a child of it.
"""

import argparse
import collections
import io
import logging
import os
import pathlib
import signal
import sys
import warnings

import torch
from torch._export.converter import TS2EPConverter

from migrated import difference, plain

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


def has_tensor(value):
    if isinstance(value, torch.Tensor):
        return True
    return isinstance(value, (list, tuple)) and any(map(has_tensor, value))


def is_wanted(call):
    return call["method"] == "forward" and not call.get("error") and call.get("rng") is None and has_tensor(call["args"])


def convert_and_compare(folder, call):
    """What went wrong; empty where the converted program gives the same."""
    module = torch.jit.load(str(folder / "archives" / f"{call['archive']}.pt"))
    try:
        program = TS2EPConverter(module, tuple(call["args"]), dict(call["kwargs"])).convert()
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        program = torch.export.load(file)
    except Exception as error:  # whatever the converter says
        return f"convert: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}"
    try:
        found = program.module()(*call["args"], **call["kwargs"])
    except Exception as error:
        return f"run: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}"
    text = difference(plain(found), plain(call["result"]))
    return f"result: {text}" if text else ""


def in_child(function, seconds=120):
    """The text that `function` gives in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(seconds)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            text = function()
        except Exception as error:
            text = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}"
        os.write(writer, ("=" + text).encode()[:4000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read().decode(errors="replace")
    os.waitpid(child, 0)
    return text[1:] if text.startswith("=") else "the process died"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tried, right, kinds = 0, 0, collections.defaultdict(list)
    paths = sorted(path for path in (options.folder / "calls").iterdir() if options.only in path.name)
    for path in paths[:: options.sample]:
        call = torch.load(path, weights_only=True)
        if not is_wanted(call):
            continue
        tried += 1
        wrong = in_child(lambda: convert_and_compare(options.folder, call))
        right += not wrong
        if wrong:
            kinds[wrong].append(path.stem)
        if options.verbose:
            print(path.stem, wrong or "right", flush=True)
    for kind, calls in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(calls):5} {kind[:300]}  ({calls[0]})")
    print(f"{right} of {tried} are converted by PyTorch and give the same ({100 * right / max(tried, 1):.1f} %)")


if __name__ == "__main__":
    sys.exit(main())
