#include "flambeau/archive/elf/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "flambeau/base/error.h"

namespace flambeau::elf {
namespace {

constexpr uint16_t kSharedType = 3;
constexpr uint32_t kLoad = 1;
constexpr uint32_t kDynamic = 2;
constexpr uint32_t kStack = 0x6474e551;
constexpr size_t kHeaderSize = 64;
constexpr size_t kSegmentSize = 56;
constexpr size_t kSymbolSize = 24;
constexpr size_t kDynamicSize = 16;
constexpr size_t kRelocationSize = 24;
// Far beyond what compilers write; it bounds what a file can make us do.
constexpr uint64_t kMostSegments = 4096;
constexpr uint64_t kMostDynamic = 65'536;
constexpr uint64_t kMostSymbols = 4'000'000;
constexpr uint64_t kMostRelocations = 64'000'000;
constexpr uint64_t kMostNeeded = 4096;
constexpr uint64_t kLeastText = 64U << 20;

[[noreturn]] void fail(uint64_t offset, std::string message) {
  Error error(ErrorCode::kCorrupt, std::move(message));
  error.add_location("byte", std::to_string(offset));
  throw error;
}

[[noreturn]] void fail_limit(std::string message) { throw Error(ErrorCode::kLimit, std::move(message)); }

uint64_t sum(uint64_t a, uint64_t b, std::string_view what) {
  uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) fail(0, fmt::format("{} wraps around", what));
  return result;
}

// The entries of the dynamic section that are read here.
struct Dynamic {
  std::optional<uint64_t> strings;
  uint64_t strings_size = 0;
  std::optional<uint64_t> symbols;
  std::optional<uint64_t> hash;
  std::optional<uint64_t> gnu_hash;
  std::optional<uint64_t> versions;
  uint64_t version_count = 0;
  // Tables of relocations, by where they begin and how long they are.
  std::optional<uint64_t> rela;
  uint64_t rela_size = 0;
  std::optional<uint64_t> jumps;
  uint64_t jumps_size = 0;
  std::vector<uint64_t> needed;
  std::vector<uint64_t> search_paths;
  std::optional<uint64_t> soname;
};

class Reader {
 public:
  explicit Reader(ByteSpan bytes) { library_.file = bytes; }

  Library run() {
    read_header();
    read_segments();
    read_dynamic();
    read_names();
    read_symbols(std::max(symbol_count(), read_relocations()));
    read_versions();
    return std::move(library_);
  }

 private:
  ByteSpan bytes() const { return library_.file; }
  ByteReader at(uint64_t address, uint64_t size) const {
    return ByteReader(library_.bytes_at(address, size));
  }

  void read_header() {
    if (!looks_like_elf(bytes())) fail(0, "no ELF file: it does not begin with 7f 45 4c 46");
    ByteReader in(bytes());
    in.skip(4, "magic number");
    const uint8_t bits = in.u8("class");
    const uint8_t order = in.u8("byte order");
    if (bits != 2 || order != 1) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("an ELF file of class {} and byte order {}; libraries of 64 bits in little "
                              "endian are read",
                              bits, order));
    }
    in.seek(16, "type");
    library_.is_shared = in.le<uint16_t>("type") == kSharedType;
    const auto machine = in.le<uint16_t>("machine");
    library_.machine = machine == 62    ? "x86-64"
                       : machine == 183 ? "aarch64"
                                        : fmt::format("machine {}", machine);
    is_x86_ = machine == 62;
    is_arm_ = machine == 183;
    in.seek(32, "place of the segments");
    table_ = in.le<uint64_t>("place of the segments");
    in.seek(54, "size of a segment's description");
    const auto size = in.le<uint16_t>("size of a segment's description");
    count_ = in.le<uint16_t>("number of segments");
    if (count_ > 0 && size != kSegmentSize)
      fail(54, fmt::format("descriptions of segments have {} bytes, not {}", size, kSegmentSize));
    if (count_ > kMostSegments) fail_limit(fmt::format("{} segments are beyond any library", count_));
    if (in.whole().size() < kHeaderSize) fail(in.whole().size(), "the header of 64 bytes is cut off");
  }

  void read_segments() {
    ByteReader in(bytes());
    in.seek(table_, "segments");
    bool says_stack = false;
    for (uint64_t i = 0; i < count_; ++i) {
      const size_t place = in.offset();
      const auto type = in.le<uint32_t>("segment");
      const auto flags = in.le<uint32_t>("segment");
      Segment segment;
      segment.is_executable = (flags & 1) != 0;
      segment.is_writable = (flags & 2) != 0;
      segment.offset = in.le<uint64_t>("segment");
      segment.address = in.le<uint64_t>("segment");
      in.skip(8, "segment");
      segment.file_size = in.le<uint64_t>("segment");
      segment.memory_size = in.le<uint64_t>("segment");
      in.skip(8, "segment");
      if (type == kStack) {
        says_stack = true;
        library_.has_executable_stack = segment.is_executable;
      }
      if (type != kLoad && type != kDynamic) continue;
      if (segment.offset > bytes().size() || segment.file_size > bytes().size() - segment.offset) {
        fail(place, fmt::format("a segment has bytes {} to {} of a file of {}", segment.offset,
                                sum(segment.offset, segment.file_size, "a segment"), bytes().size()));
      }
      sum(segment.address, segment.memory_size, "the address of a segment");
      if (segment.file_size > segment.memory_size)
        fail(place, "a segment is longer in the file than in memory");
      if (type == kLoad) {
        if (!library_.segments.empty()) {
          const Segment& last = library_.segments.back();
          if (segment.address < last.address + last.memory_size)
            fail(place, "segments that are loaded overlap, or are not in the order of their addresses");
        }
        library_.segments.push_back(segment);
      } else if (dynamic_) {
        fail(place, "there are two dynamic sections");
      } else {
        dynamic_ = segment;
      }
    }
    // Without a word about it, the stack of the whole process becomes executable.
    if (!says_stack) library_.has_executable_stack = true;
    if (!dynamic_) {
      throw Error(ErrorCode::kUnsupported, "the ELF file has no dynamic section: it is no shared library");
    }
  }

  void read_dynamic() {
    if (dynamic_->file_size / kDynamicSize > kMostDynamic) fail_limit("the dynamic section is too long");
    // The loader reads it at its address, whatever the segment says of the file.
    ByteReader in = at(dynamic_->address, dynamic_->file_size);
    bool is_ended = false;
    while (!is_ended && in.remaining() >= kDynamicSize) {
      const auto tag = in.le<uint64_t>("dynamic entry");
      const auto value = in.le<uint64_t>("dynamic entry");
      is_ended = tag == 0;
      if (!is_ended) take_entry(tag, value);
    }
    if (!is_ended) fail(dynamic_->offset, "the dynamic section does not end");
    if (!entries_.strings || !entries_.symbols)
      fail(dynamic_->offset, "the dynamic section names no table of symbols or of texts");
  }

  void take_entry(uint64_t tag, uint64_t value) {
    switch (tag) {
      case 1:  // DT_NEEDED
        if (entries_.needed.size() >= kMostNeeded) fail_limit("more libraries are needed than any has");
        entries_.needed.push_back(value);
        break;
      case 2:  // DT_PLTRELSZ
        entries_.jumps_size = value;
        break;
      case 4:  // DT_HASH
        entries_.hash = value;
        break;
      case 5:  // DT_STRTAB
        entries_.strings = value;
        break;
      case 6:  // DT_SYMTAB
        entries_.symbols = value;
        break;
      case 7:  // DT_RELA
        entries_.rela = value;
        break;
      case 8:  // DT_RELASZ
        entries_.rela_size = value;
        break;
      case 10:  // DT_STRSZ
        entries_.strings_size = value;
        break;
      case 12:  // DT_INIT
        ++library_.initializers;
        break;
      case 13:  // DT_FINI
        ++library_.finalizers;
        break;
      case 14:  // DT_SONAME
        entries_.soname = value;
        break;
      case 15:  // DT_RPATH
      case 29:  // DT_RUNPATH
        if (entries_.search_paths.size() >= kMostNeeded) fail_limit("there are too many search paths");
        entries_.search_paths.push_back(value);
        break;
      case 17:  // DT_REL: without addends, which these machines do not use
        throw Error(ErrorCode::kUnsupported, "relocations without addends are not of this machine");
      case 22:  // DT_TEXTREL
        library_.has_text_relocations = true;
        break;
      case 23:  // DT_JMPREL
        entries_.jumps = value;
        break;
      case 27:                                                       // DT_INIT_ARRAYSZ
      case 33:                                                       // DT_PREINIT_ARRAYSZ
        library_.initializers += std::min(value / 8, kMostSymbols);  // never back to 0
        break;
      case 28:  // DT_FINI_ARRAYSZ
        library_.finalizers += std::min(value / 8, kMostSymbols);
        break;
      case 30:  // DT_FLAGS
        if ((value & 4) != 0) library_.has_text_relocations = true;
        break;
      case 0x6ffffef5:  // DT_GNU_HASH
        entries_.gnu_hash = value;
        break;
      case 0x6ffffffe:  // DT_VERNEED
        entries_.versions = value;
        break;
      case 0x6fffffff:  // DT_VERNEEDNUM
        entries_.version_count = value;
        break;
      default:
        break;
    }
  }

  std::string_view text_at(uint64_t offset, std::string_view what) {
    if (offset >= strings_.size())
      fail(0, fmt::format("{} is at {} of a table of texts of {} bytes", what, offset, strings_.size()));
    const std::string_view rest = strings_.substr(offset);
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) fail(0, fmt::format("{} does not end in the table of texts", what));
    // Millions of symbols may all have the same long name.
    read_ += end;
    if (read_ > kLeastText + bytes().size()) fail_limit("names of symbols are longer than the file");
    return rest.substr(0, end);
  }

  void read_names() {
    strings_ = as_text(library_.bytes_at(*entries_.strings, entries_.strings_size));
    for (const uint64_t at : entries_.needed) library_.needed.push_back(text_at(at, "a needed library"));
    for (const uint64_t at : entries_.search_paths)
      library_.search_paths.push_back(text_at(at, "a search path"));
    if (entries_.soname) library_.soname = text_at(*entries_.soname, "the library's name");
  }

  // Nothing says it plainly: a loader finds symbols by a hash table, whose end is that of the symbols.
  uint64_t symbol_count() const {
    if (entries_.hash) {
      ByteReader in = at(*entries_.hash, 8);
      in.skip(4, "hash table");
      return checked_count(in.le<uint32_t>("hash table"));
    }
    if (entries_.gnu_hash) return checked_count(gnu_symbol_count());
    return 1;  // nothing can be found in it; relocations say what it takes from others
  }
  static uint64_t checked_count(uint64_t count) {
    if (count > kMostSymbols) fail_limit(fmt::format("{} symbols are beyond any library", count));
    return std::max<uint64_t>(count, 1);
  }

  uint64_t gnu_symbol_count() const {
    constexpr uint64_t kHead = 16;
    ByteReader in = at(*entries_.gnu_hash, kHead);
    const auto buckets = in.le<uint32_t>("hash table");
    const auto first = in.le<uint32_t>("hash table");
    const auto blooms = in.le<uint32_t>("hash table");
    const uint64_t table = sum(*entries_.gnu_hash, kHead + uint64_t{blooms} * 8, "the place of a hash table");
    uint64_t last = 0;
    ByteReader heads = at(table, uint64_t{buckets} * 4);
    for (uint32_t i = 0; i < buckets; ++i) last = std::max<uint64_t>(last, heads.le<uint32_t>("bucket"));
    if (last < first) return first;  // all are empty
    const uint64_t chains = sum(table, uint64_t{buckets} * 4, "the place of a hash table");
    while (true) {
      if (last > kMostSymbols) fail_limit("a chain of symbols does not end");
      const uint64_t place = sum(chains, (last - first) * 4, "the place of a hash chain");
      if ((at(place, 4).le<uint32_t>("chain") & 1) != 0) return last + 1;
      ++last;
    }
  }

  // How many symbols they speak of.
  uint64_t read_relocations() {
    uint64_t symbols = 0;
    const auto read_table = [&](std::optional<uint64_t> begin, uint64_t size) {
      if (!begin || size == 0) return;
      if (size / kRelocationSize > kMostRelocations) fail_limit("there are too many relocations");
      ByteReader in = at(*begin, size);
      while (in.remaining() >= kRelocationSize) {
        in.skip(8, "relocation");
        const auto info = in.le<uint64_t>("relocation");
        in.skip(8, "relocation");
        ++library_.relocations;
        const auto type = static_cast<uint32_t>(info);
        if ((is_x86_ && type == 37) || (is_arm_ && type == 1032)) ++library_.indirect_relocations;
        const uint64_t symbol = info >> 32;
        if (symbol > kMostSymbols) fail_limit(fmt::format("a relocation of symbol {}", symbol));
        symbols = std::max(symbols, symbol + 1);
      }
    };
    read_table(entries_.rela, entries_.rela_size);
    read_table(entries_.jumps, entries_.jumps_size);
    return symbols;
  }

  void read_symbols(uint64_t count) {
    ByteReader in = at(*entries_.symbols, count * kSymbolSize);
    in.skip(kSymbolSize, "the first symbol");
    for (uint64_t i = 1; i < count; ++i) {
      const auto name = in.le<uint32_t>("symbol");
      const uint8_t info = in.u8("symbol");
      const uint8_t visibility = in.u8("symbol") & 3;
      const auto section = in.le<uint16_t>("symbol");
      Symbol symbol;
      symbol.address = in.le<uint64_t>("symbol");
      symbol.size = in.le<uint64_t>("symbol");
      const int binding = info >> 4;
      if (binding == 0) continue;  // local: nobody finds it
      symbol.name = text_at(name, "a symbol's name");
      symbol.kind = kind_of(info & 15);
      symbol.is_weak = binding == 2;
      if (section == 0) {
        symbol.address = 0;
        library_.imports.push_back(symbol);
      } else if (visibility == 0 || visibility == 3) {
        library_.exports.push_back(symbol);
      }
    }
  }
  static SymbolKind kind_of(int type) {
    switch (type) {
      case 0:
        return SymbolKind::kNone;
      case 1:
        return SymbolKind::kObject;
      case 2:
        return SymbolKind::kFunction;
      case 6:
        return SymbolKind::kThreadLocal;
      case 10:
        return SymbolKind::kIndirect;
      default:
        return SymbolKind::kOther;
    }
  }

  void read_versions() {
    if (!entries_.versions) return;
    if (entries_.version_count > kMostNeeded) fail_limit("versions of too many libraries are asked for");
    uint64_t place = *entries_.versions;
    for (uint64_t i = 0; i < entries_.version_count; ++i) {
      ByteReader in = at(place, 16);
      in.skip(2, "version");
      const auto count = in.le<uint16_t>("version");
      const std::string_view library = text_at(in.le<uint32_t>("version"), "a library's name");
      uint64_t one = sum(place, in.le<uint32_t>("version"), "the place of a version");
      const auto next = in.le<uint32_t>("version");
      for (uint16_t k = 0; k < count; ++k) {
        // Each has 16 bytes of its own, unless they are read again and again.
        if (library_.versions.size() >= bytes().size() / 16) fail_limit("too many versions are asked for");
        ByteReader entry = at(one, 16);
        entry.skip(8, "version");
        library_.versions.push_back({library, text_at(entry.le<uint32_t>("version"), "a version's name")});
        const auto step = entry.le<uint32_t>("version");
        if (step == 0) break;
        one = sum(one, step, "the place of a version");
      }
      if (next == 0) break;
      place = sum(place, next, "the place of a version");
    }
  }

  Library library_;
  uint64_t table_ = 0;
  uint64_t count_ = 0;
  bool is_x86_ = false;
  bool is_arm_ = false;
  std::optional<Segment> dynamic_;
  Dynamic entries_;
  std::string_view strings_;
  uint64_t read_ = 0;  // bytes of names
};

}  // namespace

bool looks_like_elf(ByteSpan bytes) {
  return as_text(bytes).starts_with(
      "\x7f"
      "ELF");
}

const Symbol* Library::find_export(std::string_view name) const {
  const auto found = std::ranges::find(exports, name, &Symbol::name);
  return found == exports.end() ? nullptr : &*found;
}

ByteSpan Library::bytes_at(uint64_t address, uint64_t size) const {
  const auto behind = std::ranges::upper_bound(segments, address, {}, &Segment::address);
  if (behind != segments.begin()) {
    const Segment& segment = behind[-1];
    const uint64_t skipped = address - segment.address;
    if (skipped <= segment.file_size && size <= segment.file_size - skipped)
      return file.subspan(segment.offset + skipped, size);
  }
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{} bytes at address {:#x} are not in the file", size, address));
}

Library read(ByteSpan bytes) { return Reader(bytes).run(); }

}  // namespace flambeau::elf
