"""Makes tests/golden/zip/ with real PyTorch, Python's zipfile and numpy. Run it in that folder's parent:

    python generate_zip.py
"""

import io
import os
import struct
import sys
import zipfile

import numpy as np
import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zip")
MANIFEST = []


def path(name, what):
    MANIFEST.append(f"zip/{name}\t{what}")
    return os.path.join(FOLDER, name)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x):
        if bool(x.sum() > 0):
            return torch.relu(self.linear(x))
        return self.linear(x) + torch.ones(4)


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


def pytorch_files():
    version = f"torch {torch.__version__}"
    tensors = {"a": torch.arange(10.0), "b": torch.ones(3, dtype=torch.int8), "empty": torch.zeros(0)}
    torch.save(tensors, path("tensors.pt", f"{version} torch.save"))
    buffer = io.BytesIO()
    torch.save([1, 2], buffer)
    with open(path("buffer.pt", f"{version} torch.save to a buffer"), "wb") as file:
        file.write(buffer.getvalue())
    torch.save([torch.ones(2) * i for i in range(60)], path("many.pt", f"{version} torch.save, 60 storages"))
    torch.save({"x": torch.ones(3)}, os.path.join(FOLDER, "namen ä.pt"))
    named = path("not_ascii.pt", f"{version} torch.save to a file whose name is not ASCII, renamed later")
    os.rename(os.path.join(FOLDER, "namen ä.pt"), named)

    torch.serialization.set_crc32_options(False)
    torch.save(tensors, path("no_crc.pt", f"{version} torch.save without CRC-32"))
    torch.serialization.set_crc32_options(True)
    from torch.utils.serialization import config

    for alignment in (1, 48, 4096):
        config.save.storage_alignment = alignment
        torch.save(tensors, path(f"aligned_{alignment}.pt", f"{version} torch.save, storage_alignment {alignment}"))
    config.save.storage_alignment = 64

    with torch.serialization.skip_data():
        torch.save(tensors, path("skip_data.pt", f"{version} torch.save inside skip_data()"))

    script = torch.jit.script(Model())
    torch.jit.save(script, path("script.pt", f"{version} torch.jit.save"))
    extra = {"note.txt": "hello " * 100, "empty": ""}
    torch.jit.save(script, path("script_extra.pt", f"{version} torch.jit.save with extra files"), _extra_files=extra)
    script._save_for_lite_interpreter(path("script.ptl", f"{version} _save_for_lite_interpreter"))
    # Enough source for several deflate blocks.
    lines = "".join(f"    x = x * {i * 7919 % 10007} + torch.relu(x - {i * i % 997}.{i})\n" for i in range(600))
    module = torch.jit.ScriptModule()
    module.define("def forward(self, x):\n" + lines + "    return x\n")
    torch.jit.save(module, path("script_long.pt", f"{version} torch.jit.save, 70 KB of source"))
    program = torch.export.export(Plain(), (torch.ones(2, 3),))
    torch.export.save(program, path("program.pt2", f"{version} torch.export.save"))

    # A record that begins like a data descriptor counts in the serialization id.
    writer = torch._C.PyTorchFileWriter(path("descriptor_data.pt", f"{version} PyTorchFileWriter"))
    for name, data in (("one", b"PK\x07\x08\x01\x02\x03\x04rest"), ("two", b"PK\x07\x08"), ("none", b"")):
        writer.write_record(name, data, len(data))
    writer.write_end_of_file()

    with torch.package.PackageExporter(path("package.pt", f"{version} torch.package")) as exporter:
        exporter.save_text("resources", "note.txt", "hello")
        exporter.save_pickle("resources", "value.pkl", {"a": torch.ones(2)})


class SparseBuffer:
    """Keeps what is written except long runs of data, as segments (offset, bytes)."""

    def __init__(self):
        self.at = 0
        self.segments = []

    def write(self, data):
        if len(data) < 1 << 20:
            if self.segments and self.segments[-1][0] + len(self.segments[-1][1]) == self.at:
                self.segments[-1][1].extend(data)
            else:
                self.segments.append((self.at, bytearray(data)))
        self.at += len(data)
        return len(data)

    def seek(self, offset, whence):
        assert whence == os.SEEK_CUR
        self.at += offset


def huge_file():
    # Records in order: small, 4 GiB - 1 zero bytes, small, empty, version, byteorder, serialization_id.
    buffer = SparseBuffer()
    writer = torch._C.PyTorchFileWriter(buffer)
    huge = torch.zeros(0xFFFFFFFF, dtype=torch.uint8).untyped_storage()
    writer.write_record("before", b"before", 6)
    writer.write_record("huge", huge, 0xFFFFFFFF)
    writer.write_record("after", b"after", 5)
    writer.write_record("empty", b"", 0)
    writer.write_end_of_file()
    name = path("huge.segments", f"torch {torch.__version__} PyTorchFileWriter; offset, size, bytes; then the length")
    with open(name, "wb") as file:
        for at, data in buffer.segments:
            file.write(struct.pack("<QQ", at, len(data)) + data)
        file.write(struct.pack("<QQ", buffer.at, 0))


class Unseekable(io.RawIOBase):
    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def seekable(self):
        return False

    def write(self, data):
        return self.file.write(data)


def other_files():
    arrays = {"a": np.arange(6.0), "b": np.zeros(500, dtype=np.int32)}
    np.savez(path("numpy.npz", f"numpy {np.__version__} savez"), **arrays)
    np.savez_compressed(path("numpy_compressed.npz", f"numpy {np.__version__} savez_compressed"), **arrays)
    python = f"Python {sys.version.split()[0]} zipfile"
    with open(path("numpy_stream.npz", f"numpy {np.__version__} savez to an unseekable file"), "wb") as file:
        np.savez(Unseekable(file), **arrays)
    with open(path("stream.zip", f"{python} to an unseekable file"), "wb") as file:
        with zipfile.ZipFile(Unseekable(file), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", b"hello " * 50)
            archive.writestr("archive/Data.pkl", b"")
    with zipfile.ZipFile(path("python.zip", python), "w") as archive:
        archive.mkdir("archive")
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/zeros", bytes(100000), zipfile.ZIP_DEFLATED)
        archive.comment = b"a comment"
    with zipfile.ZipFile(path("empty.zip", python), "w"):
        pass


def main():
    torch.manual_seed(0)
    os.makedirs(FOLDER, exist_ok=True)
    pytorch_files()
    huge_file()
    other_files()
    with open(os.path.join(FOLDER, "MANIFEST.tsv"), "w") as file:
        file.write("# file\tmade by\n" + "\n".join(MANIFEST) + "\n")


main()
