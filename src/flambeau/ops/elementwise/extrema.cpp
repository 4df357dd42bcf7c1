// The larger and the smaller of two.
#include "flambeau/ops/elementwise/shared.h"

namespace flambeau::ops {
namespace {

// A number wins over NaN.
struct Fmax {
  static constexpr std::string_view kName = "fmax";
  static constexpr std::string_view kCode = "return ((a > b) | (b != b)) ? a : b;";
  template <OrderedNumber T>
  T operator()(T a, T b) const {
    return a > b || b != b ? a : b;
  }
};
struct Fmin {
  static constexpr std::string_view kName = "fmin";
  static constexpr std::string_view kCode = "return ((a < b) | (b != b)) ? a : b;";
  template <OrderedNumber T>
  T operator()(T a, T b) const {
    return a < b || b != b ? a : b;
  }
};

#define FLAMBEAU_PICK_ONE(name, F) \
  elementwise<PromotedType, pick<F>>(library, "aten::" name "(Tensor self, Tensor other) -> Tensor")

}  // namespace

void define_extrema(Library& library) {
  FLAMBEAU_PICK_ONE("maximum", Max);
  FLAMBEAU_PICK_ONE("minimum", Min);
  FLAMBEAU_PICK_ONE("max.other", Max).alias("aten::maximum");
  FLAMBEAU_PICK_ONE("min.other", Min).alias("aten::minimum");
  FLAMBEAU_PICK_ONE("fmax", Fmax);
  FLAMBEAU_PICK_ONE("fmin", Fmin);
}

}  // namespace flambeau::ops
