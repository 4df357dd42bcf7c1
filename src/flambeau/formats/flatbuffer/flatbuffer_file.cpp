#include "flambeau/formats/flatbuffer/flatbuffer_file.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/flatbuffer/flat_module.h"
#include "flambeau/formats/flatbuffer/flat_values.h"
#include "flambeau/formats/mobile/mobile_unit.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

IValue module_at(const FlatValues& values, const FlatModule& module) {
  IValue found = values.at(module.state());
  if (!found.is(IValue::Tag::kObject) || !found.as_object().type->is_module())
    corrupt(fmt::format("a module is expected, found {}", found.kind_name()));
  return found;
}

void read_by_sources(const FlatModule& module, const LoadHooks& hooks, ScriptFile& script) {
  compiler::ArchiveCode code;
  code.find_text = [contents = script.archive](std::string_view qualifier) {
    return contents->find_source(qualifier);
  };
  code.version = module.version();
  // Constants may be objects of the sources' classes.
  compiler::use_archive_code(*script.unit, code);
  FlatValues values(module, *script.unit, hooks, script.kept);
  values.read(module.values().size(), nullptr);
  const flatbuffer::Numbers<uint32_t> constants = module.constants();
  for (size_t i = 0; i < constants.size(); ++i) code.constants.push_back(values.at(constants[i]));
  if (!code.constants.empty()) compiler::use_archive_code(*script.unit, std::move(code));
  script.module = module_at(values, module);
}

}  // namespace

MobileFile read_flatbuffer(std::shared_ptr<Mapping> bytes, std::shared_ptr<const OperatorTable> operators,
                           const LoadHooks& hooks, bool from_bytecode) {
  MobileFile file;
  ScriptFile& script = file.script;
  const auto module = std::make_shared<const FlatModule>(std::move(bytes));
  script.archive = module;
  script.unit = std::make_shared<Unit>(std::move(operators));
  if (hooks.begin) hooks.begin(script.unit);
  if (module->has_code() && !from_bytecode) {
    read_by_sources(*module, hooks, script);
    return file;
  }
  const auto program = std::make_shared<bytecode::Program>(read_flat_program(*module));
  file.program = program;
  MobileUnit unit(script.unit, program);
  unit.set_root(module->root_type().name);
  for (const FlatModule::ObjectType& type : module->object_types()) {
    if (type.kind == flat::ObjectKind::kFields) unit.add_shape(type.name, type.attributes);
  }
  FlatValues values(*module, *script.unit, hooks, script.kept);
  values.read(module->mobile_value_count(), program.get());
  script.module = values.at(module->state());
  if (!script.module.is(IValue::Tag::kObject))
    corrupt(fmt::format("a module is expected, found {}", script.module.kind_name()));
  unit.take_types(script.module);
  return file;
}

}  // namespace flambeau::script
