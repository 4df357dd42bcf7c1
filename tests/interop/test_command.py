"""The command as people and scripts meet it: help, exit codes, JSON, colors, pipes, and errors that help."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import warnings
import zipfile

import numpy
import pytest
import safetensors.torch
import torch

warnings.simplefilter("ignore")
COMMANDS = ["inspect", "check", "convert", "diff", "verify", "graph", "canonicalize", "run", "bench", "export", "list", "extract", "completion"]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.pt"
    torch.save({"encoder.weight": torch.arange(6.0).reshape(2, 3), "encoder.bias": torch.tensor([1.0, float("nan")]),
                "head": torch.tensor([1, 2, 3]), "epoch": 7}, path)
    return path


ROOT = pathlib.Path(__file__).resolve().parents[2]


def shell(command, *, env=None):
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})


def on_terminal(flambeau, *arguments, env=None):
    """What the command prints when standard output is a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", **(env or {})})
        if env is None:
            os.environ.pop("NO_COLOR", None)
        os.execv(flambeau.path, [str(flambeau.path), *map(str, arguments)])
    output = b""
    while True:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        output += data
    os.waitpid(pid, 0)
    os.close(fd)
    return output.decode()


def one_line(text):
    assert text.startswith("flambeau: ") and text.endswith("\n") and text.count("\n") == 1, text
    return text


# Help and usage


def test_help(flambeau):
    text = flambeau("--help")
    for command in COMMANDS:
        assert f"\n  {command} " in text
    assert "Exit codes: 0" in text and "Examples:" in text
    for command in COMMANDS:
        page = flambeau(command, "--help")
        assert f"flambeau {command} " in page
        assert page.split("Examples:")[1].count("flambeau ") >= 2, command


def test_version(flambeau):
    assert flambeau("--version").startswith("flambeau 0.")


@pytest.mark.parametrize("arguments, said", [
    ([], "A subcommand is required (see 'flambeau --help')"),
    (["frobnicate"], "'frobnicate' is not a subcommand (see 'flambeau --help')"),
    (["inspct", "x"], "'inspct' is not a subcommand; did you mean 'inspect'? (see 'flambeau --help')"),
    (["inspect", "--stat", "x"], "was not expected: --stat; did you mean '--stats'? (see 'flambeau inspect --help')"),
    (["convert", "a.pt", "b.pt", "--format", "safetensor"], "'safetensor' is none of pt, safetensors, npz; did you mean 'safetensors'?"),
    (["convert", "a.pt", "b.pt", "--dtype", "bfloat61"], "'bfloat61' is not an element type (did you mean 'bfloat16'? known are uint8, "),
    (["convert", "a.pt", "b", "--shard-size", "5 parsecs"], "'5 parsecs' is no size: write 5GB, 500MB or 2GiB (see 'flambeau convert --help')"),
    (["convert", "a.pt", "-"], "the format cannot be told from the name '-' (say --format, or --layout for a program)"),
    (["export", "resnet81"], "there is no example model 'resnet81' (did you mean 'resnet18'? there are "),
    (["inspect"], "FILE is required (see 'flambeau inspect --help')"),
    (["convert", "a.pt"], "OUT is required (see 'flambeau convert --help')"),
    (["convert", "a", "b", "c"], "was not expected: c (see 'flambeau convert --help')"),
    (["inspect", "--frob", "x"], "was not expected: --frob (see 'flambeau inspect --help')"),
    (["completion", "tcsh"], "tcsh"),
    (["inspect", "-j", "0", "x"], "--threads"),
    (["diff", "-t", "-1", "a", "b"], "--tolerance"),
    (["convert", "a.pt", "b.xyz"], "b.xyz: the format cannot be told from the name (use an ending of .pt, .pth, .safetensors or .npz, or say --format)"),
    (["convert", "a.pt", "b.pt", "--dtype", "float33"], "'float33' is not an element type (did you mean 'float32'? known are uint8, "),
])
def test_wrong_usage_is_one_line(arguments, said, flambeau):
    done = flambeau.run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert said in one_line(done.stderr)


def test_wrong_usage_as_json(flambeau):
    for arguments in (["frobnicate", "--json"], ["--json", "inspect"], ["convert", "a", "--json", "b", "c"], ["diff", "-", "-", "--json"]):
        done = flambeau.run(*arguments)
        assert done.returncode == 2 and done.stderr == "", arguments
        error = strictly(done.stdout)["error"]
        assert error["code"] == "invalid_argument" and "--help'" in error["remedy"]
    assert "standard input cannot be read twice" in flambeau.error("diff", "-", "-")


def test_filters_that_match_nothing_are_answered(flambeau, model, tmp_path):
    said = "(did you mean 'encoder'? 'flambeau inspect' shows the names)"
    assert said in flambeau.error("convert", model, tmp_path / "b.pt", "--filter", "encodr.*")
    assert said in flambeau.error("diff", model, model, "--filter", "encodr.*")


def test_programs_print_strict_json(flambeau):
    strictly(flambeau("graph", "--json", ROOT / "tests" / "golden" / "run" / "classifier.pt2"))
    assert "class GraphModule" in flambeau.json("export", "lstm_tagger", "--print")["text"]


# Errors: one line, with the place and what to do


@pytest.mark.parametrize("command", [["inspect"], ["list"], ["extract"], ["check"], ["diff", "x"], ["convert", "-o"]])
def test_missing_files(command, flambeau, tmp_path):
    missing = tmp_path / "missing.pt"
    arguments = {"diff": ["diff", missing, missing], "convert": ["convert", missing, tmp_path / "b.pt"]}.get(command[0], [command[0], missing])
    done = flambeau.run(*arguments)
    assert done.returncode == 2
    assert one_line(done.stderr) == f"flambeau: {missing}: cannot be opened: No such file or directory (check the path)\n"
    if command[0] == "convert":
        assert not (tmp_path / "b.pt").exists()
    done = flambeau.run(*arguments, "--json")
    assert done.returncode == 2 and done.stderr == ""
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "not_found" and error["remedy"] == "check the path"
    assert error["locations"] == [{"kind": "file", "value": str(missing)}]


def test_errors_name_the_place(flambeau, model, tmp_path):
    data = bytearray(model.read_bytes())
    (tmp_path / "cut.pt").write_bytes(data[:-100])
    assert "cut.pt: " in one_line(flambeau.error("inspect", tmp_path / "cut.pt"))
    at = data.index(b"FloatStorage")
    data[at : at + 5] = b"Flout"
    (tmp_path / "odd.pt").write_bytes(data)
    assert "odd.pt: record 'model/data.pkl': " in one_line(flambeau.error("inspect", tmp_path / "odd.pt"))
    (tmp_path / "folder").mkdir()
    one_line(flambeau.error("inspect", tmp_path / "folder"))
    one_line(flambeau.error("convert", model, tmp_path / "none" / "b.pt"))
    one_line(flambeau.error("convert", model, tmp_path / "folder", "--format", "pt"))


@pytest.mark.parametrize("content, said", [
    (b"", "an empty file"),
    (b"\x1f\x8b\x08\x00", "a gzip file (decompress it first)"),
    (b"<!DOCTYPE html>", "a web page (the download went wrong)"),
    (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
])
def test_other_kinds_of_file(content, said, flambeau, tmp_path):
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    done = flambeau.run("inspect", path)
    assert done.returncode == 1 and said in done.stdout
    assert flambeau.run("inspect", "--json", path).returncode == 1
    assert said in one_line(flambeau.error("convert", path, tmp_path / "b.pt"))
    done = flambeau.run("check", path)
    assert done.returncode == 1 and said in done.stdout


def test_names_cannot_break_the_terminal(flambeau, tmp_path):
    torch.save({"\x1b[31mred\n\u202ebidi": torch.ones(1)}, tmp_path / "a.pt")
    text = flambeau("inspect", "--structure", tmp_path / "a.pt")
    assert "\x1b" not in text and "\u202e" not in text and "\\x1b[31mred" in text
    assert flambeau.json("inspect", tmp_path / "a.pt")["tensors"][0]["name"] == "\x1b[31mred\n\u202ebidi"


def test_lone_surrogates_are_valid_json(flambeau, tmp_path):
    torch.save({"a\ud800b": torch.ones(1)}, tmp_path / "a.pt")
    assert len(flambeau.json("inspect", tmp_path / "a.pt")["tensors"]) == 1


# JSON


def test_json_of_inspect(flambeau, model):
    found = flambeau.json("inspect", "--stats", model)
    assert found["kind"] == "torch_save" and found["format_version"] == 3 and found["byte_order"] == "little"
    assert found["producer"] == "PyTorch 2.7 or newer"
    assert set(found) == {"file", "bytes", "kind", "description", "producer", "format_version", "byte_order", "tensors", "metadata",
                          "records", "structure", "globals", "notes"}
    weight, bias, head = found["tensors"]
    assert weight["name"] == "encoder.weight" and weight["dtype"] == "float32" and weight["shape"] == [2, 3]
    assert weight["strides"] == [3, 1] and weight["offset"] == 0 and weight["bytes"] == 24 and weight["device"] == "cpu"
    assert weight["layout"] == "strided" and weight["parameter"] is False and weight["requires_grad"] is False
    assert weight["statistics"] == {"min": 0.0, "max": 5.0, "mean": 2.5, "nan": 0, "inf": 0}
    assert bias["statistics"]["nan"] == 1
    assert head["statistics"]["max"] == 3
    assert "torch._utils._rebuild_tensor_v2" in found["globals"]
    record = found["records"][0]
    assert set(record) == {"name", "role", "bytes", "compressed_bytes", "compressed", "crc32"}
    assert {"depth": 1, "key": "epoch", "value": "7"} in found["structure"]


def test_json_of_the_others(flambeau, model, tmp_path):
    records = flambeau.json("list", model)
    assert [record["name"] for record in records][:2] == ["model/data.pkl", "model/.format_version"]
    written = flambeau.json("extract", model, "version", "-o", tmp_path / "v")
    assert written == [{"record": "version", "file": str(tmp_path / "v"), "bytes": 2}]
    converted = flambeau.json("convert", model, tmp_path / "a.safetensors")
    assert converted == {"input": str(model), "output": str(tmp_path / "a.safetensors"), "tensors": 3, "bytes": 56}
    report = flambeau.json("check", model)
    assert set(report) == {"file", "kind", "harmless", "verdict", "records_verified", "pickles_read", "openings", "findings"}
    assert report["records_verified"] == len(records)
    assert flambeau.json("diff", model, tmp_path / "a.safetensors") == {"equal": True, "tensors_equal": 3, "differences": []}


def test_numbers_beyond_json_are_null_or_text(flambeau, tmp_path):
    torch.save({"x": torch.tensor([float("inf"), float("-inf"), float("nan")]), "big": torch.tensor([2**63 - 1]),
                "huge": torch.tensor([2**64 - 1], dtype=torch.uint64)}, tmp_path / "a.pt")
    done = flambeau.run("inspect", "--stats", "--json", tmp_path / "a.pt")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["tensors"][0]["statistics"]["min"] == "-inf" and found["tensors"][0]["statistics"]["max"] == "inf"
    assert found["tensors"][1]["statistics"]["max"] == 2**63 - 1
    assert found["tensors"][2]["statistics"]["max"] == 2**64 - 1


def strictly(text):
    """JSON as every reader knows it, without Python's own words."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(word))


def test_infinities_are_valid_json(flambeau, tmp_path):
    torch.save({"x": torch.tensor([1.0, float("inf"), float("nan")])}, tmp_path / "a.pt")
    torch.save({"x": torch.tensor([1.0, 2.0, 3.0])}, tmp_path / "b.pt")
    strictly(flambeau.run("inspect", "--stats", "--json", tmp_path / "a.pt").stdout)
    found = strictly(flambeau.run("diff", "--json", tmp_path / "a.pt", tmp_path / "b.pt").stdout)
    assert found["differences"][0]["facts"]["max_abs"] == "inf"


def test_names_of_files_may_be_any_bytes(flambeau, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.pt"
    torch.save({"x": torch.ones(1)}, tmp_path / "a.pt")
    shutil.copyfile(tmp_path / "a.pt", path)
    for arguments in (["inspect"], ["check"], ["diff", path], ["verify"]):
        done = subprocess.run([flambeau.path, *arguments, path, "--json"], capture_output=True)
        found = strictly(done.stdout)
        if "file" in found:
            assert os.fsencode(found["file"]) == path


def test_no_error_line_is_long(flambeau, model, tmp_path):
    folder = tmp_path / ("d" * 200) / ("e" * 200)
    folder.mkdir(parents=True)
    for arguments in (["inspect", folder / ("f" * 200)], ["extract", model, "r" * 3000], ["convert", model, folder / "a.xyz"],
                      ["convert", model, tmp_path / "a.pt", "--dtype", "d" * 3000], ["x" * 3000], ["inspect", "--" + "y" * 3000]):
        text = one_line(flambeau.error(*arguments))
        assert len(text) <= 500, len(text)
    assert "(check the path)" in flambeau.error("inspect", folder / ("f" * 200))


def test_sha256(flambeau, model, tmp_path):
    import hashlib

    found = flambeau.json("inspect", "--sha256", model)
    assert found["sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()
    with zipfile.ZipFile(model) as archive:
        for record in found["records"]:
            assert record["sha256"] == hashlib.sha256(archive.read(record["name"])).hexdigest()
    values = torch.load(model)
    for tensor in found["tensors"]:
        assert tensor["sha256"] == hashlib.sha256(values[tensor["name"]].numpy().tobytes()).hexdigest()
    text = flambeau("inspect", "--sha256", model)
    assert found["sha256"] in text and found["tensors"][0]["sha256"] in text and found["records"][0]["sha256"] in text
    flambeau("convert", model, tmp_path / "a.safetensors")
    again = flambeau.json("inspect", "--sha256", tmp_path / "a.safetensors")
    assert {t["name"]: t["sha256"] for t in again["tensors"]} == {t["name"]: t["sha256"] for t in found["tensors"]}


# Several files, quiet, pipes


def test_one_bad_file_among_good_ones(flambeau, model, tmp_path):
    (tmp_path / "bad.pt").write_bytes(b"PK\x03\x04 nothing")
    done = flambeau.run("inspect", model, tmp_path / "bad.pt", model)
    assert done.returncode == 2 and done.stdout.count("encoder.weight") >= 2
    one_line(done.stderr)
    done = flambeau.run("inspect", "--json", model, tmp_path / "bad.pt")
    assert done.returncode == 2
    good, bad = json.loads(done.stdout)
    assert good["kind"] == "torch_save" and bad["error"]["locations"][0]["value"] == str(tmp_path / "bad.pt")


def test_quiet(flambeau, model, tmp_path):
    for arguments in (["convert", model, tmp_path / "a.pt"], ["check", model], ["extract", model, "-o", tmp_path / "x"], ["diff", model, model]):
        done = flambeau.run("--quiet", *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), arguments
        done = flambeau.run(*arguments, "-q")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), arguments


def test_pipes(flambeau, model, tmp_path):
    done = shell(f"cat {model} | {flambeau.path} inspect /dev/stdin")
    assert done.returncode == 0 and "encoder.weight" in done.stdout, done.stderr
    done = shell(f"cat {model} | {flambeau.path} convert /dev/stdin {tmp_path}/b.pt")
    assert done.returncode == 0, done.stderr
    assert torch.equal(torch.load(tmp_path / "b.pt")["head"], torch.tensor([1, 2, 3]))
    done = shell(f"cat {model} | {flambeau.path} convert - - --format safetensors | {flambeau.path} diff - {model}")
    assert done.returncode == 0 and "3 tensors equal" in done.stdout, done.stderr
    done = shell(f"{flambeau.path} check - < {model}")
    assert done.returncode == 0 and "harmless" in done.stdout, done.stderr
    program = ROOT / "tests" / "golden" / "run" / "classifier.pt2"
    done = shell(f"cat {program} | {flambeau.path} inspect - && cat {program} | {flambeau.path} run - --quiet && cat {program} | {flambeau.path} diff - {program}")
    assert done.returncode == 0, done.stderr
    done = shell(f"cat {program} | {flambeau.path} convert - - --layout zip | {flambeau.path} verify -")
    assert done.returncode == 0 and "valid" in done.stdout, done.stderr
    done = shell(f"{flambeau.path} export resnet18 -o - | {flambeau.path} verify -")
    assert done.returncode == 0, done.stderr
    done = shell(f"{flambeau.path} inspect --json {model} | {sys.executable} -m json.tool > /dev/null")
    assert done.returncode == 0, done.stderr


def test_a_reader_that_goes_away(flambeau, tmp_path):
    torch.save({f"layer.{i}": torch.ones(1) for i in range(5000)}, tmp_path / "many.pt")
    done = shell(f"set -o pipefail; {flambeau.path} inspect --limit 0 {tmp_path}/many.pt | head -1")
    assert done.returncode in (0, 141) and done.stderr == ""
    done = shell(f"{flambeau.path} extract {tmp_path}/many.pt -o - | head -c 10 | wc -c")
    assert done.stdout.strip() == "10"


def test_a_full_output(flambeau, model):
    for command in (f"inspect {model}", f"list {model}", f"inspect --json {model}", f"extract {model} version -o -", "completion bash"):
        done = shell(f"{flambeau.path} {command} > /dev/full")
        assert done.returncode == 2 and "standard output cannot be written" in one_line(done.stderr), command


# Color


def test_color_only_on_terminals(flambeau, model):
    for arguments in (["inspect", model], ["check", model], ["diff", model, model]):
        assert "\x1b" not in flambeau(*arguments)
    assert "\x1b[" in on_terminal(flambeau, "inspect", model)
    assert "\x1b[32mharmless\x1b[0m" in on_terminal(flambeau, "check", model)
    assert "\x1b" not in on_terminal(flambeau, "inspect", model, env={"NO_COLOR": "1"})
    assert "\x1b" not in on_terminal(flambeau, "inspect", model, env={"TERM": "dumb"})
    assert "\x1b[31mflambeau:\x1b[0m" in on_terminal(flambeau, "inspect", "/nonexistent")
    assert "\x1b" not in on_terminal(flambeau, "inspect", "--json", model)


# list and extract


def test_list(flambeau, model):
    lines = flambeau("list", model).splitlines()
    assert lines[0].split() == ["bytes", "role", "record"]
    assert any(line.split() == ["24", "storage", "model/data/0"] for line in lines)
    assert all(line == line.rstrip() for line in lines)
    text = pathlib.Path(model.parent / "a.txt")
    text.write_text("hello")
    assert "is not an archive: it has no records ('flambeau inspect' shows what it is)" in flambeau.error("list", text)


def test_extract(flambeau, model, tmp_path):
    assert flambeau("extract", model, "version", "-o", "-") == "3\n"
    assert flambeau("extract", model, "model/version", "byteorder", "-o", "-") == "3\nlittle"
    flambeau("extract", model, "data.pkl", "-o", tmp_path / "p")
    with zipfile.ZipFile(model) as archive:
        assert (tmp_path / "p").read_bytes() == archive.read("model/data.pkl")
        flambeau("extract", model, "-o", tmp_path / "all")
        for info in archive.infolist():
            assert (tmp_path / "all" / info.filename).read_bytes() == archive.read(info)
    (tmp_path / "folder").mkdir()
    flambeau("extract", model, "data/0", "-o", tmp_path / "folder")
    assert (tmp_path / "folder" / "0").stat().st_size == 24
    done = subprocess.run([flambeau.path, "extract", model, "version"], cwd=tmp_path / "folder", capture_output=True, text=True)
    assert done.returncode == 0 and (tmp_path / "folder" / "version").read_text() == "3\n"


def test_extract_errors(flambeau, model, tmp_path):
    text = one_line(flambeau.error("extract", model, "verson"))
    assert f"{model}: has no record 'verson' (did you mean 'model/version'? 'flambeau list' shows all records)" in text
    assert f"{model}: has no record 'zzzz' ('flambeau list' shows all records)" in flambeau.error("extract", model, "zzzz")
    assert "did you mean 'model/version'?" in flambeau.error("extract", model, "archive/version")
    (tmp_path / "file").write_text("in the way")
    assert "file/model' cannot be made" in one_line(flambeau.error("extract", model, "-o", tmp_path / "file"))


def test_extract_never_leaves_its_folder(flambeau, tmp_path):
    for name in ("../evil", "/tmp/flambeau-evil", "a/../../evil", "a\\..\\evil"):
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, "x")
        (tmp_path / "out").mkdir(exist_ok=True)
        done = flambeau.run("extract", path, "-o", tmp_path / "out")
        assert done.returncode == 2, name
        assert not (tmp_path / "evil").exists() and not pathlib.Path("/tmp/flambeau-evil").exists()
        assert flambeau.run("extract", path, name, "-o", tmp_path / "out").returncode == 2


# inspect


def test_inspect_limits_and_options(flambeau, tmp_path):
    torch.save({f"layer.{i}": torch.ones(1) for i in range(80)}, tmp_path / "a.pt")
    text = flambeau("inspect", tmp_path / "a.pt")
    assert "layer.49" in text and "layer.50" not in text and "... and 30 more (--limit 0 shows all)" in text
    assert "layer.79" in flambeau("inspect", "--limit", "0", tmp_path / "a.pt")
    assert "layer.3 " not in flambeau("inspect", "-n", "3", tmp_path / "a.pt")
    assert "names in pickles" in flambeau("inspect", "--globals", tmp_path / "a.pt")
    assert "a/data/79" in flambeau("inspect", "--records", tmp_path / "a.pt")


def test_inspect_safetensors_metadata(flambeau, tmp_path):
    safetensors.torch.save_file({"x": torch.ones(2)}, tmp_path / "a.safetensors", metadata={"format": "pt", "who": "me"})
    found = flambeau.json("inspect", tmp_path / "a.safetensors")
    assert found["kind"] == "safetensors" and found["metadata"] == {"format": "pt", "who": "me"}
    assert "who: me" in flambeau("inspect", tmp_path / "a.safetensors")


def test_inspect_npy(flambeau, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.eye(3))
    assert flambeau.json("inspect", tmp_path / "a.npy")["tensors"][0]["shape"] == [3, 3]


# diff


def test_diff(flambeau, model, tmp_path):
    value = torch.load(model)
    value["encoder.weight"][1, 1] += 0.5
    value["head"] = value["head"].to(torch.int32)
    value["new"] = torch.ones(1)
    value["encoder.bias"] = torch.zeros(3)
    torch.save(value, tmp_path / "b.pt")
    done = flambeau.run("diff", model, tmp_path / "b.pt")
    assert done.returncode == 1 and "0 tensors equal, 4 differ" in done.stdout
    found = {row["name"]: row for row in json.loads(flambeau.run("diff", "--json", model, tmp_path / "b.pt").stdout)["differences"]}
    assert found["encoder.weight"]["status"] == "values" and found["encoder.weight"]["facts"]["differing"] == 1
    assert found["encoder.weight"]["facts"]["max_abs"] == 0.5
    assert found["head"]["status"] == "type" and found["new"]["status"] == "only in the second" and found["encoder.bias"]["status"] == "shape"
    assert flambeau.run("diff", "--filter", "encoder.weight", "-t", "0.5", model, tmp_path / "b.pt").returncode == 0
    assert flambeau.run("diff", "--filter", "encoder.weight", "-t", "0.4", model, tmp_path / "b.pt").returncode == 1
    assert flambeau.run("diff", "--filter", "head", "--ignore-dtype", model, tmp_path / "b.pt").returncode == 0
    done = flambeau.run("diff", "--filter", "zzz", model, tmp_path / "b.pt")
    assert done.returncode == 2 and "the filter matches no tensor of either file" in one_line(done.stderr)


def test_diff_sees_nan(flambeau, tmp_path):
    torch.save({"x": torch.tensor([1.0, float("nan")])}, tmp_path / "a.pt")
    torch.save({"x": torch.tensor([1.0, 2.0])}, tmp_path / "b.pt")
    assert flambeau.run("diff", tmp_path / "a.pt", tmp_path / "a.pt").returncode == 0
    assert flambeau.run("diff", "-t", "1000", tmp_path / "a.pt", tmp_path / "b.pt").returncode == 1


# completion


def test_completion_scripts(flambeau, tmp_path):
    for name in ("bash", "zsh", "fish"):
        script = tmp_path / name
        script.write_text(flambeau("completion", name))
        for command in COMMANDS:
            assert command in script.read_text()
        if shutil.which(name):
            done = subprocess.run([name, "-n", script], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_completion_completes(flambeau, tmp_path):
    (tmp_path / "c").write_text(flambeau("completion", "bash"))
    ask = 'source {}; COMP_WORDS=({}); COMP_CWORD={}; _flambeau; echo "${{COMPREPLY[*]}}"'
    assert shell(ask.format(tmp_path / "c", "flambeau in", 1)).stdout.strip() == "inspect"
    assert shell(ask.format(tmp_path / "c", "flambeau convert --dt", 2)).stdout.strip() == "--dtype"
    assert "bfloat16" in shell(ask.format(tmp_path / "c", "flambeau convert --dtype b", 3)).stdout
    # Every option of every subcommand is known.
    for command in COMMANDS[:-1]:
        help_text = flambeau(command, "--help").split("Examples:")[0]
        options = {word.split(",")[-1] for line in help_text.splitlines() for word in line.split()[:1] if word.startswith("-")} - {"--help"}
        known = shell(ask.format(tmp_path / "c", f"flambeau {command} --", 2)).stdout.split()
        assert options <= set(known), command
