#include "flambeau/trace/higher_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/nn/session.h"
#include "flambeau/trace/fake.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;

// Something from outside that a function uses, and its input in that function's graph.
struct Capture {
  Tensor tensor;
  graph::Value* outside;
  graph::Value* inside;
};

const Tensor& tensor_leaf(const Value& leaf, std::string_view what) {
  if (leaf.is_tensor() && leaf.tensor().defined()) return leaf.tensor();
  throw Error(ErrorCode::kUnsupported, fmt::format("{} is a {}", what, leaf.kind_name()),
              "give tensors; a number can be a tensor of one element");
}

Argument tensors_argument(std::vector<graph::ValueRef> refs) {
  return Argument::make<ArgumentKind::kTensors>(std::move(refs));
}

std::string sizes_text(const ops::Info<SymInt>& info) { return make_fake(info).summary(); }

}  // namespace

// A function of the model being traced into a graph of its own.
class HigherOrder::Subgraph {
 public:
  Subgraph(TracedSymbols& symbols, std::string name)
      : symbols_(symbols),
        outer_(*symbols.tracer),
        name_(std::move(name)),
        graph_(std::make_unique<graph::Graph>()),
        tracer_(std::make_unique<Tracer>(*graph_, symbols)) {
    tracer_->merges_strides = outer_.merges_strides;
    tracer_->metadata = outer_.metadata;
    tracer_->lift = [this](const Tensor& tensor) -> graph::Value& { return capture(tensor); };
    tracer_->lift_symbol = [this](const symbolic::Expr& symbol) {
      std::optional<Tensor> tensor = outer_.tensor_with(symbol);
      // Further out, where the outer graph must take it from first.
      if (!tensor && outer_.lift_symbol && outer_.lift_symbol(symbol)) tensor = outer_.tensor_with(symbol);
      if (tensor) {
        tracer_->value_of(*tensor);
        return true;
      }
      // A number from data comes in as a tensor.
      tensor = outer_.number_tensor(symbol);
      if (tensor) tracer_->read_number(*tensor, symbol);
      return tensor.has_value();
    };
  }

  Tracer& tracer() { return *tracer_; }
  graph::Graph& graph() { return *graph_; }
  const std::vector<Capture>& captures() const { return captures_; }

  graph::Value& add_input(std::string_view name, const Tensor& tensor) {
    Tensor plain = tensor;
    plain.set_requires_grad(false);  // PyTorch does not say it inside
    graph::Value& value = tracer_->add_input(graph_->unique_name(name), plain);
    tracer_->bind_symbols(tensor, value);
    return value;
  }

  // Calls it, and gives what it gives: tensors that are no inputs and no views of them.
  nn::Tree trace(const nn::Body& body, const nn::Tree& arguments) {
    nn::Tree result;
    trace([&] { result = body(arguments); });
    for (size_t i = 0; i < result.leaves.size(); ++i) {
      const Tensor& tensor =
          tensor_leaf(result.leaves[i], fmt::format("result {} of the function of {}", i, name_));
      Argument output = Argument::tensor(tracer_->value_of(tensor));
      if (tracer_->aliased_input(tensor) != nullptr) {
        throw Error(
            ErrorCode::kInvalidArgument,
            fmt::format("result {} of the function of {} is one of its inputs, or a view of one", i, name_),
            "give back a copy: clone(x)");
      }
      graph_->add_output(std::move(output));
    }
    return result;
  }

  // The same, for what it does alone.
  void trace(const std::function<void()>& body) {
    ops::Context context = nn::current();
    context.interceptor = tracer_.get();
    const nn::Use use(context, nn::observer());
    struct Inside {
      TracedSymbols& symbols;
      Tracer* before;
      ~Inside() { symbols.tracer = before; }
    } const inside{symbols_, std::exchange(symbols_.tracer, tracer_.get())};
    body();
  }

  // The inputs from `first` on become those of `operands`; what the function does not use is an input too.
  void set_operands(size_t first, std::span<const Capture> operands) {
    std::vector<Argument> inputs = graph_->take_inputs();
    inputs.resize(first);
    for (Argument& input : inputs) graph_->add_input(std::move(input));
    for (const Capture& operand : operands) {
      const auto known = std::ranges::find(captures_, operand.outside, &Capture::outside);
      if (known != captures_.end()) {
        graph_->add_input(Argument::tensor(*known->inside));
      } else {
        add_input(operand.outside->name(), operand.tensor);
      }
    }
  }

  // arg0_1, arg1_1..., as PyTorch names the inputs of loops.
  void number_inputs() {
    std::vector<std::pair<graph::Value*, std::string>> names;
    for (size_t i = 0; i < graph_->inputs().size(); ++i)
      names.emplace_back(graph_->inputs()[i].value(), fmt::format("arg{}_1", i));
    for (const auto& [value, name] : names) graph_->rename(*value, name);
  }

  Argument take() {
    graph::GraphArgument argument;
    argument.name = name_;
    argument.graph = std::move(graph_);
    outer_.keep_inner(std::move(tracer_));
    return Argument::make<ArgumentKind::kGraph>(std::move(argument));
  }

 private:
  graph::Value& capture(const Tensor& tensor) {
    graph::Value& outside = outer_.value_of(tensor);
    graph::Value& inside = add_input(outside.name(), tensor);
    captures_.push_back({tensor, &outside, &inside});
    return inside;
  }

  TracedSymbols& symbols_;
  Tracer& outer_;
  std::string name_;
  std::unique_ptr<graph::Graph> graph_;
  std::unique_ptr<Tracer> tracer_;
  std::vector<Capture> captures_;
};

namespace {

// What both use comes first, then what the first uses, then the rest; in each, what was closed over by its
// name, then what was given, as given.
std::vector<Capture> merge_captures(std::span<const Capture> first, std::span<const Capture> second,
                                    std::span<const Value> given,
                                    const std::function<std::string(const graph::Value&)>& name_of) {
  struct Operand {
    Capture capture;
    int group;
    size_t place;  // among those given, from 1; 0: closed over
    std::string name;
  };
  std::vector<Operand> operands;
  const auto add = [&](const Capture& capture, int group) {
    size_t place = 0;
    for (size_t i = 0; i < given.size() && place == 0; ++i) {
      if (given[i].is_tensor() && given[i].tensor().storage() == capture.tensor.storage()) place = i + 1;
    }
    operands.push_back(
        {capture, group, place, name_of ? name_of(*capture.outside) : capture.outside->name()});
  };
  for (const Capture& capture : first) {
    const bool is_shared = std::ranges::find(second, capture.outside, &Capture::outside) != second.end();
    add(capture, is_shared ? 0 : 1);
  }
  for (const Capture& capture : second) {
    if (std::ranges::find(first, capture.outside, &Capture::outside) == first.end()) add(capture, 2);
  }
  std::ranges::stable_sort(operands, [](const Operand& a, const Operand& b) {
    return std::tie(a.group, a.place, a.name) < std::tie(b.group, b.place, b.name);
  });
  std::vector<Capture> merged;
  for (Operand& operand : operands) merged.push_back(std::move(operand.capture));
  return merged;
}

Argument operands_argument(std::span<const Capture> operands) {
  std::vector<graph::ValueRef> refs;
  for (const Capture& operand : operands) refs.emplace_back(*operand.outside);
  return tensors_argument(std::move(refs));
}

// Adds the node; the results are tensors of this trace from then on.
nn::Tree give(Tracer& tracer, std::string_view name, std::vector<Argument> inputs,
              std::span<const ops::Info<SymInt>> infos, const TreeSpec& spec) {
  TensorList results;
  for (const ops::Info<SymInt>& info : infos) results.push_back(make_fake(info));
  tracer.add_higher_order(name, std::move(inputs), results);
  nn::Tree tree;
  tree.spec = spec;
  tree.leaves.assign(results.begin(), results.end());
  return tree;
}

}  // namespace

// What the operator gives, of what its two functions do.
std::vector<ops::Info<SymInt>> HigherOrder::joined_results(const nn::Tree& first, const nn::Tree& second) {
  if (first.spec != second.spec) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the branches of cond give different things: {} when true, {} when false",
                            first.spec.to_string(), second.spec.to_string()));
  }
  std::vector<ops::Info<SymInt>> infos;
  for (size_t i = 0; i < first.leaves.size(); ++i) {
    ops::Info<SymInt> info = symbolic_info(first.leaves[i].tensor());
    const ops::Info<SymInt> other = symbolic_info(second.leaves[i].tensor());
    if (info.dtype != other.dtype || info.dim() != other.dim() || info.device != other.device) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the branches of cond give different tensors as result {}: {} when true, {} "
                              "when false",
                              i, sizes_text(info), sizes_text(other)),
                  "let both give the same type and number of dimensions");
    }
    bool is_same = true;
    for (size_t d = 0; d < info.dim(); ++d) {
      if (symbols_.simplify(info.sizes[d].expr()) == symbols_.simplify(other.sizes[d].expr())) continue;
      info.sizes[d] = symbols_.unbacked_size();  // only the data knows which
      is_same = false;
    }
    if (!is_same) info = ops::contiguous<SymInt>(info.dtype, info.sizes, info.device);
    infos.push_back(std::move(info));
  }
  return infos;
}

nn::Tree HigherOrder::cond(const nn::Predicate& predicate, const nn::Body& if_true, const nn::Body& if_false,
                           const nn::Tree& operands) {
  Tracer& tracer = *symbols_.tracer;
  std::vector<Argument> inputs;
  if (const auto* const condition = std::get_if<nn::Condition>(&predicate.data())) {
    inputs.push_back(tracer.condition_argument(condition->expr));
  } else {
    const Tensor& tensor = std::get<Tensor>(predicate.data());
    const SymInt count = symbolic_info(tensor).element_count();
    if (!count.is_literal() || count.literal() != 1) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("cond decides by a tensor {}; it takes one with a single element", tensor.summary()));
    }
    inputs.push_back(Argument::tensor(tracer.value_of(tensor)));
  }
  Subgraph yes(symbols_, tracer.graph_name("true_graph"));
  Subgraph no(symbols_, tracer.graph_name("false_graph"));
  const nn::Tree first = yes.trace(if_true, operands);
  const nn::Tree second = no.trace(if_false, operands);
  const std::vector<ops::Info<SymInt>> infos = joined_results(first, second);
  const std::vector<Capture> merged = merge_captures(yes.captures(), no.captures(), operands.leaves, name_of);
  yes.set_operands(0, merged);
  no.set_operands(0, merged);
  inputs.push_back(yes.take());
  inputs.push_back(no.take());
  inputs.push_back(operands_argument(merged));
  return give(tracer, "cond", std::move(inputs), infos, first.spec);
}

nn::Tree HigherOrder::while_loop(const nn::Body& condition, const nn::Body& body, const nn::Tree& carried) {
  Tracer& tracer = *symbols_.tracer;
  std::vector<ops::Info<SymInt>> infos;
  std::vector<graph::ValueRef> refs;
  for (const Value& leaf : carried.leaves) {
    const Tensor& tensor = tensor_leaf(leaf, "what while_loop carries along");
    infos.push_back(symbolic_info(tensor));
    refs.emplace_back(tracer.value_of(tensor));
  }
  Subgraph test(symbols_, tracer.graph_name("while_loop_cond_graph"));
  Subgraph step(symbols_, tracer.graph_name("while_loop_body_graph"));
  const auto trace = [&](Subgraph& subgraph, const nn::Body& function) {
    nn::Tree given = carried;  // new tensors: they change, and what is closed over does not
    for (size_t i = 0; i < infos.size(); ++i) {
      const Tensor tensor = make_fake(infos[i]);
      subgraph.add_input(refs[i].get()->name(), tensor);
      given.leaves[i] = tensor;
    }
    return subgraph.trace(function, given);
  };
  const nn::Tree answer = trace(test, condition);
  const SymInt count =
      answer.leaves.size() == 1 ? symbolic_info(answer.leaves[0].tensor()).element_count() : SymInt(0);
  if (!answer.spec.is_leaf() || !count.is_literal() || count.literal() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "the condition of while_loop does not give one tensor with a single element");
  }
  test.graph().is_single_tensor_return = true;
  const nn::Tree next = trace(step, body);
  if (next.spec != carried.spec) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the body of while_loop gives {} where {} is carried", next.spec.to_string(),
                            carried.spec.to_string()));
  }
  for (size_t i = 0; i < infos.size(); ++i) {
    const ops::Info<SymInt> info = symbolic_info(next.leaves[i].tensor());
    bool is_same = info.dtype == infos[i].dtype && info.dim() == infos[i].dim();
    for (size_t d = 0; is_same && d < info.dim(); ++d)
      is_same = symbols_.simplify(info.sizes[d].expr()) == symbols_.simplify(infos[i].sizes[d].expr());
    if (!is_same) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the body of while_loop gives {} for what was {} before", sizes_text(info),
                              sizes_text(infos[i])),
                  "what is carried along keeps its type and its sizes");
    }
  }
  const std::vector<Capture> merged = merge_captures(test.captures(), step.captures(), {}, name_of);
  for (Subgraph* const subgraph : {&test, &step}) {
    subgraph->set_operands(infos.size(), merged);
    subgraph->number_inputs();
  }
  std::vector<Argument> inputs;
  inputs.push_back(test.take());
  inputs.push_back(step.take());
  inputs.push_back(tensors_argument(std::move(refs)));
  inputs.push_back(operands_argument(merged));
  return give(tracer, "while_loop", std::move(inputs), infos, carried.spec);
}

nn::Tree HigherOrder::map(const nn::Body& body, const nn::Tree& over, const nn::Tree& others) {
  Tracer& tracer = *symbols_.tracer;
  Subgraph row(symbols_, tracer.graph_name("body_graph"));
  std::vector<nn::Tree> given = {over};
  std::vector<graph::ValueRef> rows;
  std::optional<SymInt> count;
  for (Value& leaf : given[0].leaves) {
    const Tensor tensor = tensor_leaf(leaf, "what map goes through");
    ops::Info<SymInt> info = symbolic_info(tensor);
    if (info.dim() == 0)
      throw Error(ErrorCode::kInvalidArgument, "map goes through a tensor that has no dimension");
    if (count && symbols_.simplify(count->expr()) != symbols_.simplify(info.sizes[0].expr()))
      throw Error(ErrorCode::kInvalidArgument, "map goes through tensors with different numbers of rows");
    count = info.sizes[0];
    info.sizes.erase(0);
    info.strides.erase(0);
    graph::Value& value = tracer.value_of(tensor);
    rows.emplace_back(value);
    const Tensor one = make_fake(info);
    row.add_input(value.name(), one);
    leaf = one;
  }
  if (!count) throw Error(ErrorCode::kInvalidArgument, "map has no tensor to go through");
  for (const nn::Tree& other : others.children()) {
    for (const Value& leaf : other.leaves) row.tracer().value_of(tensor_leaf(leaf, "what map is given"));
    given.push_back(other);
  }
  const nn::Tree result = row.trace(body, nn::Tree::tuple(given));
  std::vector<ops::Info<SymInt>> infos;
  for (const Value& leaf : result.leaves) {
    const ops::Info<SymInt> info = symbolic_info(leaf.tensor());
    ShortList<SymInt> sizes = info.sizes;
    sizes.insert(0, *count);
    infos.push_back(ops::contiguous<SymInt>(info.dtype, sizes, info.device));
  }
  std::vector<Argument> inputs;
  Argument captures = operands_argument(row.captures());
  inputs.push_back(row.take());
  inputs.push_back(tensors_argument(std::move(rows)));
  inputs.push_back(std::move(captures));
  return give(tracer, "map_impl", std::move(inputs), infos, result.spec);
}

// ---- rehearsals

void HigherOrder::rehearse(const std::function<void()>& body) {
  Subgraph scratch(symbols_, "rehearsal");
  struct Count {
    int& count;
    ~Count() { --count; }
  } const count{rehearsals_};
  ++rehearsals_;
  scratch.trace(body);
}

nn::Tree HigherOrder::pretend(std::span<const ops::Info<SymInt>> infos, const TreeSpec& spec) {
  Tracer& tracer = *symbols_.tracer;
  nn::Tree tree;
  tree.spec = spec;
  tree.leaves.clear();
  for (const ops::Info<SymInt>& info : infos) {
    const Tensor tensor = make_fake(info);
    tracer.add_result(tensor);
    tree.leaves.emplace_back(tensor);
  }
  return tree;
}

nn::Tree HigherOrder::pretend_cond(const nn::Tree& when_true, const nn::Tree& when_false) {
  return pretend(joined_results(when_true, when_false), when_true.spec);
}

nn::Tree HigherOrder::pretend_carried(const nn::Tree& carried) {
  std::vector<ops::Info<SymInt>> infos;
  for (const Value& leaf : carried.leaves)
    infos.push_back(symbolic_info(tensor_leaf(leaf, "what while_loop carries along")));
  return pretend(infos, carried.spec);
}

bool HigherOrder::is_from_outside(const Tensor& tensor) const {
  const Tracer& tracer = *symbols_.tracer;
  return tracer.find(tensor) == nullptr || tracer.aliased_input(tensor) != nullptr;
}

void HigherOrder::stand_for(const Tensor& outside, const Tensor& inside) {
  symbols_.tracer->hold(outside, symbols_.tracer->value_of(inside));
}

}  // namespace flambeau::trace
