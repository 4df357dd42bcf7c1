// What scripts ask of tensors that no exported program asks: memory, gradients, devices; and operators of
// earlier versions that old traces call.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/tensors.h"

namespace flambeau::interpreter {
namespace {

bool is_contiguous_as(Call& call, const Tensor& tensor, int64_t format) {
  return call_op(call, "aten::sym_is_contiguous", std::vector<Value>{tensor, format}).get<bool>();
}

bool is_signed_type(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
    case DType::kQUInt8:
      return false;
    default:
      return true;
  }
}

bool is_same_view(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.dtype() == b.dtype() && a.offset() == b.offset() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

void keep_gradient(const Tensor& tensor) {
  if (!tensor.requires_grad()) {
    throw Error(ErrorCode::kInvalidArgument, "can't retain_grad on Tensor that has requires_grad=False");
  }
}

IValue require_gradient(Call& call, const Tensor&, bool value) {
  IValue same = call[0];
  Tensor& tensor = same.tensor_box().tensor;
  if (value && !dtype_info(tensor.dtype()).is_floating && !dtype_info(tensor.dtype()).is_complex) {
    throw Error(ErrorCode::kInvalidArgument, "only Tensors of floating point dtype can require gradients");
  }
  tensor.set_requires_grad(value);
  return same;
}

void replace_data(Call& call, const Tensor& old, const Tensor& data) {
  const bool requires_grad = old.requires_grad();
  IValue same = call[0];
  same.tensor_box().tensor = data;
  same.tensor_box().tensor.set_requires_grad(requires_grad);
}

Tensor shape_as_tensor(const Tensor& tensor) {
  const int64_t rank[] = {static_cast<int64_t>(tensor.dim())};
  Tensor shape = Tensor::zeros(DType::kInt64, rank);
  for (size_t d = 0; d < tensor.dim(); ++d) shape.mutable_data<int64_t>()[d] = tensor.sizes()[d];
  return shape;
}

Tensor reshape_from_tensor(Call& call, const Tensor& tensor, const Tensor& shape) {
  if (shape.dim() != 1) throw Error(ErrorCode::kInvalidArgument, "shape must be a vector of int64");
  const Tensor numbers =
      call_tensor(call, "aten::to.dtype", std::vector<Value>{shape, static_cast<int64_t>(DType::kInt64)});
  const Tensor packed = numbers.to_contiguous();
  return call_tensor(
      call, "aten::reshape",
      std::vector<Value>{
          tensor, Dims(std::span(packed.data<int64_t>(), static_cast<size_t>(packed.element_count())))});
}

template <DType kType>
Tensor cast_to(Call& call, const Tensor& tensor, bool) {
  return call_tensor(call, "aten::to.dtype", std::vector<Value>{tensor, static_cast<int64_t>(kType)});
}

Tensor range_of_dim(Call& call, const Tensor& like, int64_t dim) {
  const Value size = call_op(call, "aten::size.int", std::vector<Value>{like, dim});
  return call_tensor(call, "aten::arange", std::vector<Value>{size});
}

void define_old_casts(const Definer& define) {
  define("aten::_cast_Byte", cast_to<DType::kUInt8>);
  define("aten::_cast_Char", cast_to<DType::kInt8>);
  define("aten::_cast_Double", cast_to<DType::kFloat64>);
  define("aten::_cast_Float", cast_to<DType::kFloat32>);
  define("aten::_cast_Half", cast_to<DType::kFloat16>);
  define("aten::_cast_Int", cast_to<DType::kInt32>);
  define("aten::_cast_Long", cast_to<DType::kInt64>);
  define("aten::_cast_Short", cast_to<DType::kInt16>);
}

}  // namespace

void define_tensor_states(Builtins& builtins) {
  const Definer define(builtins);
  define_old_casts(define);
  define("aten::is_contiguous", [](Call& call, const Tensor& a) {
    return is_contiguous_as(call, a, static_cast<int64_t>(MemoryFormat::kContiguous));
  });
  define("aten::is_contiguous.memory_format", is_contiguous_as);
  define("aten::storage_offset", [](const Tensor& a) { return a.offset(); });
  define("aten::get_device",
         [](const Tensor& a) { return a.device().type == DeviceType::kCpu ? int64_t{-1} : int64_t{0}; });
  define("aten::is_signed", is_signed_type);
  define("aten::is_pinned", [](const Tensor&, const IValue&) { return false; });
  define("aten::is_set_to", is_same_view);
  // Nobody computes gradients here: every tensor is a leaf.
  define("aten::is_leaf", [](const Tensor&) { return true; });
  define("aten::output_nr", [](const Tensor&) { return int64_t{0}; });
  define({"aten::retains_grad", "aten::is_inference", "aten::is_distributed"},
         [](const Tensor&) { return false; });
  define("aten::retain_grad", keep_gradient);
  define("aten::requires_grad_", require_gradient);
  define("aten::set_data", replace_data);
  define("aten::_shape_as_tensor", shape_as_tensor);
  define("aten::_reshape_from_tensor", reshape_from_tensor);
  define("aten::_dim_arange", range_of_dim);
}

}  // namespace flambeau::interpreter
