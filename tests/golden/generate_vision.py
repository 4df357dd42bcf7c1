"""Writes tests/golden/vision/: what torchvision's operators give for small regions and images. Run it with a Python that
has PyTorch (2.13) and torchvision (0.28); the tests read only the files.

cases.json: operator, arguments and results. A tensor is {"type", "sizes", "values"}.
"""

import json
import pathlib

import torch
import torchvision

HERE = pathlib.Path(__file__).parent / "vision"
HERE.mkdir(exist_ok=True)


def said(value):
    if not isinstance(value, torch.Tensor):
        return value
    values = value.double().reshape(-1).tolist() if value.is_floating_point() else value.reshape(-1).tolist()
    return {"type": str(value.dtype)[6:], "sizes": list(value.shape), "values": values}


def case(name, *arguments):
    results = getattr(torch.ops.torchvision, name)(*arguments)
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    return {"operator": f"torchvision::{name}", "arguments": [said(a) for a in arguments], "results": [said(r) for r in results]}


def cases():
    corners = torch.rand(12, 2) * 6
    boxes = torch.cat([corners, corners + torch.rand(12, 2) * 6], 1)
    for threshold in (0.0, 0.3, 0.7):
        yield case("nms", boxes, torch.rand(12).round(decimals=1), threshold)
    yield case("nms", boxes.double(), torch.rand(12).double(), 0.2)
    yield case("nms", torch.zeros(3, 4), torch.tensor([1.0, 3.0, 2.0]), 0.5)
    x = torch.randn(2, 4, 5, 6).mul(8).round() / 8  # exact in half precision, too
    rois = torch.tensor([[0, 0, 0, 3, 3], [1, -2, 1, 9, 4.5], [1, 2.5, 1.25, 2.75, 4.5], [0, 4, 4, 1, 1], [1, 7, 7, 9, 9]])
    for dtype in (torch.float16, torch.float32, torch.float64):
        given = x.to(dtype), rois.to(dtype)
        for ratio, aligned in ((-1, False), (-1, True), (2, False), (3, True)):
            yield case("roi_align", *given, 0.5, 2, 3, ratio, aligned)
        yield case("roi_pool", *given, 1.0, 2, 3)
        yield case("ps_roi_align", *given, 0.5, 2, 2, 2)
        yield case("ps_roi_align", *given, 1.0, 2, 1, -1)
        yield case("ps_roi_pool", *given, 1.0, 2, 2)
    for groups, offset_groups, use_mask in ((1, 1, False), (2, 1, True), (1, 2, True)):
        taps = offset_groups * 6
        weight, bias = torch.randn(2, 4 // groups, 2, 3), torch.randn(2)
        mask = torch.rand(2, taps, 3, 6) if use_mask else torch.zeros(2, 1)
        yield case("deform_conv2d", x, weight, torch.randn(2, 2 * taps, 3, 6) * 2, mask, bias, 2, 1, 1, 1, 1, 1, groups, offset_groups, use_mask)


torch.manual_seed(0)
text = json.dumps(list(cases()), separators=(",", ":")).replace('},{"operator"', '},\n{"operator"')
(HERE / "cases.json").write_text(text.replace("NaN", '"nan"') + "\n")
(HERE / "MANIFEST").write_text(f"all files\tPyTorch {torch.__version__} and torchvision {torchvision.__version__}, by generate_vision.py\n")
