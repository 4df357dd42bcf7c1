// The methods that may run by plans, and the plans that were made for them: for each set of types and sizes
// one, those that were used last. Any number of threads, each with its machine, may run them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::interpreter {
class Machine;
}

namespace flambeau::planned {

using script::IValue;

class Methods {
 public:
  Methods();
  ~Methods();
  Methods(const Methods&) = delete;
  Methods& operator=(const Methods&) = delete;

  // From now on it may: a method of a frozen module. False for one that depends on more than its arguments,
  // or changes anything.
  bool add(const std::shared_ptr<script::Function>& method);
  bool has(const script::Function& method);

  // What the method gives for these arguments, all of its signature's, with its object as the first. Nothing
  // where it has no plan for such arguments: then the machine runs it. Throws what operators throw.
  std::optional<IValue> run(interpreter::Machine& machine, const script::Function& method,
                            std::span<const IValue> arguments);

 private:
  struct Method;
  struct Planned;
  struct Shared;
  std::shared_ptr<Planned> find(Method& method, const std::string& key);
  void make(interpreter::Machine& machine, Method& method, Planned& planned,
            std::span<const IValue> arguments);

  std::unique_ptr<Shared> shared_;
  std::mutex mutex_;
  std::unordered_map<const script::Function*, std::unique_ptr<Method>> methods_;
};

}  // namespace flambeau::planned
