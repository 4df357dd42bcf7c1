#include "flambeau/formats/mobile/mobile_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/formats/mobile/bytecode_reader.h"
#include "flambeau/formats/mobile/mobile_unit.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

constexpr std::string_view kBytecode = "bytecode.pkl";
constexpr std::string_view kDebugHandles = "mobile_debug_handles.pkl";

bool has_record_in(const RecordArchive& records, std::string_view folder) {
  const auto names = records.names();
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return name.starts_with(folder); });
}

// Until version 4 the tensors of bytecode were beside it.
TorchFile open_bytecode(const std::shared_ptr<const RecordArchive>& records) {
  return read_torch_zip(records, kBytecode, has_record_in(*records, "bytecode/") ? "bytecode" : "constants");
}

bytecode::Program read_program(const std::shared_ptr<const RecordArchive>& records, int64_t version,
                               ValueReader& reader) {
  TorchFile file = open_bytecode(records);
  return with_location("record", kBytecode, [&] {
    bytecode::Program program = read_bytecode(*file.tree.root(), version, [&](const pickle::Node& node) {
      return reader.read(node, *file.source);
    });
    if (const zip::Entry* entry = records->find(kDebugHandles)) {
      const pickle::Tree handles = read_record_pickle(records->zip(), *entry, kDebugHandles);
      with_location("record", kDebugHandles, [&] { read_debug_handles(*handles.root(), program); });
    }
    return program;
  });
}

// What the objects of the pickle have, by their classes.
void add_shapes(const pickle::Tree& tree, MobileUnit& unit) {
  for (const pickle::Node* node : tree.calls()) {
    const pickle::Node::Call call = node->as_call();
    if (call.how != pickle::CallKind::kNewObject || call.state == nullptr ||
        !call.callee->is(pickle::Kind::kGlobal)) {
      continue;
    }
    const std::string name = call.callee->as_global().dotted();
    if (node == tree.root()) unit.set_root(name);
    if (!call.state->is(pickle::Kind::kDict)) continue;
    std::vector<std::string> attributes;
    for (const pickle::Pair& pair : call.state->pairs()) attributes.emplace_back(pair.key->as_string());
    unit.add_shape(name, std::move(attributes));
  }
}

}  // namespace

bool has_bytecode(const RecordArchive& records) { return records.has(kBytecode); }
bool has_code(const RecordArchive& records) { return has_record_in(records, "code/"); }

MobileFile read_mobile(std::shared_ptr<const RecordArchive> records,
                       std::shared_ptr<const OperatorTable> operators, const LoadHooks& hooks) {
  MobileFile file;
  ScriptFile& script = file.script;
  script.archive = std::make_shared<ScriptArchive>(records);
  script.unit = std::make_shared<Unit>(std::move(operators));
  if (hooks.begin) hooks.begin(script.unit);
  ValueReader reader(*script.unit, hooks, script.archive->version(), script.kept);
  file.program =
      std::make_shared<const bytecode::Program>(read_program(records, script.archive->version(), reader));
  MobileUnit unit(script.unit, file.program);
  const TorchFile data = read_torch_zip(records);
  with_location("record", "data.pkl", [&] {
    add_shapes(data.tree, unit);
    script.module = reader.read(*data.tree.root(), *data.source);
    if (!script.module.is(IValue::Tag::kObject)) {
      corrupt(fmt::format("a module is expected, found {}", script.module.kind_name()));
    }
  });
  unit.take_types(script.module);
  return file;
}

bytecode::Program read_mobile_program(const std::shared_ptr<const RecordArchive>& records,
                                      std::shared_ptr<const OperatorTable> operators) {
  const ScriptArchive archive(records);
  const Unit unit(std::move(operators));
  const LoadHooks hooks;
  KeptStates kept;
  ValueReader reader(unit, hooks, archive.version(), kept);
  return read_program(records, archive.version(), reader);
}

}  // namespace flambeau::script
