#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/parallel.h"
#include "flambeau/graph/values.h"
#include "flambeau/ops/call.h"
#include "flambeau/passes/effects.h"
#include "flambeau/passes/passes.h"

namespace flambeau::passes {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::InputKind;
using graph::Node;

// Also what is made of nothing, such as a range, is worth storing when it is as small as this.
constexpr int64_t kSmall = int64_t{64} << 10;

class Folding {
 public:
  Folding(graph::ExportedProgram& program, const ops::Library& library)
      : program_(program), library_(library), written_(program.graph(), library) {}

  bool run() {
    find_constants();
    find_constant_nodes();
    std::vector<std::pair<Node*, Tensor>> folded;
    for (Node& node : program_.graph().nodes()) {
      if (!is_worth_it(node)) continue;
      const Tensor made = compute(node).tensor();
      if (fits(made, *node.outputs()[0].value()->tensor())) folded.emplace_back(&node, made);
    }
    if (!folded.empty()) replace(folded);
    return !folded.empty();
  }

 private:
  // Parameters and buffers of the state dict are left alone: somebody may train or exchange them.
  void find_constants() {
    std::unordered_map<std::string_view, const graph::Weight*> by_name;
    for (const graph::Weight& weight : program_.constants) by_name.emplace(weight.name, &weight);
    std::unordered_set<std::string_view> changed;
    for (const graph::OutputSpec& output : program_.signature.outputs) changed.insert(output.target);
    for (const graph::InputSpec& input : program_.signature.inputs) {
      const bool is_constant =
          input.kind == InputKind::kTensorConstant || (input.kind == InputKind::kBuffer && !input.persistent);
      const graph::Value* const value = input.argument.value();
      if (!is_constant || value == nullptr || changed.contains(input.target) || written_.contains(*value))
        continue;
      const auto found = by_name.find(input.target);
      if (found == by_name.end() || found->second->pickled != nullptr) continue;
      const Tensor& tensor = found->second->tensor;
      if (!tensor.defined() || tensor.is_meta()) continue;
      values_.emplace(value, tensor);
      bytes_.emplace(value, tensor.element_count() * static_cast<int64_t>(tensor.element_size()));
    }
  }

  void find_constant_nodes() {
    for (const Node& node : program_.graph().nodes()) {
      const Effects effects = effects_of(node, library_);
      if (effects.op == nullptr || !effects.is_pure() || written_.touches(node)) continue;
      const graph::Value* const result =
          node.outputs().size() == 1 && node.outputs()[0].is(ArgumentKind::kTensor)
              ? node.outputs()[0].value()
              : nullptr;
      if (result == nullptr || result->tensor() == nullptr) continue;
      bool is_constant = true;
      int64_t bytes = 0;
      for (const graph::NamedArgument& input : node.inputs()) {
        is_constant = is_constant && !input.argument.is(ArgumentKind::kGraph) &&
                      !input.argument.is(ArgumentKind::kUnknown);
        input.argument.for_each_value([&](const graph::Value& value) {
          const auto known = bytes_.find(&value);
          is_constant = is_constant && known != bytes_.end();
          if (is_constant) bytes += known->second;
        });
      }
      if (!is_constant) continue;
      bytes_.emplace(result, bytes);
      nodes_.emplace(&node, effects.op);
    }
  }

  // Its result is used by what is no constant, it is no mere view, and small enough.
  bool is_worth_it(const Node& node) const {
    const auto found = nodes_.find(&node);
    if (found == nodes_.end() || found->second->schema.is_view()) return false;
    const graph::Value& result = *node.outputs()[0].value();
    bool is_needed = false;
    for (const graph::ValueRef& ref : result.refs()) {
      if (ref.role() != graph::ValueRef::Role::kUse) continue;
      if (ref.user() == nullptr) return false;  // an output: the caller may write to what it gets
      is_needed = is_needed || !nodes_.contains(ref.user()) || nodes_.at(ref.user())->schema.is_view();
    }
    if (!is_needed) return false;
    const graph::TensorMeta& meta = *result.tensor();
    Size bytes = static_cast<int64_t>(dtype_size(meta.dtype));
    for (const graph::SymInt& size : meta.sizes) {
      if (!size.is_literal()) return false;
      bytes *= size.literal();
    }
    return bytes <= std::max(kSmall, bytes_.at(&result));
  }

  // What is made is what the program says.
  static bool fits(const Tensor& tensor, const graph::TensorMeta& meta) {
    if (tensor.dtype() != meta.dtype || tensor.layout() != Layout::kStrided ||
        tensor.dim() != meta.sizes.size() || tensor.dim() != meta.strides.size() ||
        tensor.device().to_string() != meta.device.to_string())
      return false;
    for (size_t d = 0; d < tensor.dim(); ++d) {
      if (tensor.sizes()[d] != meta.sizes[d].literal() || !meta.strides[d].is_literal() ||
          tensor.strides()[d] != meta.strides[d].literal())
        return false;
    }
    return true;
  }

  const Value& compute(const Node& node) {
    const graph::Value* const result = node.outputs()[0].value();
    if (const auto found = values_.find(result); found != values_.end()) return found->second;
    const ops::Operator& op = *nodes_.at(&node);
    std::vector<Value> positional;
    ops::KeywordArguments keywords;
    const auto find = [&](const graph::Value& value) {
      const auto known = values_.find(&value);
      return known != values_.end() ? known->second : compute(*value.producer());
    };
    for (const graph::NamedArgument& input : node.inputs()) {
      Value value = graph::to_value(input.argument, find);
      if (input.name.empty()) {
        positional.push_back(std::move(value));
      } else {
        keywords.emplace_back(input.name, std::move(value));
      }
    }
    std::vector<Value> given = with_location("node", std::string(node.label()), [&] {
      return ops::call(context_, op, ops::bind_arguments(op.schema, positional, keywords));
    });
    return values_.emplace(result, std::move(given.at(0))).first->second;
  }

  // The results become constants of the program, which stand before the user's inputs.
  void replace(const std::vector<std::pair<Node*, Tensor>>& folded) {
    graph::Graph& graph = program_.graph();
    std::unordered_set<std::string> taken;
    for (const graph::Weight& weight : program_.constants) taken.insert(weight.name);
    std::vector<Argument> inputs;
    std::vector<graph::InputSpec> specs;
    size_t number = 0;
    for (const auto& [node, tensor] : folded) {
      std::string name = fmt::format("folded_{}", number++);
      while (taken.contains(name)) name = fmt::format("folded_{}", number++);
      graph::Value& result = *node->outputs()[0].value();
      graph::Value& input = graph.add_value(graph.unique_name("c_" + name), result.meta());
      inputs.push_back(Argument::tensor(input));
      graph::InputSpec& spec = specs.emplace_back();
      spec.kind = InputKind::kTensorConstant;
      spec.argument = Argument::tensor(input);
      spec.target = name;
      result.replace_uses_with(input);
      graph.erase(*node);
      program_.constants.push_back({.name = std::move(name), .tensor = tensor});
    }
    const auto is_given = [](const graph::InputSpec& spec) {
      return spec.kind == InputKind::kUserInput || spec.kind == InputKind::kConstantInput ||
             spec.kind == InputKind::kUnknown;
    };
    auto& all_specs = program_.signature.inputs;
    const auto at = std::ranges::find_if(all_specs, is_given) - all_specs.begin();
    std::vector<Argument> all_inputs = graph.take_inputs();
    all_inputs.insert(all_inputs.begin() + at, std::move_iterator(inputs.begin()),
                      std::move_iterator(inputs.end()));
    all_specs.insert(all_specs.begin() + at, std::move_iterator(specs.begin()),
                     std::move_iterator(specs.end()));
    for (Argument& argument : all_inputs) graph.add_input(std::move(argument));
  }

  graph::ExportedProgram& program_;
  const ops::Library& library_;
  ThreadPool pool_{1};
  ops::Context context_{library_, pool_};
  WrittenValues written_;
  std::unordered_map<const graph::Value*, Value> values_;        // constants, as far as they are computed
  std::unordered_map<const graph::Value*, int64_t> bytes_;       // of what each constant value is made of
  std::unordered_map<const Node*, const ops::Operator*> nodes_;  // that give constants
};

}  // namespace

bool fold_constants(graph::ExportedProgram& program, const ops::Library& library) {
  return Folding(program, library).run();
}

}  // namespace flambeau::passes
