#include "flambeau/c_api_parts.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <optional>

namespace flambeau::c {

Failure& last_failure() {
  thread_local Failure failure;
  return failure;
}

flambeau_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return FLAMBEAU_INVALID_ARGUMENT;
    case ErrorCode::kCorrupt:
      return FLAMBEAU_CORRUPT;
    case ErrorCode::kUnsupported:
      return FLAMBEAU_UNSUPPORTED;
    case ErrorCode::kUnsafe:
      return FLAMBEAU_UNSAFE;
    case ErrorCode::kNotFound:
      return FLAMBEAU_NOT_FOUND;
    case ErrorCode::kIo:
      return FLAMBEAU_IO;
    case ErrorCode::kLimit:
      return FLAMBEAU_LIMIT;
    case ErrorCode::kCancelled:
      return FLAMBEAU_CANCELLED;
    case ErrorCode::kInternal:
      return FLAMBEAU_INTERNAL;
  }
  return FLAMBEAU_INTERNAL;
}

DType read_dtype(int32_t number) {
  const std::optional<DType> dtype = dtype_from_number(number);
  if (!dtype) throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is the number of no dtype", number));
  return *dtype;
}

int32_t kind_of(const flambeau_value& value) {
  int32_t kind = 0;
  static_assert(sizeof(kind) == sizeof(value.kind));
  std::memcpy(&kind, &value.kind, sizeof(kind));
  return kind;
}

char* copy_text(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace flambeau::c
