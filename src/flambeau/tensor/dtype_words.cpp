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

}  // namespace flambeau
