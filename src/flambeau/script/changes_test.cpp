#include "flambeau/script/changes.h"

#include <gtest/gtest.h>

#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

constexpr const char* kModule = R"(class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  count : Tensor
  names : List[List[str]]
  def pure(self: __torch__.M,
    x: Tensor) -> Tensor:
    names = annotate(List[str], [])
    _0 = torch.append(names, "a")
    return torch.add_(torch.mul(x, self.count), 1)
  def sets(self: __torch__.M,
    x: Tensor) -> NoneType:
    self.count = x
    return None
  def writes(self: __torch__.M) -> Tensor:
    count = self.count
    return torch.add_(count, 1)
  def appends(self: __torch__.M) -> int:
    names = self.names
    _0 = torch.append(names[0], "a")
    return 1
  def calls(self: __torch__.M) -> Tensor:
    return (self).writes()
  def trains(self: __torch__.M) -> bool:
    training = self.training
    if training:
      _0 = True
    else:
      _0 = False
    if _0:
      _1 = (self).writes()
    else:
      pass
    return _0
  def broken(self: __torch__.M) -> int:
    return torch.no_such_thing(1)
  def switches(self: __torch__.M) -> int:
    self.training = False
    return 1
)";

class ChangesTest : public testing::Test {
 protected:
  ChangesTest() {
    const auto source = std::make_shared<const Source>(kModule, "code/__torch__.py");
    compiler::ArchiveCode code;
    code.version = 10;
    code.find_text = [source](std::string_view qualifier) -> std::shared_ptr<const Source> {
      return qualifier == "__torch__" ? source : nullptr;
    };
    compiler::use_archive_code(unit_, std::move(code));
  }
  Changes of(std::string_view method) {
    return changes_of(unit_, *unit_.get_class("__torch__.M").find_method(method));
  }
  Unit unit_{std::make_shared<const OperatorTable>(std::make_shared<const SchemaTable>())};
};

TEST_F(ChangesTest, SeesWhatReachesAttributes) {
  EXPECT_FALSE(of("pure").is_changing);
  EXPECT_TRUE(of("sets").is_changing_in_eval);
  EXPECT_TRUE(of("writes").is_changing_in_eval);
  EXPECT_TRUE(of("appends").is_changing_in_eval);
  EXPECT_TRUE(of("calls").is_changing_in_eval);
  EXPECT_TRUE(of("broken").is_changing_in_eval);
}

TEST_F(ChangesTest, KnowsWhatTrainingGuards) {
  EXPECT_TRUE(of("trains").is_changing);
  EXPECT_FALSE(of("trains").is_changing_in_eval);
  EXPECT_FALSE(of("trains").sets_training);
  EXPECT_TRUE(of("switches").sets_training);
}

}  // namespace
}  // namespace flambeau::script
