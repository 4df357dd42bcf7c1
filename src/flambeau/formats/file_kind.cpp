#include "flambeau/formats/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/bytes.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/format.h"

namespace flambeau {
namespace {

constexpr const Format* kFormats[] = {
#define FLAMBEAU_FORMAT(NAME) &k##NAME##Format,
#include "flambeau/formats/list.def"
#undef FLAMBEAU_FORMAT
};

template <typename Fits>
FileKind first_that(Fits&& fits) {
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (fits(*kFormats[i])) return static_cast<FileKind>(i);
  }
  return FileKind::kUnknown;
}

FileKind recognize_plain(ByteSpan bytes) {
  return first_that([&](const Format& format) { return format.fits != nullptr && format.fits(bytes); });
}

FileKind recognize_archive(const RecordArchive& archive) {
  return first_that(
      [&](const Format& format) { return format.fits_archive != nullptr && format.fits_archive(archive); });
}

bool may_begin(ByteSpan first) {
  return zip::looks_like_zip(first) || std::ranges::any_of(kFormats, [&](const Format* format) {
           const auto begins = format->may_begin != nullptr ? format->may_begin : format->fits;
           return begins != nullptr && begins(first);
         });
}

// Of what goes on behind these bytes.
void refuse_unknown_start(ByteSpan first) {
  if (may_begin(first)) return;
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

const Format& format_of(FileKind kind) { return *kFormats[static_cast<size_t>(kind)]; }
std::span<const Format* const> all_formats() { return kFormats; }

FileKindInfo file_kind_info(FileKind kind) {
  const Format& format = format_of(kind);
  return {kind, format.name, format.description, format.has_weights(), format.can_write()};
}

bool is_program_kind(FileKind kind) { return format_of(kind).has_programs(); }

std::optional<FileKind> weight_format_for(std::string_view path) {
  const FileKind found = first_that([&](const Format& format) {
    return std::ranges::any_of(format.writer.endings, [&](std::string_view ending) {
      return !ending.empty() && path.ends_with(ending);
    });
  });
  return found == FileKind::kUnknown ? std::nullopt : std::optional(found);
}

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
