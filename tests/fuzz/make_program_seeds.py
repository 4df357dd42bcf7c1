"""Makes tests/fuzz/corpus/pt2, program_json and example_inputs from the golden files, and passes with PyTorch.

The programs of older majors, major_N.json, are those of src/flambeau/formats/pt2/upgrade/test_programs.h.
Checksums in the archives are set to 0, which stands for "none": a fuzzer could not guess the right ones.
"""
import io
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


def make_passes() -> None:
    """Programs with something to simplify: what is computed twice, for nobody, or from constants alone."""
    import torch

    def twice(x):
        return x * 2 + x * 2, x.shape[0] * 2 + x.shape[0] * 2

    def dead(x):
        (x + 1).sum()
        return x.reshape(x.shape[0] * x.shape[1])

    def constant(x):
        return x + (torch.arange(3) * 2 + torch.full((3,), 1.5)).sum()

    def writes(x):
        y = x.clone()
        y.add_(1)
        z = y[0]
        z.mul_(2)
        return y, x.clone()

    def branches(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2 + x * 2, lambda x: x + x, (x,))

    folder = HERE / "corpus" / "passes"
    folder.mkdir(parents=True, exist_ok=True)
    for function in (twice, dead, constant, writes, branches):
        model = type("Model", (torch.nn.Module,), {"forward": lambda self, x, function=function: function(x)})()
        shapes = {"x": {0: torch.export.Dim.AUTO}}
        program = torch.export.export(model, (torch.ones(4, 3),), dynamic_shapes=shapes)
        for name, each in ((function.__name__, program), (f"{function.__name__}.decomposed", program.run_decompositions())):
            buffer = io.BytesIO()
            torch.export.save(each, buffer)
            with zipfile.ZipFile(buffer) as archive:
                record = next(entry for entry in archive.namelist() if "/models/" in entry)
                text = json.loads(archive.read(record))
            for node in text["graph_module"]["graph"]["nodes"]:
                node["metadata"] = {}
            (folder / f"{name}.json").write_text(json.dumps(text))


def main() -> None:
    make_passes()
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
