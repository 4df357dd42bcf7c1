#include "flambeau/ops/symbol/python_functions.h"

#include <gtest/gtest.h>

#include <limits>

#include "flambeau/base/error.h"

namespace flambeau::ops {
namespace {

Value run(std::string_view name, std::vector<Value> arguments) {
  const PythonFunction* const function = find_python_function(name);
  if (function == nullptr) throw Error(ErrorCode::kInvalidArgument, "no such function");
  return function->apply(arguments);
}

std::string error(std::string_view name, std::vector<Value> arguments) {
  try {
    run(name, std::move(arguments));
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(PythonFunctions, DivideAsPythonDoes) {
  EXPECT_EQ(run("_operator.floordiv", {-7, 2}).get<int64_t>(), -4);
  EXPECT_EQ(run("_operator.mod", {-7, 2}).get<int64_t>(), 1);
  EXPECT_EQ(run("_operator.mod", {7, -2}).get<int64_t>(), -1);
  EXPECT_EQ(run("_operator.floordiv", {-7.5, 2}).get<double>(), -4.0);
  EXPECT_EQ(run("_operator.mod", {-7.5, 2.0}).get<double>(), 0.5);
  EXPECT_EQ(run("_operator.truediv", {1, 4}).get<double>(), 0.25);
  EXPECT_EQ(error("_operator.floordiv", {5, 0}),
            "_operator.floordiv(5, 0): integer division or modulo by zero");
  EXPECT_EQ(error("_operator.truediv", {5.0, 0}), "_operator.truediv(5, 0): float division by zero");
}

TEST(PythonFunctions, KeepIntegersWhole) {
  EXPECT_EQ(run("_operator.add", {true, 2}).get<int64_t>(), 3);
  EXPECT_EQ(run("_operator.pow", {2, 62}).get<int64_t>(), int64_t{1} << 62);
  EXPECT_EQ(run("_operator.pow", {-3, 3}).get<int64_t>(), -27);
  EXPECT_EQ(run("_operator.pow", {2, -1}).get<double>(), 0.5);
  EXPECT_EQ(error("_operator.pow", {2, 63}),
            "_operator.pow(2, 63): the result does not fit a 64-bit integer");
  EXPECT_EQ(error("_operator.mul", {INT64_MAX, 2}),
            "_operator.mul(9223372036854775807, 2): the result does not fit a 64-bit integer");
  EXPECT_EQ(error("_operator.floordiv", {INT64_MIN, -1}),
            "_operator.floordiv(-9223372036854775808, -1): the result does not fit a 64-bit integer");
}

TEST(PythonFunctions, CompareExactly) {
  EXPECT_TRUE(run("_operator.lt", {9007199254740992.0, int64_t{9007199254740993}}).get<bool>());
  EXPECT_TRUE(run("_operator.eq", {1, 1.0}).get<bool>());
  EXPECT_FALSE(run("_operator.le", {1, std::numeric_limits<double>::quiet_NaN()}).get<bool>());
  EXPECT_TRUE(run("_operator.and_", {true, true}).is<bool>());
  EXPECT_TRUE(run("_operator.not_", {0}).get<bool>());
}

TEST(PythonFunctions, ConvertAndChoose) {
  EXPECT_EQ(run("math.ceil", {1.2}).get<int64_t>(), 2);
  EXPECT_EQ(run("math.trunc", {-1.7}).get<int64_t>(), -1);
  EXPECT_EQ(run("torch.sym_max", {3, 2.5}).get<double>(), 3.0);
  EXPECT_EQ(run("torch.sym_min", {3, 2}).get<int64_t>(), 2);
  EXPECT_EQ(run("torch.sym_ite", {false, 1, 2}).get<int64_t>(), 2);
  EXPECT_EQ(run("torch.sym_sum", {Dims{1, 2, 3}}).get<int64_t>(), 6);
  EXPECT_EQ(run("torch._sym_sqrt", {9}).get<double>(), 3.0);
  EXPECT_EQ(run("_operator.getitem", {Dims{4, 5}, -1}).get<int64_t>(), 5);
  EXPECT_EQ(error("math.floor", {std::numeric_limits<double>::infinity()}),
            "math.floor(inf): cannot convert float infinity to integer");
  EXPECT_EQ(error("_operator.getitem", {Dims{4, 5}, 2}),
            "_operator.getitem([4, 5], 2): list index 2 out of range for 2 elements");
  EXPECT_EQ(find_python_function("os.system"), nullptr);
}

}  // namespace
}  // namespace flambeau::ops
