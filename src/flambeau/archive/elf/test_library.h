// Makes small shared libraries for tests: nothing in them runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau::elf {

struct TestLibrary {
  uint16_t type = 3;
  uint16_t machine = 62;
  std::vector<std::string> needed = {};
  std::vector<std::string> imports = {};
  std::vector<std::string> exports = {};
  std::string search_path = {};
  uint64_t initializers = 0;
  bool has_indirect = false;  // a relocation that calls a function
  uint32_t stack_flags = 6;
  std::vector<std::pair<uint64_t, uint64_t>> entries = {};  // further ones of the dynamic section

  std::string bytes() const {
    std::string names(1, '\0');
    const auto add_name = [&](const std::string& name) {
      const uint64_t at = names.size();
      names += name + '\0';
      return at;
    };
    std::vector<std::pair<uint64_t, uint64_t>> dynamic;
    for (const std::string& name : needed) dynamic.emplace_back(1, add_name(name));
    if (!search_path.empty()) dynamic.emplace_back(29, add_name(search_path));
    ByteWriter symbols;
    symbols.fill(24, 0);
    const auto add_symbol = [&](const std::string& name, uint16_t section) {
      symbols.le(static_cast<uint32_t>(add_name(name)));
      symbols.u8(0x12);  // global, a function
      symbols.u8(0);
      symbols.le(section);
      symbols.le(uint64_t{section == 0 ? 0U : 0x40U});
      symbols.le(uint64_t{8});
    };
    for (const std::string& name : imports) add_symbol(name, 0);
    for (const std::string& name : exports) add_symbol(name, 1);
    const uint64_t count = symbols.size() / 24;
    ByteWriter hash;
    hash.le(uint32_t{1});
    hash.le(static_cast<uint32_t>(count));
    hash.fill((1 + count) * 4, 0);
    ByteWriter relocations;
    if (has_indirect) {
      relocations.le(uint64_t{0x40});
      relocations.le(uint64_t{37});
      relocations.le(uint64_t{0x40});
    }
    const uint64_t strings_at = 64 + 3 * 56;
    const uint64_t symbols_at = strings_at + names.size();
    const uint64_t hash_at = symbols_at + symbols.size();
    const uint64_t relocations_at = hash_at + hash.size();
    const uint64_t dynamic_at = relocations_at + relocations.size();
    dynamic.emplace_back(5, strings_at);
    dynamic.emplace_back(10, names.size());
    dynamic.emplace_back(6, symbols_at);
    dynamic.emplace_back(4, hash_at);
    if (has_indirect) {
      dynamic.emplace_back(7, relocations_at);
      dynamic.emplace_back(8, relocations.size());
    }
    if (initializers != 0) dynamic.emplace_back(27, initializers * 8);
    dynamic.insert(dynamic.end(), entries.begin(), entries.end());
    dynamic.emplace_back(0, 0);
    const uint64_t size = dynamic_at + dynamic.size() * 16;

    ByteWriter out;
    out.text(
        "\x7f"
        "ELF\x02\x01\x01");
    out.fill(9, 0);
    out.le(type);
    out.le(machine);
    out.le(uint32_t{1});
    out.le(uint64_t{0});
    out.le(uint64_t{64});  // segments
    out.fill(14, 0);
    out.le(uint16_t{56});
    out.le(uint16_t{3});
    out.fill(6, 0);
    const auto add_segment = [&](uint32_t kind, uint32_t flags, uint64_t from, uint64_t length) {
      out.le(kind);
      out.le(flags);
      for (const uint64_t value : {from, from, from, length, length, uint64_t{8}}) out.le(value);
    };
    add_segment(1, 5, 0, size);
    add_segment(2, 6, dynamic_at, dynamic.size() * 16);
    add_segment(0x6474e551, stack_flags, 0, 0);
    out.text(names);
    out.bytes(symbols.view());
    out.bytes(hash.view());
    out.bytes(relocations.view());
    for (const auto& [tag, value] : dynamic) {
      out.le(tag);
      out.le(value);
    }
    return out.take();
  }
};

}  // namespace flambeau::elf
