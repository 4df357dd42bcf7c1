// Other forms of a module: flambeau/script.h says which.
#include "flambeau/script/freeze/freeze.h"

#include "flambeau/script/passes/passes.h"
#include "flambeau/script_module.h"

namespace flambeau::script {

ScriptModule freeze(const ScriptModule& module, const std::vector<std::string>& preserved) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::unique_lock lock(loaded.mutex);
  const std::scoped_lock compiling(loaded.file.unit->compiler_lock());
  IValue frozen = freeze_module(*loaded.file.unit, module.object_, preserved);
  for (const std::shared_ptr<Function>& method : frozen.as_object().type->methods)
    loaded.code->plans.add(method);
  return {module.loaded_, std::move(frozen), module.path_};
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
