"""Matrix products and convolutions against PyTorch, in one run, alternating; bench/dense builds and calls this.

GFLOP/s of the fastest run in three turns; what else the machine does only makes runs slower:
  linear  a linear layer of float32 with bias: our kernel with weights as they lie, and in rows; the layers of the
          backends, packed once; torch.nn.functional.linear
  batch   attention's products: our kernel, torch.bmm
  conv    ResNet-50's convolutions: the backends' layers, the portable one with channels first and last;
          torch.nn.functional.conv2d, channels first and last
"""

import argparse
import json
import subprocess
import sys
import time

LINEAR = [(128, 768, 768), (128, 768, 3072), (1, 768, 3072), (4, 768, 3072), (512, 512, 512)]
# batch, rows, depth, columns, right side transposed
BATCH = [(12, 128, 64, 128, 1), (12, 128, 128, 64, 0), (12, 1, 64, 512, 1), (12, 1, 512, 64, 0), (8, 512, 64, 512, 1)]
# in, out, size, kernel, stride, groups
CONV = [(3, 64, 224, 7, 2, 1), (64, 64, 56, 1, 1, 1), (64, 64, 56, 3, 1, 1), (64, 256, 56, 1, 1, 1),
        (256, 128, 56, 1, 1, 1), (128, 128, 56, 3, 2, 1), (128, 128, 28, 3, 1, 1), (128, 512, 28, 1, 1, 1),
        (512, 1024, 28, 1, 2, 1), (256, 256, 14, 3, 1, 1), (256, 1024, 14, 1, 1, 1), (1024, 256, 14, 1, 1, 1),
        (512, 512, 7, 3, 1, 1), (512, 2048, 7, 1, 1, 1), (144, 144, 56, 3, 1, 144)]
ENGINES = {"linear": ["plain", "rows", "portable", "onednn"], "batch": ["plain"], "conv": ["portable", "last", "onednn"]}


def fastest(seconds, run):
    run()
    times, begin = [], time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times) < 5:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def torch_runs(kind, sizes):
    import torch
    torch.set_grad_enabled(False)
    if kind == "linear":
        rows, depth, columns = sizes
        x, w, b = torch.randn(rows, depth), torch.randn(columns, depth), torch.randn(columns)
        return {"torch": lambda: torch.nn.functional.linear(x, w, b)}
    if kind == "batch":
        batch, rows, depth, columns, transposed = sizes
        x, y = torch.randn(batch, rows, depth), torch.randn(batch, depth, columns)
        if transposed:
            y = torch.randn(batch, columns, depth).transpose(1, 2)
        return {"torch": lambda: torch.bmm(x, y)}
    batch, ins, outs, size, kernel, stride, groups = sizes
    x, w, b = torch.randn(batch, ins, size, size), torch.randn(outs, ins // groups, kernel, kernel), torch.randn(outs)
    y, v = x.to(memory_format=torch.channels_last), w.to(memory_format=torch.channels_last)
    options = {"stride": stride, "padding": kernel // 2, "groups": groups}
    return {"torch": lambda: torch.nn.functional.conv2d(x, w, b, **options),
            "torch-last": lambda: torch.nn.functional.conv2d(y, v, b, **options)}


def measure(program, kind, sizes, threads, seconds):
    import torch
    torch.set_num_threads(threads)
    best = {}
    for _ in range(3):
        for engine in ENGINES[kind]:
            answer = subprocess.run([program, engine, str(threads), str(seconds), kind, *map(str, sizes)],
                                    capture_output=True, text=True)
            if answer.returncode == 0:
                found = json.loads(answer.stdout)["best"]
                best[engine] = min(best.get(engine, 1e9), found)
        for engine, run in torch_runs(kind, sizes).items():
            best[engine] = min(best.get(engine, 1e9), fastest(seconds, run))
    return best


def operations(kind, sizes):
    if kind == "linear":
        return 2 * sizes[0] * sizes[1] * sizes[2]
    if kind == "batch":
        return 2 * sizes[0] * sizes[1] * sizes[2] * sizes[3]
    batch, ins, outs, size, kernel, stride, groups = sizes
    out = (size + 2 * (kernel // 2) - kernel) // stride + 1
    return 2 * batch * ins // groups * outs * kernel * kernel * out * out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--batches", type=int, nargs="*", default=[1, 8])
    parser.add_argument("--kinds", nargs="*", default=["linear", "batch", "conv"])
    parser.add_argument("--seconds", type=float, default=0.1)
    options = parser.parse_args()
    for threads in options.threads:
        for kind in options.kinds:
            names = ENGINES[kind] + (["torch", "torch-last"] if kind == "conv" else ["torch"])
            print(f"\n| {kind}, {threads} threads | us, torch | " + " | ".join(names) + " |")
            print("|---" * (len(names) + 2) + "|")
            cases = {"linear": LINEAR, "batch": BATCH,
                     "conv": [(b, *c) for b in options.batches for c in CONV]}[kind]
            for sizes in cases:
                found = measure(options.program, kind, sizes, threads, options.seconds)
                work = operations(kind, sizes)
                cells = [f"{work / found[n] * 1e-9:.1f}" if n in found else "-" for n in names]
                print(f"| {'x'.join(map(str, sizes))} | {found['torch'] * 1e6:.0f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
