#include "flambeau/aot/payload.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>

#include "flambeau/archive/json/json.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/base/sha256.h"
#include "flambeau/formats/pt2/package_readers.h"
#include "flambeau/graph/program.h"

namespace flambeau::aot {
namespace {

// The last bytes of the file, little-endian.
struct Footer {
  char magic[16];
  uint64_t kind;
  uint64_t offset;
  uint64_t size;
};
constexpr std::string_view kMagic("flambeau payload", 16);
constexpr size_t kAlignment = 64;

[[noreturn]] void fail_footer(const Footer& footer, size_t end) {
  throw Error(
      ErrorCode::kCorrupt,
      fmt::format("what lies behind the library's code is said to be of kind {}, {} bytes from byte {} on, "
                  "and ends at byte {}",
                  footer.kind, footer.size, footer.offset, end))
      .add_location("byte", std::to_string(end - sizeof footer));
}

// What the last of the bytes say.
std::optional<Footer> find_footer(ByteSpan bytes) {
  if (bytes.size() < sizeof(Footer)) return std::nullopt;
  Footer footer;
  const size_t at = bytes.size() - sizeof footer;
  std::memcpy(&footer, bytes.data() + at, sizeof footer);
  if (std::string_view(footer.magic, sizeof footer.magic) != kMagic) return std::nullopt;
  if (footer.kind == 0 || footer.kind > static_cast<uint64_t>(PayloadKind::kKernels) || footer.offset > at ||
      footer.size != at - footer.offset)
    fail_footer(footer, bytes.size());
  return footer;
}

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

void add(Sha256& hash, const std::vector<graph::Weight>& weights) {
  for (const graph::Weight& weight : weights) {
    if (!weight.tensor.defined() || weight.tensor.storage()->is_meta()) continue;
    const std::shared_ptr<const Storage> bytes = Storage::ready(weight.tensor.storage());
    hash.add(as_bytes(fmt::format("{}:{}:{};", weight.name, bytes->size(),
                                  libdeflate_crc32(0, bytes->bytes().data(), bytes->size()))));
  }
}

}  // namespace

std::vector<uint8_t> with_payload(ByteSpan library, PayloadKind kind, ByteSpan payload) {
  Footer footer = {};
  std::ranges::copy(kMagic, footer.magic);
  footer.kind = static_cast<uint64_t>(kind);
  footer.offset = aligned(library.size());
  footer.size = payload.size();
  std::vector<uint8_t> file;
  file.reserve(footer.offset + payload.size() + sizeof footer);
  file.assign(library.begin(), library.end());
  file.resize(footer.offset);
  file.insert(file.end(), payload.begin(), payload.end());
  const auto* const end = reinterpret_cast<const uint8_t*>(&footer);
  file.insert(file.end(), end, end + sizeof footer);
  return file;
}

std::vector<uint8_t> with_kernels(ByteSpan library, ByteSpan kernels) {
  // Their end is where the next payload begins.
  const size_t end = aligned(aligned(library.size()) + kernels.size() + sizeof(Footer));
  std::vector<uint8_t> padded(kernels.begin(), kernels.end());
  padded.resize(end - sizeof(Footer) - aligned(library.size()));
  return with_payload(library, PayloadKind::kKernels, padded);
}

std::optional<Payload> find_payload(const std::shared_ptr<Mapping>& file) {
  const std::optional<Footer> footer = find_footer(file->bytes());
  if (!footer) return std::nullopt;
  const auto kind = static_cast<PayloadKind>(footer->kind);
  if (kind != PayloadKind::kWhole && kind != PayloadKind::kReference) fail_footer(*footer, file->size());
  return Payload{kind, Mapping::part(file, file->mutable_bytes().subspan(footer->offset, footer->size))};
}

std::shared_ptr<Mapping> find_kernels(const std::shared_ptr<Mapping>& file) {
  const std::optional<Footer> last = find_footer(file->bytes());
  if (!last) return nullptr;
  const std::optional<Footer> footer = find_footer(file->bytes().first(last->offset));
  if (!footer) return nullptr;
  if (static_cast<PayloadKind>(footer->kind) != PayloadKind::kKernels) fail_footer(*footer, last->offset);
  return Mapping::part(file, file->mutable_bytes().subspan(footer->offset, footer->size));
}

std::string token_of(const graph::ExportedProgram& program) {
  Sha256 hash;
  hash.add(as_bytes(pt2::write_program(program)));
  add(hash, program.state_dict);
  add(hash, program.constants);
  return to_hex(hash.finish());
}

std::string write_reference(const Reference& reference) {
  json::Value value;
  value.set("model", reference.model);
  value.set("token", reference.token);
  return json::dump(value);
}

Reference read_reference(std::string_view text) {
  const json::Value value = json::parse(text);
  const auto member = [&](std::string_view name) {
    const json::Value* const found = value.find(name);
    if (found == nullptr) throw Error(ErrorCode::kCorrupt, fmt::format("there is no member '{}'", name));
    return found->as_string();
  };
  return {member("model"), member("token")};
}

std::string token_record(std::string_view model) {
  return fmt::format("data/aotinductor/{}/flambeau.token", model);
}

bool is_meant(const Reference& reference, const RecordArchive& archive) {
  const zip::Entry* const entry = archive.find(token_record(reference.model));
  return entry != nullptr && entry->size == reference.token.size() &&
         as_text(archive.zip().read(*entry)) == reference.token;
}

pt2::Package read_programs(const std::shared_ptr<Mapping>& archive) {
  return archive->reading([&] {
    // Not recognize_file(): that would link every format there is into each compiled model.
    const RecognizedFile file{FileKind::kPt2,
                              std::make_shared<const RecordArchive>(RecordArchive::open(archive))};
    pt2::Package package;
    pt2::read_archive_layout(file, archive, package);
    return package;
  });
}

}  // namespace flambeau::aot
