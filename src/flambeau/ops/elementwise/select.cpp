// Choosing between elements by a mask. Elements are moved as bytes: any type, no conversion of it.
#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/type_names.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

HotType moved_as(DType dtype) {
  switch (dtype_size(dtype)) {
    case 1:
      return HotType::kByte;
    case 2:
      return HotType::kTwoBytes;
    case 4:
      return HotType::kFloat;
    case 8:
      return HotType::kDouble;
    default:
      return HotType::kSixteenBytes;
  }
}

Input moved(const Tensor& tensor, DType type) { return {&tensor, type, type}; }
Input moved(const Scalar& number, DType type) { return {number, type, type}; }

// Of tensors and numbers.
template <typename First, typename Second>
Body choose(const Tensor& condition, const First& self, const Second& other, const Tensor& out) {
  const DType type = out.dtype();
  Body body;
  body.name = "where";
  body.rows = hot_rows(Hot::kWhere, moved_as(type));
  body.row = type;
  body.code = hot_code(Hot::kWhere);
  body.add({&condition, DType::kBool, DType::kBool});
  body.add(moved(self, type));
  body.add(moved(other, type));
  return body;
}

struct WhereType {
  static constexpr bool kCountsNumbers = true;
  template <typename Condition, typename... A>
  static DType type(const Condition&, const A&... choices) {
    return NumberType::type(choices...);
  }
};
struct WhereTensorType {
  template <typename Condition, typename... A>
  static DType type(const Condition&, const A&... choices) {
    return PromotedType::type(choices...);
  }
};

void require_condition(const Tensor& condition) {
  if (condition.dtype() == DType::kBool || condition.dtype() == DType::kUInt8) return;
  throw Error(ErrorCode::kInvalidArgument,
              "where expected condition to be a boolean tensor, but got a tensor with dtype " +
                  std::string(dtype_word(condition.dtype())));
}
Body where(const Tensor& condition, const Tensor& self, const Tensor& other, const Tensor& out) {
  require_condition(condition);
  return choose(condition, self, other, out);
}
Body where_numbers(const Tensor& condition, Scalar self, Scalar other, const Tensor& out) {
  require_condition(condition);
  return choose(condition, self, other, out);
}
Body where_other(const Tensor& condition, const Tensor& self, Scalar other, const Tensor& out) {
  require_condition(condition);
  return choose(condition, self, other, out);
}
Body where_self(const Tensor& condition, Scalar self, const Tensor& other, const Tensor& out) {
  require_condition(condition);
  return choose(condition, self, other, out);
}

void require_fill(const Tensor& self, const Tensor& mask, DType value) {
  if (mask.dtype() != DType::kBool) {
    throw Error(ErrorCode::kInvalidArgument,
                "masked_fill_ only supports boolean masks, but got mask with dtype " +
                    std::string(dtype_type_name(mask.dtype())));
  }
  if (is_complex(value) && !is_complex(self.dtype())) {
    throw Error(ErrorCode::kInvalidArgument, "value cannot be converted to type " +
                                                 std::string(dtype_name(self.dtype())) + " without overflow");
  }
}
Body masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value, const Tensor& out) {
  if (value.dim() != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with " +
                    std::to_string(value.dim()) + " dimension(s).");
  }
  require_fill(self, mask, value.dtype());
  return choose(mask, value, self, out);
}
Body masked_fill(const Tensor& self, const Tensor& mask, Scalar value, const Tensor& out) {
  require_fill(self, mask, value.dtype());
  return choose(mask, value, self, out);
}

// A fresh result is the (expanded) self cloned, then filled: the mask has no say in its strides.
template <typename N, typename Value>
Info<N> masked_fill_shape(const Info<N>& self, const Info<N>& mask, Value) {
  Info<N> expanded = self;
  expanded.sizes = broadcast(self.sizes, mask.sizes);
  const size_t shift = expanded.sizes.size() - self.dim();
  expanded.strides.resize(expanded.sizes.size());
  for (size_t d = 0; d < self.dim(); ++d) {
    if (self.sizes[d] == expanded.sizes[d + shift]) expanded.strides[d + shift] = self.strides[d];
  }
  expanded.strides =
      like_strides(expanded, shift == 0 && self.sizes == expanded.sizes ? MemoryFormat::kPreserve
                                                                        : MemoryFormat::kContiguous);
  expanded.offset = 0;
  expanded.is_wrapped_number = false;
  return expanded;
}

// ---- as other operators
Tensor where_numbers_parts(Context& c, const Tensor& condition, const Value& self, const Value& other) {
  const auto tensor_of = [&](const Value& number, const Value& beside) {
    if (number.is_tensor()) return number.tensor();
    const DType dtype = beside.is_tensor() ? beside.tensor().dtype() : DType::kFloat32;
    return call_with(c, "aten::scalar_tensor", {number},
                     {{"dtype", dtype}, {"layout", Layout::kStrided}, {"device", Device{}}});
  };
  const Tensor yes = tensor_of(self, other);
  return parts::where(c, condition, yes, tensor_of(other, self));
}
Tensor masked_fill_parts(Context& c, const Tensor& self, const Tensor& mask, const Value& value) {
  return parts::where(c, mask, parts::scalar(c, value, self), self);
}
Tensor masked_fill_tensor_parts(Context& c, const Tensor& self, const Tensor& mask, const Tensor& value) {
  return parts::where(c, mask, value, self);
}

}  // namespace

void define_select(Library& library) {
  elementwise<WhereTensorType, where>(
      library, "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor")
      .work<no_work>();
  elementwise<WhereType, where_numbers>(
      library, "aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor")
      .composite<where_numbers_parts>()
      .work<no_work>();
  elementwise<WhereType, where_other>(
      library, "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor")
      .composite<where_numbers_parts>()
      .work<no_work>();
  elementwise<WhereType, where_self>(
      library, "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor")
      .composite<where_numbers_parts>()
      .work<no_work>();
  library.define("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor")
      .shape<masked_fill_shape<Size, Scalar>, masked_fill_shape<SymInt, Scalar>>()
      .body<masked_fill>()
      .elementwise()
      .core_decomposition<masked_fill_parts>();
  library.define("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor")
      .shape<masked_fill_shape<Size, const Info<Size>&>, masked_fill_shape<SymInt, const Info<SymInt>&>>()
      .body<masked_fill_tensor>()
      .elementwise()
      .core_decomposition<masked_fill_tensor_parts>();
}

}  // namespace flambeau::ops
