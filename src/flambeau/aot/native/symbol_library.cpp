#include "flambeau/aot/native/symbol_library.h"

#include <elf.h>

#include <bit>
#include <cstring>
#include <string>

namespace flambeau::aot::native {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOwnMachine = EM_AARCH64;
#else
constexpr uint16_t kOwnMachine = EM_NONE;
#endif

// As the specification has it, for loaders to find names by.
uint32_t hash_of(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const uint32_t high = hash & 0xf0000000;
    hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

template <typename T>
void append(std::vector<uint8_t>& to, const std::vector<T>& items) {
  const size_t at = to.size();
  to.resize(at + items.size() * sizeof(T));
  if (!items.empty()) std::memcpy(to.data() + at, items.data(), items.size() * sizeof(T));
}

}  // namespace

std::vector<uint8_t> symbol_library(std::span<const Function> functions) {
  std::string names(1, '\0');
  const auto add_name = [&](std::string_view name) {
    const auto at = static_cast<uint32_t>(names.size());
    names.append(name).push_back('\0');
    return at;
  };
  const uint32_t own_name = add_name(kLibraryName);
  std::vector<Elf64_Sym> symbols(1, Elf64_Sym{});
  for (const Function& each : functions) {
    Elf64_Sym symbol = {};
    symbol.st_name = add_name(each.name);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = SHN_ABS;  // the value is an address, wherever the library comes to lie
    symbol.st_value = std::bit_cast<uintptr_t>(each.code);
    symbols.push_back(symbol);
  }
  const auto buckets = static_cast<uint32_t>(functions.size() | 1);
  std::vector<uint32_t> hash(2 + buckets + symbols.size(), 0);
  hash[0] = buckets;
  hash[1] = static_cast<uint32_t>(symbols.size());
  for (uint32_t i = 1; i < symbols.size(); ++i) {
    uint32_t& first = hash[2 + hash_of(functions[i - 1].name) % buckets];
    hash[2 + buckets + i] = first;
    first = i;
  }
  names.resize((names.size() + 7) / 8 * 8);
  if (hash.size() % 2 != 0) hash.push_back(0);

  constexpr uint64_t kSegments = 3;
  const uint64_t symbols_at = sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr);
  const uint64_t hash_at = symbols_at + symbols.size() * sizeof(Elf64_Sym);
  const uint64_t names_at = hash_at + hash.size() * sizeof(uint32_t);
  const uint64_t dynamic_at = names_at + names.size();
  const std::vector<Elf64_Dyn> dynamic = {
      {DT_SONAME, {own_name}},
      {DT_HASH, {hash_at}},
      {DT_SYMTAB, {symbols_at}},
      {DT_SYMENT, {sizeof(Elf64_Sym)}},
      {DT_STRTAB, {names_at}},
      {DT_STRSZ, {names.size()}},
      {DT_NULL, {0}},
  };
  const uint64_t size = dynamic_at + dynamic.size() * sizeof(Elf64_Dyn);

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = kOwnMachine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = kSegments;
  const auto segment = [](uint32_t type, uint32_t flags, uint64_t at, uint64_t bytes, uint64_t alignment) {
    return Elf64_Phdr{type, flags, at, at, at, bytes, bytes, alignment};
  };
  std::vector<uint8_t> file;
  append(file, std::vector{header});
  // Writable, as the loader notes addresses in the dynamic section.
  append(file, std::vector{segment(PT_LOAD, PF_R | PF_W, 0, size, 0x1000),
                           segment(PT_DYNAMIC, PF_R | PF_W, dynamic_at, size - dynamic_at, 8),
                           segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 16)});
  append(file, symbols);
  append(file, hash);
  append(file, std::vector<char>(names.begin(), names.end()));
  append(file, dynamic);
  return file;
}

}  // namespace flambeau::aot::native
