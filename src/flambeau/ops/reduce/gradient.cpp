// Numerical derivatives along dimensions, of points that lie evenly or at coordinates.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

[[noreturn]] void refuse_gradient(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "torch.gradient " + why);
}

using OptionalDim = std::optional<Size>;

Dims gradient_dims(const Tensor& self, std::span<const Size> dims) {
  Dims wrapped;
  for (const Size dim : dims) {
    const auto at = static_cast<int64_t>(wrap_dim(dim, static_cast<size_t>(rank_of(self))));
    if (std::find(wrapped.begin(), wrapped.end(), at) != wrapped.end())
      refuse_gradient(fmt::format("expected each dimension once, but dimension {} appears twice", at));
    wrapped.push_back(at);
  }
  return wrapped;
}
Dims gradient_dims(const Tensor& self, OptionalDim dim) {
  if (!dim) return all_dims(rank_of(self));
  return {static_cast<int64_t>(wrap_dim(*dim, static_cast<size_t>(rank_of(self))))};
}

void require_edges(const Tensor& self, const Dims& dims, int64_t edge_order) {
  if (edge_order != 1 && edge_order != 2)
    refuse_gradient(fmt::format("only supports edge_order=1 and edge_order=2, got {}", edge_order));
  for (const int64_t dim : dims) {
    if (rank_of(self) == 0 || size_of(self, dim) < SymInt(edge_order + 1)) {
      refuse_gradient(
          fmt::format("expected each dimension size to be at least edge_order+1 = {}", edge_order + 1));
    }
  }
  if (self.dtype() == DType::kUInt8) refuse_gradient("does not support uint8 input");
}

// So many points from a place on; negative ones count from the end.
struct Points {
  Context& context;
  const Tensor& self;
  int64_t dim;
  Tensor at(const SymInt& start, const SymInt& length) const {
    return call(context, "aten::narrow", self, dim, start, length);
  }
  Tensor one(int64_t start) const {
    return at(start < 0 ? size_of(self, dim) + SymInt(start) : SymInt(start), SymInt(1));
  }
  Tensor inside(int64_t start) const { return at(SymInt(start), size_of(self, dim) - SymInt(2)); }
};

Tensor joined(Context& c, const Tensor& first, const Tensor& inside, const Tensor& last, int64_t dim) {
  return call(c, "aten::cat", TensorList{first, inside, last}, dim);
}

// Points that lie evenly, so far from each other.
Tensor even_gradient(Context& c, const Tensor& self, int64_t dim, const Scalar& spacing, int64_t edge_order) {
  const Points points{c, self, dim};
  const auto over = [&](const Tensor& tensor, double times) {
    const Value divisor = spacing.is_complex() ? Value(Scalar(spacing.to_complex() * times))
                                               : Value(spacing.to_double() * times);
    return call(c, "aten::div.Scalar", tensor, divisor);
  };
  const Tensor inside = over(parts::sub(c, points.inside(2), points.inside(0)), 2);
  if (edge_order == 1) {
    return joined(c, over(parts::sub(c, points.one(1), points.one(0)), 1), inside,
                  over(parts::sub(c, points.one(-1), points.one(-2)), 1), dim);
  }
  // The slope at the end of a parabola through three points.
  const auto edge = [&](int64_t end, int64_t next, int64_t after, double sign) {
    const Tensor near = call(c, "aten::mul.Scalar", points.one(end), -1.5 * sign);
    const Tensor middle = call(c, "aten::mul.Scalar", points.one(next), 2.0 * sign);
    const Tensor far = call(c, "aten::mul.Scalar", points.one(after), -0.5 * sign);
    return over(parts::add(c, parts::add(c, near, middle), far), 1);
  };
  return joined(c, edge(0, 1, 2, 1), inside, edge(-1, -2, -3, -1), dim);
}

// Points at coordinates: a parabola through each three.
Tensor uneven_gradient(Context& c, const Tensor& self, int64_t dim, const Tensor& coordinates,
                       int64_t edge_order) {
  if (rank_of(coordinates) != 1 || !(size_of(coordinates, 0) == size_of(self, dim)))
    refuse_gradient(fmt::format("expected as many coordinates as points along dimension {}", dim));
  const SymInt count = size_of(coordinates, 0);
  const Tensor steps = parts::sub(c, call(c, "aten::narrow", coordinates, 0, 1, count - SymInt(1)),
                                  call(c, "aten::narrow", coordinates, 0, 0, count - SymInt(1)));
  const Points points{c, self, dim};
  SymIntList shape(static_cast<size_t>(rank_of(self)), SymInt(1));
  shape[static_cast<size_t>(dim)] = SymInt(-1);
  // Steps from a place on, lying along the dimension.
  const auto step = [&](const SymInt& start, const SymInt& length) {
    return call(c, "aten::view", call(c, "aten::narrow", steps, 0, start, length), shape);
  };
  const auto product = [&](const Tensor& a, const Tensor& b) { return parts::mul(c, a, b); };
  const auto sum = [&](const Tensor& a, const Tensor& b) { return parts::add(c, a, b); };
  const auto quotient = [&](const Tensor& a, const Tensor& b) { return parts::div(c, a, b); };

  const Tensor left = step(0, count - SymInt(2));
  const Tensor right = step(1, count - SymInt(2));
  const Tensor both = sum(left, right);
  const Tensor before = call(c, "aten::neg", quotient(right, product(left, both)));
  const Tensor here = quotient(parts::sub(c, right, left), product(left, right));
  const Tensor after = quotient(left, product(right, both));
  const Tensor inside = sum(sum(product(before, points.inside(0)), product(here, points.inside(1))),
                            product(after, points.inside(2)));
  const SymInt last = count - SymInt(2);
  if (edge_order == 1) {
    return joined(c, quotient(parts::sub(c, points.one(1), points.one(0)), step(0, 1)), inside,
                  quotient(parts::sub(c, points.one(-1), points.one(-2)), step(last, 1)), dim);
  }
  const auto edge = [&](const Tensor& near, const Tensor& far, int64_t end, int64_t next, int64_t beyond,
                        bool is_start) {
    const Tensor all = sum(near, far);
    const Tensor a = quotient(sum(near, all), product(near, all));
    const Tensor b = quotient(all, product(near, far));
    const Tensor d = quotient(near, product(far, all));
    const Tensor slope = parts::sub(c, product(b, points.one(next)),
                                    sum(product(a, points.one(end)), product(d, points.one(beyond))));
    return is_start ? slope : call(c, "aten::neg", slope);
  };
  return joined(c, edge(step(0, 1), step(1, 1), 0, 1, 2, true), inside,
                edge(step(last, 1), step(last - SymInt(1), 1), -1, -2, -3, false), dim);
}

TensorList even_gradients(Context& c, const Tensor& self, const Dims& dims, std::span<const Scalar> spacing,
                          int64_t edge_order) {
  require_edges(self, dims, edge_order);
  if (spacing.size() != 1 && spacing.size() != dims.size())
    refuse_gradient(fmt::format("expected spacing to be one number or one for each of {} dimensions, got {}",
                                dims.size(), spacing.size()));
  TensorList results;
  for (size_t i = 0; i < dims.size(); ++i)
    results.push_back(even_gradient(c, self, dims[i], spacing[spacing.size() == 1 ? 0 : i], edge_order));
  return results;
}
TensorList uneven_gradients(Context& c, const Tensor& self, const Dims& dims,
                            std::span<const Tensor> coordinates, int64_t edge_order) {
  require_edges(self, dims, edge_order);
  if (coordinates.size() != dims.size())
    refuse_gradient(fmt::format("expected coordinates for each of {} dimensions, got {}", dims.size(),
                                coordinates.size()));
  TensorList results;
  for (size_t i = 0; i < dims.size(); ++i)
    results.push_back(uneven_gradient(c, self, dims[i], coordinates[i], edge_order));
  return results;
}
std::vector<Scalar> numbers_of(const Value& list) {
  std::vector<Scalar> numbers;
  for (const Value& number : list.get<ValueList>()) numbers.push_back(number.scalar());
  return numbers;
}

TensorList gradient_array(Context& c, const Tensor& self, std::span<const Size> dim, Size edge_order) {
  return even_gradients(c, self, gradient_dims(self, dim), std::vector<Scalar>{1.0}, edge_order);
}
TensorList gradient_scalararray(Context& c, const Tensor& self, Scalar spacing, std::span<const Size> dim,
                                Size edge_order) {
  return even_gradients(c, self, gradient_dims(self, dim), std::vector<Scalar>{spacing}, edge_order);
}
TensorList gradient_scalarint(Context& c, const Tensor& self, std::optional<Scalar> spacing, OptionalDim dim,
                              Size edge_order) {
  const std::vector<Scalar> one{spacing ? *spacing : Scalar(1.0)};
  return even_gradients(c, self, gradient_dims(self, dim), one, edge_order);
}
TensorList gradient_scalarrayarray(Context& c, const Tensor& self, const Value& spacing,
                                   std::span<const Size> dim, Size edge_order) {
  const std::vector<Scalar> numbers = numbers_of(spacing);
  if (numbers.size() != dim.size())
    refuse_gradient("expected spacing to be unspecified, a scalar or a list of the length of dim");
  return even_gradients(c, self, gradient_dims(self, dim), numbers, edge_order);
}
TensorList gradient_scalarrayint(Context& c, const Tensor& self, const Value& spacing, OptionalDim dim,
                                 Size edge_order) {
  const std::vector<Scalar> numbers = numbers_of(spacing);
  const Dims dims = gradient_dims(self, dim);
  if (numbers.size() != dims.size())
    refuse_gradient(
        "expected spacing to be unspecified, a scalar or a list with a number for each dimension");
  return even_gradients(c, self, dims, numbers, edge_order);
}
TensorList gradient_tensorarray(Context& c, const Tensor& self, std::span<const Tensor> spacing,
                                std::span<const Size> dim, Size edge_order) {
  return uneven_gradients(c, self, gradient_dims(self, dim), spacing, edge_order);
}
TensorList gradient_tensorarrayint(Context& c, const Tensor& self, std::span<const Tensor> spacing,
                                   OptionalDim dim, Size edge_order) {
  return uneven_gradients(c, self, gradient_dims(self, dim), spacing, edge_order);
}

}  // namespace

void define_gradient(Library& library) {
  library.define("aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]")
      .composite<gradient_array>();
  library
      .define(
          "aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> "
          "Tensor[]")
      .composite<gradient_scalararray>();
  library
      .define(
          "aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) "
          "-> Tensor[]")
      .composite<gradient_scalarint>();
  library
      .define(
          "aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> "
          "Tensor[]")
      .composite<gradient_scalarrayarray>();
  library
      .define(
          "aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) "
          "-> Tensor[]")
      .composite<gradient_scalarrayint>();
  library
      .define(
          "aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> "
          "Tensor[]")
      .composite<gradient_tensorarray>();
  library
      .define(
          "aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int "
          "edge_order=1) -> Tensor[]")
      .composite<gradient_tensorarrayint>();
}

}  // namespace flambeau::ops
