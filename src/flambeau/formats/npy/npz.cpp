#include "flambeau/formats/npy/npz.h"

#include <fmt/format.h>

#include "flambeau/archive/zip/name.h"
#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npy_array.h"
#include "flambeau/formats/npy/npy_writer.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau {
namespace {

constexpr std::string_view kSuffix = ".npy";

class NpzReader {
 public:
  NpzReader(std::shared_ptr<Mapping> mapping, const zip::Limits& limits)
      : zip_(std::make_shared<const zip::Reader>(zip::Reader::open(std::move(mapping), limits))),
        budget_(zip_->mapping()->size()) {}

  NpzFile read() {
    NpzFile file;
    for (const zip::Entry& entry : zip_->entries()) {
      if (!entry.name.ends_with(kSuffix)) {
        file.skipped.emplace_back(entry.name);
        continue;
      }
      const std::string_view name = entry.name.substr(0, entry.name.size() - kSuffix.size());
      file.tensors.push_back(
          {std::string(name), entry.method == zip::Method::kStored ? stored(entry) : deflated(entry)});
      budget_.charge(file.tensors.back().tensor, name);
    }
    return file;
  }

 private:
  template <typename Body>
  decltype(auto) located(const zip::Entry& entry, Body&& body) {
    const auto in_record = [&] { return with_location("record", entry.name, body); };
    const std::string& path = zip_->mapping()->path();
    return path.empty() ? in_record() : with_location("file", path, in_record);
  }

  Tensor stored(const zip::Entry& entry) {
    return located(entry, [&] { return read_npy(zip_->mapping(), entry.data_offset, entry.size); });
  }

  Tensor deflated(const zip::Entry& entry) {
    // Small arrays are inflated now and stay; of others only the header is.
    constexpr size_t kKeptArray = 1U << 16;
    constexpr size_t kKeptInAll = 1U << 24;
    if (entry.size <= kKeptArray && kept_ + entry.size <= kKeptInAll) {
      kept_ += entry.size;
      const auto inflated = Mapping::from_buffer(zip_->read(entry));
      return located(entry, [&] { return read_npy(inflated, 0, inflated->size()); });
    }
    const NpyArray array = located(entry, [&] { return read_description(entry); });
    auto storage = Storage::lazy(array.data_size, [zip = zip_, entry, array] {
      const std::vector<uint8_t> bytes = zip->read(entry);
      // The header itself is under the checksum now, too.
      return array.elements(ByteSpan(bytes).subspan(array.data_start));
    });
    return Tensor::strided(array.dtype, array.geometry, std::move(storage));
  }

  NpyArray read_description(const zip::Entry& entry) {
    constexpr size_t kStart = (1U << 16) + 16;  // the longest header of version 1.0, which all but all have
    const std::vector<uint8_t> start = zip_->read_start(entry, kStart);
    try {
      ByteReader reader(start);
      return read_npy_array(reader, entry.size);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCorrupt || start.size() == entry.size) throw;
      const std::vector<uint8_t> all = read_modest_record(*zip_, entry);
      ByteReader reader(all);
      return read_npy_array(reader, entry.size);
    }
  }

  std::shared_ptr<const zip::Reader> zip_;
  DescriptionBudget budget_;
  size_t kept_ = 0;
};

void check_name(const std::string& name) {
  std::string problem = zip::name_problem(name + std::string(kSuffix));
  if (problem.empty() && !is_valid_utf8(name)) problem = "is not UTF-8";
  if (!problem.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the name {}, a .npz file cannot hold it safely", problem), "rename the tensor");
  }
}

}  // namespace

NpzFile read_npz(std::shared_ptr<Mapping> mapping, const zip::Limits& limits) {
  return mapping->reading([&] { return NpzReader(mapping, limits).read(); });
}

void write_npz(ByteSink& sink, std::span<const NamedTensor> tensors, Progress& progress) {
  std::vector<NpyPlan> plans;
  plans.reserve(tensors.size());
  uint64_t total = 0;
  for (const NamedTensor& named : tensors) {
    with_location("tensor", named.name, [&] {
      check_name(named.name);
      plans.push_back(plan_npy(named.tensor));
    });
    total += named.tensor.byte_count();
  }
  progress.begin("writing weights", total);
  zip::Writer writer(sink, {.top_folder = ""});
  for (size_t i = 0; i < plans.size(); ++i) {
    const NpyPlan& plan = plans[i];
    const std::string& name = tensors[i].name;
    const Tensor data = with_location("tensor", name, [&] { return for_one_pass(plan.data); });
    writer.add_stream(name + std::string(kSuffix), plan.header.size() + plan.data.byte_count(),
                      [&](const std::function<void(ByteSpan)>& emit) {
                        emit(as_bytes(plan.header));
                        emit_pieces(data, emit, progress);
                      });
  }
  writer.finish();
}

}  // namespace flambeau
