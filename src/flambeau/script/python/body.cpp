#include "flambeau/script/python/body.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/printer/name_maker.h"
#include "flambeau/script/python/lines.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

// A statement that grows longer than that has variables for its parts.
constexpr size_t kLongExpression = 90;

// "_", "_12": names that the printer of archives gave.
bool is_made_up(std::string_view name) {
  return name.starts_with('_') && std::ranges::all_of(name.substr(1), is_digit);
}

bool is_same_value(const Node& node) {
  if (node.is(NodeKind::kUncheckedCast)) return true;
  return node.is(NodeKind::kOperator) && python_rule(node.op->schema).form == PythonForm::kSame;
}

// What the author's source assigns there, where the file says so: "x" of "x = self.conv(x)".
std::string original_target(const Node& node) {
  if (!node.range || node.range.source->origins() == nullptr) return {};
  const std::optional<SourceRange> origin = node.range.source->origins()->find(node.range.start);
  if (!origin || !*origin || origin->start > origin->source->text().size()) return {};
  size_t begins = 0;
  origin->source->line_text(origin->start, &begins);
  if (begins > origin->start) return {};
  std::string_view before = std::string_view(origin->source->text()).substr(begins, origin->start - begins);
  const auto trim = [&] {
    while (!before.empty() && before.back() == ' ') before.remove_suffix(1);
    while (!before.empty() && before.front() == ' ') before.remove_prefix(1);
  };
  trim();
  if (!before.ends_with('=')) return {};
  before.remove_suffix(1);
  if (const size_t colon = before.find(':'); colon != std::string_view::npos)
    before = before.substr(0, colon);
  trim();
  return is_identifier(before) && !is_made_up(before) ? std::string(before) : std::string();
}

// A list of constants that one operator looks at.
bool is_list_of_constants(const Node& node) {
  if (!node.is(NodeKind::kListConstruct) || node.output()->uses().size() != 1) return false;
  const ir::Use& use = node.output()->uses().front();
  if (!use.user->is(NodeKind::kOperator) || use.user->op->schema.is_vararg) return false;
  const std::vector<SchemaArgument>& arguments = use.user->op->schema.arguments;
  if (use.index >= arguments.size() || arguments[use.index].alias) return false;
  return std::ranges::all_of(node.inputs(),
                             [](const Value* input) { return input->node()->is(NodeKind::kConstant); });
}

// A name for what has none: after what makes it.
std::string suggestion(const Node& node) {
  if (node.is(NodeKind::kOperator)) {
    std::string base(node.op->schema.name.base_name());
    while (base.ends_with('_')) base.pop_back();
    while (base.starts_with('_')) base.erase(0, 1);
    return base.empty() ? "value" : base;
  }
  if (node.is(NodeKind::kGetAttr) && is_identifier(node.name)) return node.name;
  if (node.is(NodeKind::kCallMethod)) {
    const Node& object = *node.input(0)->node();
    if (object.is(NodeKind::kGetAttr) && is_identifier(object.name)) return object.name;
    return node.name == "forward" ? "output" : node.name;
  }
  if (node.is(NodeKind::kIf) && node.outputs().size() == 1 && node.output()->type().is(TypeKind::kBool)) {
    return "condition";
  }
  return "value";
}

}  // namespace

PythonBody::PythonBody(PythonFile& file)
    : file_(file),
      variables_(file.names()),
      inlining_([this](const Node& node) { return is_transparent(node); }) {}
PythonBody::~PythonBody() = default;

// Loops over ranges count from 0 in scripts, and compute the number that the range has there.
void PythonBody::find_ranges(ir::Graph& graph) {
  const auto form_of = [](const Node& node) {
    return node.is(NodeKind::kOperator) ? python_rule(node.op->schema).form : PythonForm::kOps;
  };
  std::vector<Node*> loops;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (node.is(NodeKind::kLoop)) loops.push_back(&node);
  });
  for (Node* loop : loops) {
    const Value* const count = loop->input(0);
    const Value* const turn = loop->block(0)->input(0);
    Node& length = *count->node();
    if (form_of(length) != PythonForm::kRangeLength || count->uses().size() != 1 || turn->uses().size() != 1)
      continue;
    const ir::Use use = turn->uses().front();
    if (form_of(*use.user) != PythonForm::kDeriveIndex || use.index != 0 ||
        use.user->block() != loop->block(0) || use.user->input(1) != length.input(0) ||
        use.user->input(2) != length.input(2)) {
      continue;
    }
    // Nothing comes between the two that could give its operands' names to others.
    length.move_before(loop);
    folded_.insert(&length);
    folded_.insert(use.user);
    ranges_[loop] = use.user->output();
  }
}

// Names that nobody gave are free to go, and so are casts, which Python does not need.
void PythonBody::prepare(ir::Graph& graph) {
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (is_same_value(node) && node.outputs().size() == 1) {
      Value* const from = node.input(0);
      const std::string name(node.output()->base_name());
      node.output()->replace_uses_with(from);
      node.destroy();
      if (!from->has_name() && !name.empty() && !is_made_up(name)) from->set_name(name);
      return;
    }
    for (Value* output : node.outputs()) {
      if (output->has_name() && is_made_up(output->base_name())) output->set_name({});
    }
  });
  find_ranges(graph);
}

// Attributes that nobody stores to can be read anywhere, and lists that nobody can change be made anywhere.
bool PythonBody::is_transparent(const Node& node, int depth) const {
  constexpr int kMostWay = 32;  // longer ways have variables
  if (node.is(NodeKind::kConstant) || is_list_of_constants(node)) return true;
  if (!node.is(NodeKind::kGetAttr) || file_.is_stored(node.name)) return false;
  const Value* const object = node.input(0);
  if (selves_.contains(object)) return true;
  return depth < kMostWay && object->node()->is(NodeKind::kGetAttr) &&
         is_transparent(*object->node(), depth + 1);
}

std::string PythonBody::write(const Function& function, std::string_view name, size_t level) {
  graph_ = function.graph()->copy();
  const Signature& signature = function.signature();
  if (graph_->inputs().size() != signature.arguments.size()) {
    throw Error(ErrorCode::kInternal, fmt::format("{}: the signature is not that of the graph",
                                                  printable(function.qualified_name())));
  }
  prepare(*graph_);
  std::string head = fmt::format("def {}(", name);
  bool has_keywords = false;
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const Argument& argument = signature.arguments[i];
    const Value* const input = graph_->inputs()[i];
    const bool is_self = i == 0 && argument.name == "self";
    if (i > 0) head += ", ";
    if (argument.is_kwarg_only && !has_keywords) head += "*, ";
    has_keywords = has_keywords || argument.is_kwarg_only;
    head += argument.name;
    if (is_self) {
      selves_.insert(input);
    } else {
      head += ": " + file_.annotation(argument.type);
    }
    if (argument.default_value) head += " = " + file_.literal(*argument.default_value);
    variables_.add_argument(argument.name, input);
    names_[input] = argument.name;
  }
  const bool gives_none = signature.returns.empty() || signature.returns[0].is(TypeKind::kNone);
  head += ") -> " + (signature.returns.empty() ? "None" : file_.annotation(signature.returns[0])) + ":";
  inlining_.scan(graph_->block());
  level_ = level;
  line(head);
  ++level_;
  const std::string body = with_body([&] {
    write_block(graph_->block());
    const Node& result = *graph_->block().return_node();
    if (gives_none) return;
    if (result.inputs().size() != 1) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} returns {} values, which no script does",
                              printable(function.qualified_name()), result.inputs().size()));
    }
    const Node& maker = *result.input(0)->node();
    const bool is_tuple = maker.is(NodeKind::kTupleConstruct) && !names_.contains(result.input(0)) &&
                          !maker.output()->type().is(TypeKind::kClass) && maker.inputs().size() > 1;
    const Value* const value = result.input(0);
    if (const auto known = names_.find(value); known != names_.end() && value->uses().size() == 1) {
      // What was assigned last, and only to be returned.
      if (return_last(known->second)) return;
    }
    const std::string given = use(value);
    line("return " + (is_tuple ? given.substr(1, given.size() - 2) : given));
  });
  text_ += body;
  if (body.empty()) line("pass");
  return std::move(text_);
}

// Turns "name = ..." at the end of the text into "return ...".
bool PythonBody::return_last(const std::string& name) {
  const std::string indent(level_ * 4, ' ');
  size_t end = text_.size();
  while (end > 0) {
    const size_t before = end < 2 ? std::string::npos : text_.rfind('\n', end - 2);
    const size_t start = before == std::string::npos ? 0 : before + 1;
    const std::string_view line = std::string_view(text_).substr(start, end - start);
    const bool is_own = line.starts_with(indent) && line.size() > indent.size() &&
                        line[indent.size()] != ' ' &&
                        std::string_view(")]}").find(line[indent.size()]) == std::string_view::npos;
    if (is_own) {
      const std::string target = indent + name + " = ";
      if (!line.starts_with(target)) return false;
      text_.replace(start, target.size(), indent + "return ");
      return true;
    }
    end = start;
  }
  return false;
}

std::string PythonBody::with_body(const std::function<void()>& write) {
  std::string outside;
  outside.swap(text_);
  write();
  outside.swap(text_);
  return outside;
}

void PythonBody::write_block(const ir::Block& block) {
  if (++depth_ > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
  }
  for (const Node* node = block.first(); node != nullptr; node = node->next()) write_node(*node);
  --depth_;
}

void PythonBody::line(std::string_view statement) { text_ += python_line(statement, level_); }

// Whatever waits to be used in the next statement gets a variable, in the order of evaluation.
void PythonBody::flush() {
  const std::vector<const Value*> waiting = std::move(pending_);
  pending_.clear();
  for (const Value* value : waiting) {
    const std::string text = expressions_.at(value).text;
    subscripts_.erase(value);
    assign(value, name_for(value, *value->node()));
    line(names_.at(value) + " = " + text);
  }
}

void PythonBody::assign(const Value* value, const std::string& name) {
  names_[value] = name;
  variables_.hold(name, value);
}

std::string PythonBody::name_for(const Value* value, const Node& node) {
  if (const auto wanted = wanted_.find(value); wanted != wanted_.end()) {
    const Value* const holder = wanted->second.holder;
    if (holder == nullptr || is_unread_after(holder, node)) return wanted->second.name;
  }
  std::string name = node.outputs().size() == 1 ? original_target(node) : std::string();
  if (name.empty() && value->has_name()) name = std::string(value->base_name());
  if (name.empty()) name = suggestion(*value->node());
  return variables_.choose(name, value, node);
}

PythonExpression PythonBody::take(const Value* value) {
  if (const auto name = names_.find(value); name != names_.end()) return {name->second};
  if (const auto known = expressions_.find(value); known != expressions_.end()) {
    std::erase(pending_, value);
    return known->second;
  }
  const Node& node = *value->node();
  if (is_transparent(node)) return expression(node);
  throw Error(ErrorCode::kInternal,
              fmt::format("the value '{}' is printed before it is made", printable(value->name())));
}

std::string PythonBody::use(const Value* value, PythonLevel level) {
  Expression taken = take(value);
  return taken.level < level ? "(" + std::move(taken.text) + ")" : std::move(taken.text);
}

std::string PythonBody::uses(std::span<Value* const> values) {
  std::string text;
  for (const Value* value : values) text += (text.empty() ? "" : ", ") + use(value);
  return text;
}

const IValue* PythonBody::constant(const Value* value) const {
  const Node& node = *value->node();
  return node.is(NodeKind::kConstant) && node.name.empty() ? &node.constant : nullptr;
}

// Python's own function, also where an argument has its name.
std::string PythonBody::builtin(std::string_view word) const {
  if (!variables_.is_taken(std::string(word))) return std::string(word);
  file_.need_import("builtins");
  return "builtins." + std::string(word);
}

}  // namespace flambeau::script
