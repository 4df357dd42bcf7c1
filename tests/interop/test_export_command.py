"""flambeau export: the example models, as PyTorch opens and runs them, and what the command says to mistakes."""

import pytest
import torch

MODELS = ["resnet18", "unet", "bert", "gpt2", "llama", "lstm_tagger"]


@pytest.mark.parametrize("name", MODELS)
def test_opens_in_pytorch(flambeau, tmp_path, name):
    path = tmp_path / "model.pt2"
    report = flambeau.json("export", name, "--dynamic", "0=batch", "--strict", "-o", path)
    assert report["model"] == name
    program = torch.export.load(path)
    (given,), _ = program.example_inputs
    results = program.module()(given)
    more = program.module()(torch.cat([given, given, given]))
    first, second = (value[0] if isinstance(value, (tuple, list)) else value for value in (results, more))
    torch.testing.assert_close(second[: first.shape[0]], first, rtol=1e-4, atol=1e-5)


def test_takes_apart_and_preserves(flambeau, tmp_path):
    apart, kept = tmp_path / "apart.pt2", tmp_path / "kept.pt2"
    flambeau("export", "resnet18", "--decompose", "-o", apart)
    names = {str(node.target) for node in torch.export.load(apart).graph.nodes}
    assert "aten.linear.default" not in names and "aten.addmm.default" in names
    flambeau("export", "resnet18", "--preserve", "fc", "-o", kept)
    calls = {entry.fqn: entry.signature for entry in torch.export.load(kept).module_call_graph}
    assert calls["fc"] is not None and calls["conv1"] is None


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["alexnet"], "there is no example model 'alexnet' (there are resnet18 (x [batch, 3, image, image]), "),
        (["bert", "--size", "width=3"], "--size 'width=3' is not of the form batch=4, length=16 or image=64"),
        (["bert", "--dynamic", "batch"], "--dynamic 'batch' is not of the form 0=batch, "),
        (["bert", "--preserve", "nobody"], "the module 'nobody', whose calls are to be preserved, is not called"),
        (["bert", "--dynamic", "1=length"], "length = Dim('length', max="),
    ],
)
def test_mistakes(flambeau, arguments, text):
    assert text in flambeau.error("export", *arguments)
