import os
import typing

from flambeau import jit as jit
from flambeau._flambeau import Error as Error
from flambeau._flambeau import Leaf as Leaf
from flambeau._flambeau import Object as Object
from flambeau._flambeau import Operator as Operator
from flambeau._flambeau import Tensor as Tensor
from flambeau.aot import CompiledModel as CompiledModel
from flambeau.checkpoint import Checkpoint as Checkpoint
from flambeau.checkpoint import Path
from flambeau.ops import Operators
from flambeau.package import ExportedProgram as ExportedProgram
from flambeau.package import Package as Package
from flambeau.program import Profile as Profile
from flambeau.program import ProfileEntry as ProfileEntry
from flambeau.program import Program as Program
from flambeau.program import Record as Record

Source = str | os.PathLike[str] | os.PathLike[bytes] | bytes | bytearray | memoryview

ops: Operators

def load(
    source: Source | Package | ExportedProgram,
    *,
    model: str = "",
    threads: int | None = None,
    plan: bool = True,
    backend: str = "",
    ignore_guards: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> Program: ...
def aot_compile(
    program: Path | Package | ExportedProgram,
    path: Path,
    *,
    model: str = "",
    library_only: bool = False,
    kernels: bool = False,
    compiler: str = "",
    stored: bool = False,
    metadata: typing.Mapping[str, str] | None = None,
    options: typing.Mapping[str, typing.Any] | None = None,
) -> str: ...
def aot_load(path: Path, device: str = "cpu", *, threads: int | None = None) -> CompiledModel: ...
def load_package(source: Source) -> Package: ...
def load_checkpoint(source: Source) -> Checkpoint: ...
def save_checkpoint(
    tensors: typing.Mapping[str, typing.Any],
    path: Path,
    *,
    dtype: typing.Any = None,
    metadata: typing.Mapping[str, str] | None = None,
    format: str = "",
    shard_size: str | int = "",
) -> dict[str, typing.Any]: ...
def inspect(path: Path, *, stats: bool = False, sha256: bool = False) -> dict[str, typing.Any]: ...
def check(path: Path) -> dict[str, typing.Any]: ...
def convert(
    source: Path,
    target: Path,
    *,
    dtype: typing.Any = None,
    filter: str | typing.Iterable[str] = (),
    format: str = "",
    shard_size: str | int = "",
) -> dict[str, typing.Any]: ...
def diff(
    a: Path,
    b: Path,
    *,
    filter: str | typing.Iterable[str] = (),
    tolerance: float = 0.0,
    ignore_dtype: bool = False,
) -> dict[str, typing.Any]: ...
def verify(path: Path, *, dialect: str = "auto", limit: int = 100) -> dict[str, typing.Any]: ...
def operators(derived: bool = False) -> list[str]: ...
def schema(name: str) -> str: ...
def register(schema: str, function: typing.Callable[..., typing.Any]) -> None: ...
def manual_seed(seed: int) -> None: ...
def get_rng_state() -> bytes: ...
def set_rng_state(state: typing.Any) -> None: ...
def get_limits() -> tuple[float | None, int | None]: ...
def set_limits(time_limit: float | None = None, memory_limit: int | None = None) -> None: ...
def get_threads() -> int: ...
def set_threads(threads: int) -> None: ...
