"""Real model graphs that PyTorch 2.11 exported, with weights made up here: seeded, and of a scale that keeps results finite."""

import functools
import json
import math
import os
import pathlib
import zipfile

import torch
from torch._export.serde import schema, serialize

ROOT = pathlib.Path(__file__).resolve().parents[3]


def archive():
    """The file of the graphs; None where it is not."""
    folder = os.environ.get("FLAMBEAU_FIXTURES", ROOT.parent / "shared/fixtures")
    path = pathlib.Path(folder) / "graphs-torch-2.11.zip"
    return path if path.exists() else None


@functools.cache
def names():
    if archive() is None:
        return []
    with zipfile.ZipFile(archive()) as graphs:
        return [name.removesuffix(".json") for name in graphs.namelist()]


def tensors(program, kind, name_of):
    """Shape and type of every parameter, buffer or constant, by its own name."""
    graph = program["graph_module"]["graph"]
    for spec in program["graph_module"]["signature"]["input_specs"]:
        if kind in spec:
            meta = graph["tensor_values"][spec[kind]["arg"]["name"]]
            yield spec[kind][name_of], [size["as_int"] for size in meta["sizes"]], serialize._SERIALIZE_TO_TORCH_DTYPE[meta["dtype"]]


def weight(name, shape, dtype):
    last = name.rsplit(".")[-1]
    if last in ("position_ids", "token_type_ids"):
        return torch.arange(shape[-1]).expand(shape).clone() if last == "position_ids" else torch.zeros(shape, dtype=dtype)
    if last == "relative_position_index":
        return torch.randint(0, 169, shape)  # rows of a table for windows of 7 x 7
    if last.endswith("inv_freq"):
        return (10000.0 ** -(torch.arange(shape[0]) / shape[0])).to(dtype)
    if not dtype.is_floating_point:
        return torch.zeros(shape, dtype=dtype)
    if last == "running_var":
        return torch.rand(shape, dtype=dtype) + 0.5
    if last == "weight" and len(shape) == 1:
        return torch.rand(shape, dtype=dtype) * 0.4 + 0.8
    if len(shape) < 2:
        return torch.randn(shape, dtype=dtype) * 0.1
    # He's scale: what goes through as many layers as there are neither dies nor explodes.
    return torch.randn(shape, dtype=dtype) * math.sqrt(2 / max(1, math.prod(shape[1:])))


def inputs(program):
    graph = program["graph_module"]["graph"]
    embeddings = [shape[0] for name, shape, _ in tensors(program, "parameter", "parameter_name") if len(shape) == 2]
    made, ids = [], 0
    for spec in program["graph_module"]["signature"]["input_specs"]:
        if "user_input" not in spec:
            continue
        meta = graph["tensor_values"][spec["user_input"]["arg"]["as_tensor"]["name"]]
        shape = [size["as_int"] for size in meta["sizes"]]
        dtype = serialize._SERIALIZE_TO_TORCH_DTYPE[meta["dtype"]]
        if dtype.is_floating_point:
            made.append(torch.randn(shape, dtype=dtype))
        elif ids == 0:  # the first integers are words, those after them a mask
            made.append(torch.randint(3, embeddings[0], shape, dtype=dtype))
            ids += 1
        else:
            mask = torch.ones(shape, dtype=dtype)
            mask[-1, -2:] = 0
            made.append(mask)
    return tuple(made)


def export(name):
    """The program with its weights, and what it is called with."""
    with zipfile.ZipFile(archive()) as graphs:
        data = graphs.read(f"{name}.json")
    program = json.loads(data)
    torch.manual_seed(0)
    state = {key: torch.nn.Parameter(weight(key, *of)) for key, *of in tensors(program, "parameter", "parameter_name")}
    state |= {key: weight(key, *of) for key, *of in tensors(program, "buffer", "buffer_name")}
    constants = {key: weight(key, *of) for key, *of in tensors(program, "tensor_constant", "tensor_constant_name")}
    transient = {
        spec["buffer"]["buffer_name"]
        for spec in program["graph_module"]["signature"]["input_specs"]
        if "buffer" in spec and not spec["buffer"]["persistent"]
    }
    constants |= {key: state.pop(key) for key in transient}
    args = inputs(program)
    parsed = serialize._bytes_to_dataclass(schema.ExportedProgram, data)
    made = serialize.ExportedProgramDeserializer().deserialize(parsed, state, constants, None)
    made._example_inputs = (args, {})
    return made, args
