#include "flambeau/formats/shards/shard_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "flambeau/archive/json/cursor.h"
#include "flambeau/archive/json/fallback.h"
#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/format.h"

namespace flambeau {
namespace {

class IndexReader {
 public:
  explicit IndexReader(std::string_view text) : cursor_(text), budget_(text.size()) {}

  ShardIndex read() {
    if (!cursor_.at_object()) corrupt("the index is not an object");
    bool has_map = false;
    cursor_.object([&](const std::string& key) {
      if (key != "weight_map") {
        cursor_.shallow();
        return;
      }
      if (has_map) corrupt("the index has more than one \"weight_map\"");
      has_map = true;
      read_map();
    });
    cursor_.finish();
    if (!has_map) corrupt("the index has no \"weight_map\"");
    std::vector<std::string_view> names;
    for (const ShardIndex::Entry& entry : index_.entries) names.push_back(entry.tensor);
    json::refuse_duplicate_keys(std::move(names));
    return std::move(index_);
  }

 private:
  void read_map() {
    if (!cursor_.at_object()) corrupt("the index's \"weight_map\" is not an object");
    cursor_.object([&](std::string tensor) {
      budget_.charge(2 * tensor.size() + 256);
      const size_t file =
          with_location("tensor", tensor, [&] { return file_number(cursor_.shallow().as_string()); });
      index_.entries.push_back({std::move(tensor), file});
    });
  }

  size_t file_number(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, index_.files.size());
    if (is_new) {
      need_plain_name(name);
      budget_.charge(4 * name.size() + 256);
      index_.files.push_back(name);
    }
    return found->second;
  }

  json::Cursor cursor_;
  DescriptionBudget budget_;
  ShardIndex index_;
  std::unordered_map<std::string, size_t> numbers_;
};

// The only file of a folder whose name ends so; empty where there is none, or more than one.
std::string only_file(const std::filesystem::path& folder, std::string_view ending) {
  std::string found;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(ending) || entry.is_directory(failure)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

}  // namespace

void need_plain_name(const std::string& name) {
  const bool is_plain = !name.empty() && name != "." && name != ".." &&
                        name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (is_plain) return;
  throw Error(ErrorCode::kUnsafe,
              fmt::format("'{}' is not the name of a file beside the index", printable(name)),
              "an index names files of its own folder, without a path");
}

ShardIndex read_shard_index(std::string_view text) { return IndexReader(text).read(); }

std::string write_shard_index(const ShardIndex& index, uint64_t total_size) {
  std::vector<const ShardIndex::Entry*> sorted;
  for (const ShardIndex::Entry& entry : index.entries) sorted.push_back(&entry);
  std::ranges::sort(sorted, {},
                    [](const ShardIndex::Entry* entry) -> const std::string& { return entry->tensor; });
  json::Value metadata, map{json::Object{}}, document;
  metadata.set("total_size", total_size);
  for (const ShardIndex::Entry* entry : sorted) map.set(entry->tensor, index.files[entry->file]);
  document.set("metadata", std::move(metadata));
  document.set("weight_map", std::move(map));
  return json::dump(document, 2) + "\n";
}

bool looks_like_shard_index(ByteSpan bytes) {
  std::string_view text = as_text(bytes.first(std::min<size_t>(bytes.size(), 4096)));
  const auto skip = [&](char wanted) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with(wanted)) return false;
    text.remove_prefix(1);
    return true;
  };
  if (!skip('{')) return false;
  if (!skip('"')) return false;
  if (text.starts_with("weight_map\"")) return true;
  return text.starts_with("metadata\"") && text.find("\"weight_map\"") != std::string_view::npos;
}

std::string weights_file_of(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) return path;
  const std::filesystem::path folder(path);
  // In the order of the list: safetensors before torch.save.
  std::vector<std::string> names;
  for (const Format* format : all_formats()) {
    if (!format->model_file.empty()) names.emplace_back(format->model_file);
  }
  for (const std::string& name : names) {
    for (const std::string& file : {name, name + std::string(kIndexEnding)}) {
      if (std::filesystem::exists(folder / file, failure)) return (folder / file).string();
    }
  }
  for (const std::string_view behind : {kIndexEnding, std::string_view()}) {
    for (const std::string& name : names) {
      const std::string ending = std::filesystem::path(name).extension().string();
      if (ending.empty()) continue;
      const std::string found = only_file(folder, ending + std::string(behind));
      if (!found.empty()) return (folder / found).string();
    }
  }
  throw Error(ErrorCode::kNotFound, "the folder holds no weights that can be told from the others",
              "name one of its files; of a Hugging Face folder that is model.safetensors, "
              "model.safetensors.index.json, or pytorch_model.bin and its index")
      .add_location("file", path);
}

}  // namespace flambeau
