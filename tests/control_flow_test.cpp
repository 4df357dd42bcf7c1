// Branches and loops of models written in C++: what they compute, the programs they become, what those
// compute, and what is refused. Equality with PyTorch is for tests/interop/export.
#include <gtest/gtest.h>

#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/nn.h"
#include "flambeau/program.h"
#include "flambeau/runtime.h"
#include "support/exported.h"

namespace flambeau {
namespace {

DynamicShapes free_rows() {
  return DynamicShapes::by_name({{"x", ShapeSpec(std::map<int64_t, Dim>{{0, Dim("rows")}})}});
}

// Exports the function, and checks that the program gives what the function gives, for each of the inputs;
// again after it was a module once more, and after it was taken apart.
template <typename Forward>
std::string check(const Tensor& example, const DynamicShapes& shapes, const std::vector<Tensor>& inputs,
                  Forward forward) {
  Function<Forward> module(forward);
  const nn::Tree arguments[] = {nn::to_tree(example)};
  ExportOptions options;
  options.dynamic = shapes;
  std::vector<graph::ExportedProgram> programs;
  programs.push_back(export_program(module, arguments, {}, options));
  const auto again = make_module(programs[0].clone());
  programs.push_back(export_program(*again, arguments, {}, options));
  programs.push_back(run_decompositions(programs[0]));
  const std::string text = graph::to_text(programs[0]);
  for (graph::ExportedProgram& program : programs) {
    EXPECT_TRUE(graph::verify(program).empty()) << graph::to_text(program);
    Program runnable(std::move(program));
    for (const Tensor& input : inputs) {
      const Tensor result = runnable.run(std::vector<Value>{input}).at(0).tensor();
      EXPECT_EQ(numbers(result), numbers(module(input))) << graph::to_text(runnable.exported());
    }
  }
  for (const Tensor& input : inputs) {
    const nn::Tree given[] = {nn::to_tree(input)};
    EXPECT_EQ(numbers(again->call(given, {}).leaves.at(0).tensor()), numbers(module(input)));
  }
  return text;
}

template <typename Forward>
std::string error_of(Forward forward) {
  Function<Forward> module(forward);
  const nn::Tree arguments[] = {nn::to_tree(nn::ones({3, 2}))};
  return error_text([&] { export_program(module, arguments); });
}

TEST(ControlFlow, CondTakesTheBranchThatDataChooses) {
  nn::Session session;
  nn::Linear linear(2, 2);
  const Tensor up = nn::ones({3, 2});
  const Tensor down = up * -1;
  const std::string text = check(up, {}, {up, down}, [&](const Tensor& x) {
    const Tensor twice = x * 2;
    return nn::cond(
        nn::gt(nn::sum(x), 0), [&](const Tensor& a) { return nn::sin(a) + twice; },
        [&](const Tensor& a) { return a - 1; }, x);
  });
  expect_in("torch.ops.higher_order.cond(gt, true_graph_0, false_graph_0", text);
}

TEST(ControlFlow, CondMayAskForSizes) {
  nn::Session session;
  const std::string text =
      check(nn::ones({5, 2}), free_rows(), {nn::ones({5, 2}), nn::ones({3, 2}), nn::ones({9, 2})},
            [](const Tensor& x) {
              return nn::cond(
                  nn::gt(nn::size(x, 0), 4), [](const Tensor& a) { return a * nn::size(a, 0); },
                  [](const Tensor& a) { return a + 1; }, x);
            });
  expect_in("cond", text);
}

TEST(ControlFlow, CondsLieInsideEachOther) {
  nn::Session session;
  const Tensor x = nn::ones({2, 2});
  check(x, {}, {x, x * 5, x * -1}, [](const Tensor& given) {
    const Tensor sum = nn::sum(given);
    const auto inner = [&](const Tensor& a) {
      return nn::cond(
          nn::gt(sum, 10), [&](const Tensor& b) { return b * sum; }, [](const Tensor& b) { return b + 2; },
          a);
    };
    return nn::cond(nn::gt(sum, 0), inner, [](const Tensor& a) { return a * 3; }, given);
  });
}

TEST(ControlFlow, WhileLoopRunsAsLongAsDataSays) {
  nn::Session session;
  const Tensor x = nn::ones({2, 3});
  const std::string text = check(x, {}, {x, x * 4, x * 100}, [](const Tensor& given) {
    const Tensor most = nn::sum(given) + 50;
    const auto [count, value] = nn::while_loop(
        [&](const Tensor& i, const Tensor& a) { return nn::lt(nn::sum(a) + i, most); },
        [&](const Tensor& i, const Tensor& a) { return std::tuple(i + 1, a * 2); }, nn::zeros({}), given);
    return value + count;
  });
  expect_in("torch.ops.higher_order.while_loop(while_loop_cond_graph_0, while_loop_body_graph_0", text);
}

TEST(ControlFlow, MapGoesThroughRows) {
  nn::Session session;
  nn::Linear linear(2, 2);
  const Tensor bias = nn::ones({2});
  check(nn::ones({4, 2}), free_rows(), {nn::ones({4, 2}), nn::ones({7, 2})}, [&](const Tensor& x) {
    return nn::map([&](const Tensor& row, const Tensor& b) { return nn::cos(row) + b * bias; }, x, bias);
  });
}

TEST(ControlFlow, WhatIsKnownIsFollowed) {
  nn::Session session;
  const Tensor x = nn::ones({3, 2});
  const std::string text = check(x, {}, {x}, [](const Tensor& given) {
    return nn::cond(
        nn::gt(nn::size(given, 0), 2), [](const Tensor& a) { return nn::cos(a); },
        [](const Tensor& a) { return nn::sin(a); }, given);
  });
  EXPECT_EQ(text.find("cond"), std::string::npos) << text;
}

TEST(ControlFlow, SaysWhatBranchesMayNot) {
  nn::Session session;
  const auto plus = [](const Tensor& a) { return a + 1; };
  expect_in("result 0 of the function of true_graph_0 is one of its inputs, or a view of one",
            error_of([&](const Tensor& x) {
              return nn::cond(nn::gt(nn::sum(x), 0), [](const Tensor& a) { return a; }, plus, x);
            }));
  expect_in("is one of its inputs, or a view of one", error_of([&](const Tensor& x) {
              return nn::cond(
                  nn::gt(nn::sum(x), 0), [](const Tensor& a) { return nn::transpose(a, 0, 1); },
                  [](const Tensor& a) { return nn::transpose(a, 0, 1) + 1; }, x);
            }));
  expect_in("writes to a tensor that comes from outside", error_of([&](const Tensor& x) {
              return nn::cond(
                  nn::gt(nn::sum(x), 0),
                  [](const Tensor& a) {
                    nn::add_(a, 1);
                    return a * 2;
                  },
                  plus, x);
            }));
  expect_in("the branches of cond give different tensors as result 0", error_of([&](const Tensor& x) {
              return nn::cond(
                  nn::gt(nn::sum(x), 0), [](const Tensor& a) { return nn::to(a, DType::kInt64); }, plus, x);
            }));
  expect_in("it takes one with a single element",
            error_of([&](const Tensor& x) { return nn::cond(nn::gt(x, 0), plus, plus, x); }));
  expect_in("what is carried along keeps its type and its sizes", error_of([&](const Tensor& x) {
              const auto [y] =
                  nn::while_loop([](const Tensor& a) { return nn::gt(nn::sum(a), 0); },
                                 [](const Tensor& a) { return std::tuple(nn::sum(a, {0}) - 1); }, x);
              return y;
            }));
}

TEST(ControlFlow, RunsWithoutATracer) {
  nn::Session session;
  const Tensor x = nn::ones({2});
  const Tensor chosen = nn::cond(
      nn::gt(nn::sum(x), 5), [](const Tensor& a) { return a * 2; }, [](const Tensor& a) { return a - 1; }, x);
  EXPECT_EQ(numbers(chosen), (std::vector<float>{0, 0}));
  const auto [y] = nn::while_loop([](const Tensor& a) { return nn::lt(nn::sum(a), 9); },
                                  [](const Tensor& a) { return std::tuple(a * 2); }, x);
  EXPECT_EQ(numbers(y), (std::vector<float>{8, 8}));
  const auto [doubled, sums] = nn::map(
      [](const Tensor& row) {
        const Tensor twice = row * 2;
        return std::tuple(twice, nn::sum(twice));
      },
      nn::ones({2, 3}));
  EXPECT_EQ(numbers(doubled), std::vector<float>(6, 2));
  EXPECT_EQ(numbers(sums), (std::vector<float>{6, 6}));
}

}  // namespace
}  // namespace flambeau
