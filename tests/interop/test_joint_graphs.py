"""Graphs of a loss and all its gradients, which PyTorch's AOT autograd makes of small models: saved, and run here, they give
what PyTorch gives."""

import flambeau
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._functorch.aot_autograd import aot_export_module

from flambeau_torch import to_flambeau, to_torch

pytestmark = pytest.mark.filterwarnings("ignore")

MODELS = {}


def model(*inputs):
    """A module that gives a loss; the inputs are functions, so that each run draws its own."""

    def register(kind):
        MODELS[kind.__name__] = (kind, inputs)
        return kind

    return register


def numbers(*shape):
    return lambda: torch.randn(*shape)


def classes(count, *shape):
    return lambda: torch.randint(0, count, shape)


@model(numbers(4, 8), classes(5, 4))
class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 12), nn.SiLU(), nn.Linear(12, 5))

    def forward(self, x, y):
        return (F.cross_entropy(self.layers(x), y),)


@model(numbers(3, 3, 16, 16), classes(4, 3))
class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.second, self.last = nn.Conv2d(8, 8, 3, stride=2, groups=4), nn.Linear(8, 4)

    def forward(self, x, y):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.avg_pool2d(F.hardswish(self.second(x)), 2, 1)
        return (F.cross_entropy(self.last(F.adaptive_avg_pool2d(x, 1).flatten(1)), y, label_smoothing=0.1),)


@model(numbers(2, 6, 16))
class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.LayerNorm(16), nn.LayerNorm(16)
        self.inner, self.outer = nn.Linear(16, 48), nn.Linear(16, 16)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        q, k, v = self.inner(self.one(x)).view(2, 6, 3, 4, 4).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.outer(attended.transpose(1, 2).reshape(2, 6, 16))
        x = x + self.down(F.gelu(self.up(self.two(x)), approximate="tanh"))
        return (x.square().mean(),)


@model(numbers(5, 2, 4))
class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(10, 24)

    def forward(self, x):
        h, c = torch.zeros(2, 6), torch.zeros(2, 6)
        for step in x.unbind(0):
            i, f, g, o = self.cell(torch.cat([step, h], 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return (F.smooth_l1_loss(h, torch.ones_like(h)),)


@model(classes(10, 7), lambda: torch.tensor([0, 3, 5]), classes(3, 3))
class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.means, self.last = nn.Embedding(10, 6, padding_idx=1), nn.EmbeddingBag(10, 6, mode="mean"), nn.Linear(6, 3)

    def forward(self, x, offsets, y):
        return (F.nll_loss(F.log_softmax(self.last(self.means(x, offsets) + self.table(x[:3])), 1), y, reduction="sum"),)


@model(numbers(2, 3, 12, 12))
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.norm = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.GroupNorm(4, 8)
        self.middle, self.up = nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect"), nn.ConvTranspose2d(8, 3, 2, stride=2)

    def forward(self, x):
        small = F.mish(self.norm(self.down(x)))
        back = self.up(F.leaky_relu(self.middle(small)))
        large = F.interpolate(small, scale_factor=2, mode="bilinear")[:, :3] + F.interpolate(small[:, :3], size=(12, 12), mode="nearest")
        return (F.mse_loss(back + large, x),)


@model(numbers(2, 4, 10))
class Signals(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.slope = nn.Conv1d(4, 8, 3, dilation=2), nn.PReLU(8)

    def forward(self, x):
        x = F.glu(self.slope(self.wide(F.pad(x, (2, 1), mode="replicate"))), 1)
        x = F.max_pool1d(F.elu(x), 2) + F.interpolate(x, size=4, mode="linear")
        return (F.huber_loss(F.softplus(x), torch.zeros_like(x)),)


@model(numbers(1, 2, 6, 6, 6))
class Volumes(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4)

    def forward(self, x):
        x = F.avg_pool3d(F.relu6(self.norm(self.layer(x))), 2)
        return (F.adaptive_max_pool3d(x, 2)[0].sum() + F.adaptive_avg_pool3d(x, 2).pow(2).sum(),)


@model(numbers(4, 6), lambda: torch.rand(4, 6))
class Binary(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 6)

    def forward(self, x, y):
        z = self.layer(x)
        first = F.binary_cross_entropy(torch.sigmoid(z), y)
        return (first + F.binary_cross_entropy_with_logits(F.hardtanh(z), y) + F.soft_margin_loss(F.logsigmoid(z), y.sign()),)


@model(numbers(5, 6))
class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 6))

    def forward(self, x):
        y = x * self.weight
        some = y[1:, ::2].sum() + y[2].prod() + y.diagonal().sum() + y.unfold(1, 3, 2).square().sum()
        best = y.max(1).values.sum() + y.gather(1, torch.tensor([[0], [1], [2], [0], [5]])).sum() + y.cumsum(0).logsumexp(1).sum()
        return (some + best + y.index_select(0, torch.tensor([0, 0, 3])).norm() + y.sort(1).values[:, -1].sum() + y.trace(),)


@model(numbers(2, 3, 8, 8), numbers(2, 4, 4, 2))
class Attended(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 6, 1)

    def forward(self, x, grid):
        tokens = self.layer(x).flatten(2)
        weights = F.softmax(tokens.transpose(1, 2) @ tokens / 8, -1)
        return (F.hardsigmoid(tokens @ weights).mean() + F.softshrink(tokens).sum() + F.threshold(grid, 0.1, 0).sum() + F.hardshrink(tokens).mean(),)


@model(numbers(3, 4, 8))
class Normalized(nn.Module):
    def __init__(self):
        super().__init__()
        self.rms, self.instance = nn.RMSNorm(8), nn.InstanceNorm1d(4, affine=True)
        self.layer = nn.utils.parametrizations.weight_norm(nn.Linear(8, 8))

    def forward(self, x):
        return (F.kl_div(F.log_softmax(self.layer(self.rms(x) + self.instance(x)), -1), F.softmax(x, -1), reduction="batchmean"),)


def joint(kind, inputs):
    """The graph of a loss and its gradients, and what it takes: parameters, buffers, inputs."""
    torch.manual_seed(0)
    module = kind()
    given = [make() for make in inputs]
    graph, _ = aot_export_module(module, given, trace_joint=True, output_loss_index=0)
    return graph, [value.detach().clone() for value in (*module.parameters(), *module.buffers(), *given)]


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_pytorchs(name, tmp_path):
    graph, values = joint(*MODELS[name])
    backward = [str(node.target) for node in graph.graph.nodes if "backward" in str(node.target)]
    path = tmp_path / "joint.pt2"
    torch.export.save(torch.export.export(graph, tuple(values)), path)
    expected = graph(*[value.clone() for value in values])
    ours = flambeau.load(path)(*[to_flambeau(value) for value in values])
    assert len(ours) == len(expected)
    assert backward or name == "Views"
    for place, (a, b) in enumerate(zip(ours, expected)):
        if b is None:
            assert a is None
        else:
            torch.testing.assert_close(to_torch(a), b, rtol=2e-5, atol=2e-5, msg=lambda text: f"{name}, result {place}: {text}")
