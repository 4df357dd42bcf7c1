"""PyTorch models without PyTorch: files of weights and programs, and running these on the CPU.

    import flambeau, numpy
    weights = flambeau.load_checkpoint("model.pt")    # names and tensors
    model = flambeau.load("model.pt2")                # a program that runs: model(x)
    script = flambeau.jit.load("script.pt")           # a TorchScript module that runs: script(x)
    x = numpy.ones((2, 3), dtype="float32")
    y = flambeau.ops.aten.add.Tensor(x, x, alpha=2)   # a flambeau.Tensor
    y.numpy()

Tensors of PyTorch, arrays of numpy and anything with __dlpack__ go in without a copy, and results come out the
same way: torch.from_dlpack(y).
"""

from flambeau import aot as _aot
from flambeau import checkpoint as _checkpoint
from flambeau import files as _files
from flambeau import jit
from flambeau import ops as _ops
from flambeau import package as _package
from flambeau._flambeau import Error, Leaf, Object, Operator, Session, Tensor
from flambeau.aot import CompiledModel
from flambeau.checkpoint import Checkpoint
from flambeau.package import ExportedProgram, Package
from flambeau.program import Profile, ProfileEntry, Program, Record

__all__ = [
    "Checkpoint",
    "CompiledModel",
    "Error",
    "ExportedProgram",
    "Leaf",
    "Object",
    "Operator",
    "Package",
    "Profile",
    "ProfileEntry",
    "Program",
    "Record",
    "Tensor",
    "aot_compile",
    "aot_load",
    "check",
    "convert",
    "diff",
    "get_limits",
    "get_rng_state",
    "get_threads",
    "inspect",
    "jit",
    "load",
    "load_checkpoint",
    "load_package",
    "manual_seed",
    "operators",
    "ops",
    "register",
    "save_checkpoint",
    "schema",
    "set_limits",
    "set_rng_state",
    "set_threads",
    "verify",
]

_session = Session()
ops = _ops.Operators(_session)


def load(
    source, *, model="", threads=None, plan=True, backend="", ignore_guards=False, time_limit=None, memory_limit=None
):
    """Opens an exported program (.pt2) and makes it ready to run.

        model = flambeau.load("model.pt2")
        y = model(numpy.ones((2, 4), dtype="float32"))

    source: a path, the file's bytes, or what load_package gave. model: which one of a package; may be left out when it has only one.
    threads: how many a run may use; get_threads() when None. plan: False interprets the program node by node.
    backend: whose layers run, 'portable' or 'onednn'; the best that was built in when it is left out.
    ignore_guards: True loads it although conditions on its inputs cannot be read, and so not be checked; those are its
    unknown_guards. time_limit, memory_limit: how many seconds a run may take, and how many bytes it may hold; beyond
    them it ends with an Error whose code is 'limit'. Those of set_limits() when both are None."""
    return _package.make_program(
        _session,
        source,
        model=model,
        threads=threads,
        plan=plan,
        backend=backend,
        ignore_guards=ignore_guards,
        time_limit=time_limit,
        memory_limit=memory_limit,
    )


def aot_compile(
    program, path, *, model="", library_only=False, kernels=False, compiler="", stored=False, metadata=None, options=None
):
    """Makes a program a compiled model that PyTorch loads: a .pt2 for torch._inductor.aoti_load_package, or a .so for
    torch._export.aot_load. Gives the path. No compiler is needed, but for kernels.

        flambeau.aot_compile("model.pt2", "compiled.pt2")

    program: a path, or what load_package gave. library_only: leaves the exported program out of the .pt2. kernels: has a C
    compiler (the one named, or that of PATH) make machine code of its elementwise groups. stored: leaves the library
    in the .pt2 as it is, uncompressed. metadata: texts by name. options: those of torch._export.aot_compile, by their names; an
    AttributeError names one that has no meaning here."""
    return _aot.compile(
        _session, program, path, model=model, library_only=library_only, kernels=kernels, compiler=compiler, stored=stored,
        metadata=metadata, options=options,
    )


def aot_load(path, device="cpu", *, threads=None):
    """Opens a compiled model that aot_compile made, .pt2 or .so: something to call. None of its code is loaded.

        model = flambeau.aot_load("compiled.pt2", "cpu")
        y = model(x, mask=mask)

    A ValueError names both lists where the keywords are not those of the model. A model that another compiler made is
    refused, as its code would have to be run."""
    return _aot.load(_session, path, device, threads=threads)


def load_package(source):
    """Opens a .pt2 file to look at its programs, to change and to save them; gives a Package.

        program = flambeau.load_package("model.pt2").program()
        print(program.graph)
        program.run_decompositions().save("core.pt2")

    source: a path, or the file's bytes. Any PyTorch since 2.1 may have written it, and the JSON or text of a program is
    taken too."""
    return _package.load(_session, source)


def load_checkpoint(source):
    """Opens a file of weights: a mapping from names to tensors whose memory is the mapped file.

        weights = flambeau.load_checkpoint("model.pt")
        weights["encoder.weight"].numpy()

    source: a path, or the file's bytes: of torch.save, TorchScript, exported programs, safetensors, GGUF, npy, npz; a
    folder of Hugging Face, or the index in it, is one model. Nothing in the file is run."""
    return _checkpoint.load(_session, source)


def save_checkpoint(tensors, path, *, dtype=None, metadata=None, format="", shard_size=""):
    """Writes weights to the format that the ending names (.pt, .safetensors, .npz), in one step at the end.

        flambeau.save_checkpoint({"w": numpy.ones(3), "b": torch.zeros(2)}, "model.safetensors", metadata={"by": "me"})

    tensors: what load_checkpoint gave, or a mapping from names to tensors of PyTorch, arrays of numpy, or whatever has
    __dlpack__. dtype: for floating-point tensors, 'bf16' or torch.bfloat16. metadata: texts by name, for safetensors. format:
    'pt', 'safetensors' or 'npz' where the ending does not tell. shard_size: '5GB' writes several files and their index.
    Gives a dict with files, tensors and bytes."""
    return _checkpoint.save(
        _session, tensors, path, dtype=dtype, metadata=metadata, format=format, shard_size=shard_size
    )


def inspect(path, *, stats=False, sha256=False):
    """What a file is and what it holds, as a dict: kind, tensors, metadata, records, programs and more.

        [tensor["name"] for tensor in flambeau.inspect("model.pt")["tensors"]]

    A folder stands for the weights in it. stats: also min, max, mean and the number of NaNs of each tensor. sha256:
    also the hash of the file, of its records, and of the values of each tensor. Nothing in the file is run."""
    return _files.inspect(_session, path, stats=stats, sha256=sha256)


def check(path):
    """Whether opening a file, or any below a folder, with PyTorch could run anything: a dict with harmless, verdict and findings.

        flambeau.check("download.pt")["harmless"]
    """
    return _files.check(_session, path)


def convert(source, target, *, dtype=None, filter=(), format="", shard_size=""):
    """Converts weights to the format that target's ending names (.pt, .safetensors, .npz), in one step at the end.

        flambeau.convert("model.pt", "model.safetensors", dtype="bf16")

    dtype: for floating-point tensors, 'bf16' or torch.bfloat16. filter: patterns of names to keep ('encoder.*'), or to
    leave out ('!encoder.*'). format: 'pt', 'safetensors' or 'npz' where the ending does not tell. shard_size: '5GB' writes
    several files and their index, as Hugging Face does. Gives a dict with files, tensors and bytes."""
    return _files.convert(_session, source, target, dtype=dtype, filter=filter, format=format, shard_size=shard_size)


def diff(a, b, *, filter=(), tolerance=0.0, ignore_dtype=False):
    """How two files differ, of any formats: a dict with equal, tensors_equal and differences; of programs also program.

        flambeau.diff("a.pt", "b.safetensors", tolerance=1e-3)["equal"]
    """
    return _files.diff(_session, a, b, filter=filter, tolerance=tolerance, ignore_dtype=ignore_dtype)


def verify(path, *, dialect="auto", limit=100):
    """Everything that is wrong with an exported program: a dict with valid and findings.

        flambeau.verify("model.pt2")["findings"]

    dialect: which operators are allowed: 'auto', 'training', 'aten', 'core' or 'edge'."""
    return _files.verify(_session, path, dialect=dialect, limit=limit)


def operators(derived=False):
    """The names of all operators that can be called; with `derived` also of those made out of others (in place,
    out=, the copying twins of views)."""
    return _session.operators(derived)


def schema(name):
    """What an operator takes and gives, as PyTorch prints it: schema('aten::relu')."""
    return _session.schema(name)


def register(schema, function):
    """Adds an operator that a Python function computes.

    register("my::scale(Tensor x, float factor) -> Tensor", f) makes ops.my.scale(x, 2.0) call f(x, 2.0): all
    arguments come by position, tensors as flambeau.Tensor. Several results are a tuple."""
    _session.register(schema, function)


def manual_seed(seed):
    """Starts the random numbers over: the same seed gives the numbers that PyTorch gives."""
    _session.manual_seed(seed % 2**64)


def get_rng_state():
    """Where the random numbers are, as the bytes of torch.get_rng_state()."""
    return _session.random_state()


def set_rng_state(state):
    """Goes on from a state: bytes, or what torch.get_rng_state() gave."""
    _session.set_random_state(state if isinstance(state, bytes) else bytes(state.tolist()))


def get_limits():
    """What set_limits() set: (time_limit, memory_limit)."""
    return _session.limits()


def set_limits(time_limit=None, memory_limit=None):
    """Sets how many seconds a call of an operator or a run of a program may take, and how many bytes it may hold;
    None for no bound. Beyond them it ends with an Error whose code is 'limit'."""
    _session.set_limits(time_limit, memory_limit)


def get_threads():
    """How many threads an operator may use."""
    return _session.threads()


def set_threads(threads):
    """Sets how many threads an operator may use."""
    _session.set_threads(threads)
