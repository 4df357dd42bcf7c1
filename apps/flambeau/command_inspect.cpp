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
#include "flambeau/program.h"
#include "flambeau/report.h"
#include "flambeau/tensor.h"
#include "outputs/compiled.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct InspectOptions {
  std::vector<std::string> files;
  bool statistics = false;
  bool records = false;
  bool globals = false;
  bool structure = false;
  bool digests = false;
  bool code = false;
  uint64_t limit = 50;
};

std::string shape_text(const Tensor& tensor) { return fmt::format("[{}]", fmt::join(tensor.sizes(), ", ")); }

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

// Of one that is decoded when it is read, what the file has.
std::string type_of(const CheckpointTensor& entry) {
  return std::string(entry.stored_as.empty() ? dtype_name(entry.tensor.dtype()) : entry.stored_as);
}

void print_tensors(const Checkpoint& checkpoint, const InspectOptions& options, ThreadPool& pool) {
  const auto tensors = checkpoint.tensors();
  uint64_t bytes = 0;
  uint64_t elements = 0;
  for (const CheckpointTensor& entry : tensors) {
    bytes += entry.tensor.byte_count();
    elements += static_cast<uint64_t>(entry.tensor.element_count());
  }
  print_heading(fmt::format("{}, {}, {}", counted(tensors.size(), "tensor"), counted(elements, "value"),
                            human_bytes(bytes)));
  if (tensors.empty()) return;
  std::vector<std::string> header = {"name", "type", "shape", "bytes"};
  if (options.statistics) header.insert(header.end(), {"min", "max", "mean", "NaN"});
  if (options.digests) header.emplace_back("sha256");
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
    std::vector<std::string> row = {printable(entry.name), type_of(entry), shape_text(tensor),
                                    human_bytes(tensor.byte_count())};
    if (options.statistics || options.digests) spend_for(entry, budget);
    if (options.statistics) {
      for (std::string& cell : statistics_cells(tensor, pool)) row.push_back(std::move(cell));
    }
    if (options.digests) {
      const std::optional<Sha256::Digest> digest = digest_of(tensor);
      row.push_back(digest ? to_hex(*digest) : "-");
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

void print_inspection(const std::string& path, const std::shared_ptr<Mapping>& mapping,
                      const Inspection& inspection, const Package* package, const InspectOptions& options,
                      ThreadPool& pool) {
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
  if (options.digests) fmt::print("  sha256 {}\n", to_hex(digest_of(*mapping)));

  if (package != nullptr) {
    for (const pt2::Model& model : package->models) print_program(model, options.limit);
  }
  for (const CompiledModel& model : inspection.compiled) print_compiled(model, options.limit);
  // A program's weights are shown by module; one by one only with their statistics.
  if (inspection.checkpoint && (package == nullptr || options.statistics)) {
    for (const auto& [key, text] : inspection.metadata)
      fmt::print("  {}: {}\n", printable(key), printable(text, 200));
    print_tensors(*inspection.checkpoint, options, pool);
  }
  if (options.structure || (package == nullptr && is_worth_showing(inspection))) print_structure(inspection);
  // Beside the tensors only what a person might want to read: code, extra files, libraries.
  const bool show_all = options.records || options.digests || (!inspection.checkpoint && package == nullptr);
  const std::vector<RecordInfo> records = show_all ? inspection.records : notable_records(inspection.records);
  if (!records.empty()) {
    print_heading(show_all ? "records" : "files inside");
    print_records(records, options.records ? 0 : options.limit,
                  options.digests ? report::record_digests(mapping, inspection) : std::vector<std::string>());
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

// Without --code, what cannot be read of the code is a note: all else was shown.
void print_script_part(const ModelSource& source, const InspectOptions& options,
                       const CommonOptions& common) {
  try {
    print_script(open_script(source, common), options.limit, options.code);
  } catch (const Error& error) {
    if (options.code || error.code() == ErrorCode::kCancelled) throw;
    fmt::print("\nthe code cannot be read: {}\n", printable(error.message(), 400));
  }
}

int run_inspect(const InspectOptions& options, const CommonOptions& common) {
  ThreadPool pool(common.threads);
  json::Array results;
  int exit_code = kExitOk;
  for (size_t i = 0; i < options.files.size(); ++i) {
    const std::string& path = options.files[i];
    try {
      // Opened once: a pipe cannot be read twice.
      const std::shared_ptr<Mapping> mapping = open_model_file(weights_file_of(path));
      Inspection inspection = inspect_file(mapping);
      std::optional<Package> package;
      if (is_program_kind(inspection.kind)) {
        package = load_package(mapping);
        for (const std::string& note : package->notes) inspection.notes.push_back(note);
      }
      const Package* const shown = package ? &*package : nullptr;
      if (common.json) {
        results.push_back(
            report::of_inspection(path, mapping, inspection, shown,
                                  {.statistics = options.statistics, .digests = options.digests}, pool));
        if (options.code)
          results.back().set("script", script_json(open_script({path, mapping, true}, common)));
      } else {
        if (i > 0) std::puts("");
        print_inspection(path, mapping, inspection, shown, options, pool);
        if (inspection.kind == FileKind::kTorchPackage) print_script_package(mapping);
        if (options.code || is_script_kind(inspection.kind))
          print_script_part({path, mapping, true}, options, common);
      }
      if (inspection.kind == FileKind::kUnknown && exit_code == kExitOk) exit_code = kExitFound;
    } catch (const Error& error) {
      // One bad file does not keep the others from being shown.
      exit_code = kExitError;
      if (common.json) {
        results.push_back(report::of_error(error));
      } else {
        report_error(error, common);
      }
    }
  }
  if (common.json)
    print_json(options.files.size() == 1 ? std::move(results[0]) : json::Value(std::move(results)));
  return exit_code;
}

}  // namespace

Command inspect_command() {
  auto options = std::make_shared<InspectOptions>();
  return {"inspect",
          "Show what files are and what they hold",
          {
              Option("FILE", "Files to look into, or folders of Hugging Face; - is standard input",
                     &options->files)
                  .required()
                  .takes(Takes::kInput),
              Option("-s,--stats", "Read the weights too: min, max, mean, NaN count", &options->statistics),
              Option("-r,--records", "List the records of the archive", &options->records),
              Option("-g,--globals", "List every name that the pickles mention", &options->globals),
              Option("--structure", "Draw the nesting even of a flat state dict", &options->structure),
              Option("--sha256", "SHA-256 of the file, its records and the values of its tensors",
                     &options->digests),
              Option("-c,--code", "Of TorchScript: modules, methods, and the operators that they call",
                     &options->code),
              Option("-n,--limit", "Rows per table; 0 for all", &options->limit).shows_default(),
          },
          {{"inspect model.pt", "what is it, which tensors does it hold"},
           {"inspect --stats model.safetensors", "with min, max, mean and NaN count"},
           {"inspect model.pt2", "inputs, outputs, operators of an exported program"},
           {"inspect --code script.pt", "modules, methods and operators of TorchScript"},
           {"inspect --json model.pt | jq '.tensors[].name'", "for scripts"}},
          [options](const CommonOptions& common) { return run_inspect(*options, common); }};
}

}  // namespace flambeau::cli
