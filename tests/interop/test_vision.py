"""torchvision's operators against the real ones, and a detector's last steps, exported; skipped where it is not installed."""

import pytest
import torch

torchvision = pytest.importorskip("torchvision")
flambeau = pytest.importorskip("flambeau")

import flambeau_torch  # noqa: E402

CASES = 25
TYPES = [torch.float16, torch.float32, torch.float64]
TOLERANCE = {torch.float32: dict(rtol=1e-4, atol=1e-5), torch.float64: dict(rtol=1e-9, atol=1e-9)}


def check(name, *arguments):
    theirs = getattr(torch.ops.torchvision, name)(*arguments)
    ours = flambeau_torch.values_to_torch(getattr(flambeau.ops.torchvision, name)(*flambeau_torch.values_to_flambeau(arguments)))
    theirs, ours = ([each] if isinstance(each, torch.Tensor) else list(each) for each in (theirs, ours))
    assert len(ours) == len(theirs)
    wide = [each.double() if isinstance(each, torch.Tensor) and each.dtype is torch.float16 else each for each in arguments]
    exact = getattr(torch.ops.torchvision, name)(*wide)
    exact = [exact] if isinstance(exact, torch.Tensor) else list(exact)
    for mine, real, best in zip(ours, theirs, exact):
        assert mine.dtype == real.dtype and mine.shape == real.shape
        if real.dtype is torch.float16 and not best.isnan().any():
            # torchvision rounds every step to half precision, and is far off itself.
            assert ((mine.double() - best).abs() <= 2 * (real.double() - best).abs() + 1e-2 * (1 + best.abs())).all()
        elif not any(isinstance(each, torch.Tensor) and each.dtype is torch.float16 for each in arguments):
            torch.testing.assert_close(mine, real, equal_nan=True, **TOLERANCE.get(real.dtype, dict(rtol=0, atol=0)))


def pick(*choices):
    return choices[torch.randint(len(choices), ()).item()]


def boxes(count, extent, dtype):
    corners = torch.rand(count, 4, dtype=torch.float64) * extent * 1.4 - extent * 0.2
    if pick(True, True, True, False):  # else some are turned round
        corners = torch.cat([torch.minimum(corners[:, :2], corners[:, 2:]), torch.maximum(corners[:, :2], corners[:, 2:])], 1)
    return (corners if pick(True, False) else corners.round()).to(dtype)


def regions(count, images, extent, dtype):
    return torch.cat([torch.randint(images, (count, 1)).to(dtype), boxes(count, extent, dtype)], 1)


def image(dtype, channels):
    x = torch.randn(pick(1, 2), channels, pick(1, 5, 12), pick(1, 7, 10), dtype=torch.float64).to(dtype)
    return x.to(memory_format=torch.channels_last) if pick(True, False) else x


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("dtype", TYPES[1:])
def test_nms(seed, dtype):
    torch.manual_seed(seed)
    count = pick(0, 1, 7, 200)
    scores = torch.rand(count, dtype=dtype)
    check("nms", boxes(count, 20, dtype), scores.round(decimals=1) if pick(True, False) else scores, pick(0.0, 0.1, 0.5, 0.7, 1.0))


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("dtype", TYPES)
def test_roi_align(seed, dtype):
    torch.manual_seed(seed)
    x = image(dtype, pick(1, 3))
    scale = pick(1.0, 0.5, 0.25)
    check("roi_align", x, regions(pick(0, 1, 6), len(x), 12 / scale, dtype), scale, pick(1, 3, 7), pick(1, 2, 7), pick(-1, 0, 1, 2, 3), pick(True, False))


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("dtype", TYPES)
def test_roi_pool(seed, dtype):
    torch.manual_seed(seed)
    x = image(dtype, pick(1, 3))
    scale = pick(1.0, 0.5)
    check("roi_pool", x, regions(pick(0, 1, 6), len(x), 12 / scale, dtype), scale, pick(1, 3, 7), pick(1, 2, 7))


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("dtype", TYPES)
def test_position_sensitive(seed, dtype):
    torch.manual_seed(seed)
    height, width = pick(1, 3), pick(1, 2, 5)
    x = image(dtype, height * width * pick(1, 2))
    scale = pick(1.0, 0.5)
    rois = regions(pick(0, 1, 6), len(x), 12 / scale, dtype)
    check("ps_roi_align", x, rois, scale, height, width, pick(1, 2, 3))
    check("ps_roi_pool", x, rois, scale, height, width)
    upright = torch.cat([rois[:, :1], rois[:, 1:3], rois[:, 1:3] + (rois[:, 3:] - rois[:, 1:3]).abs() + 1], 1)
    check("ps_roi_align", x, upright, scale, height, width, -1)


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("dtype", TYPES)
def test_deform_conv2d(seed, dtype):
    torch.manual_seed(seed)
    groups, offset_groups = pick(1, 2), pick(1, 2)
    n, channels, results = pick(1, 3), 4, 6
    kernel, stride, padding, dilation = ((pick(1, 2, 3), pick(1, 3)), (pick(1, 2), 1), (pick(0, 1), pick(0, 2)), (1, pick(1, 2)))
    size = (pick(5, 9), pick(5, 20))
    out = [(size[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in (0, 1)]
    taps = offset_groups * kernel[0] * kernel[1]
    make = lambda *shape: torch.randn(shape, dtype=torch.float64).to(dtype)
    use_mask = pick(True, False)
    mask = make(n, taps, *out) if use_mask else make(n, 1)
    check("deform_conv2d", make(n, channels, *size), make(results, channels // groups, *kernel), make(n, 2 * taps, *out) * 2, mask, make(results),
          *stride, *padding, *dilation, groups, offset_groups, use_mask)


class LastSteps(torch.nn.Module):
    """What follows the heads of a Faster R-CNN: proposals, their features, their classes, and the best boxes."""

    def __init__(self):
        super().__init__()
        self.box_head = torch.nn.Linear(8 * 7 * 7, 32)
        self.scores = torch.nn.Linear(32, 3)
        self.deltas = torch.nn.Linear(32, 4)

    def forward(self, features, proposals, objectness):
        proposals = torchvision.ops.clip_boxes_to_image(proposals, (64, 64))
        keep = torchvision.ops.nms(proposals, objectness, 0.7)
        proposals = proposals[keep]
        rois = torch.cat([torch.zeros_like(proposals[:, :1]), proposals], 1)
        pooled = torchvision.ops.roi_align(features, rois, (7, 7), 0.25, 2, aligned=True)
        hidden = self.box_head(pooled.flatten(1)).relu()
        scores, labels = self.scores(hidden).softmax(-1).max(-1)
        boxes = proposals + self.deltas(hidden)
        apart = boxes + (labels * 1000).to(boxes)[:, None]  # boxes of different classes do not meet
        kept = torchvision.ops.nms(apart, scores, 0.5)
        return boxes[kept], scores[kept], labels[kept]


@pytest.mark.parametrize("decomposed", [False, True])
def test_an_exported_detector_runs(tmp_path, decomposed):
    torch.manual_seed(0)
    model = LastSteps().eval()

    def inputs(count):
        corners = torch.rand(count, 2) * 40
        return torch.randn(1, 8, 16, 16), torch.cat([corners, corners + torch.rand(count, 2) * 20 + 1], 1), torch.rand(count)

    count = torch.export.Dim("count", min=2, max=1000)
    program = torch.export.export(model, inputs(50), dynamic_shapes=(None, {0: count}, {0: count}))
    if decomposed:
        program = program.run_decompositions()
    path = tmp_path / "detector.pt2"
    torch.export.save(program, path)
    ours = flambeau.load(str(path))
    assert not flambeau.verify(str(path))["findings"]
    for number in (50, 7, 300):
        given = inputs(number)
        with torch.no_grad():
            expected = model(*given)
        for mine, real in zip(flambeau_torch.values_to_torch(ours(*given)), expected):
            torch.testing.assert_close(mine, real, rtol=1e-4, atol=1e-4)


HOSTILE = [
    ([-1.0, 0, 0, 3, 3], "region 0 lies in image -1, but the input has 1"),
    ([1.0, 0, 0, 3, 3], "region 0 lies in image 1, but the input has 1"),
    ([float("nan"), 0, 0, 3, 3], "region 0 lies in image nan, but the input has 1"),
    ([1e30, 0, 0, 3, 3], "lies in image 1"),
    ([0.0, float("nan"), 0, 3, 3], "has the box (nan, 0, 3, 3): expected numbers below 2^50"),
    ([0.0, 0, 0, float("inf"), 3], "has the box (0, 0, inf, 3): expected numbers below 2^50"),
]


@pytest.mark.parametrize("region, said", HOSTILE)
def test_regions_outside_are_refused(region, said):
    x, rois, ops = torch.rand(1, 4, 5, 5), torch.tensor([region]), flambeau.ops.torchvision
    for call in (lambda: ops.roi_align(x, rois, 1.0, 2, 2, 2, False), lambda: ops.roi_pool(x, rois, 1.0, 2, 2),
                 lambda: ops.ps_roi_align(x, rois, 1.0, 2, 2, 2), lambda: ops.ps_roi_pool(x, rois, 1.0, 2, 2)):
        with pytest.raises(flambeau.Error) as error:
            call()
        assert said in error.value.message
