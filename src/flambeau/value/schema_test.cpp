#include "flambeau/value/schema.h"

#include <gtest/gtest.h>

#include <limits>

#include "flambeau/base/error.h"
#include "support/message_of.h"

namespace flambeau {
namespace {

std::string schema_error(std::string_view text) {
  return message_of([&] { parse_schema(text); });
}

std::string echo(std::string_view text) { return to_string(parse_schema(text)); }

// The text PyTorch prints for a default, by way of an argument of that type.
std::string echo_default(std::string_view argument) {
  const std::string text = echo("a::b(" + std::string(argument) + ") -> ()");
  const size_t start = text.find('=') + 1;
  return text.substr(start, text.rfind(") -> ()") - start);
}

TEST(Schema, KeepsEveryPart) {
  const Schema schema = parse_schema(
      "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0, *, Generator? g=None) -> "
      "Tensor(a)[]");
  EXPECT_EQ(schema.name, (OperatorName{"aten::split", "Tensor"}));
  ASSERT_EQ(schema.arguments.size(), 4U);
  const SchemaArgument& self = schema.arguments[0];
  EXPECT_EQ(self.name, "self");
  EXPECT_EQ(self.type, Type(TypeKind::kTensor));
  EXPECT_EQ(self.alias->before, std::vector<std::string>{"a"});
  EXPECT_EQ(self.alias->after, std::vector<std::string>{"*"});
  EXPECT_FALSE(self.is_written());
  EXPECT_FALSE(self.default_value);
  EXPECT_FALSE(schema.arguments[1].alias);
  EXPECT_EQ(schema.arguments[2].default_value, DefaultValue{int64_t{0}});
  EXPECT_EQ(schema.arguments[2].default_text, "0");
  EXPECT_FALSE(schema.arguments[2].is_kwarg_only);
  EXPECT_TRUE(schema.arguments[3].is_kwarg_only);
  EXPECT_TRUE(schema.arguments[3].default_value->is_none());
  ASSERT_EQ(schema.returns.size(), 1U);
  EXPECT_EQ(schema.returns[0].name, "");
  ASSERT_EQ(schema.returns[0].alias->contained.size(), 1U);
  EXPECT_EQ(schema.returns[0].alias->contained[0].before, std::vector<std::string>{"a"});
  EXPECT_EQ(schema.find_argument("dim"), 2U);
  EXPECT_EQ(schema.find_argument("dims"), std::nullopt);
  EXPECT_FALSE(schema.is_mutable());
  EXPECT_TRUE(schema.is_view());
}

TEST(Schema, KnowsWhatWritesAndWhatIsAView) {
  EXPECT_TRUE(parse_schema("a::b(Tensor(a!) x) -> Tensor(a!)").is_mutable());
  EXPECT_FALSE(parse_schema("a::b(Tensor(a!) x) -> Tensor(a!)").is_view());
  EXPECT_TRUE(parse_schema("a::b(Tensor(a!)[] x) -> ()").is_mutable());
  EXPECT_TRUE(parse_schema("a::b(Tensor[](a!) x) -> ()").is_mutable());
  EXPECT_TRUE(parse_schema("a::b(Tensor x, *, Tensor(a!)? y) -> ()").is_mutable());
  EXPECT_FALSE(parse_schema("a::b(Tensor(a) x) -> ()").is_view());
  EXPECT_FALSE(parse_schema("a::b(Tensor x) -> Tensor").is_view());
  EXPECT_FALSE(parse_schema("a::b(Dict(str, t) self) -> t(*)").is_view());
  EXPECT_TRUE(parse_schema("a::b(Tensor(a) x) -> Tensor(b|a)").is_view());
}

TEST(Schema, PrintsAsPyTorch) {
  for (const std::string_view text :
       {"foo(Tensor x) -> Tensor", "prim::Print(...) -> ()", "prim::profile(...) -> ...",
        "aten::format(str self, ...) -> str", "a::b(int x, *, int y, ...) -> (Tensor(a), ...)",
        "aten::items.str(Dict(str, t) self) -> ((str, t)[])",
        "aten::popitem.str(Dict(str, t)(a!) self) -> ((str, t))",
        "aten::get.str(Dict(str, t) self, str key) -> t(*)?",
        "aten::setdefault.str(Dict(str, t)(a!) self, str(b -> *) key, t(c -> *) default_value) -> t(*)",
        "aten::keys.str(Dict(str, t) self) -> str[](*)",
        "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        "aten::cpu(Tensor(a) self) -> Tensor(b|a)",
        "a::b(Tensor(a)[](b) x, Tensor?(c)[] y, Tensor(d)[][] z, Tensor(e)[]? u) -> Tensor(f! -> g|*)",
        "a::b(Tensor($0! -> ) x) -> ()", "a::b(int[2]? size=3) -> Tensor Y"}) {
    EXPECT_EQ(echo(text), text);
  }
}

TEST(Schema, ReadsTheSpellingOfPyTorchsSources) {
  EXPECT_EQ(echo("a::b( Tensor! x,Tensor!\ty )->()"), "a::b(Tensor($0! -> ) x, Tensor($1! -> ) y) -> ()");
  EXPECT_EQ(echo("a::b(int x, *) -> (Tensor)"), "a::b(int x) -> Tensor");
  EXPECT_EQ(echo("a::b(Tensor(a)? x, Tensor?(a) y) -> Tensor(a)?[]"),
            "a::b(Tensor(a)? x, Tensor(a)? y) -> Tensor?(a)[]");
  EXPECT_EQ(echo("a::b((Tensor(a), int) x, Future(Tensor(a)) y) -> None"),
            "a::b((Tensor, int) x, Future(Tensor) y) -> NoneType");
  EXPECT_EQ(echo("a::b(Tensor(a|a) x, Tensor(*|a) y) -> ()"), "a::b(Tensor(a) x, Tensor(*) y) -> ()");
}

TEST(Schema, PrintsDefaultsAsPyTorch) {
  EXPECT_EQ(echo_default("float x=1e-5"), "1.0000000000000001e-05");
  EXPECT_EQ(echo_default("float x=1"), "1.");
  EXPECT_EQ(echo_default("float? x=1"), "1");
  EXPECT_EQ(echo_default("float x=-0.5"), "-0.5");
  EXPECT_EQ(echo_default("float x=.5"), "0.5");
  EXPECT_EQ(echo_default("float x=1e20"), "1e+20");
  EXPECT_EQ(echo_default("float x=123456789012"), "123456789012.");
  EXPECT_EQ(echo_default("float x=-inf"), "-inf");
  EXPECT_EQ(echo_default("Scalar x=1e-3"), "0.001");
  EXPECT_EQ(echo_default("int x=-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(echo_default("int[2] x=1"), "1");
  EXPECT_EQ(echo_default("int[2] x=[1, 1]"), "1");
  EXPECT_EQ(echo_default("int[2] x=[1,2]"), "[1, 2]");
  EXPECT_EQ(echo_default("int[1] x=1"), "[1]");
  EXPECT_EQ(echo_default("int[] x=1"), "1");
  EXPECT_EQ(echo_default("int[] x=[]"), "[]");
  EXPECT_EQ(echo_default("SymInt[2] x=1"), "[1, 1]");
  EXPECT_EQ(echo_default("bool[2] x=True"), "[True, True]");
  EXPECT_EQ(echo_default("float[2] x=1e-5"), "[1.0000000000000001e-05, 1.0000000000000001e-05]");
  EXPECT_EQ(echo_default("int[]? x=None"), "None");
  EXPECT_EQ(echo_default("ScalarType x=float"), "6");
  EXPECT_EQ(echo_default("ScalarType? x=float16"), "5");
  EXPECT_EQ(echo_default("Layout x=strided"), "0");
  EXPECT_EQ(echo_default("int x=Mean"), "1");
  EXPECT_EQ(echo_default("MemoryFormat x=contiguous_format"), "0");
  EXPECT_EQ(echo_default("complex x=1j"), "0.+1.j");
  EXPECT_EQ(echo_default("complex x=0.+1.j"), "0.+1.j");
  EXPECT_EQ(echo_default("complex x=1.5-2.5j"), "1.5-2.5j");
  EXPECT_EQ(echo_default("Device x='cuda:0'"), "cuda:0");
  EXPECT_EQ(echo_default("Device? x=cuda:0"), "cuda:0");
  EXPECT_EQ(echo_default(R"(str x='a"b\n\001\\')"), R"("a\"b\n\001\\")");
  EXPECT_EQ(echo_default(R"(str? x="'\303\251")"), R"("\'\303\251")");
}

TEST(Schema, DefaultsAreValues) {
  const Schema schema = parse_schema(R"(a::b(float x=1e-5, int[2] y=3, str z="a\tb", bool w=True) -> ())");
  EXPECT_EQ(schema.arguments[0].default_value, DefaultValue{1e-5});
  EXPECT_EQ(schema.arguments[0].default_text, "1e-5");
  EXPECT_EQ(schema.arguments[1].default_value,
            (DefaultValue{DefaultValue::List{{int64_t{3}}, {int64_t{3}}}}));
  EXPECT_EQ(schema.arguments[2].default_value, DefaultValue{std::string("a\tb")});
  EXPECT_EQ(schema.arguments[2].default_text, R"("a\tb")");
  EXPECT_EQ(schema.arguments[3].default_value, DefaultValue{true});
  EXPECT_EQ(schema, parse_schema(to_string(schema)));
}

TEST(Schema, ErrorsSayWhere) {
  EXPECT_EQ(schema_error(""), "byte 0: expected the name of an operator, found the end of the text");
  EXPECT_EQ(schema_error("a::"), "byte 3: expected the name of an operator, found the end of the text");
  EXPECT_EQ(schema_error("a::b"), "byte 4: expected '(', found the end of the text");
  EXPECT_EQ(schema_error("a::b(int x,) -> ()"), "byte 11: expected a type, found ')'");
  EXPECT_EQ(schema_error("a::b(int) -> ()"), "byte 8: expected the name of an argument, found ')'");
  EXPECT_EQ(schema_error("a::b(int x)"), "byte 11: expected '->', found the end of the text");
  EXPECT_EQ(schema_error("a::b(int x) -> int y z"), "byte 21: expected the end of the schema, found 'z'");
  EXPECT_EQ(schema_error("a::b(..., int x) -> ()"), "byte 10: '...' must be the last argument");
  EXPECT_EQ(schema_error("a::b() -> (..., int)"), "byte 16: '...' must be the last return value");
  EXPECT_EQ(schema_error("a::b(int x=1, ...) -> ()"), "byte 19: with '...', no argument may have a default");
  EXPECT_EQ(schema_error("a::b(int x=1, int y) -> ()"),
            "byte 14: argument 'y' has no default but follows one that has");
  EXPECT_EQ(schema_error("a::b.default() -> ()"), "byte 4: 'default' cannot be the name of an overload");
  EXPECT_EQ(schema_error("a::b.__x() -> ()"), "byte 4: '__x' cannot be the name of an overload");
  EXPECT_EQ(schema_error("a::b(Tensor(a!!) x) -> ()"), "byte 14: expected ')', found '!'");
  EXPECT_EQ(schema_error("a::b(Tensor() x) -> ()"), "byte 12: expected the name of an alias set, found ')'");
  EXPECT_EQ(schema_error("a::b(Tensor(a)?(b) x) -> ()"), "byte 15: a type has two aliases");
  EXPECT_EQ(schema_error("a::b(int[2][] x) -> ()"), "byte 11: expected the name of an argument, found '['");
}

TEST(Schema, BadDefaultsAreErrors) {
  EXPECT_EQ(schema_error("a::b(int x=) -> ()"), "byte 11: expected a default value, found ')'");
  EXPECT_EQ(schema_error("a::b(int x=foo) -> ()"), "byte 11: 'foo' is no default value");
  EXPECT_EQ(schema_error("a::b(int x=99999999999999999999) -> ()"),
            "byte 11: '99999999999999999999' does not fit into an int");
  EXPECT_EQ(schema_error("a::b(float x=1e999) -> ()"), "byte 13: '1e999' is not a number");
  EXPECT_EQ(schema_error("a::b(float x=1e) -> ()"), "byte 13: '1e' is not a number");
  EXPECT_EQ(schema_error("a::b(str x='abc) -> ()"), "byte 11: a string does not end");
  EXPECT_EQ(schema_error("a::b(str x='\\q') -> ()"), "byte 12: a string has an unknown escape");
  EXPECT_EQ(schema_error("a::b(str x='\\777') -> ()"), "byte 12: a string has an escape beyond one byte");
  EXPECT_EQ(schema_error("a::b(str x='\\"), "byte 12: a string has an unknown escape");
  EXPECT_EQ(schema_error("a::b(int[] x=[1) -> ()"), "byte 15: expected ']', found ')'");
  EXPECT_EQ(schema_error("a::b(complex x=1.+2.) -> ()"), "byte 18: expected an imaginary number");
}

TEST(Schema, SizeIsLimited) {
  std::string text = "a::b(";
  while (text.size() < kMostSchemaBytes) text += "int[64] x=1, ";
  EXPECT_EQ(schema_error(text).substr(0, 15), "a schema has 65");
  std::string sets = "a::b(Tensor(s";
  for (int i = 0; i < 64; ++i) sets += "|s" + std::to_string(i);
  EXPECT_EQ(schema_error(sets + ") x) -> ()"), "byte 259: an alias names more than 64 sets");
}

}  // namespace
}  // namespace flambeau
