#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "flambeau/archive/json/cursor.h"
#include "flambeau/archive/json/fallback.h"
#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/safetensors/safetensors.h"
#include "flambeau/formats/safetensors/safetensors_types.h"

namespace flambeau {
namespace {

struct Entry {
  size_t index = 0;  // in the header
  const std::string* name = nullptr;
  const SafetensorsType* type = nullptr;
  Dims shape;
  uint64_t begin = 0;  // from the first byte after the header
  uint64_t end = 0;
};

// Calls item(number) for each of an array's numbers.
template <typename Item>
void read_numbers(json::Cursor& cursor, Item&& item) {
  if (!cursor.at_array()) cursor.shallow().as_array();  // says what it is instead
  cursor.array([&] { item(cursor.shallow().as_uint()); });
}

Dims read_shape(json::Cursor& cursor) {
  std::vector<int64_t> sizes;
  read_numbers(cursor, [&](uint64_t size) {
    if (sizes.size() == kMostDimensions)
      corrupt(fmt::format("it has more than {} dimensions", kMostDimensions));
    sizes.push_back(checked_cast<int64_t>(size, "a size of the shape"));
  });
  return Dims(sizes);
}

void read_offsets(json::Cursor& cursor, Entry& entry) {
  uint64_t offsets[2] = {};
  size_t count = 0;
  read_numbers(cursor, [&](uint64_t offset) {
    if (count < 2) offsets[count] = offset;
    ++count;
  });
  if (count != 2) corrupt(fmt::format("expected two offsets, found {}", count));
  entry.begin = offsets[0];
  entry.end = offsets[1];
  if (entry.end < entry.begin)
    corrupt(fmt::format("it ends at {}, before its start {}", entry.end, entry.begin));
}

Entry read_entry(json::Cursor& cursor) {
  if (!cursor.at_object()) corrupt("the header's entry for it is not an object");
  Entry entry;
  std::string type_name;
  constexpr std::string_view kFields[] = {"dtype", "shape", "data_offsets"};
  bool has[3] = {};
  cursor.object([&](const std::string& key) {
    const size_t field = static_cast<size_t>(std::ranges::find(kFields, key) - kFields);
    if (field == 3) {
      cursor.shallow();  // unknown fields are for somebody else
      return;
    }
    if (has[field]) corrupt(fmt::format("the header has more than one \"{}\" for it", key));
    has[field] = true;
    with_location("field", key, [&] {
      if (field == 0) {
        type_name = cursor.shallow().as_string();
      } else if (field == 1) {
        entry.shape = read_shape(cursor);
      } else {
        read_offsets(cursor, entry);
      }
    });
  });
  const auto need = [&](size_t field) {
    with_location("field", kFields[field], [&] {
      if (!has[field]) corrupt(fmt::format("the header has no \"{}\" for it", kFields[field]));
    });
  };
  need(0);
  entry.type = find_safetensors_type(type_name);
  if (entry.type == nullptr) corrupt(fmt::format("it is of the unknown type '{}'", printable(type_name)));
  need(1);
  need(2);

  const int64_t bits = checked_mul<int64_t>(element_count(entry.shape), entry.type->bits, "its size in bits");
  if (bits % 8 != 0) corrupt(fmt::format("its {} bits are not whole bytes", bits));
  if (static_cast<uint64_t>(bits / 8) != entry.end - entry.begin) {
    corrupt(fmt::format("a tensor of type {} and shape {} takes {} bytes, its offsets span {}",
                        entry.type->name, printable(fmt::format("[{}]", fmt::join(entry.shape, ", "))),
                        bits / 8, entry.end - entry.begin));
  }
  return entry;
}

SafetensorsMetadata read_metadata(json::Cursor& cursor) {
  SafetensorsMetadata metadata;
  if (!cursor.at_object()) {
    const json::Value value = cursor.shallow();
    if (!value.is_null()) value.as_object();  // says what it is instead
    return metadata;
  }
  cursor.object([&](const std::string& key) {
    with_location("key", key, [&] { metadata.emplace_back(key, cursor.shallow().as_string()); });
  });
  std::vector<std::string_view> keys;
  keys.reserve(metadata.size());
  for (const auto& [key, text] : metadata) keys.push_back(key);
  json::refuse_duplicate_keys(std::move(keys));
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

// The header's keys in order. Reads all of it, so that broken text is found before anything else is said.
std::vector<std::string> read_names(std::string_view text) {
  std::vector<std::string> names;
  json::Cursor cursor(text);
  cursor.object([&](std::string name) {
    names.push_back(std::move(name));
    cursor.shallow();
  });
  cursor.finish();
  json::refuse_duplicate_keys(std::vector<std::string_view>(names.begin(), names.end()));
  return names;
}

// The header is read piece by piece: as a tree of values it would take thirty times its size.
SafetensorsFile read_file(const std::shared_ptr<Mapping>& mapping) {
  ByteReader reader(mapping->bytes());
  const auto header_size = reader.le<uint64_t>("the length of the header");
  if (header_size > kMostSafetensorsHeader) {
    reader.fail_at(0, fmt::format("the header is said to take {} bytes, the format allows {}", header_size,
                                  kMostSafetensorsHeader));
  }
  const std::string_view text = reader.text(header_size, "the header");
  if (!text.starts_with('{')) reader.fail_at(8, "the header does not start with '{'");
  const std::vector<std::string> names = with_location("part", "header", [&] { return read_names(text); });

  SafetensorsFile file;
  DescriptionBudget budget = DescriptionBudget::for_headers(mapping->size());
  std::vector<Entry> entries;
  entries.reserve(names.size());
  json::Cursor cursor(text);
  size_t member = 0;
  cursor.object([&](const std::string&) {
    const std::string& name = names[member++];
    if (name == kSafetensorsMetadataKey) {
      file.metadata = with_location("part", name, [&] { return read_metadata(cursor); });
      return;
    }
    budget.charge(name.size() + sizeof(Entry));
    entries.push_back(with_location("tensor", name, [&] { return read_entry(cursor); }));
    entries.back().index = entries.size();
    entries.back().name = &name;
  });
  // Empty tensors share their place with others: among those the header's order counts.
  std::ranges::sort(entries, {},
                    [](const Entry& entry) { return std::tuple(entry.begin, entry.end, entry.index); });
  check_cover(entries, reader.remaining());

  file.tensors.reserve(entries.size());
  for (const Entry& entry : entries) {
    with_location("tensor", *entry.name, [&] {
      file.tensors.push_back({*entry.name, make_tensor(entry, mapping, reader.offset())});
      budget.charge(file.tensors.back().tensor, *entry.name);
    });
  }
  return file;
}

}  // namespace

SafetensorsFile read_safetensors(std::shared_ptr<Mapping> mapping) {
  return mapping->reading([&] { return read_file(mapping); });
}

bool starts_like_safetensors(ByteSpan bytes) {
  if (bytes.size() < 10 || bytes[8] != '{') return false;
  const auto header_size = load_le<uint64_t>(bytes.data());
  return header_size >= 2 && header_size <= kMostSafetensorsHeader;
}

bool looks_like_safetensors(ByteSpan bytes) {
  return starts_like_safetensors(bytes) && load_le<uint64_t>(bytes.data()) <= bytes.size() - 8;
}

}  // namespace flambeau
