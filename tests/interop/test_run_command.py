"""flambeau run and bench: programs that PyTorch exported give what PyTorch gives, and mistakes get an answer that helps."""

import json
import pathlib
import shutil
import subprocess

import numpy
import pytest
import safetensors.torch
import torch
from torch.export import Dim, export, save
from torch.utils import _pytree

import programs
from conftest import ROOT

programs.load_rooms()
pytestmark = pytest.mark.filterwarnings("ignore")

SOME = [
    "control.buffer_mutation",
    "control.cond",
    "examples.user_input_mutation",
    "shapes.auto",
    "shapes.derived",
    "shapes.static.decomposed",
    "values.containers",
    "values.dataclass",
    "values.integer_keys",
    "values.keywords",
    "values.nested_inputs",
    "values.no_inputs",
    "values.odd_keys",
    "values.outputs",
    "values.plain_inputs",
    "values.special_floats",
    "values.unused_inputs",
    "values.variadic",
    "weights.tied",
    "weights.views",
]


@pytest.fixture(scope="module")
def saved():
    programs.quiet()
    return programs.saved


class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x, scale=2.0):
        y = self.layer(x) * scale
        return {"y": y, "count": x.shape[0], "rounded": y.to(torch.bfloat16)}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A program with a dynamic size, and its file."""
    folder = tmp_path_factory.mktemp("model")
    exported = export(Linear(), (torch.ones(3, 4),), dynamic_shapes={"x": {0: Dim("n", min=2, max=100)}})
    save(exported, folder / "model.pt2")
    exported.example_inputs = None
    save(exported, folder / "bare.pt2")
    return folder


def expected_outputs(path):
    exported = torch.export.load(path)
    args, kwargs = exported.example_inputs
    return _pytree.tree_leaves(exported.module()(*args, **kwargs))


@pytest.mark.parametrize("name", SOME)
def test_example_inputs_give_what_pytorch_gives(name, flambeau, saved, tmp_path):
    path = saved(name)
    out = tmp_path / "out"
    flambeau("run", path, "--output", out)
    index = json.loads((out / "outputs.json").read_text())["outputs"]
    expected = expected_outputs(path)
    assert len(index) == len(expected)
    for entry, value in zip(index, expected):
        if isinstance(value, torch.Tensor):
            assert entry["shape"] == list(value.shape)
            if entry["file"].endswith(".npy"):
                ours = torch.from_numpy(numpy.load(out / entry["file"]))
            else:
                ours = safetensors.torch.load_file(out / entry["file"])["output"]
            torch.testing.assert_close(ours, value.detach(), equal_nan=True)
        else:
            assert "file" not in entry and entry["value"]
    # What it wrote is what it gives again; with our own kernels, and without a plan too.
    assert flambeau.run("run", path, "--check-against", out).returncode == 0
    assert flambeau.run("run", path, "--check-against", out, "--backend", "portable").returncode == 0
    assert flambeau.run("run", path, "--check-against", out, "--no-plan", "-j1").returncode == 0


@pytest.mark.parametrize("ending", ["npy", "pt", "safetensors", "npz"])
def test_inputs_from_files(ending, flambeau, model, tmp_path):
    x = torch.randn(5, 4)
    file = tmp_path / f"x.{ending}"
    if ending == "npy":
        numpy.save(file, x.numpy())
    elif ending == "npz":
        numpy.savez(file, other=numpy.zeros(2), x=x.numpy())
    elif ending == "pt":
        torch.save(x, file)
    else:
        # One byte more of another tensor: the file's tensors need not be aligned.
        safetensors.torch.save_file({"a": torch.zeros(1, dtype=torch.uint8), "x": x}, file)
    expected = Linear()(x)
    torch.save(expected["y"], tmp_path / "y.pt")
    for place in ("x", "args[0]"):
        done = flambeau.json("run", model / "model.pt2", "--input", f"{place}={file}")
        assert done["inputs"][0]["shape"] == [5, 4]
        torch.testing.assert_close(torch.tensor(done["outputs"][0]["values"][:4]), expected["y"].flatten()[:4].detach(), check_dtype=False)
        assert done["outputs"][1]["value"] == "5"


def test_random_inputs_are_those_of_pytorch(flambeau, model, tmp_path):
    torch.manual_seed(17)
    expected = Linear().eval()
    torch.manual_seed(17)
    x = torch.randn(6, 4)
    torch.save({k: v for k, v in expected(x).items() if k != "count"}, tmp_path / "expected.pt")
    for options in (["--size", "{symbol}=6"], ["--input", "x=random:6x4"]):
        symbol = flambeau.json("inspect", model / "model.pt2")["programs"][0]["symbols"][0]["name"]
        options = [each.format(symbol=symbol) for each in options]
        done = flambeau.run("run", model / "bare.pt2", "--seed", "17", *options, "--check-against", tmp_path / "expected.pt")
        assert done.returncode == 0, done.stdout + done.stderr


def test_filled_inputs(flambeau, model):
    for what, value in (("zeros", 0), ("ones", 1), ("0.5", 0.5), ("zeros:7x4", 0)):
        done = flambeau.json("run", model / "model.pt2", "-i", f"x={what}")
        expected = Linear()(torch.full((7 if "7" in what else 3, 4), float(value)))["y"].detach()
        got = done["outputs"][0]
        assert got["shape"] == list(expected.shape)
        torch.testing.assert_close(torch.tensor(got["values"]), expected.flatten()[: len(got["values"])], check_dtype=False)


def test_integers_in_a_range(flambeau, tmp_path):
    class Same(torch.nn.Module):
        def forward(self, ids, flag):
            return ids + 0, ~flag

    save(export(Same(), (torch.zeros(100, dtype=torch.int64), torch.zeros(100, dtype=torch.bool))), tmp_path / "m.pt2")
    done = flambeau.json("run", tmp_path / "m.pt2", "-i", "ids=random:5..9", "-i", "flag=random")
    ids, flag = done["outputs"]
    assert (ids["statistics"]["min"], ids["statistics"]["max"]) == (5, 9)
    assert (flag["statistics"]["min"], flag["statistics"]["max"]) == (0, 1)
    torch.manual_seed(0)
    assert ids["values"] == torch.randint(5, 10, (100,))[:8].tolist()


def test_check_against_finds_differences(flambeau, model, tmp_path):
    file = model / "model.pt2"
    expected = {k: v for k, v in Linear()(torch.ones(3, 4)).items() if k != "count"}
    safetensors.torch.save_file({k: v.detach() for k, v in expected.items()}, tmp_path / "same.safetensors")
    assert flambeau.run("run", file, "--check-against", tmp_path / "same.safetensors").returncode == 0
    other = {k: v.detach().clone() for k, v in expected.items()}
    other["y"][1, 1] += 0.01
    torch.save(other, tmp_path / "other.pt")
    done = flambeau.run("run", file, "--check-against", tmp_path / "other.pt")
    assert done.returncode == 1
    assert "1 of 6 differ" in done.stdout and "2 outputs equal, 1 different" in done.stdout
    quiet = flambeau.run("run", file, "--check-against", tmp_path / "other.pt", "-q")
    assert quiet.returncode == 1 and "output['y']" in quiet.stdout and "rounded" not in quiet.stdout
    check = json.loads(flambeau.run("run", file, "--check-against", tmp_path / "other.pt", "--json").stdout)["check"]
    assert not check["equal"]
    bad = next(each for each in check["outputs"] if not each["equal"])
    assert bad["path"] == "output['y']" and bad["max_abs"] == pytest.approx(0.01, rel=1e-3) and bad["rtol"] == 1.3e-6
    assert flambeau.run("run", file, "--check-against", tmp_path / "other.pt", "--atol", "0.02").returncode == 0
    # Another type or shape is a difference; a file without the tensors is an error.
    torch.save({"y": expected["y"].double(), "rounded": expected["rounded"]}, tmp_path / "type.pt")
    done = flambeau.run("run", file, "--check-against", tmp_path / "type.pt")
    assert done.returncode == 1 and "is float32[3, 2], expected is float64[3, 2]" in done.stdout
    torch.save({"z": expected["y"]}, tmp_path / "none.pt")
    assert "has no tensor for output['y']" in flambeau.error("run", file, "--check-against", tmp_path / "none.pt")


def test_profile(flambeau, saved):
    text = flambeau("run", saved("layers.resnet"), "--profile", "--limit", "5")
    assert "time by node" in text and "time by operator" in text and "aten::" in text
    profile = flambeau.json("run", saved("layers.resnet"), "--profile")["profile"]
    assert profile["nodes"] and sum(each["share"] for each in profile["operators"]) == pytest.approx(1)
    times = [each["ms"] for each in profile["operators"]]
    assert times == sorted(times, reverse=True)


def test_bench(flambeau, model, saved):
    done = flambeau.json("bench", model / "model.pt2", "--runs", "20", "-j1")
    latency = done["latency_ms"]
    assert done["runs"] == 20 and done["threads"] == 1
    assert 0 < latency["min"] <= latency["median"] <= latency["p90"] <= latency["p99"] <= latency["max"]
    assert done["runs_per_second"] > 0 and done["load_ms"] > 0
    assert 0 < done["memory_bytes"]["resident"] <= done["memory_bytes"]["peak"]
    assert done["profile"]["operators"]
    both = flambeau.json("bench", model / "model.pt2", "--compare", saved("shapes.static"), "--seconds", "0.05", "-i", "*=ones")
    assert both["ratio"] > 0 and both["compare"]["runs"] == both["runs"]
    text = flambeau("bench", model / "model.pt2", "--seconds", "0.05", "--profile")
    for word in ("median", "p99", "throughput", "memory:", "time by operator", "time by node"):
        assert word in text


# mistakes


def symbol_of(flambeau, model):
    return flambeau.json("inspect", model / "model.pt2")["programs"][0]["symbols"][0]["name"]


def test_messages(flambeau, model, tmp_path):
    file = model / "model.pt2"
    numpy.save(tmp_path / "double.npy", numpy.zeros((3, 4)))
    numpy.save(tmp_path / "rank.npy", numpy.zeros(3, dtype="f4"))
    (tmp_path / "text.npy").write_text("not an array")
    torch.save({"a": torch.ones(1), "b": torch.ones(1)}, tmp_path / "two.pt")
    s = symbol_of(flambeau, model)
    takes = f"the program takes x: float32[{s}, 4], 2 <= {s} <= 100"
    cases = [
        (["-i", "y=random"], f"flambeau: {file}: there is no input 'y' ({takes})"),
        (["-i", "random"], f"flambeau: {file}: --input random: NAME=FILE, NAME=random, NAME=zeros or NAME=NUMBER is expected ({takes})"),
        (["-i", "x=zeros", "-i", "args[0]=ones"], f"flambeau: {file}: the input 'x' is given twice"),
        (["-i", f"x={tmp_path}/double.npy"], f"flambeau: {tmp_path}/double.npy: the input 'x' takes float32, and the file has float64 (--cast converts it)"),
        (["-i", f"x={tmp_path}/rank.npy"], f"flambeau: {file}: input 'x' (args[0]) has 1 dimensions [3], 2 are expected: [{s}, 4]"),
        (["-i", f"x={tmp_path}/gone.npy"], f"flambeau: {tmp_path}/gone.npy: cannot be opened: No such file or directory (check the path)"),
        (["-i", f"x={tmp_path}/text.npy"], f"flambeau: {tmp_path}/text.npy: is not a file of a known kind"),
        (["-i", f"x={tmp_path}/two.pt"], f"flambeau: {tmp_path}/two.pt: none of its 2 tensors is called 'x': a, b (give a file with one tensor, or with one of the input's name)"),
        (["-i", "x=random:2x"], f"flambeau: {file}: '2x' after 'random' is neither sizes nor a range (write random:8x128 for sizes, random:0..99 for integers from 0 to 99, or both)"),
        (["-i", "x=random:200x4"], f"flambeau: {file}: input 'x' (args[0]): dimension 0 is 200, and must fulfil 2 <= {s} <= 100 (the program was exported for sizes in this range)"),
        (["--size", "q=3"], f"flambeau: {file}: no size of the program is called 'q' (there is {s})"),
        (["--size", s], f"flambeau: {file}: --size {s}: NAME=NUMBER is expected"),
        (["--model", "other"], f"flambeau: {file}: there is no program 'other'; there is 'model'"),
        (["--operators", tmp_path / "gone.so"], f"flambeau: {tmp_path}/gone.so: there is no such file (name a shared library of operators)"),
        (["--operators", tmp_path / "text.npy"], f"flambeau: {tmp_path}/text.npy: cannot be opened as a shared library: "),
        (["--check-against", tmp_path], f"flambeau: {tmp_path}/outputs.json: cannot be opened: No such file or directory (check the path)"),
    ]
    for options, message in cases:
        for command in ("run", "bench"):
            if command == "bench" and options[0] == "--check-against":
                continue
            done = flambeau.run(command, file, *options)
            assert done.returncode == 2, (options, done.stdout)
            assert message in done.stderr, (options, done.stderr)
            assert done.stderr.count("\n") == 1


def test_missing_inputs_are_listed(flambeau, model):
    s = symbol_of(flambeau, model)
    assert flambeau.error("run", model / "bare.pt2") == (
        f"flambeau: {model}/bare.pt2: the file has no example inputs, and an input is not given: 'x' (the program takes x: float32[{s}, 4], "
        f"2 <= {s} <= 100; give --input x=... with a .npy, .pt or .safetensors file, 'random', 'zeros' or a number)\n"
    )


def test_a_file_that_is_no_program(flambeau, tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "weights.pt")
    message = flambeau.error("run", tmp_path / "weights.pt")
    assert message.startswith(f"flambeau: {tmp_path}/weights.pt: ") and "torch.save" in message


@pytest.fixture(scope="module")
def custom(tmp_path_factory):
    """A program with an operator of examples/operators."""
    library = torch.library.Library("examples", "DEF")
    library.define("scaled_add(Tensor x, Tensor y, float factor) -> Tensor")
    library.impl("scaled_add", lambda x, y, factor: x + factor * y, "CompositeExplicitAutograd")

    class Custom(torch.nn.Module):
        def forward(self, x, y):
            return torch.ops.examples.scaled_add(x.relu(), y, 0.5) * 2

    file = tmp_path_factory.mktemp("custom") / "custom.pt2"
    save(export(Custom(), (torch.randn(3, 4), torch.randn(3, 4))), file)
    yield file
    library._destroy()


def test_operators_from_a_module(flambeau, custom, tmp_path):
    message = flambeau.error("run", custom)
    assert "the program uses operators that are not there: torch.ops.examples.scaled_add.default (once, at node 'scaled_add')" in message
    assert "--operators FILE.so" in message
    module = pathlib.Path(flambeau.path).parents[2] / "examples/operators/libexample_operators.so"
    if not module.exists():
        pytest.skip("the examples are not built")
    torch.save(expected_outputs(custom)[0], tmp_path / "expected.pt")
    done = flambeau.run("run", custom, "--operators", module, "--check-against", tmp_path / "expected.pt")
    assert done.returncode == 0, done.stdout + done.stderr
    assert flambeau.run("bench", custom, "--operators", module, "--runs", "3").returncode == 0
    # An error of the module's is an error like any other.
    numpy.save(tmp_path / "y.npy", numpy.zeros((3, 5), dtype="f4"))
    assert "dimension 1 is 5" in flambeau.error("run", custom, "--operators", module, "-i", f"y={tmp_path}/y.npy")


def test_help_teaches(flambeau):
    for command in ("run", "bench"):
        text = flambeau(command, "--help")
        assert "Examples:" in text and f"flambeau {command} model.pt2" in text
    assert "flambeau run model.pt2" in flambeau("--help")


@pytest.mark.parametrize(
    "source, message",
    [
        ("int nothing;", "is a shared library, but no module of operators (begin it with FLAMBEAU_OPERATORS_MODULE of flambeau/operators.h)"),
        (
            "const unsigned flambeau_operators_version[5] = {99}; void flambeau_register_operators(void* library) { __builtin_trap(); }",
            "was compiled for version 99 of the interface",
        ),
    ],
)
def test_modules_that_do_not_fit(source, message, flambeau, custom, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "module.c").write_text(source)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "module.so", tmp_path / "module.c"], check=True)
    assert message in flambeau.error("run", custom, "--operators", tmp_path / "module.so")


def test_golden_classifier(flambeau):
    folder = ROOT / "tests/golden/run"
    assert flambeau.run("run", folder / "classifier.pt2", "--check-against", folder / "classifier.expected.pt").returncode == 0


# Sizes that several inputs share, types of files, files of outputs


class Pair(torch.nn.Module):
    def forward(self, x, y, z):
        return x + y.sum() + z[: x.shape[0]].sum()


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    path = tmp_path_factory.mktemp("pair") / "pair.pt2"
    batch = torch.export.Dim("batch", min=2, max=50)
    shapes = {"x": {0: batch}, "y": {0: batch}, "z": {0: 2 * batch + 1}}
    program = torch.export.export(Pair(), (torch.randn(3, 4), torch.randn(3, 4), torch.randn(7)), dynamic_shapes=shapes)
    torch.export.save(program, path)
    return path


def shapes_of(done):
    return [leaf["shape"] for leaf in done["inputs"]]


def test_made_inputs_follow_the_given_ones(flambeau, pair, tmp_path):
    assert shapes_of(flambeau.json("run", pair)) == [[3, 4], [3, 4], [7]]
    assert shapes_of(flambeau.json("run", pair, "--input", "x=random:5x4")) == [[5, 4], [5, 4], [11]]
    assert shapes_of(flambeau.json("run", pair, "--input", "z=zeros:13")) == [[6, 4], [6, 4], [13]]
    numpy.save(tmp_path / "y.npy", numpy.zeros((8, 4), dtype="f4"))
    assert shapes_of(flambeau.json("run", pair, "--input", f"y={tmp_path}/y.npy", "--input", "x=ones")) == [[8, 4], [8, 4], [17]]
    # What is given twice is not bent: the program says what is wrong.
    assert flambeau.run("run", pair, "-i", "x=random:5x4", "-i", "y=random:6x4").returncode == 2


def test_cast(flambeau, pair, tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.arange(12.0).reshape(3, 4))
    assert "(--cast converts it)" in flambeau.error("run", pair, "-i", f"x={tmp_path}/x.npy")
    done = flambeau.json("run", pair, "-i", f"x={tmp_path}/x.npy", "-i", "y=zeros", "-i", "z=zeros", "--cast")
    assert done["inputs"][0]["dtype"] == "float32" and done["outputs"][0]["values"] == list(range(8))


def test_output_files(flambeau, pair, tmp_path):
    given = ["-i", "x=ones", "-i", "y=zeros", "-i", "z=zeros"]
    flambeau("run", pair, *given, "-o", tmp_path / "y.npy")
    assert numpy.array_equal(numpy.load(tmp_path / "y.npy"), numpy.ones((3, 4), dtype="f4"))
    flambeau("run", pair, *given, "-o", tmp_path / "y.npz")
    assert list(numpy.load(tmp_path / "y.npz")) == ["output"]
    flambeau("run", pair, *given, "-o", tmp_path / "y.pt")
    flambeau("run", pair, *given, "-o", tmp_path / "folder")
    for file in ("y.npy", "y.npz", "y.pt", "folder"):
        assert flambeau.run("run", pair, *given, "--check-against", tmp_path / file).returncode == 0, file
    done = subprocess.run([flambeau.path, "run", pair, *given, "-o", "-"], capture_output=True)
    assert done.returncode == 0 and done.stdout == (tmp_path / "y.npy").read_bytes()
    classifier = pathlib.Path(__file__).resolve().parents[1] / "golden" / "run" / "classifier.pt2"
    assert "an .npy file holds one array, the program gives 2 tensors" in flambeau.error("run", classifier, "-o", tmp_path / "two.npy")
    flambeau("run", classifier, "-o", tmp_path / "two.npz")
    assert set(numpy.load(tmp_path / "two.npz")) == {"logits", "class"}


def test_dimensions_keep_their_names(flambeau, tmp_path):
    path = tmp_path / "bert.pt2"
    flambeau("export", "bert", "--dynamic", "0=batch", "--dynamic", "1=length:2..32", "-o", path)
    symbols = {symbol["label"]: symbol for symbol in flambeau.json("inspect", path)["programs"][0]["symbols"]}
    assert set(symbols) == {"batch", "length"} and symbols["length"]["max"] == 32
    assert f"{symbols['batch']['name']} (batch)" in flambeau("inspect", path)
    assert shapes_of(flambeau.json("run", path, "--size", "batch=3", "--size", "length=5")) == [[3, 5]]
    assert shapes_of(flambeau.json("run", path, "--size", f"{symbols['batch']['name']}=4")) == [[4, 16]]
    text = flambeau.error("run", path, "--size", "bacth=3")
    assert "no size of the program is called 'bacth' (did you mean 'batch'? there is " in text
    # PyTorch keeps them, and so do text, JSON and decompositions.
    program = torch.export.load(path)
    assert program.graph_module.meta["custom"]["dimensions"] == {symbols["batch"]["name"]: "batch", symbols["length"]["name"]: "length"}
    torch.export.save(program, tmp_path / "again.pt2")
    flambeau("convert", "--layout", "zip", path, tmp_path / "zip.pt2")
    flambeau("graph", "--format", "full", path, "-o", tmp_path / "a.txt")
    flambeau("convert", tmp_path / "a.txt", tmp_path / "text.pt2", "--weights", path)
    for other in ("again.pt2", "zip.pt2", "text.pt2"):
        assert shapes_of(flambeau.json("run", tmp_path / other, "--size", "batch=6")) == [[6, 16]], other
