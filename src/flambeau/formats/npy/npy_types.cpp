#include "flambeau/formats/npy/npy_types.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

struct Code {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr Code kCodes[] = {
    {"b1", DType::kBool},      {"i1", DType::kInt8},        {"i2", DType::kInt16},   {"i4", DType::kInt32},
    {"i8", DType::kInt64},     {"u1", DType::kUInt8},       {"u2", DType::kUInt16},  {"u4", DType::kUInt32},
    {"u8", DType::kUInt64},    {"f2", DType::kFloat16},     {"f4", DType::kFloat32}, {"f8", DType::kFloat64},
    {"c8", DType::kComplex64}, {"c16", DType::kComplex128},
};

[[noreturn]] void unsupported(std::string message, std::string remedy) {
  throw Error(ErrorCode::kUnsupported, std::move(message), std::move(remedy));
}

}  // namespace

NpyType parse_npy_type(std::string_view descr) {
  const std::string shown = printable(descr);
  const std::string_view order = descr.substr(0, descr.find_first_not_of("<>|="));
  const std::string_view code = descr.substr(order.size());
  if (order.size() != 1 || code.empty()) {
    throw Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a NumPy type such as '<f4'", shown));
  }
  switch (code[0]) {
    case 'O':
      throw Error(ErrorCode::kUnsafe, "the array holds pickled objects, which can run any code when loaded",
                  "save it with a numeric type");
    case 'V':
      unsupported(
          fmt::format("the array is of type '{}': NumPy kept the size of a type and not its name, as it "
                      "does for bfloat16 and float8",
                      shown),
          "save it as float32, or in a safetensors file");
    case 'S':
    case 'U':
    case 'a':
    case 'T':
      unsupported(fmt::format("the array is of type '{}': text, not numbers", shown), "");
    case 'M':
    case 'm':
      unsupported(fmt::format("the array is of type '{}': times, not numbers", shown), "save it as int64");
    default:
      break;
  }
  for (const Code& entry : kCodes) {
    if (entry.code != code) continue;
    const bool is_single = dtype_info(entry.dtype).word == 1;
    if (!is_single && order != "<" && order != ">") {
      throw Error(ErrorCode::kCorrupt, fmt::format("the type '{}' has no byte order", shown));
    }
    return {entry.dtype, order == ">" && !is_single};
  }
  unsupported(fmt::format("the array is of type '{}', which PyTorch does not have", shown),
              "save it as float32 or float64");
}

std::optional<std::string> npy_type_code(DType dtype) {
  for (const Code& entry : kCodes) {
    if (entry.dtype == dtype) return (dtype_size(dtype) == 1 ? "|" : "<") + std::string(entry.code);
  }
  return std::nullopt;
}

}  // namespace flambeau
