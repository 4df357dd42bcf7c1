"""Exported programs as files: packages (.pt2) and the programs in them, to look at, change and save."""

import collections.abc
import json
import os

from flambeau import _flambeau
from flambeau.checkpoint import source_of
from flambeau.program import Program, Record


class ExportedProgram:
    """A program as a file has it: its graph, its weights, its example inputs. It never changes: what changes a program
    gives another one.

        program = flambeau.load_package("model.pt2").program()
        print(program.graph)
        program.run_decompositions().simplify().save("core.pt2")     # which torch.export.load opens
    """

    def __init__(self, session, handle):
        self._session = session
        self._handle = handle

    @property
    def name(self):
        """What the package calls it."""
        return self._handle.name

    @property
    def graph(self):
        """The program as PyTorch prints it."""
        return _flambeau.text_of(self._session, self._handle, "text")

    @property
    def text(self):
        """Everything but the weights, as text that can be edited and that `flambeau convert` reads."""
        return _flambeau.text_of(self._session, self._handle, "full")

    @property
    def json(self):
        """The program as PyTorch's JSON has it, as a dict."""
        return json.loads(_flambeau.text_of(self._session, self._handle, "json"))

    @property
    def dot(self):
        """A drawing for Graphviz."""
        return _flambeau.text_of(self._session, self._handle, "dot")

    @property
    def nodes(self):
        """How many nodes the graph has."""
        return self._handle.nodes

    @property
    def inputs(self):
        """What it takes, leaf by leaf."""
        return self._handle.inputs()

    @property
    def outputs(self):
        """What it gives, leaf by leaf."""
        return self._handle.outputs()

    @property
    def state_dict(self):
        """Parameters and buffers: names and tensors, which share the file's memory."""
        return self._handle.state_dict

    @property
    def constants(self):
        """Tensors that are part of the program and no parameters or buffers."""
        return self._handle.constants

    @property
    def torch_version(self):
        """The PyTorch that wrote it."""
        return self._handle.torch_version

    @property
    def schema_version(self):
        """Of the file: '8.15'."""
        return self._handle.schema_version

    @property
    def example_inputs(self):
        """The inputs it was exported with, (args, kwargs); None where the file has none.

            args, kwargs = program.example_inputs
            program.load()(*args, **kwargs)
        """
        return _flambeau.example_inputs_of(self._session, self._handle, Record)

    def verify(self, dialect="auto"):
        """What is wrong with it: a list of dicts with rule, where, message and remedy; empty for a valid one.

        dialect: which operators are allowed: 'auto', 'training', 'aten', 'core' or 'edge'."""
        return _flambeau.findings_of(self._session, self._handle, dialect)

    def run_decompositions(self, keep=()):
        """The program taken apart into the core operators, without any that write; as ExportedProgram.run_decompositions.

        keep: operators that stay as they are, ['aten::linear']."""
        keep = [keep] if isinstance(keep, str) else list(keep)
        return ExportedProgram(self._session, _flambeau.decomposed(self._session, self._handle, keep))

    def simplify(self):
        """The program with equal things computed once, constants computed now, and nothing that nobody uses."""
        return ExportedProgram(self._session, _flambeau.simplified(self._session, self._handle))

    def load(self, **options):
        """Makes it ready to run; options as flambeau.load has them. Gives a flambeau.Program.

            program.load(threads=1)(x)
        """
        return make_program(self._session, self, **options)

    def save(self, path, *, layout=""):
        """Writes a .pt2 that torch.export.load opens, in one step at the end.

        layout: 'archive' (PyTorch 2.8 and newer), 'zip' (2.1 to 2.7), or 'json' (without weights; that of .json files)."""
        _flambeau.save_program(self._session, self._handle, os.fsencode(path), layout)

    def __repr__(self):
        lines = [f"  in  {leaf}" for leaf in self.inputs] + [f"  out {leaf}" for leaf in self.outputs]
        return "\n".join([f"<flambeau.ExportedProgram {self.name!r} of {self.nodes} nodes", *lines]) + ">"


class Package(collections.abc.Mapping):
    """The programs of a .pt2 file by name; made by flambeau.load_package.

        package = flambeau.load_package("model.pt2")
        list(package)                       # ['model']
        package.program().graph             # of the only one
    """

    def __init__(self, session, handle):
        self._session = session
        self._handle = handle
        self._models = {model.name: model for model in handle.models()}

    def __getitem__(self, name):
        try:
            return ExportedProgram(self._session, self._models[name])
        except TypeError:
            raise KeyError(name) from None

    def __iter__(self):
        return iter(self._models)

    def __len__(self):
        return len(self._models)

    def program(self, name=""):
        """One of them: the only one, or 'model', where no name is given."""
        if not name and self._models:
            name = "model" if "model" in self._models else next(iter(self._models))
            if name != "model" and len(self._models) > 1:
                raise KeyError(f"the package has several programs: {', '.join(self._models)}; name one of them")
        return self[name]

    @property
    def layout(self):
        """'archive', 'zip' or 'json'."""
        return self._handle.layout

    @property
    def extra_files(self):
        """What the author put beside the programs: names and bytes."""
        return self._handle.extra_files

    @property
    def notes(self):
        """What reading had to convert."""
        return self._handle.notes

    def save(self, path, *, layout=""):
        """Writes all of it; an archive that is saved as one comes out byte for byte as it was."""
        _flambeau.save_package(self._session, self._handle, os.fsencode(path), layout)

    def __repr__(self):
        return f"<flambeau.Package of {', '.join(map(repr, self)) or 'no programs'} ({self.layout})>"


def load(session, source):
    return Package(session, _flambeau.load_package(session, *source_of(source)))


def make_program(
    session,
    source,
    *,
    model="",
    threads=None,
    plan=True,
    backend="",
    ignore_guards=False,
    time_limit=None,
    memory_limit=None,
):
    """flambeau.load of anything there is."""
    if isinstance(source, Package):
        source = source.program(model)
    if isinstance(source, ExportedProgram):
        source = source._handle
    return Program(session, source, model, threads, plan, backend, ignore_guards, time_limit, memory_limit)
