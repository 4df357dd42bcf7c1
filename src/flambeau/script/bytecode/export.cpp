#include "flambeau/script/bytecode/export.h"

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/script/bytecode/emit.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/operators/overload_taking.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/reachable.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::bytecode {
namespace {

struct Method {
  IValue owner;
  std::shared_ptr<Function> function;
};

const Class& class_of_object(const IValue& object) { return *object.as_object().type; }

bool is_script_object(const IValue& value) {
  return value.is(IValue::Tag::kObject) && !is_native_class(class_of_object(value).qualified_name());
}

// Objects inside of objects, as deep as there are no __getstate__ and __setstate__.
void gather_state_methods(const IValue& module, std::deque<Method>& methods) {
  std::vector<IValue> left{module};
  std::unordered_set<const void*> seen;
  while (!left.empty()) {
    const IValue object = std::move(left.back());
    left.pop_back();
    const Class& type = class_of_object(object);
    const std::shared_ptr<Function>* const set = type.find_method("__setstate__");
    const std::shared_ptr<Function>* const get = type.find_method("__getstate__");
    if (set != nullptr && get != nullptr) {
      methods.push_back({object, *set});
      methods.push_back({object, *get});
      continue;
    }
    // One that was seen adds nothing new.
    if (!seen.insert(object.identity()).second) continue;
    for (const IValue& slot : object.as_object().slots) {
      if (is_script_object(slot)) left.push_back(slot);
    }
  }
}

// Itself and modules inside of it, each once.
std::vector<IValue> modules_of(const IValue& module) {
  std::vector<IValue> found;
  std::unordered_set<const void*> seen;
  std::vector<IValue> left{module};
  while (!left.empty()) {
    const IValue next = std::move(left.back());
    left.pop_back();
    if (!seen.insert(next.identity()).second) continue;
    found.push_back(next);
    const std::vector<IValue>& slots = next.as_object().slots;
    for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
      if (is_script_object(*slot) && class_of_object(*slot).is_module()) left.push_back(*slot);
    }
  }
  return found;
}

std::set<std::string> called_by_interface(const ir::Graph& graph, const Unit& unit) {
  std::set<std::string> names;
  ir::for_each_node(graph.block(), [&](const ir::Node& node) {
    if (!node.is(ir::NodeKind::kCallMethod) || !node.input(0)->type().is(TypeKind::kClass)) return;
    const std::shared_ptr<Class> type = unit.find_class(node.input(0)->type().name());
    if (type != nullptr && type->is_interface()) names.insert(node.name);
  });
  return names;
}

// The functions that run while a file is loaded: __setstate__ of the objects, and what that calls.
std::unordered_set<const Function*> run_at_loading(const Unit& unit, const std::deque<Method>& methods) {
  std::unordered_set<const Function*> found;
  std::vector<std::shared_ptr<Function>> left;
  for (const Method& method : methods) {
    if (method.function->name() == "__setstate__") left.push_back(method.function);
  }
  while (!left.empty()) {
    const std::shared_ptr<Function> function = std::move(left.back());
    left.pop_back();
    if (!found.insert(function.get()).second) continue;
    ir::for_each_node(function->graph()->block(), [&](const ir::Node& node) {
      if (node.is(ir::NodeKind::kCallFunction)) {
        if (auto callee = unit.find_function(node.input(0)->node()->name)) left.push_back(std::move(callee));
      } else if (node.is(ir::NodeKind::kCallMethod) && node.input(0)->type().is(TypeKind::kClass)) {
        const std::shared_ptr<Class> owner = unit.find_class(node.input(0)->type().name());
        const std::shared_ptr<Function>* const callee =
            owner == nullptr ? nullptr : owner->find_method(node.name);
        if (callee != nullptr) left.push_back(*callee);
      }
    });
  }
  return found;
}

// What is called is inlined as PyTorch's executor would run it: simplified, its constants propagated; but as
// it is where it first runs while a file is loaded, since PyTorch does not optimize then.
class SimplifiedGraphs {
 public:
  SimplifiedGraphs(const Unit& unit, std::unordered_set<const Function*> as_they_are)
      : unit_(unit), as_they_are_(std::move(as_they_are)) {}

  void inline_into(ir::Graph& graph) {
    inline_calls(graph, unit_, [this](const Function& callee) { return get(callee); });
    // What was given says more than the callee's types: other overloads may take that.
    ir::for_each_node(graph.block(), [this](ir::Node& node) {
      if (!node.is(ir::NodeKind::kOperator)) return;
      const std::string_view name = node.op->schema.name.name;
      if (const Overload* const found = overload_taking(unit_, name, node.inputs())) node.op = found->entry;
    });
  }

 private:
  std::shared_ptr<const ir::Graph> get(const Function& function) {
    const auto [place, is_new] = done_.try_emplace(&function, nullptr);
    if (!is_new && place->second != nullptr) return place->second;
    if (!is_new || ++depth_ > kMostDepth) {
      throw Error(ErrorCode::kUnsupported, fmt::format("{} calls itself, or others too deep, to be inlined",
                                                       printable(function.qualified_name())));
    }
    const std::shared_ptr<ir::Graph> graph = function.graph()->copy();
    inline_into(*graph);
    if (!as_they_are_.contains(&function)) {
      simplify_nodes(*graph, unit_);
      propagate_constants(*graph, unit_, unit_.evaluator());
      pool_constants(*graph);
    }
    --depth_;
    done_[&function] = graph;
    return graph;
  }

  static constexpr int kMostDepth = 300;
  const Unit& unit_;
  std::unordered_set<const Function*> as_they_are_;
  std::unordered_map<const Function*, std::shared_ptr<const ir::Graph>> done_;
  int depth_ = 0;
};

FunctionSchema schema_of(const Signature& signature) {
  FunctionSchema schema;
  for (const Argument& argument : signature.arguments) {
    if (argument.is_kwarg_only) {
      throw Error(ErrorCode::kUnsupported, fmt::format("the argument '{}' can be given by its name alone, "
                                                       "which mobile modules do not have",
                                                       printable(argument.name)));
    }
    schema.arguments.push_back({argument.name, annotation_text(argument.type),
                                argument.default_value ? *argument.default_value : IValue()});
  }
  for (const Type& result : signature.returns) schema.returns.push_back({"", annotation_text(result), {}});
  return schema;
}

// Told of each function that is emitted, in order: its name, and its graph with all calls but those through
// interfaces inlined.
using VisitMethod =
    std::function<void(const std::string& name, const Function& function, const ir::Graph& graph)>;

void visit_methods(const Unit& unit, const IValue& module, const VisitMethod& visit) {
  std::deque<Method> left;
  for (const std::shared_ptr<Function>& method : class_of_object(module).methods)
    left.push_back({module, method});
  gather_state_methods(module, left);
  SimplifiedGraphs graphs(unit, run_at_loading(unit, left));
  std::set<std::pair<std::string, const Function*>> done;
  while (!left.empty()) {
    const Method method = std::move(left.front());
    left.pop_front();
    const std::string& owner = class_of_object(method.owner).qualified_name();
    if (!done.insert({owner, method.function.get()}).second) continue;
    const std::string name = fmt::format("{}.{}", owner, method.function->name());
    with_location("method", printable(name), [&] {
      const std::shared_ptr<ir::Graph> graph = method.function->graph()->copy();
      graphs.inline_into(*graph);
      const std::set<std::string> called = called_by_interface(*graph, unit);
      if (!called.empty()) {
        for (const IValue& inner : modules_of(method.owner)) {
          for (const std::shared_ptr<Function>& candidate : class_of_object(inner).methods) {
            if (called.contains(std::string(candidate->name()))) left.push_back({inner, candidate});
          }
        }
      }
      visit(name, *method.function, *graph);
    });
  }
}

std::string full_name(std::string_view name, std::string_view overload) {
  return overload.empty() ? std::string(name) : fmt::format("{}.{}", name, overload);
}

}  // namespace

Program export_program(const Unit& unit, const IValue& module, int64_t version) {
  Program program;
  program.version = version;
  const EmitMode mode = emit_mode(version);
  visit_methods(unit, module, [&](const std::string& name, const Function& function, const ir::Graph& graph) {
    Code code = emit(graph, unit, mode);
    code.name = name;
    code.schema = schema_of(function.signature());
    program.functions.push_back(std::move(code));
  });
  return program;
}

std::vector<std::string> operator_names(const Unit& unit, const IValue& module) {
  std::set<std::string> names;
  const EmitMode mode = emit_mode(8);
  visit_methods(unit, module, [&](const std::string&, const Function&, const ir::Graph& graph) {
    try {
      for (const OperatorUse& use : emit(graph, unit, mode).operators)
        names.insert(full_name(use.name, use.overload));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      // What no bytecode can hold needs its operators all the same.
      visit_nodes(graph, [&](const ir::Node& node) {
        if (!node.is(ir::NodeKind::kOperator)) return;
        names.insert(full_name(node.op->schema.name.name, node.op->schema.name.overload));
      });
    }
  });
  return {names.begin(), names.end()};
}

}  // namespace flambeau::script::bytecode
