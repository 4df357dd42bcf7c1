// flambeau inspect: what a file is and what it holds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <unordered_map>

#include "command_inspect_program.h"
#include "commands.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "flambeau/json.h"
#include "flambeau/tensor.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

std::string shape_of(const Tensor& tensor) { return fmt::format("[{}]", fmt::join(tensor.sizes(), ", ")); }

// The first tensor seen of each storage.
using SharedStorages = std::unordered_map<const Storage*, std::string>;

// What is special about a tensor: how it is laid out, where it was, what it stands for.
std::string remarks(const CheckpointTensor& entry, SharedStorages& shared) {
  std::vector<std::string> parts;
  const Tensor& tensor = entry.tensor;
  if (entry.role == TensorRole::kParameter) parts.emplace_back("parameter");
  if (entry.role == TensorRole::kStorage) parts.emplace_back("storage");
  if (entry.role == TensorRole::kNumpyArray) parts.emplace_back("numpy");
  if (tensor.layout() != Layout::kStrided) parts.emplace_back(layout_name(tensor.layout()));
  if (tensor.layout() == Layout::kStrided && !tensor.is_contiguous()) parts.emplace_back("strided");
  if (const Quantizer* quantizer = tensor.quantizer()) parts.emplace_back(scheme_name(quantizer->scheme));
  if (tensor.device().type != DeviceType::kCpu) parts.push_back(tensor.device().to_string());
  if (tensor.storage()) {
    const auto [first, is_new] = shared.try_emplace(tensor.storage().get(), entry.name);
    if (!is_new) parts.push_back(fmt::format("shares its storage with {}", printable(first->second)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Looking at every element may cost much more than the file is large.
void spend_for(const CheckpointTensor& entry, ExpansionBudget& budget) {
  with_location("tensor", entry.name, [&] { budget.spend(entry.tensor); });
}

json::Value tensor_json(const CheckpointTensor& entry, const InspectOptions& options, ThreadPool& pool,
                        ExpansionBudget& budget) {
  const Tensor& tensor = entry.tensor;
  json::Value value;
  value.set("name", entry.name);
  value.set("dtype", dtype_name(tensor.dtype()));
  json::Array shape, strides;
  for (const int64_t size : tensor.sizes()) shape.emplace_back(size);
  for (const int64_t stride : tensor.strides()) strides.emplace_back(stride);
  value.set("shape", std::move(shape));
  value.set("bytes", tensor.byte_count());
  value.set("layout", layout_name(tensor.layout()));
  if (tensor.layout() == Layout::kStrided) {
    value.set("strides", std::move(strides));
    value.set("offset", tensor.offset());
  }
  value.set("device", tensor.device().to_string());
  value.set("parameter", entry.role == TensorRole::kParameter);
  value.set("requires_grad", tensor.requires_grad());
  if (const Quantizer* quantizer = tensor.quantizer()) {
    value.set("scheme", scheme_name(quantizer->scheme));
    if (!quantizer->is_per_channel()) {
      value.set("scale", quantizer->scale);
      value.set("zero_point", quantizer->zero_point);
    } else {
      value.set("axis", quantizer->axis);
    }
  }
  if (options.statistics) {
    spend_for(entry, budget);
    value.set("statistics", statistics_json(tensor, pool));
  }
  return value;
}

json::Value inspection_json(const std::string& path, const Inspection& inspection,
                            const pt2::Package* package, const InspectOptions& options, ThreadPool& pool) {
  const FileKindInfo& kind = file_kind_info(inspection.kind);
  json::Value value;
  value.set("file", path);
  value.set("bytes", inspection.file_size);
  value.set("kind", kind.name);
  value.set("description", kind.description);
  value.set("producer", inspection.producer.empty() ? json::Value() : json::Value(inspection.producer));
  value.set("format_version",
            inspection.format_version ? json::Value(*inspection.format_version) : json::Value());
  value.set("byte_order", inspection.byte_order.empty() ? json::Value() : json::Value(inspection.byte_order));
  json::Array tensors;
  json::Value metadata{json::Object{}};
  if (inspection.checkpoint) {
    ExpansionBudget budget(inspection.checkpoint->tensors());
    for (const CheckpointTensor& entry : inspection.checkpoint->tensors()) {
      tensors.push_back(tensor_json(entry, options, pool, budget));
    }
    for (const auto& [key, text] : inspection.checkpoint->metadata()) metadata.set(key, text);
  }
  if (package != nullptr) {
    json::Array programs;
    for (const pt2::Model& model : package->models) programs.push_back(program_json(model));
    value.set("programs", std::move(programs));
  }
  value.set("tensors", std::move(tensors));
  value.set("metadata", std::move(metadata));
  value.set("records", records_json(inspection.records));
  json::Array structure;
  for (const OutlineLine& line : inspection.structure) {
    json::Value entry;
    entry.set("depth", line.depth);
    entry.set("key", line.key);
    entry.set("value", line.description);
    structure.push_back(std::move(entry));
  }
  value.set("structure", std::move(structure));
  json::Array globals, notes;
  for (const std::string& name : inspection.globals) globals.emplace_back(name);
  for (const std::string& note : inspection.notes) notes.emplace_back(note);
  value.set("globals", std::move(globals));
  value.set("notes", std::move(notes));
  return value;
}

void print_heading(std::string_view text) { fmt::print("\n{}\n", styled(text, Style::kBold)); }

void print_tensors(const Checkpoint& checkpoint, const InspectOptions& options, ThreadPool& pool) {
  const auto tensors = checkpoint.tensors();
  uint64_t bytes = 0;
  uint64_t elements = 0;
  for (const CheckpointTensor& entry : tensors) {
    bytes += entry.tensor.byte_count();
    elements += static_cast<uint64_t>(entry.tensor.element_count());
  }
  print_heading(fmt::format("{}, {}, {}", counted(tensors.size(), "tensor"),
                            counted(static_cast<uint64_t>(elements), "value"), human_bytes(bytes)));
  if (tensors.empty()) return;
  std::vector<std::string> header = {"name", "type", "shape", "bytes"};
  if (options.statistics) header.insert(header.end(), {"min", "max", "mean", "NaN"});
  header.emplace_back("");
  Table table(std::move(header));
  table.align_right(3);
  if (options.statistics) {
    for (size_t column = 4; column < 8; ++column) table.align_right(column);
  }
  size_t shown = 0;
  SharedStorages shared;
  ExpansionBudget budget(tensors);
  for (const CheckpointTensor& entry : tensors) {
    if (options.limit != 0 && shown == options.limit) break;
    ++shown;
    const Tensor& tensor = entry.tensor;
    std::vector<std::string> row = {printable(entry.name), std::string(dtype_name(tensor.dtype())),
                                    shape_of(tensor), human_bytes(tensor.byte_count())};
    if (options.statistics) {
      spend_for(entry, budget);
      for (std::string& cell : statistics_cells(tensor, pool)) row.push_back(std::move(cell));
    }
    row.push_back(remarks(entry, shared));
    table.add(std::move(row));
  }
  table.print(2);
  if (shown < tensors.size()) fmt::print("  ... and {} more (--limit 0 shows all)\n", tensors.size() - shown);
}

void print_structure(const Inspection& inspection) {
  print_heading("structure");
  for (const OutlineLine& line : inspection.structure) {
    const std::string key = line.key.empty() ? "" : styled(line.key, Style::kCyan) + ": ";
    fmt::print("  {}{}{}\n", std::string(static_cast<size_t>(line.depth) * 2, ' '), key, line.description);
  }
}

// A flat dict of tensors needs no picture beside its table.
bool is_worth_showing(const Inspection& inspection) {
  if (inspection.structure.empty()) return false;
  if (!inspection.checkpoint || inspection.checkpoint->tensors().empty()) return true;
  for (const OutlineLine& line : inspection.structure) {
    if (line.depth > 1) return true;
  }
  return false;
}

std::vector<RecordInfo> notable_records(const std::vector<RecordInfo>& records) {
  std::vector<RecordInfo> notable;
  for (const RecordInfo& record : records) {
    if (record.role == RecordRole::kCode || record.role == RecordRole::kExtraFile ||
        record.role == RecordRole::kLibrary || record.role == RecordRole::kOther) {
      notable.push_back(record);
    }
  }
  return notable;
}

void print_inspection(const std::string& path, const Inspection& inspection, const pt2::Package* package,
                      const InspectOptions& options, ThreadPool& pool) {
  const FileKindInfo& kind = file_kind_info(inspection.kind);
  fmt::print("{}: {}, {}\n", styled(printable(path, 400), Style::kBold), kind.description,
             human_bytes(inspection.file_size));
  std::vector<std::string> facts;
  if (!inspection.producer.empty()) facts.push_back("in the form of " + inspection.producer);
  if (inspection.format_version)
    facts.push_back(fmt::format("archive version {}", *inspection.format_version));
  if (!inspection.byte_order.empty()) facts.push_back(inspection.byte_order + "-endian");
  if (!inspection.records.empty()) facts.push_back(counted(inspection.records.size(), "record"));
  if (!facts.empty()) fmt::print("  {}\n", fmt::join(facts, ", "));

  if (package != nullptr) {
    for (const pt2::Model& model : package->models) print_program(model, options.limit);
  }
  // A program's weights are shown by module; one by one only with their statistics.
  if (inspection.checkpoint && (package == nullptr || options.statistics)) {
    for (const auto& [key, text] : inspection.checkpoint->metadata()) {
      fmt::print("  {}: {}\n", printable(key), printable(text, 200));
    }
    print_tensors(*inspection.checkpoint, options, pool);
  }
  if (options.structure || (package == nullptr && is_worth_showing(inspection))) print_structure(inspection);
  // Beside the tensors only what a person might want to read: code, extra files, libraries.
  const bool show_all = options.records || (!inspection.checkpoint && package == nullptr);
  const std::vector<RecordInfo> records = show_all ? inspection.records : notable_records(inspection.records);
  if (!records.empty()) {
    print_heading(show_all ? "records" : "files inside");
    print_records(records, options.records ? 0 : options.limit);
  }
  if (options.globals && !inspection.globals.empty()) {
    print_heading("names in pickles");
    for (const std::string& name : inspection.globals) fmt::print("  {}\n", printable(name));
  }
  if (!inspection.notes.empty()) {
    print_heading("notes");
    for (const std::string& note : inspection.notes) fmt::print("  {}\n", note);
  }
}

}  // namespace

int run_inspect(const InspectOptions& options, const CommonOptions& common) {
  ThreadPool pool(common.threads);
  json::Array results;
  int exit_code = kExitOk;
  for (size_t i = 0; i < options.files.size(); ++i) {
    const std::string& path = options.files[i];
    try {
      const std::shared_ptr<Mapping> file = open_model_file(path);
      Inspection inspection = inspect_file(file);
      std::optional<pt2::Package> package;
      if (is_program_kind(inspection.kind)) {
        package = pt2::read_package(file);
        for (const std::string& note : package->notes) inspection.notes.push_back(note);
      }
      const pt2::Package* const shown = package ? &*package : nullptr;
      if (common.json) {
        results.push_back(inspection_json(path, inspection, shown, options, pool));
      } else {
        if (i > 0) std::puts("");
        print_inspection(path, inspection, shown, options, pool);
      }
    } catch (const Error& error) {
      // One bad file does not keep the others from being shown.
      exit_code = kExitError;
      if (common.json) {
        results.push_back(error_json(error));
      } else {
        report_error(error, common);
      }
    }
  }
  if (common.json)
    print_json(options.files.size() == 1 ? std::move(results[0]) : json::Value(std::move(results)));
  return exit_code;
}

}  // namespace flambeau::cli
