#!/usr/bin/env python3
"""Writes the seeds of the TorchScript fuzz targets, with real PyTorch: small archives, their code, their debug information."""

import io
import pathlib
import zipfile
from typing import Dict, List, Optional, Tuple

import torch

CORPUS = pathlib.Path(__file__).parent / "corpus"


class Values(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.names = ["a", "b"]
        self.sizes = {"a": [1, 2], "b": [3]}
        self.pair = (1.5, True)
        self.number = 1 + 2j
        self.device = torch.device("cpu")
        self.sparse = torch.eye(2).to_sparse()

    def forward(self, x, scale: Optional[float] = None) -> Tuple[torch.Tensor, int]:
        total = 0
        for name in self.names:
            total += len(self.sizes[name])
        if scale is not None:
            x = x * scale
        while total < 10:
            total += 1
        return x + self.weight, total


class State(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.value = 3

    @torch.jit.export
    def __getstate__(self):
        return (self.value, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, bool]):
        self.value = state[0]
        self.training = state[1]

    def forward(self, x: List[int], y: Dict[str, int]) -> int:
        with torch.no_grad():
            y["k"] = x[0]
        return self.value + y["k"]


def constant(x):
    return x + torch.tensor([1.0, 2.0]).sum() + len("\xe9")


class Flat(torch.nn.Module):
    """What flatbuffers can hold: no sparse tensor, no `with`."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.names = ["a", "b"]
        self.sizes = {"a": [1, 2], "b": [3]}
        self.pair = (1.5, True, 1 + 2j, torch.device("cpu"))
        self.flags = [True, False]
        self.rates = [0.5]
        self.state = FlatState()

    def forward(self, x, scale: Optional[float] = None) -> Tuple[torch.Tensor, int]:
        total = self.state(1)
        for name in self.names:
            total += len(self.sizes[name])
        if scale is not None:
            x = x * scale
        while total < 10:
            total += 1
        return x + self.weight, total


class FlatState(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.value = 3

    @torch.jit.export
    def __getstate__(self):
        return (self.value, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, bool]):
        self.value = state[0]
        self.training = state[1]

    def forward(self, x: int) -> int:
        return self.value + x


def write_flatbuffers():
    folder = CORPUS / "flatbuffer"
    folder.mkdir(parents=True, exist_ok=True)
    quantized = torch.nn.Module()
    quantized.weight = torch.quantize_per_channel(torch.ones(2, 2), torch.ones(2), torch.zeros(2), 0, torch.qint8)
    for name, module in (("flat", torch.jit.script(Flat())), ("quantized", torch.jit.script(quantized))):
        torch.jit.save_jit_module_to_flatbuffer(module, str(folder / f"{name}.ff"))


def without_checksums(data):
    """The archive with zeros for its checksums, which a fuzzer could not guess."""
    data = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        for entry in archive.infolist():
            data[entry.header_offset + 14 : entry.header_offset + 18] = bytes(4)
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        data[at + 16 : at + 20] = bytes(4)
        at += 4
    return bytes(data)


def zipped(records):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return without_checksums(buffer.getvalue())


def write_packages():
    """A torch.package with a script module, and what else is judged with what lies inside of it."""
    import torch.package

    torch.package.package_exporter._gate_torchscript_serialization = False
    buffer = io.BytesIO()
    with torch.package.PackageExporter(buffer) as exporter:
        exporter.save_pickle("m", "m.pkl", {"a": torch.jit.script(FlatState())})
    with zipfile.ZipFile(buffer) as archive:
        names = {name: archive.read(name) for name in archive.namelist()}
        package = zipped({f"p/{name.split('/', 1)[1]}": data for name, data in names.items() if not name.endswith(".debug_pkl")})
    (CORPUS / "package").mkdir(parents=True, exist_ok=True)
    (CORPUS / "package" / "script.pt").write_bytes(package)
    compiled = {
        "m/archive_format": b"pt2",
        "m/archive_version": b"0",
        "m/data/aotinductor/model/x.wrapper.so": (CORPUS / "elf" / "model.so").read_bytes(),
        "m/data/aotinductor/model/x.wrapper.cpp": b'inputs_info_[0].name = "a";\nconstants_info_[0].name = "b";\n',
        "m/data/aotinductor/model/x.wrapper_metadata.json": b'{"AOTI_DEVICE_KEY": "cpu"}',
    }
    inner = io.BytesIO()
    torch.save({"a": torch.ones(2), "s": torch.eye(2).to_sparse_csr()}, inner)
    with zipfile.ZipFile(inner) as archive:
        inner = zipped({name: archive.read(name) for name in archive.namelist() if not name.startswith("archive/.")})
    (CORPUS / "check").mkdir(parents=True, exist_ok=True)
    (CORPUS / "check" / "compiled.pt2").write_bytes(zipped(compiled))
    (CORPUS / "check" / "saved.pt").write_bytes(inner)
    (CORPUS / "check" / "inside.pt2").write_bytes(zipped({"m/archive_format": b"pt2", "m/archive_version": b"0", "m/data/weights/model.pt": inner, "m/models/model.json": b"{}"}))
    (CORPUS / "check" / "evil.pt").write_bytes(b"cos\nsystem\n(S'true'\ntR.")


def main():
    write_flatbuffers()
    write_packages()
    modules = {
        "values": torch.jit.script(Values()),
        "state": torch.jit.script(State()),
        "traced": torch.jit.trace(torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU()), torch.ones(1, 1)),
        "constant": torch.jit.trace(constant, torch.ones(2)),
    }
    for kind in ("script_archive", "script_source", "script_debug"):
        (CORPUS / kind).mkdir(parents=True, exist_ok=True)
    for name, module in modules.items():
        fresh = io.BytesIO()
        torch.jit.save(module, fresh)
        fresh.seek(0)
        data = io.BytesIO()
        # Loaded without debug information, so that no seed tells of the machine it was made on.
        stripped = io.BytesIO()
        with zipfile.ZipFile(fresh) as old, zipfile.ZipFile(stripped, "w") as new:
            for entry in old.infolist():
                if not entry.filename.endswith(".debug_pkl"):
                    new.writestr(entry.filename, old.read(entry))
        stripped.seek(0)
        torch.jit.save(torch.jit.load(stripped), data)
        (CORPUS / "script_archive" / f"{name}.pt").write_bytes(data.getvalue())
        with zipfile.ZipFile(data) as archive:
            for entry in archive.namelist():
                short = entry.split("/")[-1]
                if entry.endswith(".py") and "__torch__.py" in entry:
                    (CORPUS / "script_source" / f"{name}.py").write_bytes(archive.read(entry))
                if entry.endswith(".debug_pkl"):
                    (CORPUS / "script_debug" / f"{name}-{short}").write_bytes(archive.read(entry))


if __name__ == "__main__":
    main()
