// What a tensor says of itself as numbers: sizes, strides, its only element.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

Value sizes(const Tensor& self) {
  if (self.is_traced()) return shape_of(self).sizes;
  return self.sizes();
}
Value strides(const Tensor& self) {
  if (self.is_traced()) return shape_of(self).strides;
  return self.strides();
}

// A literal among symbols is a plain number.
Value plain(const SymInt& number) { return number.is_literal() ? Value(number.literal()) : Value(number); }

Value size_at(const Tensor& self, Size dim) {
  if (rank_of(self) == 0) {
    fail_view(fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  }
  const size_t d = wrap_dim(dim, rank_of(self));
  if (self.is_traced()) return plain(shape_of(self).sizes[d]);
  return self.sizes()[d];
}
Value stride_at(const Tensor& self, Size dim) {
  if (rank_of(self) == 0) {
    fail_view(fmt::format("Dimension specified as {} but tensor has no dimensions", dim));
  }
  const size_t d = wrap_dim(dim, rank_of(self));
  if (self.is_traced()) return plain(shape_of(self).strides[d]);
  return self.strides()[d];
}
Value element_count(const Tensor& self) {
  if (self.is_traced()) return plain(product(shape_of(self).sizes.span()));
  return self.element_count();
}
Value storage_offset(const Tensor& self) {
  if (self.is_traced()) return plain(shape_of(self).offset);
  return self.offset();
}
bool is_contiguous_in(const Tensor& self, MemoryFormat format) {
  const auto answer = [&](const auto& info) {
    if (format == MemoryFormat::kChannelsLast || format == MemoryFormat::kChannelsLast3d) {
      return info.dim() == (format == MemoryFormat::kChannelsLast ? 4U : 5U) && is_channels_last(info);
    }
    return is_contiguous(info);
  };
  if (self.is_traced()) return answer(boxing::unbox_info<SymInt>(self));
  return answer(info_of(self));
}
int64_t dim(const Tensor& self) { return rank_of(self); }
bool is_floating_point(const Tensor& self) { return is_floating(self.dtype()); }
bool is_complex_tensor(const Tensor& self) { return is_complex(self.dtype()); }
bool can_cast_type(DType from, DType to) { return can_cast(from, to); }
DType promoted_types(DType one, DType other) { return promote(one, other); }
DType type_of_tensors(const Tensor& one, const Tensor& other) { return result_type(one, other); }
DType type_with_number(const Tensor& one, Scalar other) { return result_type(one, other); }
DType type_of_number_with(Scalar one, const Tensor& other) { return result_type(one, other); }
DType type_of_numbers(Scalar one, Scalar other) { return result_type(one, other); }

SizeCall size_call(const Tensor& self, Size dim) { return {&self, dim}; }
SizeCall element_count_call(const Tensor& self) { return {&self, {}}; }

Scalar only_element(const Tensor& self) { return item(self); }

bool is_nonzero(const Tensor& self) {
  if (self.element_count() == 0) fail_view("Boolean value of Tensor with no values is ambiguous");
  if (self.element_count() > 1) fail_view("Boolean value of Tensor with more than one value is ambiguous");
  const Scalar number = item(self);
  return number.is_complex() ? number.to_complex() != std::complex<double>() : number.to_double() != 0;
}

std::vector<Value> item_parts(Context& c, const Tensor& self) {
  return call<std::vector<Value>>(c, "aten::_local_scalar_dense", self);
}

}  // namespace

void define_sizes(Library& library) {
  library.define("aten::sym_size.int(Tensor self, int dim) -> SymInt")
      .function<size_at>()
      .describe<size_call>();
  library.define("aten::sym_size(Tensor self) -> SymInt[]").function<sizes>().is(Trait::kReadsGeometry);
  library.define("aten::size.int(Tensor self, int dim) -> int").function<size_at>();
  library.define("aten::size(Tensor self) -> int[]").function<sizes>();
  library.define("aten::sym_stride.int(Tensor self, int dim) -> SymInt")
      .function<stride_at>()
      .is(Trait::kReadsGeometry);
  library.define("aten::sym_stride(Tensor self) -> SymInt[]").function<strides>().is(Trait::kReadsGeometry);
  library.define("aten::stride.int(Tensor self, int dim) -> int").function<stride_at>();
  library.define("aten::stride(Tensor self) -> int[]").function<strides>();
  library.define("aten::sym_numel(Tensor self) -> SymInt")
      .function<element_count>()
      .describe<element_count_call>();
  library.define("aten::numel(Tensor self) -> int").function<element_count>();
  library.define("aten::sym_storage_offset(Tensor self) -> SymInt")
      .function<storage_offset>()
      .is(Trait::kReadsGeometry);
  library.define("aten::sym_is_contiguous(Tensor self, MemoryFormat memory_format=0) -> SymBool")
      .function<is_contiguous_in>();
  library.define("aten::dim(Tensor self) -> int").function<dim>().is(Trait::kReadsGeometry);
  library.define("aten::is_floating_point(Tensor self) -> bool")
      .function<is_floating_point>()
      .is(Trait::kReadsGeometry);
  library.define("aten::is_complex(Tensor self) -> bool")
      .function<is_complex_tensor>()
      .is(Trait::kReadsGeometry);
  library.define("aten::can_cast(ScalarType from_, ScalarType to) -> bool")
      .function<can_cast_type>()
      .is(Trait::kReadsGeometry);
  library.define("aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType")
      .function<promoted_types>()
      .is(Trait::kReadsGeometry);
  library.define("aten::result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType")
      .function<type_of_tensors>()
      .is(Trait::kReadsGeometry);
  library.define("aten::result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType")
      .function<type_with_number>()
      .is(Trait::kReadsGeometry);
  library.define("aten::result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType")
      .function<type_of_number_with>()
      .is(Trait::kReadsGeometry);
  library.define("aten::result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType")
      .function<type_of_numbers>()
      .is(Trait::kReadsGeometry);
  library.define("aten::item(Tensor self) -> Scalar").function<only_element>().composite<item_parts>();
  library.define("aten::_local_scalar_dense(Tensor self) -> Scalar").function<only_element>();
  library.define("aten::is_nonzero(Tensor self) -> bool").function<is_nonzero>();
}

}  // namespace flambeau::ops
