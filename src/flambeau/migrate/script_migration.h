// What migration may reach of a loaded script module.
#pragma once

#include <mutex>
#include <vector>

#include "flambeau/migrate/script_program.h"
#include "flambeau/migrate/script_state.h"
#include "flambeau/value/type.h"

namespace flambeau::script {
class ScriptModule;
}

namespace flambeau {

struct ScriptMigration {
  static migration::ScriptCall call_of(const script::ScriptModule& module);
  static std::mutex& mutex_of(const script::ScriptModule& module);
  // Of a method, without its object.
  static std::vector<Type> argument_types(const script::ScriptModule& module, const std::string& method);

  // By method, what it was traced with: tensors without elements. None where the file does not say.
  static migration::IValue traced_inputs(const script::ScriptModule& module);

  // What runs meanwhile changes copies: the module is as before when this is destroyed.
  class Undo {
   public:
    explicit Undo(const script::ScriptModule& module);

   private:
    migration::Snapshot before_;
  };
};

}  // namespace flambeau
