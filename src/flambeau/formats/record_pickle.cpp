#include "flambeau/formats/record_pickle.h"

#include <algorithm>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/base/error.h"

namespace flambeau {

RecordJsonReader::RecordJsonReader(const zip::Reader& zip)
    : zip_(zip), left_(json::Limits::for_text(zip.mapping()->size()).bytes) {}

json::Limits RecordJsonReader::take(uint64_t text_size) {
  json::Limits limits;
  limits.bytes = std::min(left_, json::Limits::for_text(text_size).bytes);
  limits.longest_string = (uint64_t{1} << 20) + zip_.mapping()->size();
  constexpr uint64_t kKept = 8;  // times the text: what a program or a table made of it takes
  left_ -= std::min(left_, kKept * text_size);
  return limits;
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
