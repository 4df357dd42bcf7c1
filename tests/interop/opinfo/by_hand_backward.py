"""Samples of the operators that gradients are made of: those that PyTorch's own autograd calls, and some by hand."""

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from by_hand import COMPLEX, FLOATS, INTEGERS, SINGLE, call, hand, make


# PyTorch adds many numbers up in half precision where Flambeau does not.
ROUNDED = {torch.float16: (2e-2, 2e-2), torch.bfloat16: (4e-2, 4e-2)}


class Heard(TorchDispatchMode):
    """Keeps the arguments of the calls of one operator."""

    def __init__(self, op):
        super().__init__()
        self.op, self.calls = op, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is self.op:
            self.calls.append((args, kwargs or {}))
        return func(*args, **(kwargs or {}))


def heard(name, function, *inputs):
    """The calls of an overload that the gradient of function(*inputs) makes, for all floating inputs and for each alone."""
    base, _, kind = name.partition(".")
    op = getattr(getattr(torch.ops.aten, base), kind)
    floating = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())]
    for wanted in [floating, *([[i] for i in floating] if len(floating) > 1 else [])]:
        given = [x.detach().clone().requires_grad_(i in wanted) if isinstance(x, torch.Tensor) and i in floating else x for i, x in enumerate(inputs)]
        try:
            with Heard(op) as mode:
                result = function(*given)
                result = result[0] if isinstance(result, (tuple, list)) else result
                torch.autograd.grad(result, [given[i] for i in wanted], torch.randn_like(result), allow_unused=True)
        except (RuntimeError, NotImplementedError):
            continue  # PyTorch has no kernel for the type
        yield from mode.calls


def images(dtype, dims, channels=3, size=7):
    shape = [size, size - 1, size - 2][:dims]
    yield make(dtype, 2, channels, *shape)
    yield make(dtype, channels, *shape)
    if dims >= 2:
        yield make(dtype, 2, channels, *shape).to(memory_format=torch.channels_last if dims == 2 else torch.channels_last_3d)


def layouts(dtype):
    yield make(dtype, 3, 4)
    yield make(dtype, 3, 4).t()
    yield make(dtype, 5, 6)[1:, ::2]
    yield make(dtype)
    yield make(dtype, 0, 3)
    yield make(dtype, 2, 3, 4, 5).to(memory_format=torch.channels_last)
    yield make(dtype, 700, 3)


# ---- activations


@hand("silu_backward.default", types=[*FLOATS, *COMPLEX])
@hand("hardswish_backward.default", "hardsigmoid_backward.default", "mish_backward.default", types=FLOATS)
def of_two(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x)
    yield call(make(dtype, 7), torch.tensor([-4, -3, -1, 0, 1, 3, 4]).to(dtype))
    yield call(make(dtype, 1, 4), make(dtype, 3, 1))


@hand("sigmoid_backward.default", "tanh_backward.default", types=[*FLOATS, *COMPLEX], tolerance=ROUNDED)
def of_result(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x.sigmoid())
    yield call(make(dtype, 1, 4), make(dtype, 3, 1).sigmoid())


@hand("gelu_backward.default", types=FLOATS)
def gelu_backward(dtype):
    for x in layouts(dtype):
        for approximate in ("none", "tanh"):
            yield call(make(dtype, *x.shape), x, approximate=approximate)


@hand("softplus_backward.default", types=FLOATS)
def softplus_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x, 1, 20)
        yield call(make(dtype, *x.shape), x, 2.5, 0.5)


@hand("elu_backward.default", types=FLOATS)
def elu_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), 1, 1, 1, False, x)
        yield call(make(dtype, *x.shape), 1.5, 0.7, 1.2, False, x)
        yield call(make(dtype, *x.shape), 1.5, 0.7, 1.2, True, x)


@hand("hardtanh_backward.default", types=FLOATS)
def hardtanh_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x, -1, 1)
    yield call(make(dtype, 5), torch.tensor([-2, -1, 0, 0.5, 1]).to(dtype), -1.0, 0.5)


@hand("softshrink_backward.default", "hardshrink_backward.default", types=FLOATS)
def shrink_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x, 0.5)


@hand("threshold_backward.default", types=[*INTEGERS, *FLOATS])
def threshold_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x, 0)
        yield call(make(dtype, *x.shape), x, 1)


@hand("leaky_relu_backward.default", types=FLOATS)
def leaky_relu_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x, 0.01, False)
        yield call(make(dtype, *x.shape), x, 0.3, True)
        yield call(make(dtype, *x.shape), x, -0.3, False)


@hand("logit_backward.default", types=FLOATS)
def logit_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x.sigmoid() * 1.2 - 0.1)
        yield call(make(dtype, *x.shape), x.sigmoid() * 1.2 - 0.1, 0.1)
    yield call(make(dtype, 2), torch.tensor([0, 1]).to(dtype))


@hand("log_sigmoid_backward.default", types=FLOATS)
def log_sigmoid_backward(dtype):
    for x in layouts(dtype):
        if x.is_contiguous():
            yield call(make(dtype, *x.shape), x, torch.ops.aten.log_sigmoid_forward(x)[1])


@hand("native_dropout_backward.default", types=FLOATS)
def native_dropout_backward(dtype):
    for x in layouts(dtype):
        yield call(x, torch.rand(x.shape) > 0.4, 1.25)


@hand("_prelu_kernel_backward.default", types=FLOATS)
def prelu_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x, make(dtype, *[1] * x.dim()).expand(x.shape))
    yield call(make(dtype, 2, 3, 4), make(dtype, 2, 3, 4), make(dtype, 1, 3, 1))


@hand("glu_backward.default", types=FLOATS)
def glu_backward(dtype):
    for shape, dim in (((4, 6), 1), ((4, 6), -2), ((2, 4, 3), 1), ((0, 4), 1)):
        half = list(shape)
        half[dim] //= 2
        yield call(make(dtype, *half), make(dtype, *shape), dim)


@hand("rrelu_with_noise_backward.default", types=FLOATS)
def rrelu_backward(dtype):
    for x in layouts(dtype):
        for training in (False, True):
            yield call(make(dtype, *x.shape), x, torch.rand(x.shape).to(dtype), 0.125, 0.3, training, False)


@hand("infinitely_differentiable_gelu_backward.default", types=FLOATS, tolerance=ROUNDED)
def endless_gelu(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x)


# ---- losses


@hand("mse_loss_backward.default", "soft_margin_loss_backward.default", types=FLOATS, tolerance=ROUNDED)
def between_backward(dtype):
    for x in layouts(dtype):
        yield call(make(dtype, *x.shape), x, make(dtype, *x.shape), 0)
        yield call(make(dtype), x, make(dtype, *x.shape), 1)
        yield call(make(dtype), x, make(dtype, *x.shape), 2)


@hand("smooth_l1_loss_backward.default", "huber_loss_backward.default", types=FLOATS, tolerance=ROUNDED)
def bent_backward(dtype):
    for x in layouts(dtype):
        for bend in (1.0, 0.3):
            yield call(make(dtype, *x.shape), x, make(dtype, *x.shape), 0, bend)
            yield call(make(dtype), x, make(dtype, *x.shape), 1, bend)
            yield call(make(dtype), x, make(dtype, *x.shape), 2, bend)


@hand("binary_cross_entropy_backward.default", types=FLOATS, tolerance=ROUNDED)
def entropy_backward(dtype):
    for x in layouts(dtype):
        x = x.sigmoid()
        yield call(make(dtype, *x.shape), x, make(dtype, *x.shape).sigmoid(), None, 0)
        yield call(make(dtype), x, make(dtype, *x.shape).sigmoid(), make(dtype, *x.shape), 1)
        yield call(make(dtype), x, make(dtype, *x.shape).sigmoid(), None, 2)


@hand("nll_loss_backward.default", types=FLOATS)
def nll_backward(dtype):
    for weight in (None, make(dtype, 5).abs()):
        for reduction in ("none", "mean", "sum"):
            for ignored in (-100, 2):
                target = torch.tensor([0, 4, 2, 1])
                yield from heard("nll_loss_backward.default", lambda x: F.nll_loss(x, target, weight, reduction=reduction, ignore_index=ignored), make(dtype, 4, 5))
            yield from heard("nll_loss_backward.default", lambda x: F.nll_loss(x, torch.tensor(3), weight, reduction=reduction), make(dtype, 5))


@hand("nll_loss2d_backward.default", types=FLOATS)
def nll2d_backward(dtype):
    for weight in (None, make(dtype, 5).abs()):
        for reduction in ("none", "mean", "sum"):
            target = torch.randint(0, 5, (2, 3, 4))
            yield from heard("nll_loss2d_backward.default", lambda x: F.nll_loss(x, target, weight, reduction=reduction, ignore_index=2), make(dtype, 2, 5, 3, 4))


def softmaxed(dtype):
    for shape, dim in (((3, 4), 1), ((3, 4), 0), ((2, 3, 4), 1), ((2, 30, 40), -1), ((), 0), ((0, 3), 1), ((2, 3, 4, 5), -3), ((5, 1000), 1)):
        yield make(dtype, *shape), make(dtype, *shape), dim
    yield make(dtype, 4, 3).t(), make(dtype, 4, 3).t(), 1


@hand("_softmax_backward_data.default", types=FLOATS)
def softmax_backward(dtype):
    for gradient, x, dim in softmaxed(dtype):
        yield call(gradient, x.softmax(dim), dim, dtype)


@hand("_log_softmax_backward_data.default", types=FLOATS)
def log_softmax_backward(dtype):
    for gradient, x, dim in softmaxed(dtype):
        yield call(gradient, x.log_softmax(dim), dim, dtype)


# ---- normalization


@hand("native_layer_norm_backward.default", types=FLOATS, tolerance=ROUNDED)
def layer_norm_backward(dtype):
    name = "native_layer_norm_backward.default"
    for shape, dims in (((4, 6), 1), ((2, 3, 8), 1), ((2, 3, 8), 2), ((5,), 1), ((3, 600), 1)):
        x, w, b = make(dtype, *shape), make(dtype, *shape[-dims:]), make(dtype, *shape[-dims:])
        yield from heard(name, lambda x, w, b: F.layer_norm(x, shape[-dims:], w, b), x, w, b)
        yield from heard(name, lambda x: F.layer_norm(x, shape[-dims:]), x)
    yield from heard(name, lambda x, w, b: F.layer_norm(x, (4,), w, b), make(dtype, 4, 3).t(), make(dtype, 4), make(dtype, 4))
    if dtype in (torch.float16, torch.bfloat16):
        yield from heard(name, lambda x, w, b: F.layer_norm(x, (6,), w, b), make(dtype, 4, 6), make(torch.float32, 6), make(torch.float32, 6))


@hand("_fused_rms_norm_backward.default", types=SINGLE)
def rms_norm_backward(dtype):
    for shape, dims in (((4, 6), 1), ((2, 3, 8), 2), ((3, 600), 1)):
        x, w = make(dtype, *shape), make(dtype, *shape[-dims:])
        rstd = x.pow(2).mean(list(range(-dims, 0)), keepdim=True).add(1e-5).rsqrt()
        for mask in ([True, True], [True, False], [False, True]):
            yield call(make(dtype, *shape), x, list(shape[-dims:]), rstd, w, mask)
        yield call(make(dtype, *shape), x, list(shape[-dims:]), rstd, None, [True, False])


@hand("native_batch_norm_backward.default", types=FLOATS)
def batch_norm_backward(dtype):
    name = "native_batch_norm_backward.default"
    for x in (make(dtype, 4, 3), make(dtype, 2, 3, 5), make(dtype, 2, 3, 4, 5), make(dtype, 2, 3, 4, 5).to(memory_format=torch.channels_last), make(dtype, 2, 3, 2, 3, 4)):
        mean, var = make(dtype, 3), make(dtype, 3).abs() + 0.5
        for training in (True, False):
            yield from heard(name, lambda x, w, b: F.batch_norm(x, mean.clone(), var.clone(), w, b, training), x, make(dtype, 3), make(dtype, 3))
            yield from heard(name, lambda x: F.batch_norm(x, mean.clone(), var.clone(), None, None, training), x)


@hand("native_group_norm_backward.default", types=FLOATS, tolerance=ROUNDED)
def group_norm_backward(dtype):
    for x, groups in ((make(dtype, 2, 4), 2), (make(dtype, 2, 6, 5), 3), (make(dtype, 2, 4, 3, 5), 1), (make(dtype, 2, 4, 3, 5).to(memory_format=torch.channels_last), 2)):
        batch, channels = x.shape[:2]
        inner = x[0, 0].numel()
        weight = make(dtype, channels)
        _, mean, rstd = torch.ops.aten.native_group_norm(x, weight, make(dtype, channels), batch, channels, inner, groups, 1e-5)
        for mask in ([True, True, True], [True, False, False], [False, True, True]):
            if not mask[0] and not x.is_contiguous():
                continue  # PyTorch crashes
            yield call(torch.empty_like(x).copy_(make(dtype, *x.shape)), x, mean, rstd, weight, batch, channels, inner, groups, mask)
        yield call(torch.empty_like(x).copy_(make(dtype, *x.shape)), x, mean, rstd, None, batch, channels, inner, groups, [True, False, False])


# ---- convolutions


@hand("convolution_backward.default", types=FLOATS, tolerance=ROUNDED)
def convolution_backward(dtype):
    cases = [
        # input, weight, stride, padding, dilation, transposed, output_padding, groups
        ((2, 3, 9), (4, 3, 3), [1], [0], [1], False, [0], 1),
        ((2, 4, 9), (6, 2, 3), [2], [1], [1], False, [0], 2),
        ((2, 3, 7, 8), (4, 3, 3, 3), [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
        ((2, 3, 7, 8), (4, 3, 3, 2), [2, 3], [1, 0], [1, 2], False, [0, 0], 1),
        ((2, 4, 7, 8), (4, 1, 3, 3), [1, 1], [1, 1], [1, 1], False, [0, 0], 4),
        ((1, 4, 8, 8), (8, 2, 1, 1), [2, 2], [0, 0], [1, 1], False, [0, 0], 2),
        ((2, 2, 4, 5, 6), (3, 2, 2, 3, 3), [1, 2, 1], [0, 1, 1], [1, 1, 1], False, [0, 0, 0], 1),
        ((2, 3, 5), (3, 4, 3), [2], [1], [1], True, [1], 1),
        ((2, 4, 5, 4), (4, 3, 3, 3), [2, 2], [1, 1], [1, 1], True, [1, 0], 2),
        ((2, 3, 5, 4), (3, 2, 2, 2), [1, 2], [0, 0], [2, 1], True, [0, 0], 1),
    ]
    for shape, kernel, stride, padding, dilation, transposed, more, groups in cases:
        x, w = make(dtype, *shape), make(dtype, *kernel)
        try:
            y = torch.ops.aten.convolution(x, w, None, stride, padding, dilation, transposed, more, groups)
        except RuntimeError:
            continue
        for mask in ([True, True, True], [False, True, False], [True, False, False]):
            yield call(make(dtype, *y.shape), x, w, [y.shape[1]], stride, padding, dilation, transposed, more, groups, mask)
    x, w = make(dtype, 2, 3, 7, 8).to(memory_format=torch.channels_last), make(dtype, 4, 3, 3, 3)
    yield call(make(dtype, 2, 4, 7, 8).to(memory_format=torch.channels_last), x, w, [4], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True])


@hand("_slow_conv2d_backward.output_mask", types=SINGLE)
def slow_convolution_backward(dtype):
    x, w = make(dtype, 2, 3, 7, 8), make(dtype, 4, 3, 3, 2)
    for mask in ([True, True, True], [False, True, False], [True, False, True]):
        yield call(make(dtype, 2, 4, 4, 7), x, w, [3, 2], [2, 1], [1, 0], mask)


# ---- pools


def pools(dims):
    @hand(f"max_pool{dims}d_with_indices_backward.default", types=FLOATS, tolerance=ROUNDED)
    def max_pool_backward(dtype):
        pool = getattr(F, f"max_pool{dims}d")
        for x in images(dtype, dims):
            for settings in ({}, {"stride": 1}, {"stride": 2, "padding": 1, "ceil_mode": True}, {"dilation": 2, "stride": 1}):
                yield from heard(f"max_pool{dims}d_with_indices_backward.default", lambda x: pool(x, 2, return_indices=True, **settings), x)

    @hand(f"avg_pool{dims}d_backward.default", types=FLOATS, tolerance=ROUNDED)
    def avg_pool_backward(dtype):
        pool = getattr(F, f"avg_pool{dims}d")
        for x in images(dtype, dims):
            for settings in ({}, {"stride": 1}, {"stride": 2, "padding": 1, "ceil_mode": True}, {"padding": 1, "count_include_pad": False}, {"divisor_override": 3}):
                yield from heard(f"avg_pool{dims}d_backward.default", lambda x: pool(x, 2, **settings), x)

    @hand(f"_adaptive_avg_pool{dims}d_backward.default", types=FLOATS, tolerance=ROUNDED)
    def adaptive_avg_backward(dtype):
        pool = getattr(torch.ops.aten, f"_adaptive_avg_pool{dims}d")
        for x in images(dtype, dims):
            for size in (2, 3, 5):
                yield from heard(f"_adaptive_avg_pool{dims}d_backward.default", lambda x: pool(x, [size] * dims), x)

    @hand(f"adaptive_max_pool{dims}d_backward.default", types=FLOATS, tolerance=ROUNDED)
    def adaptive_max_backward(dtype):
        pool = getattr(F, f"adaptive_max_pool{dims}d")
        for x in images(dtype, dims):
            for size in (2, 3):
                yield from heard(f"adaptive_max_pool{dims}d_backward.default", lambda x: pool(x, size, return_indices=True), x)


pools(2)
pools(3)


# ---- resizing


def resizing(name, dims, mode, smooth=False):
    @hand(f"{name}_backward.default", types=FLOATS, tolerance=ROUNDED)
    def resize_backward(dtype):
        corners = {} if mode.startswith("nearest") else {"align_corners": True}
        for x in images(dtype, dims):
            for settings in ({"scale_factor": 2}, {"scale_factor": 1.7}, {"scale_factor": 0.6}, {"size": [3] * dims}, {"size": [9] * dims, **corners}):
                if x.dim() == dims + 2:
                    yield from heard(f"{name}_backward.default", lambda x: F.interpolate(x, mode=mode, antialias=smooth, **settings), x)


for dims in (1, 2, 3):
    resizing(f"upsample_nearest{dims}d", dims, "nearest")
    resizing(f"_upsample_nearest_exact{dims}d", dims, "nearest-exact")
resizing("upsample_linear1d", 1, "linear")
resizing("upsample_bilinear2d", 2, "bilinear")
resizing("upsample_trilinear3d", 3, "trilinear")
resizing("upsample_bicubic2d", 2, "bicubic")
resizing("_upsample_bilinear2d_aa", 2, "bilinear", True)
resizing("_upsample_bicubic2d_aa", 2, "bicubic", True)


def padding(name, dims, mode):
    @hand(f"{name}_backward.default", types=[*FLOATS, *COMPLEX], tolerance=ROUNDED)
    def pad_backward(dtype):
        for x in images(dtype, dims):
            for numbers in ([1, 2, 3, 1, 2, 2][: 2 * dims], [-1, 2, 1, 0, 0, 1][: 2 * dims]):
                yield from heard(f"{name}_backward.default", lambda x: F.pad(x, numbers, mode=mode), x)


for dims in (1, 2, 3):
    padding(f"reflection_pad{dims}d", dims, "reflect")
    padding(f"replication_pad{dims}d", dims, "replicate")


# ---- attention


@hand("_scaled_dot_product_flash_attention_for_cpu_backward.default", types=FLOATS, tolerance=ROUNDED)
def attention_backward(dtype):
    op = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    for batch, heads, rows, columns, width in ((2, 3, 5, 5, 8), (1, 2, 7, 4, 16), (2, 1, 40, 40, 8)):
        q, k, v = (make(dtype, batch, n, heads, width).transpose(1, 2) for n in (rows, columns, columns))
        for settings in ({}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": make(dtype, rows, columns)}):
            if settings.get("is_causal") and rows != columns:
                continue
            mask = settings.pop("attn_mask", None)
            if mask is not None:
                mask = mask.expand(batch, heads, rows, columns)
            causal = settings.pop("is_causal", False)
            out, total = op(q, k, v, 0.0, causal, attn_mask=mask, **settings)
            yield call(make(dtype, batch, rows, heads, width).transpose(1, 2), q, k, v, out, total, 0.0, causal, attn_mask=mask, **settings)


# ---- views and indices


@hand("select_backward.default")
def select_backward(dtype):
    yield call(make(dtype, 3, 5), [3, 4, 5], 1, 2)
    yield call(make(dtype, 4), [3, 4], 0, -1)
    yield call(make(dtype), [3], 0, 0)


@hand("slice_backward.default")
def slice_backward(dtype):
    yield call(make(dtype, 3, 2), [3, 4], 1, 1, 3, 1)
    yield call(make(dtype, 2, 4), [5, 4], 0, 0, 4, 2)
    yield call(make(dtype, 3, 4), [3, 4], -1, 0, 9223372036854775807, 1)


@hand("diagonal_backward.default")
def diagonal_backward(dtype):
    yield call(make(dtype, 3), [3, 4], 0, 0, 1)
    yield call(make(dtype, 2, 2), [3, 2, 4], 1, 0, 2)


@hand("trace_backward.default", types=FLOATS)
def trace_backward(dtype):
    for sizes in ([3, 3], [2, 4], [4, 2]):
        yield call(make(dtype), sizes)


@hand("unfold_backward.default", types=FLOATS)
def unfold_backward(dtype):
    for sizes, dim, size, step in (([7], 0, 3, 2), ([4, 9], 1, 3, 1), ([8, 2, 3], 0, 4, 2), ([5, 3], -2, 2, 3)):
        yield call(make(dtype, *torch.empty(sizes).unfold(dim, size, step).shape), sizes, dim, size, step)


@hand("index_select_backward.default", types=FLOATS)
def index_select_backward(dtype):
    yield call(make(dtype, 3, 4), [5, 4], 0, torch.tensor([0, 3, 3]))
    yield call(make(dtype, 2, 3), [2, 6], 1, torch.tensor([5, 0, 5]))


@hand("gather_backward.default", types=FLOATS)
def gather_backward(dtype):
    yield call(make(dtype, 2, 3), make(dtype, 2, 5), 1, torch.tensor([[0, 4, 4], [1, 1, 2]]), False)


@hand("value_selecting_reduction_backward.default", types=FLOATS)
def value_selecting_backward(dtype):
    yield call(make(dtype, 3), 1, torch.tensor([0, 3, 1]), [3, 4], False)
    yield call(make(dtype, 1, 4), 0, torch.tensor([[0, 2, 1, 1]]), [3, 4], True)
    yield call(make(dtype), 0, torch.tensor(2), [5], False)


@hand("cummaxmin_backward.default", types=FLOATS)
def cummaxmin_backward(dtype):
    x = make(dtype, 3, 5)
    for dim in (0, 1):
        yield call(make(dtype, 3, 5), x, x.cummax(dim).indices, dim)


@hand("cumprod_backward.default", types=SINGLE)
def cumprod_backward(dtype):
    for x in (make(dtype, 3, 5), torch.tensor([[1, 0, 3, 2, 0.5], [0, 2, 0, 1, 1], [2, 3, 4, 5, 0]]).to(dtype), make(dtype)):
        for dim in range(max(x.dim(), 1)):
            yield call(make(dtype, *x.shape), x, dim, x.cumprod(dim))


@hand("masked_scatter_backward.default", types=FLOATS)
def masked_scatter_backward(dtype):
    mask = torch.tensor([[True, False, True], [False, True, True]])
    yield call(make(dtype, 2, 3), mask, [6])
    yield call(make(dtype, 2, 3), mask, [2, 2])
    yield call(make(dtype, 2, 3), mask[0], [4])


@hand("masked_select_backward.default", types=FLOATS)
def masked_select_backward(dtype):
    yield call(make(dtype, 4), make(dtype, 2, 3), torch.tensor([[True, False, True], [False, True, True]]))


@hand("affine_grid_generator_backward.default", types=SINGLE)
def affine_grid_backward(dtype):
    for align in (True, False):
        yield call(make(dtype, 2, 4, 5, 2), [2, 3, 4, 5], align)
        yield call(make(dtype, 2, 3, 4, 5, 3), [2, 1, 3, 4, 5], align)


# ---- tables


@hand("embedding_dense_backward.default", types=FLOATS, tolerance=ROUNDED)
def embedding_backward(dtype):
    for padding in (-1, 2):
        for by_count in (False, True):
            yield call(make(dtype, 4, 3), torch.tensor([0, 2, 2, 5]), 6, padding, by_count)
            yield call(make(dtype, 2, 3, 70), torch.tensor([[0, 2, 1], [1, 1, 3]]), 4, padding, by_count)
    yield call(make(dtype, 3), torch.tensor(1), 4, -1, False)
    yield call(make(dtype, 0, 3), torch.zeros(0, dtype=torch.int64), 4, -1, False)


@hand("embedding_backward.default", types=FLOATS)
def any_embedding_backward(dtype):
    yield call(make(dtype, 4, 3), torch.tensor([0, 2, 2, 5]), 6, -1, False, False)


def bags(name):
    @hand(f"{name}.default", types=FLOATS, tolerance=ROUNDED)
    def embedding_bag_backward(dtype):
        indices, offsets = torch.tensor([0, 2, 2, 5, 1, 4]), torch.tensor([0, 2, 2, 5])
        for mode in ("sum", "mean", "max"):
            for padding in (None, 2):
                yield from heard(f"{name}.default", lambda w: F.embedding_bag(indices, w, offsets, mode=mode, padding_idx=padding), make(dtype, 6, 3))
        # With several indices that repeat, PyTorch 2.13 divides by the count of another one: here all differ.
        yield from heard(f"{name}.default", lambda w: F.embedding_bag(torch.arange(6), w, offsets, mode="mean", scale_grad_by_freq=True), make(dtype, 6, 3))
        yield from heard(f"{name}.default", lambda w, s: F.embedding_bag(indices, w, offsets, mode="sum", per_sample_weights=s), make(dtype, 6, 3), make(dtype, 6))


bags("_embedding_bag_backward")


@hand("_embedding_bag_dense_backward.default", types=FLOATS, tolerance=ROUNDED)
def dense_bag_backward(dtype):
    for mode, of in (("sum", 0), ("mean", 1), ("max", 2)):
        indices, offsets = torch.tensor([0, 2, 2, 5, 1, 4]), torch.tensor([0, 2, 2, 5])
        for (args, _) in heard("_embedding_bag_backward.default", lambda w: F.embedding_bag(indices, w, offsets, mode=mode), make(dtype, 6, 3)):
            gradient, indices, _, _, sizes, largest, rows, by_count, _, _, weights, padding = (*args, -1)[:12]
            yield call(gradient, indices, torch.tensor([0, 0, 2, 2, 2, 3]), sizes, largest, rows, by_count, of, weights, padding)


bags("_embedding_bag_per_sample_weights_backward")


# ---- distances, grids, sequences and margins


@hand("_cdist_backward.default", types=SINGLE)
def cdist_backward(dtype):
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")):
        a, b = make(dtype, 2, 4, 3), make(dtype, 2, 5, 3)
        yield call(make(dtype, 2, 4, 5), a, b, p, torch.ops.aten._cdist_forward(a, b, p, None))
        b = a.clone()
        yield call(make(dtype, 2, 4, 4), a, b, p, torch.ops.aten._cdist_forward(a, b, p, None))


@hand("_pdist_backward.default", types=SINGLE)
def pdist_backward(dtype):
    for p in (0.0, 0.5, 1.0, 2.0, 3.0, float("inf")):
        x = make(dtype, 5, 3)
        yield call(make(dtype, 10), x, p, torch.ops.aten._pdist_forward(x, p))


@hand("_weight_norm_interface_backward.default", types=FLOATS, tolerance=ROUNDED)
def weight_norm_backward(dtype):
    for shape, dim in (((4, 3), 0), ((4, 3), 1), ((5, 2, 3), 0), ((5, 2, 3), 2)):
        yield from heard("_weight_norm_interface_backward.default", lambda v, g: torch._weight_norm(v, g, dim), make(dtype, *shape), make(dtype, *[size if d == dim else 1 for d, size in enumerate(shape)]))


def grids(dims):
    @hand(f"grid_sampler_{dims}d_backward.default", types=SINGLE)
    def grid_backward(dtype):
        x, grid = make(dtype, 2, 3, *[5, 4, 6][:dims]), make(dtype, 2, *[3, 4, 2][:dims], dims)
        for mode in range(3 if dims == 2 else 2):
            for padding in range(3):
                for align in (False, True):
                    for mask in ([True, True], [False, True]):
                        yield call(make(dtype, 2, 3, *grid.shape[1:-1]), x, grid, mode, padding, align, mask)


grids(2)
grids(3)


def margins(kind):
    @hand(f"multi_margin_loss{kind}.default", types=SINGLE)
    def multi_margin(dtype):
        for reduction in (0, 1, 2):
            for p, margin in ((1, 1), (2, 0.7)):
                for weight in (None, make(dtype, 5).abs()):
                    gradient = [make(dtype, 4) if reduction == 0 else make(dtype)] if kind else []
                    yield call(*gradient, make(dtype, 4, 5), torch.tensor([0, 4, 2, 1]), p, margin, weight, reduction)
            yield call(*([make(dtype)] if kind else []), make(dtype, 5), torch.tensor(3), 1, 1, None, reduction)


margins("")
margins("_backward")

LABELS = torch.tensor([[3, 0, -1, 1], [1, 2, 3, 0], [-1, 2, 2, 2]])


@hand("multilabel_margin_loss_forward.default", "multilabel_margin_loss.default", types=SINGLE)
def multilabel_margin(dtype):
    for reduction in (0, 1, 2):
        yield call(make(dtype, 3, 4), LABELS, reduction)
        yield call(make(dtype, 4), LABELS[0], reduction)


@hand("multilabel_margin_loss_backward.default", types=SINGLE)
def multilabel_margin_backward(dtype):
    for reduction in (0, 1, 2):
        x = make(dtype, 3, 4)
        flags = torch.ops.aten.multilabel_margin_loss_forward(x, LABELS, reduction)[1]
        yield call(make(dtype, 3) if reduction == 0 else make(dtype), x, LABELS, reduction, flags)
        flags = torch.ops.aten.multilabel_margin_loss_forward(x[0], LABELS[0], reduction)[1]
        yield call(make(dtype), x[0], LABELS[0], reduction, flags)


def sequences(dtype):
    """All targets are of one length: what PyTorch leaves in the states beyond a shorter one is not defined."""
    probs = make(dtype, 9, 3, 6).log_softmax(2)
    yield probs, torch.tensor([[1, 2, 2], [3, 5, 1], [4, 4, 4]]), [9, 9, 9], [3, 3, 3], 0
    yield probs, torch.tensor([1, 2, 3, 5, 4, 0]), [9, 9, 9], [2, 2, 2], 3
    yield probs[:2], torch.tensor([[1, 2, 2], [3, 5, 1], [4, 4, 4]]), [2, 2, 2], [3, 3, 3], 0


@hand("_ctc_loss.default", types=SINGLE)
def ctc_loss_forward(dtype):
    for probs, targets, times, lengths, blank in sequences(dtype):
        yield call(probs, targets, times, lengths, blank)


@hand("ctc_loss.IntList", types=SINGLE)
def ctc_loss(dtype):
    for probs, targets, times, lengths, blank in sequences(dtype):
        for reduction in (0, 1, 2):
            for zero in (False, True):
                yield call(probs, targets, times, lengths, blank, reduction, zero)
    probs = make(dtype, 9, 3, 6).log_softmax(2)
    yield call(probs, torch.tensor([[1, 2, 2], [3, 5, 1], [4, 4, 4]]), [9, 5, 7], [1, 0, 3], 0, 0)


@hand("ctc_loss.Tensor", types=SINGLE)
def ctc_loss_of_tensors(dtype):
    for probs, targets, times, lengths, blank in sequences(dtype):
        yield call(probs, targets, torch.tensor(times), torch.tensor(lengths), blank, 1)


@hand("_ctc_loss_backward.default", types=SINGLE)
def ctc_loss_backward(dtype):
    for probs, targets, times, lengths, blank in sequences(dtype):
        for zero in (False, True):
            loss, alpha = torch.ops.aten._ctc_loss(probs, targets, times, lengths, blank, zero)
            if zero or loss.isfinite().all():
                yield call(make(dtype, 3), probs, targets, times, lengths, loss, alpha, blank, zero)


def fractional(dims):
    @hand(f"fractional_max_pool{dims}d.default", types=SINGLE)
    def fractional_pool(dtype):
        x = make(dtype, 2, 3, *[9, 8, 7][:dims])
        for size in (1, 3, 5):
            yield call(x, [2] * dims, [size] * dims, torch.rand(2, 3, dims).to(dtype))
        yield call(x[0], [2] * dims, [4] * dims, torch.rand(1, 3, dims).to(dtype))

    @hand(f"fractional_max_pool{dims}d_backward.default", types=SINGLE)
    def fractional_backward(dtype):
        x = make(dtype, 2, 3, *[9, 8, 7][:dims])
        for size in (1, 3, 5):
            y, indices = getattr(torch.ops.aten, f"fractional_max_pool{dims}d")(x, [2] * dims, [size] * dims, torch.rand(2, 3, dims).to(dtype))
            yield call(make(dtype, *y.shape), x, [2] * dims, [size] * dims, indices)


fractional(2)
fractional(3)


@hand("max_unpool3d.default", types=SINGLE)
def max_unpool3d(dtype):
    y, indices = F.max_pool3d(make(dtype, 2, 3, 4, 6, 8), 2, return_indices=True)
    yield call(y, indices, [4, 6, 8], [2, 2, 2], [0, 0, 0])
    yield call(y[0], indices[0], [4, 6, 8], [2, 2, 2], [0, 0, 0])
