// Other forms of a module: flambeau/script.h says which.
#include "flambeau/script/freeze/freeze.h"

#include "flambeau/script/optimize/optimize.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script_module.h"

namespace flambeau::script {

ScriptModule freeze(const ScriptModule& module, const std::vector<std::string>& preserved) {
  return module.changed([&](Unit& unit) { return freeze_module(unit, module.object_, preserved); });
}

ScriptModule optimize(const ScriptModule& module, const std::vector<std::string>& preserved) {
  return module.changed([&](Unit& unit) { return optimize_module(unit, module.object_, preserved); });
}

ScriptModule ScriptModule::changed(const std::function<IValue(Unit& unit)>& change) const {
  const std::unique_lock lock(loaded_->mutex);
  const std::scoped_lock compiling(loaded_->file.unit->compiler_lock());
  IValue made = change(*loaded_->file.unit);
  for (const std::shared_ptr<Function>& method : made.as_object().type->methods)
    loaded_->code->plans.add(method);
  return {loaded_, std::move(made), path_};
}

void inline_calls(const ScriptModule& module) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::unique_lock lock(loaded.mutex);
  const std::scoped_lock compiling(loaded.file.unit->compiler_lock());
  for (const std::shared_ptr<Function>& method : module.object_.as_object().type->methods) {
    const std::shared_ptr<ir::Graph> graph = method->graph()->copy();
    inline_calls(*graph, *loaded.file.unit);
    eliminate_dead_code(*graph);
    pool_constants(*graph);
    method->set_graph(graph);
  }
}

}  // namespace flambeau::script
