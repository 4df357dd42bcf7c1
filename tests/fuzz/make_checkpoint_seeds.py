"""Makes tests/fuzz/corpus/checkpoint from the golden files, and small files of the older forms with PyTorch.

Checksums in the archives are set to 0, which stands for "none": a fuzzer could not guess the right ones.
"""
import io
import json
import pathlib
import pickle
import struct
import tarfile
import zipfile

import torch

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden"
SEEDS = HERE / "corpus" / "checkpoint"


def without_checksums(data: bytes) -> bytes:
    data = bytearray(data)
    for signature, offset in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16), (b"PK\x07\x08", 4)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset : at + offset + 4] = bytes(4)
            at = data.find(signature, at + 4)
    return bytes(data)


def saved(value, **options) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


def tar_file() -> bytes:
    """The form before 0.1.10: pickles, numbers and elements in the members of a tar archive."""
    dump = lambda value: pickle.dumps(value, protocol=2)
    storage = struct.pack("<q", 4) + struct.pack("<4f", 1, 2, 3, 4)
    storages = dump(1) + b"\x80\x02(U\x01aU\x03cpuctorch\nFloatStorage\nt." + storage + dump([("v", "a", 1, 2)])
    tensor = struct.pack("<ii", 2, 0) + struct.pack("<qqqqq", 2, 2, 2, 1, 0)
    tensors = dump(1) + b"\x80\x02(U\x01tU\x01actorch\nFloatTensor\nt." + tensor
    members = {"sys_info": dump({"protocol_version": 1000}), "pickle": b"\x80\x02}U\x01wU\x01tQs.",
               "storages": storages, "tensors": tensors}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue().rstrip(b"\0") + bytes(512)


def model_json() -> bytes:
    """A module of PyTorch 1.0 to 1.2, which nothing here can write any more."""
    tensor = {"dims": ["2", "3"], "strides": ["3", "1"], "requiresGrad": True, "dataType": "FLOAT", "data": {"key": "tensors/0"}}
    row = {"dims": ["3"], "strides": ["1"], "offset": "3", "dataType": "FLOAT", "data": {"key": "tensors/0"}, "device": "cpu"}
    whole = {"dims": ["2"], "strides": ["1"], "dataType": "INT8", "data": {"key": "tensors/1"}, "isQuantized": True, "scale": 0.5}
    module = {"name": "M", "optimize": True, "torchscriptArena": {"key": "code/m.py"},
              "parameters": [{"name": "weight", "tensorId": "0"}, {"name": "row", "tensorId": "1", "isBuffer": True}],
              "attributes": [{"name": "count", "type": "int", "id": "0"}],
              "submodules": [{"name": "sub", "parameters": [{"name": "bias", "tensorId": "2"}]}]}
    model = {"protoVersion": "1", "producerName": "pytorch", "mainModule": module, "tensors": [tensor, row, whole]}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in (("tensors/0", struct.pack("<6f", *range(6))), ("tensors/1", b"\x01\x02"), ("model.json", json.dumps(model)),
                           ("version", "1\n")):
            archive.writestr(zipfile.ZipInfo("m/" + name), data)
    return buffer.getvalue()


def main():
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name in ("zip/buffer.pt", "zip/tensors.pt", "zip/script.pt", "zip/script.ptl", "zip/package.pt",
                 "zip/program.pt2", "zip/numpy_compressed.npz", "npy/stored.npz", "npy/fortran_big.npy",
                 "safetensors/types.safetensors"):
        (SEEDS / pathlib.Path(name).name).write_bytes(without_checksums((GOLDEN / name).read_bytes()))
    weight = torch.arange(6.0).reshape(2, 3)
    values = {
        "views": {"a": weight, "b": weight.t(), "c": torch.ones(1).expand(4, 4), "step": 3},
        "marked": [torch.tensor([1 + 2j]).conj(), torch.tensor([1 + 2j]).conj().imag],
        "quantized": [torch.quantize_per_tensor(weight, 0.5, 1, torch.qint8),
                      torch.quantize_per_channel(weight, torch.ones(2), torch.zeros(2), 0, torch.quint8)],
        "sparse": [weight.to_sparse(), weight.to_sparse_csr()],
        "module": torch.nn.Linear(2, 1).state_dict(),
    }
    for name, value in values.items():
        (SEEDS / f"{name}.pt").write_bytes(without_checksums(saved(value)))
    (SEEDS / "legacy.pt").write_bytes(saved(values["views"], _use_new_zipfile_serialization=False))
    (SEEDS / "before.tar").write_bytes(tar_file())
    (SEEDS / "model_json.pt").write_bytes(without_checksums(model_json()))


if __name__ == "__main__":
    main()
