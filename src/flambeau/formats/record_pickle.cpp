#include "flambeau/formats/record_pickle.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/pickle_reader.h"
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

pickle::Tree parse_record_pickle(const zip::Reader& zip, std::vector<uint8_t> bytes) {
  const auto kept = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  pickle::Limits limits;
  limits.fixed_bytes += limits.bytes_per_input_byte * std::min<uint64_t>(kept->size(), zip.mapping()->size());
  limits.bytes_per_input_byte = 0;
  return pickle::parse(*kept, kept, limits).tree;
}

pickle::Tree read_record_pickle(const zip::Reader& zip, const zip::Entry& entry, std::string_view name) {
  std::vector<uint8_t> bytes = read_modest_record(zip, entry);
  return with_location("record", name, [&] { return parse_record_pickle(zip, std::move(bytes)); });
}

}  // namespace flambeau
