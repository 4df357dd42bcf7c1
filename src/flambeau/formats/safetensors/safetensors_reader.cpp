#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "flambeau/archive/json.h"
#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/safetensors/safetensors.h"
#include "flambeau/formats/safetensors/safetensors_types.h"

namespace flambeau {
namespace {

struct Entry {
  size_t index;  // in the header
  const std::string* name;
  const SafetensorsType* type;
  Dims shape;
  uint64_t begin;  // from the first byte after the header
  uint64_t end;
};

[[noreturn]] void corrupt(std::string message) { throw Error(ErrorCode::kCorrupt, std::move(message)); }

const json::Value& need_field(const json::Value& entry, std::string_view key) {
  const json::Value* field = entry.find(key);
  if (field == nullptr) corrupt(fmt::format("the header has no \"{}\" for it", key));
  return *field;
}

Dims read_shape(const json::Value& value) {
  const json::Array& items = value.as_array();
  Dims shape;
  shape.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    shape[i] = checked_cast<int64_t>(items[i].as_uint(), "a size of the shape");
  }
  return shape;
}

Entry read_entry(size_t index, const std::string& name, const json::Value& value) {
  if (!value.is_object()) corrupt("the header's entry for it is not an object");
  Entry entry{.index = index, .name = &name, .type = nullptr, .shape = {}, .begin = 0, .end = 0};
  const std::string& type_name = with_location(
      "field", "dtype", [&]() -> const std::string& { return need_field(value, "dtype").as_string(); });
  entry.type = find_safetensors_type(type_name);
  if (entry.type == nullptr) corrupt(fmt::format("it is of the unknown type '{}'", printable(type_name)));

  with_location("field", "shape", [&] { entry.shape = read_shape(need_field(value, "shape")); });
  with_location("field", "data_offsets", [&] {
    const json::Array& offsets = need_field(value, "data_offsets").as_array();
    if (offsets.size() != 2) corrupt(fmt::format("expected two offsets, found {}", offsets.size()));
    entry.begin = offsets[0].as_uint();
    entry.end = offsets[1].as_uint();
    if (entry.end < entry.begin)
      corrupt(fmt::format("it ends at {}, before its start {}", entry.end, entry.begin));
  });

  const int64_t bits = checked_mul<int64_t>(element_count(entry.shape), entry.type->bits, "its size in bits");
  if (bits % 8 != 0) corrupt(fmt::format("its {} bits are not whole bytes", bits));
  if (static_cast<uint64_t>(bits / 8) != entry.end - entry.begin) {
    corrupt(fmt::format("a tensor of type {} and shape {} takes {} bytes, its offsets span {}", type_name,
                        printable(fmt::format("[{}]", fmt::join(entry.shape, ", "))), bits / 8,
                        entry.end - entry.begin));
  }
  return entry;
}

SafetensorsMetadata read_metadata(const json::Value& value) {
  SafetensorsMetadata metadata;
  if (value.is_null()) return metadata;
  for (const json::Member& member : value.as_object()) {
    with_location("key", member.first,
                  [&] { metadata.emplace_back(member.first, member.second.as_string()); });
  }
  return metadata;
}

// The tensors must cover the data without holes or overlaps: a byte that nobody owns could hide something,
// one that two own could be two things.
void check_cover(std::span<const Entry> sorted, uint64_t data_size) {
  uint64_t expected = 0;
  for (const Entry& entry : sorted) {
    if (entry.begin != expected) {
      throw Error(
          ErrorCode::kCorrupt,
          fmt::format("it starts at byte {} of the data, {} the tensor before it ends at {}", entry.begin,
                      entry.begin > expected ? "leaving a hole:" : "overlapping:", expected))
          .add_location("tensor", *entry.name);
    }
    expected = entry.end;
  }
  if (expected != data_size) {
    throw Error(
        ErrorCode::kCorrupt,
        fmt::format("the tensors take {} bytes, {} bytes of data follow the header", expected, data_size),
        expected > data_size ? "the file may be cut short: copy or download it again" : "");
  }
}

Tensor make_tensor(const Entry& entry, const std::shared_ptr<Mapping>& mapping, uint64_t data_start) {
  if (!entry.type->dtype) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("it is of type {}, which PyTorch does not have", entry.type->name),
                "convert it to another type with the program that wrote the file");
  }
  Dims sizes = entry.shape;
  if (entry.type->bits == 4) {
    const size_t last = sizes.size() - 1;  // whole bytes: there is a dimension
    if (sizes[last] % 2 != 0) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("its last dimension of {} values of type {} does not fill whole bytes",
                              sizes[last], entry.type->name));
    }
    sizes[last] /= 2;
  }
  return Tensor::contiguous(*entry.type->dtype, sizes,
                            Storage::view(mapping, data_start + entry.begin, entry.end - entry.begin));
}

SafetensorsFile read_file(const std::shared_ptr<Mapping>& mapping) {
  ByteReader reader(mapping->bytes());
  const auto header_size = reader.le<uint64_t>("the length of the header");
  if (header_size > kMostSafetensorsHeader) {
    reader.fail_at(0, fmt::format("the header is said to take {} bytes, the format allows {}", header_size,
                                  kMostSafetensorsHeader));
  }
  const std::string_view text = reader.text(header_size, "the header");
  if (!text.starts_with('{')) reader.fail_at(8, "the header does not start with '{'");
  const json::Value header = with_location("part", "header", [&] { return json::parse(text); });

  SafetensorsFile file;
  std::vector<Entry> entries;
  entries.reserve(header.as_object().size());
  for (const auto& [name, value] : header.as_object()) {
    if (name == kSafetensorsMetadataKey) {
      file.metadata = with_location("part", name, [&] { return read_metadata(value); });
    } else {
      entries.push_back(
          with_location("tensor", name, [&] { return read_entry(entries.size(), name, value); }));
    }
  }
  // Empty tensors share their place with others: among those the header's order counts.
  std::ranges::sort(entries, {},
                    [](const Entry& entry) { return std::tuple(entry.begin, entry.end, entry.index); });
  check_cover(entries, reader.remaining());

  file.tensors.reserve(entries.size());
  for (const Entry& entry : entries) {
    with_location("tensor", *entry.name, [&] {
      file.tensors.push_back({*entry.name, make_tensor(entry, mapping, reader.offset())});
    });
  }
  return file;
}

}  // namespace

SafetensorsFile read_safetensors(std::shared_ptr<Mapping> mapping) {
  if (mapping->path().empty()) return read_file(mapping);
  return with_location("file", mapping->path(), [&] { return read_file(mapping); });
}

bool looks_like_safetensors(ByteSpan bytes) {
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  const auto header_size = load_le<uint64_t>(bytes.data());
  return header_size >= 2 && header_size <= kMostSafetensorsHeader && header_size <= bytes.size() - 8;
}

}  // namespace flambeau
