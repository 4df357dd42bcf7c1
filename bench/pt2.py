"""Exported programs against PyTorch, in one run, alternating, medians; bench/pt2 builds and calls this.

  load     open and verify a .pt2 file    torch.export.load
  save     write it                       torch.export.save
  sync     write it to the disk           torch.export.save and fsync
  weights  load time with 1, 100 and 400 MB of weights and the same graph
  nodes    load time of 1,000, 10,000 and 100,000 nodes

The program answers two commands with a line {"seconds": [...]}, one time for each round:
  load FILE ROUNDS      opens and verifies FILE
  save FILE OUT ROUNDS  opens FILE once, then writes OUT, as PyTorch does: the system has it then
  sync FILE OUT ROUNDS  the same until it is on the disk, which is how Flambeau saves unless told otherwise
"""

import argparse
import copy
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/interop"))

import programs  # noqa: E402
from programs import Export  # noqa: E402
from programs_torch import records  # noqa: E402
from torch._export.serde import serialize  # noqa: E402

LOAD_BAR, SAVE_BAR, NODES_BAR = 50, 20, 2.0


class Chain(nn.Module):
    def __init__(self, pairs):
        super().__init__()
        self.pairs = pairs

    def forward(self, x):
        for i in range(self.pairs):
            x = torch.sin(x) + i
        return x


class Stack(nn.Module):
    """The same graph whatever it weighs."""

    def __init__(self, megabytes):
        super().__init__()
        width = int((megabytes * 1e6 / 4 / 8) ** 0.5)
        self.layers = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(8)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


def ten_programs():
    """Of the kinds people export: sizes small to middling."""
    from programs_layers import Bert, Decoder, ResNet, UNet
    from torch.export import Dim

    tokens = torch.randint(0, 1000, (2, 16))
    lengths = {0: Dim("batch", max=8), 1: Dim("length", min=2, max=64)}
    return {
        "mlp": Export(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), (torch.randn(2, 64),)),
        "resnet18": Export(ResNet(64, 1000).eval(), (torch.randn(1, 3, 64, 64),)),
        "resnet18, decomposed": programs.decomposed(Export(ResNet(64, 1000).eval(), (torch.randn(1, 3, 64, 64),))),
        "bert": Export(Bert(128, 6, 1000, 32).eval(), (tokens,), {"mask": tokens == 0}),
        "decoder, dynamic": Export(nn.Sequential(*[Decoder(64) for _ in range(6)]).eval(), (torch.randn(2, 6, 64),), dynamic=(lengths,)),
        "transformer": programs.core(programs.PROGRAMS["layers.transformer"]()),
        "lstm": Export(nn.LSTM(64, 128, num_layers=2, batch_first=True).eval(), (torch.randn(2, 10, 64),)),
        "unet": Export(UNet(32).eval(), (torch.randn(1, 1, 64, 64),)),
        "cond": programs.PROGRAMS["control.cond_nested"](),
        "1,000 nodes": Export(Chain(500), (torch.randn(3),)),
    }


class Ours:
    """None of its times includes starting the process."""

    def __init__(self, program):
        self.program = program

    def __call__(self, *words, rounds=1):
        if self.program is None:
            return [float("nan")] * rounds
        done = subprocess.run([self.program, *map(str, words), str(rounds)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr}")
        return json.loads(done.stdout)["seconds"]


def timed(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def report(name, ours, theirs):
    """Prints a line; gives the ratio."""
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    ratio = theirs / ours
    if math.isnan(ours):
        print(f"{name:36} PyTorch {theirs * 1e3:10.3f} ms", flush=True)
        return ratio
    print(f"{name:36} {ours * 1e3:10.3f} ms   PyTorch {theirs * 1e3:10.3f} ms   {ratio:8.1f}x", flush=True)
    return ratio


def verdict(name, ratios, bar):
    middle = statistics.median(ratios)
    if math.isnan(middle):
        return False
    print(f"{name:36} median {middle:.1f}x, least {min(ratios):.1f}x  (bar {bar}x) {'ok' if middle >= bar else 'BELOW THE BAR'}\n", flush=True)
    return middle >= bar


def save_synced(exported, path):
    torch.export.save(exported, path)
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def typical(ours, folder, rounds):
    """The ten programs: load, then save."""
    loads, saves, syncs = [], [], []
    for number, (name, export) in enumerate(ten_programs().items()):
        torch.manual_seed(0)
        source = folder / f"{number}.pt2"
        exported = export.run()
        torch.export.save(exported, source)
        torch.export.load(source)
        mine, other = [], []
        for _ in range(rounds):
            mine += ours("load", source, rounds=3)
            other.append(timed(lambda: torch.export.load(source)))
        loads.append(report(f"load {name}", mine, other))
        mine, other = [], []
        for _ in range(rounds):
            os.sync()
            mine += ours("save", source, folder / "ours.pt2", rounds=3)
            os.sync()
            other.append(timed(lambda: torch.export.save(exported, folder / "theirs.pt2")))
        saves.append(report(f"save {name}", mine, other))
        mine, other = [], []
        for _ in range(rounds):
            os.sync()
            mine += ours("sync", source, folder / "ours.pt2", rounds=3)
            os.sync()
            other.append(timed(lambda: save_synced(exported, folder / "theirs.pt2")))
        syncs.append(report(f"sync {name}", mine, other))
    verdict("sync, ten programs", syncs, 0)
    return verdict("load, ten programs", loads, LOAD_BAR) & verdict("save, ten programs", saves, SAVE_BAR)


def weights(ours, folder, rounds):
    middle = {}
    for megabytes in (1, 100, 400):
        model = Stack(megabytes)
        source = folder / f"weights{megabytes}.pt2"
        torch.export.save(torch.export.export(model, (torch.randn(1, model.layers[0].in_features),)), source)
        mine, other = [], []
        for _ in range(rounds):
            mine += ours("load", source, rounds=3)
            other.append(timed(lambda: torch.export.load(source)))
        report(f"load {megabytes} MB of weights", mine, other)
        middle[megabytes] = statistics.median(mine)
        source.unlink()
    if ours.program:
        print(f"{'400 MB against 1 MB':36} {middle[400] / middle[1]:.2f} times as long\n", flush=True)


def long_program(count):
    """The JSON of a chain of `count` nodes, made of the nodes of a short one that PyTorch saved."""
    exported = torch.export.export(Chain(2), (torch.randn(3),))
    program = json.loads(serialize.serialize(exported).exported_program)
    graph = program["graph_module"]["graph"]
    patterns, value = graph["nodes"][:2], graph["tensor_values"]["x"]
    graph["nodes"], graph["tensor_values"], before = [], {"x": value}, "x"
    for number in range(count):
        node = copy.deepcopy(patterns[number % 2])
        node["name"] = f"node_{number}"
        node["inputs"][0]["arg"]["as_tensor"]["name"] = before
        before = node["outputs"][0]["as_tensor"]["name"] = node["name"]
        graph["nodes"].append(node)
        graph["tensor_values"][before] = value
    graph["outputs"][0]["as_tensor"]["name"] = before
    program["graph_module"]["signature"]["output_specs"][0]["user_output"]["arg"]["as_tensor"]["name"] = before
    return json.dumps(program).encode()


def nodes(ours, folder, rounds):
    ok = True
    for count in (1_000, 10_000, 100_000):
        program = long_program(count)
        source = folder / f"nodes{count}.json"
        source.write_bytes(program)
        mine = ours("load", source, rounds=rounds)
        theirs = [float("nan")]
        if count <= 10_000:  # PyTorch takes minutes for more.
            artifact = serialize.SerializedArtifact(program, b"", b"", b"")
            theirs = [timed(lambda: serialize.deserialize(artifact))]
        if not ours.program and count > 10_000:
            continue
        report(f"load {count:,} nodes, {len(program) / 1e6:.1f} MB", mine, theirs)
        if count == 100_000 and ours.program:
            ok = statistics.median(mine) < NODES_BAR
            print(f"{'100,000 nodes':36} {statistics.median(mine):.2f} s  (bar {NODES_BAR} s) {'ok' if ok else 'ABOVE THE BAR'}\n")
    return ok


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-flambeau", action="store_true", help="only PyTorch's times")
    options = parser.parse_args()
    programs.quiet()
    programs.load_rooms()
    ours = Ours(None if options.without_flambeau else options.program)
    folder = pathlib.Path(options.folder)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads\n")
    ok = typical(ours, folder, options.rounds)
    weights(ours, folder, options.rounds)
    ok &= nodes(ours, folder, options.rounds)
    if options.without_flambeau:
        return
    saved = folder / "again" / "8.pt2"
    saved.parent.mkdir()
    ours("save", folder / "8.pt2", saved)
    assert records(saved) == records(folder / "8.pt2"), "the two files differ"
    raise SystemExit(0 if ok else 1)


if __name__ == "__main__":
    main()
