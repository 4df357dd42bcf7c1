#include "flambeau/aot/kernels/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/aot/memory_library.h"
#include "flambeau/archive/elf/reader.h"
#include "flambeau/base/error.h"

namespace flambeau::aot {
namespace {

constexpr std::string_view kMagic("flambeau kernels", 16);
constexpr uint32_t kVersion = 1;
constexpr size_t kAlignment = 64;  // of the library

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

[[noreturn]] void fail_unsafe(std::string what) {
  throw Error(ErrorCode::kUnsafe, fmt::format("the library of kernels {}", what));
}

}  // namespace

KernelKey key_of(std::string_view code) {
  Sha256 hash;
  hash.add(as_bytes(code));
  return hash.finish();
}

std::vector<uint8_t> write_kernels(const KernelTable& table) {
  ByteWriter writer;
  writer.text(kMagic);
  writer.le(kVersion);
  writer.le(static_cast<uint32_t>(table.keys.size()));
  writer.le(static_cast<uint64_t>(table.library.size()));
  for (const KernelKey& key : table.keys) writer.bytes(key);
  writer.fill(aligned(writer.size()) - writer.size(), '\0');
  writer.bytes(table.library);
  const ByteSpan bytes = writer.view();
  return {bytes.begin(), bytes.end()};
}

KernelTable read_kernels(ByteSpan bytes) {
  ByteReader reader(bytes);
  if (reader.text(kMagic.size(), "the kernels' first bytes") != kMagic)
    reader.fail_at(0, "these are no kernels");
  const auto version = reader.le<uint32_t>("their version");
  if (version != kVersion) reader.fail(fmt::format("kernels of version {}, not {}", version, kVersion));
  const auto count = reader.le<uint32_t>("the number of kernels");
  const auto size = reader.le<uint64_t>("the size of their library");
  ByteReader keys(reader.bytes(uint64_t{count} * sizeof(KernelKey), "the keys of kernels"), reader.offset());
  KernelTable table;
  table.keys.resize(count);
  for (KernelKey& key : table.keys) std::ranges::copy(keys.bytes(key.size(), "a key"), key.begin());
  reader.seek(std::min(aligned(reader.offset()), bytes.size()), "the library of kernels");
  table.library = reader.bytes(size, "the library of kernels");
  return table;
}

std::span<const Isa> kernel_levels() {
#if defined(__x86_64__)
  static constexpr Isa kLevels[] = {Isa::kBase, Isa::kAvx2, Isa::kAvx512};
#else
  static constexpr Isa kLevels[] = {Isa::kBase};
#endif
  return kLevels;
}

std::string_view level_name(Isa level) {
  return level == Isa::kAvx512 ? "avx512" : level == Isa::kAvx2 ? "avx2" : "base";
}

std::string kernel_name(size_t number, Isa level) {
  return fmt::format("kernel_{}_{}", number, level_name(level));
}

void check_kernel_library(ByteSpan library, size_t functions) {
  const elf::Library tables = elf::read(library);
  if (tables.machine != kOwnMachine || !tables.is_shared) {
    throw Error(ErrorCode::kUnsupported, fmt::format("the library of kernels is for {}, this machine is {}",
                                                     printable(tables.machine), kOwnMachine));
  }
  if (!tables.needed.empty()) fail_unsafe(fmt::format("needs another, '{}'", printable(tables.needed[0])));
  if (!tables.search_paths.empty()) fail_unsafe("looks for others");
  if (!tables.imports.empty())
    fail_unsafe(fmt::format("takes '{}' from outside", printable(tables.imports[0].name)));
  if (tables.initializers + tables.finalizers + tables.indirect_relocations != 0)
    fail_unsafe("has code that runs when it is loaded");
  if (tables.relocations != 0 || tables.has_text_relocations) fail_unsafe("is changed while it is loaded");
  if (tables.has_executable_stack) fail_unsafe("makes the stack executable");
  for (const elf::Segment& segment : tables.segments) {
    if (segment.is_writable && segment.is_executable) fail_unsafe("has code that can be written to");
  }
  for (size_t i = 0; i < functions; ++i) {
    for (const Isa level : kernel_levels()) {
      const std::string name = kernel_name(i, level);
      const elf::Symbol* const found = tables.find_export(name);
      if (found == nullptr || found->kind != elf::SymbolKind::kFunction)
        throw Error(ErrorCode::kCorrupt, fmt::format("the library of kernels has no function '{}'", name));
    }
  }
}

}  // namespace flambeau::aot
