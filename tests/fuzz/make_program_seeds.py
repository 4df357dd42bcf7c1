"""Makes tests/fuzz/corpus/pt2 and tests/fuzz/corpus/program_json from the golden files.

Checksums in the archives are set to 0, which stands for "none": a fuzzer could not guess the right ones.
"""
import pathlib
import zipfile

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "pt2"
ARCHIVES = ["values.without_example_inputs", "weights.opaque", "weights.fake", "weights.tied.old",
            "values.string_output", "control.custom_arguments"]
PROGRAMS = ["control.cond", "control.custom_arguments", "control.effects.decomposed", "shapes.derived",
            "values.special_floats", "values.special_scalars", "values.odd_keys", "values.string_output",
            "examples.user_input_mutation", "weights.opaque"]


def without_checksums(data: bytes) -> bytes:
    data = bytearray(data)
    for signature, offset in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16), (b"PK\x07\x08", 4)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset : at + offset + 4] = bytes(4)
            at = data.find(signature, at + 4)
    return bytes(data)


def main() -> None:
    for folder in ("pt2", "program_json"):
        (HERE / "corpus" / folder).mkdir(parents=True, exist_ok=True)
    for name in ARCHIVES:
        data = (GOLDEN / f"{name}.pt2").read_bytes()
        (HERE / "corpus" / "pt2" / f"{name}.pt2").write_bytes(without_checksums(data))
    for name in PROGRAMS:
        with zipfile.ZipFile(GOLDEN / f"{name}.pt2") as archive:
            record = next(each for each in archive.namelist() if "/models/" in each)
            (HERE / "corpus" / "program_json" / f"{name}.json").write_bytes(archive.read(record))


if __name__ == "__main__":
    main()
