"""The models that bench/runtime measures, in plain PyTorch, with weights that a fixed seed gives.

MODELS maps a name to a function of the batch that gives the module and its arguments.
"""

import pathlib

import torch
import torch.nn.functional as F
from torch import nn

MODELS = {}


def model(function):
    MODELS[function.__name__.replace("_", "-")] = function
    return function


def convolution(inputs, outputs, kernel, stride=1, groups=1, activation=None):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation] if activation else []))


class Basic(nn.Module):
    grows = 1

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.a = convolution(inputs, width, 3, stride, activation=nn.ReLU(inplace=True))
        self.b = convolution(width, width, 3)
        self.short = convolution(inputs, width, 1, stride) if stride != 1 or inputs != width else nn.Identity()

    def forward(self, x):
        return F.relu(self.b(self.a(x)) + self.short(x), inplace=True)


class Bottleneck(nn.Module):
    grows = 4

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.a = convolution(inputs, width, 1, activation=nn.ReLU(inplace=True))
        self.b = convolution(width, width, 3, stride, activation=nn.ReLU(inplace=True))
        self.c = convolution(width, 4 * width, 1)
        self.short = convolution(inputs, 4 * width, 1, stride) if stride != 1 or inputs != 4 * width else nn.Identity()

    def forward(self, x):
        return F.relu(self.c(self.b(self.a(x))) + self.short(x), inplace=True)


class ResNet(nn.Module):
    def __init__(self, block, depths):
        super().__init__()
        self.stem = convolution(3, 64, 7, 2, activation=nn.ReLU(inplace=True))
        self.pool = nn.MaxPool2d(3, 2, 1)
        layers, inputs = [], 64
        for stage, depth in enumerate(depths):
            for number in range(depth):
                layers.append(block(inputs, 64 << stage, 2 if stage and number == 0 else 1))
                inputs = (64 << stage) * block.grows
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(inputs, 1000)

    def forward(self, x):
        x = self.layers(self.pool(self.stem(x)))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


@model
def resnet_18(batch):
    return ResNet(Basic, [2, 2, 2, 2]), (torch.randn(batch, 3, 224, 224),)


@model
def resnet_50(batch):
    return ResNet(Bottleneck, [3, 4, 6, 3]), (torch.randn(batch, 3, 224, 224),)


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        width = inputs * expand
        layers = [convolution(inputs, width, 1, activation=nn.ReLU6(inplace=True))] if expand != 1 else []
        layers += [convolution(width, width, 3, stride, width, nn.ReLU6(inplace=True)), convolution(width, outputs, 1)]
        self.layers, self.adds = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


@model
def mobilenet_v2(batch):
    layers, inputs = [convolution(3, 32, 3, 2, activation=nn.ReLU6(inplace=True))], 32
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expand, outputs, depth, stride in stages:
        for number in range(depth):
            layers.append(Inverted(inputs, outputs, stride if number == 0 else 1, expand))
            inputs = outputs
    layers += [convolution(320, 1280, 1, activation=nn.ReLU6(inplace=True)), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers), (torch.randn(batch, 3, 224, 224),)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, past=None, mask=None):
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        x = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(x.transpose(1, 2).reshape(batch, length, width)), (k, v)


class Encoder(nn.Module):
    """A layer as in BERT: normalized after each half."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.first, self.second = Attention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        x = self.first(x + self.attention(x, mask=mask)[0])
        return self.second(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, width=768, layers=12, heads=12, words=30522):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([Encoder(width, heads) for _ in range(layers)])

    def forward(self, ids, mask):
        x = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]])
        mask = mask[:, None, None, :].to(torch.bool)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@model
def bert_base(batch):
    ids = torch.randint(0, 30522, (batch, 128))
    mask = torch.ones(batch, 128, dtype=torch.int64)
    mask[:, 120:] = 0
    return Bert(), (ids, mask)


class Decoder(nn.Module):
    """A layer as in GPT-2: normalized before each half."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.first, self.second = Attention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, past):
        attended, present = self.attention(self.first(x), past)
        x = x + attended
        return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh")), present


class Gpt2(nn.Module):
    """One step: a new token, with the keys and values of the tokens before it."""

    def __init__(self, width=768, layers=12, heads=12, words=50257):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(1024, width)
        self.layers = nn.ModuleList([Decoder(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, past):
        x = self.words(ids) + self.places.weight[past[0][0].shape[2]]
        presents = []
        for layer, before in zip(self.layers, past):
            x, present = layer(x, before)
            presents.append(present)
        return F.linear(self.norm(x), self.words.weight), presents


@model
def gpt2_step(batch):
    past = [(torch.randn(batch, 12, 128, 64), torch.randn(batch, 12, 128, 64)) for _ in range(12)]
    return Gpt2(), (torch.randint(0, 50257, (batch, 1)), past)


@model
def lstm(batch):
    return nn.LSTM(512, 512, num_layers=2, batch_first=True), (torch.randn(batch, 64, 512),)


@model
def tiny_mlp(batch):
    layers = [layer for _ in range(20) for layer in (nn.Linear(64, 64), nn.ReLU())]
    return nn.Sequential(*layers), (torch.randn(batch, 64),)


class UNet(nn.Module):
    def __init__(self, base=32, depth=4):
        super().__init__()
        widths = [base << level for level in range(depth)]
        self.downs = nn.ModuleList([self.double(i, o) for i, o in zip([3, *widths], widths)])
        self.middle = self.double(widths[-1], widths[-1] * 2)
        self.ups = nn.ModuleList([nn.ConvTranspose2d(width * 2, width, 2, 2) for width in reversed(widths)])
        self.joins = nn.ModuleList([self.double(width * 2, width) for width in reversed(widths)])
        self.head = nn.Conv2d(base, 2, 1)

    @staticmethod
    def double(inputs, outputs):
        return nn.Sequential(convolution(inputs, outputs, 3, activation=nn.ReLU()), convolution(outputs, outputs, 3, activation=nn.ReLU()))

    def forward(self, x):
        kept = []
        for down in self.downs:
            x = down(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.middle(x)
        for up, join in zip(self.ups, self.joins):
            x = join(torch.cat([up(x), kept.pop()], 1))
        return self.head(x)


@model
def unet(batch):
    return UNet(), (torch.randn(batch, 3, 128, 128),)


def build(name, batch):
    """The module, ready to run, and its arguments."""
    torch.manual_seed(0)
    module, args = MODELS[name](batch)
    with torch.no_grad():
        for key, buffer in module.named_buffers():
            if key.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)
    return module.eval(), args


def exported(name, batch, folder):
    """The .pt2 file, kept in the folder."""
    path = pathlib.Path(folder) / f"{name}-{batch}.pt2"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        module, args = build(name, batch)
        with torch.no_grad():
            torch.export.save(torch.export.export(module, args), path.with_suffix(".part.pt2"))
        path.with_suffix(".part.pt2").rename(path)
    return path
