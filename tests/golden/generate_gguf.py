"""Writes tests/golden/gguf with the reference library, and what it reads from them.

python generate_gguf.py [FOLDER]    (needs numpy and gguf)
"""

import importlib.metadata
import pathlib
import sys

import gguf
import numpy
from gguf import quants

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "gguf")
folder.mkdir(parents=True, exist_ok=True)
random = numpy.random.default_rng(0)
Type = gguf.GGMLQuantizationType

# Where a block's half-precision factors are; everything else in it may be any bits.
FACTORS = {Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0], Type.Q2_K: [80, 82],
           Type.Q3_K: [108], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208]}
PLAIN = {"F32": "float32", "F16": "float16", "F64": "float64", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64"}


def blocks(kind, rows, columns):
    """Random blocks with factors that are no infinities."""
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    data = random.integers(0, 256, (rows, columns // elements, size), dtype=numpy.uint8)
    for at in FACTORS[kind]:
        factor = random.normal(0, 0.1, data.shape[:2]).astype(numpy.float16)
        data[:, :, at : at + 2] = factor[..., None].view(numpy.uint8)
    return data.reshape(rows, -1)


def write(name, fill, alignment=None):
    writer = gguf.GGUFWriter(folder / f"{name}.gguf", "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


expected = {}


def fill_types(writer):
    for kind in FACTORS:
        data = blocks(kind, 2, 512)
        writer.add_tensor(f"blocks.{kind.name}", data, raw_dtype=kind)
        expected[f"blocks.{kind.name}"] = quants.dequantize(data, kind).astype(numpy.float32)
    for name, dtype in PLAIN.items():
        data = (random.normal(0, 10, (3, 5))).astype(dtype)
        writer.add_tensor(f"plain.{name}", data)
        expected[f"plain.{name}"] = data
    values = random.normal(0, 10, (2, 4)).astype(numpy.float32)
    data = quants.quantize(values, Type.BF16)
    writer.add_tensor("plain.BF16", data, raw_dtype=Type.BF16)
    expected["plain.BF16"] = quants.dequantize(data, Type.BF16).astype(numpy.float32)
    # Of a type that nobody decodes.
    writer.add_tensor("other.IQ4_XS", random.integers(0, 256, (1, 136), dtype=numpy.uint8), raw_dtype=Type.IQ4_XS)


def fill_metadata(writer):
    for kind in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        getattr(writer, f"add_{kind}")(f"x.{kind}", 100)
    writer.add_float32("x.float32", 0.25)
    writer.add_float64("x.float64", -1e300)
    writer.add_bool("x.bool", True)
    writer.add_string("x.string", "a \u00e9\n")
    writer.add_array("x.strings", ["<s>", "</s>", "a", "b", "c", "d"])
    writer.add_array("x.numbers", [1, 2, 3])
    writer.add_array("x.nested", [[1, 2], [3]])
    writer.add_tensor("x", numpy.arange(6, dtype=numpy.float32).reshape(2, 3))


write("types", fill_types)
numpy.savez(folder / "types.npz", **expected)
write("metadata", fill_metadata)
write("aligned", lambda writer: [writer.add_tensor(name, numpy.arange(3, dtype=numpy.float32)) for name in "ab"], 256)
write("empty", lambda writer: None)
second = bytearray((folder / "metadata.gguf").read_bytes())
second[4] = 2  # the version: the layout is the same
(folder / "version_2.gguf").write_bytes(second)
(folder / "MANIFEST").write_text(f"all files\tgenerate_gguf.py\tgguf {importlib.metadata.version('gguf')}, numpy {numpy.__version__}\n")
