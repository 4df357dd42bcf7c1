"""What PyTorch and safetensors write raises no alarm: plain weights are harmless, TorchScript modules run code when used."""

import collections
import random
import warnings

import numpy
import pytest
import safetensors.torch
import torch

from test_attack import check

COUNT = 50  # of each writer


def tensor(rng):
    shape = [rng.randrange(0, 5) for _ in range(rng.randrange(0, 4))]
    dtype = rng.choice([torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool, torch.complex64])
    made = torch.randint(0, 2, shape).to(dtype)
    if made.dim() > 1 and rng.random() < 0.3:
        made = made.transpose(0, -1)
    return made


def value(rng, depth=0):
    kind = rng.randrange(11 if depth < 3 else 7)
    if kind < 3:
        return tensor(rng)
    if kind == 3:
        return rng.choice([None, True, 3, 2.5, collections.deque([1, 2]), collections.deque([3], 4), "text", b"bytes", 1 << 70, complex(1, 2), bytearray(b"abc"), torch.float32, torch.device("cpu"), torch.Size([1, 2])])
    if kind == 4:
        return torch.nn.Parameter(torch.ones(2))
    if kind == 5:
        return {rng.randrange(9) for _ in range(3)}
    if kind == 6:
        return torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,))
    if kind == 7:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 8:
        return tuple(value(rng, depth + 1) for _ in range(rng.randrange(4)))
    return {f"key{i}": value(rng, depth + 1) for i in range(rng.randrange(4))}


def model(rng):
    layers = []
    for _ in range(rng.randrange(1, 4)):
        layers += [torch.nn.Linear(4, 4), rng.choice([torch.nn.ReLU(), torch.nn.Tanh(), torch.nn.LayerNorm(4), torch.nn.Dropout()])]
    return torch.nn.Sequential(*layers).eval()


@pytest.mark.parametrize("seed", range(COUNT))
def test_torch_save(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "a.pt"
    saved = model(rng).state_dict() if seed % 3 == 0 else value(rng)
    if seed % 7 == 1:
        module = model(rng)
        optimizer = torch.optim.Adam(module.parameters())
        module(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        saved = {"model": module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    torch.save(saved, path, _use_new_zipfile_serialization=seed % 5 != 0, pickle_protocol=rng.choice([2, 3, 4, 5]))
    report = check(path)
    assert report["harmless"], report["findings"]
    assert report["openings"][1]["verdict"] == "harmless"


@pytest.mark.parametrize("seed", range(COUNT))
def test_safetensors(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "a.safetensors"
    tensors = {f"layer.{i}.weight": tensor(rng).contiguous() for i in range(rng.randrange(8))}
    metadata = {"format": "pt"} if seed % 2 else {"note": "x" * rng.randrange(3000)}
    safetensors.torch.save_file(tensors, path, metadata=metadata)
    report = check(path)
    assert report["harmless"], report["findings"]


@pytest.mark.parametrize("seed", range(COUNT))
def test_torchscript(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "a.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.script(model(rng)) if seed % 2 else torch.jit.trace(model(rng), torch.ones(2, 4))
        torch.jit.save(script, path, _extra_files={"notes.txt": "hello"} if seed % 5 == 0 else {})
    report = check(path)
    assert report["verdict"] == "runs code when used", report["findings"]


@pytest.mark.parametrize("seed", range(COUNT))
def test_exported_programs(seed, tmp_path):
    rng = random.Random(seed)
    path = tmp_path / "a.pt2"
    dynamic = ({0: torch.export.Dim.AUTO},) if seed % 2 else None
    program = torch.export.export(model(rng), (torch.ones(3, 4),), dynamic_shapes=dynamic)
    if seed % 3 == 0:
        program = program.run_decompositions()
    torch.export.save(program, path, extra_files={"notes.txt": "hello"} if seed % 5 == 0 else None)
    report = check(path)
    assert report["harmless"], report["findings"]
    assert report["openings"][2]["verdict"] == "harmless"


@pytest.mark.parametrize("dtype", ["f4", ">i8", "b1", "c16", "S5", "U3", "V4", "M8[ns]", "m8[s]", "O", [("a", "f4"), ("b", "i8")]], ids=str)
def test_numpy_values(dtype, tmp_path):
    path = tmp_path / "a.pt"
    array = numpy.zeros((2, 3), dtype)
    torch.save({"array": array, "turned": numpy.asfortranarray(array), "scalar": array[0, 0], "type": array.dtype}, path)
    report = check(path)
    assert report["harmless"], report["findings"]


def test_sparse_values(tmp_path):
    path = tmp_path / "a.pt"
    eye = torch.eye(4)
    repeated = torch.sparse_coo_tensor([[0, 2, 0]], [1.0, 2.0, 3.0], (3,))
    empty = torch.sparse_coo_tensor(torch.zeros(1, 0, dtype=torch.long), [], (3,))
    layouts = [eye.to_sparse(), eye.to_sparse_csr(), eye.to_sparse_csc(), eye.to_sparse_bsr((2, 2)), eye.to_sparse_bsc((2, 2)), eye.to_sparse().t()]
    for zipped in (True, False):
        torch.save([*layouts, repeated, repeated.coalesce(), empty], path, _use_new_zipfile_serialization=zipped)
        report = check(path)
        assert report["harmless"], report["findings"]


def test_distributed_checkpoints(tmp_path):
    import torch.distributed.checkpoint as dcp

    module = model(random.Random(2))
    optimizer = torch.optim.AdamW(module.parameters())
    module(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    dcp.save({"model": module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, checkpoint_id=tmp_path / "a", no_dist=True)
    report = check(tmp_path / "a")
    assert report["harmless"], report["findings"]


def test_fake_weights(tmp_path):
    path = tmp_path / "a.pt2"
    with torch._subclasses.fake_tensor.FakeTensorMode():
        program = torch.export.export(model(random.Random(1)), (torch.ones(3, 4),))
    torch.export.save(program, path)
    report = check(path)
    assert report["harmless"], report["findings"]
