// Recurrent networks, and kernels of a backend's own.
#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

using Networks = PlansOfBackends;
FLAMBEAU_FOR_EACH_BACKEND(Networks);

const std::string kGru =
    "c_i: \"f32[9, 4]\", c_h: \"f32[9, 3]\", c_j: \"f32[9]\", c_k: \"f32[9]\", x: \"f32[2, 5, 4]\", h: "
    "\"f32[1, 2, 3]\"";
const std::string kBody =
    R"(g = torch.ops.aten.gru.input(x, h, [c_i, c_h, c_j, c_k], True, 1, 0.0, False, False, True)  #| (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); -> items
       a: "f32[2, 5, 3]" = g[0]  #| item
       b: "f32[1, 2, 3]" = g[1]  #| item
       return (a,))";

TEST_P(Networks, WithConstantWeightsAreLayers) {
  plan_of(kGru, kBody, "place buffers");
  EXPECT_EQ(layers(), 1U);
  EXPECT_EQ(plan->steps[0].arguments.size(), 2U) << "the input and the state";
  EXPECT_EQ(plan->steps[0].name(), "aten::gru.input");
  EXPECT_LT(compare(run(), interpreted()).max_abs, 1e-5);
}

TEST_P(Networks, WithWeightsThatChangeAreOperators) {
  std::string arguments = kGru;
  arguments.replace(arguments.find("c_h"), 3, "w_h");
  std::string body = kBody;
  body.replace(body.find("c_h"), 3, "w_h");
  plan_of(arguments, body, "place buffers");
  EXPECT_EQ(layers(), 0U);
}

// A backend that knows one operator.
class OnlySine final : public backends::Backend {
 public:
  std::string_view name() const override { return "sine"; }
  backends::LayerPointer kernel(ops::Context&, const ops::Operator& op, std::span<const Value>,
                                std::span<const Tensor>) const override {
    class Sine final : public backends::PreparedLayer {
      void run(ops::Context&, std::span<const Value> arguments, std::span<Tensor> outputs,
               Storage& scratch) const override {
        EXPECT_GE(scratch.size(), scratch_bytes());
        const float* const from = arguments[0].tensor().data<float>();
        for (int64_t i = 0; i < outputs[0].element_count(); ++i)
          outputs[0].mutable_data<float>()[i] = std::sin(from[i]);
      }
      size_t scratch_bytes() const override { return 1000; }
    };
    return op.name() == "aten::sin" ? std::make_unique<Sine>() : nullptr;
  }
};

using Kernels = Plans;

TEST_F(Kernels, OfTheBackendsOwn) {
  backend = std::make_shared<OnlySine>();
  EXPECT_EQ(plan_of("c_w: \"f32[4, 4]\", x: \"f32[4, 4]\"",
                    R"(a: "f32[4, 4]" = torch.ops.aten.sin.default(x)
                       b: "f32[4, 4]" = torch.ops.aten.linear.default(a, c_w)
                       return (b,))",
                    "place buffers"),
            (Lines{"sin(x0) -> a0", "linear(a0, c, None) -> y0", "gives y0"}));
  EXPECT_EQ(layers(), 1U);
  EXPECT_EQ(plan->scratch_bytes, 1000U);
  expect_right();
}

}  // namespace
}  // namespace flambeau::runtime
