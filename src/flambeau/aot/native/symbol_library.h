// A shared library that is nothing but names: each stands for an address of this process. A library that
// needs it is bound to those, whatever else is loaded beside.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "flambeau/aot/native/box.h"

namespace flambeau::aot::native {

constexpr std::string_view kLibraryName = "libflambeau.so";

// The bytes of an ELF file of this machine.
std::vector<uint8_t> symbol_library(std::span<const Function> functions);

}  // namespace flambeau::aot::native
