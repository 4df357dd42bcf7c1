import typing

from flambeau.program import Program as Program

class CompiledModel:
    program: Program
    def __init__(self, program: Program) -> None: ...
    def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any: ...
