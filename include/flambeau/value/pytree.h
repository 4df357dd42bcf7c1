// The shape of nested Python containers (what torch.utils._pytree calls a TreeSpec), with the text form that
// exported programs hold: which containers, with which keys, around how many leaves. Immutable and cheap to
// copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau::json {
class Value;
using Array = std::vector<Value>;
}  // namespace flambeau::json

namespace flambeau {

enum class TreeKind : uint8_t {
  kLeaf,
  kTuple,
  kList,
  kDict,
  kOrderedDict,
  kDefaultDict,
  kNamedTuple,
  kDeque,
  kImmutableList,  // torch.fx's
  kImmutableDict,
  kOther,  // a registered class; what it means is known to its owner alone
};

// How deep containers may nest: as deep as JSON of that depth can be read again.
constexpr int kMostTreeDepth = 255;

class TreeSpec {
 public:
  // A leaf.
  TreeSpec() = default;

  // Each throws Error(kLimit) for nesting deeper than kMostTreeDepth.
  static TreeSpec tuple(std::vector<TreeSpec> children);
  static TreeSpec list(std::vector<TreeSpec> children);
  // Keys as JSON has them: strings, numbers, or enum_key(). As many as children, else
  // Error(kInvalidArgument).
  static TreeSpec dict(const json::Array& keys, std::vector<TreeSpec> children);
  static TreeSpec ordered_dict(const json::Array& keys, std::vector<TreeSpec> children);
  // `type_name`: the name the class was registered with.
  static TreeSpec named_tuple(std::string_view type_name, std::vector<TreeSpec> children);
  static TreeSpec deque(std::optional<int64_t> max_length, std::vector<TreeSpec> children);
  // A dataclass registered as `type_name`, with those of its fields that are None named apart.
  static TreeSpec dataclass(std::string_view type_name, const std::vector<std::string>& fields,
                            const std::vector<std::string>& none_fields, std::vector<TreeSpec> children);
  // Any other type with the context its serializer wrote, kept verbatim. Of a type known here, the context is
  // checked: Error(kCorrupt).
  static TreeSpec other(std::string_view type_name, const json::Value& context,
                        std::vector<TreeSpec> children);
  // The key that stands for a member of a Python enum: enum_key("module", "Color", "RED").
  static json::Value enum_key(std::string_view module, std::string_view qualified_name,
                              std::string_view member);

  TreeKind kind() const;
  bool is_leaf() const { return kind() == TreeKind::kLeaf; }
  // "builtins.tuple"; empty for a leaf.
  std::string_view type_name() const;
  // The context as JSON text: "null" for a leaf, "\"null\"" for a tuple, "\"[\\\"x\\\"]\"" for {'x': *}.
  std::string_view context_json() const;
  std::span<const TreeSpec> children() const;
  // Throws Error(kInvalidArgument) when there is no such child.
  const TreeSpec& child(size_t index) const;
  // The keys of the dict types, one for each child; empty for the others.
  std::span<const json::Value> keys() const;
  // The child under a string key of a dict type, or the field of a dataclass; null when there is none.
  const TreeSpec* find(std::string_view key) const;
  size_t num_leaves() const;
  size_t num_nodes() const;
  int depth() const;  // 1 for a leaf

  // Readable, like Python: "((*, *), {'x': *})".
  std::string to_string() const;
  // How Python would reach a child: "[0]", "['x']", ".field".
  std::string child_path(size_t index) const;

  // Same containers, contexts and keys in the same order.
  friend bool operator==(const TreeSpec& a, const TreeSpec& b);

 private:
  friend class TreeSpecReader;
  friend class TreeSpecPrinter;
  struct Node;
  explicit TreeSpec(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  void print(std::string& to) const;
  static TreeSpec make(std::string_view type_name, const json::Value& context, std::vector<TreeSpec> children,
                       std::string extra = {});

  std::shared_ptr<const Node> node_;  // none for a plain leaf
};

// Calls `visit` with the path of each leaf, in order: root + "[0]['x'].y". The text lives for that call only.
void visit_leaf_paths(const TreeSpec& spec, std::string_view root,
                      const std::function<void(std::string_view path)>& visit);
// As a list. Throws Error(kLimit) when the texts would take more than 64 MiB.
std::vector<std::string> leaf_paths(const TreeSpec& spec, std::string_view root = {});
// Of the (args, kwargs) a program is called with: "args[0]['x']", "kwargs['mask']"; of any other spec, paths
// from "inputs".
std::vector<std::string> input_leaf_paths(const TreeSpec& spec);

// The text of torch.utils._pytree.treespec_dumps, protocol 1. parse_treespec throws Error(kCorrupt) located
// at the byte or the node, Error(kUnsupported) for another protocol, Error(kLimit) for nesting beyond
// kMostTreeDepth.
TreeSpec parse_treespec(std::string_view text);
std::string dump_treespec(const TreeSpec& spec);

}  // namespace flambeau
