#include "flambeau/graph/verify/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::graph::verifying {
namespace {

Dialect dialect_of(const ExportedProgram& program) {
  // PyTorch runs every verifier a program names; all but the training one demand functional operators.
  Dialect dialect = Dialect::kTraining;
  for (const std::string& name : program.verifiers) {
    if (name == "EDGE") return Dialect::kEdge;
    if (name == "ATEN" || name.empty()) dialect = Dialect::kAten;
  }
  return dialect;
}

// Sizes that are no numbers, such as Mod(s0, 0), or that take for ever to compute, such as 9**9**9. Empty for
// what is a size, and for what our engine cannot read: the grammar was looked at before.
std::string problem_of_value(const SymExpr& text) {
  try {
    text.expr();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCorrupt) return error.message();
  }
  return {};
}

}  // namespace

std::string Place::to_string() const {
  // A stranger decides how deep graphs nest: name the innermost few.
  constexpr size_t kMostNamed = 4;
  std::vector<const Scope*> scopes;
  for (const Scope* at = scope; at != nullptr && at->outer != nullptr; at = at->outer) scopes.push_back(at);
  std::string text;
  if (scopes.size() > kMostNamed) text = "...: ";
  for (size_t i = std::min(scopes.size(), kMostNamed); i-- > 0;)
    text += fmt::format("subgraph '{}': ", printable(scopes[i]->name));
  if (node != nullptr) return text + fmt::format("node '{}'", printable(node->label()));
  return text + std::string(what.empty() ? "graph" : what);
}

Context::Context(const ExportedProgram& checked, const VerifyOptions& chosen, const SchemaTable& table)
    : program(checked), schemas(table), options(chosen), dialect(chosen.dialect) {
  if (dialect == Dialect::kAuto) dialect = dialect_of(program);
  for (const Weight& tensor : program.constants) constants_.insert(tensor.name);
  for (const NamedObject& object : program.objects) constants_.insert(object.name);
}

void Context::add(std::string_view rule, std::string where, std::string message, std::string_view remedy) {
  if (findings_.size() >= options.most_findings) {
    ++left_out_;
    return;
  }
  findings_.push_back({std::string(rule), std::move(where), std::move(message), std::string(remedy)});
}

std::vector<Finding> Context::take_findings() {
  if (left_out_ != 0) {
    findings_.push_back({"more-findings", "program",
                         fmt::format("{} more findings are not listed", left_out_),
                         "ask for more findings, or repair these first"});
  }
  return std::move(findings_);
}

const Callee& Context::callee(const Target& target) {
  const auto found = callees_.find(target.text());
  if (found != callees_.end()) return found->second;
  return callees_.emplace(target.text(), resolve(target)).first->second;
}

const Callee& Context::callee(const std::string& target) {
  const auto found = callees_.find(target);
  if (found != callees_.end()) return found->second;
  return callees_.emplace(target, resolve(Target(target))).first->second;
}

Callee Context::resolve(const Target& target) const {
  Callee callee;
  const std::string text = printable(target.text());
  const auto wrong = [&](std::string_view rule, std::string message, std::string_view remedy) {
    callee.kind = Callee::Kind::kWrong;
    callee.wrong = {std::string(rule), {}, std::move(message), std::string(remedy)};
    return callee;
  };
  switch (target.kind()) {
    case TargetKind::kHigherOrder: {
      callee.kind = Callee::Kind::kHigherOrder;
      const bool is_known = target.higher_order() != nullptr ||
                            std::ranges::find(options.higher_order_operators, target.name()) !=
                                options.higher_order_operators.end();
      if (is_known) return callee;
      return wrong("unknown-higher-order-operator",
                   fmt::format("PyTorch has no higher-order operator '{}'", printable(target.name())),
                   "if it is an operator of your own, name it in the options");
    }
    case TargetKind::kOperator:
    case TargetKind::kExtension: {
      // Who knows an extension adds its operators to the schemas, as namespace::name.
      callee.entry = schemas.find(*target.op());
      if (callee.entry != nullptr) callee.kind = Callee::Kind::kOperator;
      if (callee.entry != nullptr || target.kind() == TargetKind::kExtension) return callee;
      const bool has_others = !schemas.overloads(target.op()->name).empty();
      const std::string_view space = target.op()->name_space();
      if (!has_others && space != "aten" && space != "prim" && space != "prims") return callee;
      std::string message;
      try {
        schemas.get(*target.op());
      } catch (const Error& error) {
        message = error.message();
      }
      return wrong(has_others ? "unknown-overload" : "unknown-operator", std::move(message),
                   "the program may come from another version of PyTorch: export it again with this one");
    }
    case TargetKind::kFunction:
      if (!is_function(target.text())) break;
      callee.kind = Callee::Kind::kFunction;
      return callee;
    case TargetKind::kMalformed:
      if (target.is_in_torch_ops()) {
        return wrong(
            "malformed-target",
            fmt::format("'{}' is not the name of an operator, torch.ops.<namespace>.<name>.<overload>", text),
            "write the overload too: 'default' when it has no name");
      }
      return wrong("malformed-target",
                   fmt::format("'{}' is not the name of an extension's operator, #<namespace>:<name>", text),
                   "export the program again");
  }
  return wrong("unknown-function",
               fmt::format("'{}' is neither an operator nor a function a program may call", text),
               "a program may call torch.ops, and the functions of symbolic numbers: _operator.add, "
               "math.floor, torch.sym_max and the like");
}

const Expression& Context::expression(const SymExpr& expr) {
  const auto found = expressions_.find(&expr);
  if (found != expressions_.end()) return found->second;
  Expression read = read_expression(expr.text);
  if (read.problem.empty()) read.problem = problem_of_value(expr);
  return expressions_.emplace(&expr, std::move(read)).first->second;
}

bool Context::may_be_constant(std::string_view name) const {
  return !program.has_weights || constants_.contains(name);
}

std::optional<size_t> list_length(const Argument& argument) {
  return std::visit(
      [](const auto& holder) -> std::optional<size_t> {
        if constexpr (requires { holder.data.begin(); } &&
                      !std::is_same_v<std::decay_t<decltype(holder.data)>, std::string>) {
          return holder.data.size();
        } else {
          return std::nullopt;
        }
      },
      argument.data());
}

std::string_view kind_words(const Argument& argument) {
  return argument.is(ArgumentKind::kUnknown) ? "a kind of a newer schema"
                                             : argument_kind_key(argument.kind());
}

}  // namespace flambeau::graph::verifying
