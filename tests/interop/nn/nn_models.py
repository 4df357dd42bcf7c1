"""The models of examples/models/ and model_cases.cpp, in Python."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        identity = self.downsample(x) if self.downsample is not None else x
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = nn.Sequential(BasicBlock(64, 64, 1), BasicBlock(64, 64, 1))
        self.layer2 = nn.Sequential(BasicBlock(64, 128, 2), BasicBlock(128, 128, 1))
        self.layer3 = nn.Sequential(BasicBlock(128, 256, 2), BasicBlock(256, 256, 1))
        self.layer4 = nn.Sequential(BasicBlock(256, 512, 2), BasicBlock(512, 512, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        y = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        y = self.layer4(self.layer3(self.layer2(self.layer1(y))))
        return self.fc(torch.flatten(self.avgpool(y), 1))


class BertEmbeddings(nn.Module):
    def __init__(self, vocabulary, hidden, positions, types, dropout, eps):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, hidden, padding_idx=0)
        self.position_embeddings = nn.Embedding(positions, hidden)
        self.token_type_embeddings = nn.Embedding(types, hidden)
        self.norm = nn.LayerNorm(hidden, eps=eps)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("position_ids", torch.arange(positions).unsqueeze(0), persistent=False)

    def forward(self, input_ids, token_type_ids):
        positions = self.position_ids[:, : input_ids.size(1)]
        x = self.word_embeddings(input_ids)
        x = x + self.token_type_embeddings(token_type_ids)
        x = x + self.position_embeddings(positions)
        return self.dropout(self.norm(x))


class BertSelfAttention(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)
        self.heads = heads
        self.head_size = hidden // heads

    def split_heads(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.head_size).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q = self.split_heads(self.query(x))
        k = self.split_heads(self.key(x))
        v = self.split_heads(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / math.sqrt(self.head_size)
        scores = scores + mask
        weights = self.dropout(F.softmax(scores, dim=-1))
        mixed = torch.matmul(weights, v).permute(0, 2, 1, 3).contiguous()
        return mixed.view(x.size(0), x.size(1), self.heads * self.head_size)


class BertLayer(nn.Module):
    def __init__(self, hidden, heads, intermediate, dropout, eps):
        super().__init__()
        self.attention = BertSelfAttention(hidden, heads, dropout)
        self.attention_output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=eps)
        self.intermediate = nn.Linear(hidden, intermediate)
        self.output = nn.Linear(intermediate, hidden)
        self.output_norm = nn.LayerNorm(hidden, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        y = self.dropout(self.attention_output(self.attention(x, mask)))
        y = self.attention_norm(y + x)
        z = self.output(F.gelu(self.intermediate(y)))
        z = self.dropout(z)
        return self.output_norm(z + y)


class Bert(nn.Module):
    def __init__(self, vocabulary=100, hidden=32, heads=4, layers=2, intermediate=64, positions=48, types=2,
                 dropout=0.1, eps=1e-12):
        super().__init__()
        self.embeddings = BertEmbeddings(vocabulary, hidden, positions, types, dropout, eps)
        self.layers = nn.ModuleList(BertLayer(hidden, heads, intermediate, dropout, eps) for _ in range(layers))
        self.pooler = nn.Linear(hidden, hidden)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        mask = attention_mask if attention_mask is not None else torch.ones_like(input_ids)
        types = token_type_ids if token_type_ids is not None else torch.zeros_like(input_ids)
        extended = mask.unsqueeze(1).unsqueeze(2)
        extended = extended.to(torch.float32)
        extended = (1.0 - extended) * -10000.0
        x = self.embeddings(input_ids, types)
        for layer in self.layers:
            x = layer(x, extended)
        return x, torch.tanh(self.pooler(x[:, 0]))


class CausalSelfAttention(nn.Module):
    def __init__(self, embedding, heads, dropout):
        super().__init__()
        self.c_attn = nn.Linear(embedding, 3 * embedding)
        self.c_proj = nn.Linear(embedding, embedding)
        self.resid_dropout = nn.Dropout(dropout)
        self.heads = heads
        self.embedding = embedding
        self.dropout = dropout

    def split_heads(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.embedding // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.c_attn(x).split(self.embedding, dim=2)
        q = self.split_heads(q)
        k = self.split_heads(k)
        v = self.split_heads(v)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        y = y.transpose(1, 2).contiguous()
        y = y.view(x.size(0), x.size(1), self.embedding)
        return self.resid_dropout(self.c_proj(y))


class Mlp(nn.Module):
    def __init__(self, embedding, dropout):
        super().__init__()
        self.c_fc = nn.Linear(embedding, 4 * embedding)
        self.gelu = nn.GELU(approximate="tanh")
        self.c_proj = nn.Linear(4 * embedding, embedding)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class Gpt2Block(nn.Module):
    def __init__(self, embedding, heads, dropout):
        super().__init__()
        self.ln_1 = nn.LayerNorm(embedding)
        self.attn = CausalSelfAttention(embedding, heads, dropout)
        self.ln_2 = nn.LayerNorm(embedding)
        self.mlp = Mlp(embedding, dropout)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, vocabulary=96, context=32, embedding=32, heads=4, layers=2, dropout=0.1):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, embedding)
        self.wpe = nn.Embedding(context, embedding)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList(Gpt2Block(embedding, heads, dropout) for _ in range(layers))
        self.ln_f = nn.LayerNorm(embedding)
        self.lm_head = nn.Linear(embedding, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight
        for name, parameter in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(parameter, mean=0.0, std=0.02)

    def forward(self, idx):
        positions = torch.arange(0, idx.size(1))
        x = self.wte(idx)
        x = self.drop(x + self.wpe(positions))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class LstmTagger(nn.Module):
    def __init__(self, vocabulary, embedding, hidden, tags):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, embedding)
        self.lstm = nn.LSTM(embedding, hidden, 2, batch_first=True, dropout=0.2, bidirectional=True)
        self.dropout = nn.Dropout(0.1)
        self.hidden2tag = nn.Linear(2 * hidden, tags)

    def forward(self, sentence):
        output, _ = self.lstm(self.word_embeddings(sentence))
        return F.log_softmax(self.hidden2tag(self.dropout(output)), dim=-1)


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.block(x)


class UNet(nn.Module):
    def __init__(self, channels, classes, width=8):
        super().__init__()
        self.inc = DoubleConv(channels, width)
        self.down1 = DoubleConv(width, 2 * width)
        self.down2 = DoubleConv(2 * width, 4 * width)
        self.pool = nn.MaxPool2d(2)
        self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.conv1 = DoubleConv(4 * width, 2 * width)
        self.up2 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.conv2 = DoubleConv(2 * width, width)
        self.outc = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(self.pool(x1))
        x3 = self.down2(self.pool(x2))
        y = self.conv1(torch.cat([x2, self.up1(x3)], dim=1))
        y = self.conv2(torch.cat([x1, self.up2(y)], dim=1))
        return self.outc(y)


class LlamaRMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        normed = x * torch.rsqrt(variance + self.eps)
        return self.weight * normed


def rotate_half(x, half):
    first = x[..., :half]
    second = x[..., half:]
    return torch.cat((-second, first), dim=-1)


def rotate(x, cos, sin, half):
    straight = x * cos
    return straight + rotate_half(x, half) * sin


class LlamaAttention(nn.Module):
    def __init__(self, hidden, heads, key_value_heads):
        super().__init__()
        self.head_size = hidden // heads
        self.hidden, self.heads, self.key_value_heads = hidden, heads, key_value_heads
        self.q_proj = nn.Linear(hidden, heads * self.head_size, bias=False)
        self.k_proj = nn.Linear(hidden, key_value_heads * self.head_size, bias=False)
        self.v_proj = nn.Linear(hidden, key_value_heads * self.head_size, bias=False)
        self.o_proj = nn.Linear(heads * self.head_size, hidden, bias=False)

    def split_heads(self, x, heads):
        return x.view(x.size(0), x.size(1), heads, self.head_size).transpose(1, 2)

    def forward(self, x, cos, sin):
        half = self.head_size // 2
        groups = self.heads // self.key_value_heads
        q = self.split_heads(self.q_proj(x), self.heads)
        k = self.split_heads(self.k_proj(x), self.key_value_heads)
        v = self.split_heads(self.v_proj(x), self.key_value_heads)
        q = rotate(q, cos, sin, half)
        k = rotate(k, cos, sin, half)
        k = k.repeat_interleave(groups, dim=1)
        v = v.repeat_interleave(groups, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(x.size(0), x.size(1), self.hidden)
        return self.o_proj(y)


class LlamaMLP(nn.Module):
    def __init__(self, hidden, intermediate):
        super().__init__()
        self.gate_proj = nn.Linear(hidden, intermediate, bias=False)
        self.up_proj = nn.Linear(hidden, intermediate, bias=False)
        self.down_proj = nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaBlock(nn.Module):
    def __init__(self, hidden, intermediate, heads, key_value_heads, eps):
        super().__init__()
        self.self_attn = LlamaAttention(hidden, heads, key_value_heads)
        self.mlp = LlamaMLP(hidden, intermediate)
        self.input_layernorm = LlamaRMSNorm(hidden, eps)
        self.post_attention_layernorm = LlamaRMSNorm(hidden, eps)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, vocabulary=128, hidden=32, intermediate=64, layers=2, heads=4, key_value_heads=2, positions=64,
                 eps=1e-5, theta=10000.0):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, hidden)
        self.layers = nn.ModuleList(
            LlamaBlock(hidden, intermediate, heads, key_value_heads, eps) for _ in range(layers))
        self.norm = LlamaRMSNorm(hidden, eps)
        self.lm_head = nn.Linear(hidden, vocabulary, bias=False)
        head_size = hidden // heads
        frequencies = 1.0 / theta ** (torch.arange(0, head_size, 2, dtype=torch.float32) / head_size)
        angles = torch.outer(torch.arange(positions, dtype=torch.float32), frequencies)
        both = torch.cat((angles, angles), dim=-1)
        self.register_buffer("rope_cos", both.cos())
        self.register_buffer("rope_sin", both.sin())

    def forward(self, tokens):
        length = tokens.size(1)
        x = self.embed_tokens(tokens)
        cos = self.rope_cos[:length]
        sin = self.rope_sin[:length]
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.lm_head(self.norm(x))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 6)
        self.decoder = nn.Linear(6, 6, bias=False)
        self.decoder.weight = self.encoder.weight
        self.again = self.encoder
        self.register_buffer("offset", torch.ones(6), persistent=False)

    def forward(self, x):
        y = self.decoder(F.relu(self.encoder(x)))
        return self.encoder(y) + self.offset


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, batch, pair, scale):
        x = self.linear(batch["a"][0])
        x = x + batch["a"][1]
        x = x * pair[0]
        if pair[1] is not None:
            x = x - pair[1]
        return {"scaled": x * scale, "x": x}


def mask_of_words():
    mask = torch.ones(2, 11, dtype=torch.int64)
    mask[1, 7:] = 0
    return mask


R = torch.randn
MODELS = {
    "resnet18": (lambda: ResNet(10), [(2, 3, 64, 64)], {}),
    "bert": (Bert, [lambda: torch.randint(0, 100, (2, 11)), mask_of_words], {}),
    "gpt2": (Gpt2, [lambda: torch.randint(0, 96, (2, 13))], {}),
    "lstm_tagger": (lambda: LstmTagger(50, 12, 10, 7), [lambda: torch.randint(0, 50, (2, 9))], {}),
    "unet": (lambda: UNet(3, 2), [(2, 3, 16, 24)], {}),
    "llama": (Llama, [lambda: torch.randint(0, 128, (2, 17))], {}),
    "tied": (Tied, [(3, 6)], {}),
    "nested": (Nested, [lambda: {"a": [R(2, 4), R(2, 4)]}, lambda: (R(2, 4), R(2, 4)), lambda: 2.5], {}),
}
