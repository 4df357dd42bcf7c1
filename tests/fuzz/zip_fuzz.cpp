// Opens, verifies and reads every record, and looks through PyTorch's view of it. Only Error may come out.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/zip/reader.h"
#include "flambeau/base/error.h"

namespace {

using flambeau::ByteSpan;
using flambeau::Error;
using flambeau::Mapping;
namespace zip = flambeau::zip;

void check(bool condition) {
  if (!condition) std::abort();
}

void read_all(const zip::Reader& reader) {
  for (const zip::Entry& entry : reader.entries()) {
    check(reader.find(entry.name) == &entry);
    bool verified = false;
    try {
      reader.verify(entry);
      verified = true;
    } catch (const Error&) {
    }
    try {
      const std::vector<uint8_t> bytes = reader.read(entry);
      check(verified && bytes.size() == entry.size);
    } catch (const Error&) {
      check(!verified);
    }
    if (entry.method == zip::Method::kStored) check(reader.view(entry).size() == entry.size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  zip::Limits limits;
  limits.entries = 1000;
  limits.inflate_bytes = 1U << 20;
  const auto mapping = Mapping::from_buffer(std::vector<uint8_t>(data, data + size));
  zip::looks_like_zip(mapping->bytes());
  try {
    read_all(zip::Reader::open(mapping, limits));
    const auto archive = flambeau::RecordArchive::open(mapping, limits);
    check(archive.names().size() + archive.outside().size() <= archive.zip().entries().size());
    archive.version();
    archive.byteorder();
  } catch (const Error&) {
  }
  return 0;
}
