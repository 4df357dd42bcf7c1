"""Exported programs as files from Python: load_package and what it gives."""

import json
import subprocess
import sys

import flambeau
import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x, scale=None):
        y = torch.nn.functional.silu(self.linear(x))
        return {"y": y * scale["by"], "again": self.linear(x)}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("package") / "net.pt2"
    inputs = (torch.randn(2, 4),), {"scale": {"by": torch.tensor(2.0)}}
    net = Net().eval()
    program = torch.export.export(net, *inputs)
    torch.export.save(program, path, extra_files={"note.txt": "hello"})
    return path, program, net, inputs


def test_package(exported, tmp_path):
    path, program, _, _ = exported
    package = flambeau.load_package(path)
    assert list(package) == ["model"] and len(package) == 1 and package.layout == "archive"
    assert package.extra_files == {"note.txt": b"hello"} and package.notes == []
    package.save(tmp_path / "same.pt2")
    assert (tmp_path / "same.pt2").read_bytes() == path.read_bytes() and torch.export.load(tmp_path / "same.pt2")
    assert flambeau.load_package(path.read_bytes()).program().graph == package["model"].graph
    for wrong in ("other", None, 3, []):
        with pytest.raises(KeyError):
            package[wrong]


def test_what_a_program_says(exported):
    path, program, _, _ = exported
    found = flambeau.load_package(path).program()
    assert found.graph.strip() == str(torch.export.load(path)).strip()
    assert found.text.startswith("#| flambeau text ") and "graph_module" in found.json and "digraph" in found.dot
    assert found.name == "model" and found.nodes == sum(node.op == "call_function" for node in program.graph.nodes)
    assert [leaf.path for leaf in found.inputs] == ["args[0]", "kwargs['scale']['by']"]
    assert [leaf.path for leaf in found.outputs] == ["output['y']", "output['again']"]
    assert found.torch_version == torch.__version__ and found.schema_version.startswith("8.")
    assert found.verify() == [] and found.verify("core") != []
    assert "ExportedProgram 'model'" in repr(found)
    weight = found.state_dict["linear.weight"]
    assert torch.equal(torch.from_dlpack(weight), program.state_dict["linear.weight"])


def test_example_inputs_run(exported):
    path, _, net, inputs = exported
    program = flambeau.load_package(path).program()
    args, kwargs = program.example_inputs
    assert torch.equal(torch.from_dlpack(args[0]), inputs[0][0]) and kwargs["scale"]["by"].item() == 2.0
    expected = net(*inputs[0], **inputs[1])
    for model in (program.load(), flambeau.load(program), flambeau.load(flambeau.load_package(path), threads=1)):
        found = model(*args, **kwargs)
        np.testing.assert_allclose(found["y"].numpy(), expected["y"].detach().numpy(), rtol=1e-5, atol=1e-6)


def test_changed_programs_open_in_pytorch(exported, tmp_path):
    path, _, net, inputs = exported
    program = flambeau.load_package(path).program()
    expected = net(*inputs[0], **inputs[1])
    simple = program.simplify()
    assert simple.nodes < program.nodes and "linear_1" in program.graph and "linear_1" not in simple.graph
    core = program.run_decompositions()
    assert core.verify("core") == [] and "aten.linear" not in core.graph and "aten.addmm" in core.graph
    assert "aten.linear" in program.run_decompositions(keep=["aten::linear"]).graph
    for name, changed in (("simple", simple), ("core", core), ("both", core.simplify())):
        for layout in ("", "zip"):
            changed.save(tmp_path / f"{name}.pt2", layout=layout)
            if layout == "":
                found = torch.export.load(tmp_path / f"{name}.pt2").module()(*inputs[0], **inputs[1])
                torch.testing.assert_close(found["y"], expected["y"])
            assert flambeau.load_package(tmp_path / f"{name}.pt2").layout == (layout or "archive")
    program.save(tmp_path / "a.json")
    assert "graph_module" in json.loads((tmp_path / "a.json").read_text())
    assert flambeau.load_package(tmp_path / "a.json").program().example_inputs is None


def test_errors_and_misuse(exported, tmp_path):
    path, _, _, _ = exported
    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    program = flambeau.load_package(path).program()
    for call, said in (
        (lambda: flambeau.load_package(tmp_path / "a.pt"), "is no exported program"),
        (lambda: flambeau.load_package(tmp_path / "missing.pt2"), "cannot be opened"),
        (lambda: flambeau.load_package(b"abc"), "is no exported program"),
        (lambda: program.save(tmp_path / "b.pt2", layout="tar"), "'tar' is no layout"),
        (lambda: program.verify("cor"), "did you mean 'core'"),
        (lambda: program.run_decompositions(keep=["aten::nothing"]), "nothing"),
    ):
        with pytest.raises(flambeau.Error, match=said):
            call()
    for wrong in (None, 3, object()):
        with pytest.raises(TypeError):
            flambeau.load_package(wrong)
        with pytest.raises(TypeError):
            flambeau.load(wrong)
    for unmade in (flambeau._flambeau.Package, flambeau._flambeau.ExportedProgram):
        made = unmade.__new__(unmade)
        with pytest.raises(TypeError, match="never initialized"):
            made.layout if unmade is flambeau._flambeau.Package else made.nodes
        with pytest.raises(TypeError):
            unmade()


def test_control_c_ends_the_work(tmp_path):
    """Work on files ends, and the interpreter lives on."""
    torch.save({"a": torch.zeros(1 << 25)}, tmp_path / "large.pt")
    script = f"""
import _thread, threading, time, flambeau
threading.Timer(0.2, _thread.interrupt_main).start()
try:
    begin = time.monotonic()
    while True:
        flambeau.inspect({str(tmp_path / "large.pt")!r}, sha256=True, stats=True)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin < 5)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "interrupted True", done.stderr
