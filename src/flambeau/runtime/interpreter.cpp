#include "flambeau/runtime/interpreter.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/runtime/higher_order.h"
#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {
namespace {

// Graphs in graphs: how deep calls may go. Files are read no deeper, so this is for operators that call
// themselves.
constexpr int kMostDepth = 200;

void store(const Instruction& instruction, std::vector<Value> results, std::vector<Value>& slots) {
  const auto give = [&](Slot slot, Value&& value) {
    if (slot != kNoSlot) slots[slot] = std::move(value);
  };
  // A higher-order operator's results come as a flat list, however the file groups them.
  if (instruction.kind == Instruction::Kind::kHigherOrder) {
    size_t at = 0;
    for (const Target& target : instruction.results) {
      if (target.slots.empty()) ++at;  // None
      for (const Slot slot : target.slots) {
        if (at < results.size()) give(slot, std::move(results[at]));
        ++at;
      }
    }
    return;
  }
  if (results.size() < instruction.results.size()) {
    throw Error(ErrorCode::kCorrupt, fmt::format("the operator gives {} results, the program takes {}",
                                                 results.size(), instruction.results.size()));
  }
  for (size_t i = 0; i < instruction.results.size(); ++i) {
    const Target& target = instruction.results[i];
    if (!target.is_list) {
      if (!target.slots.empty()) give(target.slots[0], std::move(results[i]));
      continue;
    }
    if (auto* const tensors = results[i].get_if<TensorList>()) {
      if (tensors->size() != target.slots.size()) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("the operator gives {} tensors, the program takes {}", tensors->size(),
                                target.slots.size()),
                    "the program was exported for other sizes");
      }
      for (size_t j = 0; j < target.slots.size(); ++j) give(target.slots[j], Value(std::move((*tensors)[j])));
    } else if (const auto* const numbers = results[i].get_if<Dims>()) {
      for (size_t j = 0; j < std::min(numbers->size(), target.slots.size()); ++j)
        give(target.slots[j], Value((*numbers)[j]));
    }
  }
}

}  // namespace

std::vector<Value> Caller::call(ops::Context& context, const ops::Operator& op,
                                std::span<const Value> arguments) {
  return ops::call(context, op, arguments);
}

Value Caller::call(const ops::PythonFunction& function, std::span<const Value> arguments) {
  return function.apply(arguments);
}

std::vector<Value> Caller::call(Interpreter& interpreter, HigherOrderFunction function,
                                const HigherOrderCall& call) {
  if (function != nullptr) return function(interpreter, call);
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the higher-order operator {} is not supported", printable(call.target)),
              "export the model without it, e.g. after run_decompositions()");
}

Caller& Caller::plain() {
  static Caller caller;  // has no state
  return caller;
}

Value Interpreter::value_of(const Source& source, const Slots& slots) const {
  switch (source.kind) {
    case Source::Kind::kConstant:
      return source.constant;
    case Source::Kind::kValue:
      return slots[source.slot];
    case Source::Kind::kGraph:
      return static_cast<int64_t>(source.code);
    default:
      break;
  }
  ValueList items;
  items.reserve(source.items.size());
  for (const Source& item : source.items) items.push_back(value_of(item, slots));
  return graph::join_items(source.kind, std::move(items));
}

std::vector<Value> Interpreter::call_operator(const Instruction& instruction, Slots& slots) {
  const ops::Operator& op = *instruction.op;
  std::vector<Value> arguments;
  arguments.reserve(instruction.arguments.size());
  for (size_t i = 0; i < instruction.arguments.size(); ++i) {
    const Source& source = instruction.arguments[i];
    arguments.push_back(value_of(source, slots));
    // An object is what it is.
    const bool is_fitted = source.kind == Source::Kind::kConstant || arguments.back().is_tensor() ||
                           arguments.back().is<Object>();
    if (!is_fitted) {
      arguments.back() = ops::fit_argument(op.schema, i, arguments.back());
    }
  }
  std::vector<Value> results = caller_.call(context_, op, arguments);
  if (profile_ != nullptr) {
    TensorList outputs;
    for (const Value& result : results)
      for_each_tensor(result, [&](const Tensor& tensor) { outputs.push_back(tensor); });
    work_ = work_of(op, arguments, outputs);
  }
  // Changes the shape of the argument itself: squeeze_, detach_.
  if (op.kind == ops::Kind::kInPlace && op.base->kind == ops::Kind::kView &&
      instruction.arguments[0].kind == Source::Kind::kValue) {
    slots[instruction.arguments[0].slot] = results[0];
  }
  return results;
}

std::vector<Value> Interpreter::call_python(const Instruction& instruction, const Slots& slots) {
  std::vector<Value> arguments;
  for (const Source& source : instruction.arguments) arguments.push_back(value_of(source, slots));
  context_.step();
  return {caller_.call(*instruction.function, arguments)};
}

std::vector<Value> Interpreter::call_higher_order(const Code& code, const Instruction& instruction,
                                                  const Slots& slots) {
  context_.step();
  HigherOrderCall call{
      .target = instruction.node->target.name(), .names = instruction.names, .arguments = {}, .graphs = {}};
  for (const Source& source : instruction.arguments) {
    call.graphs.push_back(source.kind == Source::Kind::kGraph ? code.subgraphs[source.code].get() : nullptr);
    call.arguments.push_back(value_of(source, slots));
  }
  return caller_.call(*this, instruction.higher_order, call);
}

void Interpreter::run_one(const Code& code, const Instruction& instruction, Slots& slots) {
  if (on_node) on_node(*instruction.node);
  try {
    switch (instruction.kind) {
      case Instruction::Kind::kOperator:
        store(instruction, call_operator(instruction, slots), slots);
        break;
      case Instruction::Kind::kPythonFunction:
        store(instruction, call_python(instruction, slots), slots);
        break;
      case Instruction::Kind::kHigherOrder:
        store(instruction, call_higher_order(code, instruction, slots), slots);
        break;
      case Instruction::Kind::kMissing:
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("there is no operator {}", printable(instruction.node->target.text())),
                    "supply it: Library::add in C++, or a library of operators with --operators FILE.so");
    }
  } catch (Error& error) {
    error.add_location("node", std::string(instruction.node->label()));
    throw;
  }
  for (const Slot slot : instruction.last_uses) slots[slot] = Value();
}

std::vector<Value> Interpreter::run(const Code& code, std::vector<Value> inputs) {
  if (inputs.size() != code.inputs.size()) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("a graph of {} inputs is given {}", code.inputs.size(), inputs.size()));
  }
  if (++depth_ > kMostDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("graphs call each other more than {} deep", kMostDepth));
  }
  Slots slots(code.slot_count);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (code.inputs[i] != kNoSlot) slots[code.inputs[i]] = std::move(inputs[i]);
  }
  const bool is_timed = profile_ != nullptr && depth_ == 1;
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    if (is_timed) {
      work_ = {};
      profile_->measure(i, [&] { run_one(code, code.instructions[i], slots); });
      profile_->set_work(i, work_.bytes, work_.flops);
    } else {
      run_one(code, code.instructions[i], slots);
    }
  }
  std::vector<Value> outputs;
  outputs.reserve(code.outputs.size());
  for (const Source& output : code.outputs) outputs.push_back(value_of(output, slots));
  --depth_;
  return outputs;
}

}  // namespace flambeau::runtime
