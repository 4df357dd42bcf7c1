"""Programs of every sort for the interop tests: exported and saved by PyTorch, once for each change of these files.

PROGRAMS has a builder for every name. The rooms beside this file fill it:
  programs_examples  the export cases that PyTorch itself documents
  programs_shapes    static, dynamic and data dependent sizes
  programs_control   torch.cond, loops, wrapped regions, custom operators, effects
  programs_values    inputs, outputs and arguments of every type
  programs_weights   parameters, buffers and constants: shared, viewed, of every type
  programs_layers    real layers and larger graphs

python programs.py FOLDER [NAME...]   saves them there, all or those named, and says what each took
"""

import copy
import dataclasses
import logging
import os
import pathlib
import sys
import time
import warnings

import torch
from torch.export.pt2_archive._package import package_pt2

import cache

PROGRAMS = {}

# PyTorch 2.13 writes these but does not open them again.
NOT_LOADABLE = {
    "control.no_grad_nested",  # a region that is never followed by its results' types
    "values.string_output",  # a string among the outputs
}


@dataclasses.dataclass
class Export:
    """What torch.export.export is given; `after` changes the program before it is saved."""

    module: torch.nn.Module
    args: tuple = ()
    kwargs: dict = None
    dynamic: object = None
    strict: bool = False
    options: dict = dataclasses.field(default_factory=dict)
    after: object = None

    def run(self):
        exported = torch.export.export(
            self.module, self.args, self.kwargs, dynamic_shapes=self.dynamic, strict=self.strict, **self.options
        )
        return self.after(exported) if self.after else exported


@dataclasses.dataclass
class Package:
    """Several programs, or files besides, in one archive."""

    programs: dict
    extra_files: dict = None


def decomposed(export):
    return copied(export, lambda program: program.run_decompositions())


def core(export):
    return copied(export, lambda program: program.run_decompositions(torch._decomp.core_aten_decompositions()))


def functional(export):
    """The training form made functional, with no operator taken apart."""
    return copied(export, lambda program: program.run_decompositions({}))


def strict(export):
    return dataclasses.replace(export, strict=True)


def copied(export, change):
    before = export.after
    return dataclasses.replace(export, after=lambda program: change(before(program) if before else program))


VARIANTS = {"decomposed": decomposed, "core": core, "functional": functional, "strict": strict}


def program(*variants, name=None):
    """Registers a function that returns an Export or a Package, and the named variants of the former."""

    def register(function):
        room = function.__module__.removeprefix("programs_")
        key = f"{room}.{name or function.__name__.strip('_')}"
        assert key not in PROGRAMS, key
        PROGRAMS[key] = function
        for variant in variants:
            PROGRAMS[f"{key}.{variant}"] = lambda variant=variant: VARIANTS[variant](function())
        return function

    return register


def build(name):
    """Exports a program anew: a dictionary of them, and what else belongs into the archive."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    made = PROGRAMS[name]()
    if isinstance(made, Package):
        return {key: export.run() for key, export in made.programs.items()}, made.extra_files
    return {"model": made.run()}, None


def save(name, path):
    exported, extra_files = build(name)
    package_pt2(os.fspath(path), exported_programs=exported, extra_files=extra_files)


def sources():
    """What makes the programs."""
    return sorted(pathlib.Path(__file__).resolve().parent.glob("programs*.py"))


def saved(name):
    """The file of a program, which is made when the cache does not have it. Its name is written into it."""
    folder = cache.entry("programs", sources(), (name,), lambda part: save(name, part / f"{name}.pt2"))
    return folder / f"{name}.pt2"


def inputs(exported):
    """Fresh inputs to run a program with."""
    args, kwargs = exported.example_inputs
    return copy.deepcopy(args), copy.deepcopy(kwargs)


def quiet():
    """PyTorch warns of much that is meant here."""
    warnings.simplefilter("ignore")
    for logger in ("torch.export", "torch._export", "torch.fx", "torch._dynamo"):
        logging.getLogger(logger).setLevel(logging.ERROR)


def load_rooms():
    import programs_control  # noqa: F401
    import programs_examples  # noqa: F401
    import programs_layers  # noqa: F401
    import programs_shapes  # noqa: F401
    import programs_values  # noqa: F401
    import programs_weights  # noqa: F401


def main():
    quiet()
    folder, *names = sys.argv[1:]
    start, failed = time.time(), 0
    for name in names or PROGRAMS:
        before = time.time()
        try:
            path = pathlib.Path(folder) / f"{name}.pt2"
            path.parent.mkdir(parents=True, exist_ok=True)
            save(name, path)
            said = f"{path.stat().st_size:9} bytes"
        except Exception as error:
            failed += 1
            said = f"{type(error).__name__}: {str(error)[:400]}"
        print(f"{name:48} {time.time() - before:6.2f} s  {said}", flush=True)
    print(f"{len(names or PROGRAMS)} programs, {failed} failed, {time.time() - start:.1f} s")


if __name__ == "__main__":
    # The rooms import this file by its name, which must be the one module that has the registry.
    import programs

    programs.load_rooms()
    programs.main()
