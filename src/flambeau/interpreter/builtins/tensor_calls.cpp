// Builtins that are operators of tensors in another form.
#include "flambeau/interpreter/builtins/tensors.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::interpreter {

Value call_op(Call& call, std::string_view name, std::span<const Value> arguments) {
  std::vector<Value> results = ops::call_named(call.machine().context(), name, arguments);
  return results.empty() ? Value() : std::move(results[0]);
}

Tensor call_tensor(Call& call, std::string_view name, std::span<const Value> arguments) {
  return std::get<Tensor>(std::move(call_op(call, name, arguments).data()));
}

Scalar number_in(const Tensor& tensor) {
  if (tensor.element_count() != 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a Tensor with {} elements cannot be converted to Scalar", tensor.element_count()));
  }
  if (tensor.is_meta()) {
    throw Error(ErrorCode::kInvalidArgument, "Tensor.item() cannot be called on meta tensors");
  }
  return ops::item(tensor);
}

bool truth_of(const Tensor& tensor) {
  if (tensor.element_count() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "Boolean value of Tensor with no values is ambiguous");
  }
  if (tensor.element_count() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "Boolean value of Tensor with more than one value is ambiguous");
  }
  return number_in(tensor).to_bool();
}

bool all_equal(Call& call, const Tensor& a, const Tensor& b) {
  const Value arguments[] = {a, b};
  return truth_of(call_tensor(call, "aten::eq.Tensor", arguments));
}

namespace {

using script::ListBox;

TensorList tensors_in(const ListBox& list) {
  TensorList tensors;
  for (const IValue& item : list.items) tensors.push_back(item.is_none() ? Tensor() : item.as_tensor());
  return tensors;
}

// An operator that writes to its first argument: that argument is the result.
template <typename... Rest>
IValue write_first(Call& call, std::string_view name, const Rest&... rest) {
  const Value arguments[] = {tensor_of(call[0]), Value(rest)...};
  call_op(call, name, arguments);
  return call[0];
}

template <typename... Arguments>
Tensor op(Call& call, std::string_view name, const Arguments&... given) {
  const Value arguments[] = {Value(given)...};
  return call_tensor(call, name, arguments);
}

// The very same tensor where nothing changes.
IValue converted(Call& call, const std::optional<Device>& device, const std::optional<DType>& dtype,
                 bool non_blocking, bool copy) {
  const Tensor& tensor = tensor_of(call[0]);
  const bool is_same = (!device || *device == tensor.device()) && (!dtype || *dtype == tensor.dtype());
  if (is_same && !copy) return call[0];
  return op(call, "aten::to.device", tensor, device.value_or(tensor.device()), dtype.value_or(tensor.dtype()),
            non_blocking, copy);
}

IValue dequantized(Call& call, const IValue& value) {
  if (value.is(IValue::Tag::kTensor)) return op(call, "aten::dequantize.self", value.as_tensor());
  std::vector<IValue> items;
  for (const IValue& item : value.items())
    items.push_back(item.is(IValue::Tag::kTensor) ? dequantized(call, item) : item);
  if (value.is(IValue::Tag::kTuple)) return IValue::tuple(std::move(items));
  return IValue::list(TypeKind::kTensor, std::move(items));
}

// einsum(a, [0, 1], b, [1, 2], [0, 2]): numbers stand for letters.
Tensor einsum(Call& call) {
  std::string equation;
  TensorList operands;
  for (size_t i = 0; i < call.size(); ++i) {
    const bool is_last = i + 1 == call.size();
    const bool is_output = is_last && i % 2 == 0;
    if (i % 2 == 0 && !is_output) {
      operands.push_back(call[i].as_tensor());
      continue;
    }
    if (is_output) equation += "->";
    for (const IValue& item : call[i].as_list().items) {
      const int64_t number = item.as_int();
      if (number < 0 || number >= 52) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("einsum(): a subscript is {}, it must be from 0 to 51", number));
      }
      equation += static_cast<char>(number < 26 ? 'A' + number : 'a' + number - 26);
    }
    if (!is_output && i + 2 < call.size()) equation += ',';
  }
  return op(call, "aten::einsum", equation, operands);
}

// All but the last argument.
TensorList leading_tensors(const Call& call) {
  TensorList tensors;
  for (size_t i = 0; i + 1 < call.size(); ++i) tensors.push_back(call[i].as_tensor());
  return tensors;
}

void define_indexing(const Definer& define) {
  define("aten::index.Tensor_hacked_twin", [](Call& call, const Tensor& self, ListBox& indices) {
    return op(call, "aten::index.Tensor", self, tensors_in(indices));
  });
  define("aten::_unsafe_index.Tensor_hacked_twin", [](Call& call, const Tensor& self, ListBox& indices) {
    return op(call, "aten::index.Tensor", self, tensors_in(indices));
  });
  static constexpr auto put = [](Call& call, const Tensor& self, ListBox& indices, const Tensor& values,
                                 bool accumulate) {
    return op(call, "aten::index_put", self, tensors_in(indices), values, accumulate);
  };
  define("aten::index_put.hacked_twin", +put);
  define("aten::_unsafe_index_put.hacked_twin", +put);
  define("aten::index_put_.hacked_twin",
         [](Call& call, const Tensor&, ListBox& indices, const Tensor& values, bool accumulate) {
           return write_first(call, "aten::index_put_", tensors_in(indices), values, accumulate);
         });
  define("aten::_index_put_impl_.hacked_twin",
         [](Call& call, const Tensor&, ListBox& indices, const Tensor& values, bool accumulate, bool) {
           return write_first(call, "aten::index_put_", tensors_in(indices), values, accumulate);
         });
}

void define_conversions(const Definer& define) {
  define("aten::to.prim_Device",
         [](Call& call, const Tensor&, std::optional<Device> device, std::optional<DType> dtype,
            bool non_blocking, bool copy) { return converted(call, device, dtype, non_blocking, copy); });
  define("aten::to.prim_dtype", [](Call& call, const Tensor&, std::optional<DType> dtype, bool non_blocking,
                                   bool copy) { return converted(call, {}, dtype, non_blocking, copy); });
  define("aten::to.prim_other", [](Call& call, const Tensor&, bool non_blocking, bool copy) {
    return converted(call, {}, {}, non_blocking, copy);
  });
  define("aten::cpu", [](Call& call, const Tensor&) { return converted(call, Device{}, {}, false, false); });
  define("aten::cuda", [](Call& call, const Tensor&) {
    return converted(call, Device{DeviceType::kCuda, 0}, {}, false, false);
  });
  define("aten::as_tensor",
         [](Call& call, const Tensor&, std::optional<DType> dtype, std::optional<Device> device) {
           return converted(call, device, dtype, false, false);
         });
  define("aten::dequantize.tensor",
         [](Call& call, const Tensor& tensor) { return op(call, "aten::dequantize.self", tensor); });
  define("aten::dequantize.list", [](Call& call, const IValue& list) { return dequantized(call, list); });
  define("aten::dequantize.any", [](Call& call, const IValue& any) { return dequantized(call, any); });
}

void define_writes(const Definer& define) {
  // The one becomes the other, for all who have it.
  define("aten::set_.source_Tensor", [](Call& call, const Tensor& self, const Tensor& source) {
    if (self.dtype() != source.dtype()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("a tensor of {} cannot take the place of one of {}", dtype_name(source.dtype()),
                              dtype_name(self.dtype())));
    }
    call[0].tensor_box().tensor = Tensor(source);
    return call[0];
  });
  define("aten::copy_.Tensor", [](Call& call, const Tensor&, const Tensor& other) {
    return write_first(call, "aten::copy_", other);
  });
  define("aten::copy_.int", [](Call& call, const Tensor&, int64_t other) {
    return write_first(call, "aten::fill_.Scalar", other);
  });
  define("aten::copy_.float", [](Call& call, const Tensor&, double other) {
    return write_first(call, "aten::fill_.Scalar", other);
  });
  define("aten::_no_grad_fill_", [](Call& call, const Tensor&, double value) {
    return write_first(call, "aten::fill_.Scalar", value);
  });
  define("aten::_no_grad_zero_", [](Call& call, const Tensor&) { return write_first(call, "aten::zero_"); });
  define("aten::_no_grad_uniform_",
         [](Call& call, const Tensor&, double from, double to, const IValue& generator) {
           return write_first(call, "aten::uniform_", from, to, to_value(generator));
         });
  define("aten::_no_grad_normal_",
         [](Call& call, const Tensor&, double mean, double deviation, const IValue& generator) {
           return write_first(call, "aten::normal_", mean, deviation, to_value(generator));
         });
  define("aten::_no_grad_embedding_renorm_",
         [](Call& call, const Tensor&, const Tensor& input, double most, double norm) {
           return write_first(call, "aten::embedding_renorm_", input, most, norm);
         });
}

}  // namespace

void define_tensor_calls(Builtins& builtins) {
  const Definer define(builtins);
  define_indexing(define);
  define_conversions(define);
  define_writes(define);
  define("aten::numpy_T.a", [](Call& call, const Tensor& self) { return op(call, "aten::numpy_T", self); });
  define("aten::matrix_H.a", [](Call& call, const Tensor& self) { return op(call, "aten::matrix_H", self); });
  define("aten::mT.a", [](Call& call, const Tensor& self) { return op(call, "aten::mT", self); });
  define("aten::mH.a", [](Call& call, const Tensor& self) { return op(call, "aten::mH", self); });
  define("prim::abs", [](Call& call, const Tensor& self) { return op(call, "aten::abs", self); });
  define("aten::einsum.sublist", einsum);
  define("aten::split", [](Call& call, const Tensor& self, ListBox& sizes, int64_t dim) {
    Dims numbers;
    for (const IValue& item : sizes.items) numbers.push_back(item.as_int());
    const Value arguments[] = {self, numbers, dim};
    return to_ivalue(call_op(call, "aten::split_with_sizes", arguments), Type::list(TypeKind::kTensor));
  });
  define("prim::VarConcat", [](Call& call) {
    call.give(op(call, "aten::cat", leading_tensors(call), call[call.size() - 1].as_int()));
  });
  define("prim::VarStack", [](Call& call) {
    call.give(op(call, "aten::stack", leading_tensors(call), call[call.size() - 1].as_int()));
  });
  define("aten::_grad_sum_to_size", [](Call& call, const Tensor& self, const IValue& size) {
    if (size.is_none()) return call[0];
    return IValue(op(call, "aten::sum_to_size", self, to_value(size, Type::list(TypeKind::kInt))));
  });
  define("onnx::Reshape", [](Call& call, const Tensor& input, const Tensor& shape) {
    Dims sizes;
    const Tensor flat = shape.to_contiguous();
    for (int64_t i = 0; i < flat.element_count(); ++i) sizes.push_back(flat.data<int64_t>()[i]);
    return op(call, "aten::reshape", input, sizes);
  });
}

}  // namespace flambeau::interpreter
