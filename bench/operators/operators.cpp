// The C++ side of bench/operators: calls of single operators, each in a loop.
//
//   bench_operators CALLS.json TENSORS.pt THREADS
//
// CALLS.json is a list of {"op": "aten::add.Tensor", "args": [...], "kwargs": {...}}, {"tensor": KEY} is a
// tensor of the file. For each line "NUMBER COUNT" that it reads it calls the operator of that number COUNT
// times, and says how many seconds that took, or why it cannot.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/json.h"
#include "flambeau/nn.h"
#include "flambeau/operators.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau {
namespace {

// In memory of its own, as a program's tensors lie: those of the file are in a mapping, of small pages.
Tensor own(const Tensor& tensor, ops::Context& context) {
  return ops::call(context, context.library().get("aten::clone"), std::vector<Value>{tensor, Value()})
      .at(0)
      .tensor();
}

Value to_value(const json::Value& said, const Checkpoint& tensors, ops::Context& context) {
  if (said.is_null()) return {};
  if (said.is_bool()) return said.as_bool();
  if (said.is_integer()) return said.as_int();
  if (said.is_double()) return said.as_double();
  if (said.is_string()) return said.as_string();
  if (!said.is_array()) return own(*tensors.find(said.find("tensor")->as_string()), context);
  ValueList items;
  for (const json::Value& item : said.as_array()) items.push_back(to_value(item, tensors, context));
  const auto is_tensor = [](const Value& item) { return item.is_tensor(); };
  if (std::ranges::any_of(items, is_tensor)) {
    TensorList list;
    for (const Value& item : items) list.push_back(item.is_none() ? Tensor() : item.tensor());
    return list;
  }
  if (!std::ranges::all_of(items, [](const Value& item) { return item.is<int64_t>(); })) return items;
  Dims numbers;
  for (const Value& item : items) numbers.push_back(item.get<int64_t>());
  return numbers;
}

struct Call {
  const ops::Operator* op = nullptr;
  std::vector<Value> arguments;
};

Call to_call(const json::Value& said, const Checkpoint& tensors, ops::Context& context) {
  Call call;
  call.op = &context.library().get(said.find("op")->as_string());
  std::vector<Value> positional;
  for (const json::Value& item : said.find("args")->as_array())
    positional.push_back(to_value(item, tensors, context));
  KeywordArguments keywords;
  for (const auto& [name, item] : said.find("kwargs")->as_object())
    keywords.emplace_back(name, to_value(item, tensors, context));
  call.arguments = ops::bind_arguments(call.op->schema, positional, keywords);
  return call;
}

// Of the processor where one thread works, so that others on the machine do not count; else of the clock.
double now(int threads) {
  if (threads == 1) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds_of(ops::Context& context, const Call& call, int64_t count, int threads) {
  const double start = now(threads);
  for (int64_t i = 0; i < count; ++i) ops::call(context, *call.op, call.arguments);
  return now(threads) - start;
}

int run(const char* calls_file, const char* tensors_file, int threads) {
  std::stringstream text;
  text << std::ifstream(calls_file).rdbuf();
  const json::Value calls = json::parse(text.str());
  const Checkpoint tensors = load_checkpoint(tensors_file);
  nn::Session session({.threads = threads});
  Call call;
  int64_t of = -1;
  int64_t number = 0;
  int64_t count = 0;
  while (std::cin >> number >> count) {
    try {
      if (number != of) {
        call = to_call(calls.as_array().at(static_cast<size_t>(number)), tensors, session.context());
        of = number;
      }
      fmt::print("{:.9f}\n", seconds_of(session.context(), call, count, threads));
    } catch (const std::exception& error) {
      fmt::print("error: {}\n", error.what());
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace flambeau

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: bench_operators CALLS.json TENSORS.pt THREADS\n");
    return 2;
  }
  return flambeau::run(argv[1], argv[2], std::stoi(argv[3]));
}
