#include "flambeau/formats/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/tar_reader.h"
#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/inspecting.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/shards/shard_index.h"

namespace flambeau {
namespace {

using pickle::Node;

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view end) { return text.ends_with(end); });
}

bool is_library(std::string_view name) {
  return ends_with_any(name, {".so", ".dylib", ".dll", ".pyd", ".o", ".a", ".cubin", ".hsaco", ".ptx"}) ||
         name.find(".so.") != std::string_view::npos;
}

RecordRole role_of(std::string_view name, const Format& format) {
  const size_t slash = name.find('/');
  const std::string_view inner =
      format.has_flat_records || slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (is_library(inner)) return RecordRole::kLibrary;
  if (inner.starts_with("extra/") || inner.starts_with("extra_files/")) return RecordRole::kExtraFile;
  if (inner.ends_with(".pkl")) return RecordRole::kPickle;
  if (inner.ends_with(".npy")) return RecordRole::kArray;
  if (inner.ends_with(".debug_pkl") || inner.ends_with("debug_handles") || inner.starts_with("debug_")) {
    return RecordRole::kDebug;
  }
  if (inner.ends_with(".py") || ends_with_any(inner, {".cpp", ".c", ".cu", ".h"})) return RecordRole::kCode;
  if (inner == "version" || inner == "byteorder" || inner == ".format_version" ||
      inner == ".storage_alignment" || inner == "archive_format" || inner == "archive_version" ||
      inner.starts_with(".data/version") || inner == ".data/serialization_id" ||
      inner == ".data/python_version") {
    return RecordRole::kMarker;
  }
  if (inner.starts_with("models/") || inner.starts_with("serialized_")) return RecordRole::kProgram;
  if (inner.ends_with(".json")) return RecordRole::kConfig;
  if (inner.starts_with("data/") || inner.starts_with("constants/") || inner.starts_with("tensors/") ||
      inner.ends_with(".storage")) {
    return RecordRole::kStorage;
  }
  return RecordRole::kOther;
}

// Far more than any model has; a file made to have more is told by its first ones.
constexpr size_t kMostGlobals = 10'000;

std::vector<RecordInfo> records_of(const RecognizedFile& file, ByteSpan bytes) {
  std::vector<RecordInfo> records;
  if (file.archive) {
    for (const zip::Entry& entry : file.archive->zip().entries()) {
      records.push_back({std::string(entry.name), role_of(entry.name, format_of(file.kind)), entry.size,
                         entry.compressed_size, entry.method == zip::Method::kDeflated, entry.crc32});
    }
  } else if (tar::looks_like_tar(bytes)) {
    for (const tar::Member& member : tar::read_members(bytes)) {
      const bool is_storage = member.name == "storages" || member.name == "tensors";
      records.push_back({std::string(member.name), is_storage ? RecordRole::kStorage : RecordRole::kPickle,
                         member.data.size(), member.data.size(), false, 0});
    }
  }
  return records;
}

}  // namespace

std::string_view record_role_name(RecordRole role) {
  switch (role) {
    case RecordRole::kPickle:
      return "pickle";
    case RecordRole::kStorage:
      return "storage";
    case RecordRole::kCode:
      return "code";
    case RecordRole::kDebug:
      return "debug";
    case RecordRole::kProgram:
      return "program";
    case RecordRole::kConfig:
      return "config";
    case RecordRole::kLibrary:
      return "library";
    case RecordRole::kExtraFile:
      return "extra file";
    case RecordRole::kArray:
      return "array";
    case RecordRole::kMarker:
      return "marker";
    case RecordRole::kOther:
      return "other";
  }
  return "other";
}

Inspecting::Inspecting(const std::shared_ptr<Mapping>& mapping)
    : mapping_(mapping), file_(recognize_file(mapping)) {
  result_.file_size = mapping->size();
  result_.kind = file_.kind;
  result_.records = records_of(file_, mapping->bytes());
}

void Inspecting::add_globals(const pickle::Tree& tree) {
  for (const Node* global : tree.globals()) {
    if (globals_.size() > kMostGlobals) return;
    globals_.insert(global->as_global().dotted());
  }
}

void Inspecting::add_archive_version() { result_.format_version = archive().version(); }

void Inspecting::add_byte_order() {
  result_.byte_order = archive().byteorder() == ByteOrder::kBig ? "big" : "little";
}

void Inspecting::add_files_beside(std::span<const std::string> names) {
  result_.records_are_files = true;
  const std::filesystem::path folder = std::filesystem::path(mapping_->path()).parent_path();
  for (const std::string& name : names) {
    std::error_code failure;
    const uint64_t size = std::filesystem::file_size(folder / name, failure);
    if (failure) continue;  // gone since the weights were opened
    result_.records.push_back({name, RecordRole::kStorage, size, size, false, 0});
    result_.file_size += size;
  }
}

void Inspecting::add_checkpoint() {
  result_.checkpoint = load_checkpoint(file_, mapping_);
  result_.metadata = result_.checkpoint->metadata();
  if (!format_of(file_.kind).has_structure) return;
  result_.structure = outline(*result_.checkpoint);
  add_globals(result_.checkpoint->tree());
}

void Inspecting::add_pickles() {
  for (const std::string_view name : archive().names()) {
    if (!name.ends_with(".pkl")) continue;
    const pickle::Tree tree = read_record_pickle(archive().zip(), archive().get(name), name);
    add_globals(tree);
    if (name == "data.pkl" && !result_.checkpoint) result_.structure = outline(tree);
  }
}

Inspection Inspecting::finish() && {
  const Format& format = format_of(file_.kind);
  if (format.has_weights()) add_checkpoint();
  if (format.inspect != nullptr) format.inspect(*this);
  if (format.is_index()) add_files_beside(format.files_beside(mapping_));
  if (file_.archive) add_pickles();
  if (globals_.size() > kMostGlobals) {
    result_.notes.push_back(
        fmt::format("the pickles mention more than {} names, the others are not shown", kMostGlobals));
  }
  result_.globals.assign(globals_.begin(), globals_.end());
  if (!format.note.empty()) result_.notes.emplace_back(format.note);
  if (!result_.checkpoint) return std::move(result_);
  for (const std::string& note : result_.checkpoint->notes()) result_.notes.push_back(note);
  for (const auto& [name, reason] : result_.checkpoint->skipped()) {
    result_.notes.push_back(fmt::format("tensor '{}' is not shown: {}", printable(name), reason));
  }
  return std::move(result_);
}

Inspection inspect_file(const std::shared_ptr<Mapping>& mapping) {
  return mapping->reading([&] { return Inspecting(mapping).finish(); });
}

Inspection inspect_file(const std::string& path) {
  return inspect_file(open_model_file(weights_file_of(path)));
}

std::vector<RecordInfo> list_records(const std::shared_ptr<Mapping>& mapping) {
  return mapping->reading([&] { return records_of(recognize_file(mapping), mapping->bytes()); });
}

struct RecordExtractor::Opened {
  std::shared_ptr<Mapping> mapping;
  std::optional<RecordArchive> zip;
  std::unordered_map<std::string_view, ByteSpan> tar;
};

RecordExtractor::RecordExtractor(const std::shared_ptr<Mapping>& mapping)
    : opened_(std::make_unique<Opened>()) {
  opened_->mapping = mapping;
  const ByteSpan bytes = mapping->bytes();
  if (zip::looks_like_zip(bytes)) {
    opened_->zip = RecordArchive::open(mapping);
  } else if (tar::looks_like_tar(bytes)) {
    mapping->reading([&] {
      for (const tar::Member& member : tar::read_members(bytes)) opened_->tar[member.name] = member.data;
    });
  } else {
    throw Error(ErrorCode::kInvalidArgument, "is not an archive: it has no records");
  }
}

RecordExtractor::~RecordExtractor() = default;
RecordExtractor::RecordExtractor(RecordExtractor&&) noexcept = default;
RecordExtractor& RecordExtractor::operator=(RecordExtractor&&) noexcept = default;

std::vector<uint8_t> RecordExtractor::extract(std::string_view name) const {
  if (opened_->zip) {
    const zip::Reader& zip = opened_->zip->zip();
    if (const zip::Entry* entry = zip.find(name)) return zip.read(*entry);
    if (opened_->zip->has(name)) return opened_->zip->read(name);
  } else if (const auto found = opened_->tar.find(name); found != opened_->tar.end()) {
    return opened_->mapping->reading(
        [&] { return std::vector<uint8_t>(found->second.begin(), found->second.end()); });
  }
  std::vector<std::string> names;
  for (const RecordInfo& record : list_records(opened_->mapping)) names.push_back(record.name);
  throw Error(ErrorCode::kNotFound, fmt::format("has no record '{}'", printable(name)),
              did_you_mean(name, names, "'flambeau list' shows all records"));
}

std::vector<uint8_t> extract_record(const std::shared_ptr<Mapping>& mapping, std::string_view name) {
  return RecordExtractor(mapping).extract(name);
}

}  // namespace flambeau
