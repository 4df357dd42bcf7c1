#include "flambeau/script/compiler/matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/script/compiler/argument_plan.h"
#include "flambeau/script/compiler/library.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/operators/overload_taking.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"

namespace flambeau::script {
namespace {

// A call that a signature fits, before anything is put into the graph.
struct CallPlan {
  std::vector<ArgumentPlan> inputs;
  std::vector<Type> returns;
};

// One signature tried for one call.
class Attempt {
 public:
  // `why_not` is filled when it is given and the signature does not fit.
  Attempt(const Unit& unit, const Signature& signature, const Call& call, bool allow_conversions,
          std::string* why_not)
      : unit_(unit),
        signature_(signature),
        call_(call),
        allow_conversions_(allow_conversions),
        why_not_(why_not),
        self_(call.self ? &*call.self : nullptr),
        used_keywords_(call.keyword.size(), false) {}

  std::optional<CallPlan> run() {
    for (size_t i = 0; i < signature_.arguments.size(); ++i)
      if (!take_argument(i)) return std::nullopt;
    if (self_ != nullptr) return fail("it has no argument 'self'");
    if (signature_.is_vararg)
      for (; used_ < call_.positional.size(); ++used_)
        plan_.inputs.push_back(plan_given(call_.positional[used_]));
    if (used_ < call_.positional.size()) {
      return fail(fmt::format("it takes {} positional argument{}, found {}", used_, used_ == 1 ? "" : "s",
                              call_.positional.size()));
    }
    for (size_t i = 0; i < used_keywords_.size(); ++i)
      if (!used_keywords_[i]) return fail_keyword(call_.keyword[i].name);
    for (const Type& type : signature_.returns) {
      std::optional<Type> result = resolve_type_variables(type, bindings_);
      if (!result) return fail("the call does not say what its result is");
      plan_.returns.push_back(*std::move(result));
    }
    return std::move(plan_);
  }

 private:
  bool take_argument(size_t index) {
    const Argument& argument = signature_.arguments[index];
    if (self_ != nullptr && argument.name == "self")
      return add(argument, plan_given(*std::exchange(self_, nullptr)));
    if (!argument.is_kwarg_only && used_ < call_.positional.size()) {
      if (allow_conversions_ && takes_the_rest(index) && !is_list_given(argument)) return add_rest(argument);
      return add(argument, plan_given(call_.positional[used_++]));
    }
    if (const std::optional<size_t> keyword = find_keyword(argument.name)) {
      // A schema may have two arguments of one name, for which one keyword will not do.
      if (used_keywords_[*keyword]) return fail_keyword(argument.name).has_value();
      used_keywords_[*keyword] = true;
      return add(argument, plan_given(call_.keyword[*keyword]));
    }
    if (argument.default_value) return add(argument, plan_constant(*argument.default_value));
    fail(fmt::format("argument '{}' is not given", argument.name));
    return false;
  }

  bool add(const Argument& argument, ArgumentPlan given) {
    return plan_into(plan_.inputs, argument, std::move(given));
  }

  bool plan_into(std::vector<ArgumentPlan>& into, const Argument& argument, ArgumentPlan given) {
    std::string reason;
    std::optional<ArgumentPlan> planned = plan_argument(unit_, argument, std::move(given), allow_conversions_,
                                                        bindings_, why_not_ != nullptr ? &reason : nullptr);
    if (!planned) {
      fail(reason);
      return false;
    }
    into.push_back(*std::move(planned));
    return true;
  }

  // The last positional argument may be a list of all that is left: zeros(1, 2).
  bool takes_the_rest(size_t index) const {
    const Argument& argument = signature_.arguments[index];
    const bool is_last =
        index + 1 == signature_.arguments.size() || signature_.arguments[index + 1].is_kwarg_only;
    return is_last && argument.type.is(TypeKind::kList) && !argument.list_size &&
           !argument.type.element().is(TypeKind::kVariable);
  }

  bool is_list_given(const Argument& argument) const {
    const Type type = plan_given(call_.positional[used_]).type;
    return type.is(TypeKind::kList) || is_convertible_to_list(unit_, type, argument.type);
  }

  bool add_rest(const Argument& argument) {
    const Argument element{argument.name, argument.type.element()};
    ArgumentPlan list;
    list.action = ArgumentPlan::Action::kList;
    list.type = argument.type;
    for (; used_ < call_.positional.size(); ++used_)
      if (!plan_into(list.parts, element, plan_given(call_.positional[used_]))) return false;
    plan_.inputs.push_back(std::move(list));
    return true;
  }

  // Operators call "self" what functions in Python call "input".
  std::optional<size_t> find_keyword(std::string_view name) const {
    const bool may_be_input = name == "self" && signature_.name.starts_with("aten::");
    for (size_t i = 0; i < call_.keyword.size(); ++i) {
      const std::string& given = call_.keyword[i].name;
      if (given == name || (may_be_input && given == "input")) return i;
    }
    return std::nullopt;
  }

  std::optional<CallPlan> fail(std::string_view reason) {
    if (why_not_ != nullptr) *why_not_ = fmt::format("{}: {}", to_string(signature_), reason);
    return std::nullopt;
  }

  std::optional<CallPlan> fail_keyword(const std::string& name) {
    const bool is_known =
        std::ranges::find(signature_.arguments, name, &Argument::name) != signature_.arguments.end();
    return fail(fmt::format("the keyword argument '{}' is {}", printable(name),
                            is_known ? "given twice" : "unknown"));
  }

  const Unit& unit_;
  const Signature& signature_;
  const Call& call_;
  bool allow_conversions_;
  std::string* why_not_;
  const GivenArgument* self_;
  size_t used_ = 0;
  std::vector<bool> used_keywords_;
  TypeBindings bindings_;
  CallPlan plan_;
};

MatchedCall emit_call_plan(CallContext& context, CallPlan plan, const SourceRange& range) {
  MatchedCall matched;
  for (const ArgumentPlan& input : plan.inputs) matched.inputs.push_back(emit_plan(context, input, range));
  matched.returns = std::move(plan.returns);
  return matched;
}

// The index of the signature that a call means, and how.
std::pair<size_t, CallPlan> choose(const Unit& unit, std::span<const Signature* const> signatures,
                                   const Call& call) {
  // A single one has no other to give way to.
  for (const bool allow_conversions : {false, true}) {
    if (!allow_conversions && signatures.size() == 1) continue;
    for (size_t i = 0; i < signatures.size(); ++i)
      if (auto plan = Attempt(unit, *signatures[i], call, allow_conversions, nullptr).run())
        return {i, *std::move(plan)};
  }
  constexpr size_t kMostReasons = 8;
  std::string reasons;
  for (const Signature* const signature : signatures.first(std::min(signatures.size(), kMostReasons))) {
    std::string reason;
    Attempt(unit, *signature, call, true, &reason).run();
    reasons += (signatures.size() == 1 ? "" : "\n  ") + reason;
  }
  if (signatures.size() > kMostReasons)
    reasons += fmt::format("\n  and {} more", signatures.size() - kMostReasons);
  std::string types;
  bool has_optional = false;
  const auto show = [&](const GivenArgument& given) {
    const Type type = plan_given(given).type;
    has_optional = has_optional || type.is(TypeKind::kOptional);
    types += (types.empty() ? "" : ", ") + printable(annotation_text(type));
  };
  if (call.self) show(*call.self);
  for (const GivenArgument& given : call.positional) show(given);
  std::string remedy;
  if (has_optional) remedy = "what may be None is used where 'if ... is not None' says that it is not";
  if (signatures.size() == 1) {
    syntax::fail_at(call.range, ErrorCode::kInvalidArgument, "the arguments do not fit " + reasons,
                    std::move(remedy));
  }
  syntax::fail_at(call.range, ErrorCode::kInvalidArgument,
                  fmt::format("the arguments ({}) fit none of:{}\n", types, reasons), std::move(remedy));
}

// What emit_operator chose: the node of an operator, or the result of a function.
struct Emitted {
  ir::Node* node = nullptr;
  ir::Value* value = nullptr;
  const Signature* signature = nullptr;
};

Emitted emit_chosen(CallContext& context, std::string_view name, const Call& call) {
  const OperatorTable& table = context.unit.operator_table();
  const std::vector<const Overload*> overloads = table.candidates(name, context.archive_version);
  const std::span<const ScriptedOperator> scripted =
      context.use_scripted_operators ? table.scripted(name) : std::span<const ScriptedOperator>();
  std::vector<const Signature*> signatures;
  for (const Overload* const overload : overloads) signatures.push_back(&overload->signature);
  for (const ScriptedOperator& function : scripted) signatures.push_back(&function.signature);
  if (signatures.empty()) {
    syntax::fail_at(call.range, ErrorCode::kNotFound,
                    fmt::format("there is no operator '{}'", printable(name)), table.did_you_mean(name));
  }
  auto [index, plan] = choose(context.unit, signatures, call);
  const MatchedCall matched = emit_call_plan(context, std::move(plan), call.range);
  Emitted emitted;
  emitted.signature = signatures[index];
  if (index >= overloads.size()) {
    const auto graph = library_graph(context.unit, scripted[index - overloads.size()].text);
    emitted.value = context.graph.inline_graph(*graph, matched.inputs).at(0);
    return emitted;
  }
  const Overload* const taking =
      overloads[index]->upgrader != nullptr ? nullptr : overload_taking(context.unit, name, matched.inputs);
  const OperatorEntry& entry = taking != nullptr ? *taking->entry : *overloads[index]->entry;
  emitted.node = context.graph.make_operator(entry, matched.inputs);
  emitted.node->range = call.range;
  context.graph.insert(emitted.node);
  // By number they are those of the overload that takes the inputs, by type those of the one that was meant.
  for (size_t i = 0; i < std::min(matched.returns.size(), emitted.node->outputs().size()); ++i)
    emitted.node->output(i)->set_type(matched.returns[i]);
  return emitted;
}

}  // namespace

ir::Value* emit_operator(CallContext& context, std::string_view name, const Call& call) {
  const Emitted emitted = emit_chosen(context, name, call);
  if (emitted.node == nullptr) return emitted.value;
  return pack_values(context.graph, emitted.node->outputs(), emitted.signature->return_names);
}

ir::Node* emit_operator_node(CallContext& context, std::string_view name, const Call& call) {
  const Emitted emitted = emit_chosen(context, name, call);
  return emitted.node != nullptr ? emitted.node : emitted.value->node();
}

bool has_operator(const Unit& unit, std::string_view name) {
  const OperatorTable& table = unit.operator_table();
  return !table.candidates(name).empty() || !table.scripted(name).empty();
}

MatchedCall match_signature(CallContext& context, const Signature& signature, const Call& call) {
  return match_signatures(context, std::array{&signature}, call).second;
}

std::pair<size_t, MatchedCall> match_signatures(CallContext& context,
                                                std::span<const Signature* const> signatures,
                                                const Call& call) {
  auto [index, plan] = choose(context.unit, signatures, call);
  return {index, emit_call_plan(context, std::move(plan), call.range)};
}

ir::Value* insert_constant(ir::Graph& graph, const IValue& value, const SourceRange& range) {
  return insert_constant(graph, value, runtime_type(value), range);
}

ir::Value* insert_constant(ir::Graph& graph, const IValue& value, const Type& type,
                           const SourceRange& range) {
  ir::Node* const node = graph.make_constant(value, type);
  node->range = range;
  return graph.insert(node)->output();
}

ir::Value* pack_values(ir::Graph& graph, std::span<ir::Value* const> values,
                       std::vector<std::string> field_names) {
  if (values.size() == 1) return values[0];
  std::vector<Type> types;
  for (const ir::Value* const value : values) types.push_back(value->type());
  ir::Node* const node = graph.insert(graph.make(ir::NodeKind::kTupleConstruct, values));
  node->output()->set_type(Type::tuple(std::move(types), std::move(field_names)));
  return node->output();
}

}  // namespace flambeau::script
