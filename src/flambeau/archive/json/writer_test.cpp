#include "flambeau/archive/json/writer.h"

#include <gtest/gtest.h>

namespace flambeau::json {
namespace {

TEST(JsonWriter, WritesAsPythonDoes) {
  Writer writer;
  writer.begin_object();
  writer.key("a");
  writer.begin_array();
  writer.integer(-1);
  writer.real(1e-7);
  writer.null();
  writer.begin_object();
  writer.end_object();
  writer.boolean(true);
  writer.end_array();
  writer.key("b\n");
  writer.string("\x7f\xc3\xa9");
  writer.key("c");
  writer.value(parse("[1, {\"x\": []}]"));
  writer.end_object();
  EXPECT_EQ(writer.take(),
            R"({"a": [-1, 1e-07, null, {}, true], "b\n": "\u007f\u00e9", "c": [1, {"x": []}]})");
}

}  // namespace
}  // namespace flambeau::json
