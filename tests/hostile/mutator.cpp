#include "hostile/mutator.h"

#include <algorithm>

#include "flambeau/archive/tar_reader.h"
#include "flambeau/archive/zip/reader.h"
#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/safetensors/safetensors.h"

namespace flambeau::hostile {
namespace {

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: the same on every machine
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

struct Record {
  std::string name;
  Bytes bytes;
};

bool is_pickle_name(std::string_view name) { return name.ends_with(".pkl") || name.ends_with(".debug_pkl"); }

// The records of an archive; none when it cannot be opened.
std::vector<Record> read_records(const Bytes& bytes) {
  std::vector<Record> records;
  try {
    const zip::Reader reader = zip::Reader::open(Mapping::from_buffer(bytes));
    for (const zip::Entry& entry : reader.entries()) {
      if (!entry.name.ends_with('/')) records.push_back({std::string(entry.name), reader.read(entry)});
    }
  } catch (const Error&) {
    records.clear();
  }
  return records;
}

// Prefers what is parsed over what is only weights.
size_t pick_record(const std::vector<Record>& records, Random& random) {
  for (int tries = 0; tries < 8; ++tries) {
    const size_t at = random.below(records.size());
    const Record& record = records[at];
    const bool is_parsed = is_pickle_name(record.name) || record.name.ends_with(".json") ||
                           record.name.ends_with("byteorder") || record.name.ends_with("version") ||
                           zip::looks_like_zip(record.bytes) || looks_like_npy(record.bytes);
    if (is_parsed) return at;
  }
  return random.below(records.size());
}

Bytes write_records(const std::vector<Record>& records, size_t deflated) {
  MemorySink sink;
  zip::Writer writer(sink, {.top_folder = ""});
  for (size_t i = 0; i < records.size(); ++i) {
    if (i == deflated) {
      writer.add_deflated(records[i].name, records[i].bytes);
    } else {
      writer.add(records[i].name, records[i].bytes);
    }
  }
  writer.finish();
  return sink.take();
}

}  // namespace

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Bytes Mutator::mutate(size_t input, uint64_t number) const {
  Random random(seed_ * 0x9e3779b97f4a7c15 + hash_of(inputs_[input].name) + number * 0xd1342543de82ef95);
  return mutate_bytes(inputs_[input].bytes, random, 0);
}

Bytes Mutator::mutate_bytes(const Bytes& bytes, Random& random, int depth) const {
  const size_t how = random.below(8);
  if (how >= 4 && zip::looks_like_zip(bytes)) return mutate_zip(bytes, random, depth);
  Bytes result = bytes;
  if (how == 0) {
    splice(result, random);
  } else if (how >= 3 && zip::looks_like_zip(bytes)) {
    mutate_zip_headers(result, random);
  } else if (how >= 3 && tar::looks_like_tar(bytes)) {
    mutate_tar(result, random);
  } else if (how >= 3 && looks_like_npy(bytes)) {
    mutate_npy(result, random);
  } else if (how >= 3 && looks_like_safetensors(bytes)) {
    mutate_safetensors(result, random);
  } else if (how >= 3 && !bytes.empty() && bytes[0] == 0x80) {
    mutate_pickle(result, random);
  } else if (how >= 3 && !bytes.empty() && (bytes[0] == '{' || bytes[0] == '[')) {
    if (random.one_in(3)) {
      mutate_text(result, random);
    } else {
      mutate_json(result, random);
    }
  } else {
    mutate_blindly(result, random);
  }
  return result;
}

// Changes what is inside of the records and writes the archive anew, so that sizes and checksums are right.
Bytes Mutator::mutate_zip(const Bytes& bytes, Random& random, int depth) const {
  std::vector<Record> records = read_records(bytes);
  if (records.empty() || depth > 2) {
    Bytes result = bytes;
    mutate_blindly(result, random);
    return result;
  }
  const size_t at = pick_record(records, random);
  Record& record = records[at];
  const size_t how = random.below(16);
  if (how == 0) {
    records.erase(records.begin() + static_cast<long>(at));
  } else if (how == 1) {
    record.bytes = random.pick(records).bytes;
  } else if (how == 2) {  // the same record of another archive
    const size_t slash = record.name.find('/');
    const std::string inner = slash == std::string::npos ? record.name : record.name.substr(slash);
    for (const Record& other : read_records(random.pick(inputs_).bytes)) {
      if (other.name.ends_with(inner)) record.bytes = other.bytes;
    }
  } else if (is_pickle_name(record.name) && how < 12) {
    mutate_pickle(record.bytes, random);
  } else {
    record.bytes = mutate_bytes(record.bytes, random, depth + 1);
  }
  const bool deflates = at < records.size() && records[at].bytes.size() < (1U << 16) && random.one_in(4);
  return write_records(records, deflates ? at : records.size());
}

void Mutator::splice(Bytes& bytes, Random& random) const {
  const Bytes& other = random.pick(inputs_).bytes;
  const size_t from = random.below(other.size());
  const size_t count = std::min(random.below(1U << (1 + random.below(14))), other.size() - from);
  const size_t at = random.below(bytes.size());
  if (random.one_in(2)) {
    bytes.insert(bytes.begin() + static_cast<long>(at), other.begin() + static_cast<long>(from),
                 other.begin() + static_cast<long>(from + count));
    return;
  }
  for (size_t i = 0; i < count && at + i < bytes.size(); ++i) bytes[at + i] = other[from + i];
}

}  // namespace flambeau::hostile
