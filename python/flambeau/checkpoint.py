"""Files of weights as mappings from names to tensors: load_checkpoint, save_checkpoint."""

import collections.abc
import os

from flambeau import _flambeau


def dtype_name(dtype):
    """'bf16', torch.bfloat16 and numpy.float32 as text; '' for None."""
    return "" if dtype is None else str(getattr(dtype, "__name__", dtype))


def patterns(filter):
    return [filter] if isinstance(filter, str) else list(filter)


def source_of(source):
    """What the extension takes: bytes, and whether they are a path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return source, False
    return os.fsencode(source), True


class Checkpoint(collections.abc.Mapping):
    """Names and tensors of a file of weights, in its order; made by flambeau.load_checkpoint.

    A tensor is a flambeau.Tensor whose memory is the mapped file: nothing is read before somebody looks. Writing to one
    changes neither the file nor what others see of it.

        weights = flambeau.load_checkpoint("model.safetensors")
        weights["encoder.weight"].numpy()                     # no copy
        torch.from_dlpack(weights["encoder.weight"])          # no copy either
        {name: tensor.shape for name, tensor in weights.items()}
    """

    def __init__(self, session, handle):
        self._session = session
        self._handle = handle
        self._places = {}
        for place, name in enumerate(handle.names()):
            self._places.setdefault(name, place)

    def __getitem__(self, name):
        try:
            return self._handle.tensor(self._places[name])
        except TypeError:  # a name that cannot be looked up
            raise KeyError(name) from None

    def __iter__(self):
        return iter(self._places)

    def __len__(self):
        return len(self._places)

    def __repr__(self):
        lines = [f"  {name}: {self[name].dtype}{list(self[name].shape)}" for name in list(self)[:8]]
        if len(self) > 8:
            lines.append(f"  ... and {len(self) - 8} more")
        return "\n".join([f"<flambeau.Checkpoint of {len(self)} tensors ({self.kind})", *lines]) + ">"

    @property
    def kind(self):
        """What the file is: 'torch_save', 'safetensors', 'gguf', ... as flambeau.inspect calls it."""
        return self._handle.kind

    @property
    def metadata(self):
        """What the file says of itself by name: the metadata of safetensors and GGUF, as a dict of texts."""
        return dict(self._handle.metadata)

    @property
    def skipped(self):
        """Tensors that are there and cannot be read: names and reasons."""
        return dict(self._handle.skipped)

    @property
    def notes(self):
        """What a reader of the file should know."""
        return self._handle.notes

    def to(self, dtype):
        """The same with floating-point tensors of another type, converted when they are looked at.

            flambeau.load_checkpoint("model.pt").to("bf16")
        """
        return Checkpoint(
            self._session, _flambeau.transform_checkpoint(self._session, self._handle, dtype_name(dtype), [])
        )

    def filter(self, *names):
        """Those whose names fit: patterns as in a shell; '!PATTERN' leaves out.

            weights.filter("encoder.*", "!*.bias")
        """
        return Checkpoint(self._session, _flambeau.transform_checkpoint(self._session, self._handle, "", list(names)))

    def save(self, path, *, dtype=None, format="", shard_size=""):
        """Writes them as flambeau.save_checkpoint does. A .pt file keeps what was around the tensors.

            weights.save("model.safetensors", dtype="bf16")
        """
        return _flambeau.save_checkpoint(
            self._session, self._handle, os.fsencode(path), dtype_name(dtype), format, str(shard_size)
        )


def load(session, source):
    return Checkpoint(session, _flambeau.load_checkpoint(session, *source_of(source)))


def save(session, tensors, path, *, dtype=None, metadata=None, format="", shard_size=""):
    if not isinstance(tensors, collections.abc.Mapping):
        raise TypeError(f"weights are a mapping from names to tensors, not a {type(tensors).__name__}")
    checkpoint = tensors
    if not isinstance(tensors, Checkpoint) or metadata is not None:
        if metadata is None:
            metadata = {}
        checkpoint = Checkpoint(session, _flambeau.make_checkpoint(list(tensors.items()), dict(metadata)))
    return checkpoint.save(path, dtype=dtype, format=format, shard_size=shard_size)
