// Reads an ELF shared library as its loader would, and runs none of it: what it needs, what it takes from
// other libraries, what it offers, and what of it runs by loading alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau::elf {

// By its first bytes.
bool looks_like_elf(ByteSpan bytes);

enum class SymbolKind : uint8_t { kNone, kObject, kFunction, kThreadLocal, kIndirect, kOther };

struct Symbol {
  std::string_view name;
  SymbolKind kind = SymbolKind::kNone;
  bool is_weak = false;
  uint64_t address = 0;  // 0 for what other libraries give
  uint64_t size = 0;
};

// What is asked of another library beside its symbols: {"libc.so.6", "GLIBC_2.34"}.
struct VersionNeed {
  std::string_view library;
  std::string_view version;
};

struct Segment {
  uint64_t offset = 0;
  uint64_t file_size = 0;
  uint64_t address = 0;
  uint64_t memory_size = 0;
  bool is_writable = false;
  bool is_executable = false;
};

// Names are views of the file's bytes, which must outlive it. They are a stranger's: print them with
// printable().
struct Library {
  std::string machine;  // "x86-64", "aarch64", else "machine 8"
  bool is_shared = false;
  std::vector<Segment> segments;  // those that are loaded, by address
  std::string_view soname;
  std::vector<std::string_view> needed;
  std::vector<std::string_view> search_paths;  // DT_RPATH and DT_RUNPATH
  std::vector<VersionNeed> versions;
  std::vector<Symbol> imports;
  std::vector<Symbol> exports;

  // What runs by loading it, before anybody calls a function.
  size_t initializers = 0;          // DT_INIT, DT_INIT_ARRAY, DT_PREINIT_ARRAY
  size_t finalizers = 0;            // the same when it is unloaded
  size_t indirect_relocations = 0;  // each calls a function that says where another one is
  size_t relocations = 0;

  bool has_text_relocations = false;  // the loader writes into the code
  bool has_executable_stack = false;

  const Symbol* find_export(std::string_view name) const;
  // What lies at an address once it is loaded, as the file has it. Throws Error(kCorrupt) where the file does
  // not have all of it.
  ByteSpan bytes_at(uint64_t address, uint64_t size) const;

  ByteSpan file;
};

// Throws Error(kCorrupt) located at the byte, Error(kUnsupported) for files of 32 bits, of big-endian
// machines, or without what a loader reads, Error(kLimit) for absurd numbers of things.
Library read(ByteSpan bytes);

}  // namespace flambeau::elf
