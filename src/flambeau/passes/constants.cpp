#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/parallel.h"
#include "flambeau/base/work.h"
#include "flambeau/graph/program.h"
#include "flambeau/graph/values.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/operator.h"
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
// All results together may be larger than the constants that are there by as much as this.
constexpr int64_t kMostGrowth = int64_t{1} << 20;
constexpr int64_t kMost = int64_t{1} << 60;

class Folding {
 public:
  Folding(graph::ExportedProgram& program, const ops::Library& library)
      : program_(program), library_(library), written_(program.graph(), library) {}

  bool run() {
    find_constants();
    find_constant_nodes();
    find_needed();
    std::vector<std::pair<Node*, Tensor>> folded;
    for (Node& node : program_.graph().nodes()) {
      if (!needed_.contains(&node) || !compute(node) || !wanted_.contains(&node)) continue;
      const graph::Value& result = *node.outputs()[0].value();
      const Tensor& made = values_.at(&result).tensor();
      if (fits(made, *result.tensor())) folded.emplace_back(&node, made);
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
      const auto bytes = static_cast<int64_t>(tensor.storage()->size());
      bytes_.emplace(value, bytes);
      budget_ += bytes;
    }
  }

  void find_constant_nodes() {
    for (const Node& node : program_.graph().nodes()) {
      const Effects effects = effects_of(node, library_);
      if (effects.op == nullptr || !effects.is_pure() || written_.touches(node)) continue;
      const bool gives_tensor = node.outputs().size() == 1 && node.outputs()[0].is(ArgumentKind::kTensor);
      const graph::Value* const result = gives_tensor ? node.outputs()[0].value() : nullptr;
      if (result == nullptr || result->tensor() == nullptr) continue;
      const std::optional<int64_t> made_of = constant_bytes(node);
      if (!made_of) continue;
      const bool is_view = effects.op->schema.is_view();
      const std::optional<int64_t> bytes =
          is_view ? made_of : bytes_of(*result->tensor(), std::min(budget_, std::max(kSmall, *made_of)));
      if (!bytes) continue;
      if (!is_view) budget_ -= *bytes;
      bytes_.emplace(result, *bytes);
      nodes_.emplace(&node, effects.op);
    }
  }

  // Of the arguments, where all are constants.
  std::optional<int64_t> constant_bytes(const Node& node) const {
    bool is_constant = true;
    int64_t bytes = 0;
    for (const graph::NamedArgument& input : node.inputs()) {
      is_constant = is_constant && !input.argument.is(ArgumentKind::kGraph) &&
                    !input.argument.is(ArgumentKind::kUnknown);
      input.argument.for_each_value([&](const graph::Value& value) {
        const auto known = bytes_.find(&value);
        is_constant = is_constant && known != bytes_.end();
        if (is_constant) bytes = std::min(bytes, kMost) + std::min(known->second, kMost);
      });
    }
    return is_constant ? std::optional(bytes) : std::nullopt;
  }

  // Nothing where it is more than `most`, or not known.
  static std::optional<int64_t> bytes_of(const graph::TensorMeta& meta, int64_t most) {
    auto bytes = static_cast<__int128>(dtype_size(meta.dtype));
    for (const graph::SymInt& size : meta.sizes) {
      if (!size.is_literal() || size.literal() < 0) return {};
      bytes *= size.literal();
      if (bytes > most) return {};
    }
    return static_cast<int64_t>(bytes);
  }

  // From the end on: what becomes a constant, and what that is computed from. What a caller gets, as it is or
  // as a view, is his own to write to.
  void find_needed() {
    std::unordered_set<const graph::Value*> given;
    for (const Argument& output : program_.graph().outputs())
      output.for_each_value([&](const graph::Value& value) { given.insert(&value); });
    for (const Node* node = program_.graph().last_node(); node != nullptr; node = node->previous()) {
      const auto found = nodes_.find(node);
      if (found == nodes_.end()) continue;
      const graph::Value& result = *node->outputs()[0].value();
      const bool is_view = found->second->schema.is_view();
      if (!is_view && !given.contains(&result) && has_other_users(result)) {
        wanted_.insert(node);
        needed_.insert(node);
      }
      for (const graph::NamedArgument& input : node->inputs()) {
        input.argument.for_each_value([&](const graph::Value& value) {
          if (is_view && given.contains(&result)) given.insert(&value);
          if (needed_.contains(node) && value.producer() != nullptr) needed_.insert(value.producer());
        });
      }
    }
  }

  // That compute with it, and are no constants themselves.
  bool has_other_users(const graph::Value& value) const {
    for (const graph::ValueRef& ref : value.refs()) {
      if (ref.role() != graph::ValueRef::Role::kUse) continue;
      const auto found = nodes_.find(ref.user());
      if (found == nodes_.end() || found->second->schema.is_view()) return true;
    }
    return false;
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

  // A call that fails stays where it is, and fails when the program runs: not when it is simplified.
  bool compute(const Node& node) {
    const ops::Operator& op = *nodes_.at(&node);
    std::vector<Value> positional;
    KeywordArguments keywords;
    bool is_known = true;
    const auto find = [&](const graph::Value& value) {
      const auto known = values_.find(&value);
      is_known = is_known && known != values_.end();
      return known != values_.end() ? known->second : Value(Tensor());
    };
    for (const graph::NamedArgument& input : node.inputs()) {
      Value value = graph::to_value(input.argument, find);
      if (input.name.empty()) {
        positional.push_back(std::move(value));
      } else {
        keywords.emplace_back(input.name, std::move(value));
      }
    }
    if (!is_known) return false;
    try {
      // Whatever the program says of its sizes.
      const WorkScope work({.bytes = static_cast<uint64_t>(kMostGrowth) * 64});
      std::vector<Value> given =
          ops::call(context_, op, ops::bind_arguments(op.schema, positional, keywords));
      if (!given.at(0).is_tensor()) return false;
      values_.emplace(node.outputs()[0].value(), std::move(given[0]));
      return true;
    } catch (const Error&) {
      poll_work();  // somebody wants it to end
      return false;
    }
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
  std::unordered_map<const graph::Value*, int64_t> bytes_;       // of each constant value
  std::unordered_map<const Node*, const ops::Operator*> nodes_;  // that give constants
  std::unordered_set<const Node*> needed_;                       // of those: computed
  std::unordered_set<const Node*> wanted_;                       // and kept
  int64_t budget_ = kMostGrowth;
};

}  // namespace

bool fold_constants(graph::ExportedProgram& program, const ops::Library& library) {
  return Folding(program, library).run();
}

}  // namespace flambeau::passes
