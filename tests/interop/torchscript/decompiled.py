#!/usr/bin/env python3
"""Runs what Flambeau made of TorchScript modules, as Python, and compares it with what the modules gave.

    decompile PYTHON FOLDER/archives/*.pt
    decompiled.py [--every N] [--list] FOLDER PYTHON

FOLDER has archives/ and calls/ (see calls.cpp); PYTHON has a file.py for each archive. Each is run here, as any module of
Python is, with the weights of torch.jit.load(archive).state_dict().
"""

import argparse
import copy
import pathlib
import random
import sys
import types
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from rerun import same  # noqa: E402


def model_of(path, archive):
    """An object of the class that the text names in its first line, with the archive's weights."""
    text = path.read_text()
    module = types.ModuleType(path.stem)
    sys.modules[path.stem] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    model = getattr(module, text[3 : text.index(",")])()
    model.load_state_dict(torch.jit.load(str(archive)).state_dict())
    return model, module


def argument(value, module):
    """Named tuples and enums as the text has them."""
    if isinstance(value, dict) and "__namedtuple__" in value:
        kind = getattr(module, value["__namedtuple__"].split(".")[-1])
        return kind(*(argument(each, module) for each in value["values"]))
    if isinstance(value, dict) and "__enum__" in value:
        return getattr(getattr(module, value["__enum__"].split(".")[-1]), value["name"])
    if isinstance(value, dict):
        return {key: argument(each, module) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(argument(each, module) for each in value)
    return value


def alike(ours, theirs):
    if isinstance(theirs, dict) and "__namedtuple__" in theirs:
        return alike(tuple(ours), tuple(theirs["values"]))
    if isinstance(theirs, dict) and "__enum__" in theirs:
        return ours.name == theirs["name"]
    if isinstance(theirs, torch.Tensor) and isinstance(ours, torch.Tensor):
        if theirs.is_quantized and ours.is_quantized:
            return alike(ours.dequantize(), theirs.dequantize())
        if theirs.layout != torch.strided:
            return alike(ours.to_dense(), theirs.to_dense())
        fits = (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        return fits and (theirs.numel() == 0 or torch.allclose(ours, theirs, equal_nan=True, rtol=1e-4, atol=1e-6))
    if isinstance(theirs, (list, tuple)):
        return isinstance(ours, (list, tuple)) and len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(theirs, dict):
        return list(map(str, ours)) == list(map(str, theirs)) and all(map(alike, ours.values(), theirs.values()))
    return same(ours, theirs)


def judge(call, path, archive):
    """What is wrong; empty when nothing is."""
    if call.get("default_dtype") is not None:
        torch.set_default_dtype(call["default_dtype"])
    try:
        model, module = model_of(path, archive)
        given = argument(copy.deepcopy(call["args"]), module)
        keywords = argument(copy.deepcopy(call["kwargs"]), module)
    except Exception as error:  # noqa: BLE001: texts may be wrong in any way
        return f"cannot be made: {type(error).__name__}: {error}"
    if call.get("rng") is not None:
        torch.set_rng_state(call["rng"])
    random.seed(0)
    try:
        with torch.no_grad():
            result = getattr(model, call["method"])(*given, **keywords)
    except Exception as error:  # noqa: BLE001
        return "" if "error" in call else f"{type(error).__name__}: {error}"
    if "error" in call:
        return "no error"
    if not alike(result, call["result"]):
        return f"differs: {result!r:.80} and not {call['result']!r:.80}"
    if call.get("args_after") is not None and not alike(given, call["args_after"]):
        return "leaves its arguments otherwise"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name the calls that differ")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("python", type=pathlib.Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    right = tried = 0
    modules, wrong = set(), set()
    for path in sorted((given.folder / "calls").glob("*.pt"))[:: given.every]:
        call = torch.load(path, weights_only=True)
        archive = given.folder / "archives" / f"{call['archive']}.pt"
        text = given.python / f"{call['archive']}.py"
        why = judge(call, text, archive) if text.exists() else "was not written"
        tried += 1
        right += not why
        modules.add(call["archive"])
        if why:
            wrong.add(call["archive"])
            if given.list:
                print(path.name, call["archive"], " ".join(why.split())[:300], flush=True)
    print(f"{right} of {tried} calls give the same, {len(modules) - len(wrong)} of {len(modules)} modules in all their calls")
    return 0 if right >= 0.9 * tried else 1


if __name__ == "__main__":
    sys.exit(main())
