#include "flambeau/archive/zip/writer.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <new>

#include "flambeau/archive/zip/deflate.h"
#include "flambeau/archive/zip/format.h"
#include "flambeau/archive/zip/name.h"
#include "flambeau/base/error.h"

namespace flambeau::zip {
namespace {

constexpr std::string_view kSerializationId = ".data/serialization_id";

// PyTorch mixes hashes into its serialization id with this function.
uint64_t hash_combine(uint64_t seed, uint64_t value) {
  return seed ^ (value + 0x9e3779b9 + (seed << 6U) + (seed >> 2U));
}

uint32_t narrow(uint64_t value) { return static_cast<uint32_t>(std::min<uint64_t>(value, kSaturated32)); }

[[noreturn]] void refuse(std::string_view name, std::string message) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message)).add_location("record", std::string(name));
}

}  // namespace

bool Writer::Written::has_wide_size() const { return size >= kSaturated32; }
bool Writer::Written::has_wide_offset() const { return header_offset >= kSaturated32; }

Writer::Writer(ByteSink& sink, WriterOptions options)
    : sink_(sink), options_(std::move(options)), start_(sink.position()) {
  constexpr uint64_t kMostAlignment = 1U << 15;
  if (options_.alignment == 0 || options_.alignment > kMostAlignment) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("alignment {} is not between 1 and {}", options_.alignment, kMostAlignment));
  }
}

void Writer::add(std::string_view name, ByteSpan data) {
  begin_record(name, data.size(), false);
  combine_data_start(data);
  sink_.write(data);
  end_record(data.size(), checksum(0, data));
}

void Writer::add_text(std::string_view name, std::string_view text) { add(name, as_bytes(text)); }

void Writer::add_deflated(std::string_view name, ByteSpan data) {
  if (data.size() <= 3) return add(name, data);
  begin_record(name, data.size(), true);
  const std::string compressed = deflate_like_pytorch(data);
  sink_.write_text(compressed);
  end_record(compressed.size(), checksum(0, data));
}

void Writer::add_deflated_quickly(std::string_view name, ByteSpan data) {
  if (data.size() <= 3) return add(name, data);
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(1), libdeflate_free_compressor);
  if (compressor == nullptr) throw std::bad_alloc();
  std::vector<uint8_t> compressed(libdeflate_deflate_compress_bound(compressor.get(), data.size()));
  compressed.resize(libdeflate_deflate_compress(compressor.get(), data.data(), data.size(), compressed.data(),
                                                compressed.size()));
  begin_record(name, data.size(), true);
  sink_.write(compressed);
  end_record(compressed.size(), checksum(0, data));
}

void Writer::add_stream(std::string_view name, uint64_t size, const RecordSource& source) {
  begin_record(name, size, false);
  uint64_t given = 0;
  uint32_t crc32 = 0;
  uint8_t start[8];
  source([&](ByteSpan piece) {
    if (piece.size() > size - given) {
      refuse(name, fmt::format("the source gave more than the announced {} bytes", size));
    }
    for (uint64_t i = given; i < sizeof(start) && i - given < piece.size(); ++i) start[i] = piece[i - given];
    crc32 = checksum(crc32, piece);
    sink_.write(piece);
    given += piece.size();
  });
  if (given != size) refuse(name, fmt::format("the source gave {} bytes, {} were announced", given, size));
  combine_data_start({start, std::min<uint64_t>(size, sizeof(start))});
  end_record(size, crc32);
}

uint32_t Writer::checksum(uint32_t crc32, ByteSpan data) const {
  if (!options_.compute_crc32 || data.empty()) return crc32;
  return libdeflate_crc32(crc32, data.data(), data.size());
}

void Writer::begin_record(std::string_view name, uint64_t size, bool deflated) {
  if (finished_) refuse(name, "the archive is already finished");
  if (in_record_) refuse(name, "an earlier record failed, the archive cannot be continued");
  Written record;
  record.name =
      options_.top_folder.empty() ? std::string(name) : fmt::format("{}/{}", options_.top_folder, name);
  if (name.empty() || name.back() == '/') refuse(name, "the name does not end in a file's name");
  if (const std::string problem = name_problem(record.name); !problem.empty())
    refuse(name, "the name " + problem);
  if (names_.size() == kMostEntries)
    refuse(name, fmt::format("the archive has {} records already", kMostEntries));
  if (record.name.size() > kSaturated16) refuse(name, "the name is longer than 65535 bytes");
  if (!names_.emplace(name).second) refuse(name, "a record of this name was already written");
  record.header_offset = position();
  record.size = size;
  record.deflated = deflated;

  ByteWriter extra;
  if (record.has_wide_size() || record.has_wide_offset()) {
    extra.le(kExtraZip64);
    extra.le(static_cast<uint16_t>((record.has_wide_size() ? 16 : 0) + (record.has_wide_offset() ? 8 : 0)));
    if (record.has_wide_size()) {
      extra.le(size);
      extra.le(uint64_t{0});  // the compressed size, which PyTorch does not know yet
    }
    if (record.has_wide_offset()) extra.le(record.header_offset);
  }
  const uint64_t data_at = record.header_offset + kLocalSize + record.name.size() + extra.size() + 4;
  const uint64_t padding = (options_.alignment - data_at % options_.alignment) % options_.alignment;
  extra.le(kExtraPadding);
  extra.le(static_cast<uint16_t>(padding));
  extra.fill(padding, 'Z');

  // The time and date are zero: the same content gives the same bytes.
  ByteWriter header;
  header.le(kLocalSignature);
  header.le(static_cast<uint16_t>(deflated ? 20 : 0));  // version needed
  header.le(static_cast<uint16_t>(kFlagUtf8 | (size != 0 ? kFlagDescriptor : 0)));
  header.le(static_cast<uint16_t>(deflated ? 8 : 0));
  header.fill(4 + 4 + 4 + 4, '\0');  // time and date, CRC and sizes: those follow in the descriptor
  header.le(static_cast<uint16_t>(record.name.size()));
  header.le(static_cast<uint16_t>(extra.size()));
  header.text(record.name);
  header.bytes(extra.view());
  in_record_ = true;
  written_.push_back(std::move(record));
  sink_.write(header.view());
}

void Writer::end_record(uint64_t compressed_size, uint32_t crc32) {
  Written& record = written_.back();
  record.compressed_size = compressed_size;
  record.crc32 = crc32;
  if (record.size == 0) {
    in_record_ = false;
    return;
  }
  ByteWriter descriptor;
  descriptor.le(kDescriptorSignature);
  descriptor.le(crc32);
  if (record.has_wide_size() || record.has_wide_offset()) {
    descriptor.le(compressed_size);
    descriptor.le(record.size);
  } else {
    descriptor.le(static_cast<uint32_t>(compressed_size));
    descriptor.le(static_cast<uint32_t>(record.size));
  }
  sink_.write(descriptor.view());
  in_record_ = false;
  combined_crc_ = hash_combine(combined_crc_, crc32);
}

void Writer::combine_data_start(ByteSpan start) {
  // PyTorch looks for descriptors in everything it writes, so a record that begins like one counts too.
  if (start.size() >= 8 && load_le<uint32_t>(start.data()) == kDescriptorSignature) {
    combined_crc_ = hash_combine(combined_crc_, load_le<uint32_t>(start.data() + 4));
  }
}

void Writer::add_serialization_id() {
  uint64_t combined_names = 0;
  for (const std::string& name : names_) {
    combined_names = hash_combine(combined_names, std::hash<std::string>{}(name));
  }
  add_text(kSerializationId, fmt::format("{:020}{:020}", combined_names, combined_crc_));
}

void Writer::finish() {
  if (finished_) throw Error(ErrorCode::kInvalidArgument, "the archive is already finished");
  if (in_record_) {
    throw Error(ErrorCode::kInvalidArgument, "an earlier record failed, the archive cannot be finished")
        .add_location("record", written_.back().name);
  }
  finished_ = true;
  const uint64_t directory_at = written_.empty() ? 0 : position();
  ByteWriter directory;
  for (const Written& record : written_) {
    const bool wide = record.has_wide_size() || record.has_wide_offset();
    const int wide_bytes = (record.has_wide_size() ? 16 : 0) + (record.has_wide_offset() ? 8 : 0);
    directory.le(kCentralSignature);
    directory.le(uint16_t{0});                                      // version made by
    directory.le(static_cast<uint16_t>(record.deflated ? 20 : 0));  // version needed
    directory.le(static_cast<uint16_t>(kFlagUtf8 | (record.size != 0 ? kFlagDescriptor : 0)));
    directory.le(static_cast<uint16_t>(record.deflated ? 8 : 0));
    directory.le(uint32_t{0});  // time and date
    directory.le(record.crc32);
    directory.le(narrow(record.compressed_size));
    directory.le(narrow(record.size));
    directory.le(static_cast<uint16_t>(record.name.size()));
    directory.le(static_cast<uint16_t>(wide ? 4 + wide_bytes : 0));
    directory.fill(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    directory.le(narrow(record.header_offset));
    directory.text(record.name);
    if (!wide) continue;
    directory.le(kExtraZip64);
    directory.le(static_cast<uint16_t>(wide_bytes));
    if (record.has_wide_size()) {
      directory.le(record.size);
      directory.le(record.compressed_size);
    }
    if (record.has_wide_offset()) directory.le(record.header_offset);
  }
  // PyTorch asks for the ZIP64 records always, also where nothing needs them.
  const uint64_t count = written_.size();
  const uint64_t directory_size = directory.size();
  const uint64_t end64_at = directory_at + directory_size;
  directory.le(kEnd64Signature);
  directory.le(uint64_t{kEnd64Size - 12});
  directory.le(uint16_t{0x031e});  // version made by: Unix, 3.0
  directory.le(uint16_t{45});      // version needed
  directory.fill(4 + 4, '\0');     // disks
  directory.le(count);
  directory.le(count);
  directory.le(directory_size);
  directory.le(directory_at);
  directory.le(kLocator64Signature);
  directory.le(uint32_t{0});
  directory.le(end64_at);
  directory.le(uint32_t{1});
  directory.le(kEndSignature);
  directory.fill(2 + 2, '\0');  // disks
  directory.le(static_cast<uint16_t>(std::min<uint64_t>(count, kSaturated16)));
  directory.le(static_cast<uint16_t>(std::min<uint64_t>(count, kSaturated16)));
  directory.le(narrow(directory_size));
  directory.le(narrow(directory_at));
  directory.le(uint16_t{0});  // comment
  sink_.write(directory.view());
}

}  // namespace flambeau::zip
