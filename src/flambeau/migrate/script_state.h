// What a script module holds, before and while it is traced: which attributes are parameters and buffers,
// what the trace changed, and everything put back as it was.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "flambeau/nn/module.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::migration {

using script::IValue;

// A tensor of a script module that the program has by name.
struct StateSlot {
  std::string name;  // "layer1.0.weight"
  script::ObjectBox* object = nullptr;
  size_t index = 0;
  Tensor* tensor = nullptr;  // as the module tree has it
  bool is_parameter = false;
};

// A module of a script as one that can be traced: names and tensors. It is called as a whole alone.
class ScriptPart : public nn::Module {
 public:
  explicit ScriptPart(std::string type) : type_(std::move(type)) {}
  std::string class_name() const override { return type_; }
  nn::Tree call(std::span<const nn::Tree> positional, const nn::Keywords& keywords) override;

  // Takes over all of the object: submodules, parameters, and all other tensors as buffers. Throws
  // Error(kCorrupt) for modules that contain themselves, Error(kLimit) for too many.
  void add_state(const IValue& object, std::vector<StateSlot>& slots);

 private:
  struct Walk;
  void add_object(const IValue& object, const std::string& path, Walk& walk);
  void add_packed(const IValue& held, const std::string& name);

  std::string type_;
  std::deque<Tensor> tensors_;  // what is registered must not move
  std::deque<std::unique_ptr<ScriptPart>> parts_;
};

// "torch.nn.modules.linear.Linear" of "__torch__.torch.nn.modules.linear.___torch_mangle_3.Linear".
std::string python_class_name(std::string_view qualified_name);

// Every list, dict, tensor and object that a value reaches, as it is now; put back when it is destroyed.
class Snapshot {
 public:
  explicit Snapshot(const IValue& root);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Where something else stands than before, besides what `known` has: "self.layer1.count (int)".
  std::vector<std::string> changes(const std::vector<StateSlot>& known) const;
  // The attributes of modules in which something is other than before: a number, or a list or a dict that is
  // changed in place. Named from the module on: "layer1.count".
  std::vector<StateSlot> changed_attributes(const std::vector<StateSlot>& known) const;

 private:
  struct Held {
    IValue value;  // an object, a list or a dict
    std::string path;
    std::vector<IValue> items;
    std::vector<script::DictItems::Entry> entries;
    Tensor tensor;
  };
  bool is_changed(const Held& held) const;

  std::vector<Held> held_;
};

}  // namespace flambeau::migration
