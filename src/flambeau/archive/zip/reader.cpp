#include "flambeau/archive/zip/reader.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>

#include "flambeau/archive/zip/directory.h"
#include "flambeau/archive/zip/format.h"
#include "flambeau/archive/zip/local.h"
#include "flambeau/base/error.h"

namespace flambeau::zip {
namespace {

// The bytes from a local header to the next one, in the order of the file.
struct Extent {
  uint64_t begin;
  uint64_t index;
  bool has_descriptor;
  Preceding preceding;  // the end of the record before
};

// Every byte before the directory must belong to exactly one record.
void check_extents(Surroundings& file, std::vector<Extent>& extents, std::span<const Entry> entries,
                   uint64_t directory_offset) {
  const auto by_begin = [](const Extent& a, const Extent& b) { return a.begin < b.begin; };
  if (!std::is_sorted(extents.begin(), extents.end(), by_begin)) {
    std::sort(extents.begin(), extents.end(), by_begin);
  }
  const uint64_t first = extents.empty() ? directory_offset : extents.front().begin;
  if (first != 0) {
    fail_at(0, ErrorCode::kCorrupt, fmt::format("the first {} bytes belong to no record", first),
            "something was put before the archive");
  }
  for (size_t i = 0; i < extents.size(); ++i) {
    const Entry& entry = entries[extents[i].index];
    const bool last = i + 1 == extents.size();
    const uint64_t next = last ? directory_offset : extents[i + 1].begin;
    if (next < entry.data_offset || next - entry.data_offset < entry.compressed_size) {
      fail_record(entry.name, entry.header_offset, ErrorCode::kCorrupt,
                  fmt::format("overlaps record '{}' at byte {}",
                              last ? "" : printable(entries[extents[i + 1].index].name), next));
    }
    check_after_data(last ? bytes_before(file, next) : extents[i + 1].preceding, entry,
                     extents[i].has_descriptor, next);
  }
}

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

}  // namespace

Reader Reader::open(std::shared_ptr<Mapping> mapping, const Limits& limits) {
  Reader reader;
  reader.mapping_ = std::move(mapping);
  reader.limits_ = limits;
  reader.mapping_->reading([&] {
    reader.read_headers();
    reader.index_names();
  });
  return reader;
}

void Reader::read_headers() {
  const ByteSpan file = mapping_->bytes();
  const Directory directory = find_directory(file);
  if (directory.count > limits_.entries) {
    fail_at(directory.offset, ErrorCode::kLimit,
            fmt::format("{} records, the limit is {}", directory.count, limits_.entries));
  }
  Surroundings surroundings(*mapping_);
  entries_.reserve(directory.count);
  std::vector<Extent> extents;
  extents.reserve(directory.count);
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    const CentralHeader central = read_central_header(file, at, directory);
    Entry& entry = entries_.emplace_back();
    entry.name = central.name;
    entry.method = static_cast<Method>(central.method);
    entry.crc32 = central.crc32;
    entry.compressed_size = central.compressed_size;
    entry.size = central.size;
    entry.header_offset = central.header_offset;
    const bool is_inside = central.header_offset <= directory.offset;
    const Preceding preceding = is_inside ? bytes_before(surroundings, central.header_offset) : Preceding{};
    entry.data_offset = check_local_header(surroundings, central, directory.offset);
    extents.push_back({central.header_offset, i, (central.flags & kFlagDescriptor) != 0, preceding});
    at = central.next;
  }
  if (at != directory.end) {
    fail_at(at, ErrorCode::kCorrupt,
            fmt::format("{} records are announced, but {} bytes of central directory follow them",
                        directory.count, directory.end - at));
  }
  check_extents(surroundings, extents, entries_, directory.offset);
}

void Reader::index_names() {
  by_name_.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    by_name_.push_back({std::hash<std::string_view>{}(entries_[i].name), i});
  }
  std::sort(by_name_.begin(), by_name_.end(), [this](const NameKey& a, const NameKey& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const int order = entries_[a.index].name.compare(entries_[b.index].name);
    return order != 0 ? order < 0 : a.index < b.index;
  });
  for (size_t i = 1; i < by_name_.size(); ++i) {
    const Entry& entry = entries_[by_name_[i].index];
    if (by_name_[i].hash == by_name_[i - 1].hash && entry.name == entries_[by_name_[i - 1].index].name) {
      fail_record(entry.name, entry.header_offset, ErrorCode::kCorrupt, "appears twice");
    }
  }
}

const Entry* Reader::find(std::string_view name) const {
  const uint64_t hash = std::hash<std::string_view>{}(name);
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](const NameKey& key, std::string_view wanted) {
                                        if (key.hash != hash) return key.hash < hash;
                                        return entries_[key.index].name < wanted;
                                      });
  if (found == by_name_.end() || found->hash != hash || entries_[found->index].name != name) return nullptr;
  return &entries_[found->index];
}

ByteSpan Reader::view(const Entry& entry) const {
  if (entry.method != Method::kStored) {
    throw Error(ErrorCode::kInvalidArgument, "is deflated, and cannot be viewed in place")
        .add_location("record", std::string(entry.name));
  }
  return mapping_->bytes().subspan(entry.data_offset, entry.size);
}

std::vector<uint8_t> Reader::inflate(const Entry& entry) const {
  const auto fail = [&](ErrorCode code, std::string message) {
    fail_record(entry.name, entry.data_offset, code, std::move(message));
  };
  if (entry.size > limits_.inflate_bytes ||
      entry.size / std::max<uint64_t>(limits_.inflate_ratio, 1) > entry.compressed_size) {
    fail(ErrorCode::kLimit,
         fmt::format("inflates from {} to {} bytes, the limits are {} bytes and {} times the compressed size",
                     entry.compressed_size, entry.size, limits_.inflate_bytes, limits_.inflate_ratio));
  }
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
      libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  const ByteSpan compressed = mapping_->bytes().subspan(entry.data_offset, entry.compressed_size);
  // The declared size may be a lie: memory grows with what really comes out.
  uint64_t room = std::min(entry.size, std::max<uint64_t>(1U << 20, entry.compressed_size * 8));
  for (;;) {
    // One byte more than needed, so that the pointer is never null.
    std::vector<uint8_t> output(room + 1);
    size_t taken = 0;
    size_t given = 0;
    const libdeflate_result result = libdeflate_deflate_decompress_ex(
        decompressor.get(), compressed.data(), compressed.size(), output.data(), room, &taken, &given);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE && room < entry.size) {
      room = entry.size / 8 < room ? entry.size : room * 8;
      continue;
    }
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      fail(ErrorCode::kCorrupt, fmt::format("inflates to more than its {} bytes", entry.size));
    }
    if (result != LIBDEFLATE_SUCCESS) fail(ErrorCode::kCorrupt, "the deflated data is damaged");
    if (given != entry.size) {
      fail(ErrorCode::kCorrupt, fmt::format("inflates to {} bytes, expected {}", given, entry.size));
    }
    if (taken != compressed.size()) {
      fail(ErrorCode::kCorrupt,
           fmt::format("the deflated data ends after {} of {} bytes", taken, compressed.size()));
    }
    output.pop_back();
    return output;
  }
}

void Reader::check_crc(const Entry& entry, ByteSpan data) const {
  if (!entry.has_crc()) return;
  const uint32_t found = libdeflate_crc32(0, data.data(), data.size());
  if (found == entry.crc32) return;
  fail_record(entry.name, entry.data_offset, ErrorCode::kCorrupt,
              fmt::format("the data's CRC-32 is {:#010x}, expected {:#010x}", found, entry.crc32));
}

std::vector<uint8_t> Reader::read(const Entry& entry) const {
  return mapping_->reading([&] {
    if (entry.method == Method::kDeflated) {
      std::vector<uint8_t> data = inflate(entry);
      check_crc(entry, data);
      return data;
    }
    const ByteSpan data = view(entry);
    check_crc(entry, data);
    return std::vector<uint8_t>(data.begin(), data.end());
  });
}

std::vector<uint8_t> Reader::read_start(const Entry& entry, size_t count) const {
  count = static_cast<size_t>(std::min<uint64_t>(count, entry.size));
  if (entry.method == Method::kStored) {
    const ByteSpan data = view(entry).first(count);
    return {data.begin(), data.end()};
  }
  // libdeflate fills the room it is given before it says that there is too little. Only a stored block (64 KB
  // at most) or a match (258 bytes) that does not fit is left out, so there is room for one more.
  constexpr size_t kMostLeftOut = 1U << 17;
  const auto room = static_cast<size_t>(std::min<uint64_t>(entry.size, uint64_t{count} + kMostLeftOut));
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
      libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  const ByteSpan compressed = mapping_->bytes().subspan(entry.data_offset, entry.compressed_size);
  std::vector<uint8_t> output(room + 1);
  size_t taken = 0;
  size_t given = 0;
  const libdeflate_result result = libdeflate_deflate_decompress_ex(
      decompressor.get(), compressed.data(), compressed.size(), output.data(), room, &taken, &given);
  const bool is_complete = result == LIBDEFLATE_SUCCESS && given >= count;
  if (!is_complete && result != LIBDEFLATE_INSUFFICIENT_SPACE) {
    mapping_->reading([&] {
      fail_record(entry.name, entry.data_offset, ErrorCode::kCorrupt, "the deflated data is damaged");
    });
  }
  output.resize(count);
  return output;
}

void Reader::verify(const Entry& entry) const {
  mapping_->reading([&] {
    if (entry.method == Method::kDeflated) {
      check_crc(entry, inflate(entry));
    } else {
      check_crc(entry, view(entry));
    }
  });
}

bool looks_like_zip(ByteSpan bytes) {
  if (bytes.size() < 4) return false;
  const auto signature = load_le<uint32_t>(bytes.data());
  // PyTorch ends even an empty archive with the ZIP64 record.
  return signature == kLocalSignature || signature == kEndSignature || signature == kEnd64Signature;
}

}  // namespace flambeau::zip
