// Integrals along a dimension by the trapezoidal rule, of points that lie evenly or where another tensor
// says.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

[[noreturn]] void refuse_points(std::string_view name, std::string_view why) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", name, why));
}

void require_numbers(std::string_view name, const Tensor& y, const Tensor* x) {
  if (y.dtype() == DType::kBool || (x != nullptr && x->dtype() == DType::kBool))
    refuse_points(name, "received a tensor of bool, expected numbers");
}

double distance_of(std::string_view name, const Scalar& dx) {
  if (dx.is_complex() || dx.is_bool()) refuse_points(name, "expected dx to be a real number");
  return dx.to_double();
}

Tensor all_but_last(Context& context, const Tensor& tensor, int64_t dim) {
  return call(context, "aten::slice.Tensor", tensor, dim, 0, -1);
}
Tensor all_but_first(Context& context, const Tensor& tensor, int64_t dim) {
  return call(context, "aten::slice.Tensor", tensor, dim, 1);
}
// Of each two neighbours.
Tensor sums_of(Context& context, const Tensor& y, int64_t dim) {
  return parts::add(context, all_but_last(context, y, dim), all_but_first(context, y, dim));
}

// Twice the area between each two points. A single row of x is for all rows of y.
Tensor areas(Context& context, std::string_view name, const Tensor& y, const Tensor& x, int64_t dim) {
  Tensor placed = x;
  if (rank_of(x) == 1 && !(size_of(x, 0) == size_of(y, dim)))
    refuse_points(name, "expected one value of x for each point of y");
  if (rank_of(x) < rank_of(y)) {
    SymIntList sizes(static_cast<size_t>(rank_of(y)), SymInt(1));
    if (rank_of(x) == 1) {
      sizes[static_cast<size_t>(dim)] = size_of(x, 0);
    } else {
      const SymIntList given = sizes_of(x);
      std::ranges::copy(given, sizes.end() - static_cast<std::ptrdiff_t>(given.size()));
    }
    placed = call(context, "aten::view", x, sizes);
  }
  const Tensor before = all_but_last(context, placed, dim);
  const Tensor steps = parts::sub(context, all_but_first(context, placed, dim), before);
  return parts::mul(context, sums_of(context, y, dim), steps);
}

// Of no points at all.
Tensor nothing(Context& context, const Tensor& y, int64_t dim) {
  SymIntList sizes = sizes_of(y);
  sizes.erase(static_cast<size_t>(wrapped_dim(dim, rank_of(y))));
  return call_with(context, "aten::zeros", {sizes}, {{"dtype", y.dtype()}, {"device", y.device()}});
}

Tensor trapezoid_x(Context& context, const Tensor& y, const Tensor& x, Size dim) {
  const int64_t along = wrapped_dim(dim, rank_of(y));
  if (size_of(y, along) == SymInt(0)) return nothing(context, y, along);
  require_numbers("trapezoid", y, &x);
  const Tensor sum =
      call(context, "aten::sum.dim_IntList", areas(context, "trapezoid", y, x, along), Dims{along});
  return call(context, "aten::div.Scalar", sum, 2.0);
}

Tensor trapezoid_dx(Context& context, const Tensor& y, Scalar dx, Size dim) {
  if (size_of(y, wrapped_dim(dim, rank_of(y))) == SymInt(0)) return nothing(context, y, dim);
  require_numbers("trapezoid", y, nullptr);
  const double distance = distance_of("trapezoid", dx);
  const Tensor last = call(context, "aten::select.int", y, dim, -1);
  const Tensor ends = parts::add(context, call(context, "aten::select.int", y, dim, 0), last);
  const Tensor half = call(context, "aten::mul.Scalar", ends, 0.5);
  const Tensor sum = call(context, "aten::sum.dim_IntList", y, Dims{dim});
  return call(context, "aten::mul.Scalar", parts::sub(context, sum, half), distance);
}

Tensor trapz_dx(Context& context, const Tensor& y, double dx, Size dim) {
  return trapezoid_dx(context, y, Scalar(dx), dim);
}

Tensor cumulative_x(Context& context, const Tensor& y, const Tensor& x, Size dim) {
  const int64_t along = wrapped_dim(dim, rank_of(y));
  require_numbers("cumulative_trapezoid", y, &x);
  const Tensor sums =
      call(context, "aten::cumsum", areas(context, "cumulative_trapezoid", y, x, along), along);
  return call(context, "aten::div.Scalar", sums, 2.0);
}

Tensor cumulative_dx(Context& context, const Tensor& y, Scalar dx, Size dim) {
  require_numbers("cumulative_trapezoid", y, nullptr);
  const double half = distance_of("cumulative_trapezoid", dx) / 2;
  return call(context, "aten::cumsum", call(context, "aten::mul.Scalar", sums_of(context, y, dim), half),
              dim);
}

}  // namespace

void define_trapezoid(Library& library) {
  library.define("aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor").composite<trapezoid_x>();
  library.define("aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")
      .composite<trapezoid_dx>();
  library.define("aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor").composite<trapezoid_x>();
  library.define("aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor").composite<trapz_dx>();
  library.define("aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")
      .composite<cumulative_x>();
  library.define("aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")
      .composite<cumulative_dx>();
}

}  // namespace flambeau::ops
