"""Calls single operators, and one of our own."""

import flambeau
import numpy

x = numpy.arange(6, dtype="float32").reshape(2, 3)
print(flambeau.schema("aten::add.Tensor"))
print(flambeau.ops.aten.add.Tensor(x, 1, alpha=10))

flambeau.ops.aten.add_.Tensor(x, x)  # numpy's memory is changed
print(x)

flambeau.register("my::scale(Tensor x, float factor) -> Tensor", lambda x, factor: x.numpy() * factor)
print(flambeau.ops.my.scale(x, 0.5))
