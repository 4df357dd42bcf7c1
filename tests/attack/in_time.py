"""Every command on every file of a folder: stops within 1.5 s under --time-limit 1, and within 1 s of SIGINT or SIGTERM.

  FLAMBEAU_BIN=... python tests/attack/in_time.py FOLDER...   takes a while: it is not part of scripts/test

Prints the slowest of each command; fails when one was too slow, or ended by a signal that nobody sent.
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ENDINGS = (".pt", ".pt2", ".pth", ".ptl", ".ff", ".safetensors", ".npy", ".npz", ".bin", ".gguf", ".tar", ".json", ".zip")
LIMIT, SLACK, AFTER_SIGNAL = 1.0, 0.5, 1.0


def commands(path, folder):
    yield "inspect", [path, "--stats", "--sha256", "--records", "--globals"]
    yield "check", [path]
    yield "list", [path]
    yield "verify", [path]
    yield "graph", [path]
    yield "run", [path]
    yield "bench", [path]
    yield "diff", [path, path]
    yield "convert", [path, folder / "out.safetensors"]
    yield "canonicalize", [path]
    yield "extract", [path, "-o", folder / "records"]


def timed(arguments, sent=None):
    """(seconds since the start, or since the signal was sent; exit code)"""
    start = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    if sent is not None:
        time.sleep(random.random() * 0.2)
        if process.poll() is None:
            start = time.perf_counter()
            process.send_signal(sent)
    try:
        code = process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    return time.perf_counter() - start, code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1, help="take every Nth file only")
    options = parser.parse_args()
    files = sorted(path for folder in options.folders for path in folder.rglob("*") if path.is_file() and path.suffix in ENDINGS)
    worst, bad, runs = {}, [], 0
    with tempfile.TemporaryDirectory() as made:
        for path in files[:: options.every]:
            for name, arguments in commands(path, pathlib.Path(made)):
                command = [os.environ["FLAMBEAU_BIN"], name, *map(os.fspath, arguments)]
                for how, sent, most in (("limit", None, LIMIT + SLACK), ("signal", random.choice([signal.SIGINT, signal.SIGTERM]), AFTER_SIGNAL)):
                    seconds, code = timed(command if sent else command[:1] + ["--time-limit", str(LIMIT)] + command[1:], sent)
                    runs += 1
                    if (seconds, path) > worst.get((name, how), (0, path)):
                        worst[name, how] = (seconds, path)
                    # One that had not come to catching signals yet ends by them.
                    is_killed = code < 0 and code not in (-signal.SIGINT, -signal.SIGTERM)
                    if seconds > most or is_killed or (code < 0 and sent is None):
                        bad.append(f"{' '.join(command[1:])}: {how}: {seconds:.2f} s, exit code {code}")
    for (name, how), (seconds, path) in sorted(worst.items()):
        print(f"{name:14} {how:7} {seconds:.2f} s  {path.name}")
    print(f"{len(files[:: options.every])} files, {runs} runs, {len(bad)} too slow or killed")
    print("\n".join(bad[:40]))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
