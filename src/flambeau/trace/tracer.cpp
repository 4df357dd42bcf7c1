#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/call.h"
#include "flambeau/ops/elementwise.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/print.h"
#include "flambeau/trace/fake.h"
#include "flambeau/trace/shape_env.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using ops::Kind;
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

void Tracer::bind_symbols(const Tensor& input) {
  const SymbolicGeometry* const geometry = input.symbolic_geometry();
  if (geometry == nullptr) return;
  for (size_t d = 0; d < geometry->sizes.size(); ++d) {
    const Expr expr = geometry->sizes[d].expr();
    if (!expr.is_symbol() || symbols_.contains(expr)) continue;
    graph::Node& node = graph_.append("torch.ops.aten.sym_size.int");
    node.name = graph_.unique_name("sym_size_int");
    node.add_input("self", Argument::tensor(*find(input)));
    node.add_input("dim", Argument::make<ArgumentKind::kInt>(static_cast<int64_t>(d)));
    graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
    node.add_output(Argument::sym_int(value));
    if (metadata) node.metadata = metadata();
    symbols_.emplace(expr, &value);
    numbers_.emplace_back(&value, expr);
    size_nodes_.push_back(&node);
  }
}

void Tracer::note(Arithmetic how, const Expr& a, const Expr& b, const Expr& result) {
  if (!is_inside_) origins_.try_emplace(result, Origin{how, a, b});
}

// ---- numbers

graph::Value& Tracer::computed_value(std::string_view function, const Expr& a, const Expr& b,
                                     const Expr& result) {
  Argument left = number_argument(a);
  Argument right = number_argument(b);
  graph::Node& node = graph_.append(std::string(function));
  node.name = graph_.unique_name(last_part(function));
  node.add_input("a", std::move(left));
  node.add_input("b", std::move(right));
  graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
  node.add_output(Argument::sym_int(value));
  if (metadata) node.metadata = metadata();
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
    return computed_value(function_of(from.how), from.a, from.b, expr);
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
  throw Error(ErrorCode::kUnsupported,
              fmt::format("no operators compute the size {}", symbolic::to_string(expr)));
}

Argument Tracer::number_argument(const Expr& expr) {
  const Expr plain = env_.simplify(expr);
  if (plain.is_integer()) return Argument::make<ArgumentKind::kInt>(plain.integer());
  return Argument::sym_int(symbol_value(expr));
}

graph::SymArgument<int64_t> Tracer::number_reference(const SymInt& number) {
  if (number.is_literal()) return graph::SymArgument<int64_t>(number.literal());
  const Expr plain = env_.simplify(number.expr());
  if (plain.is_integer()) return graph::SymArgument<int64_t>(plain.integer());
  return graph::SymArgument<int64_t>(symbol_value(number.expr()));
}

// ---- arguments

graph::Value& Tracer::tensor_value(const Tensor& tensor) {
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
  if (!tensor.is_wrapped_number() || find(tensor) != nullptr) return Argument::tensor(tensor_value(tensor));
  if (const SymbolicGeometry* const geometry = tensor.symbolic_geometry())
    return number_argument(geometry->offset.expr());
  return argument(Value(ops::item(tensor)));
}

Argument Tracer::argument(const Value& value) {
  return std::visit(
      [&]<typename T>(const T& data) -> Argument {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return data.defined() ? tensor_argument(data) : Argument();
        } else if constexpr (std::is_same_v<T, TensorList>) {
          std::vector<graph::ValueRef> refs;
          bool has_none = false;
          for (const Tensor& tensor : data) {
            has_none = has_none || !tensor.defined();
            if (tensor.defined()) {
              refs.emplace_back(tensor_value(tensor));
            } else {
              refs.emplace_back();
            }
          }
          if (has_none) return Argument::make<ArgumentKind::kOptionalTensors>(std::move(refs));
          return Argument::make<ArgumentKind::kTensors>(std::move(refs));
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return Argument::make<ArgumentKind::kInt>(data);
        } else if constexpr (std::is_same_v<T, Dims>) {
          return Argument::make<ArgumentKind::kInts>(std::vector<int64_t>(data.begin(), data.end()));
        } else if constexpr (std::is_same_v<T, double>) {
          return Argument::make<ArgumentKind::kFloat>(data);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return Argument::make<ArgumentKind::kFloats>(data);
        } else if constexpr (std::is_same_v<T, bool>) {
          return Argument::make<ArgumentKind::kBool>(data);
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          return Argument::make<ArgumentKind::kBools>(std::vector<uint8_t>(data.begin(), data.end()));
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return Argument::make<ArgumentKind::kComplex>(data);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return Argument::make<ArgumentKind::kString>(data);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return Argument::make<ArgumentKind::kStrings>(data);
        } else if constexpr (std::is_same_v<T, DType>) {
          return Argument::make<ArgumentKind::kScalarType>(data);
        } else if constexpr (std::is_same_v<T, Device>) {
          return Argument::make<ArgumentKind::kDevice>(describe(data));
        } else if constexpr (std::is_same_v<T, Layout>) {
          return Argument::make<ArgumentKind::kLayout>(data);
        } else if constexpr (std::is_same_v<T, MemoryFormat>) {
          return Argument::make<ArgumentKind::kMemoryFormat>(data);
        } else if constexpr (std::is_same_v<T, SymInt>) {
          return number_argument(data.expr());
        } else if constexpr (std::is_same_v<T, SymIntList>) {
          std::vector<graph::SymArgument<int64_t>> numbers;
          for (const SymInt& number : data) numbers.push_back(number_reference(number));
          if (std::ranges::any_of(numbers, [](const auto& number) { return bool{number.ref}; }))
            return Argument::make<ArgumentKind::kSymInts>(std::move(numbers));
          std::vector<int64_t> plain;
          for (const auto& number : numbers) plain.push_back(number.literal);
          return Argument::make<ArgumentKind::kInts>(std::move(plain));
        } else {
          throw Error(ErrorCode::kUnsupported,
                      fmt::format("a program cannot hold an argument of kind {}", value.kind_name()));
        }
      },
      value.data());
}

// ---- calls

std::vector<Value> Tracer::fake_results(ops::Context& context, const ops::Operator& op,
                                        std::span<const Value> arguments) {
  const Within within(is_inside_);
  const Schema& schema = op.schema;
  const ops::Operator& rule = op.shape == nullptr && op.base != nullptr ? *op.base : op;
  std::vector<Value> results;
  if (schema.returns.empty()) return results;
  if (schema.is_mutable()) {
    // What is written is what is given back. The rule checks that it fits.
    if (op.kind == Kind::kInPlace && rule.shape != nullptr) {
      if (has_symbols(arguments)) {
        rule.symbolic_shape(arguments);
      } else {
        rule.shape(arguments);
      }
    }
    for (size_t i = 0; i < arguments.size() && results.size() < schema.returns.size(); ++i) {
      if (schema.arguments[i].is_written()) results.push_back(arguments[i]);
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
    const bool is_copy = op.kind == Kind::kViewCopy;
    if (has_symbols(arguments)) {
      const ops::Infos<SymInt> infos = rule.symbolic_shape(arguments);
      box(is_copy ? contiguous_infos(infos) : infos);
    } else {
      const ops::Infos<int64_t> infos = rule.shape(arguments);
      box(is_copy ? contiguous_infos(infos) : infos);
    }
    return results;
  }
  if (op.user_shape) {
    box(op.user_shape(arguments));
    return results;
  }
  if (op.kind == Kind::kDecomposition) {
    results = op.decomposition(context, arguments);
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
  graph::Node& node = graph_.append(schema.name.to_python());
  node.name = graph_.unique_name(schema.name.base_name());
  if (metadata) node.metadata = metadata();
  for (graph::NamedArgument& input : inputs) node.add_input(std::move(input));
  const bool is_single = results.size() == 1 && results[0].is_tensor();
  const auto give = [&](const Tensor& tensor) -> graph::Value& {
    graph::Value& value = add_tensor_value(is_single ? *node.name : graph_.unique_name("getitem"), tensor);
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
    } else {
      node.add_output(argument(result));
    }
  }
}

std::vector<Value> Tracer::call(ops::Context& context, const ops::Operator& op,
                                std::span<const Value> arguments) {
  std::vector<Value> results = fake_results(context, op, arguments);
  if (!is_inside_) add_node(op, arguments, results);
  return results;
}

void Tracer::finish() {
  for (graph::Node* const node : size_nodes_) {
    graph::Value& value = *node->outputs()[0].value();
    if (value.has_uses()) continue;
    std::erase_if(numbers_, [&](const auto& number) { return number.first == &value; });
    graph_.erase(*node);
  }
  size_nodes_.clear();
  for (const auto& [value, tensor] : tensors_) *value->tensor() = describer_.describe(tensor);
  for (const auto& [value, expr] : numbers_) graph_.set_meta(*value, describer_.describe(SymInt(expr, env_)));
}

}  // namespace flambeau::trace
