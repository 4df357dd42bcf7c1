#!/usr/bin/env python3
"""Calls of real modules that keep a state, one after the other in PyTorch, in the form that script_calls takes.

    sequences.py [--count N] FIXTURES FOLDER
    script_calls --states FOLDER/states FOLDER

silero-vad hears N chunks of sound, at both of its rates.
"""

import argparse
import io
import pathlib
import shutil
import sys

import torch

SILERO = "real/torchscript-misc/silero_vad.jit"


def sound(generator, count, length):
    """Noise that swells and falls, so that voice seems to come and go."""
    for chunk in range(count):
        loudness = 0.02 + 0.5 * (chunk % 50 >= 25)
        yield torch.randn(1, length, generator=generator) * loudness


def make(fixtures, folder, count):
    for name in ("archives", "calls", "states"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(fixtures / SILERO, folder / "archives" / "silero.pt")
    generator = torch.Generator().manual_seed(7)
    for rate, length in ((16000, 512), (8000, 256)):
        module = torch.jit.load(str(fixtures / SILERO))
        with torch.no_grad():
            pairs = [([chunk, rate], module(chunk, rate)) for chunk in sound(generator, count, length)]
        (first, result), *more = pairs
        call = {"archive": "silero", "method": "forward", "args": first, "kwargs": {}, "result": result, "more": more}
        torch.save(call, folder / "calls" / f"silero-{rate}.pt")
        after = io.BytesIO()
        torch.jit.save(module, after)
        (folder / "states" / f"silero-{rate}.pt").write_bytes(after.getvalue())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("fixtures", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    make(arguments.fixtures, arguments.folder, arguments.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
