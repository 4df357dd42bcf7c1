// A unit made of bytecode instead of code: classes are what the objects of the file look like, methods are
// lifted when they are first called.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/script/bytecode/bytecode.h"
#include "flambeau/script/bytecode/lift.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

class MobileUnit {
 public:
  // Finds classes from now on; the unit keeps what it needs.
  MobileUnit(std::shared_ptr<Unit> unit, std::shared_ptr<const bytecode::Program> program);

  // What objects of the class have, in the order of their slots. The first one counts.
  void add_shape(const std::string& class_name, std::vector<std::string> attributes);
  // The class of the file's module, whatever its attributes are.
  void set_root(const std::string& class_name);
  // Where an instruction comes from; for functions that are lifted afterwards.
  void set_locate(std::function<void(int64_t handle, ir::Node& node)> locate);
  // Attributes get the types of what objects hold; methods that ran before are lifted anew.
  void take_types(const IValue& module);

  const std::shared_ptr<const bytecode::Program>& program() const { return state_->program; }

 private:
  struct State {
    std::shared_ptr<const bytecode::Program> program;
    std::unordered_map<std::string, std::vector<std::string>> shapes;
    std::unordered_map<std::string, std::vector<const bytecode::Code*>> methods;  // by class
    std::string root;
    std::function<void(int64_t handle, ir::Node& node)> locate;
  };
  static bool resolve(const std::shared_ptr<State>& state, Unit& unit, std::string_view name);
  static std::shared_ptr<Function> make_method(const std::shared_ptr<State>& state, Unit& unit,
                                               const std::string& owner, const bytecode::Code& code);

  std::shared_ptr<Unit> unit_;
  std::shared_ptr<State> state_;
};

}  // namespace flambeau::script
