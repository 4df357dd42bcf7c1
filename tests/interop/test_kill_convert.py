"""flambeau convert, killed at any moment: the old file or the new one is there, whole."""

import os
import random
import signal
import subprocess
import time

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
