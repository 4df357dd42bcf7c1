#include "flambeau/formats/flatbuffer/flatbuffer_writer.h"

#include <algorithm>
#include <unordered_set>

#include "flambeau/formats/flatbuffer/flat_value_writer.h"
#include "flambeau/formats/flatbuffer/schema.h"
#include "flambeau/script/bytecode/export.h"
#include "flambeau/script/operators/upgraders.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/operator_name.h"
#include "flambeau/value/value.h"

namespace flambeau::script {
namespace {

using flat::ModuleFields;
using flatbuffer::Builder;
using flatbuffer::Built;

constexpr uint32_t kStorageAlignment = 32;

uint32_t least_operator_version(const bytecode::Program& program) {
  int64_t version = kLeastArchiveVersion;
  for (const bytecode::Code& code : program.functions) {
    for (const bytecode::OperatorUse& use : code.operators)
      version = std::max(version, least_archive_version({use.name, use.overload}));
  }
  return static_cast<uint32_t>(version);
}

Built add_files(Builder& builder, const ExtraFiles& files) {
  std::vector<Built> tables;
  for (const auto& [name, contents] : files) {
    const Built held = builder.text(contents);
    const Built called = builder.shared_text(name);
    builder.begin_table();
    builder.field(flat::ExtraFileFields::kContents, held);
    builder.field(flat::ExtraFileFields::kName, called);
    tables.push_back(builder.end_table());
  }
  return builder.offsets(tables);
}

// The classes of the objects, those of the last attributes first, as PyTorch meets them.
std::vector<ValuePickler::Met> classes_met(const IValue& module, const SaveHooks& hooks,
                                           const KeptStates& kept) {
  std::vector<ValuePickler::Met> met;
  std::unordered_set<const void*> seen;
  std::vector<IValue> made;  // so that identities stay their own
  std::vector<IValue> left{module};
  while (!left.empty()) {
    const IValue value = std::move(left.back());
    left.pop_back();
    if (value.identity() == nullptr || !seen.insert(value.identity()).second) continue;
    if (value.is(IValue::Tag::kNative)) {
      const Object& object = value.as_native().object;
      met.push_back({object.class_name, nullptr});
      if (hooks.native_state) left.push_back(made.emplace_back(hooks.native_state(object)));
    } else if (value.is(IValue::Tag::kObject)) {
      const ObjectBox& object = value.as_object();
      const bool is_native = object.type->qualified_name().starts_with(kNativeClassPrefix);
      met.push_back({object.type->qualified_name(), is_native ? nullptr : object.type});
      const auto state = kept.find(value.identity());
      if (state != kept.end()) {
        left.push_back(state->second.state);
      } else if (!is_native && has_state_methods(*object.type) && hooks.get_state) {
        left.push_back(made.emplace_back(hooks.get_state(**object.type->find_method("__getstate__"), value)));
      } else {
        left.insert(left.end(), object.slots.begin(), object.slots.end());
      }
    } else if (value.is(IValue::Tag::kDict)) {
      for (const DictItems::Entry& entry : value.as_dict().items.entries()) left.push_back(entry.value);
    } else if (value.is(IValue::Tag::kList) || value.is(IValue::Tag::kTuple)) {
      left.insert(left.end(), value.items().begin(), value.items().end());
    }
  }
  return met;
}

}  // namespace

void write_flatbuffer(ByteSink& sink, const ScriptFile& file, const IValue& module,
                      const ExtraFiles& extra_files, bool has_code, const SaveHooks& hooks,
                      Progress& progress) {
  const bytecode::Program program = bytecode::export_program(*file.unit, module, flat::kVersion);
  PrintedCode code;
  ExtraFiles sources;
  if (has_code) {
    code = print_code(*file.unit, classes_met(module, hooks, file.kept),
                      module.as_object().type->qualified_name());
    // PyTorch puts them into two tables of hashes, one after the other, and so orders them.
    ExtraFiles grouped;
    for (CodeFile& printed : code.files) grouped[printed.qualifier] = std::move(printed.text);
    for (auto& [qualifier, text] : grouped) sources[qualifier] = std::move(text);
  }
  Builder builder;
  FlatValueWriter values(builder, *file.unit, hooks, file.kept, program);
  std::vector<uint32_t> methods;
  for (const bytecode::Code& function : program.functions) methods.push_back(values.add_function(function));
  const Built method_numbers = builder.numbers<uint32_t>(methods);
  const uint32_t state = values.add(module);
  const Built extra = add_files(builder, extra_files);
  const Built source_files = add_files(builder, sources);
  const auto mobile_values = static_cast<uint32_t>(values.values().size());
  std::vector<uint32_t> constants;
  for (const IValue& constant : code.constants) constants.push_back(values.add_constant(constant));
  std::vector<Built> storages;
  std::vector<std::shared_ptr<const Storage>> ready;  // until they are written
  uint64_t total = 0;
  for (const Tensor& tensor : values.storages()) total += tensor.storage()->size();
  progress.begin("writing tensors", total);
  for (const Tensor& tensor : values.storages()) {
    ready.push_back(Storage::ready(tensor.storage()));
    const Built blob = builder.blob(ready.back()->bytes(), kStorageAlignment);
    builder.begin_table();
    builder.field(flat::StorageFields::kData, blob);
    storages.push_back(builder.end_table());
    progress.advance(ready.back()->size());
  }
  const Built storage_tables = builder.offsets(storages);
  const Built constant_numbers = builder.numbers<uint32_t>(constants);
  const Built object_types = builder.offsets(values.object_types());
  const Built value_tables = builder.offsets(values.values());
  builder.begin_table();
  builder.field<uint32_t>(ModuleFields::kMobileValues, mobile_values);
  builder.field<uint32_t>(ModuleFields::kOperatorVersion, least_operator_version(program));
  builder.field(ModuleFields::kConstants, constant_numbers);
  builder.field(ModuleFields::kSources, source_files);
  builder.field(ModuleFields::kObjectTypes, object_types);
  builder.field(ModuleFields::kStorages, storage_tables);
  builder.field<int32_t>(ModuleFields::kStorageCount, static_cast<int32_t>(storages.size()));
  builder.field(ModuleFields::kValues, value_tables);
  builder.field<uint32_t>(ModuleFields::kState, state);
  builder.field(ModuleFields::kMethods, method_numbers);
  builder.field(ModuleFields::kExtraFiles, extra);
  builder.field<uint32_t>(ModuleFields::kVersion, static_cast<uint32_t>(flat::kVersion));
  const Built root = builder.end_table();
  builder.finish(root, flat::kIdentifier, sink);
  for (const Tensor& tensor : values.storages()) tensor.storage()->check_unchanged();
}

}  // namespace flambeau::script
