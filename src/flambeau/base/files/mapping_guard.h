// A mapped file that somebody cuts short has pages without bytes, and touching one ends a process (SIGBUS).
// A guarded range gets pages of zeros there instead, and remembers that it did.
#pragma once

#include <cstddef>

namespace flambeau {

class MappingGuard {
 public:
  // The first one in a process installs a handler of SIGBUS, which hands faults outside of guarded ranges to
  // the handler that was there before. A program that installs one later hands the faults that are not its
  // own to this one, or goes without the guard.
  MappingGuard(const void* begin, size_t size);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  // Whether zeros stand where the file has no bytes.
  bool was_hit() const;

 private:
  struct Range;
  struct Chunk;
  struct Registry;
  static Registry& registry();
  static void handle(int number, void* info, void* context);

  Range* range_;
};

}  // namespace flambeau
