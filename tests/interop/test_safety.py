"""flambeau check: malicious files of many sorts are found and named, harmless ones pass, and nothing is ever run."""

import io
import json
import os
import pathlib
import pickle
import struct
import tarfile
import warnings
import zipfile

import numpy
import pytest
import safetensors.torch
import torch

from torch_values import cases

warnings.simplefilter("ignore")
CASES = cases()


@pytest.fixture
def canary(tmp_path):
    """A file that every malicious pickle would create; it must never be there."""
    path = tmp_path / "canary"
    yield path
    assert not path.exists(), "something in a file was executed"


@pytest.fixture
def check(flambeau):
    def run(path):
        done = flambeau.run("check", "--json", path)
        assert done.returncode in (0, 1), done.stderr
        report = json.loads(done.stdout)
        assert report["harmless"] == (done.returncode == 0)
        # Looking at it in every other way is harmless, too.
        for arguments in (["inspect", "--stats", "--globals", path], ["list", path], ["convert", path, str(path) + ".out.pt"]):
            other = flambeau.run(*arguments)
            assert other.returncode in (0, 1, 2), f"{arguments}: {other.returncode} {other.stderr}"
            assert "bug of Flambeau" not in other.stderr
        return report

    return run


def finds(report, text, severity="danger"):
    messages = [f"{item['severity']} {item['topic']} {item['record']}: {item['message']}" for item in report["findings"]]
    assert any(text in message and message.startswith(severity) for message in messages), messages
    assert not report["harmless"]


class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def short(text):
    return b"\x8c" + bytes([len(text)]) + text.encode()


def malicious(canary):
    """name -> (pickle bytes, what must be named)"""
    command = f"touch {canary}"
    touch = pathlib.Path.touch
    system = lambda: Call(os.system, command)
    quoted = repr(command).encode()
    build = b"\x80\x02" + b"c__main__\nX\n)\x81}X\x05\x00\x00\x00stateK\x01sb."
    return {
        "os.system": (pickle.dumps(system(), 2), "posix.system"),
        "os.system by every protocol 0": (pickle.dumps(system(), 0), "posix.system"),
        "protocol 4": (pickle.dumps(system(), 4), "posix.system"),
        "eval": (pickle.dumps(Call(eval, f"open({str(canary)!r}, 'w')"), 2), "__builtin__.eval"),
        "exec": (pickle.dumps(Call(exec, f"open({str(canary)!r}, 'w')"), 3), "builtins.exec"),
        "open": (pickle.dumps(Call(open, str(canary), "w"), 3), "io.open"),
        "a bound method": (pickle.dumps(Call(touch, pathlib.PurePosixPath(canary)), 4), "pathlib"),
        "getattr chain": (b"\x80\x03cbuiltins\ngetattr\ncos\nsystem\nX\x08\x00\x00\x00__call__\x86RX" + struct.pack("<I", len(command)) + command.encode() + b"\x85R.", "builtins.getattr"),
        "STACK_GLOBAL": (b"\x80\x04" + short("os") + short("system") + b"\x93" + short(command[:200]) + b"\x85R.", "os.system"),
        "STACK_GLOBAL from the memo": (b"\x80\x04" + short("os") + b"\x94" + short("system") + b"\x94" + b"00h\x00h\x01\x93" + short(command[:200]) + b"\x85R.", "os.system"),
        "a dotted name": (b"\x80\x04" + short("torch") + short("serialization.os.system") + b"\x93" + short(command[:200]) + b"\x85R.", "torch.serialization.os.system"),
        "INST": (b"(S" + quoted + b"\nios\nsystem\n.", "os.system"),
        "OBJ": (b"(cos\nsystem\nS" + quoted + b"\no.", "os.system"),
        "NEWOBJ": (b"\x80\x02csubprocess\nPopen\nX\x05\x00\x00\x00false\x85\x81.", "subprocess.Popen"),
        "NEWOBJ_EX": (b"\x80\x04" + short("subprocess") + short("Popen") + b"\x93)}\x92.", "subprocess.Popen"),
        "hidden behind POP": (b"\x80\x02cos\nsystem\nX" + struct.pack("<I", len(command)) + command.encode() + b"\x85R0}.", "os.system"),
        "hidden behind POP_MARK": (b"\x80\x02(cos\nsystem\nX" + struct.pack("<I", len(command)) + command.encode() + b"\x85R1}.", "os.system"),
        "only imported": (b"\x80\x02cantigravity\nfly\n0}.", "antigravity.fly"),
        "BUILD on a stranger's class": (build, "__main__.X"),
        "then broken": (b"\x80\x02cos\nsystem\nX" + struct.pack("<I", len(command)) + command.encode() + b"\x85R\xff.", "os.system"),
        "then cut off": (b"\x80\x02cos\nsystem\nX" + struct.pack("<I", len(command)) + command.encode() + b"\x85R", "os.system"),
        "in a dict key": (pickle.dumps({"a": 1, "b": [({"c": system()},)]}, 2), "posix.system"),
        "as a default factory": (b"\x80\x02ccollections\ndefaultdict\ncos\nabort\n\x85R.", "os.abort"),
        "through torch": (b"\x80\x02ctorch.hub\nload\nX\x01\x00\x00\x00a\x85R.", "torch.hub.load"),
        "torch.load": (b"\x80\x02ctorch\nload\nX\x01\x00\x00\x00a\x85R.", "torch.load"),
        "numpy.load": (b"\x80\x02cnumpy\nload\nX\x01\x00\x00\x00a\x85R.", "numpy.load"),
        "an extension code": (b"\x80\x02\x82\x01.", "EXT1"),
        "a look-alike letter": (b"\x80\x04\x8c\x03\xd0\xbes" + short("system") + b"\x93)R.", ".system"),
    }


NAMES = list(malicious("x"))
MAGIC = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)


def zip_with(path, records, top="a", **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in records.items():
            archive.writestr(f"{top}/{name}" if top else name, data)
    return path


def tar_with(path, members):
    with tarfile.open(path, "w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_bare_pickles(name, check, canary, tmp_path):
    data, named = malicious(canary)[name]
    (tmp_path / "a.pkl").write_bytes(data)
    report = check(tmp_path / "a.pkl")
    if report["kind"] == "pickle":
        finds(report, named)
    else:
        assert not report["harmless"]


@pytest.mark.parametrize("name", NAMES)
def test_in_a_zip(name, check, canary, tmp_path):
    data, named = malicious(canary)[name]
    finds(check(zip_with(tmp_path / "a.pt", {"data.pkl": data, "version": b"3\n"})), named)
    harmless = pickle.dumps({}, 2)
    finds(check(zip_with(tmp_path / "b.pt", {"data.pkl": harmless, "other.pkl": data, "version": b"3\n"})), named)
    finds(check(zip_with(tmp_path / "c.pt", {"data.pkl": data, "version": b"3\n"}, compression=zipfile.ZIP_DEFLATED)), named)


@pytest.mark.parametrize("place", ["magic", "system", "object", "keys"])
@pytest.mark.parametrize("name", [name for name in NAMES if "broken" not in name and "cut" not in name and "extension" not in name])
def test_in_the_legacy_form(name, place, check, canary, tmp_path):
    data, named = malicious(canary)[name]
    evil = lambda where: data if where == place else None
    front = MAGIC if place != "magic" else b"\x80\x02(" + data[2:-1] + b"1" + MAGIC[2:] if data[:1] == b"\x80" else MAGIC
    if place == "magic" and front == MAGIC:
        pytest.skip("no way to put it there")
    parts = [front, evil("system") or pickle.dumps({}, 2), evil("object") or pickle.dumps({}, 2), evil("keys") or pickle.dumps([], 2)]
    (tmp_path / "a.pt").write_bytes(b"".join(parts))
    report = check(tmp_path / "a.pt")
    assert not report["harmless"]
    if report["kind"] == "torch_save_legacy":
        finds(report, named)


@pytest.mark.parametrize("place", ["pickle", "storages", "tensors"])
@pytest.mark.parametrize("name", ["os.system", "hidden behind POP", "STACK_GLOBAL", "INST"])
def test_in_the_tar_form(name, place, check, canary, tmp_path):
    data, named = malicious(canary)[name]
    count = pickle.dumps(0, 2)
    members = {"sys_info": pickle.dumps({}, 2), "pickle": pickle.dumps({}, 2), "tensors": count, "storages": count + pickle.dumps([], 2)}
    finds_nothing = check(tar_with(tmp_path / "good.tar", members.items()))
    assert finds_nothing["harmless"], finds_nothing
    members[place] = data
    finds(check(tar_with(tmp_path / "a.tar", members.items())), named)


def test_tar_tricks(check, canary, tmp_path):
    evil = malicious(canary)["os.system"][0]
    count = pickle.dumps(0, 2)
    good = [("pickle", pickle.dumps({}, 2)), ("tensors", count), ("storages", count + pickle.dumps([], 2))]
    finds(check(tar_with(tmp_path / "twice.tar", [("pickle", evil), *good])), "has two members 'pickle'")
    with tarfile.open(tmp_path / "pax.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in good:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo("innocent")
        info.size, info.pax_headers = len(evil), {"path": "pickle"}
        archive.addfile(info, io.BytesIO(evil))
    finds(check(tmp_path / "pax.tar"), "is no plain file")
    with tarfile.open(tmp_path / "link.tar", "w") as archive:
        for name, data in good:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo("storages")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    finds(check(tmp_path / "link.tar"), "is no plain file")


def test_files_inside_of_files(check, canary, tmp_path):
    evil = malicious(canary)["os.system"][0]
    inner = zip_with(tmp_path / "inner.pt", {"data.pkl": evil, "version": b"3\n"}).read_bytes()
    harmless = pickle.dumps({}, 2)
    for name, data in {"zip": inner, "legacy": MAGIC + evil + pickle.dumps({}, 2) + pickle.dumps([], 2)}.items():
        for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            path = zip_with(tmp_path / f"{name}.pt", {"data.pkl": harmless, "weights.bin": data}, compression=compression)
            finds(check(path), "posix.system")
    old_pt2 = {"serialized_exported_program.json": b"{}", "serialized_state_dict.pt": inner, "version": b"5.3"}
    report = check(zip_with(tmp_path / "old.pt2", old_pt2, top=None))
    assert report["kind"] == "pt2_old_layout"
    finds(report, "posix.system")


def test_object_arrays(check, canary, tmp_path):
    evil = numpy.array([Call(os.system, f"touch {canary}")], dtype=object)
    numpy.save(tmp_path / "a.npy", evil, allow_pickle=True)
    assert not check(tmp_path / "a.npy")["harmless"]
    numpy.savez(tmp_path / "a.npz", x=evil)
    assert not check(tmp_path / "a.npz")["harmless"]


def test_libraries_and_sources(check, canary, tmp_path):
    records = {"archive_format": b"pt2", "data/aotinductor/model/model.so": b"\x7fELF", "data/aotinductor/model/model.cpp": b"int main() {}"}
    report = check(zip_with(tmp_path / "a.pt2", records))
    assert report["kind"] == "pt2"
    finds(report, "model.so: compiled code")


def saved(path):
    torch.save({"x": torch.arange(100.0)}, path)
    return bytearray(path.read_bytes())


def test_zip_tricks(check, canary, tmp_path):
    data = saved(tmp_path / "good.pt")
    assert check(tmp_path / "good.pt")["harmless"]
    with zipfile.ZipFile(tmp_path / "good.pt") as archive:
        offset = archive.getinfo("good/data/0").header_offset

    def changed(name, change):
        copy = bytearray(data)
        change(copy)
        (tmp_path / name).write_bytes(copy)
        return check(tmp_path / name)

    def flip_flags(copy):  # "encrypted" in the local header alone: some readers give up, PyTorch reads on
        copy[offset + 6] ^= 1

    def flip_data(copy):
        copy[copy.index(struct.pack("<3f", 1, 2, 3))] ^= 1

    def other_name(copy):
        copy[offset + 30 : offset + 34] = b"evil"

    finds(changed("flags.pt", flip_flags), "")
    finds(changed("data.pt", flip_data), "checksum")
    finds(changed("name.pt", other_name), "")
    finds(changed("front.pt", lambda copy: copy.__setitem__(slice(0, 0), b"PK\x03\x04 something")), "")
    finds(changed("tail.pt", lambda copy: copy.extend(b"x" * 70000)), "")
    with zipfile.ZipFile(tmp_path / "twice.pt", "w") as archive:
        archive.writestr("a/data.pkl", malicious(canary)["os.system"][0])
        archive.writestr("a/data.pkl", pickle.dumps({}, 2))
    finds(check(tmp_path / "twice.pt"), "")


def test_deflate_bomb(check, tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", pickle.dumps({}, 2))
        with archive.open("a/data/0", "w") as record:
            for _ in range(256):
                record.write(b"\0" * (1 << 20))
    assert (tmp_path / "bomb.pt").stat().st_size < 1 << 20
    finds(check(tmp_path / "bomb.pt"), "would grow to 268435462 bytes")


def test_two_kinds_at_once(check, canary, tmp_path):
    """A safetensors file that is a pickle as well, for whoever opens it with torch.load."""
    skipped, last = 40, 100
    end = 8 + ord("X") + 256 * skipped
    evil = malicious(canary)["os.system"][0]
    tail = f'"}},"x":{{"dtype":"U8","shape":[{len(evil)}],"data_offsets":[0,{len(evil)}]}}}}'.encode()
    data = b"X" + bytes([skipped]) + bytes(6) + b'{"__metadata__":{"a":"'
    data += b"a" * (5 + skipped - len(data))
    text = lambda length: b"U" + bytes([length]) + b"a" * length
    while end - len(data) > 129 + 2 + last:
        data += text(127)
    data += text(end - len(data) - 4 - last) + text(last)
    data = data[: -len(tail)] + tail + evil
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    assert list(safetensors.torch.load_file(path)) == ["x"]

    class Watch(pickle._Unpickler):  # what Python would do with it, without doing it
        def find_class(self, module, name):
            raise LookupError(f"{module}.{name}")

    with pytest.raises(LookupError, match="posix.system"):
        Watch(io.BytesIO(data)).load()
    report = check(path)
    assert report["kind"] == "safetensors"
    finds(report, "posix.system")


@pytest.mark.parametrize("name", CASES)
def test_what_torch_saves_is_harmless(name, flambeau, tmp_path):
    torch.save(CASES[name], tmp_path / "a.pt")
    done = flambeau.run("check", tmp_path / "a.pt")
    assert done.returncode == 0, done.stdout
    try:
        torch.save(CASES[name], tmp_path / "b.pt", _use_new_zipfile_serialization=False)
    except RuntimeError:
        return
    done = flambeau.run("check", tmp_path / "b.pt")
    assert done.returncode == 0, done.stdout


def test_other_harmless_files(flambeau, tmp_path):
    safetensors.torch.save_file({"x": torch.ones(3)}, tmp_path / "a.safetensors")
    numpy.save(tmp_path / "a.npy", numpy.eye(3))
    numpy.savez(tmp_path / "a.npz", x=numpy.eye(3))
    torch.save({"n": numpy.arange(3), "s": numpy.float64(1), "b": b""}, tmp_path / "n.pt")
    for name in ("a.safetensors", "a.npy", "a.npz", "n.pt"):
        assert flambeau.run("check", tmp_path / name).returncode == 0, name


def test_every_name_that_weights_only_allows(flambeau, tmp_path):
    import torch._weights_only_unpickler as unpickler

    names = [name for name in unpickler._get_allowed_globals()]
    data = b"\x80\x02(" + b"".join(f"c{name.rpartition('.')[0]}\n{name.rpartition('.')[2]}\n".encode() for name in names) + b"l."
    (tmp_path / "a.pkl").write_bytes(data)
    report = flambeau.json("check", tmp_path / "a.pkl")
    assert report["harmless"], report["findings"]


def test_torchscript_is_a_caution(check, tmp_path):
    class Net(torch.nn.Module):
        def forward(self, x):
            return x + 1

    script = torch.jit.script(Net())
    script.save(str(tmp_path / "a.pt"))
    script._save_for_lite_interpreter(str(tmp_path / "a.ptl"))
    for name in ("a.pt", "a.ptl"):
        report = check(tmp_path / name)
        finds(report, "TorchScript code", "caution")
        assert report["verdict"] == "runs code when used"


def test_several_files(flambeau, tmp_path):
    torch.save({"x": torch.ones(1)}, tmp_path / "good.pt")
    (tmp_path / "bad.pkl").write_bytes(b"cos\nsystem\n.")
    done = flambeau.run("check", tmp_path / "good.pt", tmp_path / "bad.pkl")
    assert done.returncode == 1 and "harmless" in done.stdout and "os.system" in done.stdout
    done = flambeau.run("check", tmp_path / "none.pt", tmp_path / "bad.pkl", tmp_path / "good.pt")
    assert done.returncode == 2 and "os.system" in done.stdout and "none.pt" in done.stderr
    done = flambeau.run("check", "--quiet", tmp_path / "good.pt")
    assert (done.returncode, done.stdout) == (0, "")
