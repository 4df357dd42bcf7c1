// A walk over every object of a program that the schema knows, with the place at hand for errors.
#pragma once

#include <string>
#include <string_view>

#include "flambeau/archive/json/json.h"
#include "flambeau/formats/pt2/schema_versions.h"

namespace flambeau::pt2 {

class ProgramVisitor {
 public:
  virtual ~ProgramVisitor() = default;
  // Before the members are walked; may replace the value.
  virtual void enter(const SchemaType& type, json::Value& value) = 0;
  // After them.
  virtual void leave(const SchemaType& type, json::Value& value) = 0;
};

// Walks fields that the current schema has; others are passed over. Throws Error(kCorrupt) where an object,
// a list or a dictionary is expected and something else found. Errors, the visitor's too, are located:
// {"at", "graph_module.graph.nodes[3].inputs[0]"}.
void walk_program(json::Value& program, ProgramVisitor& visitor);

// To edit in place. Throw as as_object() and as_array().
json::Object& edit_object(json::Value& value);
json::Array& edit_array(json::Value& value);
// Null when there is none.
json::Value* find_member(json::Value& object, std::string_view key);
// Takes the member out and gives it; null when there is none.
json::Value remove_member(json::Value& object, std::string_view key);
// The member, which must be there. Throws Error(kCorrupt).
json::Value& require_member(json::Value& object, std::string_view key);

}  // namespace flambeau::pt2
