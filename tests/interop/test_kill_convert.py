"""flambeau convert, killed at any moment: the old file or the new one is there, whole; shards are all there, or no index is."""

import json
import os
import random
import signal
import subprocess
import time

import safetensors.torch
import torch

ROUNDS = 200
MOST_SECONDS = 45


def test_killed_at_random_moments(flambeau, tmp_path):
    target = tmp_path / "out" / "out.pt"
    target.parent.mkdir()
    whole = []
    for value in (1.0, 2.0):
        source = tmp_path / f"{int(value)}.pt"
        torch.save({f"layer.{i}": torch.full((1 << 20,), value + i) for i in range(12)}, source)
        flambeau("convert", source, target)
        whole.append(target.read_bytes())
    assert whole[0] != whole[1] and len(whole[0]) > 48 << 20

    start = time.monotonic()
    flambeau("convert", tmp_path / "1.pt", target)
    usual = time.monotonic() - start
    generator = random.Random(1)
    now, killed, replaced = 0, 0, 0
    for number in range(ROUNDS):
        if time.monotonic() - start > MOST_SECONDS:
            break
        process = subprocess.Popen([flambeau.path, "convert", "-q", tmp_path / f"{2 - now}.pt", target])
        time.sleep(generator.uniform(0, 1.2 * usual))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        content = target.read_bytes()
        assert content in (whole[now], whole[1 - now]), f"round {number}: neither the old file nor the new one"
        if content == whole[1 - now]:
            now, replaced = 1 - now, replaced + 1
    # At every moment of its work, and sometimes after it.
    assert number > 50 and killed > number // 4 and replaced > 0, (number, killed, replaced)
    # A temporary file may stay behind when the kill falls between naming it and putting it in place.
    assert len(os.listdir(target.parent)) <= 3
    print(f"{number + 1} rounds, {killed} killed at work, {replaced} replaced")


def model_in(folder):
    """The first value of each tensor that an index names, where there is one."""
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return None
    names = json.loads(index.read_text())["weight_map"]
    shards = {file: safetensors.torch.load_file(folder / file) for file in set(names.values())}
    return {float(shards[file][name][0]) - int(name.split(".")[1]) for name, file in names.items()}


def test_shards_killed_at_random_moments(flambeau, tmp_path):
    for value in (1.0, 2.0):
        torch.save({f"layer.{i}": torch.full((1 << 18,), value + i) for i in range(12)}, tmp_path / f"{int(value)}.pt")
    out = tmp_path / "out"
    arguments = ["convert", "-q", "--shard-size", "3MB"]
    start = time.monotonic()
    flambeau(*arguments, tmp_path / "1.pt", out)
    usual = time.monotonic() - start
    generator = random.Random(2)
    seen, killed = set(), 0
    for number in range(150):
        if time.monotonic() - start > 25:
            break
        process = subprocess.Popen([flambeau.path, *arguments, tmp_path / f"{1 + number % 2}.pt", out])
        # Longer from time to time, for either model: on a busy machine the usual may not be enough.
        time.sleep(generator.uniform(0, 1.2 if number % 7 else 6) * usual)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        found = model_in(out)
        # All of one model, never a mixture of two.
        assert found is None or len(found) == 1, (number, found)
        seen |= found or set()
    assert killed > 10 and seen == {1.0, 2.0}, (killed, seen)
