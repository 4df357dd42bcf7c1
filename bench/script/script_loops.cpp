// What a turn of a loop costs in the machine that runs TorchScript: numbers, a small tensor, lists and dicts.
// loops.py measures the same in PyTorch.
#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "flambeau/interpreter/machine.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;
using script::IValue;

struct Case {
  const char* name;
  const char* text;
  int64_t turns;
  IValue argument;
};

constexpr const char* kNumbers = R"(graph(%n : int, %x : int):
  %true : bool = prim::Constant[value=True]()
  %zero : int = prim::Constant[value=0]()
  %three : int = prim::Constant[value=3]()
  %sum : int = prim::Loop(%n, %true, %zero)
    block0(%i : int, %s : int):
      %a : int = aten::mul.int(%i, %three)
      %b : int = aten::add.int(%s, %a)
      -> (%true, %b)
  return (%sum)
)";
constexpr const char* kFloats = R"(graph(%n : int, %x : float):
  %true : bool = prim::Constant[value=True]()
  %half : float = prim::Constant[value=0.5]()
  %sum : float = prim::Loop(%n, %true, %x)
    block0(%i : int, %s : float):
      %a : float = aten::mul.float(%s, %half)
      %b : float = aten::add.float(%a, %half)
      -> (%true, %b)
  return (%sum)
)";
constexpr const char* kTensor = R"(graph(%n : int, %x : Tensor):
  %true : bool = prim::Constant[value=True]()
  %one : int = prim::Constant[value=1]()
  %sum : Tensor = prim::Loop(%n, %true, %x)
    block0(%i : int, %s : Tensor):
      %b : Tensor = aten::add.Tensor(%s, %x, %one)
      -> (%true, %b)
  return (%sum)
)";
constexpr const char* kList = R"(graph(%n : int, %x : int):
  %true : bool = prim::Constant[value=True]()
  %zero : int = prim::Constant[value=0]()
  %l : int[] = prim::ListConstruct()
  %sum : int = prim::Loop(%n, %true, %zero)
    block0(%i : int, %s : int):
      %m : int[] = aten::append.t(%l, %i)
      %v : int = aten::__getitem__.t(%l, %i)
      %b : int = aten::add.int(%s, %v)
      -> (%true, %b)
  return (%sum)
)";
constexpr const char* kDict = R"(graph(%n : int, %x : int):
  %true : bool = prim::Constant[value=True]()
  %hundred : int = prim::Constant[value=100]()
  %d : Dict(str, int) = prim::DictConstruct()
  prim::Loop(%n, %true)
    block0(%i : int):
      %r : int = aten::remainder.int(%i, %hundred)
      %k : str = aten::str(%r)
      aten::_set_item.str(%d, %k, %i)
      -> (%true)
  %size : int = aten::len.Dict_str(%d)
  return (%size)
)";

}  // namespace

int main() {
  const auto schemas = std::make_shared<const SchemaTable>();
  const auto operators = std::make_shared<const script::OperatorTable>(schemas);
  const auto unit = std::make_shared<script::Unit>(operators);
  const auto program =
      std::make_shared<const interpreter::Program>(unit, std::make_shared<const ops::Library>());
  ThreadPool pool(1);
  interpreter::Machine machine(program, pool);
  const int64_t one[] = {1};
  const Case cases[] = {
      {"numbers (mul + add)", kNumbers, 3'000'000, 0},
      {"floats (mul + add)", kFloats, 3'000'000, 1.0},
      {"tensor of one element (add)", kTensor, 300'000, Tensor::zeros(DType::kFloat32, one)},
      {"list (append, index, add)", kList, 1'000'000, 0},
      {"dict of strings", kDict, 1'000'000, 0}};
  for (const Case& each : cases) {
    const std::shared_ptr<script::ir::Graph> graph = script::ir::parse_graph(each.text, *schemas);
    script::Signature signature;
    for (const script::ir::Value* const input : graph->inputs())
      signature.arguments.push_back({.name = input->name(), .type = input->type()});
    signature.returns = {graph->outputs()[0]->type()};
    const auto function = std::make_shared<script::Function>("f", signature, graph);
    machine.call(function, {each.turns / 10, each.argument});
    double best = 1e9;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      machine.call(function, {each.turns, each.argument});
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      best = std::min(best, took.count() / static_cast<double>(each.turns));
    }
    std::cout << fmt::format("{:30} {:8.1f} ns a turn\n", each.name, best);
  }
  return 0;
}
