"""The printed form of every program is PyTorch's own, and the lossless form comes back as the same program."""

import json
import logging
import os
import pathlib
import subprocess
import warnings
import zipfile

import pytest
import torch
from torch._export.serde import schema, serialize

import programs
from conftest import ROOT
from programs import PROGRAMS
from programs_torch import load_all, models, records

programs.load_rooms()
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def saved():
    programs.quiet()
    return programs.saved


@pytest.fixture(scope="session")
def program_text():
    """program_text(path, ...) is what the tool of that name prints of a program's JSON."""
    command = pathlib.Path(os.environ.get("FLAMBEAU_BIN", ROOT / "build/dev/apps/flambeau/flambeau"))
    tool = command.parents[2] / "tests/tools/program_text"

    def run(*arguments):
        done = subprocess.run([tool, *map(str, arguments)], capture_output=True, timeout=120)
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        return done.stdout.decode()

    return run


def loaded(path):
    logging.disable(logging.WARNING)
    try:
        return load_all(path)
    finally:
        logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, saved, program_text, tmp_path):
    files = records(saved(name))
    expected = {} if name in programs.NOT_LOADABLE else loaded(saved(name))
    for model in models(files):
        path = tmp_path / "program.json"
        path.write_bytes(files[f"models/{model}.json"])
        assert program_text("--check", path) == f"{path}: same\n"
        if expected:
            assert program_text(path) == str(expected[model])


def with_weights(program):
    """PyTorch's program of a graph that came without weights."""
    parsed = serialize._bytes_to_dataclass(schema.ExportedProgram, program)
    state_dict, constants = {}, {}

    def tensor(argument):
        meta = parsed.graph_module.graph.tensor_values[argument.name]
        sizes = [size.as_int for size in meta.sizes]
        return torch.empty(sizes, dtype=serialize._SERIALIZE_TO_TORCH_DTYPE[meta.dtype])

    for spec in parsed.graph_module.signature.input_specs:
        if spec.type == "parameter":
            value = torch.nn.Parameter(tensor(spec.parameter.arg), requires_grad=False)
            state_dict[spec.parameter.parameter_name] = value
        elif spec.type == "buffer":
            target = state_dict if spec.buffer.persistent else constants
            target[spec.buffer.buffer_name] = tensor(spec.buffer.arg)
        elif spec.type == "tensor_constant":
            constants[spec.tensor_constant.tensor_constant_name] = tensor(spec.tensor_constant.arg)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return serialize.ExportedProgramDeserializer().deserialize(parsed, state_dict, constants)


def test_graphs_of_real_models(fixtures, program_text, tmp_path):
    archive = fixtures / "graphs-torch-2.11.zip"
    if not archive.exists():
        pytest.skip(f"{archive} is not there")
    with zipfile.ZipFile(archive) as graphs:
        assert len(graphs.namelist()) == 35
        for name in graphs.namelist():
            path = tmp_path / "program.json"
            path.write_bytes(graphs.read(name))
            assert program_text("--check", path) == f"{path}: same\n", name
            assert program_text(path) == str(with_weights(graphs.read(name))), name


def test_a_change_in_the_text_is_a_change_in_the_program(saved, program_text, tmp_path):
    path = tmp_path / "program.json"
    path.write_bytes(records(saved("control.cond"))["models/model.json"])
    text = tmp_path / "program.txt"
    text.write_text(program_text("--lossless", path).replace("(sin, 1)", "(sin, 7)"))
    changed = json.loads(program_text("--json", text))
    before = json.loads(path.read_bytes())

    def added(program):
        cond = next(node for node in program["graph_module"]["graph"]["nodes"] if "cond" in node["target"])
        return cond["inputs"][1]["arg"]["as_graph"]["graph"]["nodes"][1]["inputs"][1]["arg"]

    assert added(before) == {"as_int": 1}
    assert added(changed) == {"as_int": 7}
    added(changed)["as_int"] = 1
    assert changed == before
