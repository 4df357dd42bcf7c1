"""Migrated modules in which data decides sizes and places, and those that ask much of their arguments' sizes."""

import json
import warnings
from typing import Dict, List, Tuple

import torch
from torch import Tensor, nn

warnings.simplefilter("ignore")


def saved(value, folder, name):
    """As the command line says it: tensors in files."""
    if isinstance(value, Tensor):
        torch.save(value, folder / f"{name}.pt")
        return str(folder / f"{name}.pt")
    if isinstance(value, tuple):
        return "(" + ",".join(saved(item, folder, f"{name}_{i}") for i, item in enumerate(value)) + ")"
    if isinstance(value, list):
        return "[" + ",".join(saved(item, folder, f"{name}_{i}") for i, item in enumerate(value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}: {saved(item, folder, f'{name}_{key}')}" for key, item in value.items()) + "}"
    return str(value)


def check(flambeau, folder, module, calls, *options, decomposes=True):
    """The first call is the example; the module keeps its state from call to call, and so does the program."""
    torch.manual_seed(0)
    script = torch.jit.script(module)
    script.save(folder / "m.pt")
    words = [word for i, value in enumerate(calls[0]) for word in ("-i", saved(value, folder, str(i)))]
    said = flambeau.json("migrate", folder / "m.pt", "-o", folder / "m.pt2", *words, *options)
    assert [run for run in said["checks"] if run["difference"]] == []
    programs = [torch.export.load(folder / "m.pt2")]
    if decomposes:
        programs.append(torch.export.load(folder / "m.pt2").run_decompositions())
    for program in programs:
        found, expected = program.module(), torch.jit.load(folder / "m.pt")
        for call in calls:
            with torch.no_grad():
                torch.testing.assert_close(found(*call), expected(*call), rtol=1e-4, atol=1e-5)
    return said


class Cache(nn.Module):
    """Where it writes next is a tensor of its own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(2, 10, 4))
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        begin = int(self.position)
        self.kept[:, begin : begin + x.size(1)] = x
        self.position += x.size(1)
        return self.kept.sum(1)


class Ring(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(3, 2))
        self.register_buffer("turn", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.kept[int(self.turn) % 3] = x
        self.turn += 1
        if int(self.turn) < 3:
            return self.kept.sum(0)
        return self.kept.mean(0)


def test_states_that_are_looked_at_and_change(flambeau, tmp_path):
    check(flambeau, tmp_path, Cache(), [(torch.randn(2, 2, 4),) for _ in range(4)])
    check(flambeau, tmp_path, Ring(), [(torch.randn(2),) for _ in range(5)])


class Boxes(nn.Module):
    def forward(self, boxes, scores):
        keep = scores > 0.5
        boxes, scores = boxes[keep], scores[keep]
        order = scores.argsort(descending=True)
        return boxes[order] * scores[order, None], scores[order]


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        weight, chosen = torch.softmax(self.gate(x), -1).max(-1)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = torch.where(chosen == i)[0]
            y = y.index_add(0, rows, expert(x[rows]) * weight[rows, None])
        return y


class Lengths(nn.Module):
    def forward(self, lengths):
        return torch.arange(int(lengths.max()))[None, :] < lengths[:, None]


def test_sizes_that_data_decides(flambeau, tmp_path):
    some = torch.tensor([0.1, 0.9, 0.7, 0.2, 0.6])
    check(flambeau, tmp_path, Boxes(), [(torch.randn(5, 4), some), (torch.randn(5, 4), 1 - some), (torch.randn(5, 4), 0 * some)])
    check(flambeau, tmp_path, Experts(), [(torch.randn(6, 4),), (torch.randn(9, 4),), (torch.ones(6, 4),)], "--dynamic", "x:0=n")
    lengths = [(torch.tensor(each),) for each in ([3, 5], [1, 2], [4, 5, 6])]
    check(flambeau, tmp_path, Lengths(), lengths, "--dynamic", "lengths:0=n", decomposes=False)


class Elements(nn.Module):
    def forward(self, x, y):
        numbers: List[float] = x.tolist()
        kind = y.sum().item()
        if isinstance(kind, int):
            x = x * kind
        return x * numbers[0] + torch.tensor([y.size(0), 3]).sum(), torch.tensor(numbers)


def test_elements_as_numbers(flambeau, tmp_path):
    check(flambeau, tmp_path, Elements(), [(torch.randn(3), torch.ones(2, dtype=torch.int64)), (torch.randn(3), torch.ones(5, dtype=torch.int64) * 2)],
          "--dynamic", "y:0=n", decomposes=False)


class Parts(nn.Module):
    def forward(self, hidden: Tuple[Tensor, Tensor], inputs: Dict[str, Tensor]):
        return hidden[0] @ hidden[1] + inputs["bias"], inputs["ids"].cumsum(1)


def test_parts_of_arguments_vary(flambeau, tmp_path):
    def call(rows, length):
        return (torch.randn(rows, 3), torch.randn(3, 4)), {"bias": torch.randn(4), "ids": torch.ones(2, length)}

    check(flambeau, tmp_path, Parts(), [call(2, 5), call(6, 3)], "--dynamic", "hidden.0:0=rows", "--dynamic", "inputs.ids:1=length:2..9")
    check(flambeau, tmp_path, Parts(), [call(2, 5), call(6, 3)], "--dynamic", "auto")
    refused = flambeau.run("migrate", tmp_path / "m.pt", "-o", tmp_path / "m.pt2", "-i", saved(call(2, 5)[0], tmp_path, "h"), "-i",
                           saved(call(2, 5)[1], tmp_path, "i"), "--dynamic", "hidden.2:0=rows")
    assert refused.returncode == 2 and "'hidden.2', which is no input that is given, nor a tensor in one" in refused.stderr


def test_an_example_of_one(flambeau, tmp_path):
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 3)).eval()
    calls = [(torch.randn(size, 1, 8, 8),) for size in (1, 2, 7)]
    check(flambeau, tmp_path, module, calls, "--dynamic", "input:0=batch")


class Padded(nn.Module):
    """To a multiple of 8 and back, as networks that go down and up again do."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(1, 4, 3, 2, 1), nn.ConvTranspose2d(4, 1, 2, 2)

    def forward(self, x):
        height, width = x.shape[-2:]
        x = nn.functional.pad(x, (0, (8 - width % 8) % 8, 0, (8 - height % 8) % 8))
        return self.up(self.down(x).relu())[:, :, :height, :width]


def test_padding_by_sizes(flambeau, tmp_path):
    calls = [(torch.randn(1, 1, *sizes),) for sizes in ((13, 18), (16, 24), (21, 34))]
    check(flambeau, tmp_path, Padded().eval(), calls, "--dynamic", "x:2=height:3..200", "--dynamic", "x:3=width:3..200", decomposes=False)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.lstm = nn.LSTM(16, 8, bidirectional=True, batch_first=True)

    def forward(self, x, mask):
        return self.lstm(self.layers(x, src_key_padding_mask=mask))[0]


def test_layers_that_compare_their_sizes(flambeau, tmp_path):
    calls = [(torch.randn(batch, length, 16), torch.arange(length).expand(batch, length) > 3) for batch, length in ((2, 7), (5, 9), (3, 4))]
    said = check(flambeau, tmp_path, Attention().eval(), calls, "--dynamic", "auto", decomposes=False)
    assert "batch" not in json.dumps(said["specialized"])


class Draws(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)


def test_checks_draw_the_same_numbers(flambeau, tmp_path):
    torch.jit.script(Draws()).save(tmp_path / "m.pt")
    said = flambeau.json("migrate", tmp_path / "m.pt", "-o", tmp_path / "m.pt2", "-i", "2x3", "--dynamic", "auto")
    assert len(said["checks"]) == 5 and [run for run in said["checks"] if run["difference"]] == []


class Even(nn.Module):
    def forward(self, x):
        return x + 1 if x.size(0) % 2 == 0 else x - 1


def test_sizes_that_the_program_does_not_take(flambeau, tmp_path):
    torch.jit.script(Even()).save(tmp_path / "m.pt")
    done = flambeau.run("migrate", tmp_path / "m.pt", "-o", tmp_path / "m.pt2", "-i", "4x", "--dynamic", "auto", "--report", tmp_path / "r.txt")
    assert done.returncode == 0
    assert "not taken: the inputs break the program's guard" in done.stdout and "not taken: " in (tmp_path / "r.txt").read_text()
