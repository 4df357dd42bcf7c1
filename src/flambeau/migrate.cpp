#include "flambeau/migrate.h"

#include <fmt/format.h>

#include <cstring>

#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/migrate/script_migration.h"
#include "flambeau/migrate/script_program.h"
#include "flambeau/migrate/trees.h"
#include "flambeau/script_module.h"

namespace flambeau {

migration::ScriptCall ScriptMigration::call_of(const script::ScriptModule& module) {
  return {.unit = module.loaded_->file.unit,
          .library = module.loaded_->code->library,
          .object = module.object_,
          .method = {},
          .positional = {},
          .keywords = {}};
}

std::mutex& ScriptMigration::mutex_of(const script::ScriptModule& module) {
  return module.loaded_->migration_mutex;
}

std::vector<Type> ScriptMigration::argument_types(const script::ScriptModule& module,
                                                  const std::string& method) {
  std::vector<Type> types;
  const script::IValue object = call_of(module).object;
  if (const auto* const found = object.as_object().type->find_method(method)) {
    for (const auto& argument : (*found)->signature().arguments) types.push_back(argument.type);
    if (!types.empty()) types.erase(types.begin());
  }
  return types;
}

ScriptMigration::Undo::Undo(const script::ScriptModule& module) : before_(call_of(module).object) {
  for (const script::ScriptModule& part : module.modules()) {
    script::ObjectBox& object = call_of(part).object.as_object();
    for (size_t i = 0; i < object.slots.size(); ++i) {
      script::IValue& slot = object.slots[i];
      if (object.type->attributes.at(i).is_parameter || !slot.is(script::IValue::Tag::kTensor)) continue;
      const Tensor& tensor = slot.as_tensor();
      if (!tensor.defined() || tensor.layout() != Layout::kStrided || tensor.quantizer() != nullptr) continue;
      const Tensor packed = tensor.to_contiguous();
      Tensor copy = Tensor::zeros(packed.dtype(), packed.sizes());
      const ByteSpan bytes = packed.contiguous_bytes();
      if (!bytes.empty()) std::memcpy(copy.mutable_data(), bytes.data(), bytes.size());
      slot = script::IValue(std::move(copy));
    }
  }
}

std::vector<std::string> argument_names(const script::ScriptModule& module, const std::string& method) {
  std::vector<std::string> names;
  const script::IValue object = ScriptMigration::call_of(module).object;
  if (const auto* const found = object.as_object().type->find_method(method)) {
    for (const auto& argument : (*found)->signature().arguments) names.push_back(argument.name);
    if (!names.empty()) names.erase(names.begin());
  }
  return names;
}

namespace {

// With arguments of its own, which it may write to.
void run_once(const script::ScriptModule& module, const std::vector<script::IValue>& arguments,
              const script::ScriptModule::Keywords& keywords, const MigrateOptions& options) {
  const std::vector<Type> types = ScriptMigration::argument_types(module, options.method);
  std::vector<script::IValue> own;
  for (size_t i = 0; i < arguments.size(); ++i)
    own.push_back(
        migration::with_own_tensors(arguments[i], i < types.size() ? types[i] : Type(TypeKind::kAny)));
  script::ScriptModule::Keywords own_keywords;
  for (const auto& [name, value] : keywords)
    own_keywords.emplace_back(name, migration::with_own_tensors(value, TypeKind::kAny));
  module.run_method(options.method, std::move(own), own_keywords, {.most_steps = options.most_steps});
}

// Zeros in the tensor of that name, "layer1.state".
void empty_state(const script::ScriptModule& module, const std::string& name) {
  const size_t dot = name.rfind('.');
  script::ScriptModule owner = dot == std::string::npos ? module : module.submodule(name.substr(0, dot));
  const std::string attribute = name.substr(dot + 1);  // all of it where there is no dot
  const Tensor tensor = owner.attribute(attribute).as_tensor();
  owner.set_attribute(attribute, Tensor::zeros(tensor.dtype(), tensor.sizes()));
}

}  // namespace

Migration migrate(const script::ScriptModule& module, const std::vector<script::IValue>& arguments,
                  const script::ScriptModule::Keywords& keywords, const MigrateOptions& options) {
  const std::scoped_lock lock(ScriptMigration::mutex_of(module));
  migration::ScriptCall call = ScriptMigration::call_of(module);
  call.method = options.method;
  call.positional = arguments;
  call.keywords = keywords;
  Migration made;
  migration::Story story;
  const migration::TraceOptions how{.dynamic = options.dynamic,
                                    .most_steps = options.most_steps,
                                    .forgets_changes = options.forgets_changes,
                                    .changes_as_arguments = options.changes_as_arguments,
                                    .is_like_pytorch = options.is_like_pytorch};
  try {
    made.program = migration::trace_script(call, how, story);
  } catch (const Error&) {
    // A state that has no size before the first run.
    if (story.resized.empty()) throw;
    const std::vector<std::string> resized = std::move(story.resized);
    story = {};
    const ScriptMigration::Undo undo(module);
    run_once(module, arguments, keywords, options);
    for (const std::string& name : resized) {
      empty_state(module, name);
      story.notes.push_back(
          fmt::format("the method gives '{}' its size when it runs first: the program begins with zeros "
                      "there, and with all else as it is after that run",
                      name));
    }
    made.program = migration::trace_script(call, how, story);
  }
  made.notes = std::move(story.notes);
  made.specialized = std::move(story.specialized);
  made.unrolled = std::move(story.unrolled);
  made.quantization_step = story.quantization_step;
  std::vector<Value> leaves;
  const auto add = [&](const script::IValue& value) {
    const nn::Tree tree = migration::to_real_tree(value);
    leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  };
  for (const script::IValue& value : arguments) add(value);
  for (const auto& [name, value] : keywords) add(value);
  for (auto& [argument, path, value] : story.kept) {
    add(value);
    made.kept.push_back({std::move(argument), std::move(path), std::move(value)});
  }
  made.program.example_inputs =
      pt2::write_example_inputs(parse_treespec(made.program.root_call()->in_spec), leaves);
  return made;
}

}  // namespace flambeau
