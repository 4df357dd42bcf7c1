"""TorchScript: what torch.jit.save wrote is loaded, run, changed and saved, without PyTorch.

    model = flambeau.jit.load("model.pt").eval()
    y = model(numpy.ones((1, 3, 224, 224), dtype="float32"))      # a flambeau.Tensor, or whatever forward gives
    print(model.code)
    flambeau.jit.save(model, "copy.pt")
"""

import collections
import os

from flambeau import _flambeau
from flambeau._flambeau import ScriptObject
from flambeau.checkpoint import dtype_name, source_of

__all__ = ["ScriptMethod", "ScriptModule", "ScriptObject", "load", "make", "save"]




class ScriptMethod:
    """A method of a module: call it; .schema, .code, .original_code and .graph say what it is."""

    def __init__(self, module, name):
        self._module = module
        self.name = name

    def __call__(self, *args, **kwargs):
        module = self._module
        bounds = module._limits[:2] if any(limit is not None for limit in module._limits[:2]) else None
        return module._handle.run(self.name, args, kwargs, bounds, module._limits[2] or 0, *module._grants)

    @property
    def schema(self):
        """What it takes and gives: 'forward(Tensor x) -> Tensor'."""
        return self._module._handle.methods()[self.name]

    @property
    def code(self):
        """Its code as the archive has it."""
        return self._module._handle.code(self.name)

    @property
    def original_code(self):
        """The source it was made of, where the file's debug information has it; else ''."""
        return self._module._handle.original_code(self.name)

    @property
    def graph(self):
        """The graph it was compiled to, as text."""
        return self._module._handle.graph(self.name)

    def __repr__(self):
        return f"<flambeau.jit.ScriptMethod {self.schema}>"


class ScriptModule:
    """A TorchScript module, or one inside of it; made by flambeau.jit.load and flambeau.jit.make.

    Methods, attributes and modules inside are attributes: model.forward(x), model.layer1, model.scale = 2.0. Names that
    this class has itself are reached by get() and method(). Arguments are tensors of PyTorch, arrays of numpy, anything
    with __dlpack__, numbers, texts, lists, tuples and dicts. Any number of threads may call it at once."""

    def __init__(self, handle, limits=(None, None, None), grants=(False, False)):
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "_limits", limits)
        object.__setattr__(self, "_grants", grants)

    def _part(self, handle):
        return ScriptModule(handle, self._limits, self._grants)

    # ---- calling
    def __call__(self, *args, **kwargs):
        return self.method("forward")(*args, **kwargs)

    def method(self, name):
        """The method of that name."""
        if name not in self._handle.methods():
            raise AttributeError(f"{self.class_name} has no method {name!r}; it has {', '.join(self._handle.methods())}")
        return ScriptMethod(self, name)

    def methods(self):
        """What can be called: names and schemas."""
        return self._handle.methods()

    def set_limits(self, time_limit=None, memory_limit=None, step_limit=None):
        """What a call may cost: seconds, bytes of tensors, steps (operators, calls, turns of loops); None for no bound of
        its own. Beyond them it ends with an Error whose code is 'limit'."""
        object.__setattr__(self, "_limits", (time_limit, memory_limit, step_limit))
        return self

    def manual_seed(self, seed):
        """Starts the module's random numbers over."""
        self._handle.manual_seed(seed % 2**64)

    # ---- what it holds
    def _kinds(self):
        return {name: kind for name, _, kind in self._handle.attributes()}

    def get(self, name):
        """The attribute, or the module inside, of that name. Lists and dicts are copies."""
        if self._kinds().get(name) == "module":
            return self._part(self._handle.submodule(name))
        return self._handle.get(name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._kinds():
            return self.get(name)
        if name in self._handle.methods():
            return ScriptMethod(self, name)
        raise AttributeError(f"{self.class_name} has no attribute or method {name!r}")

    def __setattr__(self, name, value):
        if name == "training":
            self._handle.set("training", bool(value))
        elif name in self._kinds():
            self._handle.set(name, value)
        else:
            raise AttributeError(
                f"{self.class_name} has no attribute {name!r}; register_attribute() and register_buffer() make new ones"
            )

    def __dir__(self):
        return [*super().__dir__(), *self._kinds(), *self._handle.methods()]

    @property
    def class_name(self):
        """'__torch__.m.M'."""
        return self._handle.class_name

    @property
    def original_name(self):
        """The name of its class alone: 'M'."""
        return self.class_name.rpartition(".")[2]

    @property
    def path(self):
        """Where it is in the module that was loaded: 'layer1.0'; '' for itself."""
        return self._handle.path

    def attributes(self):
        """Its attributes' types by their names."""
        return {name: type for name, type, _ in self._handle.attributes()}

    def named_parameters(self):
        """Names and tensors of all below, each tensor once."""
        return iter(self._handle.parameters())

    def parameters(self):
        return (tensor for _, tensor in self._handle.parameters())

    def named_buffers(self):
        return iter(self._handle.buffers())

    def buffers(self):
        return (tensor for _, tensor in self._handle.buffers())

    def state_dict(self):
        """Parameters and buffers by their names, in PyTorch's order. They share the module's memory."""
        return collections.OrderedDict(self._handle.state_dict())

    def load_state_dict(self, state_dict, strict=True):
        """Copies tensors into those of the same names. strict: every name is in both."""
        from flambeau import ops

        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        if strict and (missing or unexpected):
            raise KeyError(f"missing: {missing}, unexpected: {unexpected}")
        for name, tensor in own.items():
            if name in state_dict:
                given = _flambeau.Tensor(state_dict[name])
                if given.shape != tensor.shape:
                    raise ValueError(f"{name} is {tensor.shape}, and {given.shape} is given")
                ops.aten.copy_.default(tensor, given)
        return missing, unexpected

    def named_modules(self):
        """Paths and modules: itself and all below, each once."""
        return ((handle.path, self._part(handle)) for handle in self._handle.modules())

    def modules(self):
        return (module for _, module in self.named_modules())

    def named_children(self):
        return ((name, self.get(name)) for name, kind in self._kinds().items() if kind == "module")

    def children(self):
        return (module for _, module in self.named_children())

    def get_submodule(self, path):
        """'layer1.0'."""
        return self._part(self._handle.submodule(path))

    # ---- changing it
    @property
    def training(self):
        return self._handle.is_training()

    def train(self, mode=True):
        """Of itself and all below."""
        self._handle.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def to(self, dtype):
        """Floating-point parameters and buffers to another type: to('float16'), to(torch.float64)."""
        self._handle.to(dtype_name(dtype))
        return self

    def half(self):
        return self.to("float16")

    def bfloat16(self):
        return self.to("bfloat16")

    def float(self):
        return self.to("float32")

    def double(self):
        return self.to("float64")

    def register_attribute(self, name, type, value):
        """A new attribute; type as TorchScript annotates it: 'Dict[str, int]'."""
        self._handle.register("attribute", name, type, value)

    def register_parameter(self, name, tensor):
        self._handle.register("parameter", name, "", _flambeau.Tensor(tensor))

    def register_buffer(self, name, tensor):
        self._handle.register("buffer", name, "", _flambeau.Tensor(tensor))

    def register_module(self, name, module):
        """A module under one more name; one of another file is copied."""
        self._handle.register("module", name, "", module._handle)

    def add_module(self, name, class_name):
        """A new module without anything in it."""
        made = self._handle.new_module(class_name)
        self._handle.register("module", name, "", made)
        return self.get(name)

    def define(self, text):
        """Adds methods: define('def twice(self, x: Tensor) -> Tensor:\\n  return x * 2')."""
        self._handle.define(text)

    def __copy__(self):
        return self._part(self._handle.copy(False))

    def __deepcopy__(self, memo):
        return self._part(self._handle.copy(True))

    def freeze(self, preserved=()):
        """The module with its attributes as constants of its code, but for those that are named; out of training."""
        return self._part(self._handle.optimized(list(preserved), True))

    def optimize(self, preserved=()):
        """The same for inference alone: batch norms in the weights, nothing computed twice."""
        return self._part(self._handle.optimized(list(preserved), False))

    # ---- what it is
    def python_code(self):
        """The module as Python that runs in plain PyTorch; its first line says how."""
        return self._handle.python_code()

    @property
    def code(self):
        """The code of forward."""
        return self._handle.code("forward")

    @property
    def class_code(self):
        """The whole class as the archive has it."""
        return self._handle.code("")

    @property
    def original_code(self):
        """The source that forward was made of, where the file says so; else ''."""
        return self._handle.original_code("forward")

    @property
    def graph(self):
        """The graph of forward, as text."""
        return self._handle.graph("forward")

    @property
    def archive_version(self):
        return self._handle.archive_version()

    @property
    def extra_files(self):
        """Files beside the model: names and bytes."""
        return self._handle.extra_files()

    def operators(self):
        """Every operator that its code calls: 'aten::add.Tensor'."""
        return self._handle.operators()

    def problems(self):
        """What cannot be compiled or run, with its place."""
        return self._handle.problems()

    def outside_calls(self):
        """Calls that touch files, seeds or the network."""
        return self._handle.outside_calls()

    def run_at_load(self):
        """Methods of the file that run when it is loaded."""
        return self._handle.run_at_load()

    def save(self, f, _extra_files=None):
        """As flambeau.jit.save."""
        save(self, f, _extra_files=_extra_files)

    def __repr__(self):
        lines = [f"ScriptModule(original_name={self.original_name}"]
        for name, module in self.named_children():
            inner = repr(module).replace("\n", "\n  ")
            lines.append(f"  ({name}): {inner}")
        return lines[0] + ")" if len(lines) == 1 else "\n".join([*lines, ")"])


def _session():
    import flambeau

    return flambeau._session


def load(
    f,
    *,
    threads=None,
    time_limit=None,
    memory_limit=None,
    step_limit=None,
    run_setstate=True,
    may_use_files=False,
    may_set_seed=False,
    _extra_files=None,
):
    """Opens a file of torch.jit.save, of any version.

        model = flambeau.jit.load("model.pt").eval()

    f: a path, the file's bytes, or an open file. threads: how many a call may use. time_limit, memory_limit, step_limit:
    what a call may cost. run_setstate: False runs nothing of the file; objects with a __setstate__ can be looked at then
    and saved, not used. may_use_files, may_set_seed: what the script may do to the world around it: nothing, by default.
    _extra_files: a dict whose values become the bytes of the files of these names, as in torch.jit.load."""
    source, is_path = source_of(f.read() if hasattr(f, "read") else f)
    handle = _flambeau.Script.load(_session(), source, is_path, threads, run_setstate, 100_000_000)
    if _extra_files is not None:
        found = handle.extra_files()
        for name in _extra_files:
            if name in found:
                _extra_files[name] = found[name]
    return ScriptModule(handle, (time_limit, memory_limit, step_limit), (may_use_files, may_set_seed))


def make(class_name):
    """A module without attributes and methods, to be given some: register_parameter(), define()."""
    return ScriptModule(_flambeau.Script.make(_session(), class_name))


def save(m, f, _extra_files=None):
    """Writes a module as torch.jit.save does: to a path, in one step at the end, or to an open file.

    _extra_files: files to put beside it, names and texts or bytes."""
    extras = dict(_extra_files or {})
    if hasattr(f, "write"):
        f.write(m._handle.bytes(extras))
    else:
        m._handle.save(os.fsencode(f), extras)
