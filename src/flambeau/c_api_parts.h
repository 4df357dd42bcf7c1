// What the parts of the C API share: handles, and exceptions turned into a status and a text.
#pragma once

#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "flambeau/base/error.h"
#include "flambeau/c_api.h"
#include "flambeau/tensor/tensor.h"

struct flambeau_tensor {
  flambeau::Tensor tensor;
};

struct flambeau_cancel {
  std::atomic<bool> flag = false;
};

namespace flambeau::c {

struct Failure {
  std::string message;
  std::string remedy;
};
// The one thing a thread keeps between calls: C has no other place for the text of a failure.
Failure& last_failure();
flambeau_status status_of(ErrorCode code);

// Runs the body; no exception leaves it.
template <typename Body>
flambeau_status guarded(const Body& body) noexcept {
  try {
    try {
      body();
      return FLAMBEAU_OK;
    } catch (const Error& error) {
      last_failure() = {error.what(), error.remedy()};
      return status_of(error.code());
    } catch (const std::bad_alloc&) {
      last_failure() = {"there is not enough memory", ""};
      return FLAMBEAU_LIMIT;
    } catch (const std::exception& error) {
      last_failure() = {error.what(), ""};
      return FLAMBEAU_INTERNAL;
    }
  } catch (...) {
    return FLAMBEAU_INTERNAL;  // not even memory for the text
  }
}

inline void require(bool condition, std::string_view message) {
  if (!condition) throw Error(ErrorCode::kInvalidArgument, std::string(message));
}

// Throws Error(kInvalidArgument).
DType read_dtype(int32_t number);
// A caller in C can write any number there.
int32_t kind_of(const flambeau_value& value);
// A value without others in it, as programs and scripts hold it; nothing for another kind. Throws
// Error(kInvalidArgument) that says what is NULL.
template <typename Made>
std::optional<Made> read_plain(const flambeau_value& value, const std::string& what) {
  switch (kind_of(value)) {
    case FLAMBEAU_NONE:
      return Made();
    case FLAMBEAU_TENSOR_VALUE:
      require(value.as.tensor != nullptr, what + " is a tensor that is NULL");
      return Made(value.as.tensor->tensor);
    case FLAMBEAU_INT_VALUE:
      return Made(value.as.integer);
    case FLAMBEAU_FLOAT_VALUE:
      return Made(value.as.number);
    case FLAMBEAU_BOOL_VALUE:
      return Made(value.as.flag != 0);
    case FLAMBEAU_STRING_VALUE:
      require(value.as.text != nullptr, what + " is a string that is NULL");
      return Made(std::string(value.as.text));
    default:
      return std::nullopt;
  }
}
// The text of a result, of malloc's so that a value can be cleared without knowing more.
char* copy_text(const std::string& text);

}  // namespace flambeau::c
