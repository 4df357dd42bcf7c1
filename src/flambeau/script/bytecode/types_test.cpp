#include "flambeau/script/bytecode/types.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::bytecode {
namespace {

TEST(BytecodeTypes, NamedTuplesBringTheirFields) {
  Unit unit(std::make_shared<const SchemaTable>());
  const std::string text = "Dict[str,__torch__.P[NamedTuple, [[x, Tensor],[y, List[int]]]]]";
  const Type type = parse_type_text(text, unit);
  ASSERT_TRUE(type.is(TypeKind::kDict));
  const Class& made = unit.get_class("__torch__.P");
  EXPECT_EQ(made.kind(), ClassKind::kNamedTuple);
  ASSERT_EQ(made.attributes.size(), 2U);
  EXPECT_EQ(made.attributes[1].name, "y");
  EXPECT_EQ(type_text(type, unit), text);
}

TEST(BytecodeTypes, RefusesWhatIsNoType) {
  Unit unit(std::make_shared<const SchemaTable>());
  for (const char* const text : {"P[NamedTuple, [[x, Tensor]", "[NamedTuple, [[x, int]]]",
                                 "P[NamedTuple, [x]]", "List[", "P[NamedTuple,"}) {
    EXPECT_THROW(parse_type_text(text, unit), Error) << text;
  }
}

TEST(BytecodeTypes, ObjectsOfScriptsAreRefused) {
  Unit unit(std::make_shared<const SchemaTable>());
  EXPECT_THROW(type_text(Type::class_named("__torch__.M"), unit), Error);
  EXPECT_EQ(type_text(Type::class_named("__torch__.torch.classes.quantized.LinearPackedParamsBase"), unit),
            "__torch__.torch.classes.quantized.LinearPackedParamsBase");
}

}  // namespace
}  // namespace flambeau::script::bytecode
