"""Operators on quantized tensors against PyTorch's CPU: twenty random calls each, for each type it takes."""

import warnings

import pytest
import quantized_cases as cases
import quantized_values as values
import torch

flambeau = pytest.importorskip("flambeau")
warnings.filterwarnings("ignore", message=".*quantiz.*")

CALLS = 20
torch.set_num_threads(1)  # of calls as small as these most of the time would go into waking threads


@pytest.mark.parametrize("case", cases.ALL, ids=lambda case: case.id)
def test_case(case):
    wrong = []
    for seed in range(CALLS):
        torch.manual_seed(seed)
        args = case.args()
        call = values.flambeau_op(flambeau, case.name)
        # PyTorch's oneDNN kernels of transposed convolutions are far from their own definition.
        torch.backends.quantized.engine = "fbgemm" if "transpose" in case.name else "x86"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = values.torch_op(case.name)(*values.for_torch(list(args)))
        try:
            ours = call(*values.for_flambeau(flambeau, list(args)))
        except Exception as error:
            wrong.append(f"{seed}: {' '.join(str(error).split())[:250]}")
            continue
        found = values.difference(flambeau, ours, theirs, case.quanta, case.atol)
        if found:
            wrong.append(f"{seed}: {found}")
    assert not wrong, f"{len(wrong)} of {CALLS} calls of {case.name} differ:\n" + "\n".join(wrong[:4])


REFUSED = ["aten::add.Tensor", "aten::mul.Tensor", "aten::neg", "aten::abs", "aten::sum", "aten::cumsum", "aten::mm", "aten::exp", "aten::softmax.int"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses_is_refused(name):
    x = torch.quantize_per_tensor(torch.randn(3, 3), 0.1, 3, torch.quint8)
    args = {"aten::add.Tensor": [x, x], "aten::mul.Tensor": [x, x], "aten::mm": [x, x], "aten::cumsum": [x, 0], "aten::softmax.int": [x, 0]}.get(name, [x])
    with pytest.raises(Exception):
        values.torch_op(name)(*args)
    with pytest.raises(Exception, match="takes no quantized tensors, quint8\\[3, 3\\] is given.*dequantize it first"):
        values.flambeau_op(flambeau, name)(*values.for_flambeau(flambeau, args))


class QuantizedAfterExport(torch.nn.Module):
    """What quantization of exported programs leaves: a layer between plain integers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-128, 128, (6, 8), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(6) * 0.02 + 0.01)
        self.register_buffer("points", torch.zeros(6, dtype=torch.int64))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        x = ops.quantize_per_tensor.default(x, 0.05, 3, -128, 127, torch.int8)
        x = ops.dequantize_per_tensor.default(x, 0.05, 3, -128, 127, torch.int8)
        weight = ops.dequantize_per_channel.default(self.weight, self.scales, self.points, 0, -128, 127, torch.int8)
        y = torch.nn.functional.linear(x, weight).relu()
        y = ops.quantize_per_tensor.default(y, 0.1, -10, -128, 127, torch.int8)
        return ops.dequantize_per_tensor.default(y, 0.1, -10, -128, 127, torch.int8)


def test_a_program_quantized_after_export_runs(tmp_path):
    torch.manual_seed(0)
    model, x = QuantizedAfterExport(), torch.randn(5, 8)
    torch.export.save(torch.export.export(model, (x,)), tmp_path / "model.pt2")
    ours = flambeau.load(str(tmp_path / "model.pt2"))(x)
    torch.testing.assert_close(torch.from_dlpack(ours), model(x), rtol=0, atol=0.1001)
