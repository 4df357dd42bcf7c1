#include "flambeau/trace/program_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/graph/interface.h"
#include "flambeau/graph/node_modules.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/runtime/inputs.h"
#include "flambeau/trace/replay.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::InputKind;
using graph::OutputKind;

// "encoder.0" of one call in a node's stack of modules, "encoder.0@1" for the second.
std::string name_of(const graph::NodeModule& call) {
  return std::string(call.path.substr(0, call.path.find('@')));
}

// The calls around a node, without that of the model itself.
std::vector<graph::NodeModule> calls_around(const graph::Node& node) {
  std::vector<graph::NodeModule> calls = graph::modules_of(node);
  std::erase_if(calls, [](const graph::NodeModule& call) {
    return call.path.empty() || call.path.starts_with("_empty_nn_module_stack");
  });
  return calls;
}

// A module of the tree: what it holds.
class Part : public nn::Module {
 public:
  std::string class_name() const override { return type.empty() ? "torch.nn.modules.module.Module" : type; }
  nn::Tree call(std::span<const nn::Tree> positional, const nn::Keywords& keywords) override {
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
  std::function<nn::Tree(std::span<const nn::Tree>, const nn::Keywords&)>
      run;  // of one whose calls are preserved

 private:
  std::deque<Tensor> slots_;  // what is registered must not move
  std::deque<std::unique_ptr<Part>> parts_;
};

class ProgramModule final : public Part {
 public:
  explicit ProgramModule(graph::ExportedProgram program)
      : program_(callable(std::move(program))),
        interface_(graph::interface_of(program_)),
        checker_(interface_, program_.guards_code, runtime::InputChecker::Where::kAnywhere) {
    if (in_spec().is_leaf() || in_spec().children().size() != 2)
      throw Error(ErrorCode::kCorrupt, "the program does not take arguments and keywords");
    add_modules();
    add_state();
  }

  std::vector<std::string> argument_names() const override {
    const auto& names = program_.root_call()->forward_arg_names;
    if (names) return *names;
    std::vector<std::string> made;
    for (size_t i = 0; i < in_spec().child(0).children().size(); ++i)
      made.push_back(fmt::format("args_{}", i));
    for (const json::Value& key : in_spec().child(1).keys()) made.emplace_back(key.as_string());
    return made;
  }

  nn::Tree call(std::span<const nn::Tree> positional, const nn::Keywords& keywords) override {
    const std::vector<Value> given = flatten(in_spec(), positional, keywords);
    Modules modules(*this);
    checker_.check(given);
    const std::vector<Value> inputs = graph_inputs(given);
    ops::Context& context = nn::current();
    std::vector<runtime::MissingOperator> missing;  // said at the node that calls one
    const std::unique_ptr<runtime::Code> code = runtime::lower(program_.graph(), context.library(), missing);
    Replay replay;
    runtime::Interpreter interpreter(context, nullptr, replay);
    interpreter.on_node = [&](const graph::Node& node) { modules.go_to(node); };
    std::vector<Value> outputs = interpreter.run(*code, inputs);
    modules.leave_all();
    nn::Tree result(interface_.out_spec, {});
    for (size_t i = 0; i < outputs.size(); ++i) {
      const graph::OutputSpec& spec = program_.signature.outputs.at(i);
      if (spec.kind == OutputKind::kUserOutput) {
        result.leaves.push_back(std::move(outputs[i]));
      } else if (spec.kind != OutputKind::kToken) {
        write(spec, outputs[i].tensor(), inputs);
      }
    }
    if (result.leaves.size() != result.spec.num_leaves())
      throw Error(ErrorCode::kCorrupt, "the program gives another number of values than it says");
    modules.finish(result);
    return result;
  }

 private:
  const TreeSpec& in_spec() const { return interface_.in_spec; }

  static graph::ExportedProgram callable(graph::ExportedProgram program) {
    if (!program.has_weights) {
      throw Error(ErrorCode::kInvalidArgument, "a program without its weights is no module",
                  "open the whole archive");
    }
    if (program.root_call() == nullptr)
      throw Error(ErrorCode::kCorrupt, "the program does not say how it is called");
    return program;
  }

  // Tells the observer which modules are being called, as the nodes say.
  class Modules {
   public:
    explicit Modules(ProgramModule& root) : root_(root), observer_(nn::observer()) {
      if (observer_ != nullptr) observer_->enter(root_, [] { return nn::Tree(); });
    }
    void go_to(const graph::Node& node) {
      if (observer_ == nullptr) return;
      const std::vector<graph::NodeModule> stack = calls_around(node);
      size_t same = 0;
      while (same < open_.size() && same < stack.size() && open_[same].first == stack[same].key) ++same;
      close(same);
      for (size_t i = same; i < stack.size(); ++i) {
        const auto found = root_.parts_by_name_.find(name_of(stack[i]));
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
      for (const graph::NodeModule& call : calls_around(node)) classes.try_emplace(name_of(call), call.type);
      if (!type.empty()) continue;
      const std::vector<graph::NodeModule> all = graph::modules_of(node);
      if (!all.empty() && all[0].key == "L__self__" && all[0].path.empty()) type = all[0].type;
    }
    for (const graph::ModuleCallEntry& entry : program_.module_call_graph) {
      if (entry.fqn.empty() || entry.fqn.find('@') != std::string::npos) continue;
      Part& part = part_of(entry.fqn);
      if (const auto found = classes.find(entry.fqn); found != classes.end()) part.type = found->second;
      if (entry.signature) {
        part.run = [this, &entry](std::span<const nn::Tree> positional, const nn::Keywords& keywords) {
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
                                    const nn::Keywords& keywords) {
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
                     const nn::Keywords& keywords) {
    const std::vector<Value> given = flatten(parse_treespec(entry.signature->in_spec), positional, keywords);
    std::vector<const graph::Value*> inputs;
    std::vector<Value> values;
    std::unordered_set<const graph::Value*> known;
    const auto set = [&](const Argument& argument, const Value& value) {
      if (argument.value() == nullptr || !known.insert(argument.value()).second) return;
      inputs.push_back(argument.value());
      values.push_back(value);
    };
    for (size_t i = 0; i < entry.signature->inputs.size() && i < given.size(); ++i)
      set(entry.signature->inputs[i], given[i]);
    for (const graph::InputSpec& spec : program_.signature.inputs) {
      if (const auto slot = slots_.find(spec.target); slot != slots_.end()) set(spec.argument, *slot->second);
      if (const auto found = constants_.find(spec.target); found != constants_.end())
        set(spec.argument, found->second);
    }
    const std::vector<const graph::Node*> nodes = nodes_of(entry, known);
    ops::Context& context = nn::current();
    std::vector<runtime::MissingOperator> missing;  // said at the node that calls one
    const std::unique_ptr<runtime::Code> code = runtime::lower(
        {.inputs = inputs, .nodes = nodes, .outputs = entry.signature->outputs}, context.library(), missing);
    Replay replay;
    nn::Tree result(parse_treespec(entry.signature->out_spec), {});
    result.leaves = runtime::Interpreter(context, nullptr, replay).run(*code, std::move(values));
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
      const std::vector<graph::NodeModule> stack = calls_around(node);
      const bool is_inside =
          std::ranges::any_of(stack, [&](const graph::NodeModule& call) { return call.key == key; });
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
  static std::vector<std::pair<std::string, nn::Tree>> in_order(const TreeSpec& spec,
                                                                const nn::Keywords& keywords) {
    std::vector<std::pair<std::string, nn::Tree>> sorted;
    for (const json::Value& key : spec.child(1).keys()) {
      for (const auto& [name, tree] : keywords) {
        if (name == key.as_string()) sorted.emplace_back(name, tree);
      }
    }
    return sorted.size() == keywords.size() ? sorted : std::vector(keywords.begin(), keywords.end());
  }

  // What the graph takes, in its order.
  std::vector<Value> graph_inputs(std::span<const Value> given) {
    std::vector<Value> inputs;
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
        case InputKind::kConstantInput:
          inputs.push_back(given[next++]);
          break;
        default:
          throw Error(ErrorCode::kUnsupported,
                      "a program that takes objects or tokens cannot be a module here");
      }
    }
    return inputs;
  }

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
  graph::Interface interface_;
  runtime::InputChecker checker_;
  std::unordered_map<std::string, Part*> parts_by_name_;
  std::unordered_map<std::string, Tensor*> slots_;
  std::unordered_map<std::string, Tensor> constants_;
};

}  // namespace

std::unique_ptr<nn::Module> make_module(graph::ExportedProgram program) {
  return std::make_unique<ProgramModule>(std::move(program));
}

}  // namespace flambeau::trace
