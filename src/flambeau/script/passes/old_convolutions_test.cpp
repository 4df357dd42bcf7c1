#include <gtest/gtest.h>

#include "flambeau/script/ir/text.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

TEST(OldConvolutions, LoseWhatTheirWeightsHold) {
  const Unit unit(std::make_shared<const SchemaTable>());
  const std::shared_ptr<ir::Graph> graph = ir::parse_graph(
      R"(graph(%x : Tensor, %w : __torch__.torch.classes.quantized.Conv2dPackedParamsBase, %n : int, %s : float):
  %0 : int[] = prim::ListConstruct(%n, %n)
  %y : Tensor = quantized::conv2d_relu(%x, %w, %0, %0, %0, %n, %s, %n)
  return (%y)
)",
      unit.operators());
  replace_old_convolutions(*graph, unit);
  EXPECT_EQ(
      ir::to_text(*graph),
      R"(graph(%x : Tensor, %w : __torch__.torch.classes.quantized.Conv2dPackedParamsBase, %n : int, %s : float):
  %0 : int[] = prim::ListConstruct(%n, %n)
  %1 : Tensor = quantized::conv2d_relu.new(%x, %w, %s, %n)
  return (%1)
)");
}

}  // namespace
}  // namespace flambeau::script
