"""Judges what migrate_calls wrote: PyTorch loads each program, runs it, and must give what the script gave.

    python migrated.py FOLDER OUTPUT [--verbose]

FOLDER has calls/<n>.pt with the recorded arguments and results, OUTPUT what migrate_calls made of them.
"""

import argparse
import collections
import json
import pathlib
import warnings

import torch
import torch.ao.quantization.fx._decomposed  # the operators that quantized programs call

warnings.simplefilter("ignore")


DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
          torch.complex32, torch.complex64, torch.complex128, torch.bool, torch.qint8, torch.quint8, torch.qint32, torch.bfloat16]


def plain(value):
    """Named tuples and sequences as programs give them."""
    if isinstance(value, dict) and "__namedtuple__" in value:
        return tuple(plain(item) for item in value["values"])
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value) if type(value) in (list, tuple) else tuple(map(plain, value))
    return value


def real(value):
    """Programs take and give the real numbers that quantized tensors stand for."""
    if isinstance(value, torch.Tensor):
        return value.dequantize() if value.is_quantized else value
    if isinstance(value, torch.dtype):
        return DTYPES.index(value)  # scripts take its number
    return type(value)(map(real, value)) if type(value) in (list, tuple) else value


def largest_step(program):
    """Of the integers that numbers go through in the program: results may differ by it, since sums are rounded elsewhere."""
    wanted = "quantized_decomposed.quantize_per_tensor.default"
    steps = [node.args[1] for node in program.graph.nodes if wanted in str(node.target)]
    return max((step for step in steps if isinstance(step, float)), default=0.0)


def difference(found, expected, step=0.0):
    """Empty where they are the same."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(found, torch.Tensor):
            return f"a {type(found).__name__} for a tensor"
        if expected.is_quantized:
            if expected.qscheme() == torch.per_tensor_affine:
                step = max(step, expected.q_scale())
            expected = expected.dequantize()
        found = real(found)
        if step and found.shape == expected.shape and found.numel() and (found - expected).abs().max() <= step * 1.001:
            return ""
        try:
            torch.testing.assert_close(found, expected, equal_nan=True)
        except AssertionError as error:
            return str(error).splitlines()[0]
        return ""
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(expected):
            return "another sequence"
        return next((text for a, b in zip(found, expected) if (text := difference(a, b, step))), "")
    if isinstance(expected, dict):
        if not isinstance(found, dict) or found.keys() != expected.keys():
            return "other keys"
        return next((text for key in expected if (text := difference(found[key], expected[key], step))), "")
    same = found == expected or (found != found and expected != expected)
    return "" if same else f"{found!r} for {expected!r}"


def judge(call, path):
    """What is wrong; empty for nothing."""
    try:
        program = torch.export.load(path)
    except Exception as error:  # whatever PyTorch finds wrong
        return f"load: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    try:
        found = program.module()(*map(real, call["args"]), **{name: real(value) for name, value in call["kwargs"].items()})
    except Exception as error:
        return f"run: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    text = difference(plain(found), plain(call["result"]), largest_step(program))
    return f"result: {text}" if text else ""


def resized(value, extra):
    """Tensors with more along every dimension that is not 0 or 1, the same elements again."""
    if isinstance(value, torch.Tensor):
        for dim, size in enumerate(value.shape):
            if size > 1:
                value = torch.cat([value, value.narrow(dim, 0, min(extra, size))], dim)
        return value
    return type(value)(resized(item, extra) for item in value) if type(value) in (list, tuple) else value


def judge_other_sizes(folder, call, path):
    """Nothing where the program or the script takes no other sizes; else what is wrong, empty for nothing."""
    program = torch.export.load(path)
    if not program.range_constraints:
        return None
    arguments = [resized(value, 1) for value in call["args"]]
    try:
        expected = torch.jit.load(str(folder / "archives" / f"{call['archive']}.pt"))(*arguments, **call["kwargs"])
    except Exception:
        return None
    try:
        found = program.module()(*map(real, arguments), **call["kwargs"])
    except AssertionError:
        return None  # the sizes are not those that the program takes: it says so
    except Exception as error:
        return f"other sizes: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    text = difference(plain(found), plain(expected), largest_step(program))
    return f"other sizes: {text}" if text else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--other-sizes", action="store_true", help="of programs that migrate_calls --dynamic made")
    options = parser.parse_args()
    tried, right, kinds = 0, 0, collections.defaultdict(list)
    resized_right, resized_tried = 0, 0
    lines = [json.loads(line) for line in (options.output / "report.jsonl").read_text().splitlines()]
    for entry in [line for line in lines if line["status"] != "skipped"][:: options.sample]:
        tried += 1
        if entry["status"] == "refused":
            kinds["refused: " + entry["error"]].append(entry["call"])
            continue
        call = torch.load(options.folder / "calls" / f"{entry['call']}.pt", weights_only=True)
        with torch.no_grad():
            wrong = judge(call, options.output / f"{entry['call']}.pt2")
            if options.other_sizes and not wrong:
                wrong = judge_other_sizes(options.folder, call, options.output / f"{entry['call']}.pt2")
                resized_tried += wrong is not None
                resized_right += wrong == ""
        right += not wrong
        if wrong:
            kinds[wrong].append(entry["call"])
            if options.verbose:
                print(entry["call"], wrong)
    for kind, calls in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(calls):5} {kind[:300]}  ({calls[0]})")
    if options.other_sizes:
        print(f"{resized_right} of {resized_tried} that take other sizes give the same with these")
    print(f"{right} of {tried} migrate and give the same in PyTorch ({100 * right / max(tried, 1):.1f} %)")


if __name__ == "__main__":
    main()
