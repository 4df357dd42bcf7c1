// Objects from what files hold of them, in whatever form: states that are given to __setstate__, and objects
// of classes that are no script's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

// What reading a file needs of others. Each may be left empty.
struct LoadHooks {
  // Told of the unit before anything is read, for what runs its functions below.
  std::function<void(const std::shared_ptr<Unit>& unit)> begin;
  // An object of a class of PyTorch's own ("__torch__.torch.classes.quantized.LinearPackedParamsBase") from
  // the state it was saved with. Empty, or None in return: the object keeps its state and can be saved, not
  // used.
  std::function<IValue(std::string_view class_name, const IValue& state)> make_native;
  // Runs __setstate__ of an object with what __getstate__ gave. Empty: it is not run, the object's slots stay
  // empty, and its state is kept.
  std::function<void(const Function& set_state, const IValue& object, const IValue& state)> set_state;
  // Whether that is to run for objects of a class; empty for always. States of the others are kept.
  std::function<bool(const Class& type)> may_set_state;
};

// States that were not given to their objects, by the objects' identity.
struct KeptState {
  IValue object;
  IValue state;
};
using KeptStates = std::unordered_map<const void*, KeptState>;

// The prefix of PyTorch's own classes.
constexpr std::string_view kNativeClassPrefix = "__torch__.torch.classes.";
// The one attribute of an object that only keeps its state.
constexpr std::string_view kKeptStateAttribute = "__state__";

class ObjectMaker {
 public:
  // States that nobody is there to take are put into `kept`.
  ObjectMaker(const Unit& unit, const LoadHooks& hooks, KeptStates& kept)
      : unit_(unit), hooks_(hooks), kept_(kept) {}

  // Of a class of PyTorch's own. Throws what the hook throws, located at the object.
  IValue make_native(const std::string& class_name, IValue state);
  // Gives the object its state by __setstate__. Throws Error(kCorrupt) where that leaves slots without a
  // value, and what the hook throws.
  void set_state(const IValue& object, IValue state);
  // The enumerator of that value. Throws Error(kCorrupt) when the class has none.
  static IValue enumerator(const std::shared_ptr<const Class>& type, const IValue& value);
  // A class by its name. Throws Error(kNotFound).
  std::shared_ptr<Class> get_class(const std::string& name) const;

 private:
  const Unit& unit_;
  const LoadHooks& hooks_;
  KeptStates& kept_;
  std::unordered_map<std::string, std::shared_ptr<const Class>> opaque_classes_;
};

// Makes a list or dict one of that type. Throws Error(kCorrupt) for a value, or keys, that are none of it.
void give_type(const IValue& value, const Type& type, std::string_view type_text);

// Whether objects of the class are saved by __getstate__ and loaded by __setstate__. Throws
// Error(kUnsupported) where a class has both and one of them takes or gives something else than PyTorch asks
// for.
bool has_state_methods(const Class& type);

// Gives lists and dicts inside of `value` the types that `type` says, as far down as it says any; objects are
// gone into by the types of their attributes.
void restore_types(const IValue& value, const Type& type, const Unit& unit);

}  // namespace flambeau::script
