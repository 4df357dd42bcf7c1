"""What the command says about exported programs: findings, differences, graphs, the canonical form of renamed programs."""

import json
import re

import pytest
import torch

import programs
from programs_torch import canonical, check_same, records

programs.load_rooms()
pytestmark = pytest.mark.filterwarnings("ignore")

SOME = [
    "control.cond_outputs",
    "control.custom_mutable.functional",
    "control.effects.decomposed",
    "layers.decoder",
    "layers.lstm.decomposed",
    "shapes.several",
    "values.nested_inputs",
    "values.outputs",
    "weights.views",
]


@pytest.fixture(scope="module")
def saved():
    programs.quiet()
    return programs.saved


def program_of(path):
    return records(path)["models/model.json"]


@pytest.mark.parametrize("name", SOME)
def test_inspect_and_graph(name, flambeau, saved):
    path = saved(name)
    assert flambeau.json("inspect", path)
    graph = json.loads(program_of(path))["graph_module"]["graph"]
    text = flambeau("graph", path, "--format", "text")
    for node in graph["nodes"]:
        target = node["target"].removeprefix("torch.ops.").removeprefix("_operator.")
        assert target in text, node["target"]
    assert json.loads(flambeau("graph", path, "--format", "json"))
    dot = flambeau("graph", path, "--format", "dot")
    assert dot.startswith("digraph") and dot.count("{") == dot.count("}")


def test_diff(flambeau, saved):
    same, other = saved("shapes.static"), saved("shapes.bounds")
    assert flambeau.run("diff", same, same).returncode == 0
    for options in ((), ("--json",)):
        done = flambeau.run("diff", same, other, *options)
        assert done.returncode == 1 and done.stdout, done.stderr
    json.loads(done.stdout)


def test_diff_of_weights(flambeau, saved, tmp_path):
    """The same graph with other weights is another program."""
    for seed in (1, 2):
        torch.manual_seed(seed)
        torch.export.save(programs.PROGRAMS["shapes.static"]().run(), tmp_path / f"{seed}.pt2")
    assert flambeau.run("diff", tmp_path / "1.pt2", tmp_path / "1.pt2").returncode == 0
    assert flambeau.run("diff", tmp_path / "1.pt2", tmp_path / "2.pt2").returncode == 1


@pytest.mark.parametrize("name", SOME)
def test_canonical_form_goes_to_standard_output(name, flambeau, saved, tmp_path):
    flambeau("canonicalize", saved(name), "-o", tmp_path / "out.json")
    assert flambeau("canonicalize", saved(name)).encode() == (tmp_path / "out.json").read_bytes()


@pytest.mark.parametrize("name", [*SOME, "control.buffer_mutation", "control.cond", "layers.resnet.decomposed", "shapes.derived"])
def test_simplified_programs_compute_the_same(name, flambeau, saved, tmp_path):
    out = tmp_path / "out.pt2"
    flambeau("convert", "--simplify", saved(name), out)
    flambeau("verify", out)
    results = []
    for path in (saved(name), out):
        program = torch.export.load(path)
        args, kwargs = programs.inputs(program)
        torch.manual_seed(1)
        results.append(torch.utils._pytree.tree_leaves(program.module()(*args, **kwargs)))
    torch.testing.assert_close(results[0], results[1], rtol=0, atol=0, equal_nan=True)


def test_simplified_programs_are_smaller(flambeau, tmp_path):
    class Twice(torch.nn.Module):
        def forward(self, x):
            return torch.sin(x) + torch.sin(x) + torch.arange(4) * 2

    torch.export.save(torch.export.export(Twice(), (torch.ones(4),)), tmp_path / "in.pt2")
    flambeau("convert", "--simplify", tmp_path / "in.pt2", tmp_path / "out.pt2")
    targets = [str(node.target) for node in torch.export.load(tmp_path / "out.pt2").graph.nodes if node.op == "call_function"]
    assert targets == ["aten.sin.default", "aten.add.Tensor", "aten.add.Tensor"]
    torch.testing.assert_close(torch.export.load(tmp_path / "out.pt2").module()(torch.ones(4)), Twice()(torch.ones(4)))


@pytest.mark.parametrize("name", ["shapes.static", "layers.decoder", "layers.resnet.decomposed", "weights.tied"])
def test_names_do_not_matter(name, flambeau, saved, tmp_path):
    """A program whose values have other names has the same canonical form; those of the nodes are kept."""
    program = program_of(saved(name)).decode()
    values = json.loads(program)["graph_module"]["graph"]["tensor_values"]
    renamed = program
    for number, value in enumerate(values):
        renamed = re.sub(rf'{{"name": "{re.escape(value)}"}}', f'{{"name": "other_{number}"}}', renamed)
        renamed = re.sub(rf'"{re.escape(value)}": {{"dtype"', f'"other_{number}": {{"dtype"', renamed)
    assert renamed != program
    forms = []
    for number, text in enumerate((program, renamed)):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        forms.append(flambeau("canonicalize", path).encode())
        assert forms[-1] == canonical(text.encode())
    assert forms[0] == forms[1]


def undefined_operand(graph, program):
    graph["nodes"][1]["inputs"][0]["arg"]["as_tensor"]["name"] = "nowhere"


def defined_twice(graph, program):
    graph["nodes"].insert(1, graph["nodes"][0])


def used_before_it_is_defined(graph, program):
    graph["nodes"].reverse()


def undefined_output(graph, program):
    graph["outputs"][0]["as_tensor"]["name"] = "nowhere"


def input_without_specification(graph, program):
    program["graph_module"]["signature"]["input_specs"].pop()


@pytest.mark.parametrize(
    "damage", [undefined_operand, defined_twice, used_before_it_is_defined, undefined_output, input_without_specification], ids=lambda f: f.__name__
)
def test_verify_finds(damage, flambeau, saved, tmp_path):
    program = json.loads(program_of(saved("shapes.static")))
    damage(program["graph_module"]["graph"], program)
    (tmp_path / "bad.json").write_text(json.dumps(program))
    done = flambeau.run("verify", tmp_path / "bad.json", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert json.loads(done.stdout)["findings"]
    plain = flambeau.run("verify", tmp_path / "bad.json")
    assert plain.returncode == 1 and (plain.stdout + plain.stderr).strip()


@pytest.mark.parametrize("name", ["shapes.static", "shapes.several", "layers.resnet", "control.cond", "weights.views"])
def test_older_schema(name, flambeau, saved, tmp_path):
    """For readers that do not know the newest fields."""
    flambeau("convert", saved(name), tmp_path / "old.pt2", "--schema", "8.17")
    program = json.loads(program_of(tmp_path / "old.pt2"))
    assert program["schema_version"] == {"major": 8, "minor": 17}
    check_same(torch.export.load(tmp_path / "old.pt2"), torch.export.load(saved(name)))


def test_a_program_is_edited_as_text(flambeau, saved, tmp_path):
    source, text = saved("weights.tied"), tmp_path / "program.txt"
    flambeau("graph", source, "--format", "full", "-o", text)
    flambeau("convert", text, tmp_path / "same.pt2", "--weights", source)
    assert flambeau.run("diff", source, tmp_path / "same.pt2").returncode == 0
    assert program_of(tmp_path / "same.pt2") == program_of(source)
    edited = text.read_text().replace("torch.ops.aten.linear.default", "torch.ops.aten.matmul.default", 1)
    text.write_text(edited)
    assert flambeau.run("verify", text).returncode == 1
