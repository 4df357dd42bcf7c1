"""Compiled models: programs that PyTorch loads as if its own compiler had made them, and back."""

import os

from flambeau import _flambeau
from flambeau import package as _package

# Options of PyTorch's compiler that change nothing here: there is no generated code to tune.
_WITHOUT_EFFECT = {
    "freezing",  # always done: what can be computed ahead is, for each shape
    "max_autotune",
    "aot_inductor.check_lowerbound",  # inputs are always checked
    "aot_inductor.package",
}


def compile(
    session, program, path, *, model="", library_only=False, kernels=False, compiler="", stored=False, metadata=None, options=None
):
    metadata = dict(metadata or {})
    for name, value in (options or {}).items():
        if name == "aot_inductor.metadata":
            metadata.update(value)
        elif name == "aot_inductor.output_path":
            raise ValueError("the output's path is an argument here, not the option aot_inductor.output_path")
        elif name not in _WITHOUT_EFFECT:
            raise AttributeError(f"the option {name} has no meaning for a model without generated code")
    if isinstance(program, _package.Package):
        program = program.program(model)
        model = ""
    if isinstance(program, _package.ExportedProgram):
        program = program._handle
    else:
        program = os.fsencode(program)
    pairs = [(str(name), str(text)) for name, text in metadata.items()]
    _flambeau.aot_compile(session, program, os.fsencode(path), model, library_only, kernels, compiler, stored, pairs)
    return os.fspath(path)


class CompiledModel:
    """A compiled model that is called as its author called the model. Keywords may stand in any order."""

    def __init__(self, program):
        self.program = program
        self._keywords = _flambeau.keyword_names(program._program)

    def __call__(self, *args, **kwargs):
        if self._keywords is not None and set(kwargs) != set(self._keywords):
            raise ValueError(
                "Ran into a kwarg keyword mismatch: "
                f"Got the following keywords {list(kwargs)} but expected {self._keywords}"
            )
        return self.program(*args, **kwargs)

    def __repr__(self):
        return repr(self.program).replace("<flambeau.Program", "<flambeau.CompiledModel", 1)


def load(session, path, device="cpu", **options):
    if device != "cpu":
        raise RuntimeError(f"Unsupported device {device}")
    return CompiledModel(_package.make_program(session, path, **options))
