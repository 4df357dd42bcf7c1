"""Two exported programs side by side, in PyTorch's own canonical form."""

import dataclasses
import json
import zipfile

from torch._export.serde import schema, serialize


def read(path):
    """The program of a .pt2 as PyTorch's schema has it, canonical; its constants by name."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        text = archive.read(next(name for name in names if name.endswith("models/model.json")))
    program = serialize._dict_to_dataclass(schema.ExportedProgram, json.loads(text, parse_constant=float))
    constants = {
        spec.tensor_constant.tensor_constant_name
        for spec in program.graph_module.signature.input_specs
        if spec.type == "tensor_constant"
    }
    return serialize.canonicalize(program, constants)


def plain(value):
    """Nested lists and dicts of a dataclass; unions as {their kind: value}."""
    if dataclasses.is_dataclass(value):
        kind = getattr(value, "type", None) if isinstance(value, serialize._Union) else None
        if kind is not None:
            return {kind: plain(value.value)}
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def differences(ours, theirs, path="program", found=None, most=20):
    """Paths at which two plain values differ, with both sides."""
    found = [] if found is None else found
    if len(found) >= most:
        return found
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*theirs, *(key for key in ours if key not in theirs)]:
            if key not in ours or key not in theirs:
                found.append(f"{path}[{key!r}]: only {'PyTorch' if key in theirs else 'Flambeau'} has it")
            else:
                differences(ours[key], theirs[key], f"{path}[{key!r}]", found, most)
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            found.append(f"{path}: {len(ours)} items, PyTorch has {len(theirs)}")
        for position, (left, right) in enumerate(zip(ours, theirs)):
            differences(left, right, f"{path}[{position}]", found, most)
    elif ours != theirs:
        found.append(f"{path}: {ours!r}, PyTorch has {theirs!r}")
    return found


def drop_node_names(graph):
    """In the graphs inside it too."""
    for node in graph["nodes"]:
        node.pop("name", None)
        for given in node["inputs"]:
            if "as_graph" in given["arg"]:
                drop_node_names(given["arg"]["as_graph"]["graph"])


def compare(ours, theirs, ignored=("torch_version",)):
    """What is different between the programs of two files; an empty list when they are equal."""
    sides = []
    for path in (ours, theirs):
        program = plain(read(path))
        for field in ignored:
            program.pop(field, None)
        drop_node_names(program["graph_module"]["graph"])
        sides.append(program)
    targets = [[node["target"] for node in side["graph_module"]["graph"]["nodes"]] for side in sides]
    if targets[0] != targets[1]:
        return [f"operators: {targets[0]}\n  PyTorch: {targets[1]}"]
    return differences(*sides)
