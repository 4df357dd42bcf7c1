"""Makes tests/golden/run: a small image classifier that PyTorch exported, and what it gives for its example inputs.

    build/venv/bin/python tests/golden/generate_run.py
"""

import pathlib

import torch
from torch.export import Dim, export, save

HERE = pathlib.Path(__file__).parent / "run"


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels)
        self.second = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.norm(self.first(x)))))


class Classifier(torch.nn.Module):
    """Convolutions with a residual block each, then attention over the places of the picture."""

    def __init__(self, classes=10, channels=16):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, channels, 5, stride=2, padding=2)
        self.block = Block(channels)
        self.attention = torch.nn.MultiheadAttention(channels, 2, batch_first=True)
        self.norm = torch.nn.LayerNorm(channels)
        self.head = torch.nn.Linear(channels, classes)

    def forward(self, image):
        x = torch.nn.functional.max_pool2d(self.block(self.stem(image)), 2)
        x = x.flatten(2).transpose(1, 2)
        x = self.norm(x + self.attention(x, x, x, need_weights=False)[0]).mean(1)
        logits = self.head(x)
        return {"logits": logits, "class": logits.argmax(-1)}


def main():
    torch.manual_seed(0)
    model = Classifier().eval()
    image = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        exported = export(model, (image,), dynamic_shapes={"image": {0: Dim("batch", min=1, max=64)}})
        save(exported, HERE / "classifier.pt2")
        torch.save(exported.module()(image), HERE / "classifier.expected.pt")
    version = torch.__version__
    (HERE / "MANIFEST").write_text(
        f"classifier.pt2\tPyTorch {version} torch.export.save\nclassifier.expected.pt\tPyTorch {version} torch.save of its outputs\n"
    )


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    main()
