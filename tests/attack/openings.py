"""Opens a file as PyTorch's users do, in a process of its own, and says whether something happened."""

import faulthandler
import logging
import os
import pathlib
import resource
import signal
import sys
import time

HANGS = 10  # seconds that a small file never takes
LIMIT = 6 << 30  # of address space, beyond what PyTorch has taken already


def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def bomb(path, opening):
    """True when it asks for more memory than it is given."""
    import torch

    limit = address_space() + LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        if opening == "bomb_export":
            from torch.export.pt2_archive._package import load_pt2  # torch.export.load hides why it failed

            load_pt2(path)
        else:
            torch.load(path, weights_only=opening == "bomb")
    except Exception as error:
        return isinstance(error, MemoryError) or "memory" in str(error).lower()
    return False


def use(value):
    """Reads every element of every tensor."""
    import torch

    if isinstance(value, dict):
        for item in value.values():
            use(item)
    elif isinstance(value, torch.storage.TypedStorage):
        use(torch.tensor([], dtype=value.dtype).set_(value))
    elif isinstance(value, torch.Tensor):
        (value.to_padded_tensor(0) if value.is_nested else value.to_dense()).sum()


def open_with_torch(path, opening):
    import torch

    if opening == "load":
        torch.load(path, weights_only=False)
    elif opening == "mmap":
        torch.load(path, weights_only=False, mmap=True)
    elif opening == "crash":
        repr(torch.load(path, weights_only=False))
    elif opening == "use":
        use(torch.load(path, weights_only=False))
    elif opening == "hang":
        torch.load(path, weights_only=False)
    elif opening == "distributed":
        import torch.distributed.checkpoint as dcp

        dcp.load({"w": torch.ones(3), "s": None}, checkpoint_id=path, no_dist=True)
    elif opening == "transformers":
        import transformers

        transformers.AutoConfig.from_pretrained(path, trust_remote_code=True)
    elif opening == "jit":
        torch.jit.load(path)
    elif opening == "opset":
        torch.export.load(path, expected_opset_version={"aten": 10})
    elif opening == "aoti":
        torch._inductor.aoti_load_package(path)
    elif opening == "numpy":
        import numpy

        loaded = numpy.load(path, allow_pickle=True)
        for name in getattr(loaded, "files", ()):
            loaded[name]
    elif opening == "export":
        torch.export.load(path)
    elif opening == "call":
        module = torch.export.load(path).module()
        module(torch.ones(4, 3), scale=torch.ones(1))
    elif opening == "graph_module":
        program = torch.export.load(path)
        program.graph_module(*program.state_dict.values(), torch.ones(4, 3), torch.ones(1))
    elif opening == "package":
        torch.package.PackageImporter(path).import_module("evil")
    elif opening == "package_pickle":
        torch.package.PackageImporter(path).load_pickle("m", "x.pkl")
    elif opening == "lite":
        from torch.jit.mobile import _load_for_lite_interpreter

        _load_for_lite_interpreter(path)
    elif opening.startswith("bomb"):
        return bomb(path, opening)
    return False


def happens(path, opening, marker, module_folder, seconds=240):
    """(whether it did something, what PyTorch said)"""
    marker = pathlib.Path(marker)
    marker.unlink(missing_ok=True)
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        sys.path.insert(0, os.fspath(module_folder))
        logging.disable(logging.CRITICAL)
        faulthandler.disable()  # a crash is what some are made for
        said, did = "", False
        try:
            did = open_with_torch(os.fspath(path), opening)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"[:300]
        os.write(writer, (("1" if did else "0") + said).encode(errors="replace"))
        os._exit(0)
    os.close(writer)
    end = time.time() + (HANGS if opening == "hang" else seconds)
    said = b""
    ended, status = 0, 0
    while ended == 0 and time.time() < end:
        time.sleep(0.005)
        ended, status = os.waitpid(process, os.WNOHANG)
    hangs = ended == 0
    if hangs:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    said = os.read(reader, 1000)
    os.close(reader)
    did = marker.exists() or said.startswith(b"1") or (opening in ("crash", "use") and os.WIFSIGNALED(status) and not hangs) or (opening == "hang" and hangs)
    marker.unlink(missing_ok=True)
    return did, said[1:].decode(errors="replace")
