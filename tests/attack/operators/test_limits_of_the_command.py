"""Programs that would run for ever, and commands that end all the same."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cases import TensorCase, parse_schema  # noqa: E402
from program_form import LEAF, describe, make_program, node, spec  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("FLAMBEAU_BIN", str(ROOT / "build/dev/apps/flambeau/flambeau"))

pytestmark = pytest.mark.skipif(not os.access(COMMAND, os.X_OK), reason="the command is not built")


def call(target, result, **arguments):
    return {"target": f"torch.ops.aten.{target}", "metadata": {}, "outputs": [{"as_tensor": {"name": result}}],
            "inputs": [{"name": name, "arg": value, "kind": 1} for name, value in arguments.items()]}


@pytest.fixture
def forever(tmp_path):
    """The sum of 2^50 numbers that lie in one place."""
    one, many = TensorCase("float32", [1], [1], 0, 0), TensorCase("float32", [2**50], [0], 0, 0)
    tensor = lambda name: {"as_tensor": {"name": name}}
    graph = {
        "inputs": [], "outputs": [tensor("total")],
        "nodes": [call("ones.default", "one", size={"as_ints": [1]}),
                  call("expand.default", "many", self=tensor("one"), size={"as_ints": [2**50]}),
                  call("sum.default", "total", self=tensor("many"))],
        "tensor_values": {"one": describe(one), "many": describe(many), "total": describe(TensorCase("float32", [], [], 0, 0))},
        "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {}, "is_single_tensor_return": False,
        "custom_obj_values": {}}
    calls = [{"fqn": "", "signature": {
        "inputs": [], "outputs": [], "forward_arg_names": [], "out_spec": spec("tuple", [LEAF]),
        "in_spec": spec("tuple", [node("tuple", []), node("dict", [], "[]")])}}]
    program = {"graph_module": {"graph": graph, "module_call_graph": calls, "metadata": {}, "treespec_namedtuple_fields": {},
                                "signature": {"input_specs": [], "output_specs": [{"user_output": {"arg": tensor("total")}}]}},
               "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 8},
               "verifiers": [], "torch_version": "2.8.0", "guards_code": []}
    file = tmp_path / "forever.json"
    file.write_text(json.dumps(program))
    return file


@pytest.mark.parametrize("options", [[], ["--no-plan"], ["--threads", "1"]])
@pytest.mark.parametrize("command", ["run", "bench"])
def test_time_limit(forever, command, options):
    started = time.monotonic()
    done = subprocess.run([COMMAND, command, forever, "--time-limit", "1", *options], capture_output=True, text=True)
    assert time.monotonic() - started < 1.5
    assert done.returncode == 2
    assert "takes longer than the 1 s it was given" in done.stderr


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_signals(forever, which):
    process = subprocess.Popen([COMMAND, "run", forever], stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    process.send_signal(which)
    started = time.monotonic()
    _, text = process.communicate(timeout=5)
    assert time.monotonic() - started < 1
    assert process.returncode == 2
    assert "cancelled" in text or "stopped on request" in text


def test_memory_limit(tmp_path):
    schema = parse_schema("aten::zeros(SymInt[] size, *, ScalarType? dtype=None) -> Tensor")
    file = tmp_path / "zeros.json"
    file.write_bytes(make_program(schema, [[100_000_000]], {})[0])
    done = subprocess.run([COMMAND, "run", file, "--memory-limit", "100MB"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "more than the 100000000 bytes of memory it was given" in done.stderr


@pytest.mark.parametrize("arguments", [["inspect"], ["check"], ["list"], ["verify"], ["graph"], ["convert", "OUT"], ["diff", "IN"]])
@pytest.mark.parametrize("how", ["time limit", "signal"])
def test_a_pipe_that_gives_nothing(tmp_path, arguments, how):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keep_open = os.open(pipe, os.O_RDWR)
    others = [str(tmp_path / "out.safetensors") if a == "OUT" else str(pipe) for a in arguments[1:]]
    limit = ["--time-limit", "1"] if how == "time limit" else []
    process = subprocess.Popen([COMMAND, arguments[0], str(pipe), *others, *limit], stderr=subprocess.PIPE, text=True)
    started = time.monotonic()
    if how == "signal":
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
    _, text = process.communicate(timeout=5)
    os.close(keep_open)
    assert time.monotonic() - started < 1.6
    assert process.returncode == 2
    assert "flambeau: " in text
