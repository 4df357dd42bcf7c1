#include "flambeau/archive/record_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "flambeau/base/error.h"

namespace flambeau {

uint64_t most_inflated_bytes(uint64_t file_size) {
  return std::max<uint64_t>(24ULL << 20, 4 * std::min<uint64_t>(file_size, 1ULL << 48));
}

bool inflates_too_much(const zip::Reader& zip, const zip::Entry& entry) {
  return entry.method == zip::Method::kDeflated && entry.size > most_inflated_bytes(zip.mapping()->size());
}

std::vector<uint8_t> read_modest_record(const zip::Reader& zip, const zip::Entry& entry) {
  if (inflates_too_much(zip, entry)) {
    throw Error(ErrorCode::kLimit,
                fmt::format("inflates to {} bytes, which is too much for a file of {}", entry.size,
                            zip.mapping()->size()),
                "'flambeau extract' writes it out, if it is to be looked at")
        .add_location("record", std::string(entry.name));
  }
  return zip.read(entry);
}

RecordArchive RecordArchive::open(std::shared_ptr<Mapping> mapping, const zip::Limits& limits) {
  RecordArchive archive(zip::Reader::open(std::move(mapping), limits));
  if (archive.zip_.entries().empty()) {
    Error error(ErrorCode::kCorrupt, "the archive has no records");
    if (const std::string& path = archive.zip_.mapping()->path(); !path.empty())
      error.add_location("file", path);
    throw error;
  }
  const std::string_view first = archive.zip_.entries().front().name;
  if (const size_t slash = first.find('/'); slash != std::string_view::npos) {
    archive.top_folder_ = first.substr(0, slash);
  }
  return archive;
}

const zip::Entry* RecordArchive::find(std::string_view name) const {
  return top_folder_.empty() ? zip_.find(name) : zip_.find(fmt::format("{}/{}", top_folder_, name));
}

const zip::Entry& RecordArchive::get(std::string_view name) const {
  if (const zip::Entry* entry = find(name)) return *entry;
  Error error(ErrorCode::kNotFound, "is not in the archive");
  error.add_location("record", std::string(name));
  if (const std::string& path = zip_.mapping()->path(); !path.empty()) error.add_location("file", path);
  throw error;
}

std::string RecordArchive::read_text(std::string_view name) const {
  const std::vector<uint8_t> bytes = read_modest_record(zip_, get(name));
  return std::string(as_text(bytes));
}

std::optional<std::string_view> RecordArchive::relative(std::string_view name) const {
  if (top_folder_.empty()) return name;
  if (name.size() <= top_folder_.size() || !name.starts_with(top_folder_) ||
      name[top_folder_.size()] != '/') {
    return std::nullopt;
  }
  return name.substr(top_folder_.size() + 1);
}

std::vector<std::string_view> RecordArchive::names() const {
  std::vector<std::string_view> names;
  for (const zip::Entry& entry : zip_.entries()) {
    const std::optional<std::string_view> name = relative(entry.name);
    if (name && !name->empty() && name->back() != '/') names.push_back(*name);
  }
  return names;
}

std::vector<std::string_view> RecordArchive::outside() const {
  std::vector<std::string_view> names;
  for (const zip::Entry& entry : zip_.entries()) {
    if (!relative(entry.name)) names.push_back(entry.name);
  }
  return names;
}

std::optional<int64_t> RecordArchive::version() const {
  const std::string_view name = has(".data/version") ? ".data/version" : "version";
  if (!has(name)) return std::nullopt;
  const std::string text = read_text(name);
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error != std::errc() || version < 0 || (!rest.empty() && rest != "\n")) {
    throw Error(ErrorCode::kCorrupt, fmt::format("expected a version number, found '{}'", printable(text)))
        .add_location("record", std::string(name));
  }
  return version;
}

ByteOrder RecordArchive::byteorder() const {
  if (!has("byteorder")) return ByteOrder::kLittle;
  const std::string text = read_text("byteorder");
  if (text == "little") return ByteOrder::kLittle;
  if (text == "big") return ByteOrder::kBig;
  throw Error(ErrorCode::kCorrupt, fmt::format("expected 'little' or 'big', found '{}'", printable(text)))
      .add_location("record", "byteorder");
}

}  // namespace flambeau
