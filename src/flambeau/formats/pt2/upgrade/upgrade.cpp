#include "flambeau/formats/pt2/upgrade/upgrade.h"

#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/upgrade/steps.h"
#include "flambeau/formats/pt2/upgrade/walk.h"

namespace flambeau::pt2 {
namespace {

using Step = void (*)(UpgradeContext&, const SchemaType&, json::Value&);
constexpr Step kSteps[] = {leave_major_1, leave_major_2, leave_major_3, leave_major_4,
                           leave_major_5, leave_major_6, leave_major_7};

class Upgrader final : public ProgramVisitor {
 public:
  explicit Upgrader(UpgradeContext& context) : context_(context) {}

  void enter(const SchemaType& type, json::Value& value) override {
    if (type.is_union) unify_union(context_, type, value);
    for (int major = context_.from.major; major < kCurrentSchema.major; ++major) {
      kSteps[major - 1](context_, type, value);
    }
  }

  void leave(const SchemaType& type, json::Value& value) override {
    if (context_.from.major == 1) {
      // The tables of the oldest signatures wait for the graph.
      if (type.name == "GraphSignature" && value.find("input_specs") == nullptr) return;
      if (type.name == "GraphModule") finish_major_1(context_, value);
    }
    complete(type, value);
  }

 private:
  UpgradeContext& context_;
};

int version_number(const json::Value& value) {
  const int64_t number = value.as_int();
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::kCorrupt, fmt::format("{} is not a version number", number));
  }
  return static_cast<int>(number);
}

}  // namespace

SchemaVersion stated_version(const json::Value& program) {
  return with_location("at", "schema_version", [&]() -> SchemaVersion {
    program.as_object();
    const json::Value* version = program.find("schema_version");
    if (version == nullptr) throw Error(ErrorCode::kCorrupt, "the program states no schema version");
    if (version->is_integer()) return {version_number(*version), 0};
    version->as_object();
    const json::Value* major = version->find("major");
    const json::Value* minor = version->find("minor");
    if (major == nullptr || minor == nullptr) {
      throw Error(ErrorCode::kCorrupt, "expected a number, or an object with 'major' and 'minor'");
    }
    return {version_number(*major), version_number(*minor)};
  });
}

Upgrade upgrade_program(json::Value& program, const ExprToSrepr& expr_to_srepr) {
  const SchemaVersion from = stated_version(program);
  if (from.major > kCurrentSchema.major) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("schema version {} is newer than {}, which this Flambeau reads", to_string(from),
                            to_string(kCurrentSchema)),
                "use a newer Flambeau, or save the program with PyTorch 2.13 or older");
  }
  const bool unversioned = from == SchemaVersion{0, 0} && !program.find("schema_version")->is_integer();
  if (from.major == kCurrentSchema.major || unversioned) return {from, {}, {}};
  if (from.major == 0) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("schema version {} is older than the first that PyTorch saved, 1", to_string(from)),
        "export the program again");
  }

  json::Object current;
  current.emplace_back("major", kCurrentSchema.major);
  current.emplace_back("minor", kCurrentSchema.minor);
  *find_member(program, "schema_version") = std::move(current);
  UpgradeContext context{from, expr_to_srepr};
  Upgrader upgrader(context);
  walk_program(program, upgrader);

  Upgrade upgrade{from, {}, std::move(context.constants)};
  for (int major = 1; major < kCurrentSchema.major; ++major) {
    for (auto& [left, sentence] : context.notes) {
      if (left == major) upgrade.notes.push_back(std::move(sentence));
    }
  }
  return upgrade;
}

}  // namespace flambeau::pt2
