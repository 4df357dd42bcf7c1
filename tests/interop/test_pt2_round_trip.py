"""Every program PyTorch saves goes through Flambeau and comes back: the same bytes, the same program in PyTorch."""

import json
import shutil
import zipfile

import pytest
import torch

import programs
from programs import PROGRAMS
from programs_torch import (
    canonical,
    canonical_model,
    check_same,
    check_tensors,
    check_value,
    load_all,
    made_inputs,
    models,
    only_for_python,
    read_old_layout,
    records,
    write_old_layout,
)

programs.load_rooms()
pytestmark = pytest.mark.filterwarnings("ignore")

# The older layout has one program in a file.
SINGLE = [name for name in PROGRAMS if name not in ("values.packaged", "values.shared_between")]
LOADABLE = [name for name in SINGLE if name not in programs.NOT_LOADABLE]
# Without the variants of programs, and with those that differ most.
PLAIN = [name for name in LOADABLE if name.count(".") == 1]
PLAIN_AND_DECOMPOSED = [name for name in LOADABLE if name in PLAIN or name.endswith(".decomposed")]


@pytest.fixture(scope="module")
def saved():
    """saved(name) is the file of a program as PyTorch saved it."""
    programs.quiet()
    return programs.saved


@pytest.fixture
def converted(flambeau, saved, tmp_path):
    """converted(name, *options) is that file as Flambeau wrote it, by the same name: the name is in the archive."""

    def convert(name, *options):
        target = tmp_path / saved(name).name
        flambeau("convert", saved(name), target, *options)
        return target

    return convert


def bytes_of(flambeau, *arguments, to):
    """Through a file: nothing in between may change a byte."""
    flambeau(*arguments, "-o", to)
    return to.read_bytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_writes_the_bytes_of_torch_export_save(name, saved, converted):
    ours, theirs = converted(name), saved(name)
    if ours.read_bytes() == theirs.read_bytes():
        return
    mine, other = records(ours), records(theirs)
    assert list(mine) == list(other)
    for record in other:
        if record != ".data/serialization_id":
            assert mine[record] == other[record], record
    if name not in programs.NOT_LOADABLE:
        for model, exported in load_all(theirs).items():
            check_same(load_all(ours)[model], exported)
    pytest.fail("the records are equal, only the archive around them differs")


@pytest.mark.parametrize("name", PLAIN_AND_DECOMPOSED)
def test_torch_opens_the_older_layout(name, saved, converted):
    files = records(saved(name))
    if reason := only_for_python(files):
        pytest.skip(reason)
    target, exported = converted(name, "--layout", "zip"), torch.export.load(saved(name))
    program, state_dict, constants, example_inputs = read_old_layout(target)
    assert program == files["models/model.json"]
    check_tensors(state_dict, exported.state_dict, "weight")
    check_tensors(constants, exported.constants, "constant")
    check_value(example_inputs or None, exported.example_inputs or None, "example inputs")
    check_same(torch.export.load(target), exported)


@pytest.mark.parametrize("name", PLAIN)
def test_the_older_layout_comes_back(name, flambeau, saved, tmp_path):
    """What PyTorch 2.7 and before would have written of this program becomes an archive."""
    if reason := only_for_python(records(saved(name))):
        pytest.skip(reason)
    exported = torch.export.load(saved(name))
    write_old_layout(exported, tmp_path / "old.pt2", {"note.txt": "grüße"})
    flambeau("convert", tmp_path / "old.pt2", tmp_path / "new.pt2", "--layout", "archive")
    files = records(tmp_path / "new.pt2")
    assert files["extra/note.txt"] == "grüße".encode()
    with zipfile.ZipFile(tmp_path / "old.pt2") as archive:
        assert files["models/model.json"] == archive.read("serialized_exported_program.json")
    check_same(torch.export.load(tmp_path / "new.pt2"), torch.export.load(tmp_path / "old.pt2"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_verifies(name, flambeau, saved):
    done = flambeau.run("verify", saved(name), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["findings"] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_canonical_form(name, flambeau, saved, tmp_path):
    """Of the archive, and of the program alone, where the names of the constants are not known."""
    files = records(saved(name))
    for model in models(files):
        program = files[f"models/{model}.json"]
        expected = canonical_model(files, model)
        if name in SINGLE:
            assert bytes_of(flambeau, "canonicalize", saved(name), to=tmp_path / "all.json") == expected
        (tmp_path / "one.json").write_bytes(program)
        alone = expected if files[f"data/constants/{model}_constants_config.json"] == b'{"config": {}}' else canonical(program)
        assert bytes_of(flambeau, "canonicalize", tmp_path / "one.json", to=tmp_path / "out.json") == alone


@pytest.fixture(scope="module")
def graphs(fixtures):
    path = fixtures / "graphs-torch-2.11.zip"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def test_graphs_of_real_models(flambeau, graphs, tmp_path):
    """Written by PyTorch 2.11."""
    assert len(graphs) == 35
    for name, program in graphs.items():
        source = tmp_path / name
        source.write_bytes(program)
        flambeau("convert", source, tmp_path / "out.json")
        assert (tmp_path / "out.json").read_bytes() == program, name
        assert flambeau.json("verify", source)["findings"] == [], name
        assert bytes_of(flambeau, "canonicalize", source, to=tmp_path / "canonical.json") == canonical(program), name


def test_an_old_file(flambeau, fixtures, tmp_path):
    """A file of schema 2, which PyTorch itself no longer takes."""
    files = sorted((fixtures / "real/pt2-old-layout").glob("*.pt2"))
    assert files
    for number, path in enumerate(files):
        assert flambeau.json("verify", path)["findings"] == []
        target = tmp_path / f"{number}.pt2"
        flambeau("convert", path, target)
        exported = torch.export.load(target)
        args, kwargs = made_inputs(exported)
        exported.module()(*args, **kwargs)
        again = tmp_path / "again" / target.name
        again.parent.mkdir(exist_ok=True)
        flambeau("convert", target, again)
        assert again.read_bytes() == target.read_bytes()


def test_bare_programs(flambeau, saved, tmp_path):
    """A program without weights, out of an archive and back into a file of its own."""
    source = saved("control.cond_nested")
    program = records(source)["models/model.json"]
    flambeau("convert", source, tmp_path / "program.json")
    assert (tmp_path / "program.json").read_bytes() == program


def test_converting_in_place_keeps_the_name(flambeau, saved, tmp_path):
    target = tmp_path / "other name.pt2"
    shutil.copy(saved("shapes.static"), target)
    flambeau("convert", target, target)
    assert records(target)["models/model.json"] == records(saved("shapes.static"))["models/model.json"]
    check_same(torch.export.load(target), torch.export.load(saved("shapes.static")))
