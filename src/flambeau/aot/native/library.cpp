#include "flambeau/aot/native/library.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "flambeau/aot/memory_library.h"
#include "flambeau/aot/native/symbol_library.h"
#include "flambeau/archive/elf/reader.h"
#include "flambeau/base/error.h"

namespace flambeau::aot::native {
namespace {

constexpr std::string_view kTheirName = "libtorch_cpu.so";
// What compiled models need beside it.
constexpr std::string_view kUsual[] = {
    "libgomp.so.1",    "libstdc++.so.6",       "libgcc_s.so.1",        "libc.so.6", "libm.so.6", "libdl.so.2",
    "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"};

[[noreturn]] void fail(ErrorCode code, std::string message, std::string remedy = {}) {
  throw Error(code, std::move(message), std::move(remedy));
}

void check_tables(const elf::Library& library) {
  if (library.machine != kOwnMachine || !library.is_shared) {
    fail(ErrorCode::kUnsupported,
         fmt::format("the library is for {}, this machine is {}", printable(library.machine), kOwnMachine),
         "compile the model on such a machine");
  }
  for (const std::string_view needed : library.needed) {
    if (needed == kTheirName || std::ranges::find(kUsual, needed) != std::end(kUsual)) continue;
    fail(ErrorCode::kUnsafe,
         fmt::format("the library needs '{}', which compiled models of the CPU do not", printable(needed)));
  }
  if (!library.search_paths.empty())
    fail(ErrorCode::kUnsafe, "the library has others looked for in folders of its own choice");
  if (library.has_text_relocations)
    fail(ErrorCode::kUnsafe, "the library has its code rewritten while it is loaded");
}

bool is_of_host(std::string_view name) {
  return name.starts_with("aoti_") || name.starts_with("torch_") || name.starts_with("Sleef_") ||
         name.starts_with("_ZN2at") || name.starts_with("_ZN3c10") || name.starts_with("_ZNK2at") ||
         name.starts_with("_ZNK3c10") || name.starts_with("cblas_") || name.starts_with("mkl_");
}

void check_imports(const elf::Library& library) {
  std::set<std::string_view> known;
  for (const Function& each : all_functions()) known.insert(each.name);
  std::vector<std::string_view> missing;
  for (const elf::Symbol& symbol : library.imports) {
    if (is_of_host(symbol.name) && !symbol.is_weak && !known.contains(symbol.name))
      missing.push_back(symbol.name);
  }
  if (missing.empty()) return;
  fail(ErrorCode::kUnsupported,
       fmt::format("the library calls {}{}, which there is no counterpart of here", printable(missing[0]),
                   missing.size() == 1 ? "" : fmt::format(" and {} other functions", missing.size() - 1)),
       "run the exported program instead, from which the library was made");
}

// No other name may be spelt in the bytes that are replaced.
void rename(std::vector<uint8_t>& bytes, const elf::Library& library) {
  static_assert(kLibraryName.size() <= kTheirName.size());
  for (const std::string_view needed : library.needed) {
    if (needed != kTheirName) continue;
    const auto* const first = reinterpret_cast<const uint8_t*>(needed.data());
    const auto overlaps = [&](std::string_view name) {
      return name.data() > needed.data() && name.data() < needed.data() + needed.size();
    };
    const bool is_shared =
        std::ranges::any_of(library.imports, [&](const elf::Symbol& each) { return overlaps(each.name); }) ||
        std::ranges::any_of(library.exports, [&](const elf::Symbol& each) { return overlaps(each.name); }) ||
        std::ranges::any_of(library.needed, overlaps);
    if (is_shared) fail(ErrorCode::kUnsupported, "the library spells another name with the end of PyTorch's");
    uint8_t* const to = bytes.data() + (first - library.file.data());
    std::memset(to, 0, needed.size());
    std::memcpy(to, kLibraryName.data(), kLibraryName.size());
  }
}

// PyTorch's compiler puts the weights into an assembler file that does not say it needs no executable stack,
// so that every library of its asks for one. None does need it.
void keep_stack_plain(std::vector<uint8_t>& bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    uint8_t* const place = bytes.data() + header.e_phoff + i * sizeof segment;
    std::memcpy(&segment, place, sizeof segment);
    if (segment.p_type != PT_GNU_STACK) continue;
    segment.p_flags &= ~static_cast<Elf64_Word>(PF_X);
    std::memcpy(place, &segment, sizeof segment);
    return;
  }
  fail(ErrorCode::kUnsafe, "the library makes the stack of the whole process executable");
}

}  // namespace

std::vector<Function> all_functions() {
  std::vector<Function> all;
  for (const std::span<const Function> some :
       {tensor_functions(), value_functions(), operator_functions(), layer_functions(), vector_functions()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<uint8_t> checked(ByteSpan file) {
  const elf::Library library = elf::read(file);
  check_tables(library);
  check_imports(library);
  std::vector<uint8_t> bytes(file.begin(), file.end());
  rename(bytes, library);
  if (library.has_executable_stack) keep_stack_plain(bytes);
  return bytes;
}

// Its own libraries first: a PyTorch that is in this process as well has functions of the same names.
Library::Library(ByteSpan file) {
  const std::vector<uint8_t> bytes = checked(file);
  names_ = std::make_unique<MemoryLibrary>("libflambeau", symbol_library(all_functions()), Binding::kShared);
  code_ = std::make_unique<MemoryLibrary>("compiled model", bytes, Binding::kOwnFirst);
}
Library::~Library() {
  code_.reset();
  names_.reset();
}

void* Library::address(const std::string& name) const {
  if (void* const found = code_->find(name)) return found;
  fail(ErrorCode::kUnsupported, fmt::format("the library has no function '{}'", name),
       "it is no compiled model, or one of a version of PyTorch that is not known");
}

}  // namespace flambeau::aot::native
