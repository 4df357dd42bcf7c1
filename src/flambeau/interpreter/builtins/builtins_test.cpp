#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

// Whether a C++ parameter takes what the schema says.
bool takes(const ParameterKind& parameter, const Type& type) {
  if (parameter.kind == Kind::kAny) return true;
  if (type.is(TypeKind::kOptional) && !parameter.is_optional) return false;
  switch (type.without_optional().kind()) {
    case TypeKind::kInt:
    case TypeKind::kSymInt:
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
      return parameter.kind == Kind::kInt;
    case TypeKind::kFloat:
      return parameter.kind == Kind::kFloat;
    case TypeKind::kBool:
      return parameter.kind == Kind::kBool;
    case TypeKind::kComplex:
      return parameter.kind == Kind::kComplex;
    case TypeKind::kString:
      return parameter.kind == Kind::kString;
    case TypeKind::kTensor:
      return parameter.kind == Kind::kTensor;
    case TypeKind::kList:
      return parameter.kind == Kind::kList;
    case TypeKind::kDict:
      return parameter.kind == Kind::kDict;
    case TypeKind::kDevice:
      return parameter.kind == Kind::kDevice;
    case TypeKind::kAnyEnum:
      return parameter.kind == Kind::kEnum;
    case TypeKind::kFuture:
    case TypeKind::kAwait:
      return parameter.kind == Kind::kFuture;
    case TypeKind::kGenerator:
    case TypeKind::kClass:
      return parameter.kind == Kind::kNative;
    default:
      return false;
  }
}

TEST(Builtins, TakeWhatTheirSchemasSay) {
  const Builtins builtins;
  const SchemaTable table;
  size_t count = 0;
  for (const std::string& name : builtins.names()) {
    const Builtin& builtin = *builtins.find(name);
    // Forms of the language that are no operators: their nodes call these by name.
    if (name == "prim::tolist") continue;
    const OperatorEntry* const entry = table.find(parse_operator_name(name));
    ASSERT_NE(entry, nullptr) << name;
    ++count;
    if (builtin.parameters.size() == 1 && builtin.parameters[0].kind == Kind::kCall) continue;
    ASSERT_EQ(builtin.parameters.size(), entry->schema.arguments.size()) << name;
    for (size_t i = 0; i < builtin.parameters.size(); ++i) {
      EXPECT_TRUE(takes(builtin.parameters[i], entry->schema.arguments[i].type))
          << name << ": " << entry->schema.arguments[i].name;
    }
  }
  EXPECT_GT(count, 690U);
}

TEST(Builtins, FloatsAsText) {
  EXPECT_EQ(float_text(1.0), "1.");
  EXPECT_EQ(float_text(-0.0), "0.");
  EXPECT_EQ(float_text(0.1), "0.10000000000000001");
  EXPECT_EQ(float_text(1e20), "1e+20");
  EXPECT_EQ(float_text(5e-324), "4.9406564584124654e-324");
}

TEST(Builtins, DivisionRoundsDown) {
  EXPECT_EQ(floor_divide(-7, 2), -4);
  EXPECT_EQ(floor_divide(7, -2), -4);
  EXPECT_EQ(floor_remainder(-7, 2), 1);
  EXPECT_EQ(floor_remainder(7, -2), -1);
  EXPECT_EQ(floor_remainder(INT64_MIN, -1), 0);
  EXPECT_THROW(floor_divide(1, 0), Error);
  EXPECT_THROW(floor_remainder(1, 0), Error);
  EXPECT_THROW(floor_divide(INT64_MIN, -1), Error);
}

TEST(Builtins, Slices) {
  const auto slice = [](size_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
    const Slice found = slice_of(size, start, end, step);
    return std::tuple(found.start, found.count);
  };
  EXPECT_EQ(slice(5, {}, {}, 1), std::tuple(0, 5));
  EXPECT_EQ(slice(5, {}, {}, -1), std::tuple(4, 5));
  EXPECT_EQ(slice(5, -2, {}, 1), std::tuple(3, 2));
  EXPECT_EQ(slice(5, 1, 100, 2), std::tuple(1, 2));
  EXPECT_EQ(slice(0, {}, {}, 3), std::tuple(0, 0));
  EXPECT_EQ(slice(5, INT64_MIN, INT64_MAX - 1, 1), std::tuple(0, 5));
  EXPECT_THROW(slice_of(5, {}, {}, 0), Error);
  EXPECT_THROW(slice_of(5, {}, {}, INT64_MIN), Error);
}

// A script must not get what no machine has.
TEST(Builtins, RoomIsAskedFor) {
  EXPECT_THROW(require_room(UINT64_MAX, 16), Error);
  EXPECT_THROW(require_room(uint64_t{1} << 60), Error);
  require_room(1000);
}

}  // namespace
}  // namespace flambeau::interpreter
