"""The calls that are timed: operators of real models first, then others that are well known, each small and large.

A case is (overload, function of a Sizes that gives positional arguments[, keywords]). Small is what one step of a small model has, where
calling costs as much as computing; large is what fills the machine.
"""

import torch


class Sizes:
    def __init__(self, is_large):
        self.is_large = is_large
        self.rows, self.columns = (1024, 1024) if is_large else (4, 64)
        self.batch, self.heads, self.steps, self.head = (2, 12, 256, 64) if is_large else (1, 4, 16, 16)
        self.channels, self.image = (64, 56) if is_large else (8, 14)

    def x(self):
        return torch.randn(self.rows, self.columns)

    def positive(self):
        return torch.rand(self.rows, self.columns) + 0.5

    def unit(self):
        return torch.rand(self.rows, self.columns) * 1.8 - 0.9

    def line(self):
        return torch.randn(self.columns)

    def flags(self):
        return torch.rand(self.rows, self.columns) > 0.5

    def whole(self, most=100):
        return torch.randint(1, most, (self.rows, self.columns))

    def picture(self):
        return torch.randn(self.batch, self.channels, self.image, self.image)

    def sequence(self):
        return torch.randn(self.batch, self.steps, self.heads * self.head)

    def per_head(self):
        return torch.randn(self.batch, self.heads, self.steps, self.head)

    def weight(self, ins, outs, kernel):
        return torch.randn(outs, ins, kernel, kernel) * 0.1


def lstm(s):
    features = 64 if s.is_large else 16
    states = [torch.zeros(1, s.batch, features) for _ in range(2)]
    weights = [torch.randn(4 * features, features) * 0.1 for _ in range(2)] + [torch.zeros(4 * features) for _ in range(2)]
    return torch.randn(s.steps, s.batch, features), states, weights, True, 1, 0.0, False, False, False


def gru(s):
    features = 64 if s.is_large else 16
    weights = [torch.randn(3 * features, features) * 0.1 for _ in range(2)] + [torch.zeros(3 * features) for _ in range(2)]
    return torch.randn(s.steps, s.batch, features), torch.zeros(1, s.batch, features), weights, True, 1, 0.0, False, False, False


def convolution(s, kernel=3, stride=1, groups=1):
    return s.picture(), s.weight(s.channels // groups, s.channels, kernel), torch.randn(s.channels), [stride] * 2, [kernel // 2] * 2, [1, 1], groups


def line_convolution(s):
    return torch.randn(s.batch, s.channels, s.steps), torch.randn(s.channels, s.channels, 3) * 0.1, torch.randn(s.channels), [1], [1]


def volume(s):
    side = 16 if s.is_large else 6
    return torch.randn(1, s.channels // 4, side, side, side), torch.randn(s.channels // 4, s.channels // 4, 3, 3, 3) * 0.1, None, [1] * 3, [1] * 3


def batch_norm(s):
    of_channels = lambda: torch.rand(s.channels) + 0.5  # noqa: E731
    return s.picture(), of_channels(), of_channels(), of_channels(), of_channels(), False, 0.1, 1e-5, True


def indices(s, most, *shape):
    return torch.randint(0, most, shape)


X = lambda s: (s.x(),)  # noqa: E731
XX = lambda s: (s.x(), s.x())  # noqa: E731
P = lambda s: (s.positive(),)  # noqa: E731
U = lambda s: (s.unit(),)  # noqa: E731
B = lambda s: (s.flags(), s.flags())  # noqa: E731
I = lambda s: (s.whole(), s.whole())  # noqa: E741, E731
IMAGE = lambda s: (s.picture(),)  # noqa: E731

CASES = [
    ("aten::linear", lambda s: (s.sequence(), torch.randn(s.heads * s.head, s.heads * s.head), torch.randn(s.heads * s.head))),
    ("aten::conv2d", convolution),
    ("aten::add.Tensor", XX),
    ("aten::dropout", lambda s: (s.x(), 0.1, False)),
    ("aten::mul.Tensor", XX),
    ("aten::view", lambda s: (s.x(), [-1])),
    ("aten::transpose.int", lambda s: (s.x(), 0, 1)),
    ("aten::adaptive_avg_pool2d", lambda s: (s.picture(), [1, 1])),
    ("aten::flatten.using_ints", lambda s: (s.picture(), 1)),
    ("aten::unsqueeze", lambda s: (s.x(), 1)),
    ("aten::batch_norm", batch_norm),
    ("aten::layer_norm", lambda s: (s.sequence(), [s.heads * s.head], torch.randn(s.heads * s.head), torch.randn(s.heads * s.head))),
    ("aten::reshape", lambda s: (s.x().t(), [-1])),
    ("aten::relu_", X),
    ("aten::scaled_dot_product_attention", lambda s: (s.per_head(), s.per_head(), s.per_head())),
    ("aten::gelu", X),
    ("aten::index.Tensor", lambda s: (s.x(), [indices(s, s.rows, s.rows)])),
    ("aten::expand", lambda s: (s.line(), [s.rows, s.columns])),
    ("aten::cat", lambda s: ([s.x(), s.x()], 1)),
    ("aten::slice.Tensor", lambda s: (s.x(), 1, 1, -1)),
    ("aten::embedding", lambda s: (torch.randn(1000, 64), indices(s, 1000, s.batch, s.steps))),
    ("aten::arange", lambda s: (s.columns,)),
    ("aten::max_pool2d", lambda s: (s.picture(), [3, 3], [2, 2], [1, 1])),
    ("aten::add_.Tensor", XX),
    ("aten::new_ones", lambda s: (s.line(), [s.rows, s.columns])),
    ("aten::__and__.Tensor", B),
    ("aten::permute", lambda s: (s.per_head(), [0, 2, 1, 3])),
    ("aten::select.int", lambda s: (s.x(), 0, 1)),
    ("aten::ge.Scalar", lambda s: (s.x(), 0.5)),
    ("aten::contiguous", lambda s: (s.x().t(),)),
    ("aten::mean.dim", lambda s: (s.x(), [-1], True)),
    ("aten::to.dtype", lambda s: (s.x(), torch.float64)),
    ("aten::relu", X),
    ("aten::sigmoid", X),
    ("aten::pow.Tensor_Scalar", lambda s: (s.positive(), 2)),
    ("aten::matmul", lambda s: (s.per_head(), s.per_head().transpose(-1, -2))),
    ("aten::alias", X),
    ("aten::tanh", X),
    ("aten::softmax.int", lambda s: (s.x(), -1)),
    ("aten::silu", X),
    ("aten::zeros", lambda s: ([s.rows, s.columns],)),
    ("aten::le.Tensor", XX),
    ("aten::rsqrt", P),
    ("aten::chunk", lambda s: (s.x(), 4, 1)),
    ("aten::masked_fill.Scalar", lambda s: (s.x(), s.flags(), 0.0)),
    ("aten::squeeze.dim", lambda s: (s.x().unsqueeze(0), 0)),
    ("aten::gather", lambda s: (s.x(), 1, indices(s, s.columns, s.rows, s.columns))),
    ("aten::neg", X),
    ("aten::hardswish", X),
    ("aten::hardsigmoid", X),
    ("aten::avg_pool2d", lambda s: (s.picture(), [2, 2])),
    ("aten::sub.Tensor", XX),
    ("aten::ne.Scalar", lambda s: (s.whole(), 3)),
    ("aten::eq.Scalar", lambda s: (s.whole(), 3)),
    ("aten::div.Tensor", lambda s: (s.x(), s.positive())),
    ("aten::upsample_bilinear2d", lambda s: (s.picture(), [2 * s.image] * 2, False)),
    ("aten::upsample_nearest2d", lambda s: (s.picture(), [2 * s.image] * 2)),
    ("aten::cos", X),
    ("aten::sin", X),
    ("aten::pad", lambda s: (s.picture(), [1, 1, 1, 1])),
    ("aten::roll", lambda s: (s.x(), [1], [1])),
    ("aten::new_zeros", lambda s: (s.line(), [s.rows, s.columns])),
    ("aten::exp", X),
    ("aten::unflatten.int", lambda s: (s.x(), 1, [-1, 8])),
    ("aten::cumsum", lambda s: (s.x(), 1)),
    ("aten::conv1d", line_convolution),
    ("aten::hardtanh", X),
    ("aten::clone", X),
    ("aten::zero_", X),
    ("aten::linalg_vector_norm", lambda s: (s.x(), 2, [-1])),
    ("aten::clamp_min", lambda s: (s.x(), 0.0)),
    ("aten::clamp", lambda s: (s.x(), -1.0, 1.0)),
    ("aten::einsum", lambda s: ("bhqd,bhkd->bhqk", [s.per_head(), s.per_head()])),
    ("aten::sqrt", P),
    ("aten::bmm", lambda s: (s.per_head().flatten(0, 1), s.per_head().flatten(0, 1).transpose(1, 2))),
    ("aten::bitwise_not", lambda s: (s.flags(),)),
    ("aten::addmm", lambda s: (s.line(), s.x(), torch.randn(s.columns, s.columns))),
    ("aten::mm", lambda s: (s.x(), torch.randn(s.columns, s.columns))),
    ("aten::split.Tensor", lambda s: (s.x(), 16, 1)),
    ("aten::gt.Scalar", lambda s: (s.x(), 0.5)),
    ("aten::lt.Scalar", lambda s: (s.x(), 0.5)),
    ("aten::abs", X),
    ("aten::log", P),
    ("aten::full_like", lambda s: (s.x(), 1.5)),
    ("aten::full", lambda s: ([s.rows, s.columns], 1.5)),
    ("aten::minimum", XX),
    ("aten::maximum", XX),
    ("aten::where.self", lambda s: (s.flags(), s.x(), s.x())),
    ("aten::argmax", lambda s: (s.x(), -1)),
    ("aten::argmin", lambda s: (s.x(), -1)),
    ("aten::topk", lambda s: (s.x(), 5)),
    ("aten::sum.dim_IntList", lambda s: (s.x(), [-1])),
    ("aten::sum.dim_IntList", lambda s: (s.x(), [0])),
    ("aten::sum", X),
    ("aten::mean", X),
    ("aten::div_.Tensor", lambda s: (s.x(), s.positive())),
    ("aten::sort", lambda s: (s.x(),)),
    ("aten::floor_divide", I),
    ("aten::histc", lambda s: (s.x(), 100, -3, 3)),
    ("aten::index_put", lambda s: (s.x(), [indices(s, s.rows, s.rows)], s.x())),
    ("aten::split_with_sizes", lambda s: (s.x(), [16, s.columns - 16], 1)),
    ("aten::softplus", X),
    ("aten::stack", lambda s: ([s.x(), s.x()],)),
    ("aten::group_norm", lambda s: (s.picture(), 4, torch.randn(s.channels), torch.randn(s.channels))),
    ("aten::lstm.input", lstm),
    ("aten::gru.input", gru),
    ("aten::logical_not", lambda s: (s.flags(),)),
    ("aten::logical_and", B),
    ("aten::any.dim", lambda s: (s.flags(), -1)),
    ("aten::fmod.Scalar", lambda s: (s.x(), 1.5)),
    ("aten::remainder.Scalar", lambda s: (s.x(), 1.5)),
    ("aten::index_select", lambda s: (s.x(), 0, indices(s, s.rows, s.rows))),
    ("aten::constant_pad_nd", lambda s: (s.x(), [1, 1], 0.0)),
    ("aten::flip", lambda s: (s.x(), [1])),
    ("aten::log1p", P),
    ("aten::expm1", X),
    ("aten::log2", P),
    ("aten::erf", X),
    ("aten::atan", X),
    ("aten::asin", U),
    ("aten::reciprocal", P),
    ("aten::square", X),
    ("aten::floor", X),
    ("aten::round", X),
    ("aten::sign", X),
    ("aten::add.Scalar", lambda s: (s.x(), 1.5)),
    ("aten::mul.Scalar", lambda s: (s.x(), 1.5)),
    ("aten::rsub.Scalar", lambda s: (s.x(), 1.5)),
    ("aten::pow.Tensor_Tensor", lambda s: (s.positive(), s.x())),
    ("aten::atan2", XX),
    ("aten::addcmul", lambda s: (s.x(), s.x(), s.x())),
    ("aten::lerp.Scalar", lambda s: (s.x(), s.x(), 0.3)),
    ("aten::leaky_relu", X),
    ("aten::elu", X),
    ("aten::mish", X),
    ("aten::selu", X),
    ("aten::log_softmax.int", lambda s: (s.x(), -1)),
    ("aten::logsumexp", lambda s: (s.x(), [-1])),
    ("aten::var.correction", lambda s: (s.x(), [-1])),
    ("aten::std.correction", lambda s: (s.x(), [-1])),
    ("aten::amax", lambda s: (s.x(), [-1])),
    ("aten::max.dim", lambda s: (s.x(), -1)),
    ("aten::prod.dim_int", lambda s: (s.unit(), -1)),
    ("aten::cumprod", lambda s: (s.unit(), 1)),
    ("aten::norm.ScalarOpt_dim", lambda s: (s.x(), 2, [-1])),
    ("aten::tril", X),
    ("aten::triu", X),
    ("aten::repeat", lambda s: (s.line(), [s.rows, 1])),
    ("aten::nonzero", lambda s: (s.flags(),)),
    ("aten::masked_select", lambda s: (s.x(), s.flags())),
    ("aten::scatter_add", lambda s: (s.x(), 1, indices(s, s.columns, s.rows, s.columns), s.x())),
    ("aten::one_hot", lambda s: (indices(s, 64, s.steps), 64)),
    ("aten::rms_norm", lambda s: (s.sequence(), [s.heads * s.head], torch.randn(s.heads * s.head))),
    ("aten::instance_norm", lambda s: (s.picture(), None, None, None, None, True, 0.1, 1e-5, True)),
    ("aten::conv_transpose2d.input", lambda s: (s.picture(), s.weight(s.channels, s.channels, 3), None, [2, 2], [1, 1], [1, 1])),
    ("aten::conv3d", volume),
    ("aten::conv2d", lambda s: convolution(s, 1)),
    ("aten::conv2d", lambda s: convolution(s, 3, 2)),
    ("aten::conv2d", lambda s: convolution(s, 3, 1, s.channels)),
    ("aten::pixel_shuffle", lambda s: (s.picture(), 2)),
    ("aten::bernoulli.p", lambda s: (s.x(), 0.5)),
    ("aten::cdist", lambda s: (torch.randn(s.steps, 32), torch.randn(s.steps, 32))),
    ("aten::nll_loss_nd", lambda s: (s.x(), indices(s, s.columns, s.rows))),
    ("aten::mse_loss", XX),
    ("aten::baddbmm", lambda s: (torch.zeros(s.heads, s.steps, s.steps), torch.randn(s.heads, s.steps, s.head), torch.randn(s.heads, s.head, s.steps))),
]
