"""Writes tests/golden/tensor/: what real PyTorch says about element types, conversions, quantized and sparse
tensors. Run it with the Python that has PyTorch (2.13, on x86 with AVX2); the tests read only the files.

Conversions are taken from a strided view, because PyTorch then uses one rule for all elements. Its loops over
packed elements give other bits in a few cases; SELF_DISAGREEMENTS lists them and is checked here.
"""

import pathlib
import sys
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).parent / "tensor"

PLAIN = (
    "uint8 int8 int16 int32 int64 uint16 uint32 uint64 bool float16 bfloat16 float32 float64 float8_e4m3fn "
    "float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu complex32 complex64 complex128"
).split()
OTHER = (
    "qint8 quint8 qint32 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float4_e2m1fn_x2"
).split()
SMALL = PLAIN[13:18]
# Pairs whose packed loop differs from the strided one: float to uint32 out of range, NaN to bfloat16.
SELF_DISAGREEMENTS = {(a, "uint32") for a in ("bfloat16", "float32", "float64", "complex64", "complex128")} | {
    ("float32", "bfloat16"),
    ("float64", "bfloat16"),
}


def dtype(name):
    return getattr(torch, name)


def raw(tensor):
    if tensor.numel() == 0:
        return b""
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def from_raw(data, name):
    return torch.from_numpy(np.frombuffer(data, dtype=np.uint8).copy()).view(dtype(name))


def fnv64(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def strided(tensor):
    """The same elements, three apart."""
    size = tensor.dtype.itemsize
    spread = torch.zeros(tensor.numel(), 3 * size, dtype=torch.uint8)
    spread[:, :size] = tensor.view(torch.uint8).view(tensor.numel(), size)
    return spread.view(tensor.dtype)[:, 0]


def write(name, lines):
    (HERE / name).write_text("\n".join(lines) + "\n")


def write_dtypes():
    number_of = torch.jit.script(dtype_number)
    storages = {}
    for name in dir(torch):
        if name.endswith("Storage") and name != "Storage" and isinstance(getattr(torch, name), type):
            of = getattr(getattr(torch, name), "dtype", None)
            if isinstance(of, torch.dtype):
                storages[of] = name
    lines = ["# number name size floating complex signed legacy-storage-class (signed is ? where PyTorch has no answer)"]
    for name in PLAIN + OTHER:
        d = dtype(name)
        try:
            example = torch.empty(0, dtype=d)
        except RuntimeError:
            example = torch._empty_affine_quantized([0], scale=1.0, zero_point=0, dtype=d)
        try:
            signed = int(d.is_signed)
        except RuntimeError:
            signed = "?"
        flags = f"{int(d.is_floating_point)} {int(d.is_complex)} {signed}"
        lines.append(f"type {number_of(example)} {name} {d.itemsize} {flags} {storages.get(d, '-')}")
    for name in sorted(dir(torch)):
        d = getattr(torch, name)
        if isinstance(d, torch.dtype) and str(d) != "torch." + name and str(d)[6:] in PLAIN + OTHER:
            lines.append(f"alias {name} {str(d)[6:]}")
    write("dtypes.txt", lines)


def dtype_number(x: torch.Tensor) -> int:
    return x.dtype


NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -1.5, 255, 256, 257, 127, 128, -128, -129, 300.7, -300.7]
NUMBERS += [32767, 32768, -32768, -32769, 65535, 65536, 65537, 70000.9, -70000.9, 2147483647, 2147483648]
NUMBERS += [-2147483648, -2147483649, -2147483648.5, 2147483904.0, 4294967295, 4294967296, 4294967297, 4294967808.0]
NUMBERS += [-4294967296, 5e9, -5e9, 9.2e18, 2.0**63, -(2.0**63), -(2.0**63) - 4096, 1.5 * 2.0**63, 2.0**64]
NUMBERS += [2.0**64 - 2048, -(2.0**64), 1e20, -1e20, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e-3, 6e-8, 3e-8]
NUMBERS += [2.98e-8, 1e-45, 1e-40, 65504, 65519.9, 65520, 240, 248, 448, 464, 465, 480, 57344, 61440, 61441, 0.1, 1 / 3]


def source(name):
    """Adversarial elements of a type, as bytes."""
    rng = np.random.default_rng(sum(name.encode()))
    if name in ("float64", "complex128"):
        odd = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFF0000000000001, 0x7FFDEADBEEFCAFE1]
        odd += [0xFFFFFFFFFFFFFFFF, 0x7FF8000020000000, 0x7FF0000010000000, 0x3FF0000010000000, 0x3FF0000010000001]
        odd += [0x3FF0020000000001, 0x3FF0020000000000, 0x3FF0060000000000, 1, 0x7FEFFFFFFFFFFFFF, 0x3FF0080000000001]
        spread = rng.standard_normal(32) * 10.0 ** rng.uniform(-12, 22, 32)
        values = np.concatenate([np.array(NUMBERS), np.array(odd, np.uint64).view(np.float64), spread])
    elif name in ("float32", "complex64"):
        odd = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FA01234, 0xFFA01234]
        odd += [0x7F801FFF, 0x7F802000, 0x7FC02000, 0x3F801000, 0x3F801001, 0x3F803000, 0x3F808000, 0x3F808001]
        odd += [0x3F818000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x400000, 0x400001, 0x7F400000, 0x7F000000]
        spread = (rng.standard_normal(32) * 10.0 ** rng.uniform(-12, 22, 32)).astype(np.float32)
        values = np.concatenate([np.array(NUMBERS, np.float32), np.array(odd, np.uint32).view(np.float32), spread])
    elif name in ("float16", "bfloat16", "complex32", "int16", "uint16"):
        odd = [0x7C00, 0xFC00, 0x7C01, 0xFC01, 0x7E00, 0xFE00, 0x7FFF, 0xFFFF, 1, 0x8001, 0x3FF, 0x400, 0x7BFF]
        odd += [0xFBFF, 0x7F80, 0xFF80, 0x7F81, 0xFF81, 0x7FC0, 0xFFC0, 0x7F7F, 0xFF7F, 0x4F00, 0xCF00, 0x5F00]
        odd += [0xDF00, 0x5F80, 0x8000, 0x477F, 0x4780]
        values = np.concatenate([np.arange(0, 65536, 997).astype(np.uint16), np.array(odd, np.uint16)])
    elif dtype(name).itemsize == 1:
        values = np.arange(256, dtype=np.uint8) if name != "bool" else np.arange(67, dtype=np.uint8) % 2
    elif name in ("int32", "uint32"):
        odd = [0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFF, 0x100, 0xFFFF, 0x10000, 0x1000001]
        odd += [0x1000003, 0x7FFFFFBF, 0x7FFFFFC0, 0x7FFFFFC1, 65519, 65520, 65504, 0xFEFFFFFF, 2049, 2051, 257, 259]
        values = np.concatenate([np.array(odd, np.uint32), rng.integers(0, 2**32, 44, dtype=np.uint32)])
    else:
        odd = [0, 1, 2**64 - 1, 2**63 - 1, 2**63, 2**63 + 1, 2**63 - 512, 2**63 + 1024, 2**53 + 1, 2**53 + 3]
        odd += [2**24 + 1, 2**32, 2**31, 2**31 - 1, 2**63 + 2**39 + 1, 2**62 + 2**38 + 1, 2**62 + 2**38]
        odd += [2**62 + 2**54 + 1, 2**62 + 2**54, 65519, 65520, 2049, 257, 2**64 - 2**39, 2**64 - 2**39 - 1]
        values = np.concatenate([np.array(odd, np.uint64), rng.integers(0, 2**63, 42, dtype=np.uint64) * 2 + 1])
    if dtype(name).is_complex:
        values = np.stack([values, np.roll(values, 1)], 1)
    return values.tobytes()


def write_conversions():
    lines = ["# source TYPE BYTES; pair FROM TO FNV64-OF-THE-RESULT ONE-CHECK-BYTE-PER-ELEMENT"]
    disagreements = set()
    for a in PLAIN:
        data = source(a)
        tensor = from_raw(data, a)
        lines.append(f"source {a} {data.hex()}")
        for b in PLAIN:
            out = raw(strided(tensor).to(dtype(b)))
            if out != raw(tensor.to(dtype(b))):
                disagreements.add((a, b))
            size = dtype(b).itemsize
            checks = bytes(fnv64(out[i : i + size]) & 0xFF for i in range(0, len(out), size))
            lines.append(f"pair {a} {b} {fnv64(out):016x} {checks.hex()}")
    assert disagreements == SELF_DISAGREEMENTS, disagreements ^ SELF_DISAGREEMENTS
    write("conversions.txt", lines)


def fractions():
    """23-bit fractions around every rounding boundary; the test builds the same list."""
    found = {0, 1, 2, 3, 0x7FFFFF, 0x7FFFFE}
    for k in range(23):
        for base in (1 << k, 3 << k, 5 << k, 0x7FFFFF ^ (1 << k), 0x7FFFFF << k):
            for near in (-1, 0, 1):
                found.add((base + near) & 0x7FFFFF)
    return np.array(sorted(found), np.uint32)


def write_small_floats():
    lines = ["# float TYPE: float32 bits of codes 0 to 255; widen TYPE: FNV64 of 256 blocks of 256 codes as float32;"]
    lines.append("# round TYPE: for each sign and float32 exponent, the low 32 bits of the FNV64 of the rounded sample;")
    lines.append("# round64: the same from float64, from three neighbours of every number")
    for name in SMALL:
        bits = from_raw(bytes(range(256)), name).to(torch.float32)
        lines.append(f"float {name} " + np.frombuffer(raw(bits), np.uint32).byteswap().tobytes().hex())
    codes = np.arange(65536, dtype=np.uint16).tobytes()
    for name in ("float16", "bfloat16"):
        out = raw(strided(from_raw(codes, name)).to(torch.float32))
        lines.append(f"widen {name} " + "".join(f"{fnv64(out[i : i + 1024]):016x}" for i in range(0, 1 << 18, 1024)))
    sample = fractions()
    for name in ["float16", "bfloat16"] + SMALL:
        single, double = [], []
        for top in range(512):
            bits = (np.uint32(top << 23) | sample).astype(np.uint32)
            out = raw(strided(from_raw(bits.tobytes(), "float32")).to(dtype(name)))
            single.append(f"{fnv64(out) & 0xFFFFFFFF:08x}")
            exponent = top & 0xFF
            if exponent in (0, 255):
                continue
            wide = (np.uint64(top >> 8) << np.uint64(63)) | (np.uint64(exponent + 896) << np.uint64(52))
            wide = wide | (sample[::7].astype(np.uint64) << np.uint64(29))
            wide = np.concatenate([wide - np.uint64(1), wide + np.uint64(1), wide + np.uint64(1 << 28)])
            out = raw(strided(from_raw(wide.tobytes(), "float64")).to(dtype(name)))
            double.append(f"{fnv64(out) & 0xFFFFFFFF:08x}")
        lines.append(f"round {name} " + "".join(single))
        lines.append(f"round64 {name} " + "".join(double))
    write("small_floats.txt", lines)


def write_quantized():
    lines = ["# packed TYPE SIZES | BYTES-OF-A-NEW-STORAGE"]
    lines.append("# tensor TYPE SCALE ZERO-POINT | SIZES | STORED | FLOAT32 (little-endian bytes)")
    lines.append("# channel TYPE SCHEME AXIS | SIZES | SCALES(float64) | ZERO-POINTS(int64, or float64) | STORED | FLOAT32")
    for name in ("quint4x2", "quint2x4"):
        for sizes in ([], [0], [1], [2], [3], [4], [5], [8], [3, 3], [2, 5], [5, 3, 1], [2, 0], [0, 3]):
            try:
                t = torch._empty_affine_quantized(sizes, scale=1.0, zero_point=0, dtype=dtype(name))
            except RuntimeError:
                continue
            lines.append(f"packed {name} {' '.join(map(str, sizes))} | {t.untyped_storage().nbytes()}")
    rng = torch.Generator().manual_seed(5)

    def text(t):
        return raw(t).hex()

    def stored(t):
        storage = t.untyped_storage()
        per_byte = {"torch.quint4x2": 2, "torch.quint2x4": 4}.get(str(t.dtype), 0)
        used = (t.numel() + per_byte - 1) // per_byte if per_byte else storage.nbytes()
        return bytes(list(storage)[:used]).hex()

    for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4"):
        for scale, point in ((0.1, 0), (0.0123456789, 3), (1e-3, 1)):
            t = torch.quantize_per_tensor(torch.randn(5, 27, generator=rng) * 0.3, scale, point, dtype(name))
            lines.append(f"tensor {name} {scale!r} {point} | 5 27 | {stored(t)} | {text(t.dequantize())}")
    extreme = torch._empty_affine_quantized([6], scale=0.7, zero_point=-2147483648, dtype=torch.qint32)
    numbers = torch.tensor([2147483647, -2147483648, 1, -1, 16777217, 123456789], dtype=torch.int32)
    extreme.untyped_storage().copy_(numbers.untyped_storage())
    lines.append(f"tensor qint32 0.7 -2147483648 | 6 | {stored(extreme)} | {text(extreme.dequantize())}")
    for name in ("qint8", "quint8", "qint32"):
        for axis in (0, 1, 2):
            x = torch.randn(3, 4, 5, generator=rng)
            scales = torch.rand(x.shape[axis], generator=rng, dtype=torch.float64) * 0.1 + 0.003
            points = torch.arange(x.shape[axis]) * 2
            t = torch.quantize_per_channel(x, scales, points, axis, dtype(name))
            lines.append(
                f"channel {name} per_channel_affine {axis} | 3 4 5 | {text(scales)} | {text(points)} | {stored(t)} | {text(t.dequantize())}"
            )
    for name in ("quint8", "quint4x2", "quint2x4"):
        x = torch.randn(3, 7, generator=rng)
        scales = torch.rand(3, generator=rng, dtype=torch.float64) * 0.3 + 0.01
        points = torch.rand(3, generator=rng, dtype=torch.float64) * 3
        t = torch.quantize_per_channel(x, scales, points, 0, dtype(name))
        lines.append(
            f"channel {name} per_channel_affine_float_qparams 0 | 3 7 | {text(scales)} | {text(points)} | {stored(t)} | {text(t.dequantize())}"
        )
    write("quantized.txt", lines)


def sparse_cases():
    """(layout, is_coalesced, index type, sizes, first indices, second indices, shape of the values)"""
    coo = "sparse_coo"
    for flag in (0, 1):
        yield coo, flag, "int64", [3, 4], [[0, 1, 2], [1, 0, 3]], None, [3]
        yield coo, flag, "int64", [3, 4], [[0, 0, 2], [1, 3, 3]], None, [3]
        yield coo, flag, "int64", [3, 4], [[0, 2, 1], [1, 0, 3]], None, [3]
        yield coo, flag, "int64", [3, 4], [[0, 1, 1], [1, 0, 0]], None, [3]
        yield coo, flag, "int64", [3, 4], [[0, 1, 1], [1, 2, 0]], None, [3]
        yield coo, flag, "int64", [3, 4], [[0], [3]], None, [1]
        yield coo, flag, "int64", [3, 4, 2], [[0, 2], [3, 0]], None, [2, 2]
        yield coo, flag, "int64", [3, 4, 2], [[0, 2]], None, [2, 4, 2]
        yield coo, flag, "int64", [3], [[2, 1]], None, [2]
    yield coo, 0, "int64", [3, 4], [[0, 3], [1, 0]], None, [2]
    yield coo, 0, "int64", [3, 4], [[0, -1], [1, 0]], None, [2]
    yield coo, 0, "int64", [3, 4], [[0, 1], [4, 0]], None, [2]
    yield coo, 0, "int64", [0, 4], [[0], [0]], None, [1]
    yield coo, 0, "int64", [3, 4], [[0, 1], [1, 0]], None, [3]
    yield coo, 0, "int64", [3, 4], [[0, 1], [1, 0]], None, [2, 4]
    yield coo, 0, "int64", [3, 4, 2], [[0, 2], [3, 0]], None, [2, 3]
    yield coo, 0, "int64", [3, 4], [0, 1], None, [2]
    for layout in ("sparse_csr", "sparse_csc"):
        for kind in ("int64", "int32"):
            yield layout, 0, kind, [3, 3], [0, 1, 1, 3], [2, 0, 2], [3]
            yield layout, 0, kind, [3, 3], [0, 1, 1, 3], [2, 2, 0], [3]
            yield layout, 0, kind, [3, 3], [0, 1, 1, 3], [2, 0, 0], [3]
            yield layout, 0, kind, [3, 3], [0, 1, 1, 3], [2, 0, 3], [3]
            yield layout, 0, kind, [3, 3], [0, 1, 1, 3], [-1, 0, 2], [3]
        yield layout, 0, "int64", [3, 3], [1, 1, 1, 3], [2, 0, 2], [3]
        yield layout, 0, "int64", [3, 3], [0, 1, 1, 2], [2, 0, 2], [3]
        yield layout, 0, "int64", [3, 3], [0, 2, 1, 3], [0, 1, 2], [3]
        yield layout, 0, "int64", [3, 3], [0, 1, 4, 3], [0, 1, 2], [3]
        yield layout, 0, "int64", [3, 2], [0, 1, 1, 3], [1, 0, 1], [3]
        yield layout, 0, "int64", [2, 3], [0, 1, 3], [1, 0, 1], [3]
        yield layout, 0, "int64", [3, 3], [0, 1, 3], [2, 0, 2], [3]
        yield layout, 0, "int64", [3, 3], [0, 1, 1, 3], [2, 0], [3]
        yield layout, 0, "int64", [3, 3], [0, 1, 1, 3], [2, 0, 2], [3, 1]
        yield layout, 0, "int64", [3, 3, 2], [0, 1, 1, 3], [2, 0, 2], [3, 2]
        yield layout, 0, "int64", [3, 3, 2], [0, 1, 1, 3], [2, 0, 2], [3, 5]
        yield layout, 0, "int64", [3], [0, 1, 1, 3], [2, 0, 2], [3]
        yield layout, 0, "int64", [0, 0], [0], [], [0]
        yield layout, 0, "int64", [0, 0], [5], [], [0]
        yield layout, 0, "int64", [3, 3], [0, 0, 0, 0], [], [0]
        yield layout, 0, "int64", [2, 3, 3], [[0, 1, 1, 2], [0, 0, 1, 2]], [[0, 2], [1, 1]], [2, 2]
        yield layout, 0, "int64", [2, 3, 3], [[0, 1, 1, 2], [0, 0, 1, 3]], [[0, 2], [1, 1]], [2, 2]
        yield layout, 0, "int64", [2, 3, 3], [[0, 1, 1, 2], [0, 0, 0, 2]], [[0, 2], [1, 1]], [2, 2]
        yield layout, 0, "int64", [2, 3, 3], [[0, 1, 1, 2], [0, 0, 1, 2]], [[0, 2], [1, 1]], [3, 2]
        yield layout, 0, "int32", [3, 2**33], [0, 1, 1, 3], [2, 0, 2], [3]
        yield layout, 0, "int64", [3, 2**33], [0, 1, 1, 3], [2, 0, 2], [3]
    yield "sparse_csr", 0, "int64", [0, 3], [2], [0, 1], [2]
    for layout in ("sparse_bsr", "sparse_bsc"):
        yield layout, 0, "int64", [4, 4], [0, 1, 2], [1, 0], [2, 2, 2]
        yield layout, 0, "int64", [4, 4], [0, 1, 2], [1, 2], [2, 2, 2]
        yield layout, 0, "int64", [4, 4], [0, 2, 2], [0, 1], [2, 2, 2]
        yield layout, 0, "int64", [4, 4], [0, 2, 2], [1, 0], [2, 2, 2]
        yield layout, 0, "int64", [5, 4], [0, 1, 2], [1, 0], [2, 2, 2]
        yield layout, 0, "int64", [4, 4], [0, 1, 2], [1, 0], [2, 2, 3]
        yield layout, 0, "int64", [4, 6], [0, 1, 2], [1, 0], [2, 2, 3]
        yield layout, 0, "int64", [6, 4], [0, 1, 2], [1, 0], [2, 3, 2]
        yield layout, 0, "int64", [4, 4, 3], [0, 1, 2], [1, 0], [2, 2, 2, 3]
        yield layout, 0, "int64", [4, 4], [0, 1, 2], [1, 0], [2]
        yield layout, 0, "int64", [0, 0], [0], [], [0, 0, 0]


def write_sparse():
    lines = ["# LAYOUT COALESCED INDEX-TYPE | SIZES | SHAPE NUMBERS | SHAPE NUMBERS | SHAPE-OF-VALUES | ACCEPTED"]
    for layout, flag, kind, sizes, first, second, shape in sparse_cases():
        one = torch.tensor(first, dtype=dtype(kind))
        two = None if second is None else torch.tensor(second, dtype=dtype(kind))
        if two is not None and two.numel() == 0:
            two = torch.empty(one.shape[:-1] + (0,), dtype=dtype(kind))
        values = torch.ones(shape)
        try:
            if layout == "sparse_coo":
                torch.sparse_coo_tensor(one, values, sizes, is_coalesced=bool(flag), check_invariants=True)
            else:
                torch.sparse_compressed_tensor(
                    one, two, values, sizes, layout=dtype(layout), check_invariants=True
                )
            accepted = 1
        except (RuntimeError, ValueError, TypeError):
            accepted = 0

        def text(t):
            if t is None:
                return "-"
            return ",".join(map(str, t.shape)) + " " + " ".join(map(str, t.flatten().tolist()))

        fields = [f"{layout} {flag} {kind}", " ".join(map(str, sizes)), text(one), text(two)]
        fields += [" ".join(map(str, shape)), str(accepted)]
        lines.append(" | ".join(fields))
    write("sparse.txt", lines)


def main():
    if torch.backends.cpu.get_cpu_capability() == "DEFAULT":
        sys.exit("run this on a processor with AVX2: PyTorch's NaN payloads differ without it")
    HERE.mkdir(exist_ok=True)
    write_dtypes()
    write_conversions()
    write_small_floats()
    write_quantized()
    write_sparse()
    write("MANIFEST", [f"*.txt\tPyTorch {torch.__version__}, x86-64 with AVX2 or later, by generate_tensor.py"])


if __name__ == "__main__":
    main()
