"""Writes tests/golden/npy with NumPy.

python generate_npy.py [FOLDER]    (needs numpy only)
"""

import io
import pathlib
import sys
import warnings

import numpy as np
from numpy.lib import format as npy

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "npy")
folder.mkdir(parents=True, exist_ok=True)
warnings.simplefilter("ignore")

save = lambda name, array, **kwargs: np.save(folder / f"{name}.npy", array, **kwargs)

CODES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
for code in CODES:
    values = np.arange(16, dtype="u1")
    save(code, (values % 2).astype("b1") if code == "b1" else values.view("<" + code))
# The same values the other way round.
for code in ("i2", "f4", "f8", "c8", "c16"):
    save(f"big_{code}", np.arange(16, dtype="u1").view("<" + code).astype(">" + code))
six = np.arange(6, dtype="<f4").reshape(2, 3)
save("matrix", six)
save("fortran", np.asfortranarray(six))
save("fortran_big", np.asfortranarray(six.astype(">f4")))
save("sliced", np.arange(24, dtype="<i4").reshape(4, 6)[:, ::2])
save("scalar", np.float64(2.5))
save("empty", np.zeros((0, 3), "<f4"))
save("column", np.zeros((1, 5), "<f4").T)
for major in (2, 3):
    with open(folder / f"version{major}.npy", "wb") as file:
        npy.write_array(file, six, version=(major, 0))

save("objects", np.array([None, {}], dtype=object), allow_pickle=True)
save("text", np.array(["a", "bc"]))
save("bytes", np.array([b"a", b"bc"]))
save("structured", np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]))
save("datetime", np.array(["2020-01-01"], dtype="M8[D]"))
save("longdouble", np.zeros(2, "<f16"))
save("void", np.zeros(2, "V2"))  # as bfloat16 comes out

# Headers of every length: empty arrays, one after the other.
headers = io.BytesIO()
for rank in range(0, 20):
    for digits in (1, 2, 5, 9, 14):
        shape = [0] + [10 ** (digits - 1)] * (rank > 1) + [1] * (rank - 2) if rank else [0]
        np.save(headers, np.lib.stride_tricks.as_strided(np.zeros(0, "<f8"), shape, [8] * len(shape)))
(folder / "headers.bin").write_bytes(headers.getvalue())

np.savez(folder / "stored.npz", weight=six, bias=np.arange(3, dtype="<i8"),
         **{"a/b.c": np.float32(1), "big": six.astype(">f4")})
np.savez_compressed(folder / "deflated.npz", weight=np.zeros((64, 64), "<f4"), bias=np.arange(3, dtype="<i8"))
large = (np.arange(20000) % 7).astype("<f4").reshape(200, 100)
np.savez_compressed(folder / "deflated_large.npz", x=np.asfortranarray(large))
(folder / "MANIFEST").write_text(f"all files\tgenerate_npy.py\tNumPy {np.__version__}\n")
