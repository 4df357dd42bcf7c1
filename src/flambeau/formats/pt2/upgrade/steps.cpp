#include "flambeau/formats/pt2/upgrade/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/upgrade/walk.h"

namespace flambeau::pt2 {
namespace {

json::Value object_with(std::string_view key, json::Value value) {
  json::Object members;
  members.emplace_back(key, std::move(value));
  return members;
}

// The value of a union's member when that one is set.
json::Value* set_member(json::Value& value, std::string_view key) {
  json::Object& members = edit_object(value);
  return members.size() == 1 && members[0].first == key ? &members[0].second : nullptr;
}

// NaN and infinities are text since 8.6.
bool spell_float(json::Value& value) {
  if (!value.is_double() || std::isfinite(value.as_double())) return false;
  const double number = value.as_double();
  value = std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
  return true;
}

void spell_floats(UpgradeContext& context, json::Value& value) {
  bool changed = false;
  if (json::Value* number = set_member(value, "as_float")) changed = spell_float(*number);
  if (json::Value* numbers = set_member(value, "as_floats")) {
    for (json::Value& number : edit_array(*numbers)) changed |= spell_float(number);
  }
  if (changed) context.note(7, "numbers that are not finite rewritten as text");
}

void bound(UpgradeContext& context, json::Value& range, std::string_view key, double infinity) {
  json::Value& value = require_member(range, key);
  if (value.is_integer() || value.is_null()) return;
  if (!value.is_double() || value.as_double() != infinity) {
    corrupt(fmt::format("expected an integer or {} as '{}', found {}",
                        infinity > 0 ? "Infinity" : "-Infinity", key, printable(json::dump(value))));
  }
  value = nullptr;
  context.note(7, "infinite bounds of symbols rewritten as null");
}

// A higher-order operator's tuple of results: once a list of tensors in one output, now one output each, and
// a flag that tells a tuple of one from a lone tensor. PyTorch takes a missing flag for a tuple, although
// no file without the flag means that.
void tell_results(UpgradeContext& context, json::Value& node) {
  if (!require_member(node, "target").as_string().starts_with("torch.ops.higher_order")) return;
  json::Array& outputs = edit_array(require_member(node, "outputs"));
  bool single = false;
  if (outputs.size() == 1) {
    unify_union(context, *find_schema_type("Argument"), outputs[0]);
    single = set_member(outputs[0], "as_tensor") != nullptr;
    if (json::Value* tensors = set_member(outputs[0], "as_tensors")) {
      json::Array each;
      for (json::Value& tensor : edit_array(*tensors))
        each.push_back(object_with("as_tensor", std::move(tensor)));
      outputs = std::move(each);
    }
  }
  remove_member(node, "is_hop_single_tensor_return");
  node.set("is_hop_single_tensor_return", single);
  context.note(7, "results of higher-order operators marked as one tensor or a tuple");
}

}  // namespace

void UpgradeContext::note(int major, std::string_view sentence) {
  const auto same = [&](const auto& entry) { return entry.second == sentence; };
  if (std::ranges::none_of(notes, same)) notes.emplace_back(major, sentence);
}

void unify_union(UpgradeContext& context, const SchemaType& type, json::Value& value) {
  json::Object& members = edit_object(value);
  const bool tagged = members.size() == 2 && members[0].first == "$type" && members[1].first == "$value";
  if (tagged) {
    json::Object one;
    one.emplace_back(members[0].second.as_string(), std::move(members[1].second));
    value = std::move(one);
    context.note(4, "unions rewritten to name the one member that is set");
  } else if (members.size() != 1) {
    json::Member* set = nullptr;
    for (json::Member& member : members) {
      if (member.second.is_null()) continue;
      if (set != nullptr) {
        corrupt(fmt::format("{} has two members set, '{}' and '{}', expected one", type.name,
                            printable(set->first), printable(member.first)));
      }
      set = &member;
    }
    if (set == nullptr) corrupt(fmt::format("{} has no member set, expected one", type.name));
    json::Object one;
    one.push_back(std::move(*set));
    value = std::move(one);
    context.note(4, "unions rewritten to name the one member that is set");
  }
  const json::Member& member = value.as_object()[0];
  if (member.second.is_null()) corrupt(fmt::format("{} has no member set, expected one", type.name));
  // A typing error of the writer, fixed after four days.
  if (type.name == "OutputSpec" && member.first == "loss_outout") edit_object(value)[0].first = "loss_output";
  if (type.find(member.first) == nullptr) {
    corrupt(fmt::format("{} has no member '{}'", type.name, printable(member.first)));
  }
}

void leave_major_2(UpgradeContext& context, const SchemaType& type, json::Value&) {
  if (type.name == "CustomObjArgument") {
    throw Error(ErrorCode::kUnsupported, "the program holds a custom object in the form of schema 1 or 2",
                "save the program again with PyTorch 2.3 or newer");
  }
  if (type.name == "ExportedProgram")
    context.note(2, "schema version rewritten from a number to major and minor");
}

void leave_major_3(UpgradeContext& context, const SchemaType& type, json::Value& value) {
  if (type.name == "SymExpr") {
    json::Value& text = require_member(value, "expr_str");
    text = rename_unbacked(text.as_string());
  }
  if (type.name == "ExportedProgram") {
    for (auto& [name, range] : edit_object(require_member(value, "range_constraints")))
      name = rename_unbacked(name);
  }
  if (type.name == "InputToBufferSpec" && find_member(value, "persistent") == nullptr) {
    value.set("persistent", true);
    context.note(3, "buffers marked as persistent");
  }
  if (type.name == "Graph" && find_member(value, "script_object_metas") != nullptr) {
    json::Value metas = remove_member(value, "script_object_metas");
    json::Object objects;
    for (auto& [name, meta] : edit_object(metas)) {
      json::Value object = object_with("name", name);
      object.set("class_fqn", std::move(require_member(meta, "class_fqn")));
      objects.emplace_back(name, std::move(object));
    }
    if (!objects.empty()) context.note(3, "metas of script objects rewritten as custom objects");
    value.set("custom_obj_values", std::move(objects));
  }
}

void leave_major_4(UpgradeContext& context, const SchemaType& type, json::Value& value) {
  if (type.name != "TensorMeta") return;
  json::Value& offset = require_member(value, "storage_offset");
  if (!offset.is_integer()) return;
  offset = object_with("as_int", std::move(offset));
  context.note(4, "storage offsets rewritten as symbolic integers");
}

void leave_major_5(UpgradeContext& context, const SchemaType& type, json::Value& value) {
  if (type.name == "OptionalTensorArgument") {
    json::Value* tensor = set_member(value, "as_tensor");
    if (tensor == nullptr || !tensor->is_string()) return;
    *tensor = object_with("name", std::move(*tensor));
    context.note(5, "optional tensors rewritten from names to tensor arguments");
  }
  if (type.name == "ExportedProgram") {
    const json::Value dialect = remove_member(value, "dialect");
    if (dialect.is_null()) corrupt("'dialect' is missing");
    json::Array verifiers;
    verifiers.emplace_back(dialect.as_string());
    remove_member(value, "verifiers");
    value.set("verifiers", std::move(verifiers));
    context.note(5, "dialect rewritten as a list of verifiers");
  }
}

void leave_major_6(UpgradeContext& context, const SchemaType& type, json::Value& value) {
  if (type.name != "ExportedProgram" || find_member(value, "dialect") == nullptr) return;
  const json::Value dialect = remove_member(value, "dialect");
  const json::Value* verifiers = find_member(value, "verifiers");
  if (!dialect.as_string().empty() && (verifiers == nullptr || verifiers->as_array().empty())) {
    remove_member(value, "verifiers");
    json::Array only;
    only.emplace_back(dialect.as_string());
    value.set("verifiers", std::move(only));
  }
  context.note(6, "dialect dropped in favour of the verifiers");
}

void leave_major_7(UpgradeContext& context, const SchemaType& type, json::Value& value) {
  if (type.name == "RangeConstraint") {
    bound(context, value, "min_val", -INFINITY);
    bound(context, value, "max_val", INFINITY);
  } else if (type.name == "SymExpr") {
    json::Value& text = require_member(value, "expr_str");
    std::string expression = context.expr_to_srepr(text.as_string());
    if (expression == text.as_string()) return;
    text = std::move(expression);
    context.note(7, "symbolic expressions rewritten in sympy's constructor form");
  } else if (type.name == "Node") {
    tell_results(context, value);
  } else if (type.name == "Argument" || type.name == "OptionalTensorArgument" ||
             type.name == "ConstantValue") {
    spell_floats(context, value);
    json::Value* none = set_member(value, "as_none");
    if (none == nullptr || none->is_bool()) return;
    if (!none->as_array().empty()) corrupt("expected an empty list as 'as_none'");
    *none = true;
    context.note(7, "as_none rewritten from an empty list to true");
  }
}

void complete(const SchemaType& type, json::Value& value) {
  if (type.is_union) return;
  json::Object& members = edit_object(value);
  std::vector<json::Value*> known(type.fields.size(), nullptr);
  size_t unknown = 0;
  for (auto& [name, member] : members) {
    const SchemaField* field = type.find(name);
    if (field == nullptr) {
      ++unknown;
    } else {
      known[static_cast<size_t>(field - type.fields.data())] = &member;
    }
  }
  json::Object ordered;
  ordered.reserve(type.fields.size() + unknown);
  for (size_t i = 0; i < known.size(); ++i) {
    const SchemaField& field = type.fields[i];
    if (known[i] != nullptr) {
      ordered.emplace_back(field.name, std::move(*known[i]));
    } else if (!field.default_json.empty()) {
      ordered.emplace_back(field.name, json::parse(field.default_json));
    } else {
      corrupt(fmt::format("{} has no '{}'", type.name, field.name));
    }
  }
  for (json::Member& member : members) {
    if (type.find(member.first) == nullptr) ordered.push_back(std::move(member));
  }
  value = std::move(ordered);
}

}  // namespace flambeau::pt2
