#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"
#include "flambeau/formats/safetensors/safetensors.h"
#include "flambeau/formats/safetensors/safetensors_types.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau {
namespace {

struct Item {
  const NamedTensor* named;
  const SafetensorsType* type;
};

// The reference library leaves everything but control characters as it is, unlike Python's json.
void append_string(std::string& to, std::string_view text) {
  if (!is_valid_utf8(text)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the text '{}' is not UTF-8, safetensors holds no other", printable(text)));
  }
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  to += '"';
  for (const char c : text) {
    const size_t index = kSpecial.find(c);
    if (index != std::string_view::npos) {
      to.append(1, '\\').append(1, kLetters[index]);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<int>(c));
    } else {
      to += c;
    }
  }
  to += '"';
}

const SafetensorsType* type_of(const Tensor& tensor) {
  require_dense(tensor, "safetensors");
  const SafetensorsType* type = find_safetensors_type(tensor.dtype());
  if (type == nullptr) {
    const bool is_complex = dtype_info(tensor.dtype()).is_complex;
    throw Error(ErrorCode::kUnsupported,
                fmt::format("safetensors has no type for {}", dtype_name(tensor.dtype())),
                is_complex ? "convert it to complex64, or save a .pt file"
                           : "convert it to another type, or save a .pt file");
  }
  if (type->bits == 4 && tensor.dim() == 0) {
    throw Error(ErrorCode::kUnsupported, "safetensors cannot hold a float4 tensor without dimensions",
                "give it a shape of [1]");
  }
  return type;
}

std::vector<Item> sorted_items(std::span<const NamedTensor> tensors) {
  std::vector<Item> items;
  items.reserve(tensors.size());
  for (const NamedTensor& named : tensors) {
    with_location("tensor", named.name, [&] {
      if (named.name == kSafetensorsMetadataKey) {
        throw Error(ErrorCode::kInvalidArgument, "safetensors keeps this name for itself",
                    "rename the tensor");
      }
      items.push_back({&named, type_of(named.tensor)});
    });
  }
  std::ranges::sort(items, [](const Item& a, const Item& b) {
    return a.type != b.type ? a.type->rank > b.type->rank : a.named->name < b.named->name;
  });
  return items;
}

template <typename Names>
void refuse_duplicates(Names names, std::string_view what) {
  std::ranges::sort(names);
  const auto same = std::ranges::adjacent_find(names);
  if (same != names.end()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("two {} are named '{}'", what, printable(*same)));
  }
}

void check_names(std::span<const NamedTensor> tensors, const SafetensorsMetadata& metadata) {
  std::vector<std::string_view> names;
  for (const NamedTensor& named : tensors) names.push_back(named.name);
  refuse_duplicates(names, "tensors");
  names.clear();
  for (const auto& [key, value] : metadata) names.push_back(key);
  refuse_duplicates(names, "metadata entries");
}

std::string header_text(std::span<const Item> items, const SafetensorsMetadata& metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    text.append("\"").append(kSafetensorsMetadataKey).append("\":{");
    for (const auto& [key, value] : metadata) {
      if (text.back() != '{') text += ',';
      append_string(text, key);
      text += ':';
      append_string(text, value);
    }
    text += '}';
  }
  uint64_t at = 0;
  for (const Item& item : items) {
    if (text.size() > 1) text += ',';
    append_string(text, item.named->name);
    Dims sizes = item.named->tensor.sizes();
    if (item.type->bits == 4) {
      int64_t& last = sizes[sizes.size() - 1];
      last = checked_mul<int64_t>(last, 2, "the number of float4 values");
    }
    const uint64_t end = checked_add(at, item.named->tensor.byte_count(), "the size of all tensors");
    fmt::format_to(std::back_inserter(text), R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                   item.type->name, fmt::join(sizes, ","), at, end);
    at = end;
  }
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kMostSafetensorsHeader) {
    throw Error(ErrorCode::kLimit,
                fmt::format("the header would take {} bytes, safetensors allows {}", text.size(),
                            kMostSafetensorsHeader),
                "save the tensors in several files");
  }
  return text;
}

}  // namespace

void write_safetensors(ByteSink& sink, std::span<const NamedTensor> tensors,
                       const SafetensorsMetadata& metadata, Progress& progress) {
  const std::vector<Item> items = sorted_items(tensors);
  check_names(tensors, metadata);
  const std::string header = header_text(items, metadata);
  uint64_t total = 0;
  for (const Item& item : items) total += item.named->tensor.byte_count();
  progress.begin("writing weights", total);

  ByteWriter start;
  start.le<uint64_t>(header.size());
  start.text(header);
  sink.write(start.view());
  for (const Item& item : items) {
    // A lazy storage's error belongs to the tensor, the sink's does not.
    const Tensor tensor =
        with_location("tensor", item.named->name, [&] { return for_one_pass(item.named->tensor); });
    write_pieces(sink, tensor, progress);
  }
}

}  // namespace flambeau
