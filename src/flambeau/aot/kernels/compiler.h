// Runs the system's C compiler: source in, a shared library out. It is called by its own path with arguments
// that are all ours, in a folder of its own that nobody else can enter, with an environment that says nothing
// of the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau::aot {

// The absolute path of the compiler: of that name or path, for none of cc, gcc or clang, whichever PATH has
// first. Throws Error(kNotFound) with a remedy.
std::string find_compiler(const std::string& given);

// Throws Error(kUnsupported) with the compiler's first words where it fails, Error(kLimit) where it takes
// minutes.
std::vector<uint8_t> compile_kernels(const std::string& compiler, std::string_view source);

}  // namespace flambeau::aot
