// A module of operators: "examples::scaled_add" for programs that use it. Build it as a shared module and
// name it when you run them:
//
//   flambeau run model.pt2 --operators libexample_operators.so
#include "flambeau/operators.h"

#include "flambeau/error.h"

namespace {

using flambeau::Tensor;
using flambeau::Value;
namespace ops = flambeau::ops;

// x + factor * y, made of operators that are there already: types, broadcasting and strides are theirs.
std::vector<Value> scaled_add(ops::Context& context, std::span<const Value> arguments) {
  const Tensor& x = arguments[0].tensor();
  const Tensor& y = arguments[1].tensor();
  if (x.sizes() != y.sizes()) {
    throw flambeau::Error(
        flambeau::ErrorCode::kInvalidArgument,
        "scaled_add takes tensors of the same sizes, found " + x.summary() + " and " + y.summary());
  }
  return {ops::call(context, "aten::add.Tensor", x, y, arguments[2])};
}

// What the result looks like, so that its memory can be planned.
ops::Infos<flambeau::Size> scaled_add_shape(std::span<const Value> arguments) {
  const Tensor& x = arguments[0].tensor();
  return {ops::contiguous<flambeau::Size>(x.dtype(), x.sizes())};
}

}  // namespace

FLAMBEAU_OPERATORS_MODULE(library) {
  library.add("examples::scaled_add(Tensor x, Tensor y, float factor) -> Tensor",
              {.function = scaled_add, .shape = scaled_add_shape});
}
