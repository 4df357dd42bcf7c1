// Operators in a shared library of their own, for programs that use ones which Flambeau does not have:
//
//   #include "flambeau/operators.h"
//
//   FLAMBEAU_OPERATORS_MODULE(library) {
//     library.add("my::scale(Tensor x, float factor) -> Tensor", {.function = scale, .shape = scale_shape});
//   }
//
// Built as a shared module it is named when a program is run: `flambeau run model.pt2 --operators my.so`, or
// load_operators() here. A module is code: it is opened only because its user named it, never because a model
// did.
//
// It calls functions of the program that opens it, which must export them: the flambeau command does; a
// program of yours does when it is linked with -rdynamic (CMake: ENABLE_EXPORTS). A module that links the
// library itself brings its own copy, and needs nothing of the program.
#pragma once

#include <cstdint>
#include <string>

#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau {

// What a module was compiled for. The two sides share C++ types, so that they must agree on their layout.
struct OperatorsVersion {
  // Counts changes of what modules use.
  uint32_t interface = 1;
  uint32_t value_bytes = sizeof(Value);
  uint32_t tensor_bytes = sizeof(Tensor);
  uint32_t context_bytes = sizeof(ops::Context);
  uint32_t operator_bytes = sizeof(ops::UserOperator);
  bool operator==(const OperatorsVersion&) const = default;
};

// Opens a module and adds its operators. It stays open until the process ends, since the library then calls
// into it. Throws Error(kNotFound) where there is no such file, Error(kUnsupported) for what is no module of
// operators or one for another version, and what adding them throws; located at the file.
void load_operators(const std::string& path, ops::Library& library);

}  // namespace flambeau

// Begins the function that adds a module's operators; once in a module.
#define FLAMBEAU_OPERATORS_MODULE(library)                                            \
  extern "C" __attribute__((visibility("default")))                                   \
  const flambeau::OperatorsVersion flambeau_operators_version;                        \
  extern "C" const flambeau::OperatorsVersion flambeau_operators_version = {};        \
  extern "C" __attribute__((visibility("default"))) void flambeau_register_operators( \
      flambeau::ops::Library& library);                                               \
  extern "C" void flambeau_register_operators(flambeau::ops::Library& library)
