#include "flambeau/script/operators/evaluate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "flambeau/script/ir/text.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

// What the operator gives, as text; "nothing" where it is left to others.
std::string evaluated(std::string_view name, std::string_view overload, const std::vector<IValue>& inputs) {
  const SchemaTable table;
  const auto outputs = evaluate_operator(table.get(name, overload), inputs);
  return outputs ? ir::to_text(outputs->at(0)) : "nothing";
}

TEST(Evaluate, Arithmetic) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(evaluated("aten::add", "int", {most, 1}), "-9223372036854775808");
  EXPECT_EQ(evaluated("aten::sub", "int_float", {1, 0.5}), "0.5");
  EXPECT_EQ(evaluated("aten::mul", "int", {6, -7}), "-42");
  EXPECT_EQ(evaluated("aten::neg", "float", {0.0}), "-0.");
  EXPECT_EQ(evaluated("aten::add", "float_complex", {2.5, std::complex<double>(0, 3)}), "complex(2.5, 3.)");
  EXPECT_EQ(evaluated("aten::sub", "float_complex", {1.0, std::complex<double>(0, 2)}), "complex(1., -2.)");
  EXPECT_EQ(evaluated("aten::add", "str", {"a", "b"}), "\"ab\"");
}

TEST(Evaluate, Comparisons) {
  EXPECT_EQ(evaluated("aten::lt", "int", {1, 2}), "True");
  EXPECT_EQ(evaluated("aten::ge", "float_int", {1.5, 2}), "False");
  EXPECT_EQ(evaluated("aten::eq", "float", {std::nan(""), std::nan("")}), "False");
  EXPECT_EQ(evaluated("aten::ne", "str", {"a", "b"}), "True");
  EXPECT_EQ(evaluated("aten::eq", "device", {Device{}, Device{}}), "True");
  EXPECT_EQ(evaluated("aten::__is__", "", {IValue(), IValue()}), "True");
  EXPECT_EQ(evaluated("aten::__isnot__", "", {1, IValue()}), "True");
  EXPECT_EQ(evaluated("aten::__is__", "", {2, true}), "False");
  EXPECT_EQ(evaluated("aten::__is__", "", {0.5, 0.5}), "True");
  EXPECT_EQ(evaluated("aten::__is__", "", {"a", "a"}), "nothing");
}

TEST(Evaluate, TruthAndKinds) {
  EXPECT_EQ(evaluated("aten::__and__", "bool", {true, false}), "False");
  EXPECT_EQ(evaluated("aten::__xor__", "int", {6, 3}), "5");
  EXPECT_EQ(evaluated("aten::__not__", "", {false}), "True");
  EXPECT_EQ(evaluated("aten::Int", "float", {-2.7}), "-2");
  EXPECT_EQ(evaluated("aten::Int", "float", {1e300}), "nothing");
  EXPECT_EQ(evaluated("aten::Float", "str", {"inf"}), "inf");
  EXPECT_EQ(evaluated("aten::Float", "str", {"1.5"}), "nothing");
  EXPECT_EQ(evaluated("aten::Bool", "int", {2}), "True");
}

TEST(Evaluate, Devices) {
  EXPECT_EQ(evaluated("aten::device", "", {"cuda:1"}), "device(\"cuda:1\")");
  EXPECT_EQ(evaluated("aten::device", "with_index", {"cuda", 2}), "device(\"cuda:2\")");
  EXPECT_EQ(evaluated("aten::device", "", {"no such"}), "nothing");
}

TEST(Evaluate, OthersAreLeftToOthers) {
  EXPECT_EQ(evaluated("aten::floordiv", "int", {7, 0}), "nothing");
  EXPECT_EQ(evaluated("aten::upper", "", {"a"}), "nothing");
}

}  // namespace
}  // namespace flambeau::script
