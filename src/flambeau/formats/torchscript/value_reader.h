// What TorchScript's pickles hold (data.pkl, constants.pkl), as values of scripts: objects of the unit's
// classes, typed lists and dicts, tensors in place. What was shared stays shared.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/formats/state_dict/rebuild.h"
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

class ValueReader {
 public:
  // `version`: the archive's; before 3 lists and dicts have no types of their own.
  ValueReader(const Unit& unit, const LoadHooks& hooks, int64_t version, KeptStates& kept)
      : unit_(unit), hooks_(hooks), version_(version), kept_(kept) {}

  // Throws Error(kCorrupt, kUnsupported, kNotFound, kLimit) that says which attribute it was reading, and
  // what the hooks throw.
  IValue read(const pickle::Node& root, PersistentSource& storages);

 private:
  class Reading;
  const Unit& unit_;
  const LoadHooks& hooks_;
  int64_t version_;
  KeptStates& kept_;
  std::unordered_map<std::string, std::shared_ptr<const Class>> opaque_classes_;
};

// Whether objects of the class are saved by __getstate__ and loaded by __setstate__. Throws
// Error(kUnsupported) where a class has both and one of them takes or gives something else than PyTorch asks
// for.
bool has_state_methods(const Class& type);

// Gives lists and dicts inside of `value` the types that `type` says, as far down as it says any; objects are
// gone into by the types of their attributes.
void restore_types(const IValue& value, const Type& type, const Unit& unit);

}  // namespace flambeau::script
