#include "flambeau/interpreter/evaluator.h"

#include <gtest/gtest.h>

#include "flambeau/base/parallel.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

using script::IValue;

class EvaluatorTest : public testing::Test {
 protected:
  std::optional<std::vector<IValue>> run(const char* name, const char* overload, std::vector<IValue> inputs) {
    return evaluate(schemas->get(name, overload), inputs);
  }

  std::shared_ptr<const SchemaTable> schemas = std::make_shared<const SchemaTable>();
  ThreadPool pool{1};
  script::Evaluator evaluate = make_evaluator(std::make_shared<const script::OperatorTable>(schemas),
                                              std::make_shared<const ops::Library>(), pool);
};

TEST_F(EvaluatorTest, RunsBuiltins) {
  EXPECT_EQ(run("aten::floordiv", "int", {7, 3})->at(0).as_int(), 2);
  EXPECT_EQ(run("aten::floordiv", "int", {-7, 3})->at(0).as_int(), -3);
  EXPECT_EQ(run("aten::pow", "int", {8, 2})->at(0).as_float(), 64.0);
  const auto parts = run("aten::partition", "", {"hello", "l"});
  ASSERT_EQ(parts->size(), 3U);
  EXPECT_EQ(parts->at(2).as_string(), "lo");
}

TEST_F(EvaluatorTest, LeavesWhatFailsOrGrows) {
  EXPECT_FALSE(run("aten::floordiv", "int", {7, 0}));
  EXPECT_FALSE(run("aten::center", "", {"x", 1000000000, " "}));
}

}  // namespace
}  // namespace flambeau::interpreter
