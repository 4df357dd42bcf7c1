"""Makes tests/fuzz/corpus/pt2, program_json and example_inputs from the golden files.

The programs of older majors, major_N.json, are those of src/flambeau/formats/pt2/upgrade/test_programs.h.
Checksums in the archives are set to 0, which stands for "none": a fuzzer could not guess the right ones.
"""
import json
import pathlib
import zipfile

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "pt2"
ARCHIVES = ["values.without_example_inputs", "weights.opaque", "weights.fake", "weights.tied.old",
            "values.string_output", "control.custom_arguments"]
PROGRAMS = ["control.cond", "control.custom_arguments", "control.effects.decomposed", "shapes.derived",
            "values.special_floats", "values.special_scalars", "values.odd_keys", "values.string_output",
            "examples.user_input_mutation", "weights.opaque"]
INPUTS = ["values.nested_inputs", "values.odd_keys", "values.special_floats", "weights.fake"]


def without_checksums(data: bytes) -> bytes:
    data = bytearray(data)
    for signature, offset in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16), (b"PK\x07\x08", 4)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset : at + offset + 4] = bytes(4)
            at = data.find(signature, at + 4)
    return bytes(data)


def main() -> None:
    for folder in ("pt2", "program_json", "example_inputs"):
        (HERE / "corpus" / folder).mkdir(parents=True, exist_ok=True)
    for name in ARCHIVES:
        data = (GOLDEN / f"{name}.pt2").read_bytes()
        (HERE / "corpus" / "pt2" / f"{name}.pt2").write_bytes(without_checksums(data))
    for name in PROGRAMS:
        with zipfile.ZipFile(GOLDEN / f"{name}.pt2") as archive:
            record = next(each for each in archive.namelist() if "/models/" in each)
            (HERE / "corpus" / "program_json" / f"{name}.json").write_bytes(archive.read(record))
    for name in INPUTS:
        with zipfile.ZipFile(GOLDEN / f"{name}.pt2") as archive:
            record = next(each for each in archive.namelist() if "/models/" in each)
            program = json.loads(archive.read(record))
            calls = program["graph_module"]["module_call_graph"]
            spec = next(each["signature"]["in_spec"] for each in calls if each["fqn"] == "")
            inputs = next(each for each in archive.namelist() if "/sample_inputs/" in each)
            seed = spec.encode() + b"\n" + without_checksums(archive.read(inputs))
            (HERE / "corpus" / "example_inputs" / name).write_bytes(seed)


if __name__ == "__main__":
    main()
