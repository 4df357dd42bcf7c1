// Larger and smaller images, where PyTorch has no core operator for them: by gathering.
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

// The size wanted along the last dimension, and how far apart its places are in the input.
struct Axis {
  int64_t size;
  double step;
};

// Nothing where a size is a symbol: then the operator stays.
std::optional<Axis> last_axis(const Arguments& given, size_t sizes, size_t scales) {
  const SymInt from = size_of(given.tensor(0), -1);
  if (!from.is_literal()) return std::nullopt;
  const auto length = static_cast<double>(from.literal());
  if (given.has(sizes)) {
    const SymInt to = given.numbers(sizes)[0];
    if (!to.is_literal()) return std::nullopt;
    return Axis{to.literal(), length / static_cast<double>(to.literal())};
  }
  const double scale = given[scales].get<std::vector<double>>().at(0);
  return Axis{static_cast<int64_t>(length * scale), 1.0 / scale};
}

Tensor gathered(Context& c, const Tensor& input, const Tensor& places) {
  TensorList indices(static_cast<size_t>(rank_of(input)));
  indices.back() = places;
  return call(c, "aten::index.Tensor", input, indices);
}

std::vector<Value> nearest(Context& c, const Arguments& given) {
  const std::optional<Axis> axis = last_axis(given, 1, 2);
  if (!axis) return {};
  const Tensor line = parts::arange(c, 0, axis->size, DType::kFloat32, given.tensor(0).device());
  const Tensor places = mul(c, add(c, line, 0.0), axis->step);
  return gives(gathered(c, given.tensor(0), parts::to_dtype(c, places, DType::kInt64)));
}

std::vector<Value> upsample_linear(Context& c, const Arguments& given) {
  const Tensor& input = given.tensor(0);
  const std::optional<Axis> axis = last_axis(given, 1, 3);
  if (!axis || input.dtype() != DType::kFloat32) return {};
  const int64_t length = size_of(input, -1).literal();
  const Tensor line = parts::to_dtype(c, parts::arange(c, 0, axis->size, {}, input.device()), input.dtype());
  Tensor places;
  if (given.flag(2)) {
    const double step =
        axis->size > 1 ? static_cast<double>(length - 1) / static_cast<double>(axis->size - 1) : 0.0;
    places = mul(c, line, step);
  } else {
    places = sub(c, mul(c, add(c, line, 0.5), axis->step), 0.5);
  }
  places = call(c, "aten::view", call(c, "aten::clamp", places, 0.0), Dims{axis->size});
  const Tensor before = parts::to_dtype(c, places, DType::kInt64);
  const Tensor after = call(c, "aten::clamp", add(c, before, 1), Value(), length - 1);
  const Tensor left = gathered(c, input, before);
  const Tensor right = gathered(c, input, after);
  const Tensor share = call(c, "aten::clamp", sub(c, places, before), 0.0, 1.0);
  return gives(add(c, left, mul(c, sub(c, right, left), share)));
}

}  // namespace

void add_upsampling(DecompositionTable& table) {
  table.composite("aten::upsample_nearest1d.vec", nearest);
  table.composite("aten::upsample_linear1d.vec", upsample_linear);
}

}  // namespace flambeau::trace
