#include "flambeau/formats/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/tar_reader.h"
#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
#include "flambeau/formats/gguf/gguf.h"
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

RecordRole role_of(std::string_view name, FileKind kind) {
  const size_t slash = name.find('/');
  const std::string_view inner =
      kind == FileKind::kNpz || slash == std::string_view::npos ? name : name.substr(slash + 1);
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

// Later versions left marks that earlier ones did not know: 2.1 brought the serialization id and the byte
// order, 2.7 the format version and the alignment. torch.export.save wrote bare records until 2.7 and today's
// archive since 2.8; AOTInductor's packages had such an archive from 2.5 on, at first without a top folder.
std::string guess_producer(const RecordArchive& archive, FileKind kind) {
  if (kind == FileKind::kTorchSave) {
    if (archive.has(".format_version")) return "PyTorch 2.7 or newer";
    if (archive.has(".data/serialization_id")) return "PyTorch 2.1 to 2.6";
    return "PyTorch 1.6 to 2.0";
  }
  if (kind == FileKind::kTorchScript || kind == FileKind::kTorchScriptMobile) {
    return archive.has(".data/serialization_id") ? "PyTorch 2.1 or newer" : "PyTorch 1.4 to 2.0";
  }
  if (kind == FileKind::kPt2) {
    return archive.top_folder().empty() ? "PyTorch 2.5 to 2.7" : "PyTorch 2.8 or newer";
  }
  if (kind == FileKind::kPt2OldLayout) return "PyTorch 2.1 to 2.7";
  return "";
}

// Far more than any model has; a file made to have more is told by its first ones.
constexpr size_t kMostGlobals = 10'000;

void add_globals(const pickle::Tree& tree, std::set<std::string>& globals) {
  for (const Node* global : tree.globals()) {
    if (globals.size() > kMostGlobals) return;
    globals.insert(global->as_global().dotted());
  }
}

void inspect_archive_pickles(const RecordArchive& archive, Inspection& result,
                             std::set<std::string>& globals) {
  for (const std::string_view name : archive.names()) {
    if (!name.ends_with(".pkl")) continue;
    const pickle::Tree tree = read_record_pickle(archive.zip(), archive.get(name), name);
    add_globals(tree, globals);
    if (name == "data.pkl" && !result.checkpoint) result.structure = outline(tree);
  }
}

void add_kind_notes(Inspection& result) {
  switch (result.kind) {
    case FileKind::kUnknown:
      result.notes.emplace_back("the bytes fit no kind of file that Flambeau knows");
      break;
    case FileKind::kTorchScript:
      result.notes.emplace_back("the code is listed, not analysed: 'flambeau extract' writes it out");
      break;
    case FileKind::kTorchScriptMobile:
      result.notes.emplace_back("the bytecode (bytecode.pkl) is listed, not decoded");
      break;
    case FileKind::kTorchScriptLegacy:
      result.notes.emplace_back("the module (model.json) and its tensors are listed, not decoded");
      break;
    case FileKind::kMobileFlatBuffer:
      result.notes.emplace_back("the inside of the flatbuffer is not decoded");
      break;
    case FileKind::kTorchPackage:
      result.notes.emplace_back("the package holds Python code, which Flambeau lists and never runs");
      break;
    case FileKind::kZip:
      result.notes.emplace_back("the zip archive has none of the records that PyTorch writes");
      break;
    default:
      break;
  }
  if (!result.checkpoint) return;
  for (const std::string& note : result.checkpoint->notes()) result.notes.push_back(note);
  for (const auto& [name, reason] : result.checkpoint->skipped()) {
    result.notes.push_back(fmt::format("tensor '{}' is not shown: {}", printable(name), reason));
  }
}

void inspect_zip(const RecordArchive& archive, Inspection& result, std::set<std::string>& globals) {
  result.producer = guess_producer(archive, result.kind);
  const bool has_byte_order = result.kind != FileKind::kNpz && result.kind != FileKind::kZip;
  // In the others a record of that name is something else, such as the schema's version.
  const bool has_version = has_byte_order && result.kind != FileKind::kPt2OldLayout;
  if (has_version) result.format_version = archive.version();
  if (has_byte_order) result.byte_order = archive.byteorder() == ByteOrder::kBig ? "big" : "little";
  inspect_archive_pickles(archive, result, globals);
}

std::vector<RecordInfo> records_of(const RecognizedFile& file, ByteSpan bytes) {
  std::vector<RecordInfo> records;
  if (file.archive) {
    for (const zip::Entry& entry : file.archive->zip().entries()) {
      records.push_back({std::string(entry.name), role_of(entry.name, file.kind), entry.size,
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

bool is_pickled(FileKind kind) {
  switch (kind) {
    case FileKind::kSafetensors:
    case FileKind::kShardIndex:
    case FileKind::kGguf:
    case FileKind::kNpz:
    case FileKind::kNpy:
      return false;
    default:
      return true;
  }
}

// The files that an index names, as if they were the records of an archive.
void add_shards(const std::shared_ptr<Mapping>& index, Inspection& result) {
  const std::filesystem::path folder = std::filesystem::path(index->path()).parent_path();
  for (const std::string& name : read_shard_index(as_text(index->bytes())).files) {
    std::error_code failure;
    const uint64_t size = std::filesystem::file_size(folder / name, failure);
    if (failure) continue;  // gone since the weights were opened
    result.records.push_back({name, RecordRole::kStorage, size, size, false, 0});
    result.file_size += size;
  }
}

void add_gguf(const std::shared_ptr<Mapping>& mapping, Inspection& result) {
  GgufFile file = read_gguf(mapping);
  result.format_version = file.version;
  result.byte_order = "little";
  result.metadata.clear();
  for (GgufMetadata& entry : file.metadata)
    result.metadata.emplace_back(std::move(entry.key), std::move(entry.text));
}

Inspection inspect_mapping(const std::shared_ptr<Mapping>& mapping) {
  Inspection result;
  result.file_size = mapping->size();
  const RecognizedFile file = recognize_file(mapping);
  result.kind = file.kind;
  result.records = records_of(file, mapping->bytes());
  std::set<std::string> globals;
  if (file_kind_info(result.kind).has_weights) {
    result.checkpoint = load_checkpoint(file, mapping);
    result.metadata = result.checkpoint->metadata();
    if (result.kind == FileKind::kShardIndex) add_shards(mapping, result);
    if (result.kind == FileKind::kGguf) add_gguf(mapping, result);
    if (is_pickled(result.kind)) {
      result.structure = outline(*result.checkpoint);
      add_globals(result.checkpoint->tree(), globals);
    }
  }
  if (file.archive) inspect_zip(*file.archive, result, globals);
  if (result.kind == FileKind::kTorchSaveLegacy)
    result.producer = "PyTorch 0.1.10 to 1.5, or a later one told so";
  if (result.kind == FileKind::kTorchSaveTar) result.producer = "PyTorch before 0.1.10";
  if (result.kind == FileKind::kPickle) {
    const pickle::Parsed parsed = pickle::parse(mapping->bytes(), mapping);
    result.structure = outline(parsed.tree);
    add_globals(parsed.tree, globals);
    result.notes.emplace_back("a bare pickle is shown as data; none of its names is imported or called");
  }
  if (result.kind == FileKind::kUnknown) {
    const std::string_view foreign = foreign_kind(mapping->bytes());
    if (!foreign.empty()) result.notes.push_back(fmt::format("it seems to be {}", foreign));
  }
  if (globals.size() > kMostGlobals) {
    result.notes.push_back(
        fmt::format("the pickles mention more than {} names, the others are not shown", kMostGlobals));
  }
  result.globals.assign(globals.begin(), globals.end());
  add_kind_notes(result);
  return result;
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

Inspection inspect_file(const std::shared_ptr<Mapping>& mapping) {
  return mapping->reading([&] { return inspect_mapping(mapping); });
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
