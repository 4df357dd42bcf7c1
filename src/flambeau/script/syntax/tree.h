// The syntax tree of a script: plain nodes of a kind, a text and children. A tree owns its nodes side by
// side, so that neither depth nor size matters when it goes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/script/source.h"

namespace flambeau::script::syntax {

enum class Kind : uint8_t {
  // Expressions.
  kName,    // text
  kNumber,  // text: "1", "-.5", "2j"
  kString,  // text: what it means, without quotes
  kTrue,
  kFalse,
  kNone,
  kNoneType,
  kDots,
  kFormat,     // f"...": strings and expressions, in order
  kSelect,     // (value), text
  kCall,       // (callee, arguments...); kKeyword and kStarred among them
  kKeyword,    // (value), text
  kSubscript,  // (value, indices...)
  kSlice,      // (begin?, end?, step?)
  kTuple,
  kList,
  kDict,               // (key, value, ...)
  kListComprehension,  // (element, target, iterable)
  kDictComprehension,  // (key, value, target, iterable)
  kConditional,        // (condition, if true, if false)
  kAdd,                // binary ones up to kIn
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kMatrixMultiply,
  kPower,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShiftLeft,
  kShiftRight,
  kAnd,
  kOr,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kIs,
  kIsNot,
  kIn,
  kNot,  // unary ones up to kStarred
  kNegate,
  kInvert,
  kStarred,
  // Statements.
  kIf,        // (condition, block, block)
  kWhile,     // (condition, block)
  kFor,       // (targets, iterables, block): sequences
  kWith,      // (items, block)
  kWithItem,  // (value, name?)
  kReturn,    // (value)
  kRaise,     // (value)
  kAssert,    // (condition, message?)
  kBreak,
  kContinue,
  kPass,
  kDelete,           // (targets...)
  kGlobal,           // (names...)
  kAssign,           // (type?, value?, targets...)
  kAugmentedAssign,  // (target, value), operation
  kExpression,       // (value)
  kDefinition,       // (parameters, result type?, block, decorators...), text
  kParameter,        // (type?, default?), text, is_keyword_only
  kClass,            // (superclass?, block, decorators...), text
  kSequence,         // of anything: a block, targets, parameters
};
std::string_view kind_name(Kind kind);

struct Node {
  Kind kind;
  Kind operation = Kind::kAdd;  // of an augmented assignment
  bool is_keyword_only = false;
  uint16_t depth = 1;  // of what hangs below, itself included
  uint32_t start = 0;
  uint32_t end = 0;
  std::string text;
  std::vector<const Node*> children;  // null where one may be missing, and is

  bool is(Kind of) const { return kind == of; }
  const Node& child(size_t index) const { return *children.at(index); }
  const Node* maybe(size_t index) const { return index < children.size() ? children[index] : nullptr; }
};

// How deep trees may nest: parentheses, indentation, and chains such as a + b + c.
constexpr int kMostDepth = 400;

class Tree {
 public:
  explicit Tree(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const std::shared_ptr<const Source>& source() const { return source_; }
  SourceRange range(const Node& node) const { return {source_, node.start, node.end}; }
  // The classes and functions of the text, in order; of users' texts also assignments of constants.
  std::vector<const Node*> definitions;
  // What imports call things: {"F", "torch.nn.functional"}.
  std::vector<std::pair<std::string, std::string>> imports;

  // Throws Error(kLimit) where the tree would be deeper than kMostDepth.
  Node& make(Kind kind, uint32_t start, uint32_t end, std::vector<const Node*> children = {},
             std::string text = {});
  size_t size() const { return nodes_.size(); }

 private:
  std::shared_ptr<const Source> source_;
  std::deque<Node> nodes_;
};

// "(add x (number 1))": for tests and for people.
std::string to_string(const Node& node);

}  // namespace flambeau::script::syntax
