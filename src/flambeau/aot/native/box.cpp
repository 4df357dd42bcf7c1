#include "flambeau/aot/native/box.h"

#include <fmt/format.h>

#include <exception>

namespace flambeau::aot::native {
namespace {

thread_local ops::Context* current = nullptr;

}  // namespace

Scope::Scope(ops::Context& context) : outer_(current) { current = &context; }
Scope::~Scope() { current = outer_; }

ops::Context& Scope::context() {
  if (current == nullptr) throw Error(ErrorCode::kInternal, "an operator is called outside of a run");
  return *current;
}

std::string& last_failure() {
  thread_local std::string text;
  return text;
}

void keep_failure(std::string_view function) noexcept {
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      last_failure() = fmt::format("{}: {}", function, error.what());
    } catch (...) {
      last_failure() = function;
    }
  } catch (...) {
    // Not even memory for the text.
  }
}

const Tensor& at(Handle handle) {
  if (handle == nullptr) throw Error(ErrorCode::kInvalidArgument, "a tensor is NULL");
  return handle->tensor;
}

void give(Handle* to, Tensor tensor) {
  if (to != nullptr) *to = new Box{std::move(tensor)};
}

}  // namespace flambeau::aot::native
