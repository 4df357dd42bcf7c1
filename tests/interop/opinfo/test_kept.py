"""Samples that were written to files come back as they were recorded: bits, strides, views, shared memory."""

import torch
from torch.utils import _pytree as pytree

import choose
import compare
import kept
import record


def sample(*args, **kwargs):
    op = torch.ops.aten.add.Tensor
    before = record.copied((args, kwargs))
    return record.Sample(op, *before, [args[0], None], record.copied((args, kwargs)), [True], torch.float32, "by hand", (0.1, 0.2))


def described(found):
    """Everything of a sample that a comparison could see; who shares a storage with whom by numbers."""
    storages = {}

    def describe(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        storage = leaf.untyped_storage()
        number = storages.setdefault(storage._cdata, len(storages))
        content = torch.empty(0, dtype=torch.uint8).set_(storage).tolist()
        return compare.brief(leaf, 0), leaf.storage_offset(), leaf.is_conj(), leaf.is_neg(), number, content

    fields = (found.args, found.kwargs, found.after, found.outputs)
    return pytree.tree_map(describe, fields), found.op, found.shared, found.dtype, found.source, found.tolerance


def test_samples_come_back(tmp_path):
    x, z = torch.arange(24.0).reshape(4, 6), torch.randn(3, 2, dtype=torch.complex64)
    samples = [
        sample(x, x[1:, ::2], x.t(), torch.ones(1).expand(3, 4)),
        sample(z.conj(), z.conj().imag, torch.empty(0, 3), torch.tensor(float("nan"))),
        sample(torch.zeros(3), torch.zeros(3), [torch.zeros(3), 5, 2.5, 1j, "text", None], dtype=torch.bfloat16, device=torch.device("cpu")),
        sample(torch.ones(2, dtype=torch.bool), memory_format=torch.channels_last, layout=torch.strided),
    ]
    kept.write(tmp_path, samples)
    again = kept.read(tmp_path, choose.overload)
    assert [described(one) for one in again] == [described(one) for one in samples]
    args = record.copied(again[2].args)
    args[0].add_(1)  # equal contents are kept once; a copy of them does not share them
    assert args[1].tolist() == [0, 0, 0]
    kept.write(tmp_path, [])
    assert kept.read(tmp_path, choose.overload) == []
