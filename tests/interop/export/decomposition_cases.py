"""Small modules, about one for each operator that decompositions know, with example inputs."""

import torch
import torch.nn.functional as F
from torch import nn

import decomposition_fourier


class Call(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def r(*sizes):
    torch.manual_seed(0)
    return torch.randn(*sizes)


def ints(high, *sizes):
    torch.manual_seed(0)
    return torch.randint(0, high, sizes)


class Written(nn.Module):
    """Buffers, inputs and views that are written to."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x):
        return getattr(self, self.kind)(x)

    def buffer(self, x):
        self.count.add_(1)
        return x + self.count

    def input(self, x):
        x.mul_(2)
        return x + 1

    def input_view(self, x):
        x[:, 1:3].mul_(2)
        return x + 1

    def slice(self, x):
        y = x + 1
        y[:, 1:3].add_(1)
        return y * 2

    def select(self, x):
        y = x + 1
        y[:, 0] = x[:, 1]
        return y

    def view(self, x):
        y = x + 1
        z = y.view(-1)
        z.add_(1)
        return y, z

    def transpose(self, x):
        y = x + 1
        z = y.transpose(0, 1)
        y.add_(1)
        return z, y.t()

    def fill(self, x):
        y = torch.zeros(x.shape[0], 4)
        y[:, 1] = 5.0
        y.fill_(2)
        return y

    def twice(self, x):
        y = x.clone()
        a = y[:, :2]
        b = y[:, 1:]
        a.add_(1)
        b.mul_(2)
        return a, b, y

    def unsqueeze(self, x):
        y = x * 2
        y.unsqueeze(1).squeeze(1).relu_()
        return y

    def copied(self, x):
        self.count.copy_(x[0])
        return self.count + x

    def copied_input(self, x):
        x.copy_(x * 2)
        return x + 1

    def masked(self, x):
        y = x * 2
        y[x > 0] = 0.0
        return y

    def out(self, x):
        y = torch.empty_like(x)
        torch.add(x, 1, out=y)
        return y


def functions():
    """(name, function, example inputs); the first dimension of the first input may vary."""
    x, image, row = r(3, 4), r(2, 4, 8, 8), r(2, 4, 8)
    cases = {
        "relu": (F.relu, x), "gelu": (F.gelu, x), "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), x),
        "silu": (F.silu, x), "mish": (F.mish, x), "elu": (F.elu, x), "selu": (F.selu, x), "celu": (F.celu, x),
        "sigmoid": (torch.sigmoid, x), "tanh": (torch.tanh, x), "leaky_relu": (F.leaky_relu, x),
        "relu6": (F.relu6, x), "hardtanh": (F.hardtanh, x), "hardsigmoid": (F.hardsigmoid, x),
        "hardswish": (F.hardswish, x), "softplus": (F.softplus, x), "softsign": (F.softsign, x),
        "softshrink": (F.softshrink, x), "hardshrink": (F.hardshrink, x), "tanhshrink": (F.tanhshrink, x),
        "logsigmoid": (F.logsigmoid, x), "threshold": (lambda x: F.threshold(x, 0.1, 20.0), x),
        "glu": (lambda x: F.glu(x, -1), x), "prelu": (F.prelu, x, r(1)), "rrelu": (F.rrelu, x),
        "softmax": (lambda x: F.softmax(x, -1), x), "log_softmax": (lambda x: F.log_softmax(x, 1), x),
        "softmin": (lambda x: F.softmin(x, 1), x),
        "softmax_dtype": (lambda x: F.softmax(x, -1, dtype=torch.float64), x),
        "matmul_2d": (torch.matmul, x, r(4, 5)), "matmul_3d": (torch.matmul, r(2, 3, 4), r(2, 4, 5)),
        "matmul_3d_2d": (torch.matmul, r(2, 3, 4), r(4, 5)), "matmul_4d": (torch.matmul, r(2, 3, 4, 5), r(2, 3, 5, 6)),
        "matmul_broadcast": (torch.matmul, r(2, 3, 4, 5), r(3, 5, 6)),
        "matmul_1d": (torch.matmul, x, r(4)), "matmul_11": (torch.matmul, r(4), r(4)),
        "mm": (torch.mm, x, r(4, 5)), "bmm": (torch.bmm, r(2, 3, 4), r(2, 4, 5)),
        "addmm": (lambda x, a, b: torch.addmm(b, x, a), x, r(4, 5), r(5)),
        "baddbmm": (lambda x, a, b: torch.baddbmm(b, x, a), r(2, 3, 4), r(2, 4, 5), r(2, 3, 5)),
        "einsum": (lambda x, y: torch.einsum("bij,bjk->bik", x, y), r(2, 3, 4), r(2, 4, 5)),
        "linear": (F.linear, x, r(5, 4), r(5)), "linear_no_bias": (F.linear, x, r(5, 4)),
        "linear_3d": (F.linear, r(2, 3, 4), r(5, 4), r(5)), "linear_3d_no_bias": (F.linear, r(2, 3, 4), r(5, 4)),
        "attention": (F.scaled_dot_product_attention, r(2, 2, 3, 4), r(2, 2, 3, 4), r(2, 2, 3, 4)),
        "attention_causal": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), r(2, 2, 3, 4),
                             r(2, 2, 3, 4), r(2, 2, 3, 4)),
        "attention_mask": (F.scaled_dot_product_attention, r(2, 2, 3, 4), r(2, 2, 3, 4), r(2, 2, 3, 4), r(3, 3)),
        "attention_bool": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(3, 3).tril().bool()),
                           r(2, 2, 3, 4), r(2, 2, 3, 4), r(2, 2, 3, 4)),
        "view": (lambda x: x.view(-1), x), "view_sizes": (lambda x: x.view(x.shape[0], 2, 2), x),
        "reshape": (lambda x: x.reshape(-1, 2), x), "reshape_copy": (lambda x: x.t().reshape(-1), x),
        "flatten": (lambda x: x.flatten(1), image), "flatten_all": (lambda x: x.flatten(), image),
        "unflatten": (lambda x: x.unflatten(1, (2, 2)), x),
        "transpose": (lambda x: x.transpose(0, 1), x), "t": (lambda x: x.t(), x), "mT": (lambda x: x.mT, x),
        "permute": (lambda x: x.permute(0, 2, 3, 1), image), "movedim": (lambda x: x.movedim(1, -1), image),
        "expand": (lambda x: x.unsqueeze(1).expand(-1, 5, -1), x), "expand_as": (lambda x, y: y.expand_as(x), x, r(4)),
        "squeeze": (lambda x: x.unsqueeze(1).squeeze(), x), "squeeze_dim": (lambda x: x.unsqueeze(1).squeeze(1), x),
        "unsqueeze": (lambda x: x.unsqueeze(-1), x), "select": (lambda x: x[:, 1], x), "slice": (lambda x: x[:, 1:3], x),
        "slice_step": (lambda x: x[:, ::2], x), "getitem_none": (lambda x: x[:, None, 1], x),
        "split": (lambda x: x.split(2, 1), x), "split_sizes": (lambda x: x.split([1, 3], 1), x),
        "chunk": (lambda x: x.chunk(2, 1), x), "chunk_uneven": (lambda x: x.chunk(3, 1), x),
        "unbind": (lambda x: x.unbind(1), x), "narrow": (lambda x: x.narrow(1, 1, 2), x),
        "tensor_split": (lambda x: x.tensor_split(2, 1), x),
        "cat": (lambda x, y: torch.cat([x, y], 1), x, x), "stack": (lambda x, y: torch.stack([x, y], 1), x, x),
        "hstack": (lambda x, y: torch.hstack([x, y]), x, x),
        "repeat": (lambda x: x.repeat(1, 2), x), "repeat_interleave": (lambda x: x.repeat_interleave(2, 1), x),
        "roll": (lambda x: x.roll(1, 1), x), "flip": (lambda x: x.flip(1), x), "diagonal": (lambda x: x.diagonal(), r(4, 4)),
        "tril": (torch.tril, x), "triu": (lambda x: x.triu(1), x), "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), image),
        "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), image),
        "to_dtype": (lambda x: x.to(torch.float64), x), "to_same": (lambda x: x.to(torch.float32) + 1, x),
        "float": (lambda x: x.float(), ints(5, 3, 4)), "half": (lambda x: x.half(), x), "type_as": (lambda x, y: y.type_as(x), x, ints(5, 3)),
        "contiguous": (lambda x: x.t().contiguous(), x), "contiguous_same": (lambda x: x.contiguous() + 1, x),
        "clone": (lambda x: x.clone(), x), "detach": (lambda x: x.detach() + 1, x), "alias": (lambda x: torch.ops.aten.alias(x) + 1, x),
        "pad_constant": (lambda x: F.pad(x, (1, 2)), x), "pad_value": (lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), x),
        "pad_reflect": (lambda x: F.pad(x, (1, 2, 1, 1), mode="reflect"), image),
        "pad_replicate": (lambda x: F.pad(x, (1, 2, 1, 1), mode="replicate"), image),
        "pad_circular": (lambda x: F.pad(x, (1, 2, 1, 1), mode="circular"), image),
        "pad_reflect1d": (lambda x: F.pad(x, (1, 2), mode="reflect"), row),
        "upsample_nearest": (lambda x: F.interpolate(x, scale_factor=2), image),
        "upsample_nearest_size": (lambda x: F.interpolate(x, size=(5, 6)), image),
        "upsample_bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), image),
        "upsample_bilinear_corners": (lambda x: F.interpolate(x, size=(5, 6), mode="bilinear", align_corners=True), image),
        "upsample_bicubic": (lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), image),
        "upsample_linear": (lambda x: F.interpolate(x, scale_factor=2, mode="linear"), row),
        "upsample_nearest1d": (lambda x: F.interpolate(x, scale_factor=2), row),
        "max_pool1d": (lambda x: F.max_pool1d(x, 2), row), "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), image),
        "max_pool3d": (lambda x: F.max_pool3d(x, 2), r(2, 3, 4, 4, 4)),
        "avg_pool1d": (lambda x: F.avg_pool1d(x, 2), row), "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), image),
        "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), r(2, 3, 4, 4, 4)),
        "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 4), row),
        "adaptive_avg_pool1d_one": (lambda x: F.adaptive_avg_pool1d(x, 1), row),
        "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (3, 5)), image),
        "adaptive_avg_pool2d_one": (lambda x: F.adaptive_avg_pool2d(x, 1), image),
        "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, 2), r(2, 3, 4, 4, 4)),
        "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 4), row),
        "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, 3), image),
        "lp_pool2d": (lambda x: F.lp_pool2d(x, 2, 2), image),
        "unfold": (lambda x: F.unfold(x, 2), image), "fold": (lambda x: F.fold(x, (4, 4), 2, stride=2), r(2, 12, 4)),
        "cross_entropy": (F.cross_entropy, x, ints(4, 3)),
        "cross_entropy_weight": (lambda x, t, w: F.cross_entropy(x, t, w, reduction="sum"), x, ints(4, 3), r(4)),
        "cross_entropy_smooth": (lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), x, ints(4, 3)),
        "cross_entropy_2d": (F.cross_entropy, image, ints(4, 2, 8, 8)),
        "nll_loss": (F.nll_loss, x, ints(4, 3)), "mse_loss": (F.mse_loss, x, x), "l1_loss": (F.l1_loss, x, x),
        "mse_loss_none": (lambda x, y: F.mse_loss(x, y, reduction="none"), x, x),
        "smooth_l1_loss": (F.smooth_l1_loss, x, x), "huber_loss": (F.huber_loss, x, x),
        "bce": (F.binary_cross_entropy, torch.rand(3, 4), torch.rand(3, 4)),
        "bce_logits": (F.binary_cross_entropy_with_logits, x, torch.rand(3, 4)),
        "kl_div": (lambda x, y: F.kl_div(x, y, reduction="batchmean"), x, x),
        "cosine_similarity": (F.cosine_similarity, x, x), "normalize": (F.normalize, x),
        "triplet": (F.triplet_margin_loss, x, x, x), "hinge": (F.hinge_embedding_loss, x, x), "margin": (F.margin_ranking_loss, r(3), r(3), r(3)),
        "soft_margin": (F.soft_margin_loss, x, x), "poisson": (F.poisson_nll_loss, x, x), "gaussian": (F.gaussian_nll_loss, x, x, torch.rand(3, 4)),
        "arange": (lambda x: x + torch.arange(4), x), "arange_size": (lambda x: x[:, 0] + torch.arange(x.shape[0]), x),
        "arange_float": (lambda x: x + torch.arange(0, 4.0, 1), x),
        "zeros": (lambda x: x + torch.zeros(x.shape), x), "ones": (lambda x: x + torch.ones(4), x),
        "full": (lambda x: x + torch.full((4,), 2.0), x), "empty": (lambda x: torch.empty(4).fill_(0) + x, x),
        "zeros_like": (lambda x: torch.zeros_like(x) + x, x), "ones_like": (lambda x: torch.ones_like(x) + x, x),
        "full_like": (lambda x: torch.full_like(x, 3.0) + x, x), "new_zeros": (lambda x: x.new_zeros(4) + x, x),
        "new_ones": (lambda x: x.new_ones(x.shape) + x, x), "new_full": (lambda x: x.new_full((4,), 2.0) + x, x),
        "eye": (lambda x: x + torch.eye(4), r(4, 4)), "linspace": (lambda x: x + torch.linspace(0, 1, 4), x),
        "scalar_tensor": (lambda x: x + torch.tensor(2.0), x), "rand_like": (lambda x: torch.rand_like(x).shape[0] + x, x),
        "where": (lambda x, y: torch.where(x > 0, x, y), x, x), "where_number": (lambda x: torch.where(x > 0, x, 0.0), x),
        "masked_fill": (lambda x: x.masked_fill(x > 0, -1.0), x), "masked_fill_tensor": (lambda x, v: x.masked_fill(x > 0, v), x, r(())),
        "index": (lambda x, i: x[:, i], x, ints(4, 2)), "index_select": (lambda x, i: x.index_select(1, i), x, ints(4, 2)),
        "gather": (lambda x, i: x.gather(1, i), x, ints(4, 3, 2)), "index_put": (lambda x, i: x.index_put((i,), torch.ones(2, 4)), x, ints(3, 2)),
        "scatter": (lambda x, i: x.scatter(1, i, 1.0), x, ints(4, 3, 2)), "scatter_add": (lambda x, i: x.scatter_add(1, i, torch.ones(3, 2)), x, ints(4, 3, 2)),
        "index_add": (lambda x, i: x.index_add(1, i, torch.ones(3, 2)), x, ints(4, 2)), "take_along": (lambda x, i: x.take_along_dim(i, 1), x, ints(4, 3, 2)),
        "embedding": (lambda i, w: F.embedding(i, w), ints(5, 3, 2), r(5, 4)), "one_hot": (lambda i: F.one_hot(i, 5), ints(5, 3)),
        "mean": (lambda x: x.mean(1), x), "mean_all": (lambda x: x.mean(), x), "sum": (lambda x: x.sum(1), x), "sum_all": (lambda x: x.sum(), x),
        "var": (lambda x: x.var(1), x), "std": (lambda x: x.std(1, keepdim=True), x), "std_all": (lambda x: x.std(), x),
        "var_mean": (lambda x: torch.var_mean(x, 1), x), "norm": (lambda x: x.norm(), x), "norm_dim": (lambda x: x.norm(dim=1), x),
        "vector_norm": (lambda x: torch.linalg.vector_norm(x, dim=1), x), "max": (lambda x: x.max(1), x), "max_all": (lambda x: x.max(), x),
        "amax": (lambda x: x.amax(1), x), "argmax": (lambda x: x.argmax(1), x), "topk": (lambda x: x.topk(2), x), "sort": (lambda x: x.sort(1), x),
        "argsort": (lambda x: x.argsort(1), x), "cumsum": (lambda x: x.cumsum(1), x), "prod": (lambda x: x.prod(1), x), "logsumexp": (lambda x: x.logsumexp(1), x),
        "all": (lambda x: (x > 0).all(), x), "any": (lambda x: (x > 0).any(1), x), "all_dim": (lambda x: (x > 0).all(1), x),
        "count_nonzero": (lambda x: torch.count_nonzero(x), x), "median": (lambda x: x.median(1), x), "outer": (lambda x, y: torch.outer(x, y), r(3), r(4)),
        "add": (lambda x, y: x + y, x, x), "sub": (lambda x: 1 - x, x), "rsub": (lambda x: torch.rsub(x, 2), x), "mul": (lambda x: 2 * x, x),
        "div": (lambda x, y: x / y, x, x), "div_floor": (lambda x: x // 2, x), "floor_divide": (lambda x, y: torch.floor_divide(x, y), x, x),
        "remainder": (lambda x: x % 2, x), "pow": (lambda x: x ** 2, x), "pow_tensor": (lambda x, y: x ** y, x, x), "pow_base": (lambda x: 2.0 ** x, x),
        "sqrt": (torch.sqrt, x), "rsqrt": (torch.rsqrt, x), "exp": (torch.exp, x), "log": (torch.log, x), "neg": (lambda x: -x, x), "abs": (torch.abs, x),
        "sin": (torch.sin, x), "erf": (torch.erf, x), "reciprocal": (lambda x: 1 / x, x), "square": (torch.square, x), "sign": (torch.sign, x),
        "clamp": (lambda x: x.clamp(-1, 1), x), "clamp_min": (lambda x: x.clamp(min=0), x), "clamp_max": (lambda x: x.clamp_max(1), x),
        "maximum": (torch.maximum, x, x), "lerp": (lambda x, y: torch.lerp(x, y, 0.5), x, x), "addcmul": (torch.addcmul, x, x, x),
        "addcdiv": (torch.addcdiv, x, x, x), "logit": (torch.logit, torch.rand(3, 4)), "frac": (torch.frac, x), "floor": (torch.floor, x), "round": (torch.round, x),
        "logical_and": (lambda x: (x > 0) & (x < 1), x), "logical_not": (lambda x: ~(x > 0), x), "isnan": (torch.isnan, x), "nan_to_num": (torch.nan_to_num, x),
        "isinf": (torch.isinf, x), "eq": (lambda x: x == 0, x), "ne": (lambda x: x != 0, x), "logaddexp": (torch.logaddexp, x, x), "xlogy": (torch.xlogy, x, x),
        "dist": (torch.dist, x, x), "cdist": (torch.cdist, x, r(5, 4)), "meshgrid": (lambda x, y: torch.meshgrid(x, y, indexing="ij"), r(3), r(4)),
        "diff": (torch.diff, x), "inner": (torch.inner, x, r(5, 4)), "fliplr": (torch.fliplr, x), "tensordot": (lambda x, y: torch.tensordot(x, y, 1), x, r(4, 5)),
        "einsum_outer": (lambda x, y: torch.einsum("i,j->ij", x, y), r(3), r(4)), "einsum_sum": (lambda x, y: torch.einsum("bhqd,bhkd->bhqk", x, y), r(2, 2, 3, 4), r(2, 2, 5, 4)),
        "isfinite": (torch.isfinite, x), "diag": (torch.diag, r(4, 4)), "multiply": (lambda x: torch.multiply(x, 2), x),
        "clip": (lambda x: torch.clip(x, 0, 1), x), "linalg_norm": (torch.linalg.norm, x), "column_stack": (lambda x, y: torch.column_stack([x, y]), x, r(3)),
        "broadcast_to": (lambda x: x.broadcast_to(2, 3, 4), x), "relu_": (lambda x: F.relu(x + 1, inplace=True), x), "dropout_eval": (lambda x: F.dropout(x, 0.5, False), x),
        "dropout_train": (lambda x: F.dropout(x, 0.5, True), x), "layer_norm": (lambda x: F.layer_norm(x, (4,)), x), "group_norm": (lambda x: F.group_norm(x, 2), image),
        "instance_norm": (F.instance_norm, image), "rms_norm": (lambda x: F.rms_norm(x, (4,)), x), "rms_norm_weight": (lambda x, w: F.rms_norm(x, (4,), w), x, r(4)),
        "grid_sample": (lambda x, g: F.grid_sample(x, g, align_corners=False), image, torch.rand(2, 3, 3, 2)), "bilinear": (F.bilinear, x, r(3, 5), r(6, 4, 5)),
        "swapaxes": (lambda x: x.swapaxes(0, 1), x), "rot90": (lambda x: x.rot90(), x), "tile": (lambda x: x.tile(1, 2), x), "vstack": (lambda x, y: torch.vstack([x, y]), x, x),
        "isclose": (torch.isclose, x, x), "complex_view": (lambda x: torch.view_as_complex(x.view(-1, 2, 2)), x), "polar": (lambda x: torch.view_as_real(torch.polar(x, x)), x),
        "bitwise": (lambda x: x & 3, ints(9, 3, 4)), "sum_dtype": (lambda x: (x > 0).sum(1), x), "mean_keep": (lambda x: x.mean((0, 1), keepdim=True), x),
    }
    return {name: (Call(case[0]), tuple(case[1:])) for name, case in cases.items()}


class Last(nn.Module):
    """Of a recurrent layer: everything it gives."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, state = self.layer(x)
        return y, state


def layers():
    image, row = r(2, 4, 8, 8), r(2, 4, 8)
    made = {
        "Linear": (nn.Linear(4, 5), r(3, 4)), "Bilinear": (nn.Bilinear(4, 5, 6), r(3, 4), r(3, 5)),
        "Conv1d": (nn.Conv1d(4, 6, 3), row), "Conv2d": (nn.Conv2d(4, 6, 3, stride=2, padding=1), image),
        "Conv2d_same": (nn.Conv2d(4, 6, 3, padding="same"), image), "Conv2d_groups": (nn.Conv2d(4, 8, 3, groups=2, bias=False), image),
        "Conv2d_reflect": (nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), image),
        "Conv3d": (nn.Conv3d(3, 4, 2), r(2, 3, 4, 4, 4)), "ConvTranspose1d": (nn.ConvTranspose1d(4, 6, 3), row),
        "ConvTranspose2d": (nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1), image),
        "BatchNorm1d": (nn.BatchNorm1d(4), row), "BatchNorm2d": (nn.BatchNorm2d(4), image),
        "BatchNorm2d_plain": (nn.BatchNorm2d(4, affine=False, track_running_stats=False), image),
        "BatchNorm3d": (nn.BatchNorm3d(3), r(2, 3, 4, 4, 4)), "LayerNorm": (nn.LayerNorm(8), image), "GroupNorm": (nn.GroupNorm(2, 4), image),
        "InstanceNorm2d": (nn.InstanceNorm2d(4), image), "InstanceNorm2d_affine": (nn.InstanceNorm2d(4, affine=True, track_running_stats=True), image),
        "RMSNorm": (nn.RMSNorm(8), image), "LocalResponseNorm": (nn.LocalResponseNorm(2), image), "Embedding": (nn.Embedding(5, 4, padding_idx=0), ints(5, 3, 2)),
        "EmbeddingBag": (nn.EmbeddingBag(5, 4), ints(5, 3, 2)), "Dropout": (nn.Dropout(), r(3, 4)), "Dropout2d": (nn.Dropout2d(), image), "AlphaDropout": (nn.AlphaDropout(), r(3, 4)),
        "PReLU": (nn.PReLU(4), image), "MultiheadAttention": (nn.MultiheadAttention(8, 2, batch_first=True), r(2, 3, 8), r(2, 3, 8), r(2, 3, 8)),
        "TransformerEncoderLayer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), r(2, 3, 8)),
        "TransformerDecoderLayer": (nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), r(2, 3, 8), r(2, 3, 8)),
        "RNN": (Last(nn.RNN(4, 5, batch_first=True)), r(2, 3, 4)), "LSTM": (Last(nn.LSTM(4, 5, batch_first=True)), r(2, 3, 4)),
        "LSTM_two": (Last(nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True)), r(2, 3, 4)), "GRU": (Last(nn.GRU(4, 5, batch_first=True)), r(2, 3, 4)),
        "GRU_two": (Last(nn.GRU(4, 5, 2, batch_first=True, bidirectional=True)), r(2, 3, 4)), "LSTM_seq_first": (Last(nn.LSTM(4, 5)), r(2, 3, 4)),
        "LSTMCell": (nn.LSTMCell(4, 5), r(3, 4)), "GRUCell": (nn.GRUCell(4, 5), r(3, 4)), "RNNCell": (nn.RNNCell(4, 5), r(3, 4)),
        "MaxPool2d": (nn.MaxPool2d(2), image), "AvgPool2d": (nn.AvgPool2d(2), image), "AdaptiveAvgPool2d": (nn.AdaptiveAvgPool2d(1), image),
        "Upsample": (nn.Upsample(scale_factor=2), image), "UpsampleBilinear": (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), image),
        "Flatten": (nn.Flatten(), image), "Unflatten": (nn.Unflatten(1, (2, 2)), image), "ZeroPad2d": (nn.ZeroPad2d(1), image), "ReflectionPad2d": (nn.ReflectionPad2d(1), image),
        "ReplicationPad2d": (nn.ReplicationPad2d(1), image), "PixelShuffle": (nn.PixelShuffle(2), image), "ChannelShuffle": (nn.ChannelShuffle(2), image),
        "Softmax2d": (nn.Softmax2d(), image), "CosineSimilarity": (nn.CosineSimilarity(), r(3, 4), r(3, 4)), "WeightNorm": (nn.utils.parametrizations.weight_norm(nn.Linear(4, 5)), r(3, 4)),
    }
    return {name: (case[0].eval(), tuple(case[1:])) for name, case in made.items()}


def more_functions():
    """Operators that few models use."""
    x, y, cube, line = r(4, 6), r(4, 6) + 1, r(2, 3, 4), r(6)
    made = {
        "unsafe_chunk": (lambda x: torch.unsafe_chunk(x, 3, 1), x), "unsafe_split": (lambda x: torch.unsafe_split(x, 2, 1), x),
        "unsafe_split_with_sizes": (lambda x: torch.unsafe_split_with_sizes(x, [2, 4], 1), x), "max_other": (torch.max, x, y), "min_other": (torch.min, x, y),
        "hsplit": (lambda x: torch.hsplit(x, 3), x), "hsplit_array": (lambda x: torch.hsplit(x, [1, 3]), x), "vsplit": (lambda x: torch.vsplit(x, 2), x),
        "vsplit_array": (lambda x: torch.vsplit(x, [1]), x), "dsplit": (lambda x: torch.dsplit(x, 2), cube), "tensor_split_indices": (lambda x: torch.tensor_split(x, [1, 3], 1), x),
        "inner_lines": (torch.inner, line, line), "inner_matrices": (torch.inner, x, y), "tensordot_two": (lambda a, b: torch.tensordot(a, b, ([1, 2], [0, 1])), cube, r(3, 4, 5)),
        "kron": (torch.kron, r(2, 2), r(3, 2)), "kron_ranks": (torch.kron, cube, r(3, 2)), "isreal": (torch.isreal, x), "float_power": (torch.float_power, x, y),
        "float_power_number": (lambda x: torch.float_power(x, 2), x), "float_power_base": (lambda x: torch.float_power(2, x), x), "deg2rad": (torch.deg2rad, x),
        "rad2deg": (torch.rad2deg, x), "isposinf": (torch.isposinf, x), "isneginf": (torch.isneginf, x), "sgn": (torch.sgn, x), "trace": (torch.trace, r(3, 3)),
        "vdot": (torch.vdot, line, line), "all_dims": (lambda x: torch.all(x, (0, 1)), x), "eye_m": (lambda x: x @ torch.eye(6, 3), x), "positive": (torch.positive, x),
        "real": (torch.real, x), "resolve_conj": (torch.resolve_conj, x), "norm_number": (lambda x: torch.ops.aten.norm.Scalar(x, 3), x),
        "norm_dims": (lambda x: torch.ops.aten.norm.ScalarOpt_dim(x, 3, [1], True), x), "sinc": (torch.sinc, x), "logaddexp2": (torch.logaddexp2, x, y),
        "entr": (torch.special.entr, x), "xlog1py": (torch.special.xlog1py, x, y), "take": (torch.take, x, ints(5, 3)), "nansum": (lambda x: torch.nansum(x, 1), x),
        "special_round": (lambda x: torch.special.round(x, decimals=2), x), "matrix_norm": (torch.linalg.matrix_norm, x), "matrix_norm_one": (lambda x: torch.linalg.matrix_norm(x, 1), x),
        "ndtr": (torch.special.ndtr, x), "arcsin": (torch.arcsin, x), "gammaln": (torch.special.gammaln, y), "special_softmax": (lambda x: torch.special.softmax(x, 1), x),
        "fix": (torch.fix, x), "greater_equal": (torch.greater_equal, x, y), "not_equal": (torch.not_equal, x, y), "row_stack": (lambda x: torch.row_stack([x, x]), x),
        "atleast_3d": (torch.atleast_3d, line), "dstack": (lambda x: torch.dstack([x, x]), x), "diff_prepend": (lambda x, y: torch.diff(x, prepend=y), x, y),
        "diff_twice": (lambda x: torch.diff(x, 2, 0), x), "einsum_three": (lambda a, b, c: torch.einsum("ij,jk,kl->il", a, b, c), r(2, 3), r(3, 4), r(4, 5)),
        "einsum_ellipsis": (lambda a, b: torch.einsum("...i,ji->...j", a, b), cube, r(5, 4)), "triplet_swap": (lambda x, y, z: F.triplet_margin_loss(x, y, z, swap=True), x, y, r(4, 6) - 1),
        "poisson_full": (lambda x, y: F.poisson_nll_loss(x, y, log_input=False, full=True), y.abs(), y.abs()),
        "cross_entropy_line": (F.cross_entropy, r(2, 5, 3), ints(5, 2, 3)), "cross_entropy_probabilities": (F.cross_entropy, r(3, 5), r(3, 5).softmax(1)),
    }
    return {name: (Call(case[0]), tuple(case[1:])) for name, case in made.items()}


def written():
    kinds = ["buffer", "input", "input_view", "slice", "select", "view", "transpose", "fill", "twice", "unsqueeze", "masked", "out", "copied", "copied_input"]
    return {f"written_{kind}": (Written(kind), (r(3, 4),)) for kind in kinds}


def trained():
    """Layers that do something else while they are trained."""
    names = ["BatchNorm1d", "BatchNorm2d", "BatchNorm2d_plain", "InstanceNorm2d_affine", "Dropout", "Dropout2d", "TransformerEncoderLayer", "MultiheadAttention", "LSTM", "GRU"]
    return {f"{name}_train": (layers()[name][0].train(), layers()[name][1]) for name in names}


def fourier():
    return {name: (Call(function), inputs) for name, (function, inputs) in decomposition_fourier.functions().items()}


def all_cases():
    return {**functions(), **more_functions(), **layers(), **trained(), **written(), **fourier()}
