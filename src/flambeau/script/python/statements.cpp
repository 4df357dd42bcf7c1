// Nodes that are statements: branches, loops, assignments.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/script/printer/name_maker.h"
#include "flambeau/script/python/body.h"
#include "flambeau/script/python/lines.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// A statement that grows longer than that has variables for its parts.
constexpr size_t kLongStatement = 90;

// An `if` that is all there is behind an `else` is an `elif`. Empty when it is not.
std::string as_elif(std::string_view body, size_t level) {
  const std::string indent(level * 4, ' ');
  if (!body.starts_with(indent + "if ")) return {};
  std::string text;
  bool is_first = true;
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n') + 1);
    body.remove_prefix(line.size());
    const std::string_view rest = line.substr(std::min(indent.size(), line.size()));
    const bool is_own = !rest.starts_with(' ');
    const bool goes_on =
        rest.starts_with("elif ") || rest.starts_with("else:") || rest.find_first_of(")]}") == 0;
    if (is_own && !is_first && !goes_on) return {};
    text += indent.substr(4);
    if (is_first) text += "el";
    text += rest;
    is_first = false;
  }
  return text;
}

std::string negated(const PythonExpression& condition) {
  if (condition.level == kLevelNot && condition.text.starts_with("not ")) return condition.text.substr(4);
  return condition.level >= kLevelNot ? "not " + condition.text : "not (" + condition.text + ")";
}

// "AssertionError" of "AssertionError: no", if Python has such a class.
std::string_view exception_in(std::string_view message) {
  constexpr std::string_view kKnown[] = {
      "AssertionError",    "ArithmeticError",     "AttributeError", "EOFError",      "Exception",
      "FileNotFoundError", "IndexError",          "KeyError",       "LookupError",   "MemoryError",
      "NameError",         "NotImplementedError", "OSError",        "OverflowError", "RuntimeError",
      "StopIteration",     "TypeError",           "UnicodeError",   "ValueError",    "ZeroDivisionError",
  };
  const std::string_view word = message.substr(0, message.find(':'));
  const auto* const found = std::ranges::find(kKnown, word);
  return found == std::end(kKnown) ? std::string_view() : *found;
}

}  // namespace

void PythonBody::write_node(const Node& node) {
  poll_work();
  if (folded_.contains(&node) || is_transparent(node)) return;
  switch (node.kind()) {
    case NodeKind::kIf:
      return write_if(node);
    case NodeKind::kLoop:
      return write_loop(node);
    case NodeKind::kFork:
      return write_closure(node, "torch.jit.fork");
    case NodeKind::kAwaitable:
      return write_closure(node, "torch.jit._awaitable");
    case NodeKind::kTupleUnpack:
    case NodeKind::kListUnpack:
      return write_results(node, use(node.input(0)));
    case NodeKind::kSetAttr: {
      const std::string object = use(node.input(0), kLevelAtom);
      const std::string value = use(node.input(1));
      // nn.Module takes nothing but parameters where there was one.
      if (is_parameter(node)) {
        return line(fmt::format("{}._parameters[{}] = {}", object, python_quoted(node.name), value));
      }
      if (is_identifier(node.name)) return line(fmt::format("{}.{} = {}", object, node.name, value));
      return line(fmt::format("setattr({}, {}, {})", object, python_quoted(node.name), value));
    }
    case NodeKind::kEnter: {
      std::string head = "with " + use(node.input(0));
      if (!node.outputs().empty() && node.output()->has_uses()) {
        assign(node.output(), name_for(node.output(), node));
        head += " as " + names_.at(node.output());
      }
      line(head + ":");
      ++level_;
      return;
    }
    case NodeKind::kExit:
      if (text_.ends_with(":\n")) line("pass");
      if (level_ > 0) --level_;
      return;
    case NodeKind::kRaiseException:
      return write_raise(node);
    case NodeKind::kOperator:
      if (std::optional<Expression> made = operation(node)) write_expression(node, *std::move(made));
      return;
    default:
      return write_expression(node, expression(node));
  }
}

bool PythonBody::is_parameter(const Node& store) const {
  const Type& type = store.input(0)->type();
  const std::shared_ptr<Class> known =
      type.is(TypeKind::kClass) ? file_.unit().find_class(type.name()) : nullptr;
  if (known == nullptr || !known->is_module()) return false;
  const std::optional<size_t> slot = known->find_attribute(store.name);
  return slot && known->attributes[*slot].is_parameter;
}

void PythonBody::write_expression(const Node& node, Expression made) {
  if (made.text.empty()) return;  // comes later
  if (node.outputs().size() != 1) return write_results(node, made.text);
  const Value* const output = node.output();
  if (inlining_.contains(&node) && output->has_uses()) {
    const bool is_long = made.text.size() > kLongStatement;
    expressions_[output] = std::move(made);
    pending_.push_back(output);
    if (is_long) flush();
    return;
  }
  if (!output->has_uses()) return line(made.text);
  const std::string name = name_for(output, node);
  assign(output, name);
  if (name != made.text) line(name + " = " + made.text);
}

// Several results, of which nobody may want some.
void PythonBody::write_results(const Node& node, const std::string& made) {
  if (std::ranges::none_of(node.outputs(), [](const Value* output) { return output->has_uses(); })) {
    return line(made);
  }
  std::string targets;
  for (const Value* output : node.outputs()) {
    if (!targets.empty()) targets += ", ";
    if (output->has_uses()) assign(output, name_for(output, node));
    targets += output->has_uses() ? names_.at(output) : "_";
  }
  if (node.outputs().size() == 1) targets += ",";
  line(targets + " = " + made);
}

void PythonBody::write_assignments(std::span<const std::string> names, std::span<Value* const> values) {
  std::vector<std::string> targets;
  std::vector<std::string> sources;
  bool is_apart = true;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const std::string source = use(values[i]);
    if (source == names[i]) continue;
    for (const std::string& target : targets) is_apart = is_apart && source.find(target) == std::string::npos;
    targets.push_back(names[i]);
    sources.push_back(source);
  }
  if (is_apart || targets.size() < 2) {
    for (size_t i = 0; i < targets.size(); ++i) line(targets[i] + " = " + sources[i]);
    return;
  }
  std::string left;
  std::string right;
  for (size_t i = 0; i < targets.size(); ++i) {
    left += (i > 0 ? ", " : "") + targets[i];
    right += (i > 0 ? ", " : "") + sources[i];
  }
  line(left + " = " + right);
}

void PythonBody::write_if(const Node& node) {
  const Expression condition = take(node.input(0));
  // Branches that only compute a value are an expression.
  std::vector<std::string> names;
  std::vector<const Value*> holders;
  for (const Value* output : node.outputs()) {
    const auto wanted = wanted_.find(output);
    const Value* const holder = wanted == wanted_.end() ? nullptr : wanted->second.holder;
    names.push_back(output->has_uses() ? name_for(output, node) : "");
    const bool has_holder = holder != nullptr && names.back() == wanted->second.name;
    holders.push_back(has_holder ? holder : nullptr);
  }
  std::string bodies[2];
  std::optional<Expression> results[2];
  const bool may_be_choice = node.outputs().size() == 1 && !names[0].empty();
  for (size_t i = 0; i < 2; ++i) {
    const ir::Block& block = *node.block(i);
    for (size_t k = 0; k < names.size(); ++k) {
      const Value* const result = block.output(k);
      if (names[k].empty() || result->node()->block() != &block || is_transparent(*result->node())) continue;
      wanted_.try_emplace(result, Wanted{names[k], holders[k]});
    }
    ++level_;
    bodies[i] = with_body([&] {
      write_block(block);
      if (may_be_choice && text_.empty()) {
        const Value* const result = block.output(0);
        const bool is_pending = std::ranges::find(pending_, result) != pending_.end();
        results[i] = take(result);
        // Written as a statement where the other branch needs some.
        if (is_pending) expressions_[result] = *results[i];
        return;
      }
      write_assignments(names, block.outputs());
    });
    --level_;
  }
  for (size_t k = 0; k < names.size(); ++k) {
    if (!names[k].empty()) assign(node.output(k), names[k]);
  }
  if (may_be_choice && write_choice(node, condition, bodies, results)) return;
  for (size_t i = 0; i < 2; ++i) {
    if (!results[i] || results[i]->text == names[0]) continue;
    bodies[i] += python_line(names[0] + " = " + results[i]->text, level_ + 1);
  }
  if (bodies[0].empty() && bodies[1].empty()) return line(condition.text);
  if (bodies[0].empty()) {
    // "assert" is a condition whose other branch raises an AssertionError, and nothing else.
    const std::string raise = std::string((level_ + 1) * 4, ' ') + "raise AssertionError(";
    if (bodies[1].starts_with(raise) && bodies[1].ends_with(")\n") &&
        std::ranges::count(bodies[1], '\n') == 1 && node.outputs().empty()) {
      const std::string message = bodies[1].substr(raise.size(), bodies[1].size() - raise.size() - 2);
      return line("assert " + condition.text + (message.empty() || message == "\"\"" ? "" : ", " + message));
    }
    line("if " + negated(condition) + ":");
    text_ += bodies[1];
    return;
  }
  line("if " + condition.text + ":");
  text_ += bodies[0];
  if (bodies[1].empty()) return;
  if (const std::string elif = as_elif(bodies[1], level_ + 1); !elif.empty()) {
    text_ += elif;
    return;
  }
  line("else:");
  text_ += bodies[1];
}

// "a if c else b", "c and b": true when the branches were no more than that.
bool PythonBody::write_choice(const Node& node, const Expression& condition, const std::string (&bodies)[2],
                              const std::optional<Expression> (&results)[2]) {
  if (!bodies[0].empty() || !bodies[1].empty() || !results[0] || !results[1]) return false;
  const std::string& name = names_.at(node.output());
  const auto bound = [](const Expression& made, PythonLevel level) {
    return made.level < level ? "(" + made.text + ")" : made.text;
  };
  const std::string& a = results[0]->text;
  const std::string& b = results[1]->text;
  std::string text;
  if (node.output()->type().is(TypeKind::kBool) && a == "True") {
    text = bound(condition, kLevelOr) + " or " + bound(*results[1], kLevelAnd);
  } else if (node.output()->type().is(TypeKind::kBool) && b == "False") {
    text = bound(condition, kLevelAnd) + " and " + bound(*results[0], kLevelNot);
  } else if (a == name || b == name) {
    return false;  // a variable that one branch leaves as it is
  } else {
    text = bound(*results[0], kLevelOr) + " if " + bound(condition, kLevelOr) + " else " +
           bound(*results[1], kLevelConditional);
  }
  if (text.size() > kLongStatement) return false;
  line(name + " = " + text);
  return true;
}

// "1, n, 2" of what computes how many numbers that range has.
std::string PythonBody::range_arguments(const Node& length) {
  const IValue* const step = constant(length.input(2));
  const bool is_one = step != nullptr && step->is(IValue::Tag::kInt) && step->as_int() == 1;
  return uses(length.inputs().first(is_one ? 2 : 3));
}

// What a loop carries is assigned to variables before it, and again at the end of each turn.
void PythonBody::write_loop(const Node& node) {
  const ir::Block& body = *node.block(0);
  const IValue* const most = constant(node.input(0));
  const IValue* const first = constant(node.input(1));
  const IValue* const next = constant(body.output(0));
  const auto is_true = [](const IValue* value) {
    return value != nullptr && value->is(IValue::Tag::kBool) && value->as_bool();
  };
  const bool is_endless = is_true(first) && is_true(next);
  const bool is_counted =
      most == nullptr || most->as_int() != std::numeric_limits<int64_t>::max() || body.input(0)->has_uses();
  if (is_counted && !is_endless) {
    throw Error(ErrorCode::kUnsupported, "a loop with a count and a condition cannot be written as code",
                "run canonicalize_modified_loops first");
  }
  const auto range = ranges_.find(&node);
  const Value* const counter = range == ranges_.end() ? body.input(0) : range->second;
  std::string count;
  if (range != ranges_.end()) {
    count = range_arguments(*node.input(0)->node());
  } else if (is_counted) {
    count = use(node.input(0));
  }
  std::vector<std::string> names;
  std::vector<std::string> before;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Value* const output = node.output(i);
    const Value* const carried = body.input(i + 1);
    const Value* const start = node.input(i + 2);
    const auto known = names_.find(start);
    // A variable that nobody else reads any more goes on as this one.
    const auto wanted = wanted_.find(output);
    const bool goes_on = known != names_.end() && is_dead_at(start, node, true) &&
                         std::ranges::count(node.inputs(), start) == 1 &&
                         std::ranges::find(names, known->second) == names.end() &&
                         start->node()->block() == node.block();
    std::string name;
    if (goes_on) {
      name = known->second;
    } else {
      if (wanted != wanted_.end()) wanted_.erase(wanted);  // it is not assigned at once
      const Value* const named = output->has_name() ? output : carried->has_name() ? carried : start;
      name = named->has_name() ? variables_.make(without_number(named->base_name()))
                               : variables_.make("carried");
      before.push_back(name + " = " + use(start));
    }
    names.push_back(name);
    assign(carried, name);
  }
  for (const std::string& each : before) line(each);
  if (is_counted) {
    const std::string wanted = counter->has_name() ? std::string(counter->base_name()) : "i";
    assign(counter, counter->has_uses() ? variables_.make(wanted) : "_");
    line(fmt::format("for {} in {}({}):", names_.at(counter), builtin("range"), count));
  } else {
    const std::string_view given = body.input(0)->has_name() ? body.input(0)->base_name() : "i";
    const std::string condition = variables_.make(given == "i" ? "goes_on" : given);
    line(condition + " = " + use(node.input(1)));
    line("while " + condition + ":");
    names.insert(names.begin(), condition);
  }
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Value* const result = body.output(i + 1);
    if (result->node()->block() != &body || is_transparent(*result->node())) continue;
    wanted_.try_emplace(result, Wanted{names[is_counted ? i : i + 1], body.input(i + 1)});
  }
  ++level_;
  const std::string inside = with_body([&] {
    write_block(body);
    write_assignments(names, body.outputs().subspan(is_counted ? 1 : 0));
  });
  text_ += inside;
  if (inside.empty()) line("pass");
  --level_;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    assign(node.output(i), names[is_counted ? i : i + 1]);
  }
}

// The graph of the node becomes a function inside of this one. It takes what it uses as arguments: variables
// may have other values when it runs.
void PythonBody::write_closure(const Node& node, std::string_view word) {
  const std::string name = variables_.make(word == "torch.jit.fork" ? "forked" : "awaited");
  const std::shared_ptr<ir::Graph> graph = node.subgraph->copy();
  inner_graphs_.push_back(graph);
  prepare(*graph);
  if (graph->inputs().size() != node.inputs().size()) {
    throw Error(ErrorCode::kInternal, fmt::format("{}: inputs do not match its graph", word));
  }
  std::string parameters;
  std::string given;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* const outer = node.input(i);
    const std::string text = use(outer);
    const bool is_self = selves_.contains(outer);
    const std::string parameter = is_identifier(text) ? text : variables_.make("captured");
    if (is_self) selves_.insert(graph->inputs()[i]);
    names_[graph->inputs()[i]] = parameter;
    parameters += (i > 0 ? ", " : "") + parameter;
    given += ", " + text;
  }
  line(fmt::format("def {}({}):", name, parameters));
  inlining_.scan(graph->block());
  if (++depth_ > ir::kMostBlockDepth) throw Error(ErrorCode::kLimit, "functions are nested too deep");
  ++level_;
  write_block(graph->block());
  line("return " +
       (graph->outputs().size() == 1 ? use(graph->outputs()[0]) : "(" + uses(graph->outputs()) + ")"));
  --level_;
  --depth_;
  write_expression(node, {fmt::format("{}({}{})", word, name, given)});
}

void PythonBody::write_raise(const Node& node) {
  std::string kind = "RuntimeError";
  const IValue* const given = node.inputs().size() > 1 ? constant(node.input(1)) : nullptr;
  const std::string class_name = given != nullptr && given->is(IValue::Tag::kString)
                                     ? python_class_name(given->as_string())
                                     : std::string();
  if (!exception_in(class_name).empty()) kind = class_name;
  const IValue* const message = constant(node.input(0));
  if (message == nullptr || !message->is(IValue::Tag::kString)) {
    const std::string text = use(node.input(0));
    // What "assert" and "raise" make of a message: the name of the class, and the rest.
    if (text.starts_with('"') && !exception_in(std::string_view(text).substr(1)).empty()) {
      const std::string_view word = exception_in(std::string_view(text).substr(1));
      const std::string joint = fmt::format("\"{}: \" + ", word);
      if (text.starts_with(joint)) return line(fmt::format("raise {}({})", word, text.substr(joint.size())));
    }
    return line(fmt::format("raise {}({})", kind, text));
  }
  std::string_view text = message->as_string();
  if (const std::string_view word = exception_in(text); !word.empty()) {
    kind = word;
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  line(fmt::format("raise {}({})", kind, text.empty() ? "" : python_quoted(text)));
}

}  // namespace flambeau::script
