#include "flambeau/formats/outline.h"

#include <fmt/format.h>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/base/error.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;
using pickle::Pair;

std::string counted(std::string_view what, size_t count) { return fmt::format("{} of {}", what, count); }

std::string describe_call(const Node::Call& call) {
  if (call.callee->is_global("collections.OrderedDict")) {
    const bool has_list = call.args->is(Kind::kTuple) && call.args->items().size() == 1 &&
                          call.args->items()[0]->is(Kind::kList);
    return counted("OrderedDict", has_list ? call.args->items()[0]->items().size() : call.pairs.size());
  }
  if (!call.callee->is(Kind::kGlobal)) return "a call";
  const Node::GlobalName& global = call.callee->as_global();
  // builtins.getattr(x, 'name') and the like are shown as what they are: never carried out.
  return fmt::format("object {}", printable(global.dotted()));
}

class Outliner {
 public:
  Outliner(const Checkpoint* checkpoint, const OutlineLimits& limits)
      : checkpoint_(checkpoint), limits_(limits) {}

  void visit(const Node& node, std::string key, int depth) {
    if (lines_.size() >= limits_.lines) return;
    if (const Tensor* tensor = find_tensor(node)) {
      lines_.push_back({depth, std::move(key), tensor->summary()});
      return;
    }
    lines_.push_back({depth, std::move(key), describe(node)});
    if (depth >= limits_.depth) return;
    switch (node.kind()) {
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kSet:
      case Kind::kFrozenSet:
        visit_items(node.items(), depth + 1);
        break;
      case Kind::kDict:
        visit_pairs(node.pairs(), depth + 1);
        break;
      case Kind::kCall:
        visit_call(node.as_call(), depth + 1);
        break;
      default:
        break;
    }
  }

  std::vector<OutlineLine> take() {
    if (lines_.size() >= limits_.lines) lines_.push_back({0, "", "... (cut here)"});
    return std::move(lines_);
  }

 private:
  const Tensor* find_tensor(const Node& node) const {
    if (checkpoint_ == nullptr) return nullptr;
    if (const Tensor* tensor = checkpoint_->tensor_at(&node)) return tensor;
    // A Parameter: the tensor is its first argument.
    if (!node.is(Kind::kCall)) return nullptr;
    const Node::Call call = node.as_call();
    if (!call.callee->is(Kind::kGlobal) || !call.args->is(Kind::kTuple) || call.args->items().empty()) {
      return nullptr;
    }
    const std::string_view name = call.callee->as_global().name;
    const bool wraps = name.starts_with("_rebuild_") || name == "Parameter" || name == "Buffer";
    return wraps ? checkpoint_->tensor_at(call.args->items()[0]) : nullptr;
  }

  static std::string describe(const Node& node) {
    switch (node.kind()) {
      case Kind::kNone:
        return "None";
      case Kind::kBool:
        return node.as_bool() ? "True" : "False";
      case Kind::kInt:
        return std::to_string(node.as_int());
      case Kind::kBigInt:
        return fmt::format("an integer of {} bytes", node.as_big_int().size());
      case Kind::kFloat:
        return fmt::format("{}", node.as_float());
      case Kind::kString:
        return fmt::format("'{}'", printable(node.as_string(), 60));
      case Kind::kBytes:
      case Kind::kByteArray:
        return fmt::format("{} bytes", node.as_bytes().size());
      case Kind::kList:
        return counted("list", node.items().size());
      case Kind::kTuple:
        return counted("tuple", node.items().size());
      case Kind::kSet:
        return counted("set", node.items().size());
      case Kind::kFrozenSet:
        return counted("frozenset", node.items().size());
      case Kind::kDict:
        return counted("dict", node.pairs().size());
      case Kind::kGlobal:
        return printable(node.as_global().dotted());
      case Kind::kCall:
        return describe_call(node.as_call());
      case Kind::kPersistent:
        return "an object kept outside of the pickle";
    }
    return "?";
  }

  void visit_items(std::span<Node* const> items, int depth) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i == limits_.children) {
        lines_.push_back({depth, "", fmt::format("... and {} more", items.size() - i)});
        return;
      }
      visit(*items[i], fmt::format("[{}]", i), depth);
    }
  }

  void visit_pairs(std::span<const Pair> pairs, int depth) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (i == limits_.children) {
        lines_.push_back({depth, "", fmt::format("... and {} more", pairs.size() - i)});
        return;
      }
      const Node& key = *pairs[i].key;
      visit(*pairs[i].value, key.is(Kind::kString) ? printable(key.as_string()) : describe(key), depth);
    }
  }

  void visit_call(const Node::Call& call, int depth) {
    const bool is_ordered_dict = call.callee->is_global("collections.OrderedDict");
    if (!is_ordered_dict && call.args->is(Kind::kTuple)) visit_items(call.args->items(), depth);
    if (is_ordered_dict && call.args->is(Kind::kTuple) && !call.args->items().empty()) {
      const Node* list = call.args->items()[0];
      if (list->is(Kind::kList)) visit_items(list->items(), depth);
    }
    visit_items(call.items, depth);
    visit_pairs(call.pairs, depth);
    if (call.state == nullptr || is_ordered_dict) return;  // an OrderedDict's state is module metadata
    if (call.state->is(Kind::kDict)) {
      visit_pairs(call.state->pairs(), depth);
    } else {
      visit(*call.state, "(state)", depth);
    }
  }

  const Checkpoint* checkpoint_;
  OutlineLimits limits_;
  std::vector<OutlineLine> lines_;
};

}  // namespace

std::vector<OutlineLine> outline(const Checkpoint& checkpoint, const OutlineLimits& limits) {
  Outliner outliner(&checkpoint, limits);
  if (checkpoint.tree().root() != nullptr) outliner.visit(*checkpoint.tree().root(), "", 0);
  return outliner.take();
}

std::vector<OutlineLine> outline(const pickle::Tree& tree, const OutlineLimits& limits) {
  Outliner outliner(nullptr, limits);
  if (tree.root() != nullptr) outliner.visit(*tree.root(), "", 0);
  return outliner.take();
}

}  // namespace flambeau
