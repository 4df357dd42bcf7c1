// Any bytes are a schema or an Error; what a schema prints is a schema again, and prints the same. Types and
// names likewise, and the table finds or does not find.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;  // NOLINT: a test program

template <typename Body>
void survive(Body&& body) {
  try {
    body();
  } catch (const Error&) {
  }
}

// Printing can make a text longer than what is read: a list's default given once is printed N times. And
// PyTorch prints "int[1] x=[2, 2]" as "int[1] x=2", which is "int[1] x=[2]": so it is the second text that
// must last.
void print_and_read_again(const Schema& schema) {
  const std::string first = to_string(schema);
  if (first.size() > kMostSchemaBytes) return;
  const std::string second = to_string(parse_schema(first));
  if (second.size() > kMostSchemaBytes) return;
  if (to_string(parse_schema(second)) != second) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  bool is_schema = false;
  Schema schema;
  survive([&] {
    schema = parse_schema(text);
    is_schema = true;
  });
  if (is_schema) {
    print_and_read_again(schema);
    SchemaTable table;
    survive([&] { table.add(text); });
    if (table.find(schema.name) == nullptr) std::abort();
  }
  bool is_type = false;
  Type type = TypeKind::kTensor;
  survive([&] {
    type = parse_type(text);
    is_type = true;
  });
  if (is_type && parse_type(type.to_string()) != type) std::abort();
  if (const auto name = find_python_operator(text)) {
    if (parse_python_operator(name->to_python()) != *name) std::abort();
    SchemaTable().find(*name);
  }
  const SchemaTable table;
  table.find(text, "");
  survive([&] { table.get(text, "out"); });
  return 0;
}
