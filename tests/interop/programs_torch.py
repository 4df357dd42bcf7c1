"""What PyTorch makes of a .pt2 file: its records, canonical form, older layout, and whether two programs are the same."""

import io
import json
import zipfile

import torch
from torch._export.serde import schema, serialize
from torch.export.pt2_archive._package import load_pt2
from torch.utils import _pytree as pytree

from programs import inputs

OLD_NAMES = {
    "program": "serialized_exported_program.json",
    "state_dict": "serialized_state_dict.pt",
    "constants": "serialized_constants.pt",
    "example_inputs": "serialized_example_inputs.pt",
}


def records(path):
    """Name and bytes of every record, in the order of the file, without the folder that all of them are in."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename.split("/", 1)[1]: archive.read(info) for info in archive.infolist()}


def models(files):
    return [name.removeprefix("models/").removesuffix(".json") for name in files if name.startswith("models/")]


def only_for_python(files):
    """Why the weights and constants of an archive cannot be moved into another layout without Python, if so."""
    configs = {name.rsplit("/", 1)[0]: json.loads(data)["config"] for name, data in files.items() if name.endswith("s_config.json")}
    for folder, config in configs.items():
        for name, entry in config.items():
            if entry["use_pickle"]:
                return f"{name} is pickled: an object of a Python class"
            if not files[f"{folder}/{entry['path_name']}"] and 0 not in [size["as_int"] for size in entry["tensor_meta"]["sizes"]]:
                return f"{name} was saved without its values"
    return None


def canonical(program, constants=()):
    """The canonical form of a program's JSON, as bytes."""
    parsed = serialize._bytes_to_dataclass(schema.ExportedProgram, program)
    return serialize._to_json_bytes(serialize.canonicalize(parsed, set(constants)))


def canonical_model(files, model="model"):
    constants = json.loads(files[f"data/constants/{model}_constants_config.json"])["config"]
    return canonical(files[f"models/{model}.json"], constants)


def write_old_layout(exported, path, extra_files=None):
    """As torch.export.save did until 2.7: a plain zip file with four parts that stand on their own."""
    artifact = serialize.serialize(exported)
    parts = {name: getattr(artifact, "exported_program" if key == "program" else key) for key, name in OLD_NAMES.items()}
    parts["version"] = ".".join(map(str, schema.SCHEMA_VERSION)).encode()
    for name, text in (extra_files or {}).items():
        parts[f"extra_files/{name}"] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)


def read_old_layout(path):
    """The parts of a file of the older layout: its program and three values that torch.load gives."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}

    def value(key):
        data = parts[OLD_NAMES[key]]
        return torch.load(io.BytesIO(data), weights_only=False) if data else None

    return parts[OLD_NAMES["program"]], value("state_dict"), value("constants"), value("example_inputs")


def load_all(path):
    """Every program of an archive."""
    return load_pt2(str(path)).exported_programs


def same_bits(a, b):
    if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
        return False
    if isinstance(a, torch.Tensor) and type(a.data) is not torch.Tensor:
        return torch.equal(a, b)
    # A tensor of one element is contiguous whatever its strides are, but not to view(): cloning makes them plain.
    flat = [t.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format).view(-1) for t in (a, b)]
    return flat[0].numel() == 0 or torch.equal(*(t.view(torch.uint8) for t in flat))


def check_value(ours, theirs, where):
    """Containers, numbers and tensors alike, with NaN equal to itself."""
    ours, ours_spec = pytree.tree_flatten(ours)
    theirs, theirs_spec = pytree.tree_flatten(theirs)
    assert ours_spec == theirs_spec, where
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if isinstance(b, torch.Tensor):
            assert isinstance(a, torch.Tensor), f"{where}, leaf {number}"
            # PyTorch writes one record for all that is empty; who opens it gets the first one's gradient.
            assert a.requires_grad == b.requires_grad or b.numel() == 0, f"{where}, leaf {number}"
            assert same_bits(a, b), f"{where}, leaf {number}: {a} is not {b}"
        else:
            assert type(a) is type(b) and (a == b or repr(a) == repr(b)), f"{where}, leaf {number}: {a!r} is not {b!r}"


def check_tensors(ours, theirs, where):
    assert list(ours) == list(theirs), where
    for name in theirs:
        check_value(ours[name], theirs[name], f"{where} {name}")
        if isinstance(theirs[name], torch.Tensor):
            assert type(ours[name]) is type(theirs[name]), f"{where} {name}"


def shared(tensors):
    """Which of some named tensors lie in one storage."""
    groups = {}
    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor) and type(tensor.data) is torch.Tensor and tensor.untyped_storage().nbytes():
            groups.setdefault(tensor.untyped_storage().data_ptr(), []).append(name)
    return sorted(groups.values())


def made_inputs(exported):
    """Random inputs for a program that was saved without any."""
    made = []
    for node in exported.graph.nodes:
        if node.op == "placeholder" and node.name in exported.graph_signature.user_inputs:
            value = node.meta["val"]
            made.append(torch.randn(value.shape).to(value.dtype) if isinstance(value, torch.Tensor) else value)
    return pytree.tree_unflatten(made, exported.call_spec.in_spec)


def outcome(exported):
    """What running a program gives, or how it fails; afterwards its state is what the run made of it."""
    torch.manual_seed(0)
    args, kwargs = inputs(exported) if exported.example_inputs else made_inputs(exported)
    try:
        module = exported.module()
        result = module(*args, **kwargs)
    except Exception as error:
        return type(error), None
    return result, (args, kwargs, dict(module.state_dict()))


def check_same(ours, theirs):
    """Two loaded programs: as text, in what they have, and in what they do."""
    assert str(ours) == str(theirs)
    assert str(ours.graph) == str(theirs.graph)
    assert repr(ours.graph_signature) == repr(theirs.graph_signature)
    assert repr(ours.range_constraints) == repr(theirs.range_constraints)
    assert repr(ours.module_call_graph) == repr(theirs.module_call_graph)
    assert ours._guards_code == theirs._guards_code
    assert [node.meta.get("custom") for node in ours.graph.nodes] == [node.meta.get("custom") for node in theirs.graph.nodes]
    check_tensors(ours.state_dict, theirs.state_dict, "weight")
    check_tensors(ours.constants, theirs.constants, "constant")
    assert shared(ours.state_dict) == shared(theirs.state_dict)
    assert shared(ours.constants) == shared(theirs.constants)
    check_value(ours.example_inputs or None, theirs.example_inputs or None, "example inputs")
    (ours_result, ours_after), (theirs_result, theirs_after) = outcome(ours), outcome(theirs)
    check_value(ours_result, theirs_result, "result")
    check_value(ours_after, theirs_after, "state after the run")
