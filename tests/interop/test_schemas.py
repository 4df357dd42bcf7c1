"""Schemas against the real PyTorch: what it prints comes back unchanged, and the built-in table is its own."""

import pathlib
import subprocess
import sys

import pytest
import torch

from conftest import ROOT

TABLE = ROOT / "src/flambeau/value/schemas_2_13.txt"


@pytest.fixture(scope="session")
def echo(flambeau):
    """Reads schemas and prints them: echo(texts) gives the texts Flambeau prints."""
    tool = pathlib.Path(flambeau.path).parents[2] / "tests/tools/schema_echo"

    def run(texts):
        done = subprocess.run([tool], input="".join(text + "\n" for text in texts), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    return run


@pytest.fixture(scope="session")
def schemas():
    # In a process of its own: other tests of this run register operators, and import what registers some.
    program = "import torch; print(*(str(schema) for schema in torch._C._jit_get_all_schemas()), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found = done.stdout.splitlines()
    assert len(found) > 4000
    return found


def test_every_schema_prints_back(echo, schemas):
    texts = [str(schema) for schema in schemas]
    assert echo(texts) == texts


def test_every_schema_of_an_old_pytorch_prints_back(echo, torch113):
    texts = torch113(
        "import torch; print(*(str(schema) for schema in torch._C._jit_get_all_schemas()), sep='\\n')"
    ).split("\n")[:-1]
    assert len(texts) > 3000
    assert echo(texts) == texts


def table():
    """name -> (schema, flags) of the built-in table."""
    lines = TABLE.read_text().split("\n")[1:-1]
    return {line.split("(", 1)[0]: tuple((line + "\t").split("\t")[:2]) for line in lines}


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the table is that of PyTorch 2.13")
def test_the_table_has_every_schema(schemas):
    there = table()
    for schema in schemas:
        text = str(schema)
        assert there[text.split("(", 1)[0]][0] == text


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="the table is that of PyTorch 2.13")
def test_the_table_has_the_core_operators():
    there = table()
    core = set()
    for name in torch._C._dispatch_get_all_op_names():
        operator, _, overload = name.partition(".")
        _, _, tags = torch._C._get_operation_overload(operator, overload)
        if torch.Tag.core in tags:
            core.add(name)
    assert len(core) > 150
    assert {name for name, (_, flags) in there.items() if "core" in flags.split()} == core


# As people write them; PyTorch prints them in another way than they are written.
WRITTEN = [
    "foo::a(Tensor! x, Tensor!  y) -> ()",
    "foo::b(Tensor(a!)[] x, Tensor(b)[](c) y) -> Tensor(a)?[]",
    "foo::c(int[2] s=1, SymInt[2] t=[1,1], float[2] u=1e-5) -> (Tensor a, int)",
    "foo::d(DeviceIndex i, ScalarType x=float, Layout l=strided) -> ()",
    "foo::e(Tensor?[] x, int[][] y, (int, (str, Tensor))[] z) -> (Tensor(a), ...)",
    "foo::f(float a=1e20, float b=0.5, float c=0.1, float d=123456789012, float e=-1e10, int g=-5) -> Tensor",
    "foo::g(bool[2] h=True, bool[] i=[True, False], float[] j=[1.0, 2.5], int[] k=[1,1,1]) -> Tensor",
    "foo::h(int? x=5, float? y=1, Tensor? t=None, int[]? k=None, int[2]? z=3) -> None",
    "foo::i(Future(Tensor(a)) x, RRef(t) y, (Tensor(a), int) z, Quantizer q, Capsule c) -> t",
    "foo::j(MemoryFormat m=contiguous_format, int r=Mean, ScalarType? s=float16) -> ((int,str))",
    "foo::k() -> ((int,str)[], Tensor)",
    "foo::l(int x, *, int y, ...) -> ...",
    "foo(Tensor x) -> Tensor",
    "foo::m(Tensor(a! -> a) x) -> Tensor(*)",
    "foo::n(int x, *) -> (Tensor)",
    "foo::o(complex z=1j, complex y=-2.5j, Scalar s=1e-3, Scalar t=3) -> ()",
    "foo::p(str a='x', str? b=\"it's\", str c='\\n\\t\\\\\\001', str d='say \"so\"') -> ()",
    "foo::q(Device d='cpu', Device? e='cuda:1') -> ()",
    "foo::r(int?[] x, int[]?[]? y, Dict(str, int[])? z, Any w, AnyEnumType e) -> Dict(int, (Tensor, t))",
    "foo::s( Tensor   x ,int y = 5 )->Tensor",
    "foo::t(int x=1, int[] y, *, float z) -> ()",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_prints_what_pytorch_prints(echo, text):
    assert echo([text]) == [str(torch._C.parse_schema(text))]


# Refused by PyTorch too.
BROKEN = [
    "foo::a",
    "foo::a(",
    "foo::a() ->",
    "foo::a(int x,) -> ()",
    "foo::a(int) -> ()",
    "foo::a(int x=1, int y) -> ()",
    "foo::a(..., int x) -> ()",
    "foo::a(int x=1, ...) -> ()",
    "foo::a.default() -> ()",
    "foo::a.__b() -> ()",
    "foo::a(Foo x) -> ()",
    "foo::a(int[2][] x) -> ()",
    "foo::a(Tensor(a x) -> ()",
    "foo::a(int x=foo) -> ()",
    "foo::a(str x='\\q') -> ()",
    "foo::a() -> () ()",
]


@pytest.mark.parametrize("text", BROKEN)
def test_refuses_what_pytorch_refuses(echo, text):
    with pytest.raises(Exception):
        torch._C.parse_schema(text)
    assert echo([text])[0].startswith("error: byte ")
