// Which attributes of which objects the methods of a module read and write: a way of kGetAttr from `self` to
// a value names an object that is there while nobody puts another one in its place.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

// A slot of an object.
using Slot = std::pair<const ObjectBox*, size_t>;

// What is known of a module's objects while its methods are changed.
class AttributeUse {
 public:
  explicit AttributeUse(const IValue& root);

  // Looks at the methods' graphs, whose first input is the root, anew. What is kept by hand stays.
  void look(const std::vector<std::shared_ptr<ir::Graph>>& graphs);
  // As a write: whatever the methods do, the slot's value is not known to them.
  void keep(const Slot& slot) { kept_.insert(slot); }
  void keep_all(const IValue& object);
  // It stays though no method reads it; what it holds is not changed by that.
  void need(const Slot& slot) { needed_.insert(slot); }

  // The object that a value is in every call; null where that is not known.
  const ObjectBox* object_of(const ir::Value* value) const;
  // What a kGetAttr or kSetAttr is about; null for what is not known.
  const IValue* value_read(const ir::Node& get) const;
  Slot slot_of(const ir::Node& access) const;

  // Whether its value may be another one in the next call, or be changed in place.
  bool is_changed(const Slot& slot) const;
  // Whether another value may be put in it; kept ones count as such.
  bool is_stored(const Slot& slot) const;
  // Objects that methods do more with than to read and write their slots.
  bool is_whole(const ObjectBox* object) const { return whole_.contains(object); }
  bool is_needed(const Slot& slot) const { return kept_.contains(slot) || needed_.contains(slot); }

 private:
  void resolve(const ir::Graph& graph);
  void note_stores(const ir::Graph& graph);
  void note_writes(const ir::Graph& graph);
  void note_escapes(const ir::Graph& graph);
  void note_shared_memory();
  void change(const Slot& slot);

  IValue root_;
  std::vector<const ObjectBox*> objects_;  // all below the root
  std::set<Slot> kept_;
  std::set<Slot> needed_;
  std::set<Slot> stored_;
  std::set<Slot> changed_;              // in place
  std::set<std::string> stored_names_;  // of objects that are not known
  std::unordered_set<const ObjectBox*> whole_;
  std::unordered_map<const ir::Value*, const ObjectBox*> resolved_;
  bool has_grown_ = false;
};

}  // namespace flambeau::script
