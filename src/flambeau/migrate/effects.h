// What a part of a script does to the lists, dicts, objects and tensors that it was given, and all of it
// taken back: so that the part can be run for every way it may go.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/script/values/boxes.h"

namespace flambeau::migration {

using script::IValue;

class Effects {
 public:
  // An attribute of an object; a list, a dict or a tensor as a whole. In the order of discovery.
  using Place = std::pair<size_t, size_t>;
  using Changes = std::map<Place, IValue>;

  // Everything that the variables reach, as it is now.
  explicit Effects(const IValue& variables);

  // What is otherwise now; everything is as before afterwards.
  Changes take();
  IValue before(Place place) const;
  void put(Place place, const IValue& value);
  // "self.count", "a list": for messages.
  std::string name(Place place) const;

 private:
  static constexpr size_t kWhole = SIZE_MAX;
  struct Held {
    IValue value;
    std::vector<IValue> items;
    std::vector<script::DictItems::Entry> entries;
    Tensor tensor;
  };
  std::vector<Held> held_;
};

}  // namespace flambeau::migration
