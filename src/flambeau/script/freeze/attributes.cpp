#include "flambeau/script/freeze/attributes.h"

#include <algorithm>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/script/passes/constant_key.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// Objects that can be reached through slots alone, each once.
std::vector<const ObjectBox*> objects_below(const IValue& root) {
  std::vector<const ObjectBox*> found;
  std::unordered_set<const ObjectBox*> seen;
  std::vector<const ObjectBox*> left = {&root.as_object()};
  while (!left.empty()) {
    const ObjectBox* const object = left.back();
    left.pop_back();
    if (!seen.insert(object).second) continue;
    found.push_back(object);
    for (const IValue& slot : object->slots) {
      if (slot.is(IValue::Tag::kObject)) left.push_back(&slot.as_object());
    }
  }
  return found;
}

bool holds_graph_of_its_own(const Node& node) { return node.subgraph != nullptr; }

// The memory of a tensor, or of those that a list, tuple or dict holds. Objects are looked at by themselves.
void add_storages(const IValue& value, std::unordered_set<const Storage*>& found, int depth = 0) {
  constexpr int kMostDepth = 64;
  if (depth > kMostDepth) return;
  if (value.is(IValue::Tag::kTensor)) {
    if (const Storage* const storage = value.as_tensor().storage().get()) found.insert(storage);
  } else if (value.is(IValue::Tag::kList) || value.is(IValue::Tag::kTuple)) {
    for (const IValue& item : value.items()) add_storages(item, found, depth + 1);
  } else if (value.is(IValue::Tag::kDict)) {
    for (const DictItems::Entry& entry : value.as_dict().items.entries()) {
      add_storages(entry.key, found, depth + 1);
      add_storages(entry.value, found, depth + 1);
    }
  }
}

bool is_container(const IValue& value) {
  return value.is(IValue::Tag::kList) || value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kDict);
}

}  // namespace

AttributeUse::AttributeUse(const IValue& root) : root_(root), objects_(objects_below(root)) {}

void AttributeUse::keep_all(const IValue& object) {
  for (const ObjectBox* const below : objects_below(object)) {
    whole_.insert(below);
    for (size_t i = 0; i < below->slots.size(); ++i) kept_.insert({below, i});
  }
}

const ObjectBox* AttributeUse::object_of(const Value* value) const {
  const auto found = resolved_.find(value);
  return found == resolved_.end() ? nullptr : found->second;
}

Slot AttributeUse::slot_of(const Node& access) const {
  const ObjectBox* const object = object_of(access.input(0));
  if (object == nullptr) return {};
  const std::optional<size_t> slot = object->type->find_attribute(access.name);
  if (!slot || *slot >= object->slots.size()) return {};
  return {object, *slot};
}

const IValue* AttributeUse::value_read(const Node& get) const {
  const Slot slot = slot_of(get);
  return slot.first == nullptr ? nullptr : &slot.first->slots[slot.second];
}

bool AttributeUse::is_stored(const Slot& slot) const {
  return kept_.contains(slot) || stored_.contains(slot) ||
         stored_names_.contains(slot.first->type->attributes.at(slot.second).name);
}

bool AttributeUse::is_changed(const Slot& slot) const { return changed_.contains(slot) || is_stored(slot); }

void AttributeUse::change(const Slot& slot) { has_grown_ = changed_.insert(slot).second || has_grown_; }

// Definitions come before uses, so that one pass in the order of the text is enough.
void AttributeUse::resolve(const ir::Graph& graph) {
  if (!graph.inputs().empty()) resolved_[graph.inputs()[0]] = &root_.as_object();
  ir::for_each_node(graph.block(), [&](const Node& node) {
    if (!node.is(NodeKind::kGetAttr)) return;
    const Slot slot = slot_of(node);
    if (slot.first == nullptr || stored_.contains(slot)) return;
    const IValue& value = slot.first->slots[slot.second];
    if (value.is(IValue::Tag::kObject)) resolved_[node.output()] = &value.as_object();
  });
}

void AttributeUse::note_stores(const ir::Graph& graph) {
  ir::for_each_node(graph.block(), [&](const Node& node) {
    if (!node.is(NodeKind::kSetAttr)) return;
    const Slot slot = slot_of(node);
    if (slot.first != nullptr) {
      has_grown_ = stored_.insert(slot).second || has_grown_;
    } else {
      has_grown_ = stored_names_.insert(node.name).second || has_grown_;
    }
  });
}

// What operators write to may be the value of a slot, or a view of it.
void AttributeUse::note_writes(const ir::Graph& graph) {
  const AliasClasses classes(graph);
  std::unordered_set<size_t> written;
  std::unordered_set<size_t> held;  // by lists, tuples, dicts
  std::unordered_set<size_t> named;
  bool is_any_written = false;  // something that came out of such a one
  bool has_inner_graphs = false;
  for (const Value* const input : graph.inputs()) {
    if (input->has_uses()) named.insert(classes.find(input));
  }
  ir::for_each_node(graph.block(), [&](const Node& node) {
    has_inner_graphs = has_inner_graphs || holds_graph_of_its_own(node);
    for (const Value* const value : AliasClasses::written_by(node)) written.insert(classes.find(value));
    if (node.is(NodeKind::kGetAttr)) named.insert(classes.find(node.output()));
    for (const Value* const output : node.outputs()) {
      for (const size_t inside : classes.contained(classes.find(output))) held.insert(inside);
    }
  });
  for (const size_t each : written)
    is_any_written = is_any_written || (classes.is_shared(each) && !named.contains(each));
  ir::for_each_node(graph.block(), [&](const Node& node) {
    if (!node.is(NodeKind::kGetAttr) || !is_mutable_type(nullptr, node.output()->type())) return;
    const Slot slot = slot_of(node);
    if (slot.first == nullptr) return;
    const size_t found = classes.find(node.output());
    if (slot.first->slots[slot.second].is(IValue::Tag::kObject)) return;
    // What was written may have been taken out of it.
    const bool may_hold_written = is_any_written && is_container(slot.first->slots[slot.second]);
    if (written.contains(found) || (is_any_written && held.contains(found)) || may_hold_written ||
        has_inner_graphs)
      change(slot);
  });
}

// Whoever is given an object may do anything with it.
void AttributeUse::note_escapes(const ir::Graph& graph) {
  const auto look_at = [&](const Value* value) {
    const ObjectBox* const object = object_of(value);
    if (object == nullptr || whole_.contains(object)) return;
    for (const ir::Use& use : value->uses()) {
      const bool is_slot =
          (use.user->is(NodeKind::kGetAttr) || use.user->is(NodeKind::kSetAttr)) && use.index == 0;
      if (is_slot) continue;
      has_grown_ = true;
      std::vector<const ObjectBox*> left = {object};
      while (!left.empty()) {
        const ObjectBox* const below = left.back();
        left.pop_back();
        if (!whole_.insert(below).second) continue;
        for (size_t i = 0; i < below->slots.size(); ++i) {
          stored_.insert({below, i});
          if (below->slots[i].is(IValue::Tag::kObject)) left.push_back(&below->slots[i].as_object());
        }
      }
      return;
    }
  };
  for (const Value* const input : graph.inputs()) look_at(input);
  ir::for_each_node(graph.block(), [&](const Node& node) {
    for (const Value* const output : node.outputs()) look_at(output);
  });
}

// A tensor that shares its memory with one that is changed is changed, too.
void AttributeUse::note_shared_memory() {
  std::unordered_set<const Storage*> written;
  const auto each_slot = [&](auto&& visit) {
    for (const ObjectBox* const object : objects_) {
      for (size_t i = 0; i < object->slots.size(); ++i) visit(Slot{object, i}, object->slots[i]);
    }
  };
  each_slot([&](const Slot& slot, const IValue& value) {
    if (is_changed(slot)) add_storages(value, written);
  });
  if (written.empty()) return;
  each_slot([&](const Slot& slot, const IValue& value) {
    std::unordered_set<const Storage*> own;
    add_storages(value, own);
    if (std::ranges::any_of(own, [&](const Storage* storage) { return written.contains(storage); }))
      change(slot);
  });
}

void AttributeUse::look(const std::vector<std::shared_ptr<ir::Graph>>& graphs) {
  stored_.clear();
  changed_.clear();
  stored_names_.clear();
  std::erase_if(whole_, [&](const ObjectBox* object) {
    for (size_t i = 0; i < object->slots.size(); ++i) {
      if (kept_.contains({object, i})) return false;
    }
    return true;
  });
  // What is written may be an object that the way to others leads through. Each turn finds another slot.
  do {
    has_grown_ = false;
    resolved_.clear();
    for (const std::shared_ptr<ir::Graph>& graph : graphs) {
      resolve(*graph);
      note_stores(*graph);
      note_writes(*graph);
      note_escapes(*graph);
    }
    note_shared_memory();
  } while (has_grown_);
}

}  // namespace flambeau::script
