// What one node calls: whether the program may call it, and the text that came along.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

void check_dialect(Context& context, const Place& place, const Node& node, const OperatorEntry& entry) {
  if (context.dialect == Dialect::kTraining) return;
  const OperatorName& name = entry.schema.name;
  if (entry.schema.is_mutable()) {
    context.add(
        "not-functional", place,
        fmt::format("{} writes to its arguments, which only the training dialect allows", name.to_string()),
        "call run_decompositions() on the program in PyTorch");
  }
  if (context.dialect == Dialect::kAten) return;
  const bool is_core =
      entry.has(OperatorFlag::kCore) || entry.has(OperatorFlag::kKeptInCore) || name.name_space() != "aten";
  if (!is_core) {
    context.add("not-core", place, fmt::format("{} is not in the core operator set", name.to_string()),
                "call run_decompositions() on the program in PyTorch");
  }
  if (context.dialect != Dialect::kEdge) return;
  for (const NamedArgument& input : node.inputs()) {
    const std::optional<size_t> index = entry.schema.find_argument(input.name);
    if (!index || !entry.schema.arguments[*index].type.without_optional().is(TypeKind::kTensor)) continue;
    const ArgumentKind kind = input.argument.kind();
    if (kind == ArgumentKind::kTensor || kind == ArgumentKind::kOptionalTensor || kind == ArgumentKind::kNone)
      continue;
    context.add("edge-number", place,
                fmt::format("argument '{}' of {} is {}; the edge dialect takes a tensor here",
                            printable(input.name), name.to_string(), kind_words(input.argument)),
                "make a tensor of the number first");
  }
}

// Arguments that name an operator: of auto_functionalized, with_effects, out_dtype.
void check_operators(Context& context, const Place& place, const Node& node) {
  for (const NamedArgument& input : node.inputs()) {
    if (!input.argument.is(ArgumentKind::kOperator)) continue;
    const Callee& callee = context.callee(input.argument.get<ArgumentKind::kOperator>());
    if (callee.kind == Callee::Kind::kWrong)
      context.add(callee.wrong.rule, place, callee.wrong.message, callee.wrong.remedy);
  }
}

// How many parts a module's entry has: commas count outside brackets only, as types have them inside.
size_t count_parts(std::string_view entry) {
  size_t parts = 1;
  int64_t depth = 0;
  for (const char c : entry) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) ++parts;
  }
  return parts;
}

// Calls check(entry) for each entry of "a;b;c" until it returns false.
template <typename Check>
void for_each_entry(std::string_view text, Check&& check) {
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(';', start), text.size());
    if (!check(text.substr(start, end - start))) return;
    start = end + 1;
  }
}

}  // namespace

void verify_node_metadata(Context& context, const Place& place, const Node& node) {
  constexpr std::string_view kRemedy = "remove the entry: it only says where the node came from";
  for (const auto& [key, text] : node.metadata) {
    if (text.empty()) continue;
    if (key == "nn_module_stack") {
      for_each_entry(text, [&](std::string_view entry) {
        const size_t parts = count_parts(entry);
        if (parts == 3) return true;
        context.add("node-metadata", place,
                    fmt::format("an entry of nn_module_stack has {} parts, '{}'; expected key, path, type",
                                parts, printable(entry)),
                    kRemedy);
        return false;
      });
    } else if (key == "source_fn_stack") {
      for_each_entry(text, [&](std::string_view entry) {
        if (std::ranges::count(entry, ',') == 1) return true;
        context.add(
            "node-metadata", place,
            fmt::format("an entry of source_fn_stack is '{}'; expected name, function", printable(entry)),
            kRemedy);
        return false;
      });
    } else if (key == "custom") {
      try {
        json::parse(text);
      } catch (const Error& error) {
        context.add("node-metadata", place,
                    fmt::format("its custom metadata is no JSON: {}", error.message()), kRemedy);
      }
    } else if (key == "from_node" && text != "null" && (text.front() != '[' || text.back() != ']')) {
      // Long, and in every node: a glance must do.
      context.add("node-metadata", place, "its from_node metadata is no JSON array", kRemedy);
    }
  }
}

void verify_node(Context& context, const Place& place, const Node& node, const Callee& callee) {
  verify_node_metadata(context, place, node);
  switch (callee.kind) {
    case Callee::Kind::kWrong:
      context.add(callee.wrong.rule, place, callee.wrong.message, callee.wrong.remedy);
      break;
    case Callee::Kind::kOperator:
      check_dialect(context, place, node, *callee.entry);
      verify_call(context, place, node, callee.entry->schema);
      break;
    case Callee::Kind::kFunction:
      verify_function(context, place, node, node.target.text());
      break;
    case Callee::Kind::kHigherOrder:
      check_operators(context, place, node);
      if (const HigherOrder* const form = node.target.higher_order())
        verify_higher_order(context, place, node, *form);
      break;
    case Callee::Kind::kCustom:
      break;
  }
}

}  // namespace flambeau::graph::verifying
