#include "flambeau/script/python/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "flambeau/base/ascii.h"
#include "flambeau/script/printer/name_maker.h"

namespace flambeau::script {

namespace {

using ir::Block;
using ir::Node;
using ir::NodeKind;
using ir::Value;

// Sorted as bytes.
constexpr auto kPythonWords = std::to_array<std::string_view>({
    "Any",    "Dict",  "Enum",   "F",       "False",    "List",     "NamedTuple", "None",    "Optional",
    "Tensor", "True",  "Tuple",  "Union",   "and",      "as",       "assert",     "async",   "await",
    "base64", "bool",  "break",  "class",   "complex",  "continue", "def",        "del",     "dict",
    "elif",   "else",  "except", "finally", "float",    "for",      "from",       "getattr", "global",
    "hash",   "if",    "import", "in",      "int",      "is",       "isinstance", "lambda",  "len",
    "list",   "math",  "max",    "min",     "nn",       "nonlocal", "not",        "or",      "pass",
    "print",  "raise", "range",  "return",  "self",     "setattr",  "sorted",     "str",     "super",
    "torch",  "try",   "type",   "typing",  "warnings", "while",    "with",       "yield",
});

// Where the value is made.
const Block* home(const Value& value) { return value.node()->block(); }

bool contains(const Block* outer, const Block* inner) {
  while (inner != nullptr && inner != outer)
    inner = inner->owner() == nullptr ? nullptr : inner->owner()->block();
  return inner == outer;
}

// The node of `block` that the other one is, or is inside of.
const Node* lifted(const Node* node, const Block* block) {
  while (node != nullptr && node->block() != block) {
    node = node->block() == nullptr ? nullptr : node->block()->owner();
  }
  return node;
}

bool comes_before(const Node& first, const Node& second) {
  if (first.is(NodeKind::kReturn)) return false;
  return first.is_before(&second);
}

}  // namespace

bool is_python_word(std::string_view name) {
  return std::ranges::find(kPythonWords, name) != kPythonWords.end();
}

std::string_view without_number(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  return end == 0 ? name : name.substr(0, end);
}

bool is_dead_at(const Value* value, const Node& node, bool with_node) {
  const Block* const block = home(*value);
  if (!contains(block, node.block())) return true;
  if (block != node.block()) return false;
  return std::ranges::all_of(value->uses(), [&](const ir::Use& use) {
    const Node* const at = lifted(use.user, block);
    if (at == nullptr) return false;
    if (at == &node) return with_node && use.user == &node;
    return comes_before(*at, node);
  });
}

bool is_unread_after(const Value* value, const Node& node) {
  return std::ranges::all_of(value->uses(), [&](const ir::Use& use) {
    if (use.user == &node) return node.blocks().empty();
    if (use.user->block() == nullptr) return false;
    // What stands in the other branch of the same condition never runs after the node.
    for (const Block* mine = node.block(); mine != nullptr && mine->owner() != nullptr;
         mine = mine->owner()->block()) {
      if (!mine->owner()->is(NodeKind::kIf)) continue;
      for (const Block* other : mine->owner()->blocks()) {
        if (other != mine && contains(other, use.user->block())) return true;
      }
    }
    // Inside of the node itself: it is looked at again for each of its branches.
    for (const Block* inner : node.blocks()) {
      if (contains(inner, use.user->block())) return node.is(NodeKind::kIf);
    }
    const Node* const at = use.user;
    if (at->is(NodeKind::kReturn)) return false;
    return at->is_before(&node);
  });
}

std::string PythonVariables::make(std::string_view wanted) {
  std::string base = wanted.empty() ? "value" : make_identifier(wanted);
  while (base.starts_with("__")) base.erase(0, 1);  // Python gives such names in classes another meaning
  const auto is_free = [&](const std::string& name) {
    return !taken_.contains(name) && !globals_.contains(name) && !is_python_word(name);
  };
  std::string name = base;
  uint64_t& number = next_numbers_[base];
  while (!is_free(name)) name = fmt::format("{}{}{}", base, is_digit(base.back()) ? "_" : "", ++number);
  taken_.insert(name);
  return name;
}

void PythonVariables::add_argument(const std::string& name, const Value* value) {
  taken_.insert(name);
  holders_[name] = value;
}

std::string PythonVariables::choose(std::string_view wanted, const Value* value, const Node& node) {
  const std::string whole = make_identifier(wanted);
  for (const std::string& name : {std::string(without_number(whole)), whole}) {
    const auto holder = holders_.find(name);
    if (holder != holders_.end() && is_dead_at(holder->second, node, node.blocks().empty())) {
      holder->second = value;
      return name;
    }
  }
  // A number that only told it from a name which is free is not needed.
  std::string name = make(wanted);
  holders_[name] = value;
  return name;
}

}  // namespace flambeau::script
