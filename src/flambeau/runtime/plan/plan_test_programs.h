// Small programs as text, their plans, and how a plan reads: what tests of plans share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "flambeau/backends/backend.h"
#include "flambeau/base/parallel.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/passes/effects.h"
#include "flambeau/runtime/interpreter.h"
#include "flambeau/runtime/plan/memory.h"
#include "flambeau/runtime/plan/plan.h"
#include "flambeau/runtime/plan/workspace.h"
#include "flambeau/tensor/elements/compare.h"

namespace flambeau::runtime {

// The program whose body this is. Its outputs are those it returns; names that begin with c_ stay the same in
// all runs.
inline graph::ExportedProgram parse_body(const std::string& arguments, const std::string& body) {
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
    given.clear();
    program = parse_body(arguments, body);
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
      const std::string_view name = input.value()->name();
      if (name.starts_with("c_v")) {  // variances
        for (int64_t i = 0; i < tensor.element_count(); ++i)
          tensor.mutable_data<float>()[i] = 0.5F + 0.25F * static_cast<float>(i);
      }
      given.push_back(tensor);
      inputs.push_back({Value(tensor), name.starts_with("c_")});
    }
    const std::vector<bool> written = passes::written_inputs(program.graph(), library);
    plan = record_plan(context, *code, written, inputs, backend);
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

  // What the operators give one by one, as the first output.
  Tensor interpreted() {
    std::vector<Value> inputs;
    for (const Tensor& tensor : given) inputs.emplace_back(ops::call(context, "aten::clone", tensor));
    Interpreter interpreter(context);
    return interpreter.run(*code, std::move(inputs)).at(0).tensor();
  }
  void expect_right(double tolerance = 1e-5) {
    const Tensor found = run(), wanted = interpreted();
    EXPECT_EQ(found.strides(), wanted.strides());
    EXPECT_LT(compare(found, wanted).max_abs, tolerance);
    EXPECT_EQ(compare(found, run()).max_abs, 0) << "another run gives something else";
  }
  size_t layers() const {
    return static_cast<size_t>(
        std::ranges::count_if(plan->steps, [](const Step& step) { return step.prepared != nullptr; }));
  }

  using Lines = std::vector<std::string>;
  ops::Library library;
  ThreadPool pool{1};
  ops::Context context{library, pool};
  graph::ExportedProgram program;
  std::unique_ptr<Code> code;
  std::unique_ptr<Plan> plan;
  std::shared_ptr<const backends::Backend> backend = backends::make_backend();
  backends::PackedWeights packed;
  std::vector<Tensor> given;
};

// The same with each backend of this build.
class PlansOfBackends : public Plans, public ::testing::WithParamInterface<std::string_view> {
 protected:
  PlansOfBackends() { backend = backends::make_backend(GetParam()); }
};

}  // namespace flambeau::runtime

#define FLAMBEAU_FOR_EACH_BACKEND(Suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(Backends, Suite, ::testing::ValuesIn(backends::backend_names()), \
                           [](const auto& one) { return std::string(one.param); })
