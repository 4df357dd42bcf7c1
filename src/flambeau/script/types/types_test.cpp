#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/types/variables.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

Type read(std::string_view text) { return parse_annotation(text); }

bool is_sub(std::string_view a, std::string_view b) { return is_subtype(nullptr, read(a), read(b)); }

std::string unified(std::string_view a, std::string_view b, bool or_union = false) {
  const std::optional<Type> type = unify_types(nullptr, read(a), read(b), or_union);
  return type ? annotation_text(*type) : "none";
}

TEST(Annotation, ReadsAndPrints) {
  for (const std::string text :
       {"Tensor", "int", "Dict[str, List[Any]]", "Optional[Tensor]", "Tuple[()]", "Tuple[int, Tuple[float]]",
        "Future[Dict[int, str]]", "Await[Tensor]", "RRef[int]", "NoneType", "number", "list", "tuple",
        "Device", "__torch__.a.___torch_mangle_3.Net", "Union[List[int], Tensor]", "Optional[number]"}) {
    const std::string again = annotation_text(read(text));
    EXPECT_EQ(annotation_text(read(again)), again);
    if (!text.starts_with("Union")) {
      EXPECT_EQ(again, text);
    }
  }
  EXPECT_EQ(annotation_text(read("Union[List[int], Tensor]")), "Union[Tensor, List[int]]");
  EXPECT_EQ(annotation_text(read("LongTensor")), "Tensor");
  EXPECT_EQ(annotation_text(read("torch.Tensor")), "Tensor");
  EXPECT_EQ(annotation_text(read("None")), "NoneType");
  EXPECT_EQ(annotation_text(read("int | str | None")), "Union[int, NoneType, str]");
  EXPECT_EQ(annotation_text(read("Tensor|None")), "Optional[Tensor]");
  EXPECT_EQ(annotation_text(read("dict[str,list[int]]")), "Dict[str, List[int]]");
  EXPECT_EQ(annotation_text(TypeKind::kScalarType), "int");
  EXPECT_EQ(annotation_text(Type::list(Type::class_named("a.B")), [](std::string_view) { return "c.D"; }),
            "List[c.D]");
}

TEST(Annotation, RefusesOtherText) {
  for (const std::string_view text :
       {"", "Foo", "List", "List[int", "List[int, int]", "Dict[int]", "int]", "Union[]", "3"})
    EXPECT_THROW(read(text), Error) << text;
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "List[";
  EXPECT_THROW(read(deep), Error);
}

TEST(Types, OfSharedTuplesStaySmall) {
  Type type = TypeKind::kInt;
  EXPECT_THROW(
      {
        for (int i = 0; i < 60; ++i) type = Type::tuple({type, type});
      },
      Error);
}

TEST(Subtypes, FollowPyTorch) {
  EXPECT_TRUE(is_sub("NoneType", "Optional[int]"));
  EXPECT_TRUE(is_sub("int", "Optional[int]"));
  EXPECT_TRUE(is_sub("int", "number"));
  EXPECT_FALSE(is_sub("bool", "number"));
  EXPECT_FALSE(is_sub("int", "float"));
  EXPECT_TRUE(is_sub("List[int]", "list"));
  EXPECT_FALSE(is_sub("List[int]", "List[number]"));
  EXPECT_TRUE(is_sub("Tuple[int, Tensor]", "Tuple[number, Optional[Tensor]]"));
  EXPECT_TRUE(is_sub("Tuple[int]", "tuple"));
  EXPECT_FALSE(is_sub("Tuple[int]", "Tuple[int, int]"));
  EXPECT_TRUE(is_sub("Future[int]", "Future[number]"));
  EXPECT_TRUE(is_sub("Optional[int]", "Union[int, str, NoneType]"));
  EXPECT_FALSE(is_sub("Optional[int]", "Union[int, str]"));
  EXPECT_TRUE(is_sub("Union[int, str]", "Union[str, number]"));
  EXPECT_TRUE(is_sub("Union[int, str]", "Any"));
  EXPECT_FALSE(is_sub("Any", "int"));
}

TEST(Unions, AreNormalized) {
  EXPECT_EQ(annotation_text(read("Union[int, Union[str, int]]")), "Union[int, str]");
  EXPECT_EQ(annotation_text(read("Union[int, float, complex]")), "Union[number]");
  EXPECT_EQ(annotation_text(read("Union[int, float, complex, NoneType]")), "Optional[number]");
  EXPECT_EQ(annotation_text(read("Optional[Optional[int]]")), "Optional[int]");
  EXPECT_EQ(annotation_text(read("Optional[Union[int, str]]")), "Optional[Union[int, str]]");
  EXPECT_EQ(
      annotation_text(*subtract_types(nullptr, read("Union[int, str, NoneType]"), std::array{read("int")})),
      "Optional[str]");
  EXPECT_EQ(subtract_types(nullptr, read("int"), std::array{read("number")}), std::nullopt);
}

TEST(Unification, FollowsPyTorch) {
  EXPECT_EQ(unified("int", "number"), "number");
  EXPECT_EQ(unified("int", "float"), "none");
  EXPECT_EQ(unified("int", "float", true), "Union[float, int]");
  EXPECT_EQ(unified("int", "NoneType"), "Optional[int]");
  EXPECT_EQ(unified("Tuple[int, NoneType]", "Tuple[int, Tensor]"), "Tuple[int, Optional[Tensor]]");
  EXPECT_EQ(unified("List[int]", "List[float]"), "none");
}

class WithClasses : public ::testing::Test {
 protected:
  WithClasses() : unit(std::make_shared<SchemaTable>()) {
    const auto point = std::make_shared<Class>(ClassKind::kNamedTuple, "__torch__.Point");
    point->attributes = {{"x", TypeKind::kInt}, {"y", TypeKind::kInt}};
    unit.add(point);
    const auto shape = std::make_shared<Class>(ClassKind::kModuleInterface, "__torch__.Shape");
    shape->methods.push_back(method("__torch__.Shape", "area", TypeKind::kInt, TypeKind::kNumber));
    unit.add(shape);
    const auto square = std::make_shared<Class>(ClassKind::kModule, "__torch__.Square");
    square->methods.push_back(method("__torch__.Square", "area", TypeKind::kNumber, TypeKind::kInt));
    unit.add(square);
    unit.add(std::make_shared<Class>(ClassKind::kEnum, "__torch__.Color"));
  }

  static std::shared_ptr<Function> method(const std::string& of, const std::string& name, TypeKind takes,
                                          TypeKind gives) {
    Signature signature{name};
    signature.arguments = {{"self", Type::class_named(of)}, {"x", takes}};
    signature.returns = {gives};
    return std::make_shared<Function>(of + "." + name, signature);
  }

  bool is_sub(std::string_view a, std::string_view b, std::string* why_not = nullptr) {
    return is_subtype(&unit, parse_annotation(a, &unit), parse_annotation(b, &unit), why_not);
  }

  Unit unit;
};

TEST_F(WithClasses, NamedTuplesAreTuples) {
  EXPECT_TRUE(is_sub("__torch__.Point", "Tuple[int, int]"));
  EXPECT_TRUE(is_sub("__torch__.Point", "tuple"));
  EXPECT_FALSE(is_sub("Tuple[int, int]", "__torch__.Point"));
  EXPECT_TRUE(is_subtype(&unit, Type::tuple({TypeKind::kInt, TypeKind::kInt}, {"x", "y"}),
                         Type::class_named("__torch__.Point")));
  EXPECT_FALSE(is_subtype(&unit, Type::tuple({TypeKind::kInt, TypeKind::kInt}, {"x", "z"}),
                          Type::class_named("__torch__.Point")));
  EXPECT_EQ(annotation_text(
                *unify_types(&unit, Type::class_named("__torch__.Point"), read("Tuple[int, NoneType]"))),
            "Tuple[int, Optional[int]]");
}

TEST_F(WithClasses, InterfacesWantMethods) {
  EXPECT_TRUE(is_sub("__torch__.Square", "__torch__.Shape"));
  EXPECT_TRUE(is_sub("__torch__.Square", "Optional[__torch__.Shape]"));
  std::string why_not;
  unit.get_class("__torch__.Shape")
      .methods.push_back(method("__torch__.Shape", "name", TypeKind::kInt, TypeKind::kString));
  EXPECT_FALSE(is_sub("__torch__.Square", "__torch__.Shape", &why_not));
  EXPECT_EQ(why_not, "__torch__.Square has no method 'name', as the interface __torch__.Shape wants it");
  EXPECT_TRUE(is_subtype(&unit, read("__torch__.Color"), TypeKind::kAnyEnum));
  EXPECT_FALSE(is_subtype(&unit, read("__torch__.Color"), TypeKind::kAnyClass));
  EXPECT_TRUE(is_subtype(&unit, read("__torch__.torch.classes.a.B"), TypeKind::kAnyClass));
}

TEST(TypeVariables, AreBoundOnce) {
  TypeBindings bindings;
  const Type list = Type::list(Type::variable("t"));
  EXPECT_EQ(bind_type_variables(nullptr, list, read("List[int]"), bindings), "");
  EXPECT_EQ(bind_type_variables(nullptr, Type::variable("t"), read("str"), bindings),
            "'t' is int already, found str");
  EXPECT_EQ(resolve_type_variables(Type::dict(TypeKind::kString, list), bindings),
            read("Dict[str, List[int]]"));
  TypeBindings others;
  EXPECT_EQ(bind_type_variables(nullptr, list, read("Tuple[int, NoneType]"), others), "");
  EXPECT_EQ(resolve_type_variables(list, others), read("List[Optional[int]]"));
  EXPECT_NE(bind_type_variables(nullptr, list, read("int"), others), "");
  EXPECT_EQ(resolve_type_variables(Type::variable("u"), others), std::nullopt);
}

TEST(RuntimeTypes, AreThoseOfTheValue) {
  const IValue list = IValue::list(Type::optional(TypeKind::kTensor));
  EXPECT_EQ(annotation_text(runtime_type(IValue::tuple({1, list}))), "Tuple[int, List[Optional[Tensor]]]");
  EXPECT_TRUE(is_instance(nullptr, list, TypeKind::kAnyList));
  EXPECT_FALSE(is_instance(nullptr, list, read("List[Tensor]")));
  EXPECT_TRUE(is_instance(nullptr, 1, TypeKind::kNumber));
  EXPECT_FALSE(is_instance(nullptr, true, TypeKind::kInt));
  IValue deep = 1;
  for (int i = 0; i < 100; ++i) deep = IValue::tuple({deep});
  EXPECT_THROW(runtime_type(deep), Error);
}

}  // namespace
}  // namespace flambeau::script
