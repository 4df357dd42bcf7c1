// Makes the calls of builtin_cases.py and compares what they give:
//   script_builtins CASES.pt [--show NAME]
//   script_builtins --missing    operators that nothing runs
// Prints the operators that differ, and totals.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <set>

#include "call_compare.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/torchscript/value_reader.h"
#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;
using script::IValue;
namespace ir = script::ir;

struct Judge {
  std::shared_ptr<const SchemaTable> schemas = std::make_shared<const SchemaTable>();
  std::shared_ptr<const script::Unit> unit =
      std::make_shared<script::Unit>(std::make_shared<const script::OperatorTable>(schemas));
  std::shared_ptr<const interpreter::Program> program =
      std::make_shared<const interpreter::Program>(unit, std::make_shared<const ops::Library>());
  mutable ThreadPool pool{1};

  // A graph of the one operator, that gives its results and the inputs it wrote.
  std::shared_ptr<script::Function> function_of(const IValue& call) const {
    const OperatorEntry& entry = schemas->get(parse_operator_name(member(call, "op").as_string()));
    auto graph = std::make_shared<ir::Graph>();
    script::Signature signature;
    std::vector<ir::Value*> inputs;
    for (const IValue& type : member(call, "types").items()) {
      const std::string name = fmt::format("a{}", inputs.size());
      inputs.push_back(graph->block().add_input(parse_type(type.as_string()), name));
      signature.arguments.push_back({.name = name, .type = inputs.back()->type()});
    }
    const ir::Node* const node = graph->insert(graph->make_operator(entry, inputs));
    std::vector<ir::Value*> results(node->outputs().begin(), node->outputs().end());
    for (const IValue& index : member(call, "written").items())
      results.push_back(inputs.at(static_cast<size_t>(index.as_int())));
    ir::Node* const tuple = graph->insert(graph->make(ir::NodeKind::kTupleConstruct, results));
    tuple->output()->set_type(Type::tuple({}));
    graph->block().add_output(tuple->output());
    return std::make_shared<script::Function>("f", signature, graph);
  }
  static const IValue& member(const IValue& dict, const char* name) {
    const IValue* const found = dict.as_dict().items.find(IValue(name));
    if (found == nullptr) throw Error(ErrorCode::kNotFound, fmt::format("a case without {}", name));
    return *found;
  }

  // Empty when it is right.
  std::string judge(const IValue& call) const {
    const IValue* const expected = call.as_dict().items.find(IValue("result"));
    interpreter::Machine machine(program, pool);
    IValue result;
    try {
      result = machine.call(function_of(call), member(call, "args").items());
    } catch (const Error& error) {
      return expected == nullptr ? "" : fmt::format("error: {}", error.message());
    }
    if (expected == nullptr) return "no error: " + member(call, "error").as_string();
    return torchscript_calls::difference(result, *expected);
  }
};

// Operators that a script may call and nothing runs.
int list_missing() {
  const SchemaTable schemas;
  const ops::Library library;
  const interpreter::Builtins builtins;
  std::set<std::string> missing;
  for (const OperatorName& name : schemas.names()) {
    if (builtins.find(name.to_string()) == nullptr && library.find(name) == nullptr)
      missing.insert(name.to_string());
  }
  for (const std::string& name : missing) std::cout << name << "\n";
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  if (std::string_view(arguments[1]) == "--missing") return list_missing();
  const std::string shown = count > 3 ? arguments[3] : "";
  const auto records = std::make_shared<RecordArchive>(RecordArchive::open(Mapping::open(arguments[1])));
  const TorchFile file = read_torch_zip(records, "data.pkl", "data");
  const Judge judge;
  script::KeptStates kept;
  const script::LoadHooks hooks;
  script::ValueReader reader(*judge.unit, hooks, 10, kept);
  const IValue cases = reader.read(*file.tree.root(), *file.source);
  size_t right = 0;
  std::map<std::string, std::pair<size_t, std::string>> wrong;
  for (const IValue& call : cases.items()) {
    const std::string op = Judge::member(call, "op").as_string();
    std::string difference;
    try {
      difference = judge.judge(call);
    } catch (const std::exception& error) {
      difference = error.what();
    }
    if (difference.empty()) {
      ++right;
      continue;
    }
    auto& [times, first] = wrong[op];
    if (times++ == 0) first = difference;
    if (!shown.empty() && op.find(shown) != std::string::npos)
      std::cout << fmt::format("{}: {} {}\n", op, difference, ir::to_text(Judge::member(call, "args")));
  }
  for (const auto& [op, seen] : wrong)
    std::cout << fmt::format("{:4} {}: {}\n", seen.first, op, printable(seen.second, 300));
  std::cout << fmt::format("{} of {} calls are right\n", right, cases.items().size());
  return wrong.empty() ? 0 : 1;
}
