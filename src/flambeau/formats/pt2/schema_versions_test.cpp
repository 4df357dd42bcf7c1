#include "flambeau/formats/pt2/schema_versions.h"

#include <gtest/gtest.h>

#include <set>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"

namespace flambeau::pt2 {
namespace {

TEST(SchemaVersionsTest, ParsesAndPrints) {
  EXPECT_EQ(parse_schema_version("8.17"), (SchemaVersion{8, 17}));
  EXPECT_EQ(parse_schema_version("2"), (SchemaVersion{2, 0}));
  EXPECT_EQ(to_string({8, 20}), "8.20");
  EXPECT_LT((SchemaVersion{7, 4}), (SchemaVersion{8, 1}));
  EXPECT_LT((SchemaVersion{8, 9}), (SchemaVersion{8, 10}));
}

TEST(SchemaVersionsTest, RefusesWhatIsNoVersion) {
  for (const char* text : {"", ".", "8.", ".1", "8.1.2", "-1", "8.-1", "8 .1", "v8", "99999999999"}) {
    try {
      parse_schema_version(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(error.message(), std::string("'") + text + "' is not a schema version");
      EXPECT_EQ(error.remedy(), "write it like 8.20");
    }
  }
}

TEST(SchemaVersionsTest, NamesTheRelease) {
  EXPECT_EQ(pytorch_release({1, 0}), "2.1");
  EXPECT_EQ(pytorch_release({8, 1}), "2.6");
  EXPECT_EQ(pytorch_release({8, 17}), "2.11");
  EXPECT_EQ(pytorch_release(kCurrentSchema), "2.12");
  EXPECT_EQ(pytorch_release({9, 1}), "");
}

TEST(SchemaVersionsTest, TablesAreWhole) {
  std::set<std::string_view> enums;
  for (const SchemaEnumValue& value : schema_enum_values()) enums.insert(value.owner);
  std::set<std::string_view> names;
  for (const SchemaType& type : schema_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_EQ(find_schema_type(type.name), &type);
    for (const SchemaField& field : type.fields) {
      EXPECT_EQ(type.find(field.name), &field) << type.name << "." << field.name;
      EXPECT_LE(type.since, field.since) << type.name << "." << field.name;
      if (field.shape == FieldShape::kEnum) {
        EXPECT_TRUE(enums.contains(field.type)) << field.type;
      } else if (field.shape != FieldShape::kPlain) {
        ASSERT_NE(find_schema_type(field.type), nullptr) << field.type;
        EXPECT_LE(find_schema_type(field.type)->since, field.since) << field.type;
      }
      if (!field.default_json.empty()) {
        EXPECT_EQ(json::dump(json::parse(field.default_json)), field.default_json);
      }
    }
  }
  EXPECT_EQ(find_schema_type("TensorValue"), nullptr);
  EXPECT_EQ(find_schema_type("Node")->find("targets"), nullptr);
}

TEST(SchemaVersionsTest, TellsWhatAMinorLacks) {
  EXPECT_TRUE(missing_before(20).empty());
  EXPECT_EQ(missing_before(18), (std::vector<std::string>{"Argument.as_float_lists (since 8.19)",
                                                          "ScalarType.UINT32 = 34 (since 8.20)",
                                                          "ScalarType.UINT64 = 35 (since 8.20)"}));
  EXPECT_EQ(missing_before(12).front(), "Argument.as_complex (since 8.13)");
  const std::vector<std::string> first = missing_before(1);
  EXPECT_EQ(first.size(), 22u);
  EXPECT_EQ(first.front(), "Argument.as_sym_float (since 8.2)");
  EXPECT_EQ(first.back(), "ScalarType.UINT64 = 35 (since 8.20)");
}

}  // namespace
}  // namespace flambeau::pt2
