"""Tensors of every sort, and how to compare what Flambeau read with what PyTorch has."""

import collections

import torch

INTEGER_TYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
FLOAT_TYPES = [torch.float16, torch.float32, torch.float64, torch.bfloat16]
FLOAT8_TYPES = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu]
COMPLEX_TYPES = [torch.complex32, torch.complex64, torch.complex128]
ALL_TYPES = [torch.bool, *INTEGER_TYPES, *FLOAT_TYPES, *FLOAT8_TYPES, *COMPLEX_TYPES]


def random_bits(dtype, *shape, seed=0):
    """A tensor with every bit pattern likely, NaNs and infinities included (booleans stay 0 or 1)."""
    generator = torch.Generator().manual_seed(seed)
    count = torch.Size(shape).numel()
    size = torch.empty(0, dtype=dtype).element_size()
    most = 2 if dtype is torch.bool else 256
    raw = torch.randint(0, most, (count * size,), dtype=torch.uint8, generator=generator)
    return raw.view(dtype).reshape(shape) if count else torch.empty(shape, dtype=dtype)


def bits(tensor):
    """The elements in packed order, as hexadecimal digits."""
    plain = tensor.detach().contiguous().reshape(-1)
    if plain.numel() == 0:
        return ""
    return bytes(plain.view(torch.uint8).tolist()).hex()


def named(value, prefix=""):
    """Every tensor in nested containers, named as Flambeau names them."""
    if isinstance(value, torch.Tensor):
        yield prefix, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from named(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from named(item, f"{prefix}.{index}" if prefix else str(index))


def check_tensor(ours, theirs, where):
    """`ours` is what dump_tensors printed of the tensor `theirs`."""
    assert ours["dtype"] == str(theirs.dtype).removeprefix("torch."), where
    assert ours["layout"] == str(theirs.layout).removeprefix("torch."), where
    assert ours["shape"] == list(theirs.shape), where
    assert ours["requires_grad"] == theirs.requires_grad, where
    assert ours["device"] == str(theirs.device), where
    if theirs.layout is torch.sparse_coo:
        assert ours["coalesced"] == theirs.is_coalesced(), where
        check_tensor(ours["indices"], theirs._indices(), where)
        check_tensor(ours["values"], theirs._values().detach(), where)
        return
    if theirs.layout in (torch.sparse_csr, torch.sparse_bsr):
        check_tensor(ours["compressed_indices"], theirs.crow_indices(), where)
        check_tensor(ours["plain_indices"], theirs.col_indices(), where)
        check_tensor(ours["values"], theirs.values().detach(), where)
        return
    if theirs.layout in (torch.sparse_csc, torch.sparse_bsc):
        check_tensor(ours["compressed_indices"], theirs.ccol_indices(), where)
        check_tensor(ours["plain_indices"], theirs.row_indices(), where)
        check_tensor(ours["values"], theirs.values().detach(), where)
        return
    assert ours["strides"] == list(theirs.stride()), where
    assert ours["offset"] == theirs.storage_offset(), where
    if theirs.is_meta:
        return
    if theirs.is_quantized:
        assert ours["scheme"] == str(theirs.qscheme()).removeprefix("torch."), where
        assert ours["data"] == bits(theirs.int_repr()), where
        if theirs.qscheme() is torch.per_tensor_affine:
            assert ours["scale"] == theirs.q_scale() and ours["zero_point"] == theirs.q_zero_point(), where
        else:
            check_tensor(ours["scales"], theirs.q_per_channel_scales(), where)
            check_tensor(ours["zero_points"], theirs.q_per_channel_zero_points(), where)
            assert ours["axis"] == theirs.q_per_channel_axis(), where
        return
    assert ours["data"] == bits(theirs.resolve_conj().resolve_neg()), where


def check_all(ours, theirs):
    """Every tensor of both sides, by name and in order; shared storages are shared on both sides."""
    expected = list(named(theirs))
    assert [entry["name"] for entry in ours] == [name for name, _ in expected]
    storages = {}
    for entry, (name, tensor) in zip(ours, expected):
        check_tensor(entry, tensor, name)
        if "storage" in entry and not tensor.is_meta and not tensor.is_conj() and not tensor.is_neg():
            key = tensor.untyped_storage()._cdata
            assert storages.setdefault(key, entry["storage"]) == entry["storage"], name
            assert entry["storage_bytes"] == tensor.untyped_storage().nbytes(), name
    assert len(set(storages.values())) == len(storages)


def same(a, b):
    """Whether two loaded objects are equal: types, containers, and tensors bit for bit."""
    if isinstance(a, torch.Tensor):
        assert isinstance(b, torch.Tensor) and type(a) is type(b)
        assert a.dtype == b.dtype and a.shape == b.shape and a.layout == b.layout
        assert a.requires_grad == b.requires_grad and a.device == b.device
        if a.is_meta:
            assert a.stride() == b.stride()
        elif a.layout is torch.sparse_coo:
            assert a.is_coalesced() == b.is_coalesced()
            same(a._indices(), b._indices()), same(a._values(), b._values())
        elif a.layout is not torch.strided:
            same(a.values(), b.values())
            assert torch.equal(a.detach().to_dense(), b.detach().to_dense())
        elif a.is_quantized:
            assert a.qscheme() == b.qscheme() and a.stride() == b.stride()
            same(a.int_repr(), b.int_repr())
            if a.qscheme() is torch.per_tensor_affine:
                assert a.q_scale() == b.q_scale() and a.q_zero_point() == b.q_zero_point()
            else:
                same(a.q_per_channel_scales(), b.q_per_channel_scales())
                same(a.q_per_channel_zero_points(), b.q_per_channel_zero_points())
        else:
            assert bits(a.resolve_conj().resolve_neg()) == bits(b.resolve_conj().resolve_neg())
        return True
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            same(a[key], b[key])
        if isinstance(a, collections.OrderedDict):
            assert getattr(a, "_metadata", None) == getattr(b, "_metadata", None)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert a == b or (a != a and b != b)
    return True


def trained_checkpoint():
    """A training checkpoint: model, optimizers with state, schedulers' numbers, random state."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(16, 2))
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        loss = model(torch.randn(2, 3, 4, 4)).square().sum()
        adam.zero_grad(), loss.backward(), adam.step(), sgd.step()
    return {
        "epoch": 7, "loss": loss.item(), "best": float("inf"), "name": "run ☃", "flags": (True, None, -1, 2**40, 2**70),
        "model": model.state_dict(), "adam": adam.state_dict(), "sgd": sgd.state_dict(),
        "history": [0.5, 0.25, {"step": 3}], "rng": torch.get_rng_state(), "bytes": b"\x00\xff", "set": {1},
    }


def cases():
    """name -> object, all that torch.save and torch.load(weights_only=True) take."""
    result = {}
    for dtype in ALL_TYPES:
        result[str(dtype).removeprefix("torch.")] = {
            "matrix": random_bits(dtype, 3, 5), "scalar": random_bits(dtype), "empty": random_bits(dtype, 0, 4),
        }
    base = torch.arange(24.0).reshape(2, 3, 4)
    result["views"] = {
        "base": base, "transposed": base.transpose(0, 2), "slice": base[1, 1:, ::2], "expanded": base[0, 0].expand(5, 4),
        "row": base[1], "channels_last": torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        "zero_strides": torch.zeros(()).expand(3, 3), "empty_view": base[:, :0],
    }
    shared = torch.randn(10)
    result["shared"] = collections.OrderedDict(a=shared, b=shared, c=shared[2:5], d=torch.randn(3), e=shared.view(2, 5))
    result["tied"] = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 3, bias=False)}).state_dict()
    result["checkpoint"] = trained_checkpoint()
    result["parameters"] = dict(torch.nn.Linear(3, 2).named_parameters())
    frozen = torch.nn.Parameter(torch.randn(2), requires_grad=False)
    attributed = torch.nn.Parameter(torch.randn(2))
    attributed.note = "kept"
    result["parameter_kinds"] = {"frozen": frozen, "attributed": attributed, "leaf": torch.randn(2, requires_grad=True)}
    result["quantized"] = {
        "per_tensor": torch.quantize_per_tensor(torch.randn(3, 4), 0.1, 3, torch.qint8),
        "unsigned": torch.quantize_per_tensor(torch.randn(3, 4), 0.05, 128, torch.quint8),
        "wide": torch.quantize_per_tensor(torch.randn(3, 4), 1e-4, 0, torch.qint32),
        "per_channel": torch.quantize_per_channel(torch.randn(3, 4), torch.rand(4) + 0.1, torch.arange(4), 1, torch.qint8),
        "view": torch.quantize_per_tensor(torch.randn(3, 4), 0.1, 3, torch.qint8).t(),
    }
    coo = torch.eye(3).to_sparse()
    result["sparse"] = {
        "coo": coo, "uncoalesced": torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2)),
        "hybrid": torch.sparse_coo_tensor([[0, 2]], torch.randn(2, 3), (3, 3)), "no_entries": torch.sparse_coo_tensor(size=(2, 2)),
        "csr": torch.eye(4).to_sparse_csr(), "csc": torch.eye(4).to_sparse_csc(),
        "bsr": torch.eye(4).to_sparse_bsr((2, 2)), "bsc": torch.eye(4).to_sparse_bsc((2, 2)),
    }
    result["meta"] = {"m": torch.empty(3, 4, device="meta"), "t": torch.empty(3, 4, dtype=torch.int64, device="meta").t()}
    result["marks"] = {
        "conj": torch.randn(3, dtype=torch.complex64).conj(), "neg": torch._neg_view(torch.randn(3)),
        "imag": torch.randn(3, dtype=torch.complex128).conj().imag,
    }
    result["nested"] = {"a": [torch.ones(1), (torch.ones(2), {"b": torch.ones(3)})], 5: {"x": torch.zeros(1)}, "empty": {}}
    result["just_a_tensor"] = torch.randn(4)
    result["no_tensors"] = {"a": 1}
    result["many"] = {f"layer.{i}.weight": torch.full((2,), float(i)) for i in range(600)}
    result["special"] = {"values": torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, 3.4e38])}
    return result
