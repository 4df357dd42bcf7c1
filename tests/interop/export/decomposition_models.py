"""Whole models, small: what decompositions meet together."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """A residual block."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet18(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        stages, inputs = [], width
        for i in range(4):
            outputs = width * 2**i
            stages += [Block(inputs, outputs, 1 if i == 0 else 2), Block(outputs, outputs, 1)]
            inputs = outputs
        self.layers = nn.Sequential(*stages)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inputs, 10)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layers(x)), 1))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.norm, self.dropout = nn.LayerNorm(16), nn.Dropout(0.1)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True) for _ in range(2)
        )
        self.pooler = nn.Linear(16, 16)

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.dropout(self.norm(self.words(ids) + self.places(places)))
        for layer in self.layers:
            x = layer(x)
        return x, torch.tanh(self.pooler(x[:, 0]))


class CausalAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(batch, length, width))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "ln1": nn.LayerNorm(16),
                    "attn": CausalAttention(16, 4),
                    "ln2": nn.LayerNorm(16),
                    "mlp": nn.Sequential(nn.Linear(16, 64), nn.GELU(approximate="tanh"), nn.Linear(64, 16)),
                }
            )
            for _ in range(2)
        )
        self.ln = nn.LayerNorm(16)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = x + block["attn"](block["ln1"](x))
            x = x + block["mlp"](block["ln2"](x))
        return self.ln(x) @ self.wte.weight.t()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.lstm = nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(12, 5)

    def forward(self, ids):
        return F.log_softmax(self.out(self.lstm(self.embed(ids))[0]), -1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        double = lambda i, o: nn.Sequential(
            nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True), nn.Conv2d(o, o, 3, padding=1), nn.ReLU()
        )
        self.down1, self.down2, self.middle = double(1, 4), double(4, 8), double(8, 16)
        self.up2, self.dec2 = nn.ConvTranspose2d(16, 8, 2, 2), double(16, 8)
        self.dec1, self.head = double(12, 4), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.middle(F.max_pool2d(b, 2))
        b = self.dec2(torch.cat([self.up2(c), b], 1))
        up = F.interpolate(b, scale_factor=2.0, mode="bilinear", align_corners=False)
        return torch.sigmoid(self.head(self.dec1(torch.cat([up, a], 1))))


class LlamaAttention(nn.Module):
    def __init__(self, width, heads, shared):
        super().__init__()
        self.heads, self.shared, self.each = heads, shared, width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, shared * self.each, bias=False)
        self.v = nn.Linear(width, shared * self.each, bias=False)
        self.o = nn.Linear(width, width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        turn = lambda t: torch.cat([-t[..., self.each // 2 :], t[..., : self.each // 2]], -1)
        q = self.q(x).view(batch, length, self.heads, self.each).transpose(1, 2)
        k = self.k(x).view(batch, length, self.shared, self.each).transpose(1, 2)
        v = self.v(x).view(batch, length, self.shared, self.each).transpose(1, 2)
        q, k = q * cos + turn(q) * sin, k * cos + turn(k) * sin
        times = self.heads // self.shared
        k, v = (t[:, :, None].expand(-1, -1, times, -1, -1).reshape(batch, self.heads, length, self.each) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, length, width))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.register_buffer("frequencies", 1.0 / 10000 ** (torch.arange(0, 4, 2) / 4), persistent=False)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.RMSNorm(16, eps=1e-5),
                    "attn": LlamaAttention(16, 4, 2),
                    "norm2": nn.RMSNorm(16, eps=1e-5),
                    "gate": nn.Linear(16, 32, bias=False),
                    "up": nn.Linear(16, 32, bias=False),
                    "down": nn.Linear(32, 16, bias=False),
                }
            )
            for _ in range(2)
        )
        self.norm, self.head = nn.RMSNorm(16, eps=1e-5), nn.Linear(16, 40, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        angles = torch.arange(ids.shape[1])[:, None].float() * self.frequencies
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos(), angles.sin()
        for layer in self.layers:
            x = x + layer["attn"](layer["norm1"](x), cos, sin)
            y = layer["norm2"](x)
            x = x + layer["down"](F.silu(layer["gate"](y)) * layer["up"](y))
        return self.head(self.norm(x))


def models():
    """(model, example inputs, what of their sizes may vary) by name."""
    torch.manual_seed(0)
    image, ids = torch.randn(2, 3, 64, 64), torch.randint(0, 30, (2, 7))
    batch = ({0: torch.export.Dim("batch")},)
    both = ({0: torch.export.Dim("batch"), 1: torch.export.Dim("length", max=30)},)
    return {
        "resnet18": (ResNet18(), (image,), batch),
        "bert": (Bert(), (ids,), both),
        "gpt2": (Gpt2(), (ids,), both),
        "tagger": (Tagger(), (ids,), batch),
        "unet": (UNet(), (torch.randn(2, 1, 16, 16),), batch),
        "llama": (Llama(), (ids,), both),
    }
