"""Writes tests/golden/state_dict: torch.save files of every age, and beside each what PyTorch reads from it.

python generate_state_dict.py [FOLDER]    once with PyTorch 2.13 (needs numpy too), once with 1.13

x.txt has a line for every tensor of x.pt, in order, tabs between: name, role, type, layout, device, whether it
requires a gradient, sizes, strides, offset, number of its storage, bytes of its storage, elements. The parts
of sparse and quantized tensors follow as lines of their own, named tensor#part.
"""

import collections
import io
import linecache
import os
import pathlib
import pickle
import struct
import sys
import tarfile
import tempfile
import types as types_module
import warnings
import zipfile

import torch

warnings.simplefilter("ignore")
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "state_dict")
folder.mkdir(parents=True, exist_ok=True)
VERSION = ".".join(torch.__version__.split(".")[:2])
NEW = VERSION == "2.13"
manifest = {}


class Describer:
    def __init__(self):
        self.storages = {}
        self.lines = []

    def line(self, name, role, dtype, layout, device, grad, sizes, strides, offset, storage, size, data):
        number = self.storages.setdefault(storage, len(self.storages)) if storage is not None else "-"
        join = lambda values: "[" + ",".join(map(str, values)) + "]" if values is not None else "-"
        fields = [name, role, dtype, layout, device, str(grad), join(sizes), join(strides), offset, number, size, data]
        self.lines.append("\t".join(map(str, fields)))

    def tensor(self, name, value, role="tensor"):
        if role == "tensor" and isinstance(value, torch.nn.Parameter):
            role = "parameter"
        plain = lambda text: str(text).replace("torch.", "")
        first = [name, role, plain(value.dtype), plain(value.layout), value.device, value.requires_grad, value.shape]
        if value.layout is not torch.strided:
            self.line(*first, None, "-", None, "-", "-")
            self.sparse(name, value)
            return
        marked = NEW and (value.is_conj() or value.is_neg())
        value = value.detach()
        # What the file marks, Flambeau carries out, in a storage of its own.
        storage = object() if value.is_meta or marked else value.storage().data_ptr() or object()
        size = (value.untyped_storage() if NEW else value.storage()).nbytes()
        raw = value.int_repr() if value.is_quantized else value.resolve_conj().resolve_neg() if marked else value
        data = "-" if value.is_meta else self.bits(raw)
        self.line(*first, value.stride(), value.storage_offset(), storage, size, data)
        if value.is_quantized:
            self.quantizer(name, value)

    @staticmethod
    def bits(value):
        value = value.contiguous().reshape(-1)
        if value.numel() == 0:
            return ""
        return value.numpy().tobytes().hex() if not NEW else bytes(value.view(torch.uint8).tolist()).hex()

    def sparse(self, name, value):
        if value.layout is torch.sparse_coo:
            self.lines[-1] += "\tcoalesced" if value.is_coalesced() else "\tuncoalesced"
            parts = {"indices": value._indices(), "values": value._values()}
        elif value.layout in (torch.sparse_csr, getattr(torch, "sparse_bsr", None)):
            parts = {"compressed": value.crow_indices(), "plain": value.col_indices(), "values": value.values()}
        else:
            parts = {"compressed": value.ccol_indices(), "plain": value.row_indices(), "values": value.values()}
        for part, tensor in parts.items():
            self.tensor(f"{name}#{part}", tensor.detach(), "part")

    def quantizer(self, name, value):
        scheme = str(value.qscheme()).replace("torch.", "")
        if value.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            self.lines[-1] += f"\t{scheme} {value.q_scale().hex()} {value.q_zero_point()}"
            return
        self.lines[-1] += f"\t{scheme} axis {value.q_per_channel_axis()}"
        self.tensor(f"{name}#scales", value.q_per_channel_scales(), "part")
        self.tensor(f"{name}#zero_points", value.q_per_channel_zero_points(), "part")

    def storage(self, name, value, dtype):
        size = value.nbytes()
        count = size // torch.empty(0, dtype=dtype).element_size()
        raw = torch.tensor([], dtype=torch.uint8).set_(value.untyped() if hasattr(value, "untyped") else value)
        pointer = value.data_ptr()
        self.line(name, "storage", str(dtype)[6:], "strided", "cpu", False, [count], [1], 0, pointer, size, self.bits(raw))

    def numpy(self, name, value):
        strides = [stride // value.itemsize for stride in value.strides] if value.size else torch.empty(value.shape).stride()
        self.line(name, "numpy", value.dtype.name, "strided", "cpu", False, value.shape, strides, 0, object(),
                  value.nbytes, value.tobytes().hex())


def write_text(name, described):
    (folder / f"{name}.txt").write_text("".join(line + "\n" for line in described.lines))


def named(value, prefix=""):
    if isinstance(value, torch.Tensor):
        yield prefix, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from named(item, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from named(item, f"{prefix}.{index}" if prefix else str(index))


def save(name, value, how="torch.save", described=None, **options):
    path = folder / f"{name}.pt"
    torch.save(value, str(path), **options)
    if described is None:
        described = Describer()
        for key, tensor in named(torch.load(str(path), **({"weights_only": False} if NEW else {}))):
            described.tensor(key, tensor)
    write_text(name, described)
    manifest[path.name] = f"PyTorch {torch.__version__} {how}"
    return described


def pattern(dtype, *shape):
    """Every byte another: the bits must come back whatever they mean."""
    count = torch.Size(shape).numel()
    size = torch.empty(0, dtype=dtype).element_size()
    raw = torch.arange(count * size, dtype=torch.int64).mul(37).add(5).remainder(256 if dtype is not torch.bool else 2)
    return torch.frombuffer(bytearray(raw.tolist()), dtype=dtype).reshape(shape).clone() if count else torch.empty(shape, dtype=dtype)


TYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
if NEW:
    TYPES += ("uint16 uint32 uint64 complex32 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz "
              "float8_e8m0fnu").split()


def types():
    value = {}
    for name in TYPES:
        dtype = getattr(torch, name)
        value[name] = [pattern(dtype, 2, 3), pattern(dtype)]
    value["empty"] = torch.empty(0, 4)
    if not NEW:  # numpy has no such type
        del value["bfloat16"]
    return value


def views():
    base = torch.arange(24.0).reshape(2, 3, 4)
    value = collections.OrderedDict(
        base=base, again=base, transposed=base.transpose(0, 2), slice=base[1, 1:, ::2], expanded=base[0, 0].expand(5, 4),
        row=base[1], empty=base[:, :0], other=torch.tensor([1, 2]), tied=[base[0], base[0]],
    )
    value["channels_last"] = torch.arange(24.0).reshape(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)
    return value


def quantized():
    values = torch.arange(-6.0, 6.0).reshape(3, 4)
    value = {
        "signed": torch.quantize_per_tensor(values, 0.25, 3, torch.qint8),
        "unsigned": torch.quantize_per_tensor(values, 0.1, 128, torch.quint8),
        "wide": torch.quantize_per_tensor(values, 1e-4, 0, torch.qint32),
        "channels": torch.quantize_per_channel(values, torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor([0, 1, -1, 2]), 1, torch.qint8),
        "turned": torch.quantize_per_tensor(values, 0.25, 3, torch.qint8).t(),
    }
    return value


def sparse():
    eye = torch.eye(4)
    value = {
        "coo": torch.sparse_coo_tensor([[0, 2], [1, 0]], [1.5, -2.0], (3, 3)).coalesce(),
        "uncoalesced": torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2)),
        "csr": eye.to_sparse_csr(),
    }
    if NEW:
        value.update(hybrid=torch.sparse_coo_tensor([[0, 2]], torch.arange(6.0).reshape(2, 3), (3, 3)),
                     csc=eye.to_sparse_csc(), bsr=eye.to_sparse_bsr((2, 2)), bsc=eye.to_sparse_bsc((2, 2)))
    return value


# A module of its own: files keep the source of classes, and the name of its file.
NET = """import torch


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t())
        self.register_buffer("count", torch.tensor(7))

    def forward(self, x):
        return x @ self.weight + self.count


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.tensor([0.5, 1.5]))
        self.first = Part()
        self.second = Part()
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.first(x) + self.second(x) + self.bias
"""


def net_module():
    net = types_module.ModuleType("net")
    net.__file__ = "net.py"
    sys.modules["net"] = net
    linecache.cache["net.py"] = (len(NET), None, NET.splitlines(True), "net.py")
    exec(compile(NET, "net.py", "exec"), net.__dict__)
    return net


Net = net_module().Net


def module():
    described, model = Describer(), Net()
    for name, tensor in model.state_dict(keep_vars=True).items():
        described.tensor(name, tensor)
    return model, described


def extras():
    """What only PyTorch 2 writes: attributes, keys, storages, one storage seen through two types."""
    described, value = Describer(), {}
    frozen = torch.nn.Parameter(torch.tensor([1.0, 2.0]), requires_grad=False)
    plain = torch.nn.Parameter(torch.tensor([3.0]))
    noted = torch.nn.Parameter(torch.tensor([4.0, 5.0]))
    noted.note, noted.inner = "kept", torch.tensor([6, 7])
    tensor = torch.tensor([8.0])
    tensor.more = torch.tensor([9.0])
    leaf = torch.tensor([1.5], requires_grad=True)
    key = torch.nn.Parameter(torch.tensor([10.0]))
    two = torch.tensor([1, 2, 3, 4], dtype=torch.uint16)
    value = {
        "frozen": frozen, "plain": plain, "noted": noted, "tensor": tensor, "leaf": leaf, "keyed": {key: {"step": torch.tensor(3)}},
        "short": two, "long": two.view(torch.uint32), "typed": torch.tensor([5.0, 6.0]).storage(), "untyped": torch.tensor([1, 2], dtype=torch.int16).untyped_storage(),
        "meta": torch.empty(3, 4, device="meta").t(),
    }
    for name in ("frozen", "plain", "noted"):
        described.tensor(name, value[name])
    described.tensor("noted.inner", noted.inner)
    described.tensor("tensor", tensor)
    described.tensor("tensor.more", tensor.more)
    described.tensor("leaf", leaf)
    described.tensor("keyed.<call>", key)
    described.tensor("keyed.<call>.step", value["keyed"][key]["step"])
    described.tensor("short", two)
    described.tensor("long", value["long"])
    described.storage("typed", value["typed"].untyped(), torch.float32)
    described.storage("untyped", value["untyped"], torch.uint8)
    described.tensor("meta", value["meta"])
    return value, described


def numpy_values():
    import numpy

    described = Describer()
    value = {
        "array": numpy.arange(6, dtype="<f4").reshape(2, 3), "fortran": numpy.asfortranarray(numpy.arange(6, dtype="<i8").reshape(2, 3)),
        "big": numpy.arange(3, dtype=">i2"), "scalar": numpy.float64(2.5), "flag": numpy.bool_(True), "empty": numpy.zeros((0, 2), "<u2"),
        "wave": numpy.array([1 + 2j], dtype="<c8"), "objects": numpy.array([torch.tensor([1.0]), None], dtype=object),
        "words": numpy.array(["a", "b"]),
    }
    for name, array in value.items():
        if name not in ("objects", "words"):
            described.numpy(name, numpy.asarray(array).astype(array.dtype.newbyteorder("<")))
            if name == "fortran":
                described.lines[-1] = described.lines[-1].replace("[3,1]", "[1,2]")
    described.tensor("objects.4.0", value["objects"][0])
    return value, described


def copied(source, target, change, described, how, compression=zipfile.ZIP_STORED):
    """A file of PyTorch's with its records changed."""
    with zipfile.ZipFile(folder / f"{source}.pt") as archive:
        records = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(folder / f"{target}.pt", "w", compression) as archive:
        for name, data in records:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = compression
            archive.writestr(info, change(name.split("/", 1)[1], data))
    write_text(target, described)
    manifest[f"{target}.pt"] = f"{source}.pt {how}"


def swapped(data, word):
    return b"".join(data[i : i + word][::-1] for i in range(0, len(data), word))


def big_endian():
    """The types file as a big-endian machine writes it: every word of every storage turned round."""
    value, described = types(), Describer()
    for name, tensor in named(value):
        described.tensor(name, tensor)
    words = []
    for tensor in (tensor for _, tensor in named(value)):
        words.append(tensor.element_size() // (2 if tensor.is_complex() else 1))

    def change(name, data):
        if name == "byteorder":
            return b"big"
        return swapped(data, words[int(name[5:])]) if name.startswith("data/") else data

    copied("types_2.13", "big_endian", change, described, "with every word turned round, byteorder 'big'")


def pickled(value):
    return pickle.dumps(value, protocol=2)


def write_tar(name, members):
    """As torch.save did before 0.1.10: from temporary files, so that extended headers keep their times."""
    path = folder / f"{name}.tar"
    with tarfile.open(path, "w:", format=tarfile.PAX_FORMAT) as archive:
        for member, data in members.items():
            with tempfile.TemporaryDirectory() as temporary:
                file = pathlib.Path(temporary) / "file"
                file.write_bytes(data)
                os.utime(file, (1484131200.5, 1484131200.5))
                info = archive.gettarinfo(str(file), arcname=member)
                info.uid = info.gid = 0
                info.uname = info.gname = "user"
                with open(file, "rb") as stream:
                    archive.addfile(info, stream)
    manifest[path.name] = "by hand, as PyTorch before 0.1.10 laid it out"


def tar_files():
    base = torch.arange(6.0).reshape(2, 3)
    value = collections.OrderedDict(weight=base, turned=base.t(), part=base.view(-1)[2:5], count=torch.tensor([7, 8]))
    keys = {"weight": 21, "turned": 22, "part": 23, "count": 24}
    # part lies in a storage of its own that is a view of the first.
    storages = pickled(2)
    storages += pickled((11, "cpu", torch.FloatStorage)) + struct.pack("<q", 6) + base.numpy().tobytes()
    storages += pickled((12, "cpu", torch.LongStorage)) + struct.pack("<q", 2) + value["count"].numpy().tobytes()
    storages += pickled([(13, 11, 2, 3)])
    tensors = pickled(4)
    for name, storage, offset in (("weight", 11, 0), ("turned", 11, 0), ("part", 13, 0), ("count", 12, 0)):
        tensor = value[name]
        tensors += pickled((keys[name], storage, torch.LongTensor if name == "count" else torch.FloatTensor))
        tensors += struct.pack("<ii", tensor.dim(), 0)
        tensors += struct.pack(f"<{2 * tensor.dim() + 1}q", *tensor.shape, *tensor.stride(), offset)
    stream = io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, item):
            return next((str(keys[name]) for name, tensor in value.items() if tensor is item), None)

    Pickler(stream, protocol=2).dump(value)
    system = pickled({"protocol_version": 1000, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}})
    write_tar("tensors", {"sys_info": system, "pickle": stream.getvalue(), "tensors": tensors, "storages": storages})
    described = Describer()
    for name, tensor in value.items():
        described.tensor(name, tensor)
    # The view is a storage of its own, of 12 bytes, where its tensor starts at 0.
    described.lines[2] = described.lines[2].replace("\t2\t0\t24\t", "\t0\t1\t12\t")
    described.lines[3] = described.lines[3].replace("\t0\t1\t16\t", "\t0\t2\t16\t")
    write_text("tensors", described)

    # A layout that no torch.load takes, but that writers of test files have made: ids inside of the pickle.
    def storage_id(kind, key, count):
        return ("storage", kind, key, "cpu", count)

    class Rebuild:
        def __init__(self, *arguments):
            self.arguments = arguments

        def __reduce__(self):
            return torch._utils._rebuild_tensor_v2, self.arguments

    class Pairs:
        def __reduce__(self):
            weight = Rebuild(storage_id(torch.FloatStorage, "0", 6), 0, (2, 3), (3, 1), False, collections.OrderedDict())
            count = Rebuild(storage_id(torch.LongStorage, "1", 2), 0, (2,), (1,), False, collections.OrderedDict())
            return collections.OrderedDict, ([("weight", weight), ("count", count)],)

    storages = pickled(2)
    storages += pickled(("0", "cpu", torch.FloatStorage)) + struct.pack("<q", 6) + base.numpy().tobytes()
    storages += pickled(("1", "cpu", torch.LongStorage)) + struct.pack("<q", 2) + value["count"].numpy().tobytes()
    write_tar("ids", {"sys_info": system, "pickle": pickled(Pairs()), "storages": storages})
    described = Describer()
    described.tensor("weight", value["weight"])
    described.tensor("count", value["count"])
    write_text("ids", described)


def legacy_view():
    """A view of a storage, as torch.save wrote it until 0.4: a sixth part in its id."""
    path = folder / "legacy_view.pt"
    base = torch.arange(6.0)

    class View:
        def __init__(self, view):
            self.id = ("storage", torch.FloatStorage, "77", "cpu", 6, view)

    class Rebuild:
        def __init__(self, *arguments):
            self.arguments = arguments

        def __reduce__(self):
            return torch._utils._rebuild_tensor, self.arguments

    class Pickler(pickle.Pickler):
        def persistent_id(self, item):
            return item.id if isinstance(item, View) else None

    value = collections.OrderedDict(whole=Rebuild(View(None), 0, (2, 3), (3, 1)), part=Rebuild(View(("78", 2, 3)), 1, (2,), (1,)))
    stream = io.BytesIO()
    for part in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}):
        stream.write(pickled(part))
    Pickler(stream, protocol=2).dump(value)
    stream.write(pickled(["77"]) + struct.pack("<q", 6) + base.numpy().tobytes())
    path.write_bytes(stream.getvalue())
    described = Describer()
    described.tensor("whole", base.reshape(2, 3))
    described.line("part", "tensor", "float32", "strided", "cpu", False, (2,), (1,), 1, object(), 12, base[3:5].numpy().tobytes().hex())
    write_text("legacy_view", described)
    manifest[path.name] = "by hand, as PyTorch 0.3 laid it out"


legacy = {"how": "torch.save, legacy form", "_use_new_zipfile_serialization": False}
save(f"types_{VERSION}", types())
save(f"views_{VERSION}", views())
save(f"quantized_{VERSION}", quantized())
save(f"sparse_{VERSION}", sparse())
old_types = {name: value for name, value in types().items() if name not in ("uint16", "uint32", "uint64", "complex32") and "float8" not in name}
save(f"legacy_types_{VERSION}", old_types, **legacy)
save(f"legacy_views_{VERSION}", views(), **legacy)
whole, whole_described = module()
save(f"module_{VERSION}", whole, described=whole_described)
save(f"legacy_module_{VERSION}", whole, described=whole_described, **legacy)
script_described = Describer()
net = Net()
for key, tensor in net.state_dict(keep_vars=True).items():
    script_described.tensor(key, tensor)
script_described.lines = [line.replace("\tparameter\t", "\ttensor\t") for line in script_described.lines]
torch.jit.script(net).save(str(folder / f"script_{VERSION}.pt"))
write_text(f"script_{VERSION}", script_described)
manifest[f"script_{VERSION}.pt"] = f"PyTorch {torch.__version__} torch.jit.save"
if NEW:
    torch.jit.script(net)._save_for_lite_interpreter(str(folder / f"mobile_{VERSION}.pt"))
    write_text(f"mobile_{VERSION}", script_described)
    manifest[f"mobile_{VERSION}.pt"] = f"PyTorch {torch.__version__} _save_for_lite_interpreter"
    value, described = extras()
    save("extras_2.13", value, described=described)
    value, described = numpy_values()
    save("numpy_2.13", value, described=described)
    wave = torch.tensor([1 + 2j, 3 - 4j])
    save("marks_2.13", {"conj": wave.conj(), "neg": torch._neg_view(torch.tensor([1.0, -2.0])), "imag": wave.clone().conj().imag, "plain": wave})
    described = save("protocol_5", {"value": torch.arange(3.0), "raw": bytearray(b"ab"), "set": {1}}, pickle_protocol=5)
    described = Describer()
    for key, tensor in named(views()):
        described.tensor(key, tensor)
    copied("views_2.13", "deflated", lambda name, data: data, described, "compressed by Python's zipfile", zipfile.ZIP_DEFLATED)
    big_endian()
    tar_files()
    legacy_view()

path = folder / "MANIFEST"
lines = dict(line.split("\t") for line in path.read_text().splitlines()) if path.exists() else {}
lines.update(manifest)
path.write_text("".join(f"{name}\t{how}\n" for name, how in sorted(lines.items())))
