"""Recorded samples in two files: the memory of all tensors, and a pickle of everything else that says where in it they lie."""

import hashlib
import mmap
import pickle

import torch

import record

ALIGNMENT = 64


class Writer(pickle.Pickler):
    def __init__(self, file, memory):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.memory = memory
        self.storages = {}  # a number for each
        self.places = {}  # of contents: most arguments are the same after a call

    def persistent_id(self, value):
        if isinstance(value, torch._ops.OpOverload):
            return record.overload_name(value)
        if isinstance(value, torch.Tensor):
            number, place, size = self.storage(value.untyped_storage())
            bits = value.is_conj(), value.is_neg()
            return number, place, size, value.dtype, value.storage_offset(), tuple(value.shape), value.stride(), *bits
        return None

    def storage(self, storage):
        if storage._cdata not in self.storages:
            content = torch.empty(0, dtype=torch.uint8).set_(storage).numpy().tobytes()
            key = hashlib.sha256(content).digest()
            if key not in self.places:
                self.memory.write(bytes(-self.memory.tell() % ALIGNMENT))
                self.places[key] = self.memory.tell()
                self.memory.write(content)
            self.storages[storage._cdata] = len(self.storages), self.places[key], len(content)
        return self.storages[storage._cdata]


class Reader(pickle.Unpickler):
    def __init__(self, file, memory, overload):
        super().__init__(file)
        self.memory, self.overload = memory, overload
        self.storages = {}

    def persistent_load(self, said):
        if isinstance(said, str):
            return self.overload(said)
        number, place, size, dtype, offset, shape, strides, is_conj, is_neg = said
        # Equal contents lie in one place of the file, but whoever shared no memory still shares none: what is copied is a storage.
        storage = self.storages.get(number)
        if storage is None:
            found = torch.empty(0, dtype=torch.uint8)
            if size:
                found = torch.frombuffer(self.memory, dtype=torch.uint8, count=size, offset=place)
            storage = self.storages[number] = found.untyped_storage()
        made = torch.empty(0, dtype=dtype).set_(storage, offset, shape, strides)
        if is_conj:
            made = made.conj()
        return torch._neg_view(made) if is_neg else made


def write(folder, samples):
    with open(folder / "samples", "wb") as file, open(folder / "memory", "wb") as memory:
        Writer(file, memory).dump(samples)


def read(folder, overload):
    """The samples; overload(name) finds their operators."""
    with open(folder / "samples", "rb") as file, open(folder / "memory", "rb") as memory:
        size = memory.seek(0, 2)
        mapped = mmap.mmap(memory.fileno(), size, access=mmap.ACCESS_COPY) if size else b""
        return Reader(file, mapped, overload).load()
