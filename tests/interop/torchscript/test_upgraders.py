"""Operators of older archives do what they did then: every row of the table of upgraders, as PyTorch runs the same archive."""

import copy
import pathlib
import re
import subprocess
import zipfile

import pytest
import torch

UPGRADERS = pathlib.Path(__file__).resolve().parents[3] / "src/flambeau/script/operators/upgraders.cpp"
HEAD = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n  def forward(self: __torch__.M{0}) -> {1}:\n    return {2}\n"
MODULE = b"\x80\x02c__torch__\nM\n)\x81}X\x08\x00\x00\x00training\x89sb."

INTS, FLOATS = torch.tensor([7, -7, 9, -1]), torch.tensor([7.0, -7.5, 9.25, -1.0])
PAIRS = [(a, b) for a in (INTS, FLOATS) for b in (torch.tensor([2, 2, -4, 3]), torch.tensor([2.0, 0.5, -4.0, 3.0]))]
MODES = [(*pair, mode) for pair in PAIRS for mode in (None, "trunc", "floor")]
TENSORS = "x: Tensor, y: Tensor"

# Name of the upgrader: the archive's version, parameters, expression, arguments of calls.
CASES = {
    "div_Tensor_0_3": (3, TENSORS, "torch.div(x, y)", PAIRS),
    "div_Scalar_0_3": (3, "x: Tensor", "(torch.div(x, 2), torch.div(x, 2.5), torch.div(x, -2))", [(INTS,), (FLOATS,)]),
    "div_out_0_3": (3, TENSORS + ", o: Tensor", "torch.div(x, y, out=o)",
                    [(*pair, torch.zeros(4)) for pair in PAIRS] + [(INTS, INTS, torch.zeros(4, dtype=torch.int64))]),
    "div_Tensor_mode_0_3": (3, TENSORS + ", m: Optional[str]", "torch.div(x, y, rounding_mode=m)", MODES),
    "div_Scalar_mode_0_3": (3, "x: Tensor, m: Optional[str]", "(torch.div(x, 2, rounding_mode=m), torch.div(x, 2.5, rounding_mode=m))",
                            [(x, mode) for x in (INTS, FLOATS) for mode in (None, "trunc", "floor")]),
    "div_out_mode_0_3": (3, TENSORS + ", m: Optional[str], o: Tensor", "torch.div(x, y, rounding_mode=m, out=o)",
                         [(*each, torch.zeros(4)) for each in MODES]),
    "div__Tensor_0_3": (3, TENSORS, "torch.div_(x, y)", PAIRS),
    "div__Scalar_0_3": (3, "x: Tensor", "torch.div_(torch.div_(x, 2), 3)", [(INTS,), (FLOATS,)]),
    "div__Tensor_mode_0_3": (3, TENSORS + ", m: Optional[str]", "torch.div_(x, y, rounding_mode=m)", MODES),
    "div__Scalar_mode_0_3": (3, "x: Tensor, m: Optional[str]", "torch.div_(x, 2, rounding_mode=m)",
                             [(x, mode) for x in (INTS, FLOATS) for mode in (None, "trunc", "floor")]),
    "full_0_4": (4, "n: List[int], i: int, f: float", "(torch.full(n, i), torch.full(n, f), torch.full(n, i, dtype=3), torch.full(n, True))",
                 [([2, 3], 7, 0.5), ([0], -1, 2.0)]),
    "full_names_0_4": (4, "n: List[int], i: int", "torch.full(n, i, names=None, dtype=6)", [([2], 7)]),
    "full_out_0_4": (4, "n: List[int], i: int, o: Tensor", "torch.full(n, i, out=o)",
                     [([2], 7, torch.zeros(2)), ([2], 7, torch.zeros(2, dtype=torch.int64))]),
    "linspace_0_7": (7, "a: float, b: float, n: Optional[int]", "(torch.linspace(a, b, n), torch.linspace(a, b, 5, dtype=7))",
                     [(0.0, 1.0, None), (-3.0, 3.5, 7)]),
    "linspace_out_0_7": (7, "a: float, b: float, n: Optional[int], o: Tensor", "torch.linspace(a, b, n, out=o)",
                         [(0.0, 1.0, None, torch.zeros(100)), (-3.0, 3.5, 7, torch.zeros(7))]),
    "logspace_0_8": (8, "a: float, b: float, n: Optional[int]", "(torch.logspace(a, b, n), torch.logspace(a, b, 5, 2.))",
                     [(0.0, 1.0, None), (-1.0, 1.5, 7)]),
    "logspace_out_0_8": (8, "a: float, b: float, n: Optional[int], o: Tensor", "torch.logspace(a, b, n, 10., out=o)",
                         [(0.0, 1.0, None, torch.zeros(100)), (-1.0, 1.5, 7, torch.zeros(7))]),
    "gelu_0_9": (9, "x: Tensor", "torch.gelu(x)", [(FLOATS,)]),
    "gelu_out_0_9": (9, "x: Tensor, o: Tensor", "torch.gelu(x, out=o)", [(FLOATS, torch.zeros(4))]),
}


@pytest.fixture(scope="session")
def tool(flambeau):
    return pathlib.Path(flambeau.path).parents[2] / "tests/interop/torchscript/script_calls"


def write(path, version, parameters, expression):
    result = "Tuple[" + ", ".join(["Tensor"] * (expression.count("),") + 1)) + "]" if expression.startswith("(") else "Tensor"
    code = HEAD.format("".join(f",\n    {each}" for each in re.split(r", (?=\w+:)", parameters)), result, expression)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in (("data.pkl", MODULE), ("code/__torch__.py", code), ("constants.pkl", b"\x80\x02)."),
                           ("version" if version < 6 else ".data/version", f"{version}\n")):
            archive.writestr(f"{path.stem}/{name}", data)


def test_every_upgrader_is_here():
    assert sorted(CASES) == sorted(re.findall(r'^    \{"(\w+)"', UPGRADERS.read_text(), re.M))


def test_old_operators_do_what_they_did(tool, tmp_path):
    for folder in ("archives", "calls"):
        (tmp_path / folder).mkdir()
    refused = []
    for name, (version, parameters, expression, calls) in CASES.items():
        path = tmp_path / "archives" / f"{name}.pt"
        write(path, version, parameters, expression)
        try:
            module = torch.jit.load(path)
        except RuntimeError:
            refused.append(name)
            continue
        for number, arguments in enumerate(calls):
            given = copy.deepcopy(list(arguments))
            call = {"archive": name, "method": "forward", "args": list(arguments), "kwargs": {}}
            try:
                call["result"] = module(*given)
                call["args_after"] = given
            except RuntimeError as error:
                call["error"] = {"type": "RuntimeError", "last_line": str(error).strip().split("\n")[-1]}
            torch.save(call, tmp_path / "calls" / f"{name}-{number}.pt")
    # Names of dimensions are no type of TorchScript's: no archive can have such a call.
    assert refused == ["full_names_0_4"]
    run = subprocess.run([tool, "--verbose", tmp_path], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
