#include "flambeau/trace/program_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/call.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"
#include "flambeau/trace/replay.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::InputKind;
using graph::OutputKind;

// "encoder.0" and its class, of one call in a node's stack of modules.
struct StackEntry {
  std::string_view key;  // "L__self__encoder.0@1" when the module is called for the second time
  std::string_view name;
  std::string_view class_name;
};

std::string_view without_count(std::string_view name) { return name.substr(0, name.find('@')); }

// Of "L__self__,,Net;L__self___fc,fc,torch.nn.modules.linear.Linear", without the model itself.
std::vector<StackEntry> parse_stack(std::string_view text) {
  std::vector<StackEntry> entries;
  while (!text.empty()) {
    const std::string_view call = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), call.size() + 1));
    const size_t first = call.find(',');
    const size_t last = call.rfind(',');
    if (first == std::string_view::npos || last == first) continue;
    const std::string_view name = call.substr(first + 1, last - first - 1);
    if (!name.empty() && !name.starts_with("_empty_nn_module_stack"))
      entries.push_back({call.substr(0, first), without_count(name), call.substr(last + 1)});
  }
  return entries;
}

// The node keeps the text.
std::string_view stack_text(const graph::Node& node) {
  const std::string* const text = node.find_metadata("nn_module_stack");
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

// A module of the tree: what it holds.
class Part : public nn::Module {
 public:
  std::string class_name() const override { return type.empty() ? "torch.nn.modules.module.Module" : type; }
  nn::Tree call(std::span<const nn::Tree> positional, nn::Keywords keywords) override {
    if (run) return run(positional, keywords);
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the module '{}' of a program cannot be called on its own: the program does not "
                            "say how it was called",
                            path),
                "export with its name in ExportOptions::preserved");
  }
  using Module::add_buffer;
  using Module::add_module;
  using Module::add_parameter;

  Tensor& add_slot(Tensor tensor) { return slots_.emplace_back(std::move(tensor)); }
  Part& add_part(std::unique_ptr<Part> part) { return *parts_.emplace_back(std::move(part)); }

  std::string path;
  std::string type;
  std::function<nn::Tree(std::span<const nn::Tree>, nn::Keywords)> run;  // of one whose calls are preserved

 private:
  std::deque<Tensor> slots_;  // what is registered must not move
  std::deque<std::unique_ptr<Part>> parts_;
};

class ProgramModule final : public Part {
 public:
  explicit ProgramModule(graph::ExportedProgram program) : program_(std::move(program)) {
    if (!program_.has_weights) {
      throw Error(ErrorCode::kInvalidArgument, "a program without its weights is no module",
                  "open the whole archive");
    }
    if (program_.module_call_graph.empty() || !program_.module_call_graph[0].signature)
      throw Error(ErrorCode::kCorrupt, "the program does not say how it is called");
    const graph::ModuleCallSignature& signature = *program_.module_call_graph[0].signature;
    in_spec_ = parse_treespec(signature.in_spec);
    out_spec_ = parse_treespec(signature.out_spec);
    if (in_spec_.is_leaf() || in_spec_.children().size() != 2)
      throw Error(ErrorCode::kCorrupt, "the program does not take arguments and keywords");
    add_modules();
    add_state();
  }

  std::vector<std::string> argument_names() const override {
    const auto& names = program_.module_call_graph[0].signature->forward_arg_names;
    if (names) return *names;
    std::vector<std::string> made;
    for (size_t i = 0; i < in_spec_.child(0).children().size(); ++i)
      made.push_back(fmt::format("args_{}", i));
    for (const json::Value& key : in_spec_.child(1).keys()) made.emplace_back(key.as_string());
    return made;
  }

  nn::Tree call(std::span<const nn::Tree> positional, nn::Keywords keywords) override {
    const std::vector<Value> given = flatten(in_spec_, positional, keywords);
    Modules modules(*this);
    Replay replay(nn::current());
    const std::vector<Value> inputs = graph_inputs(given);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (const graph::Value* const value = program_.graph().inputs()[i].value())
        replay.set(*value, inputs[i]);
    }
    for (const graph::Node& node : program_.graph().nodes()) {
      modules.go_to(node);
      replay.run(node);
    }
    modules.leave_all();
    nn::Tree result{.spec = out_spec_, .leaves = {}};
    for (size_t i = 0; i < program_.graph().outputs().size(); ++i) {
      Value value = replay.get(program_.graph().outputs()[i]);
      const graph::OutputSpec& spec = program_.signature.outputs.at(i);
      if (spec.kind == OutputKind::kUserOutput) {
        result.leaves.push_back(std::move(value));
      } else if (spec.kind != OutputKind::kToken) {
        write(spec, value.tensor(), inputs);
      }
    }
    if (result.leaves.size() != out_spec_.num_leaves())
      throw Error(ErrorCode::kCorrupt, "the program gives another number of values than it says");
    modules.finish(result);
    return result;
  }

 private:
  // Tells the observer which modules are being called, as the nodes say.
  class Modules {
   public:
    explicit Modules(ProgramModule& root) : root_(root), observer_(nn::observer()) {
      if (observer_ != nullptr) observer_->enter(root_, [] { return nn::Tree(); });
    }
    void go_to(const graph::Node& node) {
      if (observer_ == nullptr) return;
      const std::vector<StackEntry> stack = parse_stack(stack_text(node));
      size_t same = 0;
      while (same < open_.size() && same < stack.size() && open_[same].first == stack[same].key) ++same;
      close(same);
      for (size_t i = same; i < stack.size(); ++i) {
        const auto found = root_.parts_by_name_.find(std::string(stack[i].name));
        if (found == root_.parts_by_name_.end()) break;
        observer_->enter(*found->second, [] { return nn::Tree(); });
        open_.emplace_back(stack[i].key, found->second);
      }
    }
    void leave_all() { close(0); }
    void finish(const nn::Tree& result) {
      if (observer_ != nullptr) observer_->leave(root_, [&] { return result; });
    }

   private:
    void close(size_t count) {
      for (; open_.size() > count; open_.pop_back())
        observer_->leave(*open_.back().second, [] { return nn::Tree(); });
    }
    ProgramModule& root_;
    nn::Observer* observer_;
    std::vector<std::pair<std::string, Part*>> open_;
  };

  // The modules that the program names, with the classes that its nodes tell.
  void add_modules() {
    std::unordered_map<std::string, std::string> classes;
    for (const graph::Node& node : program_.graph().nodes()) {
      const std::string_view text = stack_text(node);
      for (const StackEntry& entry : parse_stack(text))
        classes.try_emplace(std::string(entry.name), entry.class_name);
      if (constexpr std::string_view kRoot = "L__self__,,"; type.empty() && text.starts_with(kRoot))
        type = text.substr(kRoot.size(), text.find(';') - kRoot.size());
    }
    for (const graph::ModuleCallEntry& entry : program_.module_call_graph) {
      if (entry.fqn.empty() || entry.fqn.find('@') != std::string::npos) continue;
      Part& part = part_of(entry.fqn);
      if (const auto found = classes.find(entry.fqn); found != classes.end()) part.type = found->second;
      if (entry.signature) {
        part.run = [this, &entry](std::span<const nn::Tree> positional, nn::Keywords keywords) {
          return call_part(entry, positional, keywords);
        };
      }
    }
  }

  // The module of that full name, made if need be, with those above it.
  Part& part_of(const std::string& full) {
    if (full.empty()) return *this;
    if (const auto found = parts_by_name_.find(full); found != parts_by_name_.end()) return *found->second;
    const size_t dot = full.rfind('.');
    Part& above = part_of(dot == std::string::npos ? std::string() : full.substr(0, dot));
    Part& part = above.add_part(std::make_unique<Part>());
    part.path = full;
    above.add_module(dot == std::string::npos ? full : full.substr(dot + 1), part);
    parts_by_name_.emplace(full, &part);
    return part;
  }

  void add_state() {
    std::unordered_map<std::string, const graph::Weight*> weights;
    for (const graph::Weight& weight : program_.state_dict) weights.emplace(weight.name, &weight);
    for (const graph::Weight& weight : program_.constants) weights.emplace(weight.name, &weight);
    for (const graph::InputSpec& spec : program_.signature.inputs) {
      const bool is_parameter = spec.kind == InputKind::kParameter;
      const bool is_buffer = spec.kind == InputKind::kBuffer;
      if (!is_parameter && !is_buffer && spec.kind != InputKind::kTensorConstant) continue;
      const auto found = weights.find(spec.target);
      if (found == weights.end() || !found->second->tensor.defined()) {
        throw Error(ErrorCode::kCorrupt,
                    fmt::format("the program has no values for '{}'", printable(spec.target)));
      }
      const graph::Weight& weight = *found->second;
      if (!is_parameter && !is_buffer) {
        constants_.emplace(spec.target, weight.tensor);
        continue;
      }
      const size_t dot = spec.target.rfind('.');
      Part& part = part_of(dot == std::string::npos ? std::string() : spec.target.substr(0, dot));
      Tensor& slot = part.add_slot(weight.tensor);
      const std::string last = dot == std::string::npos ? spec.target : spec.target.substr(dot + 1);
      if (is_parameter) {
        part.add_parameter(last, slot, weight.tensor.requires_grad());
      } else {
        part.add_buffer(last, slot, spec.persistent);
      }
      slots_.emplace(spec.target, &slot);
    }
  }

  static std::vector<Value> flatten(const TreeSpec& spec, std::span<const nn::Tree> positional,
                                    nn::Keywords keywords) {
    const std::vector<std::pair<std::string, nn::Tree>> sorted = in_order(spec, keywords);
    const nn::Tree tree = nn::Tree::tuple(std::array{nn::Tree::tuple(positional), nn::Tree::dict(sorted)});
    if (tree.spec != spec) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("the program is called with {}; it takes {}",
                                                           tree.spec.to_string(), spec.to_string()));
    }
    return tree.leaves;
  }

  // The first call of a module, as the program describes it: what its results need, and what it did besides.
  nn::Tree call_part(const graph::ModuleCallEntry& entry, std::span<const nn::Tree> positional,
                     nn::Keywords keywords) {
    const std::vector<Value> given = flatten(parse_treespec(entry.signature->in_spec), positional, keywords);
    Replay replay(nn::current());
    std::unordered_set<const graph::Value*> known;
    const auto set = [&](const Argument& argument, const Value& value) {
      if (argument.value() == nullptr || !known.insert(argument.value()).second) return;
      replay.set(*argument.value(), value);
    };
    for (size_t i = 0; i < entry.signature->inputs.size() && i < given.size(); ++i)
      set(entry.signature->inputs[i], given[i]);
    for (const graph::InputSpec& spec : program_.signature.inputs) {
      if (const auto slot = slots_.find(spec.target); slot != slots_.end()) set(spec.argument, *slot->second);
      if (const auto found = constants_.find(spec.target); found != constants_.end())
        set(spec.argument, found->second);
    }
    for (const graph::Node* const node : nodes_of(entry, known)) replay.run(*node);
    nn::Tree result{.spec = parse_treespec(entry.signature->out_spec), .leaves = {}};
    for (const Argument& output : entry.signature->outputs) result.leaves.push_back(replay.get(output));
    return result;
  }

  std::vector<const graph::Node*> nodes_of(const graph::ModuleCallEntry& entry,
                                           const std::unordered_set<const graph::Value*>& known) const {
    std::unordered_set<const graph::Node*> wanted;
    std::vector<const graph::Node*> open;
    const auto want = [&](const graph::Value& value) {
      if (known.contains(&value)) return;
      if (value.producer() == nullptr) {
        throw Error(
            ErrorCode::kUnsupported,
            fmt::format("the module '{}' of a program cannot be called on its own: it needs '{}', which "
                        "it is not given",
                        entry.fqn, printable(value.name())));
      }
      if (wanted.insert(value.producer()).second) open.push_back(value.producer());
    };
    for (const Argument& output : entry.signature->outputs) output.for_each_value(want);
    const std::string key = "L__self__" + entry.fqn;
    for (const graph::Node& node : program_.graph().nodes()) {
      const std::vector<StackEntry> stack = parse_stack(stack_text(node));
      const bool is_inside =
          std::ranges::any_of(stack, [&](const StackEntry& call) { return call.key == key; });
      if (is_inside && wanted.insert(&node).second) open.push_back(&node);
    }
    while (!open.empty()) {
      const graph::Node& node = *open.back();
      open.pop_back();
      for (const graph::NamedArgument& input : node.inputs()) input.argument.for_each_value(want);
    }
    std::vector<const graph::Node*> nodes;
    for (const graph::Node& node : program_.graph().nodes()) {
      if (wanted.contains(&node)) nodes.push_back(&node);
    }
    return nodes;
  }

  // The keywords as the program has them, where they are the same ones.
  static std::vector<std::pair<std::string, nn::Tree>> in_order(const TreeSpec& spec, nn::Keywords keywords) {
    std::vector<std::pair<std::string, nn::Tree>> sorted;
    for (const json::Value& key : spec.child(1).keys()) {
      for (const auto& [name, tree] : keywords) {
        if (name == key.as_string()) sorted.emplace_back(name, tree);
      }
    }
    return sorted.size() == keywords.size() ? sorted : std::vector(keywords.begin(), keywords.end());
  }

  // What the graph takes, in its order. The user's values must be as the program describes them.
  std::vector<Value> graph_inputs(std::span<const Value> given) {
    std::vector<Value> inputs;
    std::unordered_map<std::string, SymInt> symbols;
    size_t next = 0;
    for (const graph::InputSpec& spec : program_.signature.inputs) {
      switch (spec.kind) {
        case InputKind::kParameter:
        case InputKind::kBuffer:
          inputs.emplace_back(*slots_.at(spec.target));
          break;
        case InputKind::kTensorConstant:
          inputs.emplace_back(constants_.at(spec.target));
          break;
        case InputKind::kUserInput:
        case InputKind::kConstantInput: {
          if (next == given.size())
            throw Error(ErrorCode::kCorrupt, "the program takes more values than it says");
          const Value& value = given[next++];
          check(spec, value, symbols);
          inputs.push_back(value);
          break;
        }
        default:
          throw Error(ErrorCode::kUnsupported,
                      "a program that takes objects or tokens cannot be a module here");
      }
    }
    return inputs;
  }

  void check(const graph::InputSpec& spec, const Value& value,
             std::unordered_map<std::string, SymInt>& symbols) const {
    const graph::Value* const described = spec.argument.value();
    if (described == nullptr || described->tensor() == nullptr) return;
    const graph::TensorMeta& meta = *described->tensor();
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the input '{}' {}", printable(described->name()), what));
    };
    if (!value.is_tensor() || !value.tensor().defined())
      return fail(fmt::format("is a {}; it is a tensor", value.kind_name()));
    const Tensor& tensor = value.tensor();
    const SymIntList sizes = nn::sizes(tensor);
    if (tensor.dtype() != meta.dtype) {
      fail(fmt::format("has dtype {}; it takes {}", dtype_info(tensor.dtype()).name,
                       dtype_info(meta.dtype).name));
    }
    if (sizes.size() != meta.sizes.size())
      fail(fmt::format("has {} dimensions; it takes {}", sizes.size(), meta.sizes.size()));
    for (size_t d = 0; d < sizes.size(); ++d) {
      const graph::SymInt& wanted = meta.sizes[d];
      if (wanted.is_literal()) {
        if (!(sizes[d] == wanted.literal()))
          fail(fmt::format("has size {} in dimension {}; it takes {}", text(sizes[d]), d, wanted.literal()));
        continue;
      }
      const symbolic::Expr expr = symbolic::parse(wanted.expr().text);
      if (!expr.is_symbol()) continue;
      const auto [known, is_new] = symbols.try_emplace(std::string(expr.name()), sizes[d]);
      if (!is_new && !(known->second == sizes[d]))
        fail(fmt::format("has size {} in dimension {}; it takes {}", text(sizes[d]), d, text(known->second)));
      for (const auto& [name, range] : program_.range_constraints) {
        if (name != expr.name()) continue;
        if (range.min && sizes[d] < *range.min)
          fail(
              fmt::format("has size {} in dimension {}; it takes {} or more", text(sizes[d]), d, *range.min));
        if (range.max && sizes[d] > *range.max)
          fail(
              fmt::format("has size {} in dimension {}; it takes {} or less", text(sizes[d]), d, *range.max));
      }
    }
  }
  static std::string text(const SymInt& number) { return symbolic::to_string(number.expr()); }

  // Of a functional program: what it writes, it gives.
  void write(const graph::OutputSpec& spec, const Tensor& value, std::span<const Value> inputs) {
    const auto copy = [&](const Tensor& to) {
      ops::Context& context = nn::current();
      const ops::Operator& op = context.library().get("aten::copy_");
      const Value arguments[] = {to, value, false};
      ops::call(context, op, arguments);
    };
    if (spec.kind == OutputKind::kBufferMutation || spec.kind == OutputKind::kParameterMutation) {
      copy(*slots_.at(spec.target));
    } else if (spec.kind == OutputKind::kUserInputMutation) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (program_.graph().inputs()[i].value() == spec.input.get()) copy(inputs[i].tensor());
      }
    } else {
      throw Error(ErrorCode::kUnsupported,
                  "a program that gives gradients or tokens cannot be a module here");
    }
  }

  graph::ExportedProgram program_;
  TreeSpec in_spec_;
  TreeSpec out_spec_;
  std::unordered_map<std::string, Part*> parts_by_name_;
  std::unordered_map<std::string, Tensor*> slots_;
  std::unordered_map<std::string, Tensor> constants_;
};

}  // namespace

std::unique_ptr<nn::Module> make_module(graph::ExportedProgram program) {
  return std::make_unique<ProgramModule>(std::move(program));
}

}  // namespace flambeau::trace
