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

warnings.simplefilter("ignore")


def plain(value):
    """Named tuples and sequences as programs give them."""
    if isinstance(value, dict) and "__namedtuple__" in value:
        return tuple(plain(item) for item in value["values"])
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value) if type(value) in (list, tuple) else tuple(map(plain, value))
    return value


def difference(found, expected):
    """Empty where they are the same."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(found, torch.Tensor):
            return f"a {type(found).__name__} for a tensor"
        if found.is_quantized != expected.is_quantized:
            return "quantized or not"
        if expected.is_quantized:
            found, expected = found.dequantize(), expected.dequantize()
        try:
            torch.testing.assert_close(found, expected, equal_nan=True)
        except AssertionError as error:
            return str(error).splitlines()[0]
        return ""
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(expected):
            return "another sequence"
        return next((text for text in map(difference, found, expected) if text), "")
    if isinstance(expected, dict):
        if not isinstance(found, dict) or found.keys() != expected.keys():
            return "other keys"
        return next((text for key in expected if (text := difference(found[key], expected[key]))), "")
    same = found == expected or (found != found and expected != expected)
    return "" if same else f"{found!r} for {expected!r}"


def judge(call, path):
    """What is wrong; empty for nothing."""
    try:
        program = torch.export.load(path)
    except Exception as error:  # whatever PyTorch finds wrong
        return f"load: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    try:
        found = program.module()(*call["args"], **call["kwargs"])
    except Exception as error:
        return f"run: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    text = difference(plain(found), plain(call["result"]))
    return f"result: {text}" if text else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    tried, right, kinds = 0, 0, collections.defaultdict(list)
    for line in (options.output / "report.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["status"] == "skipped":
            continue
        tried += 1
        if entry["status"] == "refused":
            kinds["refused: " + entry["error"]].append(entry["call"])
            continue
        call = torch.load(options.folder / "calls" / f"{entry['call']}.pt", weights_only=True)
        with torch.no_grad():
            wrong = judge(call, options.output / f"{entry['call']}.pt2")
        right += not wrong
        if wrong:
            kinds[wrong].append(entry["call"])
            if options.verbose:
                print(entry["call"], wrong)
    for kind, calls in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(calls):5} {kind[:300]}  ({calls[0]})")
    print(f"{right} of {tried} migrate and give the same in PyTorch ({100 * right / max(tried, 1):.1f} %)")


if __name__ == "__main__":
    main()
