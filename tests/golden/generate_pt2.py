"""Writes tests/golden/pt2: small programs saved by torch.export, and beside each what PyTorch makes of it.

python generate_pt2.py [FOLDER]    with PyTorch 2.13

x.pt2             the file
x.canonical.json  its program in canonical form (of "model", where an archive has several)
x.txt             the program as str() of what torch.export.load gives prints it, when PyTorch opens it at all

The programs are those of tests/interop; stack traces name files without their folders, and where
a node came from names graphs by small numbers, so that the files do not depend on the machine.
"""

import logging
import os
import pathlib
import re
import sys

import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "interop"))

import programs  # noqa: E402
from programs_torch import canonical, canonical_model, load_all, read_old_layout, records, write_old_layout  # noqa: E402
from torch.export.pt2_archive._package import package_pt2  # noqa: E402

CHOSEN = [
    "control.buffer_mutation",
    "control.cond",
    "control.custom_arguments",
    "control.custom_mutable.functional",
    "control.effects.decomposed",
    "examples.dynamic_shape_map",
    "examples.user_input_mutation",
    "layers.rnn",
    "shapes.auto",
    "shapes.derived",
    "shapes.divided",
    "shapes.static.decomposed",
    "values.annotated",
    "values.nested_inputs",
    "values.odd_keys",
    "values.outputs",
    "values.packaged",
    "values.special_floats",
    "values.special_scalars",
    "values.string_output",
    "values.without_example_inputs",
    "weights.empty",
    "weights.fake",
    "weights.opaque",
    "weights.some_types",
    "weights.tied",
    "weights.views",
]

# Also in the layout that torch.export.save wrote until 2.7.
OLD = ["weights.tied"]


def number_graphs(sources, number):
    """Where a node came from names graphs by their addresses."""
    for source in sources:
        source.node_info.graph_id = number
        number_graphs(source.from_node, number + 1)


def without_folders(exported):
    for module in exported.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if trace := node.meta.get("stack_trace"):
                trace = re.sub(r'File "[^"]*/([^"/]+)"', r'File "\1"', trace)
                # Numbers the modules that this process has made.
                node.meta["stack_trace"] = re.sub(r"<eval_with_key>\.\d+", "<eval_with_key>.0", trace)
            number_graphs(node.meta.get("from_node", ()), 1)


def write(folder, name, text):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def main():
    programs.quiet()
    programs.load_rooms()
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "pt2"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.*"):
        old.unlink()
    manifest = {}
    for name in CHOSEN:
        exported, extra_files = programs.build(name)
        for one in exported.values():
            without_folders(one)
        path = folder / f"{name}.pt2"
        package_pt2(os.fspath(path), exported_programs=exported, extra_files=extra_files)
        files = records(path)
        assert b"/tests/" not in files["models/model.json"] and b"site-packages" not in files["models/model.json"], name
        write(folder, f"{name}.canonical.json", canonical_model(files))
        manifest[path.name] = f"PyTorch {torch.__version__} torch.export.save"
        if name not in programs.NOT_LOADABLE:
            write(folder, f"{name}.txt", str(load_all(path)["model"]))
        if name in OLD:
            path = folder / f"{name}.old.pt2"
            write_old_layout(exported["model"], path, extra_files={"note.txt": "grüße\n"})
            write(folder, f"{name}.old.canonical.json", canonical(read_old_layout(path)[0], exported["model"].constants))
            logging.disable(logging.WARNING)
            write(folder, f"{name}.old.txt", str(torch.export.load(path)))
            logging.disable(logging.NOTSET)
            manifest[path.name] = f"PyTorch {torch.__version__} torch._export.serde.serialize, in a zip file of the layout of PyTorch 2.7"
    (folder / "MANIFEST").write_text("".join(f"{name}\t{how}\n" for name, how in sorted(manifest.items())))


if __name__ == "__main__":
    main()
