#include "flambeau/nn/functional.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/nn/extent.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/symbolic/build.h"
#include "support/message_of.h"

namespace flambeau::nn {
namespace {

// The operators that a piece of code calls, in order.
class Recorder : public ops::Interceptor {
 public:
  explicit Recorder(Session& session) : session_(session) { session.context().interceptor = this; }
  ~Recorder() override { session_.context().interceptor = nullptr; }
  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override {
    std::string text = op.name().substr(6) + "(";
    for (const Value& argument : arguments) {
      if (text.back() != '(') text += ", ";
      text += argument.is_none() ? "None" : argument.is_tensor() ? "x" : argument.summary();
    }
    calls.push_back(text + ")");
    ops::Context inner = context.without_interceptor();
    return ops::execute(inner, op, arguments);
  }
  std::vector<std::string> calls;

 private:
  Session& session_;
};
using Calls = std::vector<std::string>;

TEST(Functional, EveryOperatorExists) {
  const ops::Library library;
  const std::regex name(R"re("(aten::[\w.]+)")re");
  std::set<std::string> names;
  const std::filesystem::path folder = std::filesystem::path(FLAMBEAU_SOURCE_DIR) / "src/flambeau/nn";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it)
      names.insert((*it)[1]);
  }
  EXPECT_GT(names.size(), 200U) << "the sources were not found";
  for (const std::string& one : names) EXPECT_NO_THROW(library.get(one)) << one;
}

TEST(Functional, ExpressionsCallWhatPythonsDo) {
  Session session;
  const Tensor x = ones({2, 3});
  Recorder recorder(session);
  (void)(x + 1);
  (void)(2.5 * x);
  (void)(1 - x);
  (void)(2 / x);
  (void)(-x);
  EXPECT_EQ(recorder.calls, (Calls{"add.Tensor(x, x, 1)", "mul.Tensor(x, x)", "rsub.Scalar(x, 1, 1)",
                                   "reciprocal(x)", "mul.Tensor(x, x)", "neg(x)"}));
}

TEST(Functional, ContiguousTensorsStayAsTheyAre) {
  Session session;
  const Tensor x = ones({2, 3});
  Recorder recorder(session);
  EXPECT_EQ(contiguous(x).storage(), x.storage());
  EXPECT_TRUE(recorder.calls.empty());
  EXPECT_TRUE(contiguous(t(x)).is_contiguous());
  EXPECT_EQ(recorder.calls.size(), 2U);
}

TEST(Functional, IndexesAsPythonDoes) {
  Session session;
  const Tensor x = ones({4, 5, 6});
  const Tensor rows = arange(3);
  const auto calls_of = [&](const std::vector<Index>& indices) {
    Recorder recorder(session);
    at(x, indices);
    return recorder.calls;
  };
  EXPECT_EQ(calls_of({0}), (Calls{"select.int(x, 0, 0)"}));
  EXPECT_EQ(calls_of({Slice(), Slice(1, 3)}), (Calls{"slice.Tensor(x, 1, 1, 3, 1)"}));
  EXPECT_EQ(calls_of({0, Slice(), 1}), (Calls{"select.int(x, 0, 0)", "select.int(x, 1, 1)"}));
  EXPECT_EQ(calls_of({Ellipsis, Slice(3)}), (Calls{"slice.Tensor(x, 2, 3, 9223372036854775807, 1)"}));
  EXPECT_EQ(calls_of({Ellipsis, NewAxis}), (Calls{"unsqueeze(x, 3)"}));
  EXPECT_EQ(calls_of({Slice(0, 4), Ellipsis}), (Calls{"alias(x)"}));
  EXPECT_EQ(calls_of({Slice()}), (Calls{"slice.Tensor(x, 0, 0, 9223372036854775807, 1)"}));
  EXPECT_EQ(calls_of({Ellipsis}), (Calls{"alias(x)"}));
  EXPECT_EQ(calls_of({Slice(), rows}).size(), 1U);
  EXPECT_EQ(at(x, {Slice(), rows}).sizes(), (Dims{4, 3, 6}));
  EXPECT_EQ(at(x, {NewAxis, 1, Ellipsis, -1}).sizes(), (Dims{1, 5}));
  EXPECT_EQ(message_of([&] { at(x, {0, 0, 0, 0}); }), "4 indices are given for a tensor of 3 dimensions");
  EXPECT_EQ(message_of([&] { at(x, {Ellipsis, Ellipsis}); }),
            "a tensor is indexed with more than one Ellipsis");
}

// Symbols are passed on as they were written, whole dimensions of unknown size are sliced.
TEST(Functional, IndexesWithSymbolsAsPythonDoes) {
  struct Never : symbolic::Decider {
    bool decide(const symbolic::Expr& condition) override {
      ADD_FAILURE() << "a question is asked";
      return condition == condition;
    }
  } never;
  class Only : public ops::Interceptor {
   public:
    std::vector<Value> call(ops::Context&, const ops::Operator& op,
                            std::span<const Value> arguments) override {
      std::string text = op.name().substr(6);
      for (const Value& argument : arguments.subspan(1))
        text += " " + (argument.is_none() ? "None" : argument.summary());
      calls.push_back(text);
      return {arguments[0]};
    }
    Calls calls;
  };
  Session session;
  const SymInt n(symbolic::symbol("s0"), never);
  const Tensor x = Tensor::symbolic(DType::kFloat32, {{n, 6}, {6, 1}, 0});
  const auto calls_of = [&](const std::vector<Index>& indices) {
    Only recorder;
    session.context().interceptor = &recorder;
    at(x, indices);
    session.context().interceptor = nullptr;
    return recorder.calls;
  };
  const std::string end = "9223372036854775807";
  EXPECT_EQ(calls_of({Slice(), 0}), (Calls{"slice.Tensor 0 0 " + end + " 1", "select.int 1 0"}));
  EXPECT_EQ(calls_of({Slice(), Slice({}, n)}), (Calls{"slice.Tensor 1 None s0 1"}));
  EXPECT_EQ(calls_of({Slice({}, n), Slice({}, 3)}),
            (Calls{"slice.Tensor 0 None s0 1", "slice.Tensor 1 None 3 1"}));
  EXPECT_EQ(calls_of({Slice(n)}), (Calls{"slice.Tensor 0 s0 None 1"}));
  EXPECT_EQ(calls_of({Ellipsis, Slice({}, 3)}), (Calls{"slice.Tensor 1 0 3 1"}));
}

TEST(Functional, AsksForSizesOfAnyTensor) {
  const Tensor x = Tensor::zeros(DType::kFloat32, Dims{2, 3});
  EXPECT_EQ(size(x, -1).literal(), 3);
  EXPECT_EQ(dim(x), 2);
  EXPECT_EQ(numel(x).literal(), 6);
  EXPECT_EQ(message_of([&] { size(Tensor::zeros(DType::kFloat32, {}), 0); }),
            "a tensor without dimensions is asked for the size of one");
}

TEST(Functional, SaysWhatCannotBeResized) {
  Session session;
  const Tensor image = ones({1, 1, 4, 4});
  EXPECT_EQ(message_of([&] { interpolate(image, {}); }),
            "give either the size or the scale_factor of the result");
  EXPECT_EQ(message_of([&] { interpolate(image, {.size = {{2}}, .mode = "linear"}); }),
            "an image of 2 dimensions cannot be resized as 'linear'");
  EXPECT_EQ(message_of([&] { interpolate(image, {.size = {{2, 3, 4}}}); }),
            "3 numbers are given to resize 2 dimensions");
}

TEST(Extent, IsOneNumberOrOneEach) {
  EXPECT_EQ(Extent<2>(3).dims(), (Dims{3, 3}));
  EXPECT_EQ((Extent<2>{3, 4}).dims(), (Dims{3, 4}));
  EXPECT_EQ(message_of([] { Extent<2>{1, 2, 3}; }),
            "a layer over 2 dimensions is given 3 numbers for them (give one number for all, or 2)");
}

}  // namespace
}  // namespace flambeau::nn
