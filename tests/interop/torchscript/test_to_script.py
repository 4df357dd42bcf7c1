"""Programs that became TorchScript modules: PyTorch opens and runs them. A sample; reversed_programs.py has them all."""

import pytest
import torch

import programs
import reversed_programs

programs.load_rooms()
pytestmark = pytest.mark.filterwarnings("ignore")

PLAIN = [name for name in programs.PROGRAMS if name.count(".") == 1 and not name.startswith("control.")]
# What TorchScript cannot hold, and what the command says of it.
REFUSED = {
    "values.dataclass": "is of the class flambeau_tests.Batch",
    "values.type_arguments": "the arguments do not fit aten::view",
    "weights.some_types": "a tensor of uint16 cannot be saved",
    "weights.subclass": "is of a class of its own",
    "weights.opaque": "takes an input of the kind custom_obj",
    "examples.dynamic_shape_map": "it has no operator that takes such graphs",
}
SAMPLE = [name for name in PLAIN[::6] if name not in REFUSED and name not in programs.NOT_LOADABLE]
ALWAYS = ["values.nested_inputs", "values.odd_keys", "values.outputs", "values.special_floats"]


@pytest.mark.parametrize("name", sorted({*SAMPLE, *ALWAYS}))
def test_gives_what_the_program_gives(name, tmp_path):
    programs.quiet()
    status, why = reversed_programs.judge(name, tmp_path)
    assert status in ("equal", "not run"), why


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_says_what_torchscript_has_not(name, tmp_path):
    programs.quiet()
    status, why = reversed_programs.judge(name, tmp_path)
    assert status in ("refused", "higher-order") and REFUSED[name] in why, why


class Halves(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))

    def forward(self, x, *, scale=None):
        return {"y": self.layers(x), "size": x.shape[0] // 2}


def test_names_modes_and_older_pytorch(flambeau, torch113, tmp_path):
    x = torch.randn(6, 4)
    exported = torch.export.export(Halves().eval(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})
    torch.export.save(exported, tmp_path / "program.pt2")
    flambeau("convert", "--script", tmp_path / "program.pt2", tmp_path / "module.pt")
    module = torch.jit.load(tmp_path / "module.pt")
    assert module.state_dict().keys() == exported.state_dict.keys()
    for size in (2, 6, 9):
        x = torch.randn(size, 4)
        found, expected = module(x), exported.module()(x)
        assert found["size"] == expected["size"] == size // 2
        torch.testing.assert_close(found["y"], expected["y"])
    torch.save({"x": x, "y": found["y"]}, tmp_path / "values.pt")
    torch113(
        """
import sys, torch
values = torch.load(sys.argv[2])
torch.testing.assert_close(torch.jit.load(sys.argv[1])(values["x"])["y"], values["y"])
""",
        tmp_path / "module.pt",
        tmp_path / "values.pt",
    )
