"""Writes tests/golden/json: what Python's json.dumps makes of a wide set of values.

python generate_json.py [FOLDER]    (any CPython 3; the result does not depend on the version)
"""

import json
import math
import pathlib
import platform
import random
import struct
import sys

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "json")
folder.mkdir(parents=True, exist_ok=True)
random.seed(20)

VALUES = [
    None, True, False, 0, -1, 1, 2**31, -(2**63), 2**63 - 1, 2**63, 2**64 - 1,
    "", "plain", "quote \" backslash \\ slash /", "\b\f\n\r\t", "\x00\x01\x1f \x7f\x80\xa0",
    "\u00e9\u0416\u4e2d\u2028\ufeff\uffff", "\U0001f600\U00010000\U0010ffff",
    [], {}, [[]], [{}], {"": {}}, {"a": []}, [1, 2.5, "x", None, True, [1, [2, [3]]]],
    {"b": 1, "a": 2, "\u00e9": {"k": [1, 2]}, "B": {"x": {"y": {"z": None}}}},
    {f"key {i}": i for i in range(40)},
    [math.nan, math.inf, -math.inf],
]
(folder / "compact.jsonl").write_text("".join(json.dumps(value) + "\n" for value in VALUES))
for indent in (0, 1, 2, 4):
    (folder / f"indent{indent}.json").write_text(json.dumps(VALUES, indent=indent))

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 0.2, 1 / 3, 100.0, 123456.789, 1e15, 9999999999999998.0, 1e16, 1.5e16, 1e17,
          1e21, 1e22, 1e23, 1e100, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 2.225073858507201e-308,
          1e-3, 1e-4, 1.5e-4, 1e-5, 1.5e-5, 9.999e-5, 123e-7, 2.0**53, 2.0**53 + 2, 2.0**63, 2.0**64, -1e16, 4.35,
          0.3, 2.675, 1e-10, 1.0000000000000002, 0.9999999999999999, 3.141592653589793]
while len(FLOATS) < 300:
    value = struct.unpack("<d", random.randbytes(8))[0]
    if math.isfinite(value):
        FLOATS.append(value)
while len(FLOATS) < 600:
    FLOATS.append(round(random.uniform(-1, 1) * 10 ** random.randint(-8, 20), random.randint(0, 12)))
(folder / "floats.tsv").write_text(
    "".join(f"{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}\t{json.dumps(value)}\n" for value in FLOATS))
(folder / "MANIFEST").write_text(f"all files\tgenerate_json.py\tCPython {platform.python_version()}\n")
