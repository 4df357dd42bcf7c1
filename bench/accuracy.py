"""The error of whole models in float32, ours and PyTorch's, against PyTorch in float64.

  python bench/accuracy.py [NAME...] [--package FOLDER] [--inputs N] [--draws N] [--bar X] [--json FILE]

A name is bench/resnet-18, transformers/bert, torchvision/resnet50 or timm/visformer_tiny, or a pattern of such; without any, all of
them that the installed libraries have. Weights are random from a fixed seed, running statistics of norms are not those of a fresh
model. The error is the norm of the difference over the norm of the result, over all inputs and outputs. Fails when ours is more than
X (2) times PyTorch's for a model.

The result of a small classifier with random weights is a few numbers that hardly depend on its input: their errors are then the same
few roundings however many inputs there are, and a ratio of them is chance. --draws takes the model with so many sets of weights, each
the first one with a tenth of itself added or taken away, and sums over them.
"""

import argparse
import fnmatch
import json
import math
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TORCHVISION = """alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet1_0
    mobilenet_v2 mobilenet_v3_large regnet_x_400mf regnet_y_400mf resnet18 resnet34 resnet50 resnext50_32x4d shufflenet_v2_x1_0
    squeezenet1_1 swin_t swin_v2_t vgg11_bn vit_b_16 wide_resnet50_2""".split()
TIMM = """visformer_tiny convnextv2_atto deit_tiny_patch16_224 efficientformer_l1 ghostnet_100 levit_128s mixer_s32_224
    mobilevit_xxs pit_ti_224 poolformer_s12 repvgg_a0 resmlp_12_224 rexnet_100 tf_efficientnet_lite0 xcit_nano_12_p16_224
    hardcorenas_a edgenext_xx_small coat_lite_tiny cait_xxs24_224 tiny_vit_5m_224""".split()


def models():
    """Names, and functions that give a module and a function of a number that gives keyword or positional arguments."""
    import torch

    sys.path[:0] = [os.fspath(ROOT / path) for path in ("bench/runtime", "tests/interop", "tests/interop/models")]
    import models as bench_models

    def images(size):
        return lambda number: (torch.randn(2, *size), )

    for name, make in bench_models.MODELS.items():
        yield f"bench/{name}", lambda make=make: (make(2)[0], lambda number: make(2)[1])
    try:
        import transformers_models
    except ImportError:
        print("accuracy: no transformers here", file=sys.stderr)
    else:
        for name, model in transformers_models.MODELS.items():
            sizes = transformers_models.SIZES[0]
            yield f"transformers/{name}", lambda name=name, model=model: (
                transformers_models.build(name), lambda number: model.inputs(*sizes))
    try:
        import torchvision
    except (ImportError, RuntimeError):
        print("accuracy: no torchvision here", file=sys.stderr)
    else:
        for name in TORCHVISION:
            size = (3, 299, 299) if name == "inception_v3" else (3, 224, 224)
            yield f"torchvision/{name}", lambda name=name, size=size: (torchvision.models.get_model(name, weights=None), images(size))
    try:
        import timm
    except (ImportError, RuntimeError):
        print("accuracy: no timm here", file=sys.stderr)
    else:

        def make(name):
            module = timm.create_model(name, pretrained=False)
            return module, images(module.default_cfg["input_size"])

        for name in TIMM:
            yield f"timm/{name}", lambda name=name: make(name)


def tensors(value):
    """The floating tensors in a result."""
    import torch
    from torch.utils import _pytree as pytree

    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def widened(value):
    import torch
    from torch.utils import _pytree as pytree

    is_float = lambda leaf: isinstance(leaf, torch.Tensor) and leaf.is_floating_point()  # noqa: E731
    return pytree.tree_map(lambda leaf: leaf.double() if is_float(leaf) else leaf, value)


def measure(make, inputs, draws):
    """PyTorch's error and ours."""
    sums = [sum(column) for column in zip(*(squares_of(make, inputs, draw) for draw in range(draws)))]
    return [math.sqrt(square / sums[0]) if square else 0.0 for square in sums[1:]]


def squares_of(make, inputs, draw):
    """The squares of the results and of both errors, summed."""
    import flambeau
    import torch
    from flambeau_torch import values_to_flambeau, values_to_torch

    def is_norm(part):
        return isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_mean is not None

    def build():
        torch.manual_seed(0)
        module, arguments = make()
        for part in module.modules():
            if is_norm(part):
                part.running_mean.normal_(0, 0.1)
                part.running_var.uniform_(0.5, 1.5)
        if draw:
            torch.manual_seed(draw)
            with torch.no_grad():
                for values in (*module.parameters(), *(part.running_mean for part in module.modules() if is_norm(part))):
                    values.mul_(1 + 0.1 * torch.randn_like(values))
        return module.eval(), arguments

    exact = torch.nn.Module.double(build()[0])  # of a model that has a layer of this name too
    if hasattr(exact, "set_experts_implementation"):
        exact.set_experts_implementation("eager")  # the other ways have no double precision
    module, arguments = build()
    given = [arguments(number) for number in range(inputs)]
    as_call = lambda value: ((), value) if isinstance(value, dict) else (value, {})  # noqa: E731
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        positional, named = as_call(given[0])
        path = os.path.join(folder, "model.pt2")
        torch.export.save(torch.export.export(module, positional, named), path)
        program = flambeau.load(path)
        size, squares = 0.0, [0.0, 0.0]
        for value in given:
            positional, named = as_call(value)
            wanted = tensors(exact(*widened(positional), **widened(named)))
            theirs = tensors(module(*positional, **named))
            ours = tensors(values_to_torch(program(*values_to_flambeau(positional), **values_to_flambeau(named))))
            if not len(wanted) == len(theirs) == len(ours):
                raise RuntimeError(f"{len(wanted)}, {len(theirs)} and {len(ours)} results")
            for right, *found in zip(wanted, theirs, ours):
                size += float(right.double().square().sum())
                for i, result in enumerate(found):
                    squares[i] += float((result.double() - right.double()).square().sum())
    return size, *squares


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--package", default=ROOT / "build/release/python", type=pathlib.Path)
    parser.add_argument("--inputs", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--bar", type=float, default=2.0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    sys.path.insert(0, os.fspath(options.package))

    rows, failed = [], []
    for name, make in models():
        if options.names and not any(fnmatch.fnmatch(name, pattern) for pattern in options.names):
            continue
        try:
            theirs, ours = measure(make, options.inputs, options.draws)
        except Exception as error:  # what one model cannot do is a line of the table
            text = " ".join(str(error).split())[:200]
            print(f"{name:36} FAILED: {type(error).__name__}: {text}", flush=True)
            rows.append({"name": name, "failed": text})
            failed.append(name)
            continue
        ratio = ours / theirs if theirs > 0 else (1.0 if ours == 0 else math.inf)
        rows.append({"name": name, "pytorch": theirs, "ours": ours, "ratio": ratio})
        print(f"{name:36} PyTorch {theirs:8.2e}  ours {ours:8.2e}  ratio {ratio:5.2f}{'  OVER' if ratio > options.bar else ''}", flush=True)
        if ratio > options.bar:
            failed.append(name)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    ratios = [row["ratio"] for row in rows if "ratio" in row and row["ratio"] > 0]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} models, ratio {mean:.2f} in the geometric mean, {max(ratios):.2f} at most; not within {options.bar:g}: {len(failed)}")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
