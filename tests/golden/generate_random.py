"""Writes tests/golden/random/: what PyTorch's CPU generator gives for some seeds. Run it with the Python that has
PyTorch (2.13, on x86 with AVX2); the tests read only the files.

A line of streams.txt: operator, type, seed, count, two arguments, then the bytes of the result in hexadecimal
(for up to 17 elements and where rounding may differ) or their FNV-1a hash (#...), and the hash of the generator's
state afterwards.
"""

import pathlib
import warnings

import torch

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).parent / "random"
HERE.mkdir(exist_ok=True)

FLOATS = "float16 bfloat16 float32 float64".split()
INTEGERS = "uint8 int8 int16 int32 int64 bool".split()
UNSIGNED = "uint16 uint32 uint64".split()
SIZES = (1, 5, 15, 16, 17, 100, 1000)
SEEDS = (0, 67280421310721, 2**64 - 5)
RANGES = ((0, 2), (-5, 100), (7, 2**28 + 6), (0, 2**28 + 8), (-(2**40), 2**50), (0, 65504), (-(2**63), 2**63 - 1))


def fnv64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def raw(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def line(name, dtype, seed, count, a, b, draw, exact=True):
    torch.manual_seed(seed)
    data = raw(draw())
    result = data.hex() if count <= 17 or not exact else f"#{fnv64(data):016x}"
    return f"{name} {dtype} {seed} {count} {a} {b} {result} {fnv64(raw(torch.get_rng_state())):016x}"


def streams():
    for seed in SEEDS:
        for count in SIZES:
            for dtype in FLOATS:
                new = lambda: torch.empty(count, dtype=getattr(torch, dtype))
                for a, b in ((0.0, 1.0), (-1.3, 2.7)):
                    yield line("uniform", dtype, seed, count, a, b, lambda: new().uniform_(a, b))
                    exact = count >= 16 and dtype != "float64"
                    if exact or count <= 100:
                        yield line("normal", dtype, seed, count, a, b, lambda: new().normal_(a, b), exact)
                if count <= 17:
                    yield line("exponential", dtype, seed, count, 1.7, 0, lambda: new().exponential_(1.7))
                    yield line("cauchy", dtype, seed, count, 0.3, 1.7, lambda: new().cauchy_(0.3, 1.7))
                    yield line("log_normal", dtype, seed, count, 0.3, 0.7, lambda: new().log_normal_(0.3, 0.7))
                    yield line("geometric", dtype, seed, count, 0.2, 0, lambda: new().geometric_(0.2))
            yield line("permutation", "int64", seed, count, 0, 0, lambda: torch.randperm(count))
            if count not in (17, 1000):
                continue
            for dtype in INTEGERS + FLOATS:
                new = lambda: torch.empty(count, dtype=getattr(torch, dtype))
                yield line("bernoulli", dtype, seed, count, 0.3, 0, lambda: new().bernoulli_(0.3))
                yield line("random", dtype, seed, count, 0, 0, lambda: new().random_())
            for dtype in INTEGERS + UNSIGNED + FLOATS:
                new = lambda: torch.empty(count, dtype=getattr(torch, dtype))
                for a, b in RANGES:
                    try:
                        yield line("integers", dtype, seed, count, a, b, lambda: new().random_(a, b))
                    except RuntimeError:
                        yield f"integers {dtype} {seed} {count} {a} {b} error 0"


def draws():
    """Multinomial: type, seed, categories, samples, replacement, the weights' bytes, the indices."""
    for dtype in FLOATS:
        for categories, samples, again in ((1, 1, 0), (5, 1, 1), (10, 10, 0), (10, 4, 0), (10, 20, 1), (64, 1, 0)):
            torch.manual_seed(samples)
            weights = (torch.rand(categories) + 0.01).to(getattr(torch, dtype))
            torch.manual_seed(11)
            indices = torch.multinomial(weights, samples, bool(again)).tolist()
            yield f"{dtype} 11 {categories} {samples} {again} {raw(weights).hex()} {' '.join(map(str, indices))}"


(HERE / "streams.txt").write_text("\n".join(streams()) + "\n")
(HERE / "multinomial.txt").write_text("\n".join(draws()) + "\n")
torch.manual_seed(42)
torch.randn(5)  # leaves a cached normal number
torch.rand(700)
(HERE / "state.bin").write_bytes(raw(torch.get_rng_state()))
(HERE / "after_state.bin").write_bytes(raw(torch.randn(3, dtype=torch.float64)) + raw(torch.rand(100)))
(HERE / "MANIFEST").write_text(f"all files\tPyTorch {torch.__version__}, x86-64 with AVX2 or later, by generate_random.py\n")
