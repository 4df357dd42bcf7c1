// Numbers and lists of them to tensors, and back.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/tensor/dtype_words.h"
#include "flambeau/value/scalar.h"

namespace flambeau::interpreter {
namespace {

using script::ListBox;
using Tag = IValue::Tag;

DType default_float(Call& call) { return call.machine().options().default_dtype; }
DType default_complex(Call& call) {
  return default_float(call) == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

Tensor of_float(Call& call, double number) {
  const DType dtype = default_float(call);
  if (dtype == DType::kFloat32 && std::isfinite(number) &&
      std::fabs(number) > std::numeric_limits<float>::max())
    throw Error(ErrorCode::kInvalidArgument, "value cannot be converted to type float without overflow");
  return ops::scalar_tensor(number, dtype);
}

Tensor cast(Call& call, Tensor tensor, const IValue& dtype, const IValue& device, bool requires_grad) {
  const DType to = dtype.is_none() ? tensor.dtype() : dtype_of(dtype);
  const Device at = device.is_none() ? tensor.device() : device.as_device();
  if (to != tensor.dtype() || !(at == tensor.device())) {
    const Value arguments[] = {tensor, at, to};
    tensor = call_tensor(call, "aten::to.device", arguments);
  }
  const DTypeInfo& info = dtype_info(tensor.dtype());
  if (requires_grad && !info.is_floating && !info.is_complex) {
    throw Error(ErrorCode::kInvalidArgument,
                "Only Tensors of floating point and complex dtype can require gradients");
  }
  tensor.set_requires_grad(requires_grad);
  return tensor;
}

// As PyTorch says it, in a line of its own.
constexpr std::string_view kEmptyList =
    "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty "
    "list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for "
    "Python 2)";

DType dtype_of_elements(Call& call, const Type& element, bool is_empty) {
  switch (element.kind()) {
    case TypeKind::kInt:
      return DType::kInt64;
    case TypeKind::kFloat:
      return default_float(call);
    case TypeKind::kBool:
      return DType::kBool;
    case TypeKind::kComplex:
      return default_complex(call);
    default:
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("Input must be of ints, floats, or bools, got {}{}",
                              printable(element.to_string()), is_empty ? kEmptyList : std::string_view()));
  }
}

Scalar scalar_of(const IValue& value) {
  switch (value.tag()) {
    case Tag::kBool:
      return value.as_bool();
    case Tag::kInt:
      return value.as_int();
    case Tag::kComplex:
      return value.as_complex();
    default:
      return value.as_float();
  }
}

void store(const ListBox& list, std::span<const int64_t> sizes, size_t dim, DType dtype, uint8_t*& to) {
  if (static_cast<int64_t>(list.items.size()) != sizes[dim]) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("Expected sequence of length {} at dim {} (got {})",
                                                         sizes[dim], dim, list.items.size()));
  }
  for (const IValue& item : list.items) {
    if (dim + 1 < sizes.size()) {
      store(item.as_list(), sizes, dim + 1, dtype, to);
      continue;
    }
    ops::store_number(scalar_of(item), dtype, to);
    to += dtype_size(dtype);
  }
}

// A list of lists, as deep as types go.
Tensor tensor_of_list(Call& call, const ListBox& data) {
  Dims sizes;
  const ListBox* list = &data;
  while (true) {
    sizes.push_back(static_cast<int64_t>(list->items.size()));
    if (list->items.empty() || !list->items[0].is(Tag::kList)) break;
    list = &list->items[0].as_list();
  }
  Type element = data.element;
  while (element.is(TypeKind::kList)) element = Type(element.element());
  const DType dtype = dtype_of_elements(call, element, data.items.empty());
  Tensor tensor = Tensor::zeros(dtype, sizes);
  if (tensor.element_count() > 0) {
    uint8_t* to = tensor.mutable_data();
    store(data, sizes, 0, dtype, to);
  }
  return tensor;
}

template <typename T>
IValue loaded(DType from, const uint8_t* data, DType as) {
  T value{};
  ops::load_packed(from, data, 0, 1, as, &value);
  return value;
}

IValue element_at(DType dtype, const uint8_t* data, TypeKind kind) {
  switch (kind) {
    case TypeKind::kComplex:
      return loaded<Complex>(dtype, data, DType::kComplex128);
    case TypeKind::kFloat:
      return loaded<double>(dtype, data, DType::kFloat64);
    case TypeKind::kBool:
      return *data != 0;
    default:
      return loaded<int64_t>(dtype, data, DType::kInt64);
  }
}

IValue listed(const Tensor& tensor, size_t dim, const Type& type, TypeKind kind, const uint8_t* data) {
  if (dim == tensor.dim()) return element_at(tensor.dtype(), data, kind);
  std::vector<IValue> items;
  for (int64_t i = 0; i < tensor.sizes()[dim]; ++i)
    items.push_back(listed(tensor, dim + 1, type.element(), kind, data + i * tensor.byte_stride(dim)));
  return IValue::list(type.element(), std::move(items));
}

IValue to_list(const Tensor& tensor, int64_t dims, int64_t number) {
  static constexpr TypeKind kKinds[] = {TypeKind::kInt, TypeKind::kFloat, TypeKind::kBool,
                                        TypeKind::kComplex};
  if (number < 0 || number > 3) {
    throw Error(ErrorCode::kInvalidArgument,
                "Unsupported element type for tolist; only int, float, complex and bool are supported");
  }
  const TypeKind kind = kKinds[number];
  const DTypeInfo& info = dtype_info(tensor.dtype());
  const bool fits = (kind == TypeKind::kFloat && info.is_floating) ||
                    (kind == TypeKind::kComplex && info.is_complex) ||
                    (kind == TypeKind::kInt && tensor.dtype() == DType::kInt64) ||
                    (kind == TypeKind::kBool && tensor.dtype() == DType::kBool);
  if (!fits) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Output annotation element type and runtime tensor element type must match for "
                            "tolist(): {} vs {}",
                            kind == TypeKind::kFloat     ? "Float"
                            : kind == TypeKind::kComplex ? "ComplexDouble"
                            : kind == TypeKind::kInt     ? "Long"
                                                         : "Bool",
                            dtype_word(tensor.dtype())));
  }
  if (dims != static_cast<int64_t>(tensor.dim())) {
    throw Error(ErrorCode::kInvalidArgument,
                "Output annotation list dimension and runtime tensor dimension must match for tolist()");
  }
  require_room(static_cast<uint64_t>(tensor.element_count()), sizeof(IValue));
  Type type = kind;
  for (int64_t i = 0; i < dims; ++i) type = Type::list(std::move(type));
  return listed(tensor, 0, type, kind, tensor.element_count() == 0 ? nullptr : tensor.data());
}

void define_scalars(const Definer& define) {
  define("prim::NumToTensor.Scalar", [](const IValue& a) {
    const Scalar number = scalar_of(a);
    return ops::scalar_tensor(number, number.dtype());
  });
  define("prim::NumToTensor.bool", [](bool a) { return ops::scalar_tensor(a, DType::kBool); });
  define("aten::tensor.bool",
         [](Call& call, bool t, const IValue& dtype, const IValue& device, bool requires_grad) {
           return cast(call, ops::scalar_tensor(t, DType::kBool), dtype, device, requires_grad);
         });
  define("aten::tensor.int",
         [](Call& call, int64_t t, const IValue& dtype, const IValue& device, bool requires_grad) {
           return cast(call, ops::scalar_tensor(t, DType::kInt64), dtype, device, requires_grad);
         });
  define("aten::tensor.float",
         [](Call& call, double t, const IValue& dtype, const IValue& device, bool requires_grad) {
           return cast(call, of_float(call, t), dtype, device, requires_grad);
         });
  define("aten::tensor.complex",
         [](Call& call, Complex t, const IValue& dtype, const IValue& device, bool requires_grad) {
           return cast(call, ops::scalar_tensor(t, default_complex(call)), dtype, device, requires_grad);
         });
  define("aten::as_tensor.bool", [](Call& call, bool t, const IValue& dtype, const IValue& device) {
    return cast(call, ops::scalar_tensor(t, DType::kBool), dtype, device, false);
  });
  define("aten::as_tensor.int", [](Call& call, int64_t t, const IValue& dtype, const IValue& device) {
    return cast(call, ops::scalar_tensor(t, DType::kInt64), dtype, device, false);
  });
  define("aten::as_tensor.float", [](Call& call, double t, const IValue& dtype, const IValue& device) {
    return cast(call, of_float(call, t), dtype, device, false);
  });
  define("aten::as_tensor.complex", [](Call& call, Complex t, const IValue& dtype, const IValue& device) {
    return cast(call, ops::scalar_tensor(t, default_complex(call)), dtype, device, false);
  });
}

}  // namespace

void define_tensor_makers(Builtins& builtins) {
  const Definer define(builtins);
  define_scalars(define);
  define("aten::tensor",
         [](Call& call, ListBox& data, const IValue& dtype, const IValue& device, bool requires_grad) {
           return cast(call, tensor_of_list(call, data), dtype, device, requires_grad);
         });
  define("aten::as_tensor.list", [](Call& call, ListBox& data, const IValue& dtype, const IValue& device) {
    return cast(call, tensor_of_list(call, data), dtype, device, false);
  });
  define("prim::tolist", to_list);
  define("aten::_list_to_tensor", [](ListBox& list) {
    const int64_t sizes[] = {static_cast<int64_t>(list.items.size())};
    Tensor tensor = Tensor::zeros(DType::kInt32, sizes);
    for (size_t i = 0; i < list.items.size(); ++i) {
      const int64_t number = list.items[i].as_int();
      if (!std::in_range<int32_t>(number)) {
        throw Error(ErrorCode::kInvalidArgument, "value cannot be converted to type int without overflow");
      }
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(number);
    }
    return tensor;
  });
  define("aten::_tensor_to_list", [](const Tensor& tensor) {
    if (tensor.dim() != 1 || tensor.dtype() != DType::kInt32)
      throw Error(ErrorCode::kInvalidArgument, "expected scalar type Int, of one dimension");
    const Tensor flat = tensor.to_contiguous();
    std::vector<IValue> items;
    for (int64_t i = 0; i < flat.element_count(); ++i) items.emplace_back(int64_t{flat.data<int32_t>()[i]});
    return IValue::list(TypeKind::kInt, std::move(items));
  });
}

}  // namespace flambeau::interpreter
