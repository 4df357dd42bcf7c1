#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/literals.h"
#include "flambeau/graph/values.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/text/print.h"
#include "flambeau/trace/fake.h"
#include "flambeau/trace/merged_strides.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using symbolic::Arithmetic;
using symbolic::Expr;

std::string_view function_of(Arithmetic how) {
  switch (how) {
    case Arithmetic::kAdd:
      return "_operator.add";
    case Arithmetic::kSubtract:
      return "_operator.sub";
    case Arithmetic::kMultiply:
      return "_operator.mul";
    case Arithmetic::kFloorDivide:
      return "_operator.floordiv";
    case Arithmetic::kModulo:
      return "_operator.mod";
    case Arithmetic::kMin:
      return "torch.sym_min";
    case Arithmetic::kMax:
      break;
  }
  return "torch.sym_max";
}

// The function of Python's that compares so; empty when it is no comparison.
std::string_view comparison_name(symbolic::Kind kind) {
  switch (kind) {
    case symbolic::Kind::kEq:
      return "eq";
    case symbolic::Kind::kNe:
      return "ne";
    case symbolic::Kind::kLt:
      return "lt";
    case symbolic::Kind::kLe:
      return "le";
    case symbolic::Kind::kGt:
      return "gt";
    case symbolic::Kind::kGe:
      return "ge";
    default:
      return {};
  }
}

// Rules of shapes that take a Scalar ask for its kind, so any integer stands for a symbol.
std::vector<Value> with_plain_numbers(const ops::Operator& rule, std::span<const Value> arguments) {
  std::vector<Value> plain(arguments.begin(), arguments.end());
  for (size_t i = 0; i < rule.shape_parameters.size() && i < plain.size(); ++i) {
    if (rule.shape_parameters[i].kind == ops::Parameter::kNumber && plain[i].is<SymInt>()) plain[i] = 1;
  }
  return plain;
}

// Operators that are called as something in Python is. Its graphs give no node such a name: they start with
// "max_1", and would rename a "max" from a file to it.
constexpr std::string_view kPythonNames[] = {"abs",  "all",    "any",    "bin",  "chr", "complex", "device",
                                             "dict", "divmod", "format", "hash", "hex", "len",     "list",
                                             "max",  "min",    "oct",    "ord",  "pow", "range",   "round",
                                             "set",  "slice",  "sorted", "str",  "sum"};

// "mul" of "_operator.mul".
std::string_view last_part(std::string_view target) { return target.substr(target.rfind('.') + 1); }

bool is_same(const Value& a, const Value& b) {
  if (a.data().index() != b.data().index()) return false;
  return std::visit(
      [&]<typename T>(const T& left) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return true;
        } else if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, TensorList> ||
                             std::is_same_v<T, SymInt> || std::is_same_v<T, SymIntList> ||
                             std::is_same_v<T, ValueList>) {
          return false;
        } else {
          return left == b.get<T>();
        }
      },
      a.data());
}

// How many positional arguments a call shows: those at the end that are as when left out are left out.
size_t shown_count(const Schema& schema, std::span<const Value> arguments) {
  size_t count = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (schema.arguments[i].is_kwarg_only) continue;
    if (!schema.arguments[i].default_value || !is_same(arguments[i], ops::default_argument(schema, i)))
      count = i + 1;
  }
  return count;
}

template <typename N>
ops::Infos<N> contiguous_infos(const ops::Infos<N>& infos) {
  ops::Infos<N> made;
  for (const ops::Info<N>& info : infos) made.push_back(ops::contiguous(info.dtype, info.sizes, info.device));
  return made;
}

// The library's operators that give a Scalar for a tensor give its only element.
bool gives_element(const ops::Operator& op, std::span<const Value> arguments) {
  const Schema& schema = op.schema;
  return schema.returns.size() == 1 && schema.returns[0].type.is(TypeKind::kNumber) && !op.user_function &&
         !arguments.empty() && arguments[0].is_tensor();
}

// Numbers without a hint.
class UnbackedNumbers final : public ops::DataNumbers {
 public:
  explicit UnbackedNumbers(ShapeEnv& env) : env_(env) {}
  SymInt size(const std::optional<SymInt>& most) override {
    return env_.unbacked_size(most && most->is_literal() ? std::optional(most->literal()) : std::nullopt);
  }
  bool is_from_data(const SymInt& number) const override { return env_.has_unbacked(number.expr()); }
  bool is_within(const SymInt& number, const SymInt& size) const override {
    const Expr expr = number.expr();
    return env_.known(symbolic::ge(expr, Expr(0))).value_or(false) &&
           env_.known(symbolic::le(expr, size.expr())).value_or(false);
  }

 private:
  ShapeEnv& env_;
};

// Sets a flag while it lives.
class Within {
 public:
  explicit Within(bool& flag) : flag_(flag), before_(flag) { flag_ = true; }
  ~Within() { flag_ = before_; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  bool& flag_;
  bool before_;
};

}  // namespace

Tracer::Tracer(graph::Graph& graph, ShapeEnv& env)
    : graph_(graph),
      env_(env),
      describer_([&env](const Expr& expr) { return env.hint(expr); },
                 [&env](const Expr& expr) { return env.simplify(expr); }) {}
Tracer::~Tracer() = default;

// ---- what is known

void Tracer::hold(const Tensor& tensor, graph::Value& value) {
  slots_[tensor.storage().get()] = {&value, tensor.storage()};
}

graph::Value* Tracer::find(const Tensor& tensor) const {
  const auto found = slots_.find(tensor.storage().get());
  return found == slots_.end() ? nullptr : found->second.value;
}

graph::Value& Tracer::add_tensor_value(std::string name, const Tensor& tensor) {
  graph::Value& value = graph_.add_value(std::move(name), graph::TensorMeta{});
  tensors_.emplace_back(&value, tensor);
  return value;
}

graph::Value& Tracer::add_input(std::string name, const Tensor& tensor) {
  graph::Value& value = add_tensor_value(std::move(name), tensor);
  graph_.add_input(Argument::tensor(value));
  hold(tensor, value);
  return value;
}

graph::Value& Tracer::add_number_input(std::string name, const Expr& expr) {
  graph::Value& value = graph_.add_value(std::move(name), graph::SymInt());
  graph_.add_input(Argument::sym_int(value));
  symbols_.emplace(expr, &value);
  numbers_.emplace_back(&value, expr);
  return value;
}

graph::Node& Tracer::new_node(std::string target, std::string_view name) {
  graph::Node& node = before_ == nullptr ? graph_.append(std::move(target))
                                         : graph_.insert_before(*before_, std::move(target));
  node.name = fresh_name(name);
  if (metadata) node.metadata = metadata();
  return node;
}

// Free among values and nodes: a node that gives several values has a name that none of them has.
std::string Tracer::fresh_name(std::string_view base) {
  const bool is_python_name = std::ranges::find(kPythonNames, base) != std::end(kPythonNames);
  size_t& next = next_.try_emplace(std::string(base), is_python_name ? 1 : 0).first->second;
  for (;;) {
    std::string name = next == 0 ? std::string(base) : fmt::format("{}_{}", base, next);
    ++next;
    if (graph_.find(name) == nullptr && names_.insert(name).second) return name;
  }
}

graph::Value& Tracer::size_value(graph::Value& tensor, std::optional<size_t> dim, const Expr& expr) {
  graph::Node& node = dim ? new_node("torch.ops.aten.sym_size.int", "sym_size_int")
                          : new_node("torch.ops.aten.sym_numel.default", "sym_numel");
  node.add_input("self", Argument::tensor(tensor));
  if (dim) node.add_input("dim", Argument::make<ArgumentKind::kInt>(static_cast<int64_t>(*dim)));
  graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
  node.add_output(Argument::sym_int(value));
  symbols_.emplace(expr, &value);
  numbers_.emplace_back(&value, expr);
  return value;
}

void Tracer::bind_symbols(const Tensor& tensor, graph::Value& value) {
  const SymbolicGeometry* const geometry = tensor.symbolic_geometry();
  if (geometry == nullptr) return;
  for (size_t d = 0; d < geometry->sizes.size(); ++d) {
    const Expr expr = geometry->sizes[d].expr();
    if (expr.is_symbol() && !symbols_.contains(expr)) size_value(value, d, expr);
  }
}

void Tracer::note_size(const Tensor& tensor, std::optional<size_t> dim) {
  const SymbolicGeometry* const geometry = tensor.symbolic_geometry();
  if (geometry == nullptr || is_inside_) return;
  graph::Value* const value = is_inner() ? &value_of(tensor) : find(tensor);
  if (value == nullptr) return;
  const Within within(is_inside_);
  SymInt number = dim ? geometry->sizes[*dim] : SymInt(1);
  if (!dim) {
    for (const SymInt& size : geometry->sizes) number = number * size;
  }
  if (!number.is_literal())
    origins_.try_emplace(number.expr(), Origin{Arithmetic::kAdd, Expr(), Expr(), value, dim});
}

void Tracer::note(Arithmetic how, const Expr& a, const Expr& b, const Expr& result) {
  if (!is_inside_ && result != a && result != b) origins_.try_emplace(result, Origin{how, a, b});
}

// ---- numbers

graph::Value& Tracer::computed_value(std::string_view function, const Expr& a, const Expr& b,
                                     const Expr& result) {
  Argument left = argument(SymInt(a, env_));
  Argument right = argument(SymInt(b, env_));
  graph::Node& node = new_node(std::string(function), last_part(function));
  node.add_input("a", std::move(left));
  node.add_input("b", std::move(right));
  graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
  node.add_output(Argument::sym_int(value));
  symbols_.emplace(result, &value);
  numbers_.emplace_back(&value, result);
  return value;
}

graph::Value& Tracer::symbol_value(const Expr& given) {
  const Expr expr = env_.simplify(given);
  if (const auto found = symbols_.find(expr); found != symbols_.end()) return *found->second;
  auto origin = origins_.find(given);
  if (origin == origins_.end()) origin = origins_.find(expr);
  if (origin != origins_.end()) {
    const Origin from = origin->second;
    if (from.tensor != nullptr) return size_value(*from.tensor, from.dim, expr);
    // Taken out meanwhile: what it was computed from may be computed from it, as n is in (n + 1) - 1.
    auto taken = origins_.extract(origin);
    graph::Value& value = computed_value(function_of(from.how), from.a, from.b, expr);
    origins_.insert(std::move(taken));
    return value;
  }
  const auto fold = [&](std::string_view function, auto combine) -> graph::Value& {
    Expr sum = expr.arg(0);
    for (size_t i = 1; i + 1 < expr.args().size(); ++i) {
      const Expr next = combine(sum, expr.arg(i));
      if (!symbols_.contains(next)) computed_value(function, sum, expr.arg(i), next);
      sum = next;
    }
    return computed_value(function, sum, expr.args().back(), expr);
  };
  switch (expr.kind()) {
    case symbolic::Kind::kAdd:
      return fold("_operator.add", [](const Expr& a, const Expr& b) { return symbolic::add(a, b); });
    case symbolic::Kind::kMul:
      return fold("_operator.mul", [](const Expr& a, const Expr& b) { return symbolic::mul(a, b); });
    case symbolic::Kind::kMax:
      return fold("torch.sym_max", [](const Expr& a, const Expr& b) { return symbolic::max({a, b}); });
    case symbolic::Kind::kMin:
      return fold("torch.sym_min", [](const Expr& a, const Expr& b) { return symbolic::min({a, b}); });
    case symbolic::Kind::kFloorDiv:
    case symbolic::Kind::kCleanDiv:
      return computed_value("_operator.floordiv", expr.arg(0), expr.arg(1), expr);
    case symbolic::Kind::kMod:
    case symbolic::Kind::kPythonMod:
      return computed_value("_operator.mod", expr.arg(0), expr.arg(1), expr);
    case symbolic::Kind::kPow:
      return computed_value("_operator.pow", expr.arg(0), expr.arg(1), expr);
    default:
      break;
  }
  if (expr.is_symbol() && is_inner() && lift_symbol(expr)) {
    if (const auto found = symbols_.find(expr); found != symbols_.end()) return *found->second;
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("no operators compute the size {}", symbolic::to_string(expr)),
              "compute sizes with +, -, *, whole division, the remainder, min and max");
}

graph::SymArgument<int64_t> Tracer::number_reference(const SymInt& number) {
  if (number.is_literal()) return graph::SymArgument<int64_t>(number.literal());
  const Expr plain = env_.simplify(number.expr());
  if (plain.is_integer()) return graph::SymArgument<int64_t>(plain.integer());
  return graph::SymArgument<int64_t>(symbol_value(number.expr()));
}

// ---- arguments

graph::Value& Tracer::value_of(const Tensor& tensor) {
  if (graph::Value* const known = find(tensor)) return *known;
  if (!lift) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a tensor {} comes from outside the traced code", tensor.summary()),
                "give it as an input, or register it with the module");
  }
  graph::Value& value = lift(tensor);
  hold(tensor, value);
  return value;
}

// A number that stands for a tensor is written as the number.
Argument Tracer::tensor_argument(const Tensor& tensor) {
  if (!tensor.is_wrapped_number() || find(tensor) != nullptr) return Argument::tensor(value_of(tensor));
  if (const SymbolicGeometry* const geometry = tensor.symbolic_geometry())
    return argument(Value(geometry->offset));
  return argument(Value(ops::item(tensor)));
}

Argument Tracer::argument(const Value& value) {
  return graph::from_value(
      value, {.tensor = [this](const Tensor& tensor) { return tensor_argument(tensor); },
              .tensor_in_list = [this](const Tensor& tensor) -> graph::Value& { return value_of(tensor); },
              .number = [this](const SymInt& number) { return number_reference(number); }});
}

// ---- calls

std::optional<Value> Tracer::result_from_data(const ops::Operator& op, std::span<const Value> arguments) {
  if (gives_element(op, arguments)) {
    const DType dtype = arguments[0].tensor().dtype();
    const DTypeInfo& type = dtype_info(dtype);
    if (type.is_floating || type.is_complex || dtype == DType::kBool) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("a number of a {} tensor is asked for while tracing", type.name),
                  "keep it a tensor: operators take tensors of one element, and cond() chooses by them");
    }
    return env_.unbacked();
  }
  const ops::Facts& facts = op.facts();
  if (facts.data_shape == nullptr) return {};
  UnbackedNumbers numbers(env_);
  const std::optional<ops::Info<SymInt>> info = facts.data_shape(arguments, numbers);
  return info ? std::optional<Value>(make_fake(*info)) : std::nullopt;
}

std::vector<Value> Tracer::fake_results(ops::Context& context, const ops::Operator& op,
                                        std::span<const Value> given) {
  const Within within(is_inside_);
  if (std::optional<Value> result = result_from_data(op, given)) return {*std::move(result)};
  const Schema& schema = op.schema;
  const ops::Operator& rule = op.shape == nullptr && op.base != nullptr ? *op.base : op;
  std::vector<Value> results;
  if (schema.returns.empty()) return results;
  const std::vector<Value> plain = with_plain_numbers(rule, given);
  const std::span<const Value> arguments = plain;
  if (schema.is_mutable()) {
    // What is written is what is given back. The rule checks that it fits.
    if (op.kind == ops::Kind::kInPlace && rule.shape != nullptr) {
      if (has_symbols(arguments)) {
        rule.symbolic_shape(arguments);
      } else {
        rule.shape(arguments);
      }
    }
    for (size_t i = 0; i < arguments.size() && results.size() < schema.returns.size(); ++i) {
      if (schema.arguments[i].is_written()) results.push_back(given[i]);
    }
    return results;
  }
  const auto box = [&](const auto& infos) {
    TensorList tensors;
    for (const auto& info : infos) tensors.push_back(make_fake(info));
    if (op.returns_list()) {
      results.emplace_back(std::move(tensors));
    } else {
      for (Tensor& tensor : tensors) results.emplace_back(std::move(tensor));
    }
  };
  if (rule.shape != nullptr) {
    const bool is_copy = op.kind == ops::Kind::kViewCopy;
    if (has_symbols(arguments)) {
      ops::Infos<SymInt> infos = rule.symbolic_shape(arguments);
      if (merges_strides && op.is(ops::Trait::kReshapes))
        set_merged_strides(symbolic_info(arguments[0].tensor()), infos.at(0));
      box(is_copy ? contiguous_infos(infos) : infos);
    } else {
      const ops::Infos<Size> infos = rule.shape(arguments);
      box(is_copy ? contiguous_infos(infos) : infos);
    }
    return results;
  }
  if (op.user_shape) {
    box(op.user_shape(given));
    return results;
  }
  if (op.kind == ops::Kind::kDecomposition) {
    results = op.decomposition(context, given);
    for (Value& result : results) {
      if (Tensor* const tensor = result.get_if<Tensor>()) *tensor = make_fake(symbolic_info(*tensor));
      if (TensorList* const tensors = result.get_if<TensorList>()) {
        for (Tensor& tensor : *tensors) tensor = make_fake(symbolic_info(tensor));
      }
    }
    return results;
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} cannot be traced: what it gives depends on data", op.name()),
              "use an operator whose result has a known size, or do this outside of the model");
}

void Tracer::add_node(const ops::Operator& op, std::span<const Value> arguments,
                      std::vector<Value>& results) {
  const Schema& schema = op.schema;
  const size_t shown = shown_count(schema, arguments);
  std::vector<graph::NamedArgument> inputs;  // first, since numbers may need nodes of their own
  for (size_t i = 0; i < arguments.size(); ++i) {
    const SchemaArgument& parameter = schema.arguments[i];
    const bool is_keyword = parameter.is_kwarg_only;
    if (is_keyword ? parameter.default_value && is_same(arguments[i], ops::default_argument(schema, i))
                   : i >= shown)
      continue;
    inputs.push_back({parameter.name, argument(arguments[i]),
                      is_keyword ? graph::PassedBy::kKeyword : graph::PassedBy::kPositional});
  }
  graph::Node& node = new_node(schema.name.to_python(), schema.name.base_name());
  for (graph::NamedArgument& input : inputs) node.add_input(std::move(input));
  const bool is_single = results.size() == 1 && results[0].is_tensor();
  const auto give = [&](const Tensor& tensor) -> graph::Value& {
    graph::Value& value = add_tensor_value(is_single ? *node.name : fresh_name("getitem"), tensor);
    hold(tensor, value);
    return value;
  };
  for (const Value& result : results) {
    if (const Tensor* const tensor = result.get_if<Tensor>()) {
      node.add_output(Argument::tensor(give(*tensor)));
    } else if (const TensorList* const tensors = result.get_if<TensorList>()) {
      std::vector<graph::ValueRef> refs;
      for (const Tensor& item : *tensors) refs.emplace_back(give(item));
      node.add_output(Argument::make<ArgumentKind::kTensors>(std::move(refs)));
    } else if (const SymInt* const number = result.get_if<SymInt>()) {
      graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
      node.add_output(Argument::sym_int(value));
      symbols_.emplace(number->expr(), &value);
      numbers_.emplace_back(&value, number->expr());
    } else {
      node.add_output(argument(result));
    }
  }
  for (const Value& result : results) {
    const Tensor* const tensor = result.get_if<Tensor>();
    if (tensor != nullptr && tensor->symbolic_geometry() != nullptr && !schema.is_mutable())
      bind_symbols(*tensor, *find(*tensor));
  }
}

void Tracer::fix_sequence_lengths(const ops::Operator& op, std::span<const Value> arguments) {
  const std::optional<ops::RecurrentCall> call = op.facts().as<ops::RecurrentCall>(arguments);
  const SymbolicGeometry* const input = call ? call->input->symbolic_geometry() : nullptr;
  if (input != nullptr) env_.specialize(input->sizes[call->sequence_dim()]);
}

std::vector<Value> Tracer::call(ops::Context& context, const ops::Operator& op,
                                std::span<const Value> arguments) {
  fix_sequence_lengths(op, arguments);
  // PyTorch asserts what a conversion was traced with: it would be another operator for another type.
  if (!is_inside_ && op.is(ops::Trait::kConverts)) {
    const Tensor& self = arguments[0].tensor();
    Argument asserted = tensor_argument(self);
    graph::Node& node =
        new_node("torch.ops.aten._assert_tensor_metadata.default", "_assert_tensor_metadata_default");
    node.add_input("a", std::move(asserted));
    node.add_input("dtype", argument(self.dtype()), graph::PassedBy::kKeyword);
    node.add_input("device", argument(self.device()), graph::PassedBy::kKeyword);
    node.add_input("layout", argument(self.layout()), graph::PassedBy::kKeyword);
  }
  std::vector<Value> results = fake_results(context, op, arguments);
  if (is_inside_) return results;
  add_node(op, arguments, results);
  if (is_inner()) note_aliases(op, arguments, results);
  return results;
}

// ---- graphs inside

std::optional<Tensor> Tracer::tensor_with(const Expr& symbol) const {
  for (const auto& [value, tensor] : tensors_) {
    const SymbolicGeometry* const geometry = tensor.symbolic_geometry();
    if (geometry == nullptr) continue;
    for (const SymInt& size : geometry->sizes) {
      if (!size.is_literal() && env_.simplify(size.expr()) == symbol) return tensor;
    }
  }
  return std::nullopt;
}

const graph::Value* Tracer::aliased_input(const Tensor& tensor) const {
  const graph::Value* const value = find(tensor);
  if (value == nullptr || value->is_input()) return value;
  const auto found = aliases_.find(value);
  return found == aliases_.end() ? nullptr : found->second;
}

void Tracer::note_aliases(const ops::Operator& op, std::span<const Value> arguments,
                          std::span<const Value> results) {
  const graph::Value* input = nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_tensor() || !op.schema.arguments[i].is_written()) continue;
    // Its node is there: what is written is what the node gives now.
    const graph::Value* const before = graph_.last_node()->input(op.schema.arguments[i].name)->value();
    if (before->is_input() || aliases_.contains(before)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} writes to a tensor that comes from outside of the branch or loop", op.name()),
          "use the operator that gives a new tensor, and give that back");
    }
  }
  if (op.kind == ops::Kind::kView) input = aliased_input(arguments[0].tensor());
  if (input == nullptr) return;
  const auto note = [&](const Tensor& tensor) { aliases_.emplace(find(tensor), input); };
  for (const Value& result : results) {
    if (const Tensor* const tensor = result.get_if<Tensor>()) note(*tensor);
    if (const TensorList* const tensors = result.get_if<TensorList>()) std::ranges::for_each(*tensors, note);
  }
}

Argument Tracer::condition_argument(const Expr& condition) {
  return Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(condition_value(condition)));
}

void Tracer::add_higher_order(std::string_view name, std::vector<Argument> inputs,
                              std::span<const Tensor> results) {
  graph::Node& node = new_node(graph::higher_order_target(name), name);
  for (Argument& input : inputs) node.add_input("", std::move(input));
  for (const Tensor& tensor : results) {
    graph::Value& value = add_tensor_value(fresh_name("getitem"), tensor);
    hold(tensor, value);
    node.add_output(Argument::tensor(value));
  }
  node.is_hop_single_tensor_return = false;
  for (const Tensor& tensor : results) bind_symbols(tensor, *find(tensor));
}

const graph::Value* Tracer::find_held(std::span<const Value> held) const {
  std::unordered_map<const Storage*, long> counts;
  std::unordered_set<const Storage*> given;  // what inputs and state hold is somebody else's anyway
  const auto count = [&](const Tensor& tensor) {
    if (tensor.defined()) ++counts[tensor.storage().get()];
  };
  for (const auto& [value, tensor] : tensors_) {
    count(tensor);
    if (value->producer() == nullptr) given.insert(tensor.storage().get());
  }
  for (const auto& [storage, slot] : slots_) ++counts[storage];
  for (const Value& value : held) {
    if (const Tensor* const tensor = value.get_if<Tensor>()) count(*tensor);
    if (const TensorList* const tensors = value.get_if<TensorList>()) std::ranges::for_each(*tensors, count);
  }
  for (const auto& [value, tensor] : tensors_) {
    const std::shared_ptr<Storage>& storage = tensor.storage();
    if (!given.contains(storage.get()) && storage.use_count() > counts[storage.get()]) return value;
  }
  return nullptr;
}

void Tracer::add_copy(graph::Value& input, const Tensor& tensor) {
  Argument source = Argument::tensor(value_of(tensor));
  graph::Node& node = new_node("torch.ops.aten.copy_.default", "copy__default");
  node.add_input("self", Argument::tensor(input));
  node.add_input("src", std::move(source));
  node.add_output(Argument::tensor(graph_.add_value(*node.name, graph::TensorMeta{})));
  tensors_.emplace_back(node.outputs()[0].value(), tensor);
}

// What the trace found to be the same number is computed once: from the size whose symbol is left.
void Tracer::join_equal_numbers() {
  std::unordered_map<Expr, graph::Value*, symbolic::ExprHash> first;
  for (const auto& [value, expr] : numbers_) {
    if (expr.is_symbol() && env_.simplify(expr) == expr) first.try_emplace(expr, value);
  }
  std::unordered_map<const graph::Value*, int64_t> literals;
  for (const auto& [value, expr] : numbers_) {
    // A number from data stays, whatever it was found to be: the program asserts that.
    if (expr.is_symbol() && env_.has_unbacked(expr)) continue;
    const Expr plain = env_.simplify(expr);
    if (plain.is_integer()) {
      literals.emplace(value, plain.integer());
    } else if (graph::Value* const known = first.try_emplace(plain, value).first->second; known != value) {
      value->replace_uses_with(*known);
    }
  }
  graph::replace_by_literals(graph_, literals);
  // Those made last use the others.
  std::vector<std::pair<graph::Value*, Expr>> left;
  for (size_t i = numbers_.size(); i-- > 0;) {
    graph::Value& value = *numbers_[i].first;
    if (value.producer() != nullptr && !value.has_uses()) {
      graph_.erase(*value.producer());
    } else {
      left.push_back(numbers_[i]);
    }
  }
  numbers_.assign(left.rbegin(), left.rend());
}

void Tracer::take_name(const Expr& condition) {
  if (const std::string_view name = comparison_name(condition.kind()); !name.empty()) fresh_name(name);
}

graph::SymBool Tracer::describe_condition(const Expr& condition) const {
  const Expr plain = env_.replace(condition);
  if (plain.kind() == symbolic::Kind::kTrue) return true;
  auto text = std::make_shared<graph::SymExpr>();
  text->text = symbolic::to_srepr(plain);
  return graph::SymBool(std::move(text));
}

// What comes from data has no hint, also where it was found to be a size.
graph::SymInt Tracer::describe_number(const Expr& expr) {
  const graph::SymInt described = describer_.describe(SymInt(expr, env_));
  if (described.is_literal() || !env_.has_unbacked(expr)) return described;
  auto text = std::make_shared<graph::SymExpr>();
  text->text = described.expr().text;
  return graph::SymInt(std::move(text));
}

graph::Value& Tracer::condition_value(const Expr& condition) {
  const auto add_result = [&](graph::Node& node) -> graph::Value& {
    graph::Value& value = graph_.add_value(*node.name, describe_condition(condition));
    node.add_output(Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(value)));
    return value;
  };
  if (condition.kind() == symbolic::Kind::kNe) {
    graph::Value& equal = condition_value(symbolic::negated(condition));
    graph::Node& node = new_node("torch.sym_not", "sym_not");
    node.add_input("a", Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(equal)));
    return add_result(node);
  }
  const std::string_view function = comparison_name(condition.kind());
  if (function.empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("no operators compute the condition {}", symbolic::to_string(condition)));
  }
  // As Python asks it: with a number on the right.
  if (condition.arg(0).is_number()) return condition_value(symbolic::reversed(condition));
  // A number from data is asserted itself, not what it was found to be.
  const auto side = [&](const Expr& expr) {
    const auto known = symbols_.find(expr);
    return known != symbols_.end() ? Argument::sym_int(*known->second) : argument(SymInt(expr, env_));
  };
  Argument left = side(condition.arg(0));
  Argument right = side(condition.arg(1));
  graph::Node& node = new_node(fmt::format("_operator.{}", function), function);
  node.add_input("a", std::move(left));
  node.add_input("b", std::move(right));
  return add_result(node);
}

void Tracer::add_assertion(const Expr& condition) {
  graph::Value& value = condition_value(condition);
  graph::Node& assertion = new_node("torch.ops.aten._assert_scalar.default", "_assert_scalar_default");
  assertion.add_input("self", Argument::make<ArgumentKind::kSymBool>(graph::SymArgument<bool>(value)));
  assertion.add_input("assert_msg", Argument::make<ArgumentKind::kString>(
                                        fmt::format("Runtime assertion failed for expression {} on node '{}'",
                                                    symbolic::to_string(condition), value.name())));
}

// Behind the node that gives a number from data stands what must hold of it.
void Tracer::add_assertions() {
  const std::vector<std::pair<graph::Value*, Expr>> numbers = numbers_;
  graph::Node* last_of_sizes = nullptr;
  for (const auto& [value, expr] : numbers) {
    if (!expr.is_symbol() || value->producer() == nullptr) continue;
    if (!env_.has_unbacked(expr)) {
      last_of_sizes = value->producer();
      continue;
    }
    before_ = value->producer()->next();
    for (const Expr& condition : env_.assertions_after(expr.name())) add_assertion(condition);
  }
  if (is_inner()) {  // what is asserted of the program's inputs stands outside
    before_ = nullptr;
    return;
  }
  before_ = last_of_sizes == nullptr ? graph_.first_node() : last_of_sizes->next();
  for (const Expr& condition : env_.assertions_after("")) add_assertion(condition);
  before_ = nullptr;
}

void Tracer::finish() {
  for (const auto& inner : inner_) inner->finish();
  add_assertions();
  join_equal_numbers();
  for (const auto& [value, tensor] : tensors_) *value->tensor() = describer_.describe(tensor);
  for (const auto& [value, expr] : numbers_) graph_.set_meta(*value, describe_number(expr));
}

}  // namespace flambeau::trace
