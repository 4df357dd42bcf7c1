// What TorchScript's pickles hold (data.pkl, constants.pkl), as values of scripts: objects of the unit's
// classes, typed lists and dicts, tensors in place. What was shared stays shared.
#pragma once

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/formats/state_dict/rebuild.h"
#include "flambeau/formats/torchscript/object_maker.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

class ValueReader {
 public:
  // `version`: the archive's; before 3 lists and dicts have no types of their own.
  ValueReader(const Unit& unit, const LoadHooks& hooks, int64_t version, KeptStates& kept)
      : unit_(unit), version_(version), objects_(unit, hooks, kept) {}

  // Throws Error(kCorrupt, kUnsupported, kNotFound, kLimit) that says which attribute it was reading, and
  // what the hooks throw.
  IValue read(const pickle::Node& root, PersistentSource& storages);

 private:
  class Reading;
  const Unit& unit_;
  int64_t version_;
  ObjectMaker objects_;
};

}  // namespace flambeau::script
