#include "flambeau/formats/state_dict/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;
using pickle::Pair;

constexpr size_t kMostDepth = 1000;
constexpr int kMostWrapping = 16;

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

class Walker {
 public:
  // A pickle of a few bytes can describe a tree of billions of paths (containers shared level by level):
  // the work stays in proportion to the nodes that are really there.
  Walker(Rebuilder& rebuilder, size_t node_count)
      : rebuilder_(rebuilder),
        most_steps_(100'000 + 4 * node_count),
        most_name_bytes_((8U << 20) + 64 * node_count) {}

  FoundTensors run(const Node& root) {
    visit(root, "", 0);
    while (!todo_.empty()) {
      Step step = std::move(todo_.back());
      todo_.pop_back();
      if (step.leaving != nullptr) {
        on_path_.erase(step.leaving);
        continue;
      }
      visit(*step.node, step.name, step.depth);
    }
    return std::move(found_);
  }

 private:
  struct Step {
    const Node* node = nullptr;
    std::string name;
    size_t depth = 0;
    const Node* leaving = nullptr;
  };

  [[noreturn]] static void too_many() {
    throw Error(ErrorCode::kLimit, "the pickle describes too many values for its size");
  }

  void visit(const Node& node, const std::string& name, size_t depth) {
    if (++steps_ > most_steps_) too_many();
    if (depth > kMostDepth)
      throw Error(ErrorCode::kLimit, fmt::format("values are nested more than {} deep", kMostDepth));
    const size_t first = todo_.size();
    if (visit_tensor(node, name)) {
      add_attributes(&node, name, depth);
      return descend(node, first);
    }
    switch (node.kind()) {
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kSet:
      case Kind::kFrozenSet:
        add_items(node.items(), name, depth);
        break;
      case Kind::kDict:
        add_pairs(node.pairs(), name, depth, false);
        break;
      case Kind::kCall:
        add_call(node.as_call(), name, depth);
        break;
      default:
        return;
    }
    descend(node, first);
  }

  // What was added from `first` on is inside of the node.
  void descend(const Node& node, size_t first) {
    if (todo_.size() == first) return;
    if (!on_path_.insert(&node).second) {  // a cycle: we are inside of this node already
      todo_.resize(first);
      return;
    }
    // The stack hands out the last first: the marker that we leave goes below, the children in order above.
    std::reverse(todo_.begin() + static_cast<long>(first), todo_.end());
    Step leaving;
    leaving.leaving = &node;
    todo_.insert(todo_.begin() + static_cast<long>(first), std::move(leaving));
  }

  bool visit_tensor(const Node& node, const std::string& name) {
    try {
      const Rebuilt* rebuilt = rebuilder_.find(node);
      if (rebuilt == nullptr) return false;
      found_.tensors.push_back({name, rebuilt, &node});
      return true;
    } catch (Error& error) {
      if (error.code() == ErrorCode::kUnsupported) {
        found_.skipped.push_back({name, error.what()});
        return false;  // there may be tensors inside: an array of objects, the storage of an unknown type
      }
      error.add_location("tensor", name);
      throw;
    }
  }

  static bool may_hold_tensors(const Node& node) {
    switch (node.kind()) {
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

  void add(const Node* node, std::string name, size_t depth) {
    if (!may_hold_tensors(*node)) return;
    name_bytes_ += name.size();
    if (todo_.size() > most_steps_ || name_bytes_ > most_name_bytes_) too_many();
    Step step;
    step.node = node;
    step.name = std::move(name);
    step.depth = depth + 1;
    todo_.push_back(std::move(step));
  }

  static std::string joined(const std::string& name, std::string_view part) {
    return name.empty() ? std::string(part) : fmt::format("{}.{}", name, part);
  }

  void add_items(std::span<Node* const> items, const std::string& name, size_t depth) {
    for (size_t i = 0; i < items.size(); ++i) add(items[i], joined(name, std::to_string(i)), depth);
  }

  void add_pairs(std::span<const Pair> pairs, const std::string& name, size_t depth, bool is_module) {
    for (const Pair& pair : pairs) {
      // Early optimizers kept their state by parameter.
      if (may_hold_tensors(*pair.key)) add(pair.key, joined(name, key_text(*pair.key)), depth);
      const bool is_hidden = is_module && is_module_bookkeeping(*pair.key);
      add(pair.value, is_hidden ? name : joined(name, key_text(*pair.key)), depth);
    }
  }

  // What a user hung on a tensor: tensor.note = ... The state of a Parameter or of another subclass, which
  // may wrap one more.
  void add_attributes(const Node* node, const std::string& name, size_t depth) {
    for (int level = 0; level < kMostWrapping && node->is(Kind::kCall); ++level) {
      const Node::Call call = node->as_call();
      if (!call.callee->is(Kind::kGlobal) || !call.args->is(Kind::kTuple)) return;
      const std::string_view function = call.callee->as_global().name;
      const std::span<Node* const> args = call.args->items();
      if (function.starts_with("_rebuild_from_type")) {
        if (args.size() == 4) add(args[3], name, depth);
        return;
      }
      if (!function.starts_with("_rebuild_parameter") || args.empty()) return;
      if (args.size() == 4) add(args[3], name, depth);
      node = args[0];
    }
  }

  // OrderedDict([(key, value), ...]): how Python 2 pickled it.
  bool add_pair_list(const Node::Call& call, const std::string& name, size_t depth) {
    if (!call.callee->is_global("collections.OrderedDict") || !call.args->is(Kind::kTuple) ||
        call.args->items().size() != 1 || !call.args->items()[0]->is(Kind::kList)) {
      return false;
    }
    for (const Node* item : call.args->items()[0]->items()) {
      if (!item->is(Kind::kTuple) && !item->is(Kind::kList)) continue;
      if (item->items().size() == 2) add(item->items()[1], joined(name, key_text(*item->items()[0])), depth);
    }
    return true;
  }

  void add_call(const Node::Call& call, const std::string& name, size_t depth) {
    // Arguments of a call we do not know: functools.partial, a nested tensor, a class of the user.
    if (!add_pair_list(call, name, depth) && call.args->is(Kind::kTuple))
      add_items(call.args->items(), name, depth);
    add_items(call.items, name, depth);
    add_pairs(call.pairs, name, depth, false);
    if (call.state == nullptr) return;
    if (call.state->is(Kind::kDict)) {
      add_pairs(call.state->pairs(), name, depth, is_module_state(*call.state));
    } else {
      add(call.state, name, depth);
    }
  }

  Rebuilder& rebuilder_;
  const size_t most_steps_;
  const size_t most_name_bytes_;
  FoundTensors found_;
  std::vector<Step> todo_;
  std::unordered_set<const Node*> on_path_;
  size_t steps_ = 0;
  size_t name_bytes_ = 0;
};

}  // namespace

FoundTensors find_tensors(const pickle::Tree& tree, Rebuilder& rebuilder) {
  return Walker(rebuilder, tree.node_count()).run(*tree.root());
}

}  // namespace flambeau
