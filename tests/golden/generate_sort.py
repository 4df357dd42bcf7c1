"""Writes tests/golden/sort/: the order PyTorch's CPU operators give to rows with many equal elements. Run it with the
Python that has PyTorch (2.13); the tests read only the files.

orders.txt: a line "row", type and bytes in hexadecimal; then for that row lines of operator, flags, k and indices.
"""

import pathlib

import torch

HERE = pathlib.Path(__file__).parent / "sort"
HERE.mkdir(exist_ok=True)


def raw(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def row(dtype, count):
    values = torch.randn(count).mul(2).round()
    if dtype.is_floating_point:
        values[torch.rand(count) < 0.1] = float("nan")
        values[torch.rand(count) < 0.1] = -0.0
        values[torch.rand(count) < 0.05] = float("-inf")
    else:
        values = values.abs()
    return values.to(dtype)


def lines():
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.int64):
        name = str(dtype)[6:]
        for count in (1, 2, 16, 17, 300):
            values = row(dtype, count)
            yield f"row {name} {raw(values).hex()}"
            text = lambda indices: " ".join(map(str, indices.reshape(-1).tolist()))
            for descending in (False, True):
                for stable in (False, True):
                    order = torch.sort(values, descending=descending, stable=stable).indices
                    yield f"sort {int(descending)}{int(stable)} 0 {text(order)}"
            for k in sorted({1, max(1, count // 70), max(1, count // 3), count}):
                for largest in (False, True):
                    order = torch.topk(values, k, largest=largest).indices
                    yield f"topk {int(largest)}1 {k} {text(order)}"
                yield f"kth 00 {k} {text(torch.kthvalue(values, k).indices)}"


torch.manual_seed(0)
(HERE / "orders.txt").write_text("\n".join(lines()) + "\n")
(HERE / "MANIFEST").write_text(f"all files\tPyTorch {torch.__version__}, by generate_sort.py\n")
