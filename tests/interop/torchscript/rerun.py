#!/usr/bin/env python3
"""Makes calls of archives that Flambeau saved anew, in the PyTorch that runs this (2.13, 1.13), beside the same calls of the originals.

    script_resave ANEW FOLDER/archives/*.pt
    rerun.py [--every N] [--list] FOLDER ANEW

FOLDER has archives/ and calls/ (see calls.cpp). A call that this PyTorch cannot make of the original says nothing.
"""

import argparse
import copy
import pathlib
import sys
import warnings

import torch


def outcome(archive, call):
    """What a call gives, and its arguments afterwards; or the last line of its error."""
    if hasattr(torch, "set_default_dtype") and call.get("default_dtype") is not None:
        torch.set_default_dtype(call["default_dtype"])
    module = torch.jit.load(str(archive))
    arguments = copy.deepcopy(call["args"])
    if call.get("rng") is not None:
        torch.set_rng_state(call["rng"])
    try:
        with torch.no_grad():
            return getattr(module, call["method"])(*arguments, **call["kwargs"]), arguments
    except (RuntimeError, torch.jit.Error) as error:
        return "error", str(error).strip().split("\n")[-1]


def same(ours, theirs):
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, torch.Tensor) or (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            return False
        if theirs.is_quantized:
            return same(ours.dequantize(), theirs.dequantize())
        if theirs.layout != torch.strided:
            return same(ours.to_dense(), theirs.to_dense())
        return ours.stride() == theirs.stride() and torch.allclose(ours, theirs, equal_nan=True) if theirs.numel() else True
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, dict):
        return list(map(str, ours)) == list(map(str, theirs)) and all(map(same, ours.values(), theirs.values()))
    if isinstance(theirs, torch._C.Future):
        return same(ours.wait(), theirs.wait())
    if isinstance(theirs, (str, int, complex)):
        return ours == theirs
    return ours == theirs or str(ours) == str(theirs) or ours != ours


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name the calls that differ")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("anew", type=pathlib.Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    right = tried = impossible = 0
    for path in sorted((arguments.folder / "calls").glob("*.pt"))[:: arguments.every]:
        try:
            call = torch.load(path, weights_only=True)
            theirs = outcome(arguments.folder / "archives" / f"{call['archive']}.pt", call)
        except Exception:  # noqa: BLE001: other versions refuse in their own ways
            impossible += 1
            continue
        tried += 1
        try:
            ours = outcome(arguments.anew / f"{call['archive']}.pt", call)
            why = "" if same(ours, theirs) else "differs"
        except Exception as error:  # noqa: BLE001
            why = str(error).strip().split("\n")[0]
        right += not why
        if why and arguments.list:
            print(path.name, why)
    print(f"{right} of {tried} calls are the same in PyTorch {torch.__version__}; {impossible} cannot be made there")
    return 0 if right == tried else 1


if __name__ == "__main__":
    sys.exit(main())
