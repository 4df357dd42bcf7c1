#!/usr/bin/env python3
"""What bench_script_loops measures, in PyTorch: nanoseconds a turn, best of five."""

import time
from typing import Dict, List

import torch


@torch.jit.script
def numbers(n: int, x: int) -> int:
    s = 0
    for i in range(n):
        s = s + i * 3
    return s


@torch.jit.script
def floats(n: int, x: float) -> float:
    for i in range(n):
        x = x * 0.5 + 0.5
    return x


@torch.jit.script
def tensor(n: int, x: torch.Tensor) -> torch.Tensor:
    s = x
    for i in range(n):
        s = s + x
    return s


@torch.jit.script
def lists(n: int, x: int) -> int:
    items: List[int] = []
    s = 0
    for i in range(n):
        items.append(i)
        s = s + items[i]
    return s


@torch.jit.script
def dicts(n: int, x: int) -> int:
    d: Dict[str, int] = {}
    for i in range(n):
        d[str(i % 100)] = i
    return len(d)


torch.set_num_threads(1)
with torch.no_grad():
    for function, turns, argument in [(numbers, 1_000_000, 0), (floats, 1_000_000, 1.0),
                                      (tensor, 200_000, torch.zeros(1)), (lists, 500_000, 0), (dicts, 300_000, 0)]:
        for _ in range(3):
            function(turns // 10, argument)
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            function(turns, argument)
            best = min(best, (time.perf_counter() - begin) / turns * 1e9)
        print(f"{function.name:10} {best:8.1f} ns a turn")
