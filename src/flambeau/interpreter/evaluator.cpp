#include "flambeau/interpreter/evaluator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/program.h"
#include "flambeau/script/ir/graph.h"
#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

using script::IValue;
using script::ir::Graph;

// A string is as long as a number says: "x".center(1000000000).
constexpr int64_t kMostBesideStrings = 1 << 16;

bool is_modest(std::span<const IValue> inputs) {
  const bool has_string =
      std::ranges::any_of(inputs, [](const IValue& v) { return v.is(IValue::Tag::kString); });
  if (!has_string) return true;
  return std::ranges::none_of(
      inputs, [](const IValue& v) { return v.is(IValue::Tag::kInt) && v.as_int() > kMostBesideStrings; });
}

class OperatorRunner {
 public:
  OperatorRunner(std::shared_ptr<const script::OperatorTable> operators,
                 std::shared_ptr<const ops::Library> library, ThreadPool& pool)
      : operators_(std::move(operators)), library_(std::move(library)), pool_(pool) {}

  std::optional<std::vector<IValue>> run(const OperatorEntry& op, std::span<const IValue> inputs) {
    if (auto known = script::evaluate_operator(op, inputs)) return known;
    if (!is_modest(inputs)) return std::nullopt;
    try {
      Machine machine(program(), pool_);
      const IValue all = machine.call(function_of(op, inputs.size()), {inputs.begin(), inputs.end()});
      return all.items();
    } catch (const std::exception&) {
      // It fails when it runs, not when it is compiled.
      return std::nullopt;
    }
  }

 private:
  // Made when it is first needed: most files leave nothing to compute.
  std::shared_ptr<const Program> program() {
    const std::lock_guard lock(mutex_);
    if (program_ == nullptr)
      program_ = std::make_shared<const Program>(std::make_shared<script::Unit>(operators_), library_);
    return program_;
  }

  // One that applies the operator to its arguments, and gives the results as a tuple.
  std::shared_ptr<script::Function> function_of(const OperatorEntry& op, size_t count) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<script::Function>& made = functions_[{&op, count}];
    if (made != nullptr) return made;
    auto graph = std::make_shared<Graph>();
    graph->set_insert_point(graph->block());
    script::Signature signature;
    signature.name = "evaluate";
    std::vector<script::ir::Value*> values;
    for (size_t i = 0; i < count; ++i) {
      const bool is_declared = i < op.schema.arguments.size();
      const Type type = is_declared ? op.schema.arguments[i].type : Type(TypeKind::kAny);
      values.push_back(graph->block().add_input(type));
      signature.arguments.push_back({"a" + std::to_string(i), TypeKind::kAny, {}});
    }
    script::ir::Node* node = graph->insert(graph->make_operator(op, values));
    script::ir::Node* tuple =
        graph->insert(graph->make(script::ir::NodeKind::kTupleConstruct, node->outputs(), 1));
    std::vector<Type> types;
    for (const script::ir::Value* output : node->outputs()) types.push_back(output->type());
    tuple->output()->set_type(Type::tuple(std::move(types)));
    graph->block().add_output(tuple->output());
    signature.returns = {tuple->output()->type()};
    made = std::make_shared<script::Function>("evaluate", std::move(signature), std::move(graph));
    return made;
  }

  std::shared_ptr<const script::OperatorTable> operators_;
  std::shared_ptr<const ops::Library> library_;
  std::shared_ptr<const Program> program_;
  ThreadPool& pool_;
  std::mutex mutex_;
  std::map<std::pair<const OperatorEntry*, size_t>, std::shared_ptr<script::Function>> functions_;
};

}  // namespace

script::Evaluator make_evaluator(const std::shared_ptr<const script::OperatorTable>& operators,
                                 std::shared_ptr<const ops::Library> library, ThreadPool& pool) {
  auto runner = std::make_shared<OperatorRunner>(operators, std::move(library), pool);
  return
      [runner](const OperatorEntry& op, std::span<const IValue> inputs) { return runner->run(op, inputs); };
}

}  // namespace flambeau::interpreter
