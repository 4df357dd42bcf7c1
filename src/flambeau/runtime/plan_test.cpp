// Plans of small programs, after each pass that makes them.
#include "flambeau/runtime/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

#include "flambeau/base/parallel.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/kernels/onednn/onednn.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/passes/effects.h"
#include "flambeau/runtime/layers/packed_weights.h"
#include "flambeau/runtime/memory.h"
#include "flambeau/runtime/workspace.h"
#include "flambeau/tensor/elements/compare.h"

namespace flambeau::runtime {
namespace {

// The program whose body this is. Its outputs are those it returns; names that begin with c_ stay the same in
// all runs.
graph::ExportedProgram parse(const std::string& arguments, const std::string& body) {
  std::string text =
      "#| flambeau text 1\nExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def "
      "forward(self, " +
      arguments + "):\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);)
    text += "            " + line.substr(std::min(line.find_first_not_of(' '), line.size())) + "\n";
  return graph::parse_text(
      text +
      "    \nGraph signature: \n    # inputs\n    \n    # outputs\n    \nRange constraints: {}\n"
      "Schema version: 8.20\n");
}

// How a plan reads: x are the run's inputs, y what it gives, a its own memory; c are constants.
class Reading {
 public:
  explicit Reading(const Plan& plan) : plan_(plan) {
    for (const Step& step : plan.steps) {
      std::string line = step.name();
      line = line.substr(line.find("::") == std::string::npos ? 0 : line.find("::") + 2) + "(";
      for (size_t i = 0; i < step.arguments.size(); ++i)
        line += (i == 0 ? "" : ", ") + name(step.arguments[i]);
      line += ")";
      for (size_t i = 0; i < step.outputs.size(); ++i)
        line += (i == 0 ? " -> " : ", ") + name(Value(step.outputs[i]));
      lines.push_back(line);
    }
    std::string last = "gives";
    for (const Value& output : plan.outputs) last += " " + name(output);
    lines.push_back(last);
  }

  std::vector<std::string> lines;

 private:
  std::string name(const Value& value) {
    if (const auto* const list = value.get_if<TensorList>()) {
      std::string text = "[";
      for (const Tensor& tensor : *list) text += (text.size() == 1 ? "" : ", ") + name(Value(tensor));
      return text + "]";
    }
    const Tensor* const tensor = value.get_if<Tensor>();
    if (tensor == nullptr) return value.summary();
    if (!tensor->defined()) return "None";
    const std::optional<size_t> buffer = plan_.find_buffer(*tensor);
    if (!buffer) return tensor->dim() == 0 && tensor->dtype() != DType::kFloat32 ? "n" : "c";
    const auto kind = plan_.buffers[*buffer].kind;
    const char letter = kind == Buffer::Kind::kArena ? 'a' : kind == Buffer::Kind::kInput ? 'x' : 'y';
    const auto [found, is_new] = numbers_.try_emplace(*buffer, counts_[letter]);
    if (is_new) ++counts_[letter];
    return letter + std::to_string(found->second);
  }

  const Plan& plan_;
  std::map<size_t, int> numbers_;
  std::map<char, int> counts_;
};

class Plans : public ::testing::Test {
 protected:
  // The plan after the pass of that name; after writing down alone for none.
  std::vector<std::string> plan_of(const std::string& arguments, const std::string& body,
                                   std::string_view last = "") {
    program = parse(arguments, body);
    std::vector<MissingOperator> missing;
    code = lower(program.graph(), library, missing);
    EXPECT_TRUE(missing.empty());
    std::vector<PlanInput> inputs;
    for (const graph::Argument& input : program.graph().inputs()) {
      const graph::TensorMeta& meta = *input.value()->tensor();
      Dims sizes;
      for (const graph::SymInt& size : meta.sizes) sizes.push_back(size.literal());
      Tensor tensor = Tensor::zeros(meta.dtype, sizes);
      if (meta.dtype == DType::kFloat32) {
        for (int64_t i = 0; i < tensor.element_count(); ++i)
          tensor.mutable_data<float>()[i] = 0.25F * static_cast<float>(i % 7) - 0.5F;
      }
      given.push_back(tensor);
      inputs.push_back({Value(tensor), input.value()->name().starts_with("c_")});
    }
    const std::vector<bool> written = passes::written_inputs(program.graph(), library);
    plan = record_plan(context, *code, written, inputs);
    for (const PlanPass& pass : plan_passes()) {
      if (last.empty()) break;
      pass.run(context, *plan, packed);
      if (pass.name == last) break;
    }
    return Reading(*plan).lines;
  }

  // What a run of the finished plan gives, as its first output.
  Tensor run() {
    std::vector<const Tensor*> inputs;
    for (const Tensor& tensor : given) inputs.push_back(&tensor);
    Workspace workspace(*plan);
    return workspace.run(context, inputs).at(0).tensor();
  }

  using Lines = std::vector<std::string>;
  ops::Library library;
  ThreadPool pool{1};
  ops::Context context{library, pool};
  graph::ExportedProgram program;
  std::unique_ptr<Code> code;
  std::unique_ptr<Plan> plan;
  PackedWeights packed;
  std::vector<Tensor> given;
};

const std::string kX = "x: \"f32[4]\"";

TEST_F(Plans, CallsAreWrittenDownInOrder) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                           b: "f32[4]" = torch.ops.aten.mul.Tensor(a, x)
                           return (b,))"),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, x0) -> a1", "gives a1"}));
}

TEST_F(Plans, ViewsAreNoSteps) {
  EXPECT_EQ(plan_of("x: \"f32[2, 2]\"", R"(a: "f32[2, 2]" = torch.ops.aten.t.default(x)
                                           b: "f32[4]" = torch.ops.aten.slice.Tensor(a, 0, 0, 1)
                                           c: "f32[1, 2]" = torch.ops.aten.neg.default(b)
                                           return (c,))"),
            (Lines{"neg(x0) -> a0", "gives a0"}));
  EXPECT_EQ(plan->steps[0].arguments[0].tensor().strides(), (Dims{1, 2}));
}

TEST_F(Plans, CompositesAreTheirParts) {
  EXPECT_EQ(plan_of("x: \"f32[4]\", y: \"f32[4]\"", R"(a: "f32[]" = torch.ops.aten.mse_loss.default(x, y)
                                                        return (a,))"),
            (Lines{"sub.Tensor(x0, x1, 1) -> a0", "pow.Tensor_Scalar(a0, 2) -> a1", "mean(a1, None) -> a2",
                   "gives a2"}));
}

TEST_F(Plans, WhatIsKnownIsComputedNow) {
  EXPECT_EQ(plan_of("c_w: \"f32[4]\", " + kX, R"(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_w, 2)
                                                 b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                                 return (b,))"),
            (Lines{"add.Tensor(x0, c, 1) -> a0", "gives a0"}));
  EXPECT_EQ(plan_of(kX, R"(a: "i64[4]" = torch.ops.aten.arange.default(4)
                           b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                           return (b,))"),
            (Lines{"add.Tensor(x0, c, 1) -> a0", "gives a0"}));
}

TEST_F(Plans, InPlaceWritesToTheSameMemory) {
  const std::string body = R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              b: "f32[4]" = torch.ops.aten.mul_.Tensor(a, 2)
                              c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                              return (c,))";
  EXPECT_EQ(plan_of(kX, body),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, n) -> a0", "add.Tensor(a0, a0, 1) -> a1", "gives a1"}));
  // Which becomes memory of its own: whoever reads it reads what was written last.
  EXPECT_EQ(plan_of(kX, body, "split rewritten buffers"),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, n) -> a1", "add.Tensor(a1, a1, 1) -> a2", "gives a2"}));
}

TEST_F(Plans, APartThatIsWrittenStaysWhereItIs) {
  const std::string body = R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                              b: "f32[2]" = torch.ops.aten.mul_.Tensor(v, 2)
                              return (a,))";
  EXPECT_EQ(plan_of(kX, body, "split rewritten buffers"),
            (Lines{"sin(x0) -> a0", "mul.Tensor(a0, n) -> a0", "gives a0"}));
}

TEST_F(Plans, InputsThatAreWrittenAreCopied) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.add_.Tensor(x, 1)
                           b: "f32[4]" = torch.ops.aten.sin.default(x)
                           return (b,))",
                    "mark outputs"),
            (Lines{"clone(x0, None) -> a0", "add.Tensor(a0, n, 1) -> y0", "sin(y0) -> y1", "gives y1 y0"}));
}

TEST_F(Plans, WhatLeavesIsNobodysMemory) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                           v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                           b: "f32[4]" = torch.ops.aten.cos.default(a)
                           return (v, x))",
                    "mark outputs"),
            (Lines{"sin(x0) -> y0", "cos(y0) -> a0", "gives y0 x0"}));
}

TEST_F(Plans, WhatNobodyReadsIsDropped) {
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                           b: "f32[4]" = torch.ops.aten.cos.default(a)
                           c: "f32[4]" = torch.ops.aten.neg.default(x)
                           return (c,))",
                    "drop unread steps"),
            (Lines{"neg(x0) -> y0", "gives y0"}));
  // Numbers that are drawn later would be others.
  EXPECT_EQ(plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.rand_like.default(x)
                           c: "f32[4]" = torch.ops.aten.neg.default(x)
                           return (c,))",
                    "drop unread steps")
                .size(),
            3U);
  EXPECT_EQ(plan_of("x: \"f32[2, 4]\"", R"(topk = torch.ops.aten.topk.default(x, 2)  #| (self, k); -> items
                                           v: "f32[2, 2]" = topk[0]  #| item
                                           i: "i64[2, 2]" = topk[1]  #| item
                                           return (i,))",
                    "drop unread steps"),
            (Lines{"topk(x0, 2, -1, True, True) -> a0, y0", "gives y0"}));
}

TEST_F(Plans, ProductsTakeWhatFollowsThem) {
  if (!kernels::onednn::available()) GTEST_SKIP() << "without oneDNN";
  const std::string arguments = "c_w: \"f32[3, 4]\", c_b: \"f32[3]\", x: \"f32[2, 4]\"";
  const std::string body = R"(a: "f32[2, 3]" = torch.ops.aten.linear.default(x, c_w, c_b)
                              b: "f32[2, 3]" = torch.ops.aten.relu.default(a)
                              c: "f32[2, 3]" = torch.ops.aten.sin.default(b)
                              return (c,))";
  const Lines lines = plan_of(arguments, body, "prepare products");
  ASSERT_EQ(lines.size(), 3U) << ::testing::PrintToString(lines);
  EXPECT_NE(plan->steps[0].prepared, nullptr);
  EXPECT_EQ(plan->steps[1].name(), "aten::sin");
  place_buffers(*plan);
  const Tensor prepared = run();
  const Tensor plain = ops::call(
      context, "aten::sin",
      ops::call(context, "aten::relu", ops::call(context, "aten::linear", given[2], given[0], given[1])));
  EXPECT_LT(compare(prepared, plain).max_abs, 1e-6);
}

TEST_F(Plans, AProductThatTwoReadIsNotChanged) {
  const std::string arguments = "c_w: \"f32[3, 4]\", x: \"f32[2, 4]\"";
  plan_of(arguments, R"(a: "f32[2, 3]" = torch.ops.aten.linear.default(x, c_w)
                        b: "f32[2, 3]" = torch.ops.aten.relu.default(a)
                        c: "f32[2, 3]" = torch.ops.aten.add.Tensor(a, b)
                        return (c,))",
          "place buffers");
  const Tensor product = ops::call(context, "aten::linear", given[1], given[0]);
  const Tensor plain =
      ops::call(context, "aten::add.Tensor", product, ops::call(context, "aten::relu", product));
  EXPECT_LT(compare(run(), plain).max_abs, 1e-6);
}

TEST_F(Plans, ConvolutionsTakeBatchNormalization) {
  if (!kernels::onednn::available()) GTEST_SKIP() << "without oneDNN";
  const std::string arguments =
      "c_w: \"f32[4, 3, 3, 3]\", c_g: \"f32[4]\", c_b: \"f32[4]\", c_m: \"f32[4]\", c_v: \"f32[4]\", x: "
      "\"f32[1, 3, 8, 8]\"";
  const Lines lines = plan_of(arguments,
                              R"(a: "f32[1, 4, 6, 6]" = torch.ops.aten.conv2d.default(x, c_w)
                                 v: "f32[4]" = torch.ops.aten.abs.default(c_v)
                                 b: "f32[1, 4, 6, 6]" = torch.ops.aten.batch_norm.default(a, c_g, c_b, c_m, v, False, 0.1, 1e-05, True)
                                 c: "f32[1, 4, 6, 6]" = torch.ops.aten.relu.default(b)
                                 return (c,))",
                              "place buffers");
  size_t layers = 0;
  for (const Step& step : plan->steps) {
    layers += step.name().ends_with("conv2d + batch_norm + relu") ? 1 : 0;
    EXPECT_TRUE(step.prepared != nullptr || step.name() == "aten::clone") << ::testing::PrintToString(lines);
  }
  EXPECT_EQ(layers, 1U) << ::testing::PrintToString(lines);
  const Tensor variance = ops::call(context, "aten::abs", given[4]);
  const Tensor plain =
      ops::call(context, "aten::relu",
                ops::call(context, "aten::batch_norm", ops::call(context, "aten::conv2d", given[5], given[0]),
                          given[1], given[2], given[3], variance, false, 0.1, 1e-5, true));
  EXPECT_LT(compare(run(), plain).max_abs, 1e-4);
}

TEST_F(Plans, RunsGiveWhatOperatorsGive) {
  plan_of(kX, R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                 b: "f32[4]" = torch.ops.aten.mul_.Tensor(a, 2)
                 v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 1, 3)
                 w: "f32[2]" = torch.ops.aten.add_.Tensor(v, 1)
                 c: "f32[4]" = torch.ops.aten.cos.default(b)
                 return (c,))",
          "place buffers");
  Tensor a = ops::call(context, "aten::mul.Tensor", ops::call(context, "aten::sin", given[0]), 2);
  for (const int64_t i : {1, 2}) a.mutable_data<float>()[i] += 1;
  EXPECT_LT(compare(run(), ops::call(context, "aten::cos", a)).max_abs, 1e-7);
}

TEST_F(Plans, PassesHaveNamesAndAnOrder) {
  std::vector<std::string_view> names;
  for (const PlanPass& pass : plan_passes()) names.push_back(pass.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"split rewritten buffers", "mark outputs",
                                                  "drop unread steps", "prepare images", "prepare products",
                                                  "prepare recurrent networks", "place buffers"}));
}

// ---- memory

// A plan of steps that read and write buffers of these sizes: from, to, bytes.
struct Life {
  size_t first;
  size_t last;
  size_t bytes;
};

Plan plan_of_lives(size_t steps, const std::vector<Life>& lives) {
  Plan plan;
  plan.steps.resize(steps);
  for (const Life& life : lives) {
    const std::shared_ptr<Storage> storage = Storage::meta(life.bytes);
    plan.buffer_of.emplace(storage.get(), plan.buffers.size());
    plan.buffers.push_back({.bytes = life.bytes});
    plan.stand_ins.push_back(storage);
    const Tensor tensor = Tensor::contiguous(DType::kUInt8, Dims{static_cast<int64_t>(life.bytes)}, storage);
    plan.steps[life.first].outputs.push_back(tensor);
    if (life.last != life.first) plan.steps[life.last].arguments.emplace_back(tensor);
  }
  return plan;
}

// No two at the same place at the same time; gives the arena's bytes.
size_t place(Plan& plan) {
  place_buffers(plan);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& a = plan.buffers[i];
    EXPECT_EQ(a.offset % 64, 0U);
    EXPECT_LE(a.offset + a.bytes, plan.arena_bytes);
    for (size_t j = 0; j < i; ++j) {
      const Buffer& b = plan.buffers[j];
      const bool at_once = a.first <= b.last && b.first <= a.last;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      EXPECT_FALSE(at_once && overlap) << i << " and " << j;
    }
  }
  return plan.arena_bytes;
}

TEST(Memory, ChainsNeedTwoBuffers) {
  std::vector<Life> lives;
  for (size_t i = 0; i < 20; ++i) lives.push_back({i, i + 1, 1024});
  Plan plan = plan_of_lives(21, lives);
  EXPECT_EQ(place(plan), 2 * 1024U);
}

TEST(Memory, WhatLivesLongLiesBeside) {
  Plan plan = plan_of_lives(4, {{0, 3, 640}, {0, 1, 128}, {1, 2, 128}, {2, 3, 128}});
  EXPECT_EQ(place(plan), 640 + 2 * 128U);
}

TEST(Memory, SmallOnesFillTheGaps) {
  // While the large one waits for its place, two small ones share it.
  Plan plan = plan_of_lives(3, {{0, 0, 256}, {0, 0, 256}, {1, 2, 512}});
  EXPECT_EQ(place(plan), 512U);
}

TEST(Memory, EmptyBuffersHaveAPlaceToo) {
  Plan plan = plan_of_lives(2, {{0, 1, 0}, {0, 1, 0}});
  EXPECT_EQ(place(plan), 128U);
  Plan none = plan_of_lives(1, {});
  EXPECT_EQ(place(none), 0U);
}

TEST(Memory, NoOverlapWhateverTheLives) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const size_t steps = 2 + random() % 60;
    std::vector<Life> lives;
    size_t live_bytes = 0;
    for (size_t i = 0; i < 80; ++i) {
      const size_t first = random() % steps;
      const size_t last = std::min(steps - 1, first + random() % 12);
      lives.push_back({first, last, random() % 5000});
    }
    for (size_t step = 0; step < steps; ++step) {
      size_t now = 0;
      for (const Life& life : lives)
        now += life.first <= step && step <= life.last ? (std::max<size_t>(life.bytes, 1) + 63) / 64 * 64 : 0;
      live_bytes = std::max(live_bytes, now);
    }
    Plan plan = plan_of_lives(steps, lives);
    const size_t taken = place(plan);
    EXPECT_GE(taken, live_bytes);
    EXPECT_LE(taken, live_bytes * 3 / 2) << "near the optimum";
  }
}

}  // namespace
}  // namespace flambeau::runtime
