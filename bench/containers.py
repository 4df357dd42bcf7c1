"""Containers against PyTorch, in one run, alternating, medians; bench/containers builds and calls this.

  open     open a state dict and list its tensors      torch.load(mmap=True)
  save     write a state dict                          torch.save
  convert  to safetensors                              cp
"""

import argparse
import filecmp
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import torch


def make_state_dict(gigabytes):
    """The shape of a transformer's weights: layers of twelve tensors, about `gigabytes` in all."""
    width, layers = 1024, 24
    per_layer = 12 * width * width + 13 * width
    layers = max(1, int(gigabytes * 1e9 / 4 / per_layer))
    generator = torch.Generator().manual_seed(0)
    result = {}

    def add(name, *shape):
        result[name] = torch.rand(shape, generator=generator)

    for i in range(layers):
        for part in ("query", "key", "value", "output"):
            add(f"encoder.layer.{i}.attention.{part}.weight", width, width)
            add(f"encoder.layer.{i}.attention.{part}.bias", width)
        add(f"encoder.layer.{i}.up.weight", 4 * width, width)
        add(f"encoder.layer.{i}.up.bias", 4 * width)
        add(f"encoder.layer.{i}.down.weight", width, 4 * width)
        add(f"encoder.layer.{i}.down.bias", width)
        add(f"encoder.layer.{i}.norm.weight", width)
        add(f"encoder.layer.{i}.norm.bias", width)
    return result


def touch_memory():
    """Virtual machines hand out memory when it is first touched, which takes longer than all we measure."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemFree"))
    torch.ones(max(0, int(free * 0.9)), dtype=torch.uint8)


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().split()
        if answer[0] == "error":
            raise RuntimeError(" ".join(answer))
        return [float(word) for word in answer]


def timed(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def sync(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def row(name, ours, theirs, label, bar):
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    ratio = theirs / ours
    verdict = "ok" if ratio >= bar else "BELOW THE BAR"
    print(f"{name:28} {ours * 1e3:12.3f} ms   {label:24} {theirs * 1e3:12.3f} ms   {ratio:8.2f}x  (bar {bar}x) {verdict}", flush=True)
    return ratio >= bar


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = pathlib.Path(options.folder)
    ours = Ours(options.program)
    source, ok = folder / "weights.pt", True
    touch_memory()
    state = make_state_dict(options.gigabytes)
    torch.save(state, source)
    print(f"{len(state)} tensors, {source.stat().st_size / 1e9:.2f} GB, PyTorch {torch.__version__}")

    def torch_open():
        loaded = torch.load(source, mmap=True)
        return sum(len(name) + tensor.dim() for name, tensor in loaded.items())

    before = ours("rss")[0]
    a, b = [], []
    for _ in range(options.rounds * 5):
        a.append(ours("open", source)[0])
        b.append(timed(torch_open))
    ok &= row("open and list", a, b, "torch.load(mmap=True)", 20)
    ours("map", source)
    growth = ours("rss")[0] - before
    verdict = "ok" if growth < 20e6 else "ABOVE THE BAR"
    ok &= growth < 20e6
    print(f"{'resident memory, kept open':28} {growth / 1e6:12.1f} MB growth   (bar 20 MB) {verdict}")

    # Flambeau saves atomically: what it returns from is on the disk. torch.save leaves that to the kernel,
    # so it is measured both ways; each begins with nothing left to write back.
    ours("load", source)
    (folder / "ours").mkdir(), (folder / "theirs").mkdir()
    mine, other = folder / "ours" / "saved.pt", folder / "theirs" / "saved.pt"
    a, b, c = [], [], []
    for _ in range(options.rounds):
        os.sync()
        a.append(ours("save", mine)[0])
        os.sync()
        b.append(timed(lambda: (torch.save(state, other), sync(other))))
        os.sync()
        c.append(timed(lambda: torch.save(state, other)))
    ok &= row("save, on the disk", a, b, "torch.save + fsync", 1.0)
    ok &= row("save, on the disk", a, c, "torch.save, not synced", 1.0)
    assert filecmp.cmp(mine, other, shallow=False), "the two files differ"

    a, b, c = [], [], []
    for _ in range(options.rounds):
        os.sync()
        a.append(ours("convert", source, folder / "ours.safetensors")[0])
        os.sync()
        b.append(timed(lambda: (subprocess.run(["cp", source, folder / "copy"], check=True), sync(folder / "copy"))))
        os.sync()
        c.append(timed(lambda: subprocess.run(["cp", source, folder / "copy"], check=True)))
    ok &= row("convert to safetensors", a, b, "cp + fsync", 0.5)
    ok &= row("convert to safetensors", a, c, "cp", 0.5)
    shutil.rmtree(folder)
    raise SystemExit(0 if ok else 1)


if __name__ == "__main__":
    main()
