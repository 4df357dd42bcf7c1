// Whether two tensors are the same, or nearly: equal, allclose, is_same_size.
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }

bool equal(Context& context, const Tensor& self, const Tensor& other) {
  if (!(self.sizes() == other.sizes())) return false;
  if (self.element_count() == 0) return true;
  const Tensor same = call(context, "aten::eq.Tensor", self, other);
  return item(call(context, "aten::all", same)).to_bool();
}
bool allclose(Context& context, const Tensor& self, const Tensor& other, double rtol, double atol,
              bool equal_nan) {
  const Tensor close = call(context, "aten::isclose", self, other, rtol, atol, equal_nan);
  return item(call(context, "aten::all", close)).to_bool();
}

}  // namespace

void define_equal(Library& library) {
  library.define("aten::is_same_size(Tensor self, Tensor other) -> bool").function<is_same_size>();
  library.define("aten::equal(Tensor self, Tensor other) -> bool").function<equal>();
  library
      .define(
          "aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, "
          "bool equal_nan=False) -> bool")
      .function<allclose>();
}

}  // namespace flambeau::ops
