// What the library finds out as JSON values: what `flambeau --json` prints and the Python package gives.
//
//   const report::Verification found = report::verify_file("model.pt2");
//   std::puts(json::dump(report::of_verification("model.pt2", found), 2).c_str());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/json/json.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/tensor/elements/statistics.h"

namespace flambeau {
class Error;
class Mapping;
struct CompiledModel;
struct FileDifferences;
struct Inspection;
struct RecordInfo;
struct SafetyReport;
}  // namespace flambeau
namespace flambeau::pt2 {
struct Model;
struct Package;
}  // namespace flambeau::pt2

namespace flambeau::report {

// {"error": {"code", "message", "remedy", "locations", "text"}}
json::Value of_error(const Error& error);

// `digests`: the SHA-256 of each record, in the same order; empty where nobody asked.
json::Value of_records(const std::vector<RecordInfo>& records, const std::vector<std::string>& digests = {});

// Nothing for meta tensors and types without an order.
std::optional<Statistics> statistics_of(const Tensor& tensor, ThreadPool& pool);
// min, max, mean, nan, inf; null where a tensor has none.
json::Value of_statistics(const Tensor& tensor, ThreadPool& pool);

struct InspectOptions {
  bool statistics = false;  // reads the weights
  bool digests = false;     // SHA-256 of the file, its records and tensors
};
// `package`: the programs of the file; null where it has none.
json::Value of_inspection(const std::string& path, const std::shared_ptr<Mapping>& mapping,
                          const Inspection& inspection, const pt2::Package* package,
                          const InspectOptions& options, ThreadPool& pool);
json::Value of_program(const pt2::Model& model);
json::Value of_compiled(const CompiledModel& model);

// SHA-256 of each record of an inspected file, in hexadecimal; of an index of shards, of each file.
std::vector<std::string> record_digests(const std::shared_ptr<Mapping>& mapping,
                                        const Inspection& inspection);

// "harmless", "runs code when used", "dangerous".
std::string_view verdict_of(const SafetyReport& report);
json::Value of_safety(const std::string& path, const SafetyReport& report);

json::Value of_differences(const FileDifferences& found);

// "auto", "training", "aten", "core", "edge". Throws Error(kInvalidArgument) for another name.
graph::Dialect dialect_from_name(std::string_view name);

struct Verification {
  struct Entry {
    std::string program;  // which one of several
    graph::Finding finding;
  };
  std::vector<Entry> findings;
  std::vector<std::string> notes;
  uint64_t nodes = 0;
  size_t programs = 0;
  bool has_weights = true;
};
// Throws Error(kNotFound) for an archive without programs, and what reading it throws.
Verification verify_file(const std::string& path, const graph::VerifyOptions& options = {});
json::Value of_verification(const std::string& path, const Verification& verification);

// In words that every reader of JSON knows: infinities and NaN become the texts "inf", "-inf" and "nan", and
// bytes of names that are no UTF-8 are escaped as Python's surrogateescape does.
json::Value strict(const json::Value& value);

}  // namespace flambeau::report
