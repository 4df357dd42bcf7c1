// What each minor version of an exported program's JSON can hold, as data: the writer asks it for older
// versions, the readers for names, order and defaults. docs/formats/pt2-schema.md tells the history.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/graph/program.h"

namespace flambeau::pt2 {

using graph::kCurrentSchema;  // what PyTorch 2.13 writes
using graph::SchemaVersion;

// "8.17", or "2" as the oldest files have it, which is {2, 0}. Throws Error(kInvalidArgument).
SchemaVersion parse_schema_version(std::string_view text);
// "8.17"
std::string to_string(SchemaVersion version);
// The first PyTorch release that wrote this version or a newer one: "2.11" for 8.17. Empty for a version
// that no release has written.
std::string_view pytorch_release(SchemaVersion version);

enum class FieldShape : uint8_t {
  kPlain,  // text, number, boolean, or lists and dictionaries of them
  kEnum,   // a number of the enum `type`
  kOne,    // an object of `type`
  kList,
  kLists,  // a list of lists
  kDict,   // names to objects of `type`
};

struct SchemaField {
  std::string_view name;
  FieldShape shape = FieldShape::kPlain;
  std::string_view type = {};
  std::string_view default_json = {};  // what stands for a field that is missing; empty: it must be there
  int since = 1;                       // minor of major 8; 8.1 was the first
};

// A dataclass; of a union exactly one field is written.
struct SchemaType {
  std::string_view name;
  bool is_union = false;
  std::span<const SchemaField> fields;  // in the order they are written
  int since = 1;

  // Null when there is none.
  const SchemaField* find(std::string_view field) const;
};

struct SchemaEnumValue {
  std::string_view owner;  // "ScalarType"
  std::string_view name;
  int value = 0;
  int since = 1;
};

// All as of kCurrentSchema.
std::span<const SchemaType> schema_types();
std::span<const SchemaEnumValue> schema_enum_values();
// Null when there is none.
const SchemaType* find_schema_type(std::string_view name);

// What a program of 8.`minor` cannot express, oldest first: "Argument.as_complex (since 8.13)",
// "ScalarType.UINT32 = 34 (since 8.20)".
std::vector<std::string> missing_before(int minor);

}  // namespace flambeau::pt2
