#include "flambeau/formats/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/bytes.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/gguf/gguf.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/safetensors/safetensors.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {
namespace {

using enum FileKind;

constexpr std::array kKinds = {
    FileKindInfo{kUnknown, "unknown", "a file of no known kind", false},
    FileKindInfo{kTorchSave, "torch_save", "a torch.save file (zip)", true},
    FileKindInfo{kTorchSaveLegacy, "torch_save_legacy", "a torch.save file in the legacy form (before 1.6)",
                 true},
    FileKindInfo{kTorchSaveTar, "torch_save_tar", "a torch.save file in the tar form (before 0.1.10)", true},
    FileKindInfo{kTorchScript, "torchscript", "a TorchScript module (torch.jit.save)", true},
    FileKindInfo{kTorchScriptMobile, "torchscript_mobile",
                 "a mobile TorchScript module (.ptl, with bytecode)", true},
    FileKindInfo{kTorchScriptLegacy, "torchscript_legacy", "a TorchScript module in the form before 1.3",
                 false},
    FileKindInfo{kMobileFlatBuffer, "mobile_flatbuffer", "a mobile module in the flatbuffer form", false},
    FileKindInfo{kPt2, "pt2", "an exported program archive (.pt2, torch.export.save)", true},
    FileKindInfo{kPt2OldLayout, "pt2_old_layout",
                 "an exported program in the older layout (.pt2, before 2.8)", true},
    FileKindInfo{kProgramJson, "program_json", "an exported program without its weights (JSON)", false},
    FileKindInfo{kProgramText, "program_text", "an exported program without its weights (text)", false},
    FileKindInfo{kTorchPackage, "torch_package", "a torch.package archive", false},
    FileKindInfo{kSafetensors, "safetensors", "a safetensors file", true},
    FileKindInfo{kNpy, "npy", "a NumPy array (.npy)", true},
    FileKindInfo{kNpz, "npz", "an archive of NumPy arrays (.npz)", true},
    FileKindInfo{kPickle, "pickle", "a bare Python pickle", false},
    FileKindInfo{kZip, "zip", "a zip archive of no known kind", false},
    FileKindInfo{kShardIndex, "shard_index", "weights in several files (an index of shards)", true},
    FileKindInfo{kGguf, "gguf", "a GGUF file", true},
};

bool is_npz(const zip::Reader& reader) {
  for (const zip::Entry& entry : reader.entries()) {
    if (!entry.name.ends_with(".npy")) return false;
  }
  return !reader.entries().empty();
}

FileKind recognize_archive(const RecordArchive& archive) {
  if (is_npz(archive.zip())) return kNpz;
  if (archive.has("archive_format")) return kPt2;
  if (archive.has("serialized_exported_program.json")) return kPt2OldLayout;
  if (archive.has(".data/extern_modules")) return kTorchPackage;
  if (archive.has("bytecode.pkl") && archive.has("data.pkl")) return kTorchScriptMobile;
  if (archive.has("constants.pkl") && archive.has("data.pkl")) return kTorchScript;
  if (archive.has("model.json")) return kTorchScriptLegacy;
  if (archive.has("data.pkl")) return kTorchSave;
  return kZip;
}

// PROTO with a known version, or the text opcodes that protocol 0 starts with.
bool starts_like_pickle(ByteSpan bytes) {
  return bytes.size() >= 2 && ((bytes[0] == 0x80 && bytes[1] <= 5) || bytes[0] == '(' || bytes[0] == 'c');
}

// STOP at the end.
bool looks_like_pickle(ByteSpan bytes) { return starts_like_pickle(bytes) && bytes.back() == '.'; }

// An object whose first member is one of those an exported program begins with.
bool looks_like_program(ByteSpan bytes) {
  std::string_view text = as_text(bytes.first(std::min<size_t>(bytes.size(), 256)));
  const auto skip_space = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  };
  skip_space();
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip_space();
  return text.starts_with("\"graph_module\"");
}

FileKind recognize_plain(ByteSpan bytes) {
  if (looks_like_program(bytes)) return kProgramJson;
  if (looks_like_shard_index(bytes)) return kShardIndex;
  if (as_text(bytes).starts_with("#| flambeau text ")) return kProgramText;
  if (looks_like_torch_tar(bytes))
    return kTorchSaveTar;  // torch.load tries tar first, whatever else would fit
  if (looks_like_npy(bytes)) return kNpy;
  if (looks_like_gguf(bytes)) return kGguf;
  if (bytes.size() >= 8 && as_text(bytes).substr(4, 4) == "PTMF") return kMobileFlatBuffer;
  if (looks_like_torch_legacy(bytes)) return kTorchSaveLegacy;
  if (looks_like_safetensors(bytes)) return kSafetensors;
  if (looks_like_pickle(bytes)) return kPickle;
  return kUnknown;
}

// Of what goes on behind these bytes.
void refuse_unknown_start(ByteSpan first) {
  if (zip::looks_like_zip(first) || starts_like_pickle(first) || starts_like_safetensors(first) ||
      recognize_plain(first) != kUnknown) {
    return;
  }
  const std::string_view foreign = foreign_kind(first);
  throw Error(ErrorCode::kUnsupported,
              fmt::format("is no regular file, and what it begins with is {}",
                          foreign.empty() ? "of no known kind" : foreign),
              "the rest was not read");
}

}  // namespace

std::shared_ptr<Mapping> open_model_file(const std::string& path) {
  return Mapping::open(path, FileApi::system(), refuse_unknown_start);
}

const FileKindInfo& file_kind_info(FileKind kind) { return kKinds[static_cast<size_t>(kind)]; }

FileKind recognize(const std::shared_ptr<Mapping>& mapping) { return recognize_file(mapping).kind; }

RecognizedFile recognize_file(const std::shared_ptr<Mapping>& mapping) {
  if (!zip::looks_like_zip(mapping->bytes())) return {recognize_plain(mapping->bytes()), nullptr};
  auto archive = std::make_shared<const RecordArchive>(RecordArchive::open(mapping));
  const FileKind kind = recognize_archive(*archive);
  return {kind, std::move(archive)};
}

std::string_view foreign_kind(ByteSpan bytes) {
  struct Signature {
    std::string_view start;
    std::string_view description;
  };
  static constexpr Signature kSignatures[] = {
      {"\x1f\x8b", "a gzip file (decompress it first)"},
      {"\x28\xb5\x2f\xfd", "a zstd file (decompress it first)"},
      {"\xfd"
       "7zXZ",
       "an xz file (decompress it first)"},
      {"BZh", "a bzip2 file (decompress it first)"},
      {"\x89HDF\r\n", "an HDF5 file"},
      {"\x7f"
       "ELF",
       "a program or shared library"},
      {"<!DOCTYPE", "a web page (the download went wrong)"},
      {"<html", "a web page (the download went wrong)"},
      {"version https://git-lfs", "a Git LFS pointer (fetch the real file with 'git lfs pull')"},
  };
  if (bytes.empty()) return "an empty file";
  for (const Signature& signature : kSignatures) {
    if (as_text(bytes).starts_with(signature.start)) return signature.description;
  }
  return "";
}

}  // namespace flambeau
