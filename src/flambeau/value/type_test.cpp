#include "flambeau/value/type.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "support/message_of.h"

namespace flambeau {
namespace {

std::string type_error(std::string_view text) {
  return message_of([&] { parse_type(text); });
}

TEST(Type, PrintsWhatItReads) {
  for (const std::string_view text : {"Tensor",
                                      "int",
                                      "float",
                                      "bool",
                                      "str",
                                      "complex",
                                      "Scalar",
                                      "SymInt",
                                      "SymFloat",
                                      "SymBool",
                                      "Device",
                                      "ScalarType",
                                      "Layout",
                                      "MemoryFormat",
                                      "Generator",
                                      "Storage",
                                      "Stream",
                                      "QScheme",
                                      "Quantizer",
                                      "Capsule",
                                      "PyObject",
                                      "NoneType",
                                      "Any",
                                      "AnyEnumType",
                                      "AnyClassType",
                                      "t",
                                      "tVal",
                                      "t1",
                                      "int?",
                                      "int[]",
                                      "int[2]",
                                      "SymInt[2]?",
                                      "Tensor?[]",
                                      "Tensor?[]?",
                                      "int[][]",
                                      "(int, Tensor)",
                                      "()",
                                      "(str, (t, int))[]",
                                      "Dict(str, t)",
                                      "Dict(int, Tensor[])?",
                                      "Union(int, float, NoneType)",
                                      "Future(t)",
                                      "Await(Tensor)",
                                      "RRef(t)[]",
                                      "__torch__.torch.classes.quantized.LinearPackedParamsBase?"}) {
    const Type type = parse_type(text);
    EXPECT_EQ(type.to_string(), text);
    EXPECT_EQ(parse_type(type.to_string()), type);
  }
}

TEST(Type, ReadsOtherNamesAsPyTorchDoes) {
  EXPECT_EQ(parse_type("Dimname[1]").to_string(), "str[1]");
  EXPECT_EQ(parse_type("DeviceIndex").to_string(), "int");
  EXPECT_EQ(parse_type("None").to_string(), "NoneType");
  EXPECT_EQ(parse_type("number").to_string(), "Scalar");
}

TEST(Type, TellsItsParts) {
  const Type sizes = parse_type("SymInt[2]?");
  EXPECT_TRUE(sizes.is(TypeKind::kOptional));
  const Type& list = sizes.without_optional();
  EXPECT_EQ(list.kind(), TypeKind::kList);
  EXPECT_EQ(list.list_size(), 2);
  EXPECT_EQ(list.element(), Type(TypeKind::kSymInt));
  EXPECT_EQ(sizes.depth(), 2);
  EXPECT_EQ(Type(TypeKind::kInt).depth(), 0);
  const Type dict = parse_type("Dict(str, t)");
  ASSERT_EQ(dict.elements().size(), 2U);
  EXPECT_EQ(dict.elements()[1].name(), "t");
  EXPECT_TRUE(dict.elements()[1].is(TypeKind::kVariable));
  EXPECT_TRUE(parse_type("a.b.C").is(TypeKind::kClass));
  EXPECT_EQ(parse_type("a.b.C").name(), "a.b.C");
  EXPECT_TRUE(Type(TypeKind::kInt).elements().empty());
  EXPECT_EQ(&dict.without_optional(), &dict);
}

TEST(Type, EqualityIsStructural) {
  EXPECT_EQ(Type::list(TypeKind::kInt, 2), parse_type("int[2]"));
  EXPECT_NE(Type::list(TypeKind::kInt, 2), parse_type("int[3]"));
  EXPECT_NE(Type::list(TypeKind::kInt), parse_type("int[2]"));
  EXPECT_NE(Type::list(TypeKind::kInt), Type(TypeKind::kInt));
  EXPECT_NE(Type::variable("t"), Type::variable("u"));
  EXPECT_EQ(Type::tuple({TypeKind::kInt, Type::rref(Type::variable("t"))}), parse_type("(int, RRef(t))"));
  EXPECT_EQ(Type::future(TypeKind::kInt), parse_type("Future(int)"));
  EXPECT_NE(Type::future(TypeKind::kInt), Type::await(TypeKind::kInt));
  EXPECT_EQ(Type::union_of({TypeKind::kInt, TypeKind::kNone}), parse_type("Union(int, NoneType)"));
}

TEST(Type, ErrorsSayWhere) {
  EXPECT_EQ(type_error(""), "byte 0: expected a type, found the end of the text");
  EXPECT_EQ(type_error("int["), "byte 4: expected a number, found the end of the text");
  EXPECT_EQ(type_error("int[x]"), "byte 4: expected a number, found 'x'");
  EXPECT_EQ(type_error("int[1.5]"), "byte 4: '1.5' is not the size of a list");
  EXPECT_EQ(type_error("int[65]"), "byte 4: a list of fixed size 65; the most is 64");
  EXPECT_EQ(type_error("int[99999999999999999999]"),
            "byte 4: a list of fixed size 99999999999999999999; the most is 64");
  EXPECT_EQ(type_error("int int"), "byte 4: expected the end of the type, found 'int'");
  EXPECT_EQ(type_error("Dict(int)"), "byte 4: Dict holds 2 types, found 1");
  EXPECT_EQ(type_error("Future()"), "byte 6: Future holds 1 type, found 0");
  EXPECT_EQ(type_error("(int, "), "byte 6: expected a type, found the end of the text");
  EXPECT_EQ(type_error("double"), "byte 0: schemas know no type 'double'; it is called 'float'");
  EXPECT_EQ(type_error("int64_t"), "byte 0: schemas know no type 'int64_t'; it is called 'int', or 'SymInt'");
  EXPECT_EQ(type_error("Foo"),
            "byte 0: there is no type 'Foo'; a class is written with its module, as "
            "__torch__.torch.classes.quantized.LinearPackedParamsBase");
  EXPECT_EQ(type_error("Tensor(a)"), "byte 0: expected a type alone, found one with an alias");
  EXPECT_EQ(type_error("\x01"), "byte 0: expected a type, found '\\x01'");
}

TEST(Type, NestingIsLimited) {
  EXPECT_EQ(type_error("int" + std::string(65, '?')), "byte 0: a type nests deeper than 64 levels");
  EXPECT_EQ(parse_type("int" + std::string(64, '?')).depth(), 64);
  EXPECT_EQ(type_error(std::string(60'000, '(')), "byte 64: a type nests deeper than 64 levels");
  std::string lists = "int";
  for (int i = 0; i < 30'000; ++i) lists += "[]";
  EXPECT_EQ(type_error(lists), "byte 0: a type nests deeper than 64 levels");
  EXPECT_EQ(type_error(std::string(70'000, 'x')), "a schema has 70000 bytes; the most that is read is 65536");
}

TEST(Type, MisuseIsAnError) {
  EXPECT_THROW(Type{TypeKind::kList}, Error);
  EXPECT_THROW(Type(TypeKind::kInt).element(), Error);
  EXPECT_THROW(parse_type("(int, int)").element(), Error);
  EXPECT_THROW(parse_type("(int)").element(), Error);
}

}  // namespace
}  // namespace flambeau
