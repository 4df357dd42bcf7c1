// Nodes that are statements: control flow, assignments.
#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/print_forms.h"
#include "flambeau/script/printer/code_writer.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

bool is_union(const Type& type) { return type.is(TypeKind::kUnion) || type.is(TypeKind::kOptional); }

// The value when it is a constant of that kind, else null.
const IValue* constant_of(const Value* value, IValue::Tag tag) {
  const Node* node = value->node();
  return node->is(NodeKind::kConstant) && node->constant.is(tag) ? &node->constant : nullptr;
}

bool is_true(const Value* value) {
  const IValue* constant = constant_of(value, IValue::Tag::kBool);
  return constant != nullptr && constant->as_bool();
}

}  // namespace

void CodeWriter::write_assignment(std::span<Value* const> targets, std::span<Value* const> values) {
  if (targets.empty()) return;
  indent();
  append_uses(body_, targets);
  // Of several, none can be annotated.
  if (targets.size() == 1) {
    const Value* target = targets[0];
    if (is_union(target->type()) && !expressions_.contains(target) && annotated_.insert(target).second) {
      put(" : " + annotation_text(target->type()));
    }
  }
  put(" = ");
  append_uses(body_, values);
  put("\n");
}

void CodeWriter::write_first_assignments(std::span<Value* const> targets, std::span<Value* const> values) {
  for (size_t i = 0; i < targets.size(); ++i) {
    const Value* target = targets[i];
    indent();
    append_use(body_, target);
    const bool is_annotated =
        is_union(target->type()) ? annotated_.insert(target).second : !(target->type() == values[i]->type());
    if (is_annotated) put(": " + type_of(target->type()));
    put(" = ");
    append_use(body_, values[i]);
    put("\n");
  }
}

void CodeWriter::write_if(const Node& node) {
  assign_names(node.outputs());
  indent();
  put("if ");
  append_use(body_, node.input(0));
  put(":\n");
  for (size_t i = 0; i < 2; ++i) {
    if (i == 1) {
      indent();
      put("else:\n");
    }
    ++level_;
    write_block(*node.block(i), !node.outputs().empty());
    write_assignment(node.outputs(), node.block(i)->outputs());
    --level_;
  }
}

// What a loop carries is assigned to its outputs before the loop, and again at the end of each turn.
void CodeWriter::write_loop(const Node& node) {
  const ir::Block& body = *node.block(0);
  const IValue* most = constant_of(node.input(0), IValue::Tag::kInt);
  const bool is_endless = is_true(node.input(1)) && is_true(body.output(0));
  const bool is_counted =
      most == nullptr || most->as_int() != std::numeric_limits<int64_t>::max() || body.input(0)->has_uses();
  if (is_counted && !is_endless) {
    throw Error(ErrorCode::kUnsupported, "a loop with a count and a condition cannot be written as code",
                "run canonicalize_modified_loops first");
  }
  const bool is_for = is_counted;
  assign_names(node.outputs());
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    auto name = std::make_shared<TaggedText>();
    append_use(*name, node.output(i));
    expressions_[body.input(i + 1)] = std::move(name);
  }
  write_first_assignments(node.outputs(), node.inputs().subspan(2));
  const Value* turn = body.input(0);
  assign_name(turn);
  if (is_for) {
    indent();
    put("for ");
    append_use(body_, turn);
    put(" in range(");
    append_use(body_, node.input(0));
    put("):\n");
  } else {
    // Nobody counts the turns of a while loop: its value stands for the condition.
    write_assignment(body.inputs().first(1), node.inputs().subspan(1, 1));
    indent();
    put("while ");
    append_use(body_, turn);
    put(":\n");
  }
  const size_t skipped = is_for ? 1 : 0;
  ++level_;
  write_block(body, body.inputs().size() > skipped);
  write_assignment(body.inputs().subspan(skipped), body.outputs().subspan(skipped));
  --level_;
}

// The graph of the node becomes a function inside of this one, which sees the variables around it.
void CodeWriter::write_closure(const Node& node, std::string_view word) {
  const std::string name = names_.make(word == "fork" ? "__forked_function" : "__awaitable_function");
  indent();
  put(fmt::format("def {}():\n", name));
  const ir::Graph& graph = *node.subgraph;
  if (graph.inputs().size() != node.inputs().size()) {
    throw Error(ErrorCode::kInternal, fmt::format("{}: inputs do not match its graph", word));
  }
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    auto use = std::make_shared<TaggedText>();
    append_use(*use, node.input(i));
    expressions_[graph.inputs()[i]] = std::move(use);
  }
  if (++depth_ > ir::kMostBlockDepth) throw Error(ErrorCode::kLimit, "functions are nested too deep");
  write_body(graph.block());
  --depth_;
  TaggedText call;
  put(call, fmt::format("{}({})", word, name));
  write_definition(node, call);
}

void CodeWriter::write_definition(const Node& node, const TaggedText& expression) {
  assign_names(node.outputs());
  indent();
  if (!node.outputs().empty()) {
    append_uses(body_, node.outputs());
    put(" = ");
  }
  body_.append(expression);
  put("\n");
}

void CodeWriter::write_node(const Node& node) {
  const RangeScope scope(*this, node);
  mention_types(node);
  if (node.is(NodeKind::kConstant)) return;
  write_statement(node);
}

void CodeWriter::write_statement(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kReturn:
      if (node.inputs().size() != 1) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("a function that returns {} values cannot be written as code; it returns one",
                                node.inputs().size()));
      }
      indent();
      put("return ");
      append_use(body_, node.input(0));
      return put("\n");
    case NodeKind::kIf:
      return write_if(node);
    case NodeKind::kLoop:
      return write_loop(node);
    case NodeKind::kTupleUnpack:
    case NodeKind::kListUnpack:
      assign_names(node.outputs());
      indent();
      if (!node.outputs().empty()) {
        append_uses(body_, node.outputs());
        put(", = ");
      }
      append_use(body_, node.input(0));
      return put("\n");
    case NodeKind::kSetAttr:
      indent();
      append_use(body_, node.input(0));
      put(fmt::format(".{} = ", node.name));
      append_use(body_, node.input(1));
      return put("\n");
    case NodeKind::kFork:
      return write_closure(node, "fork");
    case NodeKind::kAwaitable:
      return write_closure(node, "awaitable");
    case NodeKind::kEnter:
      indent();
      put("with ");
      append_use(body_, node.input(0));
      if (!node.outputs().empty() && node.output()->has_uses()) {
        assign_name(node.output());
        put(" as " + variables_[node.output()]);
      }
      put(":\n");
      ++level_;
      return;
    case NodeKind::kExit:
      if (node.previous() != nullptr && node.previous()->is(NodeKind::kEnter)) {
        indent();
        put("pass\n");
      }
      if (level_ > 0) --level_;
      return;
    default:
      return write_expression_node(node);
  }
}

bool CodeWriter::is_long(const TaggedText& text) const {
  constexpr size_t kLongLine = 40;
  return text.text().size() + level_ * 2 >= kLongLine;
}

void CodeWriter::write_expression_node(const Node& node) {
  if (node.is(NodeKind::kOperator) && print_rule(node.op->schema.name).form == PrintForm::kContainerIndex) {
    assign_name(node.output());
    indent();
    append_use(body_, node.output());
    put(fmt::format(" : {} = ", annotation_text(node.output()->type())));
    append_use(body_, node.input(0));
    put("[");
    append_use(body_, node.input(1));
    return put("]\n");
  }
  auto expression = std::make_shared<TaggedText>();
  append_expression(*expression, node);
  if (!inlining_.contains(&node) || (node.is(NodeKind::kConstant) && is_long(*expression))) {
    return write_definition(node, *expression);
  }
  const bool is_too_long = is_long(*expression);
  expressions_[node.output()] = std::move(expression);
  if (is_too_long) split_long_inlines(node.output());
}

// An expression that became too long gets a variable, and so does all that the same statement evaluates
// before it: otherwise the order of evaluation would change.
void CodeWriter::split_long_inlines(const Value* value) {
  std::vector<const Value*> reversed;
  const Node* user = value->uses().front().user;
  auto last = static_cast<int64_t>(value->uses().front().index);
  while (true) {
    const auto [seen, is_new] = split_inputs_.try_emplace(user, -1);
    for (int64_t i = last; i > seen->second; --i) {
      const Value* input = user->input(static_cast<size_t>(i));
      if (inlining_.contains_other_than_constant(input)) reversed.push_back(input);
    }
    seen->second = last;
    if (!is_new || !inlining_.contains(user)) break;
    // The user itself is still being made: only what comes before it can have a variable.
    const ir::Use& next = user->output()->uses().front();
    last = static_cast<int64_t>(next.index) - 1;
    user = next.user;
  }
  for (auto split = reversed.rbegin(); split != reversed.rend(); ++split) {
    TaggedText expression;
    append_use(expression, *split);
    write_definition(*(*split)->node(), expression);
  }
}

}  // namespace flambeau::script
