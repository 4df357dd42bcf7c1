// A shared library of PyTorch's compiler, checked by its tables and loaded from memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flambeau/aot/native/box.h"
#include "flambeau/base/bytes.h"

namespace flambeau::aot {
class MemoryLibrary;
}

namespace flambeau::aot::native {

// Every function there is for libraries.
std::vector<Function> all_functions();

// The bytes with the name of PyTorch's library replaced by ours. Throws what load_native_package() does.
std::vector<uint8_t> checked(ByteSpan file);

class Library {
 public:
  // Loads it: its constructors run.
  explicit Library(ByteSpan file);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Throws Error(kUnsupported) where it has no such function.
  template <typename Code>
  Code* find(const std::string& name) const {
    return reinterpret_cast<Code*>(address(name));
  }

 private:
  void* address(const std::string& name) const;

  std::unique_ptr<MemoryLibrary> names_;
  std::unique_ptr<MemoryLibrary> code_;
};

}  // namespace flambeau::aot::native
