#include "flambeau/formats/pt2/upgrade/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flambeau/base/error.h"

namespace flambeau::pt2 {
namespace {

class Walker {
 public:
  explicit Walker(ProgramVisitor& visitor) : visitor_(visitor) {}

  void run(json::Value& program) {
    try {
      walk(*find_schema_type("ExportedProgram"), program);
    } catch (Error& error) {
      // Steps are taken back only where no error passed, so this is the way to the place.
      if (!path_.empty()) error.add_location("at", path_);
      throw;
    }
  }

 private:
  void walk(const SchemaType& type, json::Value& value) {
    edit_object(value);  // throws for anything else, before the visitor sees it
    visitor_.enter(type, value);
    for (auto& [name, member] : edit_object(value)) {
      const SchemaField* field = type.find(name);
      if (field == nullptr || field->shape == FieldShape::kPlain || field->shape == FieldShape::kEnum)
        continue;
      const size_t before = path_.size();
      if (before != 0) path_ += '.';
      path_ += name;
      walk_field(*field, member);
      path_.resize(before);
    }
    visitor_.leave(type, value);
  }

  void walk_field(const SchemaField& field, json::Value& value) {
    if (value.is_null() && field.default_json == "null") return;
    const SchemaType& type = *find_schema_type(field.type);
    switch (field.shape) {
      case FieldShape::kOne:
        return walk(type, value);
      case FieldShape::kList:
        return each(value, [&](json::Value& item) { walk(type, item); });
      case FieldShape::kLists:
        return each(value,
                    [&](json::Value& list) { each(list, [&](json::Value& item) { walk(type, item); }); });
      case FieldShape::kDict:
        for (auto& [name, member] : edit_object(value)) {
          const size_t before = path_.size();
          path_ += fmt::format("[{}]", name);
          walk(type, member);
          path_.resize(before);
        }
        return;
      case FieldShape::kPlain:
      case FieldShape::kEnum:
        return;
    }
  }

  template <typename Item>
  void each(json::Value& list, Item&& item) {
    json::Array& items = edit_array(list);
    for (size_t i = 0; i < items.size(); ++i) {
      const size_t before = path_.size();
      path_ += fmt::format("[{}]", i);
      item(items[i]);
      path_.resize(before);
    }
  }

  ProgramVisitor& visitor_;
  std::string path_;
};

}  // namespace

void walk_program(json::Value& program, ProgramVisitor& visitor) { Walker(visitor).run(program); }

// The value itself is not const: its accessors only say that readers do not change it.
json::Object& edit_object(json::Value& value) { return const_cast<json::Object&>(value.as_object()); }
json::Array& edit_array(json::Value& value) { return const_cast<json::Array&>(value.as_array()); }

json::Value* find_member(json::Value& object, std::string_view key) {
  json::Object& members = edit_object(object);
  const auto found = std::ranges::find(members, key, &json::Member::first);
  return found == members.end() ? nullptr : &found->second;
}

json::Value remove_member(json::Value& object, std::string_view key) {
  json::Object& members = edit_object(object);
  const auto found = std::ranges::find(members, key, &json::Member::first);
  if (found == members.end()) return {};
  json::Value value = std::move(found->second);
  members.erase(found);
  return value;
}

json::Value& require_member(json::Value& object, std::string_view key) {
  if (json::Value* member = find_member(object, key)) return *member;
  throw Error(ErrorCode::kCorrupt, fmt::format("'{}' is missing", key));
}

}  // namespace flambeau::pt2
