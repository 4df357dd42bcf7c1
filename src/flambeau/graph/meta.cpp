#include "flambeau/graph/meta.h"

#include <fmt/format.h>

namespace flambeau::graph {

const json::Object& Extras::members() const {
  static const json::Object kNone;
  return members_ ? *members_ : kNone;
}

void Extras::add(std::string key, json::Value value) {
  if (!members_) members_ = std::make_unique<json::Object>();
  members_->emplace_back(std::move(key), std::move(value));
}

std::string DeviceSpec::to_string() const { return index ? fmt::format("{}:{}", type, *index) : type; }

bool operator==(const DeviceSpec& a, const DeviceSpec& b) { return a.type == b.type && a.index == b.index; }

std::string_view value_kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::kUnknown:
      return "unknown value";
    case ValueKind::kTensor:
      return "tensor";
    case ValueKind::kSymInt:
      return "SymInt";
    case ValueKind::kSymFloat:
      return "SymFloat";
    case ValueKind::kSymBool:
      return "SymBool";
    case ValueKind::kCustomObj:
      return "custom object";
  }
  return "value";
}

}  // namespace flambeau::graph
