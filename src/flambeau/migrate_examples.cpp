// Arguments that a file itself has for a method.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/value_reader.h"
#include "flambeau/made_inputs.h"
#include "flambeau/migrate.h"
#include "flambeau/migrate/script_migration.h"
#include "flambeau/migrate/trees.h"
#include "flambeau/script_module.h"

namespace flambeau {
namespace {

using script::IValue;

// Elements for tensors that have sizes alone: 0 and 1 where they are integers, which may be places in a
// table.
IValue with_elements(const IValue& value, const Type& type, Generator& generator) {
  nn::Tree tree = migration::to_tree(value);
  for (Value& leaf : tree.leaves) {
    Tensor* const tensor = leaf.get_if<Tensor>();
    if (tensor == nullptr || !tensor->defined() || tensor->storage() == nullptr ||
        !tensor->storage()->is_meta())
      continue;
    *tensor = random_tensor(tensor->dtype(), tensor->sizes(), generator, {0, 2});
  }
  return migration::from_tree(tree, type);
}

std::vector<IValue> items_of(const IValue& value) {
  const bool has_items = value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kList);
  return has_items ? value.items() : std::vector<IValue>{value};
}

}  // namespace

IValue ScriptMigration::traced_inputs(const script::ScriptModule& module) {
  const auto& file = module.loaded_->file;
  if (file.archive == nullptr || !module.path().empty()) return {};
  const script::LoadHooks hooks;  // nothing of the file runs
  script::KeptStates kept;
  script::ValueReader reader(*file.unit, hooks, file.archive->version(), kept);
  return file.archive->read_traced_inputs(reader);
}

std::optional<FileExample> file_example(const script::ScriptModule& module, const std::string& method,
                                        uint64_t seed) {
  Generator generator;
  generator.manual_seed(seed);
  const std::vector<Type> types = ScriptMigration::argument_types(module, method);
  const IValue traced = ScriptMigration::traced_inputs(module);
  if (traced.is(IValue::Tag::kDict)) {
    const IValue* const found = traced.as_dict().items.find(IValue(method));
    if (found != nullptr) {
      FileExample example{.arguments = {}, .origin = "of the sizes that it was traced with"};
      const std::vector<IValue> given = items_of(*found);
      for (size_t i = 0; i < given.size(); ++i) {
        example.arguments.push_back(
            with_elements(given[i], i < types.size() ? types[i] : Type(TypeKind::kAny), generator));
      }
      return example;
    }
  }
  // What torch.utils.bundled_inputs adds: a method that gives a list of tuples of arguments.
  std::vector<std::string> names{fmt::format("get_all_bundled_inputs_for_{}", method)};
  if (method == "forward") names.emplace_back("get_all_bundled_inputs");
  for (const std::string& name : names) {
    if (!module.has_method(name)) continue;
    const ScriptMigration::Undo undo(module);
    const std::vector<IValue> all =
        items_of(module.run_method(name, {}, {}, {.most_steps = MigrateOptions().most_steps}));
    if (all.empty()) continue;
    return FileExample{.arguments = items_of(all.front()), .origin = "bundled with the module"};
  }
  return {};
}

}  // namespace flambeau
