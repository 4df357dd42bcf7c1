// What `flambeau inspect --json` prints.
#include <fmt/format.h>

#include <filesystem>

#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/digest.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/schema_versions.h"
#include "flambeau/formats/tensor_pieces.h"
#include "flambeau/graph/report/summary.h"
#include "flambeau/report.h"
#include "flambeau/tensor/elements/statistics.h"

namespace flambeau::report {
namespace {

using Summary = graph::ProgramSummary;

json::Array ports_json(const std::vector<Summary::Port>& ports) {
  json::Array array;
  for (const Summary::Port& port : ports) {
    json::Value value;
    value.set("name", port.name);
    value.set("path", port.path.empty() ? json::Value() : json::Value(port.path));
    value.set("type", port.type);
    if (!port.effect.empty()) value.set("effect", port.effect);
    array.push_back(std::move(value));
  }
  return array;
}

json::Value optional_json(const std::optional<int64_t>& number) {
  return number ? json::Value(*number) : json::Value();
}

json::Value weights_json(uint64_t tensors, uint64_t elements, uint64_t bytes) {
  json::Value value;
  value.set("tensors", tensors);
  value.set("elements", elements);
  value.set("bytes", bytes);
  return value;
}

json::Value number_value(const std::optional<Number>& number) {
  if (!number) return {};
  return std::visit(
      [](auto value) {
        using Type = decltype(value);
        if constexpr (std::is_integral_v<Type>) {
          return json::Value(value);
        } else {
          return json::Value(static_cast<double>(value));
        }
      },
      *number);
}

json::Value tensor_value(const CheckpointTensor& entry, const InspectOptions& options, ThreadPool& pool,
                         ExpansionBudget& budget) {
  const Tensor& tensor = entry.tensor;
  json::Value value;
  value.set("name", entry.name);
  value.set("dtype", dtype_name(tensor.dtype()));
  if (!entry.stored_as.empty()) value.set("stored_as", entry.stored_as);
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
  if (options.statistics || options.digests)
    with_location("tensor", entry.name, [&] { budget.spend(tensor); });
  if (options.statistics) value.set("statistics", of_statistics(tensor, pool));
  if (options.digests) {
    const std::optional<Sha256::Digest> digest = digest_of(tensor);
    value.set("sha256", digest ? json::Value(to_hex(*digest)) : json::Value());
  }
  return value;
}

}  // namespace

json::Value of_records(const std::vector<RecordInfo>& records, const std::vector<std::string>& digests) {
  json::Array result;
  for (const RecordInfo& record : records) {
    json::Value entry;
    entry.set("name", record.name);
    entry.set("role", record_role_name(record.role));
    entry.set("bytes", record.size);
    entry.set("compressed_bytes", record.compressed_size);
    entry.set("compressed", record.is_compressed);
    entry.set("crc32", fmt::format("{:08x}", record.crc32));
    if (!digests.empty()) entry.set("sha256", digests[result.size()]);
    result.push_back(std::move(entry));
  }
  return result;
}

std::optional<Statistics> statistics_of(const Tensor& tensor, ThreadPool& pool) {
  if (tensor.is_meta() || tensor.element_count() == 0) return std::nullopt;
  try {
    return statistics(for_one_pass(tensor), &pool);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) return std::nullopt;
    throw;
  }
}

json::Value of_statistics(const Tensor& tensor, ThreadPool& pool) {
  const std::optional<Statistics> found = statistics_of(tensor, pool);
  if (!found) return {};
  json::Value value;
  value.set("min", number_value(found->min));
  value.set("max", number_value(found->max));
  value.set("mean", found->mean ? json::Value(*found->mean) : json::Value());
  value.set("nan", found->nan_count);
  value.set("inf", found->inf_count);
  return value;
}

std::vector<std::string> record_digests(const std::shared_ptr<Mapping>& mapping,
                                        const Inspection& inspection) {
  std::vector<std::string> digests;
  if (inspection.records.empty()) return digests;
  if (inspection.records_are_files) {
    const std::filesystem::path folder = std::filesystem::path(mapping->path()).parent_path();
    for (const RecordInfo& record : inspection.records)
      digests.push_back(to_hex(digest_of(*Mapping::open((folder / record.name).string()))));
    return digests;
  }
  const RecordExtractor extractor(mapping);
  for (const RecordInfo& record : inspection.records)
    digests.push_back(to_hex(Sha256::of(ByteSpan(extractor.extract(record.name)))));
  return digests;
}

json::Value of_program(const pt2::Model& model) {
  const graph::ExportedProgram& program = model.program;
  const Summary summary = summarize(program);
  json::Value value;
  value.set("name", model.name);
  value.set("schema_version", pt2::to_string(program.schema_version));
  value.set("torch_version", program.torch_version);
  json::Array dialects;
  for (const std::string& dialect : program.verifiers) dialects.emplace_back(dialect);
  value.set("dialects", std::move(dialects));
  value.set("nodes", summary.nodes);
  value.set("subgraphs", summary.subgraphs);
  value.set("inputs", ports_json(summary.inputs));
  value.set("outputs", ports_json(summary.outputs));
  json::Array symbols;
  for (const Summary::Symbol& symbol : summary.symbols) {
    json::Value entry;
    entry.set("name", symbol.name);
    entry.set("label", symbol.label.empty() ? json::Value() : json::Value(symbol.label));
    entry.set("min", optional_json(symbol.min));
    entry.set("max", optional_json(symbol.max));
    entry.set("example", optional_json(symbol.example));
    symbols.push_back(std::move(entry));
  }
  value.set("symbols", std::move(symbols));
  json::Value operators{json::Object{}};
  for (const auto& [target, count] : summary.operators) operators.set(target, count);
  value.set("operators", std::move(operators));
  json::Array modules;
  for (const Summary::Module& module : summary.modules) {
    json::Value entry = weights_json(module.tensors, module.elements, module.bytes);
    entry.set("name", module.name);
    modules.push_back(std::move(entry));
  }
  value.set("modules", std::move(modules));
  value.set("parameters",
            weights_json(summary.parameters, summary.parameter_elements, summary.parameter_bytes));
  value.set("buffers", weights_json(summary.buffers, summary.buffer_elements, summary.buffer_bytes));
  value.set("constants", weights_json(summary.constants, summary.constant_elements, summary.constant_bytes));
  json::Array guards;
  for (const std::string& guard : program.guards_code) guards.emplace_back(guard);
  value.set("guards", std::move(guards));
  return value;
}

json::Value of_inspection(const std::string& path, const std::shared_ptr<Mapping>& mapping,
                          const Inspection& inspection, const pt2::Package* package,
                          const InspectOptions& options, ThreadPool& pool) {
  const FileKindInfo& kind = file_kind_info(inspection.kind);
  json::Value value;
  value.set("file", path);
  value.set("bytes", inspection.file_size);
  if (options.digests) value.set("sha256", to_hex(digest_of(*mapping)));
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
      tensors.push_back(tensor_value(entry, options, pool, budget));
    }
  }
  for (const auto& [key, text] : inspection.metadata) metadata.set(key, text);
  if (package != nullptr) {
    json::Array programs;
    for (const pt2::Model& model : package->models) programs.push_back(of_program(model));
    value.set("programs", std::move(programs));
  }
  if (!inspection.compiled.empty()) {
    json::Array compiled;
    for (const CompiledModel& model : inspection.compiled) compiled.push_back(of_compiled(model));
    value.set("compiled", std::move(compiled));
  }
  value.set("tensors", std::move(tensors));
  value.set("metadata", std::move(metadata));
  value.set("records", of_records(inspection.records, options.digests ? record_digests(mapping, inspection)
                                                                      : std::vector<std::string>()));
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

}  // namespace flambeau::report
