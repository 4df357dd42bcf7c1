#include "flambeau/nn/session.h"

#include <gtest/gtest.h>

#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional.h"
#include "flambeau/nn/layers.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::nn {
namespace {

TEST(Session, IsNeeded) {
  const auto message = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(
      message([] { zeros({2}); }),
      "an operator of nn is called on a thread that has no session (make a flambeau::nn::Session first, and "
      "keep it while you work with modules and tensors)");
  Session session;
  EXPECT_EQ(message([] { zeros({2}); }), "no error");
  std::string elsewhere;
  std::thread([&] { elsewhere = message([] { Linear(2, 3); }); }).join();
  EXPECT_NE(elsewhere.find("no session"), std::string::npos);
}

TEST(Session, TheOuterOneComesBack) {
  Session outer;
  {
    Session inner;
    EXPECT_EQ(&current(), &inner.context());
  }
  EXPECT_EQ(&current(), &outer.context());
}

TEST(Session, DrawsPyTorchsNumbers) {
  Session session;
  session.manual_seed(0);
  const Tensor x = rand({3});  // torch.manual_seed(0); torch.rand(3)
  EXPECT_EQ(x.data<float>()[0], 0.496256589889526367F);
  EXPECT_EQ(x.data<float>()[1], 0.768221795558929443F);
  EXPECT_EQ(x.data<float>()[2], 0.0884774327278137207F);
}

class Where : public ops::Interceptor {
 public:
  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override {
    lines.emplace_back(op.name(), where().line());
    return ops::execute(context, op, arguments);
  }
  std::vector<std::pair<std::string, unsigned>> lines;
};

TEST(Session, KnowsTheLineOfACall) {
  Session session;
  const Tensor x = ones({2});
  Where recorder;
  session.context().interceptor = &recorder;
  const unsigned line = __LINE__;
  const Tensor y = relu(x);
  const Tensor z = 1 - x * y + 2;
  EXPECT_EQ(recorder.lines, (std::vector<std::pair<std::string, unsigned>>{{"aten::relu", line + 1},
                                                                           {"aten::mul.Tensor", line + 2},
                                                                           {"aten::rsub.Scalar", line + 2},
                                                                           {"aten::add.Tensor", line + 2}}));
}

}  // namespace
}  // namespace flambeau::nn
