#include "flambeau/formats/pt2/enums.h"

#include <fmt/format.h>

#include <iterator>

#include "flambeau/base/error.h"

namespace flambeau::pt2 {
namespace {

template <typename T>
struct Number {
  T value;
  int64_t number;
};

constexpr Number<DType> kDTypes[] = {
    {DType::kUInt8, 1},           {DType::kInt8, 2},
    {DType::kInt16, 3},           {DType::kInt32, 4},
    {DType::kInt64, 5},           {DType::kFloat16, 6},
    {DType::kFloat32, 7},         {DType::kFloat64, 8},
    {DType::kComplex32, 9},       {DType::kComplex64, 10},
    {DType::kComplex128, 11},     {DType::kBool, 12},
    {DType::kBFloat16, 13},       {DType::kUInt16, 28},
    {DType::kFloat8E4M3FN, 29},   {DType::kFloat8E5M2, 30},
    {DType::kFloat8E4M3FNUZ, 31}, {DType::kFloat8E5M2FNUZ, 32},
    {DType::kFloat8E8M0FNU, 33},  {DType::kUInt32, 34},
    {DType::kUInt64, 35},
};
constexpr Number<Layout> kLayouts[] = {
    {Layout::kSparseCoo, 1}, {Layout::kSparseCsr, 2}, {Layout::kSparseCsc, 3}, {Layout::kSparseBsr, 4},
    {Layout::kSparseBsc, 5}, {Layout::kMkldnn, 6},    {Layout::kStrided, 7},
};
constexpr Number<MemoryFormat> kMemoryFormats[] = {
    {MemoryFormat::kContiguous, 1},
    {MemoryFormat::kChannelsLast, 2},
    {MemoryFormat::kChannelsLast3d, 3},
    {MemoryFormat::kPreserve, 4},
};

template <typename T, size_t kCount>
T from_number(const Number<T> (&table)[kCount], int64_t number, std::string_view what) {
  for (const Number<T>& entry : table) {
    if (entry.number == number) return entry.value;
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} is not the number of {} that this version knows", number, what));
}

template <typename T, size_t kCount>
int64_t to_number(const Number<T> (&table)[kCount], T value, std::string_view what) {
  for (const Number<T>& entry : table) {
    if (entry.value == value) return entry.number;
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("exported programs have no number for {}", what));
}

}  // namespace

DType dtype_from_schema(int64_t number) { return from_number(kDTypes, number, "an element type"); }
int64_t schema_number(DType dtype) {
  return to_number(kDTypes, dtype, fmt::format("the element type {}", dtype_name(dtype)));
}
Layout layout_from_schema(int64_t number) { return from_number(kLayouts, number, "a layout"); }
int64_t schema_number(Layout layout) { return to_number(kLayouts, layout, "this layout"); }
MemoryFormat memory_format_from_schema(int64_t number) {
  return from_number(kMemoryFormats, number, "a memory format");
}
int64_t schema_number(MemoryFormat format) { return to_number(kMemoryFormats, format, "this memory format"); }

}  // namespace flambeau::pt2
