#include "flambeau/script/syntax/tree.h"

#include <algorithm>
#include <array>

#include "flambeau/base/error.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::syntax {

std::string_view kind_name(Kind kind) {
  static constexpr auto kNames = std::to_array<std::string_view>({
      "name",
      "number",
      "string",
      "True",
      "False",
      "None",
      "NoneType",
      "...",
      "format",
      "select",
      "call",
      "keyword",
      "subscript",
      "slice",
      "tuple",
      "list",
      "dict",
      "comprehension",
      "dict-comprehension",
      "conditional",
      "add",
      "subtract",
      "multiply",
      "divide",
      "floor-divide",
      "modulo",
      "matrix-multiply",
      "power",
      "bit-or",
      "bit-xor",
      "bit-and",
      "shift-left",
      "shift-right",
      "and",
      "or",
      "less",
      "greater",
      "less-equal",
      "greater-equal",
      "equal",
      "not-equal",
      "is",
      "is-not",
      "in",
      "not",
      "negate",
      "invert",
      "starred",
      "if",
      "while",
      "for",
      "with",
      "item",
      "return",
      "raise",
      "assert",
      "break",
      "continue",
      "pass",
      "delete",
      "global",
      "assign",
      "augment",
      "expression",
      "def",
      "parameter",
      "class",
      "sequence",
  });
  static_assert(kNames.size() == static_cast<size_t>(Kind::kSequence) + 1);
  return kNames.at(static_cast<size_t>(kind));
}

Node& Tree::make(Kind kind, uint32_t start, uint32_t end, std::vector<const Node*> children,
                 std::string text) {
  int depth = 0;
  for (const Node* child : children) {
    if (child != nullptr) depth = std::max(depth, int{child->depth});
  }
  if (++depth > kMostDepth) {
    fail_at({source_, start, end}, ErrorCode::kLimit,
            "this nests deeper than " + std::to_string(kMostDepth) + " levels",
            "give parts of it names of their own");
  }
  Node& node = nodes_.emplace_back(Node{.kind = kind, .text = {}, .children = {}});
  node.depth = static_cast<uint16_t>(depth);
  node.start = start;
  node.end = end;
  node.text = std::move(text);
  node.children = std::move(children);
  return node;
}

std::string to_string(const Node& node) {
  if (node.kind == Kind::kName) return node.text;
  std::string text;
  if (node.kind == Kind::kString) return "\"" + printable(node.text) + "\"";
  if (node.kind == Kind::kNumber) return node.text;
  if (node.children.empty() && node.text.empty() && node.kind <= Kind::kDots)
    return std::string(kind_name(node.kind));
  text += '(';
  text += kind_name(node.kind);
  if (node.kind == Kind::kAugmentedAssign) {
    text += '-';
    text += kind_name(node.operation);
  }
  if (!node.text.empty()) text += " " + node.text;
  if (node.is_keyword_only) text += " *";
  for (const Node* child : node.children)
    text += " " + (child == nullptr ? std::string("_") : to_string(*child));
  return text + ")";
}

}  // namespace flambeau::script::syntax
