#include "flambeau/formats/state_dict/walk.h"

#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/formats/description_budget.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;
using pickle::Pair;

constexpr size_t kMostDepth = 1000;

std::string key_text(const Node& key) {
  switch (key.kind()) {
    case Kind::kString:
      return std::string(key.as_string());
    case Kind::kInt:
      return std::to_string(key.as_int());
    case Kind::kBool:
      return key.as_bool() ? "True" : "False";
    case Kind::kFloat:
      return fmt::format("{}", key.as_float());
    case Kind::kNone:
      return "None";
    case Kind::kTuple: {
      std::string text = "(";
      for (const Node* item : key.items()) {
        if (text.size() > 200) break;
        if (text.size() > 1) text += ", ";
        text += item->is(Kind::kTuple) ? std::string("(...)") : key_text(*item);
      }
      return text + ")";
    }
    default:
      return fmt::format("<{}>", kind_name(key.kind()));
  }
}

// The state of a pickled nn.Module, whose own bookkeeping should not appear in names.
bool is_module_state(const Node& state) {
  return state.is(Kind::kDict) && state.find("_parameters") != nullptr && state.find("_modules") != nullptr;
}

bool is_module_bookkeeping(const Node& key) {
  if (!key.is(Kind::kString)) return false;
  const std::string_view text = key.as_string();
  return text == "_parameters" || text == "_buffers" || text == "_modules";
}

bool may_hold_tensors(Kind kind) {
  switch (kind) {
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kSet:
    case Kind::kFrozenSet:
    case Kind::kDict:
    case Kind::kCall:
    case Kind::kPersistent:
      return true;
    default:
      return false;
  }
}

// OrderedDict([(key, value), ...]): how Python 2 pickled it. Null for anything else.
const Node* pair_list(const Node::Call& call) {
  const bool is_list = call.callee->is_global("collections.OrderedDict") && call.args->is(Kind::kTuple) &&
                       call.args->items().size() == 1 && call.args->items()[0]->is(Kind::kList);
  return is_list ? call.args->items()[0] : nullptr;
}

// What a user hung on a tensor (tensor.note = ...): the state of a Parameter or of another subclass, which
// may wrap one more. The state numbered `index` from the outside; null when there are no more.
const Node* attribute(const Node& tensor, size_t index) {
  constexpr int kMostWrapping = 16;
  const Node* node = &tensor;
  for (int level = 0; level < kMostWrapping && node->is(Kind::kCall); ++level) {
    const Node::Call call = node->as_call();
    if (!call.callee->is(Kind::kGlobal) || !call.args->is(Kind::kTuple)) return nullptr;
    const std::string_view function = call.callee->as_global().name;
    const std::span<Node* const> args = call.args->items();
    const bool is_subclass = function.starts_with("_rebuild_from_type");
    if (!is_subclass && !function.starts_with("_rebuild_parameter")) return nullptr;
    if (args.size() == 4 && index-- == 0) return args[3];
    if (is_subclass || args.empty()) return nullptr;
    node = args[0];
  }
  return nullptr;
}

class Walker {
 public:
  // A pickle of a few bytes can describe a tree of billions of paths (containers shared level by level):
  // the work stays in proportion to what is really there.
  Walker(Rebuilder& rebuilder, const pickle::Tree& tree, uint64_t file_size)
      : rebuilder_(rebuilder),
        budget_(file_size),
        most_steps_(100'000 + 4 * tree.node_count()),
        most_looks_(1'000'000 + tree.memory_bytes() / 2),
        most_name_bytes_((8U << 20) + 64 * tree.node_count()) {}

  FoundTensors run(const Node& root) {
    visit(root, "");
    // Only the way to where we are is kept, not all that is left to do.
    while (!path_.empty()) {
      Child child;
      if (!next_child(path_.back(), child)) {
        on_path_.erase(path_.back().node);
        path_.pop_back();
      } else if (child.node != nullptr && may_hold_tensors(child.node->kind())) {
        visit(*child.node, child_name(path_.back(), child));
      }
      if (++looks_ > most_looks_) too_many();
    }
    return std::move(found_);
  }

 private:
  // A container that we are inside of.
  struct Level {
    const Node* node;
    std::string name;
    bool is_tensor;  // then its attributes are what is inside
    bool has_module_state;
    size_t next = 0;
  };
  struct Child {
    const Node* node = nullptr;  // null for nothing of interest
    const Node* key = nullptr;   // null for an item of a sequence
    size_t index = 0;
    bool has_name = true;
  };

  [[noreturn]] static void too_many() {
    throw Error(ErrorCode::kLimit, "the pickle describes too many values for its size");
  }

  void visit(const Node& node, std::string name) {
    name_bytes_ += name.size();
    if (++steps_ > most_steps_ || name_bytes_ > most_name_bytes_) too_many();
    if (path_.size() > kMostDepth)
      throw Error(ErrorCode::kLimit, fmt::format("values are nested more than {} deep", kMostDepth));
    const bool is_tensor = visit_tensor(node, name);
    if (node.is(Kind::kPersistent) || (is_tensor && attribute(node, 0) == nullptr)) return;
    if (!on_path_.insert(&node).second) return;  // a cycle: we are inside of this node already
    const bool has_module_state =
        node.is(Kind::kCall) && node.as_call().state != nullptr && is_module_state(*node.as_call().state);
    path_.push_back({&node, std::move(name), is_tensor, has_module_state});
  }

  bool visit_tensor(const Node& node, const std::string& name) {
    try {
      const Rebuilt* rebuilt = rebuilder_.find(node);
      if (rebuilt == nullptr) return false;
      budget_.charge(rebuilt->tensor, name);
      found_.tensors.push_back({name, rebuilt, &node});
      return true;
    } catch (Error& error) {
      if (error.code() == ErrorCode::kUnsupported) {
        found_.skipped.push_back({name, error.what()});
        budget_.charge(found_.skipped.back().reason.size() + 2 * name.size() + 1024);
        return false;  // there may be tensors inside: an array of objects, the storage of an unknown type
      }
      error.add_location("tensor", name);
      throw;
    }
  }

  // The next child of a container, in the order of the file; false when there is none left.
  static bool next_child(Level& level, Child& child) {
    const size_t index = level.next++;
    if (level.is_tensor) {
      child = {attribute(*level.node, index), nullptr, 0, false};
      return child.node != nullptr;
    }
    switch (level.node->kind()) {
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kSet:
      case Kind::kFrozenSet:
        return item(level.node->items(), index, child);
      case Kind::kDict:
        return pair(level.node->pairs(), index, false, child);
      case Kind::kCall:
        return part_of_call(level.node->as_call(), index, level.has_module_state, child);
      default:
        return false;
    }
  }

  static bool item(std::span<Node* const> items, size_t index, Child& child) {
    if (index >= items.size()) return false;
    child = {items[index], nullptr, index, true};
    return true;
  }
  // A key, then its value: early optimizers kept their state by parameter.
  static bool pair(std::span<const Pair> pairs, size_t index, bool is_module, Child& child) {
    if (index >= 2 * pairs.size()) return false;
    const Pair& found = pairs[index / 2];
    const bool is_value = index % 2 != 0;
    child = {is_value ? found.value : found.key, found.key, index,
             !(is_module && is_value && is_module_bookkeeping(*found.key))};
    return true;
  }

  // What a call was given: arguments, items, pairs, state, one after the other.
  static bool part_of_call(const Node::Call& call, size_t index, bool has_module_state, Child& child) {
    if (const Node* list = pair_list(call)) {
      if (index < list->items().size()) {
        const Node* entry = list->items()[index];
        const bool is_pair =
            (entry->is(Kind::kTuple) || entry->is(Kind::kList)) && entry->items().size() == 2;
        child = is_pair ? Child{entry->items()[1], entry->items()[0], index, true} : Child{};
        return true;
      }
      index -= list->items().size();
    } else if (call.args->is(Kind::kTuple)) {
      // Of a call we do not know: functools.partial, a nested tensor, a class of the user.
      if (item(call.args->items(), index, child)) return true;
      index -= call.args->items().size();
    }
    if (item(call.items, index, child)) return true;
    index -= call.items.size();
    if (pair(call.pairs, index, false, child)) return true;
    index -= 2 * call.pairs.size();
    if (call.state == nullptr) return false;
    if (call.state->is(Kind::kDict)) return pair(call.state->pairs(), index, has_module_state, child);
    child = {call.state, nullptr, 0, false};
    return index == 0;
  }

  static std::string child_name(const Level& level, const Child& child) {
    if (!child.has_name) return level.name;
    const std::string part = child.key == nullptr ? std::to_string(child.index) : key_text(*child.key);
    return level.name.empty() ? part : fmt::format("{}.{}", level.name, part);
  }

  Rebuilder& rebuilder_;
  DescriptionBudget budget_;
  const size_t most_steps_;
  const uint64_t most_looks_;  // at items, of which most are plain values
  const size_t most_name_bytes_;
  FoundTensors found_;
  std::vector<Level> path_;
  std::unordered_set<const Node*> on_path_;
  size_t steps_ = 0;
  uint64_t looks_ = 0;
  size_t name_bytes_ = 0;
};

}  // namespace

FoundTensors find_tensors(const pickle::Tree& tree, Rebuilder& rebuilder, uint64_t file_size) {
  return Walker(rebuilder, tree, file_size).run(*tree.root());
}

}  // namespace flambeau
