#include "flambeau/script/unit.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

std::shared_ptr<const SchemaTable> schemas() { return std::make_shared<SchemaTable>(); }

TEST(Unit, FindsWhatWasAdded) {
  Unit unit(schemas());
  unit.add(std::make_shared<Class>(ClassKind::kModule, "__torch__.M"));
  EXPECT_EQ(unit.get_class("__torch__.M").type(), Type::class_named("__torch__.M"));
  EXPECT_EQ(unit.find_class("__torch__.N"), nullptr);
  EXPECT_THROW(unit.get_function("__torch__.f"), Error);
  EXPECT_THROW(unit.add(std::make_shared<Class>(ClassKind::kPlain, "__torch__.M")), Error);
}

TEST(Unit, AsksItsResolverOnce) {
  Unit unit(schemas());
  int asked = 0;
  unit.set_resolver([&](Unit& of, std::string_view name) {
    ++asked;
    if (name != "__torch__.C") return false;
    of.add(std::make_shared<Class>(ClassKind::kPlain, std::string(name)));
    return true;
  });
  EXPECT_NE(unit.find_class("__torch__.C"), nullptr);
  EXPECT_NE(unit.find_class("__torch__.C"), nullptr);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(unit.find_class("__torch__.D"), nullptr);
}

TEST(Function, IsDeclaredBeforeItIsCompiled) {
  const Unit unit(schemas());
  int compiled = 0;
  const Function function(
      unit, "__torch__.M.forward",
      [](Function& self) { self.set_signature({"forward", "", {}, {TypeKind::kInt}}); },
      [&](Function& self) {
        ++compiled;
        self.set_graph(std::make_shared<ir::Graph>());
      });
  EXPECT_EQ(function.name(), "forward");
  EXPECT_EQ(function.signature().returns[0], TypeKind::kInt);
  EXPECT_FALSE(function.is_compiled());
  EXPECT_NE(function.graph(), nullptr);
  EXPECT_NE(function.graph(), nullptr);
  EXPECT_EQ(compiled, 1);
}

TEST(Function, CompilesForAResultThatIsNotAnnotated) {
  const Unit unit(schemas());
  const Function function(unit, "f", {}, [](Function& self) {
    self.set_signature({"f", "", {}, {TypeKind::kString}});
    self.set_graph(std::make_shared<ir::Graph>());
  });
  EXPECT_EQ(function.signature().returns[0], TypeKind::kString);
}

TEST(Function, RefusesToNeedItself) {
  const Unit unit(schemas());
  const Function function(unit, "f", {}, [](Function& self) { (void)self.signature(); });
  EXPECT_THROW(function.signature(), Error);
  EXPECT_THROW(function.signature(), Error);
  const Function declared("I.m", Signature{"m"});
  EXPECT_THROW(declared.graph(), Error);
}

TEST(Class, FindsAmongMany) {
  Class made(ClassKind::kModule, "M");
  for (int i = 0; i < 1000; ++i) {
    made.attributes.push_back({"a" + std::to_string(i), TypeKind::kInt});
    ASSERT_EQ(made.find_attribute("a" + std::to_string(i)), static_cast<size_t>(i));
  }
  EXPECT_EQ(made.find_attribute("a500"), 500U);
  EXPECT_EQ(made.find_attribute("b"), std::nullopt);
  made.attributes[500].name = "b";
  made.names_changed();
  EXPECT_EQ(made.find_attribute("b"), 500U);
}

TEST(Signature, HasAText) {
  Signature signature{"aten::f", "x"};
  EXPECT_EQ(to_string(signature), "aten::f.x() -> ()");
  signature.arguments = {{"a", TypeKind::kTensor},
                         {"b", Type::list(TypeKind::kInt), IValue::list(TypeKind::kInt, {1, 2})},
                         {"c", Type::optional(TypeKind::kFloat), IValue(), true}};
  signature.returns = {TypeKind::kTensor};
  signature.is_vararg = true;
  EXPECT_EQ(to_string(signature), "aten::f.x(Tensor a, int[] b=[1, 2], *, float? c=None, ...) -> Tensor");
}

}  // namespace
}  // namespace flambeau::script
