"""Weights in several files: what Hugging Face's libraries write and read."""

import json

import pytest
import safetensors.torch
import torch

huggingface = pytest.importorskip("huggingface_hub")


@pytest.fixture
def weights():
    torch.manual_seed(0)
    return {f"layers.{i}.weight": torch.randn(10, 10) for i in range(6)} | {"head.bias": torch.randn(3).to(torch.bfloat16)}


@pytest.fixture
def model(weights, tmp_path):
    path = tmp_path / "model.pt"
    torch.save(weights, path)
    return path


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def loaded(folder):
    """Everything that an index names."""
    index = json.loads(next(folder.glob("*.index.json")).read_text())
    shards = {file: safetensors.torch.load_file(folder / file) if file.endswith(".safetensors") else torch.load(folder / file)
              for file in set(index["weight_map"].values())}
    return {name: shards[file][name] for name, file in index["weight_map"].items()}, index


@pytest.mark.parametrize("format", ["safetensors", "pt"])
def test_written_shards(format, flambeau, model, weights, tmp_path):
    done = flambeau.json("convert", model, tmp_path / "out", "--shard-size", "1000", "--format", format)
    assert len(done["files"]) == 4 and done["tensors"] == 7
    values, index = loaded(tmp_path / "out")
    assert same(values, weights)
    assert index["metadata"]["total_size"] == sum(t.numel() * t.element_size() for t in weights.values())
    stem = "model-00001-of-00003.safetensors" if format == "safetensors" else "pytorch_model-00001-of-00003.bin"
    assert (tmp_path / "out" / stem).exists()
    for given in (tmp_path / "out", done["files"][0]):
        assert flambeau.run("diff", model, given).returncode == 0
        flambeau("convert", given, tmp_path / "again.pt")
        assert same(torch.load(tmp_path / "again.pt"), weights)
    found = flambeau.json("inspect", tmp_path / "out")
    assert found["kind"] == "shard_index" and len(found["tensors"]) == 7 and len(found["records"]) == 3


def test_hugging_face_writes_them(flambeau, weights, tmp_path):
    (tmp_path / "hub").mkdir()
    huggingface.save_torch_state_dict(weights, tmp_path / "hub", max_shard_size=1000)
    assert len(list((tmp_path / "hub").glob("*.safetensors"))) > 2
    flambeau("convert", tmp_path / "hub", tmp_path / "one.safetensors")
    assert same(safetensors.torch.load_file(tmp_path / "one.safetensors"), weights)


def test_hugging_face_reads_them(flambeau, model, weights, tmp_path):
    flambeau("convert", model, tmp_path / "out/", "--shard-size", "1kB")
    module = torch.nn.Module()
    for name, tensor in weights.items():
        *path, last = name.split(".")
        at = module
        for part in path:
            if not hasattr(at, part):
                at.add_module(part, torch.nn.Module())
            at = getattr(at, part)
        at.register_buffer(last, torch.zeros_like(tensor))
    huggingface.load_torch_model(module, tmp_path / "out")
    assert same(dict(module.state_dict()), weights)


def test_transformers_reads_them(flambeau, tmp_path):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=8, vocab_size=20)
    config.tie_word_embeddings = False
    model = transformers.GPT2LMHeadModel(config)
    torch.save(model.state_dict(), tmp_path / "gpt.pt")
    config.save_pretrained(tmp_path / "out")
    flambeau("convert", tmp_path / "gpt.pt", tmp_path / "out", "--shard-size", "5kB")
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "out")
    assert same(again.state_dict(), model.state_dict())


def test_what_is_wrong_is_said(flambeau, model, tmp_path):
    out = tmp_path / "out"
    flambeau("convert", model, out, "--shard-size", "1000")
    missing = out / "model-00002-of-00003.safetensors"
    missing.rename(tmp_path / "elsewhere")
    text = flambeau.error("convert", out, tmp_path / "b.pt")
    assert f"{missing}: cannot be opened: No such file or directory (the index needs this file beside it" in text
    assert not (tmp_path / "b.pt").exists()
    (tmp_path / "elsewhere").rename(missing)
    index = out / "model.safetensors.index.json"
    text = index.read_text()
    index.write_text(text.replace(missing.name, "../" + missing.name))
    assert "is not the name of a file beside the index" in flambeau.error("inspect", out)
    index.write_text(text.replace("head.bias", "head.bais"))
    assert "tensor 'head.bais': the index says it is in" in flambeau.error("inspect", out)
    assert "did you mean 'head.bias'?" in flambeau.error("inspect", out)
    (tmp_path / "empty").mkdir()
    assert "empty: the folder holds no weights" in flambeau.error("inspect", tmp_path / "empty")
    assert json.loads(flambeau.run("inspect", tmp_path / "empty", "--json").stdout)["error"]["code"] == "not_found"


def test_an_index_is_checked_file_by_file(flambeau, model, tmp_path):
    flambeau("convert", model, tmp_path / "out", "--shard-size", "1000")
    done = flambeau.run("check", tmp_path / "out" / "model.safetensors.index.json")
    assert done.returncode == 1 and "which must be checked itself" in done.stdout
