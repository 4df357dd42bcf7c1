// A call of an operator: what it gives, and its node.
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/names.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/trace/fake.h"
#include "flambeau/trace/merged_strides.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using symbolic::Expr;

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
    // PyTorch does not load a call that leaves out an argument whose name is a keyword of Python ("from").
    if (!schema.arguments[i].default_value || graph::is_python_keyword(schema.arguments[i].name) ||
        !is_same(arguments[i], ops::default_argument(schema, i)))
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

// Traced tensors as an operator returns them; an undefined one is None.
template <typename N>
std::vector<Value> boxed(const ops::Operator& op, const ops::Infos<N>& infos) {
  TensorList tensors;
  for (const ops::Info<N>& info : infos) tensors.push_back(info.is_absent ? Tensor() : make_fake(info));
  if (op.returns_list()) return {Value(std::move(tensors))};
  std::vector<Value> results;
  for (Tensor& tensor : tensors) results.emplace_back(std::move(tensor));
  return results;
}

bool is_plain(const Value& value) {
  return !value.is_tensor() && !value.is<TensorList>() && !value.is<SymInt>() && !value.is<SymIntList>();
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
  // `counts`: of tensors that were asked for it already.
  UnbackedNumbers(ShapeEnv& env, Tracer::Counts& counts) : env_(env), counts_(counts) {}
  SymInt size(const std::optional<SymInt>& most) override {
    return env_.unbacked_size(most && most->is_literal() ? std::optional(most->literal()) : std::nullopt);
  }
  SymInt count_of(const Tensor& mask, const SymInt& most) override {
    const auto [place, is_new] = counts_.try_emplace(mask.storage().get());
    if (is_new) place->second = {mask.storage(), size(most)};
    return place->second.second;
  }
  bool is_from_data(const SymInt& number) const override { return env_.has_unbacked(number.expr()); }
  bool is_within(const SymInt& number, const SymInt& size) const override {
    const Expr expr = number.expr();
    return env_.known(symbolic::ge(expr, Expr(0))).value_or(false) &&
           env_.known(symbolic::le(expr, size.expr())).value_or(false);
  }

 private:
  ShapeEnv& env_;
  Tracer::Counts& counts_;
};

}  // namespace

std::optional<std::vector<Value>> Tracer::results_from_data(const ops::Operator& op,
                                                            std::span<const Value> arguments) {
  if (gives_element(op, arguments)) {
    const DType dtype = arguments[0].tensor().dtype();
    const DTypeInfo& type = dtype_info(dtype);
    if (type.is_floating || type.is_complex || dtype == DType::kBool) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("a number of a {} tensor is asked for while tracing", type.name),
                  "keep it a tensor: operators take tensors of one element, and cond() chooses by them");
    }
    return std::vector<Value>{env_.unbacked()};
  }
  const ops::Facts& facts = op.facts();
  if (facts.data_shape == nullptr) return {};
  UnbackedNumbers numbers(env_, counts_);
  const ops::DataShape shape = facts.data_shape(arguments, numbers);
  if (!shape) return {};
  return boxed(op, shape.infos());
}

std::vector<Value> Tracer::fake_results(ops::Context& context, const ops::Operator& op,
                                        std::span<const Value> arguments) {
  const Within within(is_inside_);
  const ShapeEnv::InRule in_rule(env_, !is_inner());
  if (std::optional<std::vector<Value>> given = results_from_data(op, arguments)) return *std::move(given);
  if (op.is(ops::Trait::kReadsGeometry) || op.facts().as<ops::SizeCall>(arguments))
    return ops::execute(context, op, arguments);
  const Schema& schema = op.schema;
  const ops::Operator& rule = op.shape == nullptr && op.base != nullptr ? *op.base : op;
  std::vector<Value> results;
  if (schema.returns.empty()) return results;
  if (schema.is_mutable()) {
    counts_.clear();  // of views of what is written, too
    // What is written is what is given back. The rule checks that it fits.
    if (op.kind == ops::Kind::kInPlace && rule.shape != nullptr) {
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
  if (rule.shape != nullptr) {
    const bool is_copy = op.kind == ops::Kind::kViewCopy;
    if (has_symbols(arguments)) {
      ops::Infos<SymInt> infos = rule.symbolic_shape(arguments);
      if (merges_strides && op.is(ops::Trait::kReshapes))
        set_merged_strides(symbolic_info(arguments[0].tensor()), infos.at(0));
      return boxed(op, is_copy ? contiguous_infos(infos) : infos);
    } else {
      const ops::Infos<Size> infos = rule.shape(arguments);
      return boxed(op, is_copy ? contiguous_infos(infos) : infos);
    }
  }
  if (op.user_shape) return boxed(op, op.user_shape(arguments));
  if (op.decomposition != nullptr) results = op.decomposition(context, arguments);
  if (!results.empty()) {
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
    if (const Tensor* const tensor = result.get_if<Tensor>(); tensor != nullptr && !tensor->defined()) {
      fresh_name("getitem");  // PyTorch counts what is None too
      node.add_output(Argument());
    } else if (tensor != nullptr) {
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
    if (tensor != nullptr && tensor->is_traced() && !schema.is_mutable())
      bind_symbols(*tensor, *find(*tensor));
  }
}

void Tracer::fix_sequence_lengths(const ops::Operator& op, std::span<const Value> arguments) {
  if (!env_.is_like_pytorch()) return;
  const std::optional<ops::RecurrentCall> call = op.facts().as<ops::RecurrentCall>(arguments);
  if (call && call->input->is_traced()) env_.specialize(shape_of(*call->input).sizes[call->sequence_dim()]);
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
  if (const std::optional<ops::SizeCall> size = op.facts().as<ops::SizeCall>(arguments)) {
    note_size(*size->tensor,
              size->dim ? std::optional<size_t>(ops::wrap_dim(*size->dim, ops::rank_of(*size->tensor)))
                        : std::nullopt);
    return results;
  }
  // What is known without running the program needs no node.
  if (!results.empty() && std::ranges::all_of(results, is_plain)) return results;
  if (op.is(ops::Trait::kReadsGeometry)) return results;
  add_node(op, arguments, results);
  if (is_inner()) note_aliases(op, arguments, results);
  return results;
}

}  // namespace flambeau::trace
