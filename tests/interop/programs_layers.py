"""Real layers and larger graphs."""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  It registers the operators quantized_decomposed::*.
from torch import nn
from torch.export import Dim
from torch.nn import functional

from programs import Export, program


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = functional.relu(self.first_norm(self.first(x)), inplace=True)
        y = self.second_norm(self.second(y))
        y += x if self.shortcut is None else self.shortcut(x)
        return functional.relu(y)


class ResNet(nn.Module):
    def __init__(self, width, classes=10, blocks=(2, 2, 2, 2)):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        layers, channels = [], width
        for level, count in enumerate(blocks):
            for number in range(count):
                outputs = width * 2**level
                layers.append(Residual(channels, outputs, 2 if number == 0 and level else 1))
                channels = outputs
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(functional.adaptive_avg_pool2d(self.layers(self.stem(x)), 1).flatten(1))


@program("decomposed", "strict")
def resnet():
    return Export(ResNet(4).eval(), (torch.randn(1, 3, 32, 32),))


@program("decomposed")
def resnet_training():
    return Export(ResNet(4, blocks=(1, 1)).train(), (torch.randn(3, 3, 16, 16),), dynamic=({0: Dim("batch", min=2, max=16)},))


class UNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, width, 3, padding=1), nn.Conv2d(width, 2 * width, 3, padding=1)
        self.middle = nn.Sequential(nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.GroupNorm(2, 2 * width), nn.SiLU())
        self.up2, self.up1 = nn.ConvTranspose2d(2 * width, width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.head = nn.Conv2d(2 * width, 1, 1)

    def forward(self, x):
        a = functional.relu(self.down1(x))
        b = functional.relu(self.down2(functional.max_pool2d(a, 2)))
        c = self.middle(functional.avg_pool2d(b, 2))
        c = torch.cat([self.up2(c), b[:, : b.shape[1] // 2]], 1)
        return self.head(torch.cat([self.up1(c), functional.interpolate(a, scale_factor=1)], 1))


@program("decomposed")
def unet():
    return Export(UNet(4).eval(), (torch.randn(1, 1, 16, 16),))


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.cell = kind(4, 6, batch_first=True, **options)

    def forward(self, x):
        return self.cell(x)


@program("decomposed", "strict")
def lstm():
    return Export(Recurrent(nn.LSTM, num_layers=2, bidirectional=True).eval(), (torch.randn(2, 5, 4),))


@program("decomposed")
def gru():
    return Export(Recurrent(nn.GRU).eval(), (torch.randn(2, 5, 4),), dynamic=({0: Dim("batch", max=16)},))


@program("decomposed")
def rnn():
    return Export(Recurrent(nn.RNN, nonlinearity="relu").eval(), (torch.randn(2, 5, 4),))


@program("decomposed", "core")
def transformer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
    return Export(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(), (torch.randn(2, 5, 8),))


@program("decomposed")
def transformer_training():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return Export(nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).train(), (torch.randn(2, 5, 8),), dynamic=({0: Dim("batch", min=2, max=8), 1: Dim("length", min=2, max=64)},))


class Bert(nn.Module):
    def __init__(self, width=8, layers=2, words=20, length=16):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width, padding_idx=0), nn.Embedding(length, width)
        self.register_buffer("positions", torch.arange(length)[None], persistent=False)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(width, 2, 2 * width, batch_first=True, activation="gelu") for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens, mask=None):
        x = self.norm(self.words(tokens) + self.places(self.positions[:, : tokens.shape[1]]))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        return {"hidden": x, "pooled": torch.tanh(self.pooler(x[:, 0]))}


@program("decomposed")
def bert():
    tokens = torch.tensor([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8]])
    return Export(Bert().train(False), (tokens,), {"mask": tokens == 0})


class Decoder(nn.Module):
    """Rotary positions, grouped heads, gated layers, a causal mask: the parts of language models of today."""

    def __init__(self, width=16, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.query, self.key, self.value = (nn.Linear(width, count * self.size, bias=False) for count in (heads, groups, groups))
        self.output = nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 32, bias=False), nn.Linear(width, 32, bias=False), nn.Linear(32, width, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.register_buffer("frequencies", 10000 ** -(torch.arange(0, self.size, 2) / self.size), persistent=False)

    def rotate(self, x, angles):
        first, second = x.chunk(2, -1)
        return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)

    def forward(self, x):
        batch, length, _ = x.shape
        angles = torch.arange(length)[:, None] * self.frequencies
        h = self.norm1(x)
        q = self.rotate(self.query(h).view(batch, length, self.heads, self.size).transpose(1, 2), angles)
        k = self.rotate(self.key(h).view(batch, length, self.groups, self.size).transpose(1, 2), angles)
        v = self.value(h).view(batch, length, self.groups, self.size).transpose(1, 2)
        k, v = (t.repeat_interleave(self.heads // self.groups, dim=1) for t in (k, v))
        h = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(h.transpose(1, 2).reshape(batch, length, -1))
        h = self.norm2(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


@program("decomposed", "strict", "core")
def decoder():
    args = (torch.randn(2, 6, 16),)
    return Export(nn.Sequential(Decoder(), Decoder()).eval(), args, dynamic=({0: Dim("batch", max=8), 1: Dim("length", min=2, max=64)},))


@program("decomposed")
def attention():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x, y):
            return self.attention(x, y, y, need_weights=True, average_attn_weights=False)

    return Export(Attention().eval(), (torch.randn(2, 3, 8), torch.randn(2, 4, 8)))


@program("decomposed")
def embedding_bag():
    class Bags(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean, self.most = nn.EmbeddingBag(6, 3), nn.EmbeddingBag(6, 3, mode="max", padding_idx=2)

        def forward(self, words, starts):
            return self.mean(words, starts), self.most(words, starts)

    return Export(Bags(), (torch.tensor([0, 2, 1, 5]), torch.tensor([0, 2])))


@program("decomposed")
def losses():
    class Losses(nn.Module):
        def forward(self, x, target, classes):
            return functional.cross_entropy(x, classes, label_smoothing=0.1), functional.mse_loss(x, target), functional.huber_loss(x, target), functional.kl_div(x.log_softmax(1), target.softmax(1), reduction="batchmean")

    return Export(Losses(), (torch.randn(3, 4), torch.randn(3, 4), torch.tensor([0, 1, 3])))


@program("decomposed", "core")
def assorted():
    class Assorted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(
                nn.Conv1d(2, 4, 3, padding="same"), nn.PReLU(), nn.InstanceNorm1d(4, affine=True), nn.ELU(0.5), nn.AvgPool1d(2), nn.Hardswish(),
                nn.ConvTranspose1d(4, 2, 2, 2), nn.LeakyReLU(0.01), nn.AdaptiveMaxPool1d(4), nn.Softplus(), nn.Flatten(), nn.LayerNorm(8), nn.GLU(), nn.Softmax(-1),
            )
            self.bilinear = nn.Bilinear(4, 4, 3)

        def forward(self, x):
            y = self.layers(x)
            return self.bilinear(y, y), functional.unfold(x[..., None], (2, 1)), functional.grid_sample(x[..., None], torch.zeros(1, 2, 2, 2), align_corners=False), torch.cdist(y, y), functional.one_hot(y.argmax(-1), 4), y.cumsum(-1), y.erf()

    return Export(Assorted().eval(), (torch.randn(1, 2, 8),))


@program("decomposed")
def quantized_arithmetic():
    class Fake(nn.Module):
        def forward(self, x):
            y = torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 255)
            q = torch.ops.quantized_decomposed.quantize_per_tensor(y, 0.1, 3, 0, 255, torch.uint8)
            return torch.ops.quantized_decomposed.dequantize_per_tensor(q, 0.1, 3, 0, 255, torch.uint8)

    return Export(Fake(), (torch.randn(4),))


@program()
def long_chain():
    """Six hundred nodes."""

    class Chain(nn.Module):
        def forward(self, x):
            for i in range(300):
                x = torch.sin(x) + i
            return x

    return Export(Chain(), (torch.randn(3),))


@program()
def wide():
    """Many inputs, many results, many weights."""

    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.ParameterList([torch.full((2,), float(i)) for i in range(40)])

        def forward(self, xs):
            return [x * w for x, w in zip(xs, self.weights)] + [torch.stack(xs).sum()]

    return Export(Wide(), ([torch.randn(2) for _ in range(40)],))


@program("decomposed")
def deep():
    """Modules in modules, thirty deep."""

    class Level(nn.Module):
        def __init__(self, depth):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2) * depth)
            self.next = Level(depth - 1) if depth else None

        def forward(self, x):
            x = x * self.weight
            return self.next(x) if self.next is not None else x

    return Export(Level(30), (torch.randn(2),))
