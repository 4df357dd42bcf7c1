// Loads a shared library whose bytes are in memory: its code is then this process's own. Whoever calls this
// has checked the tables, and was asked to run the code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flambeau/base/bytes.h"

namespace flambeau::aot {

// As elf::Library has it.
constexpr std::string_view kOwnMachine =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "";
#endif

enum class Binding : uint8_t {
  kShared,
  kOwnFirst,  // to what it needs itself, before what the process has of that name
};

class MemoryLibrary {
 public:
  // Its constructors run. Throws Error(kIo), Error(kUnsupported) with the loader's words. `name` is for maps
  // of the process's memory.
  MemoryLibrary(const char* name, ByteSpan bytes, Binding binding);
  ~MemoryLibrary();
  MemoryLibrary(const MemoryLibrary&) = delete;
  MemoryLibrary& operator=(const MemoryLibrary&) = delete;
  // Null where it has none of that name.
  void* find(const std::string& name) const;

 private:
  int fd_ = -1;
  void* handle_ = nullptr;
};

}  // namespace flambeau::aot
