"""Compiled models from Python: made, opened, called."""

import pathlib
import shutil

import flambeau
import numpy
import pytest

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/run/classifier.pt2"


def test_compiled_models_run_as_their_programs_do(tmp_path):
    program = flambeau.load(GOLDEN)
    for path in (tmp_path / "a.pt2", tmp_path / "a.so"):
        assert flambeau.aot_compile(GOLDEN, path, metadata={"by": "me"}) == str(path)
        model = flambeau.aot_load(path)
        assert [str(leaf) for leaf in model.program.inputs] == [str(leaf) for leaf in program.inputs]
    assert flambeau.aot_compile(flambeau.load_package(GOLDEN), tmp_path / "b.pt2", library_only=True)
    assert flambeau.aot_load(tmp_path / "b.pt2").program.out_spec == program.out_spec


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler")
def test_kernels_are_made(tmp_path):
    plain, fast = tmp_path / "plain.so", tmp_path / "fast.so"
    flambeau.aot_compile(GOLDEN, plain)
    flambeau.aot_compile(GOLDEN, fast, kernels=True)
    assert fast.stat().st_size >= plain.stat().st_size
    flambeau.aot_compile(GOLDEN, tmp_path / "small.pt2")
    assert (tmp_path / "small.pt2").stat().st_size < plain.stat().st_size * 0.6
    flambeau.aot_compile(GOLDEN, tmp_path / "stored.pt2", stored=True)
    assert (tmp_path / "stored.pt2").stat().st_size > plain.stat().st_size
    for path in (fast, tmp_path / "small.pt2"):
        assert len(flambeau.aot_load(path).program.inputs) == len(flambeau.load(GOLDEN).inputs)
    with pytest.raises(Exception, match="no compiler '/no/such'"):
        flambeau.aot_compile(GOLDEN, fast, compiler="/no/such")


def test_wrong_calls_are_told(tmp_path):
    path = flambeau.aot_compile(GOLDEN, tmp_path / "a.pt2")
    with pytest.raises(RuntimeError, match="Unsupported device cuda"):
        flambeau.aot_load(path, "cuda")
    with pytest.raises(ValueError, match=r"following keywords \['nothing'\] but expected \["):
        flambeau.aot_load(path)(nothing=numpy.zeros(1))
    with pytest.raises(AttributeError, match="cpp.simdlen"):
        flambeau.aot_compile(GOLDEN, path, options={"cpp.simdlen": 8})
    flambeau.aot_compile(GOLDEN, path, options={"max_autotune": True, "aot_inductor.metadata": {"a": "b"}})
