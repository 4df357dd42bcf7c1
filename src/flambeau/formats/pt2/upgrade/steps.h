// The steps of an upgrade: one function per major, which turns an object of that major into one of the next.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive/json/json.h"
#include "flambeau/formats/pt2/schema_versions.h"
#include "flambeau/formats/pt2/upgrade/upgrade.h"

namespace flambeau::pt2 {

struct UpgradeContext {
  SchemaVersion from;
  const ExprToSrepr& expr_to_srepr;
  std::vector<std::pair<std::string, Tensor>> constants = {};
  std::vector<std::pair<int, std::string>> notes = {};  // with the major that was left

  // Keeps a sentence once.
  void note(int major, std::string_view sentence);
};

// Gives a union its form of today, {member: value}, from any of the three it had. Throws Error(kCorrupt)
// unless exactly one member is set.
void unify_union(UpgradeContext& context, const SchemaType& type, json::Value& value);

// Each is called when the walk comes to an object, after the steps of older majors.
void leave_major_1(UpgradeContext& context, const SchemaType& type, json::Value& value);
void leave_major_2(UpgradeContext& context, const SchemaType& type, json::Value& value);
void leave_major_3(UpgradeContext& context, const SchemaType& type, json::Value& value);
void leave_major_4(UpgradeContext& context, const SchemaType& type, json::Value& value);
void leave_major_5(UpgradeContext& context, const SchemaType& type, json::Value& value);
void leave_major_6(UpgradeContext& context, const SchemaType& type, json::Value& value);
void leave_major_7(UpgradeContext& context, const SchemaType& type, json::Value& value);

// What of major 1 needs the finished graph: its constants become inputs, its signature becomes specs, its
// call spec an entry of the module call graph. For a GraphModule, after its members.
void finish_major_1(UpgradeContext& context, json::Value& graph_module);

// Adds what has a default, in the order of today; what is unknown comes last. Throws Error(kCorrupt) where
// something without a default is missing.
void complete(const SchemaType& type, json::Value& value);

// Takes the constants out of a graph of major 1; they become inputs, before those of the user.
void lift_constants(UpgradeContext& context, json::Value& graph, json::Value& signature);

// Symbols whose value only the data tells were i0, i1; they became u0, u1 while 3.1 was
// current.
std::string rename_unbacked(std::string_view expression);

}  // namespace flambeau::pt2
