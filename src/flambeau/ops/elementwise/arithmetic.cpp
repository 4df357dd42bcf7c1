// Sum, difference and product, with PyTorch's promotion.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/library.h"
#include "flambeau/ops/promotion.h"
#include "flambeau/ops/rows.h"
#include "flambeau/ops/strides.h"

namespace flambeau::ops {
namespace {

// Arithmetic on integers wraps, as it does in PyTorch.
template <typename T, typename F>
T wrapping(T a, T b, F&& f) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<int64_t>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  } else {
    return f(a, b);
  }
}

template <typename T>
T number(const Scalar& scalar) {
  if constexpr (requires(T t) { t.real(); }) {
    return T(scalar.to_complex());
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(scalar.to_int());
  } else {
    return static_cast<T>(scalar.to_double());
  }
}

struct Add {
  Scalar alpha;
  template <typename T>
  T operator()(T a, T b) const {
    return wrapping(a, wrapping(b, number<T>(alpha), [](auto x, auto y) { return x * y; }),
                    [](auto x, auto y) { return x + y; });
  }
};

template <typename N>
Info<N> add_shape(const Info<N>& self, const Info<N>& other, Scalar) {
  return elementwise_info<N>(result_type(self, other), self, other);
}

void add_kernel(Context& context, const Tensor& self, const Tensor& other, Scalar alpha, Tensor& out) {
  map(context, "add", Add{alpha}, out.dtype(), out, self, other);
}

}  // namespace

void fail_dtype(std::string_view what, DType dtype) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("\"{}\" not implemented for '{}'", what, dtype_name(dtype)));
}

void define_arithmetic(Library& library) {
  library.define("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
      .shape<add_shape<int64_t>, add_shape<SymInt>>()
      .kernel<add_kernel>()
      .elementwise();
}

}  // namespace flambeau::ops
