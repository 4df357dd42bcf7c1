#include "flambeau/tensor/dtype_words.h"

#include <string>

#include "flambeau/base/text.h"

namespace flambeau {
namespace {

struct ShortName {
  std::string_view name;
  DType dtype;
};
using enum DType;

constexpr ShortName kShortNames[] = {
    {"bf16", kBFloat16}, {"f16", kFloat16},  {"fp16", kFloat16}, {"f32", kFloat32}, {"fp32", kFloat32},
    {"f64", kFloat64},   {"fp64", kFloat64}, {"i8", kInt8},      {"i16", kInt16},   {"i32", kInt32},
    {"i64", kInt64},     {"u8", kUInt8},     {"u16", kUInt16},   {"u32", kUInt32},  {"u64", kUInt64},
    {"boolean", kBool},  {"byte", kUInt8},   {"char", kInt8},
};

}  // namespace

std::optional<DType> parse_dtype(std::string_view text) {
  const std::string name = lowered(text);
  if (const std::optional<DType> dtype = dtype_from_name(name)) return dtype;
  for (const ShortName& alias : kShortNames) {
    if (alias.name == name) return alias.dtype;
  }
  return std::nullopt;
}

std::string_view dtype_word(DType dtype) {
  switch (dtype) {
    case kUInt8:
      return "Byte";
    case kInt8:
      return "Char";
    case kInt16:
      return "Short";
    case kInt32:
      return "Int";
    case kInt64:
      return "Long";
    case kFloat16:
      return "Half";
    case kFloat32:
      return "Float";
    case kFloat64:
      return "Double";
    case kComplex32:
      return "ComplexHalf";
    case kComplex64:
      return "ComplexFloat";
    case kComplex128:
      return "ComplexDouble";
    case kBool:
      return "Bool";
    case kBFloat16:
      return "BFloat16";
    case kQInt8:
      return "QInt8";
    case kQUInt8:
      return "QUInt8";
    case kQInt32:
      return "QInt32";
    default:
      return dtype_name(dtype);
  }
}

}  // namespace flambeau
