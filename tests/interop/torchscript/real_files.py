"""Migrates real TorchScript and mobile files; PyTorch opens and runs what comes out, beside the original.

    python real_files.py FLAMBEAU FOLDER [--only NAME] [--converter] [--verbose]

Arguments that a file does not say are made up: the first of some shapes that its forward() takes. A file whose forward() takes none
of them counts as failed. --converter: what PyTorch's own converter makes of the same files and arguments, beside it.
"""

import argparse
import io
import itertools
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch
from torch._export.converter import TS2EPConverter

from converter import in_child
from migrated import difference, largest_step, plain, real

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

SHAPES = [(2, 3), (3,), (1, 3, 32, 32), (2, 4), (1, 1, 28, 28), (1, 3, 224, 224), (4, 4), (1, 512), (1, 16), (2, 3, 8), (1, 128),
          (5, 10), (1, 10), (10,), (1, 4, 8, 8), (2, 5, 8), (1, 1, 16000), (), (1, 3, 8, 8, 8), (2, 2), (1, 32), (1, 3, 4, 4)]


def load(path):
    if path.suffix == ".ff":
        return torch.jit.jit_module_from_flatbuffer(str(path))
    return torch.jit.load(str(path), map_location="cpu")


def candidates(argument, shape, integer):
    kind = str(argument.type)
    if kind == "Tensor":
        return torch.randint(0, 2, shape) if integer else torch.rand(shape)
    if kind == "Optional[Tensor]":
        return None
    if kind == "List[Tensor]":
        return [torch.rand(shape)]
    return {"int": 2, "float": 0.5, "bool": True, "str": "a", "number": 2, "List[int]": [2, 3]}.get(kind)


def own_input(path):
    """What lies beside the file."""
    beside = path.with_name(path.name.replace("scripted", "input").replace("traced", "input"))
    if beside != path and beside.exists():
        return [torch.load(beside, weights_only=False)]
    if path.name == "silero_vad.jit":
        return [torch.randn(1, 512), 16000]
    return None


def find_arguments(path, module):
    """Arguments that forward() takes, and what it gives for them."""
    own = own_input(path)
    arguments = [] if own is not None else module.forward.schema.arguments[1:] if hasattr(module.forward, "schema") else []
    tried = [own] if own is not None else (
        [candidates(argument, shape, integer) for argument in arguments]
        for shape, integer in itertools.product(SHAPES if arguments else SHAPES[:1], (False, True)))
    error = None
    for made in tried:
        torch.manual_seed(0)
        try:
            with torch.no_grad():
                expected = load(path)(*made)
            return made, expected
        except Exception as found:
            error = found
    raise RuntimeError(f"no arguments are taken: {str(error).strip().splitlines()[-1][:150]}")


def text_of(value):
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(text_of(item) for item in value) + "]"
    return f"'{value}'" if isinstance(value, str) else str(value)


def input_options(arguments, folder):
    options = []
    for i, value in enumerate(arguments):
        if isinstance(value, torch.Tensor):
            torch.save(value, folder / f"{i}.pt")
            options += ["--input", str(folder / f"{i}.pt")]
        elif isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
            names = []
            for k, item in enumerate(value):
                torch.save(item, folder / f"{i}_{k}.pt")
                names.append(str(folder / f"{i}_{k}.pt"))
            options += ["--input", "[" + ",".join(names) + "]"]
        else:
            options += ["--input", text_of(value)]
    return options


def migrate(flambeau, path, arguments, expected, is_random):
    """What is wrong; empty for nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [flambeau, "migrate", str(path), "-o", str(folder / "out.pt2"), "--no-check"] + input_options(arguments, folder)
        made = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if made.returncode and "changes self." in made.stderr:
            made = subprocess.run(command + ["--forget-changes"], capture_output=True, text=True, timeout=300)
        if made.returncode:
            return "migrate: " + made.stderr.strip().splitlines()[-1][:300]
        try:
            program = torch.export.load(folder / "out.pt2")
            with torch.no_grad():
                torch.manual_seed(0)
                found = program.module()(*map(real, arguments))
        except Exception as error:
            return f"PyTorch: {type(error).__name__}: {str(error)[:300]}"
        return "" if is_random else difference(plain(found), plain(expected), largest_step(program))


def convert(path, arguments, expected, is_random):
    try:
        program = TS2EPConverter(load(path), tuple(arguments), {}).convert()
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        found = torch.export.load(file).module()(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"
    return "" if is_random else difference(plain(found), plain(expected))


def is_module(path):
    import zipfile

    if path.suffix == ".ff":
        return True
    if not zipfile.is_zipfile(path):
        return False
    names = zipfile.ZipFile(path).namelist()
    return any("/code/" in name and ".data/ts_code" not in name for name in names) or any(n.endswith("bytecode.pkl") for n in names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("flambeau")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--converter", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    folders = ["mobile", "mobile-upgraders", "quantized", "torchscript-misc", "torchscript-versioned"]
    paths = sorted(path for name in folders for path in (options.folder / name).glob("*") if is_module(path) and options.only in path.name)
    counts = {"files": 0, "opened by PyTorch": 0, "run by PyTorch": 0, "migrated": 0, "converted by PyTorch": 0}
    for path in paths:
        counts["files"] += 1
        name = f"{path.parent.name}/{path.name}"
        try:
            module = load(path)
        except Exception as error:
            print(f"{name}: PyTorch does not open it: {str(error).strip().splitlines()[-1][:100]}")
            continue
        counts["opened by PyTorch"] += 1
        try:
            arguments, expected = find_arguments(path, module)
        except Exception as error:
            print(f"{name}: PyTorch does not run it: {str(error)[:160]}")
            continue
        counts["run by PyTorch"] += 1
        try:
            is_random = bool(difference(plain(load(path)(*arguments)), plain(expected)))
        except Exception:
            is_random = False
        wrong = migrate(options.flambeau, path, arguments, expected, is_random)
        counts["migrated"] += not wrong
        if wrong or options.verbose:
            print(f"{name}: {wrong or 'equal'}", flush=True)
        if options.converter:
            theirs = in_child(lambda: convert(path, arguments, expected, is_random))
            counts["converted by PyTorch"] += not theirs
            if options.verbose:
                print(f"    converter: {theirs or 'equal'}", flush=True)
    print(counts)


if __name__ == "__main__":
    sys.exit(main())
