"""What PyTorch refuses to load, Flambeau's verifier refuses too; what PyTorch exports, it accepts."""

import copy
import functools
import io
import json
import pathlib
import pickle
import subprocess
import zipfile

import pytest
import torch
from torch._export.serde import schema, serialize

import cache
import programs
from programs import PROGRAMS
from programs_torch import models, records

programs.load_rooms()
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="session")
def verify(flambeau, tmp_path_factory):
    """verify(text, *options) gives what is wrong with programs in JSON: a list of lines for one text, or a dictionary."""
    tool = pathlib.Path(flambeau.path).parents[2] / "tests/tools/verify_program"
    folder = tmp_path_factory.mktemp("verify")

    def run(texts, *options):
        several = texts if isinstance(texts, dict) else {"program": texts}
        for name, text in several.items():
            (folder / name).write_bytes(text)
        paths = {str(folder / name): name for name in several}
        done = subprocess.run([tool, *options, *paths], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found = {name: [] for name in several}
        for line in done.stdout.splitlines():
            path, finding = line.split("\t", 1)
            found[paths[path]].append(finding)
        return found if isinstance(texts, dict) else found["program"]

    return run


@pytest.fixture(scope="module")
def custom_schemas(tmp_path_factory):
    """The schemas of the operators that the programs define themselves."""
    path = tmp_path_factory.mktemp("schemas") / "schemas.txt"
    lines = {str(s) for s in torch._C._jit_get_all_schemas() if s.name.startswith("flambeau_tests::")}
    assert lines
    path.write_text("\n".join(sorted(lines)) + "\n")
    return path


@pytest.fixture(scope="module")
def saved_programs():
    """The JSON of every program PyTorch exported."""
    programs.quiet()
    texts = {}
    for name in PROGRAMS:
        files = records(programs.saved(name))
        for model in models(files):
            texts[f"{name}.{model}"] = files[f"models/{model}.json"]
    return texts


def test_accepts_what_torch_exports(verify, saved_programs):
    found = verify(saved_programs)
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert len(found) >= 300


def test_accepts_it_with_its_weights(verify):
    programs.quiet()
    found = verify({name: programs.saved(name).read_bytes() for name in PROGRAMS})
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "state, rule",
    [
        (lambda state: {}, "missing-weight"),
        (lambda state: {name: tensor.to(torch.float16) for name, tensor in state.items()}, "weight-dtype"),
        (lambda state: {name: torch.nn.Parameter(tensor[:1]) for name, tensor in state.items()}, "weight-shape"),
        (lambda state: {name: torch.nn.Parameter(tensor.T.contiguous().T) for name, tensor in state.items()}, "weight-strides"),
        (lambda state: {name: tensor.detach() for name, tensor in state.items()}, "not-a-parameter"),
    ],
)
def test_refuses_other_weights(state, rule, verify):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(4, 3))

        def forward(self, x):
            return x @ self.weight

    exported = torch.export.export(Model(), (torch.randn(2, 4),))
    artifact = serialize.serialize(exported)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("serialized_exported_program.json", artifact.exported_program)
        saved = io.BytesIO()
        torch.save(state(exported.state_dict), saved)
        parts.writestr("serialized_state_dict.pt", saved.getvalue())
        parts.writestr("serialized_constants.pt", artifact.constants)
        parts.writestr("serialized_example_inputs.pt", artifact.example_inputs)
        parts.writestr("version", "8.20")
    lines = verify(archive.getvalue())
    assert [line for line in lines if f"[{rule}]" in line], lines


def test_accepts_it_with_the_schemas_of_its_own_operators(verify, saved_programs, custom_schemas):
    found = verify(saved_programs, "--schemas", custom_schemas)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_accepts_the_canonical_form(verify, saved_programs):
    texts = {}
    for name, text in saved_programs.items():
        if "module_calls" in name:  # the canonical form renames values everywhere but in the calls of modules
            continue
        parsed = serialize._bytes_to_dataclass(schema.ExportedProgram, text)
        try:
            texts[name] = serialize._to_json_bytes(serialize.canonicalize(parsed))
        except AssertionError:  # its objects are in the archive, not in the program
            continue
    found = verify(texts)
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert len(found) >= 250


def test_accepts_core_programs_as_such(verify):
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.gelu(x @ x.T).softmax(-1)

    exported = torch.export.export(Model(), (torch.randn(3, 3),)).run_decompositions()
    text = serialize.serialize(exported).exported_program
    assert verify(text, "--dialect", "core-aten") == []
    training = serialize.serialize(torch.export.export(Model(), (torch.randn(3, 3),))).exported_program
    assert any("[not-core]" in line for line in verify(training, "--dialect", "core-aten"))


# ---- damage

# A dozen programs that have something of everything.
HOSTS = [
    "control.asserts.decomposed",
    "control.buffer_mutation.decomposed",
    "control.cond.decomposed",
    "control.custom_arguments.decomposed",
    "control.effects.decomposed",
    "control.while_loop.decomposed",
    "examples.user_input_mutation.decomposed",
    "layers.rnn.decomposed",
    "shapes.derived.decomposed",
    "shapes.unbacked_scalar",
    "values.nested_inputs.decomposed",
    "values.outputs",
    "weights.some_types",
]
HOSTS = [name for name in HOSTS if name in PROGRAMS]


def graph(program):
    return program["graph_module"]["graph"]


def signature(program):
    return program["graph_module"]["signature"]


def graphs(program):
    """The graph of a program and those inside it."""
    found = [graph(program)]
    for one in found:
        for node in one["nodes"]:
            found += [i["arg"]["as_graph"]["graph"] for i in node["inputs"] if "as_graph" in i["arg"]]
    return found


def nodes(program):
    return [node for one in graphs(program) for node in one["nodes"]]


def given(node):
    """Names of the values a node gives."""
    names = []
    for output in node["outputs"]:
        (kind, value), = output.items()
        if kind == "as_tensor":
            names.append(value["name"])
        elif kind == "as_tensors":
            names += [tensor["name"] for tensor in value]
        elif kind.startswith("as_sym_"):
            names.append(value["as_name"])
    return names


def operators(program, dialect="torch.ops.aten."):
    return [node for node in nodes(program) if node["target"].startswith(dialect)]


def first(items, wanted=lambda item: True):
    """The first that fits; a program without one is no host for that damage."""
    for item in items:
        if wanted(item):
            return item
    pytest.skip("this program has nothing to damage in that way")


def tensor_argument(node):
    return first((i for i in node["inputs"]), lambda i: "as_tensor" in i["arg"])


def takes_tensor(node):
    return any("as_tensor" in i["arg"] for i in node["inputs"])


DAMAGES = {}


def damage(*rules):
    """Registers a function that damages a program's JSON, and the rules one of which must find it."""

    def register(function):
        DAMAGES[function.__name__] = (function, rules)
        return function

    return register


@damage("undefined-value")
def use_an_unknown_name(program):
    tensor_argument(first(nodes(program), takes_tensor))["arg"]["as_tensor"]["name"] = "nobody"


@damage("undefined-value")
def give_out_an_unknown_name(program):
    first(graph(program)["outputs"], lambda o: "as_tensor" in o)["as_tensor"]["name"] = "nobody"


@damage("undefined-value", "use-before-definition", "signature-name")
def drop_a_node(program):
    used = json.dumps([[i["arg"] for i in node["inputs"]] for node in graph(program)["nodes"]])
    node = first(graph(program)["nodes"], lambda n: given(n) and f'"{given(n)[0]}"' in used)
    graph(program)["nodes"].remove(node)


@damage("use-before-definition")
def reverse_the_nodes(program):
    names = {name for node in graph(program)["nodes"] for name in given(node)}
    first(graph(program)["nodes"], lambda n: any(f'"{name}"' in json.dumps(n["inputs"]) for name in names))
    graph(program)["nodes"].reverse()


@damage("duplicate-value")
def repeat_a_node(program):
    node = first(graph(program)["nodes"], given)
    graph(program)["nodes"].append(copy.deepcopy(node))


@damage("duplicate-value")
def give_the_name_of_an_input(program):
    name = first(graph(program)["inputs"], lambda i: "as_tensor" in i)["as_tensor"]["name"]
    node = first(graph(program)["nodes"], lambda n: len(n["outputs"]) == 1 and "as_tensor" in n["outputs"][0])
    node["outputs"][0]["as_tensor"]["name"] = name
    node["name"] = name


@damage("duplicate-value")
def repeat_an_input(program):
    graph(program)["inputs"].append(first(graph(program)["inputs"], lambda i: "as_tensor" in i))


@damage("undescribed-value")
def drop_a_description(program):
    name = given(first(graph(program)["nodes"], lambda n: any("as_tensor" in o for o in n["outputs"])))[0]
    del graph(program)["tensor_values"][name]


@damage("undescribed-value")
def drop_the_description_of_an_input(program):
    name = first(graph(program)["inputs"], lambda i: "as_tensor" in i)["as_tensor"]["name"]
    del graph(program)["tensor_values"][name]


@damage("kind-mismatch", "undescribed-value")
def describe_a_tensor_as_a_symbol(program):
    name = given(first(graph(program)["nodes"], lambda n: any("as_tensor" in o for o in n["outputs"])))[0]
    del graph(program)["tensor_values"][name]
    graph(program)["sym_int_values"][name] = {"as_int": 3}


@damage("unknown-operator")
def misspell_an_operator(program):
    node = first(operators(program))
    space, overload = node["target"].rsplit(".", 1)
    node["target"] = f"{space}zz.{overload}"


@damage("unknown-overload")
def misspell_an_overload(program):
    node = first(operators(program))
    node["target"] = node["target"].rsplit(".", 1)[0] + ".nope"


@damage("malformed-target")
def drop_the_overload(program):
    node = first(operators(program))
    node["target"] = node["target"].rsplit(".", 1)[0]


@damage("unknown-function")
def call_a_function_of_python(program):
    first(operators(program))["target"] = "os.system"


@damage("unknown-function")
def call_a_function_of_math(program):
    first(nodes(program), lambda n: n["target"].startswith("_operator."))["target"] = "math.sin"


@damage("unknown-higher-order-operator")
def misspell_a_higher_order_operator(program):
    first(operators(program, "torch.ops.higher_order."))["target"] += "z"


@damage("not-functional")
def call_an_operator_that_writes(program):
    if program["verifiers"] == ["TRAINING"]:
        pytest.skip("allowed there")
    node = first(operators(program), lambda n: n["target"] in ("torch.ops.aten.add.Tensor", "torch.ops.aten.mul.Tensor"))
    node["target"] = node["target"].replace(".Tensor", "_.Tensor")


@damage("missing-argument")
def drop_a_required_argument(program):
    # PyTorch takes the arguments of item() as they come.
    node = first(operators(program), lambda n: takes_tensor(n) and ".item." not in n["target"])
    del node["inputs"][0]


@damage("unknown-kind")
def use_a_kind_of_the_future(program):
    first(operators(program), lambda n: n["inputs"])["inputs"][0]["arg"] = {"as_weather": "rain"}


@damage("error: ")
def fill_a_union_twice(program):
    first(operators(program), takes_tensor)["inputs"][0]["arg"]["as_int"] = 3


@damage("negative-size")
def make_a_size_negative(program):
    meta = first(graph(program)["tensor_values"].values(), lambda m: m["sizes"] and "as_int" in m["sizes"][0])
    meta["sizes"][0]["as_int"] = -3


@damage("tensor-rank")
def drop_a_stride(program):
    first(graph(program)["tensor_values"].values(), lambda m: m["strides"])["strides"].pop()


@damage("requires-grad")
def ask_for_a_gradient_of_integers(program):
    meta = first(graph(program)["tensor_values"].values(), lambda m: m["layout"] == 7)
    meta["dtype"], meta["requires_grad"] = 5, True


@damage("tensor-too-large")
def make_a_tensor_too_large(program):
    meta = first(graph(program)["tensor_values"].values(), lambda m: len(m["sizes"]) == 2)
    meta["sizes"] = meta["strides"] = [{"as_int": 2**40}, {"as_int": 2**40}]


@damage("error: ")
def use_an_unknown_type(program):
    first(graph(program)["tensor_values"].values())["dtype"] = 99


@damage("device")
def use_a_device_without_a_name(program):
    first(graph(program)["tensor_values"].values())["device"] = {"type": "", "index": None}


def expression(program):
    for meta in graph(program)["tensor_values"].values():
        for size in meta["sizes"]:
            if "as_expr" in size:
                return size["as_expr"]
    pytest.skip("no symbols")


@damage("bad-expression")
def break_an_expression(program):
    expression(program)["expr_str"] = "Add(Symbol('s0', "


@damage("bad-expression")
def leave_out_an_operator(program):
    expression(program)["expr_str"] = "s0 s1"


@damage("expression-hint")
def give_a_hint_of_another_type(program):
    expression(program)["hint"] = {"as_float": 1.5}


@damage("unbound-symbol")
def name_a_size_nobody_knows(program):
    expression(program)["expr_str"] = "Add(Symbol('u77', integer=True), Integer(1))"


@damage("graph-input-kind", "signature-name")
def take_a_symbolic_truth(program):
    graph(program)["inputs"][0] = {"as_sym_bool": {"as_bool": True}}


@damage("graph-output-kind", "signature-name")
def give_out_a_list(program):
    graph(program)["outputs"][0] = {"as_ints": [1, 2]}


@damage("single-return")
def give_one_value_out_of_many(program):
    if len(graph(program)["outputs"]) < 2:
        pytest.skip("one output")
    graph(program)["is_single_tensor_return"] = True


@damage("signature-inputs")
def drop_an_input_of_the_signature(program):
    signature(program)["input_specs"].pop()


@damage("signature-outputs")
def drop_an_output_of_the_signature(program):
    signature(program)["output_specs"].pop()


@damage("signature-name")
def exchange_inputs_of_the_signature(program):
    specs = signature(program)["input_specs"]
    tensors = [i for i, spec in enumerate(specs) if "constant_input" not in spec and "token" not in spec]
    if len(tensors) < 2:
        pytest.skip("one input")
    a, b = tensors[:2]
    specs[a], specs[b] = specs[b], specs[a]


@damage("signature-name")
def exchange_outputs_of_the_signature(program):
    specs = signature(program)["output_specs"]
    users = [i for i, spec in enumerate(specs) if "user_output" in spec]
    if len(users) < 2 or specs[users[0]] == specs[users[1]]:
        pytest.skip("one output")
    specs[users[0]], specs[users[1]] = specs[users[1]], specs[users[0]]


@damage("constant-output")
def give_out_another_constant(program):
    output = first(graph(program)["outputs"], lambda o: "as_int" in o or "as_bool" in o)
    (kind, value), = output.items()
    output[kind] = not value if kind == "as_bool" else value + 1


@damage("mutation-target")
def mutate_an_unknown_buffer(program):
    spec = first(signature(program)["output_specs"], lambda s: "buffer_mutation" in s)
    spec["buffer_mutation"]["buffer_name"] = "nobody"


@damage("mutation-target")
def mutate_an_unknown_input(program):
    spec = first(signature(program)["output_specs"], lambda s: "user_input_mutation" in s)
    spec["user_input_mutation"]["user_input_name"] = "nobody"


@damage("output-order")
def put_mutations_last(program):
    specs, outputs = signature(program)["output_specs"], graph(program)["outputs"]
    if "user_output" in specs[0] or "user_output" not in specs[-1] or "token" in specs[0]:
        pytest.skip("no mutation before an output")
    specs.append(specs.pop(0))
    outputs.append(outputs.pop(0))


@damage("unknown-kind")
def use_an_input_of_the_future(program):
    signature(program)["input_specs"][0] = {"weather": {"arg": 1}}


@damage("module-call-tree")
def break_a_tree(program):
    program["graph_module"]["module_call_graph"][0]["signature"]["in_spec"] = "[1, {"


@damage("module-call-name")
def name_an_unknown_value_of_a_module(program):
    entry = program["graph_module"]["module_call_graph"][0]
    entry["signature"]["inputs"] = [{"as_tensor": {"name": "nobody"}}]


@damage("node-metadata")
def break_a_module_stack(program):
    first(graph(program)["nodes"])["metadata"]["nn_module_stack"] = "a,b"


@damage("node-metadata")
def break_custom_metadata(program):
    first(graph(program)["nodes"])["metadata"]["custom"] = "{"


@damage("node-metadata")
def break_the_origin_of_a_node(program):
    first(graph(program)["nodes"])["metadata"]["from_node"] = "{]"


@damage("range-constraint")
def turn_a_range_around(program):
    range_ = first(program["range_constraints"].values())
    range_["min_val"], range_["max_val"] = 5, 4


@damage("unknown-verifier")
def name_an_unknown_verifier(program):
    program["verifiers"] = ["WEATHER"]


@damage("schema-version", "error: ")
def come_from_the_future(program):
    program["schema_version"]["major"] = 99


@pytest.fixture(scope="module")
def artifacts():
    """artifacts(name) is what PyTorch serializes of a program: its JSON and its weights."""
    programs.quiet()

    @functools.cache
    def get(name):
        def make(folder):
            (exported,) = programs.build(name)[0].values()
            (folder / "artifact").write_bytes(pickle.dumps(serialize.serialize(exported)))

        folder = cache.entry("artifacts", (pathlib.Path(__file__), *programs.sources()), (name,), make)
        return pickle.loads((folder / "artifact").read_bytes())

    return get


def torch_refuses(artifact, text):
    """Why PyTorch does not load a program, or does not bring it into its canonical form."""
    changed = serialize.SerializedArtifact(text, artifact.state_dict, artifact.constants, artifact.example_inputs)
    try:
        serialize.deserialize(changed)
        parsed = serialize._bytes_to_dataclass(schema.ExportedProgram, text)
        constants = serialize.deserialize_torch_artifact(artifact.constants)
        serialize.canonicalize(parsed, set(constants))
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("name", HOSTS)
def test_torch_and_flambeau_accept_the_hosts(name, artifacts, verify):
    text = artifacts(name).exported_program
    assert torch_refuses(artifacts(name), text) is None
    assert verify(text) == []


@pytest.mark.parametrize("kind", DAMAGES)
def test_refuses_what_torch_refuses(kind, artifacts, verify):
    function, rules = DAMAGES[kind]
    texts, refused = {}, {}
    for name in HOSTS:
        if len(texts) == 3:
            break
        program = json.loads(artifacts(name).exported_program)
        try:
            function(program)
        except pytest.skip.Exception:
            continue
        texts[name] = json.dumps(program).encode()
        refused[name] = torch_refuses(artifacts(name), texts[name])
    assert texts, "no program can be damaged in that way"
    assert all(refused.values()), f"PyTorch accepts it: {[name for name, why in refused.items() if not why]}"
    for name, lines in verify(texts).items():
        words = [rule if rule.startswith("error") else f"[{rule}]" for rule in rules]
        assert any(word in line for word in words for line in lines), f"{name}: {lines}"
