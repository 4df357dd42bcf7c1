"""Exported programs: load a .pt2, look at what it takes and gives, run it."""

import typing

from flambeau import _flambeau


class Record(dict):
    """A result of a class that only the model's author has: its fields by name, result.logits or result['logits']."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class ProfileEntry(typing.NamedTuple):
    """One step of a run."""

    node: str  # what the program calls it
    op: str  # the operator or operators
    calls: int
    seconds: float
    bytes: int  # read and written by one call
    flops: int  # of one call; 0 where nobody counts


class Profile(list):
    """Where a run's time went: a list of ProfileEntry in the order of the program, with its result."""

    def __init__(self, entries, result):
        super().__init__(entries)
        self.result = result

    def __str__(self):
        total = sum(entry.seconds for entry in self) or 1.0
        lines = [f"{'ms':>9} {'%':>5}  node"]
        for entry in sorted(self, key=lambda e: -e.seconds):
            lines.append(f"{entry.seconds * 1e3:9.3f} {entry.seconds / total * 100:5.1f}  {entry.node} ({entry.op})")
        return "\n".join(lines)


class Program:
    """A program that runs; made by flambeau.load. Any number of threads may call it at once.

    Arguments are those of the model's forward(), nested as there: PyTorch tensors, numpy arrays or anything with
    __dlpack__, numbers. Results are flambeau.Tensors, nested as forward() nests them."""

    def __init__(self, session, source, model, threads, plan, backend, ignore_guards, time_limit, memory_limit):
        limits = time_limit, memory_limit
        self._program = _flambeau.Program(
            session, source, model, threads, plan, backend, ignore_guards, *limits, Record
        )

    @property
    def inputs(self):
        """What it takes, leaf by leaf: name, path, kind, dtype, shape, range."""
        return self._program.inputs

    @property
    def outputs(self):
        """What it gives, leaf by leaf."""
        return self._program.outputs

    @property
    def in_spec(self):
        """How the inputs are nested: '((*, *), {'mask': *})' for two positional arguments and a keyword."""
        return self._program.in_spec

    @property
    def out_spec(self):
        """How the outputs are nested."""
        return self._program.out_spec

    @property
    def unknown_guards(self):
        """Conditions on the inputs that are not checked, as nobody here can read them. There are none unless load was told
        to ignore them."""
        return self._program.unknown_guards

    def __call__(self, *args, **kwargs):
        return self._program(*args, **kwargs)

    def profile(self, *args, **kwargs):
        """Runs once and says where the time went: print(program.profile(x)). The result is in .result."""
        result, entries = self._program.profiled(*args, **kwargs)
        return Profile([ProfileEntry(*entry) for entry in entries], result)

    def state(self, name):
        """A parameter, buffer or constant as it is now."""
        return self._program.state(name)

    def manual_seed(self, seed):
        """Starts the program's random numbers over."""
        self._program.manual_seed(seed % 2**64)

    def __repr__(self):
        lines = [f"  in  {leaf}" for leaf in self.inputs] + [f"  out {leaf}" for leaf in self.outputs]
        return "\n".join(["<flambeau.Program", *lines]) + ">"
