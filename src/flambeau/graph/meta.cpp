#include "flambeau/graph/meta.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::graph {

const json::Object& Extras::members() const {
  static const json::Object kNone;
  return members_ ? *members_ : kNone;
}

void Extras::add(std::string key, json::Value value) {
  if (!members_) members_ = std::make_unique<json::Object>();
  members_->emplace_back(std::move(key), std::move(value));
}

struct SymExpr::Reading::Result {
  explicit Result(const std::string& text) {
    try {
      expr = symbolic::parse(text);
    } catch (const Error& found) {
      error = found;
    }
  }
  std::optional<symbolic::Expr> expr;
  std::optional<Error> error;
};

SymExpr::Reading& SymExpr::Reading::operator=(const Reading& other) {
  if (this != &other) delete result_.exchange(nullptr);
  return *this;
}

SymExpr::Reading::~Reading() { delete result_.load(); }

const SymExpr::Reading::Result& SymExpr::Reading::of(const std::string& written) const {
  if (const Result* const known = result_.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<const Result>(written);
  const Result* other = nullptr;
  return result_.compare_exchange_strong(other, made.get()) ? *made.release() : *other;
}

const symbolic::Expr& SymExpr::expr() const {
  const Reading::Result& result = reading.of(text);
  if (result.error) throw *result.error;
  return *result.expr;
}

const symbolic::Expr* SymExpr::find_expr() const {
  const Reading::Result& result = reading.of(text);
  return result.expr ? &*result.expr : nullptr;
}

std::string SymExpr::plain() const {
  const symbolic::Expr* const found = find_expr();
  return found != nullptr ? symbolic::to_string(*found) : text;
}

std::string DeviceSpec::to_string() const { return index ? fmt::format("{}:{}", type, *index) : type; }

Device DeviceSpec::device() const {
  return parse_device(to_string()).value_or(Device{.type = DeviceType::kOther});
}

DeviceSpec DeviceSpec::of(const Device& device) {
  DeviceSpec spec;
  spec.type = Device{.type = device.type}.to_string();
  if (device.index >= 0) spec.index = device.index;
  return spec;
}

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
