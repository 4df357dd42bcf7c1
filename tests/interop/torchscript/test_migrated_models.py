"""Whole models, scripted or traced, migrated: equal in PyTorch, for the sizes of the example and others."""

import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

warnings.simplefilter("ignore")


class Block(nn.Module):
    """Of ResNet-18."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        identity = x
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(width, outputs, stride), Block(outputs, outputs, 1)]
        width = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class Squeeze(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, channels // 4, 1), nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x):
        scale = F.relu(self.fc1(F.adaptive_avg_pool2d(x, 1)), inplace=True)
        return F.hardsigmoid(self.fc2(scale), inplace=True) * x


class Inverted(nn.Module):
    """Of MobileNet-v3."""

    def __init__(self, inputs: int, middle: int, outputs: int, stride: int, squeezes: bool):
        super().__init__()
        self.adds = stride == 1 and inputs == outputs
        layers = [nn.Conv2d(inputs, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.Hardswish(),
                  nn.Conv2d(middle, middle, 5, stride, 2, groups=middle, bias=False), nn.BatchNorm2d(middle), nn.Hardswish()]
        if squeezes:
            layers.append(Squeeze(middle))
        self.block = nn.Sequential(*layers, nn.Conv2d(middle, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        result = self.block(x)
        if self.adds:
            result += x
        return result


def mobilenet():
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.Hardswish(), Inverted(16, 64, 24, 2, False), Inverted(24, 72, 24, 1, True),
                         Inverted(24, 96, 40, 2, True), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(40, 100))


class Language(nn.Module):
    """A language model with an LSTM, as PyTorch's examples have it."""

    def __init__(self):
        super().__init__()
        self.encoder, self.lstm, self.decoder = nn.Embedding(50, 16), nn.LSTM(16, 24, 2), nn.Linear(24, 50)
        self.drop = nn.Dropout(0.2)

    def forward(self, ids: Tensor, hidden: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        emb = self.drop(self.encoder(ids))
        output, hidden = self.lstm(emb, hidden)
        decoded = self.decoder(self.drop(output)).view(-1, 50)
        return F.log_softmax(decoded, dim=1), hidden


def migrated(flambeau, module, folder, arguments, *options):
    module.save(folder / "m.pt")
    words = []
    for i, value in enumerate(arguments):
        if isinstance(value, tuple):
            names = []
            for k, item in enumerate(value):
                torch.save(item, folder / f"{i}_{k}.pt")
                names.append(str(folder / f"{i}_{k}.pt"))
            words += ["--input", "(" + ",".join(names) + ")"]
        else:
            torch.save(value, folder / f"{i}.pt")
            words += ["--input", folder / f"{i}.pt"]
    said = flambeau.json("migrate", folder / "m.pt", "-o", folder / "m.pt2", *words, *options)
    assert [run for run in said["checks"] if run["difference"]] == []
    return torch.export.load(folder / "m.pt2")


def check(program, module, *cases):
    run = program.module()
    for arguments in cases:
        with torch.no_grad():
            torch.testing.assert_close(run(*arguments), module(*arguments), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [resnet18, mobilenet])
@pytest.mark.parametrize("how", ["scripted", "traced"])
def test_images(flambeau, tmp_path, make, how):
    torch.manual_seed(0)
    model, x = make().eval(), torch.randn(2, 3, 64, 64)
    module = torch.jit.script(model) if how == "scripted" else torch.jit.trace(model, x)
    program = migrated(flambeau, module, tmp_path, (x,), "--dynamic", "input:0=batch")
    assert list(program.state_dict) == list(model.state_dict())
    check(program, module, (x,), (torch.randn(5, 3, 64, 64),))


def test_a_language_model(flambeau, tmp_path):
    torch.manual_seed(0)
    module = torch.jit.script(Language().eval())

    def arguments(length, batch):
        return torch.randint(0, 50, (length, batch)), (torch.zeros(2, batch, 24), torch.ones(2, batch, 24))

    program = migrated(flambeau, module, tmp_path, arguments(7, 3), "--dynamic", "ids:0=length")
    check(program, module, arguments(7, 3), arguments(2, 3), arguments(19, 3))


def test_a_transformer(flambeau, tmp_path):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
                                     max_position_embeddings=40, attn_implementation="eager", return_dict=False)
    ids = torch.randint(0, 60, (2, 9))
    module = torch.jit.trace(transformers.BertModel(config).eval(), (ids, torch.ones_like(ids)))
    program = migrated(flambeau, module, tmp_path, (ids, torch.ones_like(ids)))
    check(program, module, (ids, torch.ones_like(ids)))
