#!/usr/bin/env python3
"""Cuts a model file short while the command works on it, at random moments and to random sizes.

Whatever the moment, the command ends by itself: with the right result, or with an error. Never by a signal, never with
another result, and never with an output file that is not whole.

    tests/attack/truncate.py FOLDER [ROUNDS [SEED]]    # with FLAMBEAU_BIN; makes its model with PyTorch
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

# What is done to the file, and what it gives: the arguments behind the file, and the output if it is a file.
WORK = {
    "run": ["run", "-q", "--json", "MODEL", "--input", "*=ones", "--output", "OUT"],
    "convert": ["convert", "-q", "MODEL", "OUT"],
    "inspect": ["inspect", "--json", "--stats", "MODEL"],
    "check": ["check", "--json", "MODEL"],
}
OUTPUTS = {"run": "results", "convert": "out.safetensors"}


def make_model(path, layers=12, width=1024):
    import torch

    torch.manual_seed(1)
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(layers)))
    torch.export.save(torch.export.export(model, (torch.ones(1, width),)), path)


def content(path):
    """Of a file, or of all files below a folder; None where there is neither."""
    if path.is_dir():
        return {file.name: file.read_bytes() for file in sorted(path.iterdir())}
    return path.read_bytes() if path.exists() else None


def clear(path):
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


def attack(command, kind, source, folder, rounds, seed=1):
    """Gives how many rounds ended with an error; raises AssertionError for whatever must not be."""
    model, out = folder / "model.pt2", folder / OUTPUTS.get(kind, "none")
    arguments = [{"MODEL": str(model), "OUT": str(out)}.get(text, text) for text in WORK[kind]]
    size = source.stat().st_size
    generator = random.Random(seed)

    def start():
        clear(out)
        shutil.copyfile(source, model)
        return subprocess.Popen([command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    begin = time.monotonic()
    process = start()
    right = process.communicate()[0]
    assert process.returncode == 0, right
    usual = time.monotonic() - begin
    right_out = content(out)
    failed = 0
    for number in range(rounds):
        process = start()
        time.sleep(generator.uniform(0, 1.1 * usual))
        os.truncate(model, generator.choice([0, 100, size // 2, size - 1, generator.randrange(size)]))
        text, errors = process.communicate(timeout=120)
        what = f"{kind}, round {number}: exit code {process.returncode}\n{text[-2000:]}\n{errors[-2000:]}"
        # A file that was short before it was opened is a finding of check's, and of no known kind for inspect.
        assert process.returncode in ((0, 1, 2) if kind in ("check", "inspect") else (0, 2)), what
        if process.returncode != 0:
            failed += 1
            # Of several files of results, those that were done before may be there.
            if right_out is not None and kind != "run":
                assert content(out) is None, what
        else:
            assert kind == "run" or text == right, what
            assert content(out) == right_out, what
    clear(out)
    return failed


def main():
    folder = pathlib.Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source.pt2"
    make_model(source)
    for kind in WORK:
        failed = attack(os.environ["FLAMBEAU_BIN"], kind, source, folder, rounds, seed)
        print(f"{kind}: {rounds} moments, {failed} errors, no signal and no other result")


if __name__ == "__main__":
    main()
