// What a library of PyTorch's compiler holds where it thinks it holds a tensor of PyTorch, and what every
// function that it calls does around its body: no exception reaches the library, and the reason is kept.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "flambeau/base/error.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::ops {
class Context;
}

namespace flambeau::aot::native {

struct Box {
  Tensor tensor;
};
using Handle = Box*;

// What the functions that run operators work with, in this thread: C has no other way to tell them.
class Scope {
 public:
  explicit Scope(ops::Context& context);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Throws Error(kInternal) where no library runs.
  static ops::Context& context();

 private:
  ops::Context* outer_;
};

// Why the last function failed in this thread.
std::string& last_failure();
void keep_failure(std::string_view function) noexcept;

template <typename Body>
int32_t guarded(std::string_view function, const Body& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    keep_failure(function);
    return 1;
  }
}

// Throw Error(kInvalidArgument) for null.
const Tensor& at(Handle handle);
void give(Handle* to, Tensor tensor);

// A function that libraries call, by the name that they know.
struct Function {
  std::string_view name;
  const void* code = nullptr;
};
template <typename Code>
Function function(std::string_view name, Code* code) {
  return {name, reinterpret_cast<const void*>(code)};
}

std::span<const Function> tensor_functions();
std::span<const Function> value_functions();
std::span<const Function> operator_functions();
std::span<const Function> layer_functions();
std::span<const Function> vector_functions();

}  // namespace flambeau::aot::native
