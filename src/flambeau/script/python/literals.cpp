// Values as Python makes them.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"
#include "flambeau/script/python/file.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/tensor/elements/convert.h"

namespace flambeau::script {

namespace {

constexpr int kMostLiteralNesting = 200;
// Longer ones are bytes, as text.
constexpr int64_t kMostWrittenElements = 32;
constexpr uint64_t kMostTensorBytes = uint64_t{1} << 30;

std::string encoded(ByteSpan bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? bytes[i + k] : 0U);
    for (size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string joined(std::span<const int64_t> numbers) {
  std::string text;
  for (const int64_t number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return text;
}

// Of types whose values Python's numbers hold.
bool has_plain_numbers(const DTypeInfo& info) {
  return info.per_byte == 1 && !info.is_complex && !info.is_quantized && info.dtype != DType::kUInt64 &&
         (info.is_floating || info.dtype == DType::kBool || info.word == info.size) &&
         can_convert(info.dtype, info.is_floating ? DType::kFloat64 : DType::kInt64);
}

// "1.0, 2.5".
std::string numbers_of(const Tensor& tensor) {
  std::string text;
  const auto add = [&](const std::string& number) {
    if (!text.empty()) text += ", ";
    text += number;
  };
  const auto count = static_cast<size_t>(tensor.element_count());
  if (dtype_info(tensor.dtype()).is_floating) {
    const Tensor doubles = convert(tensor, DType::kFloat64);
    for (size_t i = 0; i < count; ++i) {
      const double number = doubles.data<double>()[i];
      const bool is_short = tensor.dtype() != DType::kFloat64 && std::isfinite(number);
      std::string digits = is_short ? fmt::format("{}", static_cast<float>(number)) : python_float(number);
      if (is_short && digits.find_first_of(".e") == std::string::npos) digits += ".0";
      add(digits);
    }
    return text;
  }
  const Tensor integers = convert(tensor, DType::kInt64);
  for (size_t i = 0; i < count; ++i) {
    const int64_t number = integers.data<int64_t>()[i];
    add(tensor.dtype() == DType::kBool ? (number != 0 ? "True" : "False") : std::to_string(number));
  }
  return text;
}

DType integers_of(DType quantized) {
  switch (quantized) {
    case DType::kQInt8:
      return DType::kInt8;
    case DType::kQUInt8:
      return DType::kUInt8;
    case DType::kQInt32:
      return DType::kInt32;
    default:
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("a tensor of {} outside of the state dict cannot be written as Python",
                              dtype_name(quantized)));
  }
}

}  // namespace

std::string python_quoted(std::string_view text) {
  const bool is_utf8 = is_valid_utf8(text);
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == '"') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string python_float(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "-float(\"inf\")" : "float(\"inf\")";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string PythonFile::items_text(const std::vector<IValue>& items) {
  std::string text;
  for (const IValue& item : items) {
    if (!text.empty()) text += ", ";
    text += literal(item);
  }
  return text;
}

std::string PythonFile::literal(const IValue& value) {
  struct Deeper {
    explicit Deeper(int& of) : depth(of) {
      if (++depth > kMostLiteralNesting) {
        throw Error(ErrorCode::kLimit, "a value is nested too deep to be written as Python");
      }
    }
    ~Deeper() { --depth; }
    int& depth;
  } const deeper(depth_);
  switch (value.tag()) {
    case IValue::Tag::kNone:
    case IValue::Tag::kUninitialized:
      return "None";
    case IValue::Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case IValue::Tag::kInt:
      return std::to_string(value.as_int());
    case IValue::Tag::kFloat:
      return python_float(value.as_float());
    case IValue::Tag::kComplex:
      return fmt::format("complex({}, {})", python_float(value.as_complex().real()),
                         python_float(value.as_complex().imag()));
    case IValue::Tag::kString:
      return python_quoted(value.as_string());
    case IValue::Tag::kDevice:
      return fmt::format("torch.device({})", python_quoted(value.as_device().to_string()));
    case IValue::Tag::kTensor:
      return tensor_text(value.as_tensor());
    case IValue::Tag::kTuple: {
      const Class* const named = value.as_tuple().named.get();
      if (named != nullptr)
        return class_name(named->qualified_name()) + "(" + items_text(value.items()) + ")";
      return "(" + items_text(value.items()) + (value.items().size() == 1 ? ",)" : ")");
    }
    case IValue::Tag::kList:
      return "[" + items_text(value.items()) + "]";
    case IValue::Tag::kDict: {
      std::string text;
      for (const DictItems::Entry& entry : value.as_dict().items.entries()) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", literal(entry.key), literal(entry.value));
      }
      return "{" + text + "}";
    }
    case IValue::Tag::kEnum:
      return class_name(value.as_enum().type->qualified_name()) + "." + value.as_enum().name;
    case IValue::Tag::kObject:
      return object_text(value);
    case IValue::Tag::kNative: {
      const Object& object = value.as_native().object;
      if (!native_state_) break;
      const std::string state = literal(native_state_(object));
      return fmt::format("{}({}, {})", need("make_native"), python_quoted(object.class_name), state);
    }
    case IValue::Tag::kFuture:
    case IValue::Tag::kSymbolic:
      break;
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("a value of type {} cannot be written as Python", printable(value.kind_name())));
}

std::string PythonFile::object_text(const IValue& value) {
  const ObjectBox& object = value.as_object();
  if (object.type->is_module()) {
    throw Error(ErrorCode::kUnsupported, fmt::format("{} is a module inside of a list, a dict or an object, "
                                                     "which cannot be written as Python",
                                                     printable(object.type->qualified_name())));
  }
  std::string text = fmt::format("{}({}", need("make_object"), class_name(object.type->qualified_name()));
  for (size_t i = 0; i < object.slots.size(); ++i) {
    text += fmt::format(", {}={}", object.type->attributes.at(i).name, literal(object.slots[i]));
  }
  return text + ")";
}

std::string PythonFile::tensor_text(const Tensor& tensor) {
  if (!tensor.defined()) return "None";
  if (!tensor.is_meta() && tensor.byte_count() > kMostTensorBytes) {
    throw Error(ErrorCode::kLimit,
                fmt::format("a tensor of {} bytes is in no state dict, and too large for a text",
                            tensor.byte_count()));
  }
  const bool is_plain =
      tensor.layout() == Layout::kStrided && tensor.quantizer() == nullptr && !tensor.is_meta();
  if (is_plain && tensor.dim() == 0) return strided_text(tensor);
  const size_t index = table_.add(tensor);
  if (index == constants_.size()) {
    constants_.emplace_back();
    constants_[index] = tensor.layout() == Layout::kStrided ? strided_text(tensor) : sparse_text(tensor);
  }
  return fmt::format("CONSTANT_{}", index);
}

std::string PythonFile::strided_text(const Tensor& tensor) {
  const std::string sizes = "[" + joined(tensor.sizes()) + "]";
  const std::string dtype = dtype_text(static_cast<int64_t>(tensor.dtype()));
  if (tensor.is_meta()) return fmt::format("torch.empty({}, dtype={}, device=\"meta\")", sizes, dtype);
  if (const Quantizer* const quantizer = tensor.quantizer()) {
    Tensor contiguous = tensor.to_contiguous();
    const Tensor integers = Tensor::contiguous(
        integers_of(tensor.dtype()), tensor.sizes(),
        Storage::own({contiguous.contiguous_bytes().begin(), contiguous.contiguous_bytes().end()}));
    if (!quantizer->is_per_channel()) {
      return fmt::format("torch._make_per_tensor_quantized_tensor({}, {}, {})", strided_text(integers),
                         python_float(quantizer->scale), quantizer->zero_point);
    }
    return fmt::format("torch._make_per_channel_quantized_tensor({}, {}, {}, {})", strided_text(integers),
                       strided_text(quantizer->scales), strided_text(quantizer->zero_points),
                       quantizer->axis);
  }
  const Tensor contiguous = tensor.to_contiguous();
  const int64_t count = tensor.element_count();
  if (count == 0 || count > kMostWrittenElements || !has_plain_numbers(dtype_info(tensor.dtype()))) {
    const std::string strides = tensor.is_contiguous() ? "" : fmt::format(", [{}]", joined(tensor.strides()));
    return fmt::format("{}(\"{}\", {}, {}{})", need("decode"), encoded(contiguous.contiguous_bytes()), dtype,
                       sizes, strides);
  }
  std::string text = numbers_of(contiguous);
  if (tensor.dim() == 0) return fmt::format("torch.tensor({}, dtype={})", text, dtype);
  text = fmt::format("torch.tensor([{}], dtype={})", text, dtype);
  return tensor.dim() == 1 ? text : fmt::format("{}.reshape({})", text, sizes);
}

std::string PythonFile::sparse_text(const Tensor& tensor) {
  if (tensor.layout() != Layout::kSparseCoo) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a {} tensor outside of the state dict cannot be written as Python",
                            layout_name(tensor.layout())));
  }
  const SparseParts& parts = *tensor.sparse_parts();
  return fmt::format("torch.sparse_coo_tensor({}, {}, [{}], is_coalesced={})", strided_text(parts.indices),
                     strided_text(parts.values), joined(tensor.sizes()),
                     parts.is_coalesced ? "True" : "False");
}

}  // namespace flambeau::script
