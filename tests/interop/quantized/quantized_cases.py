"""The calls: an operator, a maker of random arguments, and how many quanta results may be apart."""

import dataclasses
import random
import re
import typing

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  it defines quantized_decomposed::*
from quantized_values import Packed


@dataclasses.dataclass
class Case:
    name: str
    args: typing.Callable
    quanta: int = 0
    kind: str = ""
    atol: float = 1e-5  # of real results

    @property
    def id(self):
        return re.sub(r"\W+", "_", f"{self.name}_{self.kind}")


ALL = []
TYPES = {"quint8": torch.quint8, "qint8": torch.qint8, "qint32": torch.qint32}
BYTES = {"quint8": torch.quint8, "qint8": torch.qint8}


def case(name, args, quanta=0, kinds=BYTES, atol=1e-5):
    for kind, dtype in (kinds or {"": None}).items():
        ALL.append(Case(name, (lambda dtype=dtype: args(dtype)) if kinds else args, quanta, kind, atol))


def scale():
    return float(torch.rand(()) * 0.1 + 0.01)


def point(dtype):
    return {torch.quint8: random_int(0, 255), torch.qint8: random_int(-100, 100)}.get(dtype, random_int(-50, 50))


def random_int(low, high):
    return int(torch.randint(low, high + 1, ()))


def sizes(*dims):
    """Random ones; given numbers stay."""
    return [random_int(*dim) if isinstance(dim, tuple) else dim for dim in dims]


IMAGE = ((1, 2), (1, 4), (4, 9), (4, 9))


def tensor(dtype, *dims):
    step = scale()
    return torch.quantize_per_tensor(torch.randn(sizes(*(dims or IMAGE))) * step * 60, step, point(dtype), dtype)


def channels(dtype, axis, *dims):
    shape = sizes(*dims)
    count = shape[axis]
    points = torch.randint(-20, 20, (count,)) if dtype != torch.quint8 else torch.randint(0, 200, (count,))
    return torch.quantize_per_channel(torch.randn(shape), torch.rand(count) * 0.05 + 0.01, points, axis, dtype)


def weight(per_channel, *dims, axis=0):
    """qint8 around zero, as layers have it."""
    shape = sizes(*dims)
    if not per_channel:
        return torch.quantize_per_tensor(torch.randn(shape), 0.03, 0, torch.qint8)
    count = shape[axis]
    return torch.quantize_per_channel(torch.randn(shape), torch.rand(count) * 0.03 + 0.02, torch.zeros(count, dtype=torch.long), axis, torch.qint8)


def out_scale(dtype):
    return scale(), point(dtype)


# ---- making them
case("aten::quantize_per_tensor", lambda t: [torch.randn(sizes(*IMAGE)) * 3, *out_scale(t), t], kinds=TYPES)
case("aten::quantize_per_tensor.tensor_qparams", lambda t: [torch.randn(7, 5), torch.tensor(scale()), torch.tensor(point(t)), t], kinds=TYPES)
case(
    "aten::quantize_per_tensor.tensors",
    lambda t: [[torch.randn(7), torch.randn(3)], torch.tensor([scale(), scale()]), torch.tensor([point(t), point(t)]), t],
    kinds=TYPES,
)
case("aten::quantize_per_channel", lambda t: [torch.randn(4, 3, 5), torch.rand(3) + 0.01, torch.randint(0, 9, (3,)), 1, t], kinds=TYPES)
case("aten::quantize_per_tensor_dynamic", lambda t: [torch.randn(sizes(*IMAGE)) * 5, t, random_int(0, 1) == 1])
case("aten::_choose_qparams_per_tensor", lambda: [torch.randn(sizes(*IMAGE)) * scale() * 50 + scale(), random_int(0, 1) == 1], kinds=None)
case("aten::dequantize.self", lambda t: [tensor(t)], kinds=TYPES)
case("aten::dequantize.self", lambda t: [channels(t, 1, 3, 4, 5)], kinds=TYPES)
case("aten::dequantize.tensors", lambda t: [[tensor(t), tensor(t)]], kinds=TYPES)
for name in ("int_repr", "q_scale", "q_zero_point"):
    case(f"aten::{name}", lambda t: [tensor(t)], kinds=TYPES)
for name in ("q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis"):
    case(f"aten::{name}", lambda t: [channels(t, 1, 3, 4, 5)])

# ---- views and moves
case("aten::view", lambda t: [tensor(t, 2, 3, 4), [6, 4]], kinds=TYPES)
case("aten::permute", lambda t: [tensor(t), [0, 2, 3, 1]], kinds=TYPES)
case("aten::transpose.int", lambda t: [tensor(t), 1, 2], kinds=TYPES)
case("aten::slice.Tensor", lambda t: [tensor(t), 2, 1, 3], kinds=TYPES)
case("aten::slice.Tensor", lambda t: [channels(t, 1, 2, 4, 5), 1, 1, 3], kinds=BYTES)
case("aten::select.int", lambda t: [channels(t, 1, 2, 4, 5), 0, 1], kinds=BYTES)
case("aten::unsqueeze", lambda t: [channels(t, 1, 2, 4, 5), 0], kinds=BYTES)
case("aten::clone", lambda t: [channels(t, 1, 2, 4, 5)], kinds=BYTES)
case("aten::expand", lambda t: [tensor(t, 1, 4), [3, 4]], kinds=TYPES)
case("aten::flip", lambda t: [tensor(t), [1, 2]], kinds=TYPES)
case("aten::cat", lambda t: [[tensor(t, 2, 3), tensor(t, 2, 3)], 1], 1, kinds=TYPES)
case("aten::index_select", lambda t: [tensor(t, 5, 3), 0, torch.tensor([4, 0, 2])], kinds=TYPES)
case("aten::repeat", lambda t: [tensor(t, 2, 3), [2, 2]], kinds=TYPES)
case("aten::constant_pad_nd", lambda t: [tensor(t), [1, 2, 0, 1], 0.5], kinds=BYTES)
case("aten::reflection_pad2d", lambda t: [tensor(t), [1, 2, 2, 1]])
case("aten::fill_.Scalar", lambda t: [tensor(t), 0.7], kinds=TYPES)
case("aten::masked_fill.Scalar", lambda t: [tensor(t, 4, 5), torch.rand(4, 5) > 0.5, 0.7])
case("aten::copy_", lambda t: (lambda q: [q, torch.randn(q.shape)])(tensor(t)), kinds=TYPES)
case("aten::equal", lambda t: (lambda q: [q, q])(tensor(t)), kinds=TYPES)
case("aten::item", lambda t: [tensor(t, 1)], kinds=TYPES)
for name in ("eq", "ne", "lt", "le", "gt", "ge"):
    case(f"aten::{name}.Scalar", lambda t: [tensor(t, 5, 6), 0.3])
    case(f"aten::{name}.Tensor", lambda t: [tensor(t, 5, 6), tensor(t, 5, 6)])
case("aten::topk", lambda t: [torch.quantize_per_tensor(torch.randperm(40) * 0.1, 0.1, 0, t), 5])
case("aten::max", lambda t: [tensor(t)])
case("aten::min", lambda t: [tensor(t)])

# ---- functions of one tensor
for name in ("relu", "relu6", "relu_"):
    case(f"aten::{name}", lambda t: [tensor(t)])
case("aten::hardtanh", lambda t: [tensor(t), -0.5, 0.8])
case("aten::clamp", lambda t: [tensor(t), -0.5, 0.8])
case("aten::threshold", lambda t: [tensor(t), 0.2, 0.4])
case("aten::leaky_relu", lambda t: [tensor(t), 0.1], 1)
case("aten::gelu", lambda t: [tensor(t)], 1)
for name in ("sigmoid", "tanh", "hardsigmoid"):
    case(f"aten::{name}", lambda t: [tensor(t)], 1)
case("quantized::hardswish", lambda t: [tensor(t), *out_scale(t)], 1)
case("quantized::sigmoid", lambda t: [tensor(t), *out_scale(t)], 1)
case("quantized::elu", lambda t: [tensor(t), *out_scale(t), 0.7], 1)
case("quantized::celu", lambda t: [tensor(t), *out_scale(t), 0.7], 1)
case("quantized::leaky_relu", lambda t: [tensor(t), 0.2, False, *out_scale(t)], 1)
case("quantized::prelu", lambda t: [tensor(t, 2, 3, 4), torch.quantize_per_tensor(torch.rand(3), 0.01, 0, t), *out_scale(t)], 1)
case("quantized::softmax", lambda t: [tensor(t, 5, 6), 1, 1 / 256, 0], 1, kinds={"quint8": torch.quint8})
case("quantized::relu6", lambda t: [tensor(t), False])
case("quantized::clamp", lambda t: [tensor(t), -0.5, 0.8])
case("quantized::threshold", lambda t: [tensor(t), 0.2, 0.4])
case("quantized::dropout", lambda t: [tensor(t), *out_scale(t), 0.5, False])
for name in ("add", "mul"):
    for relu in ("", "_relu"):
        case(f"quantized::{name}{relu}", lambda t: [tensor(t, 2, 3, 4, 5), tensor(t, 2, 3, 4, 5), *out_scale(t)], 1, kinds=TYPES)
        case(f"quantized::{name}{relu}_out", lambda t: [tensor(t, 3, 40), tensor(t, 3, 40), tensor(t, 3, 40)], 1)
        case(f"quantized::{name}_scalar{relu}", lambda t: [tensor(t), float(torch.randn(()) * 2)], 1)
        case(f"quantized::{name}{relu}.Scalar", lambda t: [tensor(t), float(torch.randn(()) * 2)], 1)
        case(f"quantized::{name}_scalar{relu}.Tensor", lambda t: [tensor(t), torch.randn(())], 1)
case("quantized::cat", lambda t: [[tensor(t, 2, 3), tensor(t, 2, 4)], 1, *out_scale(t)], 1)
case("quantized::cat_relu", lambda t: [[tensor(t, 2, 3), tensor(t, 2, 4)], 1, None, None], 1)
case("quantized::matmul", lambda t: [tensor(t, 2, 3, 4), tensor(t, 2, 4, 5), 0.5, 100], 1, kinds={"quint8": torch.quint8})

# ---- pools and resizing
case("aten::max_pool2d", lambda t: [tensor(t), [2, 2], [2, 1], [1, 0]])
case("aten::quantized_max_pool2d", lambda t: [tensor(t), [2, 2], [2, 1], [1, 0]])
case("aten::quantized_max_pool1d", lambda t: [tensor(t, 2, 3, (5, 9)), [2], [2], [1]])
case("aten::quantized_max_pool3d", lambda t: [tensor(t, 1, 2, 4, 5, 6), [2, 2, 2], [2, 1, 1], [0, 1, 0]])
case("quantized::max_pool2d", lambda t: [tensor(t), [2, 2], [2, 1], [1, 0], [1, 1], False])
case("quantized::max_pool1d", lambda t: [tensor(t, 2, 3, (5, 9)), [2], [2], [1], [1], False])
case("aten::avg_pool2d", lambda t: [tensor(t), [2, 3], [2, 1], [1, 1]], 1)
case("aten::avg_pool3d", lambda t: [tensor(t, 1, 2, 4, 5, 6), [2, 2, 3]], 1)
case("aten::adaptive_avg_pool2d", lambda t: [tensor(t), [2, 3]], 1)
case("aten::adaptive_avg_pool3d", lambda t: [tensor(t, 1, 2, 4, 5, 6), [2, 2, 3]], 1)
case("aten::mean.dim", lambda t: [tensor(t), [2, 3]], 1)
case("aten::upsample_nearest2d", lambda t: [tensor(t), [7, 11]])
case("aten::upsample_nearest3d", lambda t: [tensor(t, 1, 2, 3, 4, 5), [5, 7, 6]])
case("aten::upsample_bilinear2d", lambda t: [tensor(t), [7, 11], False], 1)

# ---- layers
def linear_args(rest, per_channel=True, name="linear_prepack", real=False):
    inputs, outputs = random_int(1, 70), random_int(1, 40)
    bias = torch.randn(outputs) if random_int(0, 3) else None
    x = torch.randn(random_int(1, 9), inputs) * 2
    if not real:
        x = torch.quantize_per_tensor(x, 0.03, random_int(50, 150), torch.quint8)
    w = torch.randn(outputs, inputs) if name.endswith("fp16") else weight(per_channel, outputs, inputs)
    return [x, Packed(f"quantized::{name}", (w, bias)), *rest]


for per_channel in (False, True):
    for name in ("linear", "linear_relu"):
        case(f"quantized::{name}", lambda per_channel=per_channel: linear_args([0.15, 120], per_channel), 1, None)
    for name in ("linear_dynamic", "linear_relu_dynamic"):
        case(f"quantized::{name}", lambda per_channel=per_channel: linear_args([], per_channel, real=True), 1, None)
for name in ("linear_dynamic_fp16", "linear_relu_dynamic_fp16"):
    case(f"quantized::{name}", lambda: linear_args([], name="linear_prepack_fp16", real=True), 1, None)
case("quantized::linear_unpack", lambda: linear_args([])[1:], 0, None)


def conv_args(dims, rest, transposed=False, real=False, packed_alone=False):
    groups = random_int(1, 2)
    inputs, outputs = groups * random_int(1, 6), groups * random_int(1, 6)
    kernel = [random_int(1, 3) for _ in range(dims)]
    stride, padding = [random_int(1, 2) for _ in range(dims)], [random_int(0, 1) for _ in range(dims)]
    dilation = [random_int(1, 2) for _ in range(dims)]
    bias = torch.randn(outputs) if random_int(0, 3) else None
    image = [random_int(1, 2), inputs] + [random_int(6, 8) for _ in range(dims)]
    x = torch.randn(image)
    if not real:
        x = torch.quantize_per_tensor(x, 0.03, random_int(50, 150), torch.quint8)
    if transposed:
        w = weight(False, inputs, outputs // groups, *kernel)
        more = [random_int(0, s - 1) for s in stride]
        args = (w, bias, stride, padding, more, [1] * dims, groups)
        packed = Packed(f"quantized::conv_transpose{dims}d_prepack", args)
    else:
        w = weight(random_int(0, 1), outputs, inputs // groups, *kernel)
        packed = Packed(f"quantized::conv{dims}d_prepack", (w, bias, stride, padding, dilation, groups))
    return [packed] if packed_alone else [x, packed, *rest]


for dims in (1, 2, 3):
    new = "" if dims == 1 else ".new"
    case(f"quantized::conv{dims}d{new}", lambda dims=dims: conv_args(dims, [0.1, 110]), 1, None)
    case(f"quantized::conv{dims}d_relu{new}", lambda dims=dims: conv_args(dims, [0.1, 110]), 1, None)
    case(f"quantized::conv{dims}d_dynamic", lambda dims=dims: conv_args(dims, [], real=True), 1, None, atol=0.06)  # a quantum
    case(f"quantized::conv{dims}d_unpack", lambda dims=dims: conv_args(dims, [], packed_alone=True), 0, None)
    case(f"quantized::conv_transpose{dims}d", lambda dims=dims: conv_args(dims, [0.1, 110], transposed=True), 1, None)
def depthwise_args():
    channels = random_int(2, 40)
    x = torch.quantize_per_tensor(torch.randn(2, channels, 8, 9), 0.03, random_int(50, 150), torch.quint8)
    args = (weight(True, channels, 1, 3, 3), torch.randn(channels), [random_int(1, 2)] * 2, [1, 1], [1, 1], channels)
    return [x, Packed("quantized::conv2d_prepack", args), 0.1, 110]


case("quantized::conv2d.new", depthwise_args, 1, None)
for name in ("stride", "padding", "output_padding", "dilation", "groups", "transpose"):
    case(f"quantized::conv2d_{name}", lambda: conv_args(2, [], packed_alone=True), 0, None)
    case(f"quantized::conv_transpose2d_{name}", lambda: conv_args(2, [], transposed=True, packed_alone=True), 0, None)

# ---- normalizations
def norm_args(rest, *dims):
    shape = sizes(*(dims or (2, 4, 5, 6)))
    x = torch.quantize_per_tensor(torch.randn(shape), 0.03, 120, torch.quint8)
    return [x, *rest(shape[1]), 0.03, 110]


for suffix in ("", "_relu"):
    for name, dims in (("batch_norm", (2, 4, 5, 6)), ("batch_norm1d", (2, 4, 5)), ("batch_norm2d", (2, 4, 5, 6)), ("batch_norm3d", (2, 4, 3, 5, 6))):
        case(
            f"quantized::{name}{suffix}",
            lambda dims=dims: norm_args(lambda c: [torch.randn(c), torch.randn(c), torch.randn(c), torch.rand(c) + 0.1, 1e-5], *dims),
            1,
            None,
        )
case("quantized::layer_norm", lambda: norm_args(lambda c: [[6], torch.randn(6), torch.randn(6), 1e-5]), 1, None)
case("quantized::group_norm", lambda: norm_args(lambda c: [2, torch.randn(c), torch.randn(c), 1e-5]), 1, None)
case("quantized::instance_norm", lambda: norm_args(lambda c: [torch.randn(c), torch.randn(c), 1e-5]), 1, None)

# ---- rounding that stays real
case("aten::fake_quantize_per_tensor_affine", lambda: [torch.randn(6, 7) * 4, scale(), random_int(-20, 20), -128, 127], 0, None)
case("aten::fake_quantize_per_tensor_affine_cachemask", lambda: [torch.randn(6, 7) * 4, scale(), random_int(-20, 20), -128, 127], 0, None)
case("aten::fake_quantize_per_tensor_affine.tensor_qparams", lambda: [torch.randn(6, 7), torch.tensor([scale()]), torch.tensor([3], dtype=torch.int32), -128, 127], 0, None)
case("aten::fake_quantize_per_channel_affine", lambda: [torch.randn(6, 7), torch.rand(7) * 0.1 + 0.01, torch.randint(-9, 9, (7,), dtype=torch.int32), 1, -128, 127], 0, None)
case("aten::fake_quantize_per_channel_affine_cachemask", lambda: [torch.randn(6, 7), torch.rand(7) * 0.1 + 0.01, torch.randint(-9, 9, (7,), dtype=torch.int32), 1, -128, 127], 0, None)
case("aten::_fake_quantize_learnable_per_tensor_affine", lambda: [torch.randn(6, 7), torch.tensor([scale()]), torch.tensor([3.4]), -128, 127], 0, None)
case("aten::_fake_quantize_learnable_per_channel_affine", lambda: [torch.randn(6, 7), torch.rand(7) * 0.1 + 0.01, torch.randn(7) * 5, 1, -128, 127], 0, None)

# ---- of exported programs
INT8 = (-128, 127, torch.int8)
DECOMPOSED = "quantized_decomposed::"
case(f"{DECOMPOSED}quantize_per_tensor", lambda: [torch.randn(6, 7) * 5, scale(), random_int(-20, 20), *INT8], 0, None)
case(f"{DECOMPOSED}quantize_per_tensor.tensor", lambda: [torch.randn(6, 7).bfloat16(), torch.tensor(scale()), torch.tensor(3), 0, 255, torch.uint8], 0, None)
case(f"{DECOMPOSED}quantize_per_tensor.tensor2", lambda: [torch.randn(6, 7), torch.tensor(scale()), torch.tensor(3), torch.tensor(-128), torch.tensor(127), torch.int8], 0, None)
case(f"{DECOMPOSED}dequantize_per_tensor", lambda: [torch.randint(-128, 128, (6, 7), dtype=torch.int8), scale(), random_int(-20, 20), *INT8], 0, None)
case(f"{DECOMPOSED}dequantize_per_tensor.tensor", lambda: [torch.randint(0, 256, (6, 7), dtype=torch.uint8), torch.tensor(scale()), torch.tensor(3), 0, 255, torch.uint8], 0, None)
case(f"{DECOMPOSED}quantize_per_channel", lambda: [torch.randn(6, 7), torch.rand(7) * 0.1 + 0.01, torch.randint(-9, 9, (7,)), 1, *INT8], 0, None)
case(f"{DECOMPOSED}dequantize_per_channel", lambda: [torch.randint(-128, 128, (6, 7), dtype=torch.int8), torch.rand(7) * 0.1 + 0.01, torch.randint(-9, 9, (7,)), 1, *INT8], 0, None)
case(f"{DECOMPOSED}dequantize_per_channel", lambda: [torch.randint(-128, 128, (6, 7), dtype=torch.int8), torch.rand(6) * 0.1, None, 0, *INT8], 0, None)
case(f"{DECOMPOSED}fake_quant_per_channel", lambda: [torch.randn(6, 7), torch.rand(7) * 0.1 + 0.01, torch.randint(-9, 9, (7,)), 1, -128, 127], 0, None)
case(f"{DECOMPOSED}choose_qparams.tensor", lambda: [torch.randn(6, 7) + random_int(-2, 2), -128, 127, 1e-5, torch.int8], 0, None)
case(f"{DECOMPOSED}choose_qparams_symmetric.tensor", lambda: [torch.randn(6, 7), -127, 127, 1e-5, torch.int8], 0, None)
case(f"{DECOMPOSED}choose_qparams_per_token", lambda: [torch.randn(2, 6, 7), torch.int8], 0, None)
case(f"{DECOMPOSED}choose_qparams_per_token_asymmetric", lambda: [torch.randn(2, 6, 7), torch.int8], 0, None)
case(f"{DECOMPOSED}quantize_per_token", lambda: [torch.randn(6, 7), torch.rand(6, 1) * 0.1 + 0.01, torch.randint(-9, 9, (6, 1)), *INT8], 0, None)
case(f"{DECOMPOSED}dequantize_per_token", lambda: [torch.randint(-128, 128, (6, 7), dtype=torch.int8), torch.rand(6, 1), torch.randint(-9, 9, (6, 1)), *INT8, torch.float32], 0, None)
case(f"{DECOMPOSED}quantize_per_channel_group", lambda: [torch.randn(4, 8), torch.rand(4, 2) + 0.1, torch.randint(-5, 5, (4, 2)), -8, 7, torch.int8, 4], 0, None)
case(f"{DECOMPOSED}dequantize_per_channel_group", lambda: [torch.randint(-8, 8, (4, 8), dtype=torch.int8), torch.rand(4, 2) + 0.1, torch.randint(-5, 5, (4, 2)), -8, 7, torch.int8, 4, torch.float32], 0, None)
case(f"{DECOMPOSED}convert_element_type.no_fuse", lambda: [torch.randn(4, 8), torch.float16], 0, None)

# ---- matrices of small numbers
case("aten::_int_mm", lambda: [torch.randint(-128, 128, (random_int(17, 30), 40), dtype=torch.int8), torch.randint(-128, 128, (40, 24), dtype=torch.int8)], 0, None)
case("aten::_weight_int8pack_mm", lambda: [torch.randn(5, 32).bfloat16(), torch.randint(-128, 128, (16, 32), dtype=torch.int8), torch.rand(16).bfloat16()], 0, None)
case(
    "aten::_scaled_mm",
    lambda: [torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(24, 32).to(torch.float8_e4m3fn).t(), torch.tensor(0.5), torch.tensor(2.0), None, None, torch.float32],
    1,
    None,
)

# ---- tables
def table(bits):
    kind = torch.quint8 if bits == 8 else torch.quint4x2
    return Packed("aten::quantize_per_channel", (torch.randn(9, 8), torch.rand(9) * 0.2 + 0.02, torch.rand(9) * 5, 0, kind))


def bag():
    return [torch.randint(0, 9, (12,)), torch.tensor([0, 3, 7])]


case("quantized::embedding_byte", lambda: [Packed("quantized::embedding_bag_prepack", (table(8),)), torch.randint(0, 9, (6,))], 1, None)
case("quantized::embedding_4bit", lambda: [Packed("quantized::embedding_bag_prepack", (table(4),)), torch.randint(0, 9, (6,))], 1, None)
case("quantized::embedding_bag_byte", lambda: [Packed("quantized::embedding_bag_prepack", (table(8),)), *bag()], 1, None)
case("quantized::embedding_bag_4bit", lambda: [Packed("quantized::embedding_bag_prepack", (table(4),)), *bag()], 1, None)
for kind, bits in (("byte", 8), ("4bit", 4), ("2bit", 2)):
    case(f"quantized::embedding_bag_{kind}_prepack", lambda: [torch.randn(9, 8)], 0, None)
    packed = Packed(f"quantized::embedding_bag_{kind}_prepack", (torch.randn(9, 8, generator=torch.Generator().manual_seed(1)),))
    case(f"quantized::embedding_bag_{kind}_unpack", lambda packed=packed: [packed], 0, None)
    case(f"quantized::embedding_bag_{kind}_rowwise_offsets", lambda packed=packed: [packed, *bag()], 1, None)

# ---- recurrent networks
def linear_packed(outputs, inputs, half):
    bias = torch.randn(outputs)
    w = torch.randn(outputs, inputs) * 0.3
    if half:
        return Packed("quantized::linear_prepack_fp16", (w, bias)), bias
    return Packed("quantized::linear_prepack", (torch.quantize_per_tensor(w, 0.01, 0, torch.qint8), bias)), bias


def cell(gates, inputs, hidden, half):
    (w_ih, b_ih), (w_hh, b_hh) = linear_packed(gates * hidden, inputs, half), linear_packed(gates * hidden, hidden, half)
    if half:
        return Packed("quantized::make_quantized_cell_params_fp16", (w_ih, w_hh))
    return Packed("quantized::make_quantized_cell_params_dynamic", (w_ih, w_hh, b_ih, b_hh, True))


def network_args(gates):
    both, half, hidden = random_int(0, 1) == 1, random_int(0, 1) == 1, 4
    directions = 2 if both else 1
    cells = [cell(gates, 5 if layer == 0 else hidden * directions, hidden, half) for layer in range(2) for _ in range(directions)]
    states = [torch.randn(2 * directions, 3, hidden) for _ in range(2)]
    return [torch.randn(6, 3, 5), states if gates == 4 else states[0], cells, True, 2, 0.0, False, both, False]


case("aten::quantized_lstm.input", lambda: network_args(4), 1, None)
case("aten::quantized_gru.input", lambda: network_args(3), 1, None)


def cell_args(gates):
    (w_ih, b_ih), (w_hh, b_hh) = linear_packed(gates * 4, 5, False), linear_packed(gates * 4, 4, False)
    state = [torch.randn(3, 4), torch.randn(3, 4)] if gates == 4 else torch.randn(3, 4)
    return [torch.randn(3, 5), state, w_ih, w_hh, b_ih, b_hh]


case("quantized::quantized_lstm_cell_dynamic", lambda: cell_args(4), 1, None)
case("quantized::quantized_gru_cell_dynamic", lambda: cell_args(3), 1, None)
case("quantized::quantized_rnn_tanh_cell_dynamic", lambda: cell_args(1), 1, None)
case("quantized::quantized_rnn_relu_cell_dynamic", lambda: cell_args(1), 1, None)
