// What a program says of a value before it runs: sizes that may be expressions, element type, device.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "flambeau/archive/json/json.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/tensor/dtype.h"
#include "flambeau/tensor/memory_format.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::graph {

// Members of a JSON object that this version does not know. They survive a round trip, behind the known ones.
// Nearly always absent, so it costs a pointer.
class Extras {
 public:
  Extras() = default;
  Extras(const Extras& other)
      : members_(other.members_ ? std::make_unique<json::Object>(*other.members_) : nullptr) {}
  Extras(Extras&&) noexcept = default;
  Extras& operator=(const Extras& other) {
    if (this != &other) *this = Extras(other);
    return *this;
  }
  Extras& operator=(Extras&&) noexcept = default;

  bool empty() const { return members_ == nullptr; }
  const json::Object& members() const;
  void add(std::string key, json::Value value);

 private:
  std::unique_ptr<json::Object> members_;
};

// A device as a program names it; the kind may be one that only its writer knows.
struct DeviceSpec {
  std::string type = "cpu";
  std::optional<int64_t> index = {};
  Extras extras = {};
  // "cuda:0".
  std::string to_string() const;
  // Of a kind that nobody here knows: DeviceType::kOther.
  Device device() const;
  static DeviceSpec of(const Device& device);
};
bool operator==(const DeviceSpec& a, const DeviceSpec& b);

// An expression over symbols, in the text form the file has it in (sympy's srepr since schema 8; its plain
// form before), and the value it had for the example inputs.
struct SymExpr {
  // What a text says, read when it is first asked for; threads may ask at once. Copies read it anew.
  class Reading {
   public:
    Reading() = default;
    Reading(const Reading& /*other*/) {}
    Reading& operator=(const Reading& other);
    ~Reading();

   private:
    friend struct SymExpr;
    struct Result;
    const Result& of(const std::string& text) const;
    mutable std::atomic<const Result*> result_ = nullptr;
  };

  std::string text;  // not to be changed once it has been read
  std::variant<std::monostate, int64_t, bool, double> hint;
  Extras extras = {};
  Reading reading = {};

  // Throws what symbolic::parse throws.
  const symbolic::Expr& expr() const;
  // Null for a text that is none.
  const symbolic::Expr* find_expr() const;
  // As people write it: "2*s77"; a text that is no expression as it is.
  std::string plain() const;
};

// A number, or an expression. Expressions are shared: one program names the same few ones everywhere.
template <typename Number>
class SymScalar {
 public:
  SymScalar() = default;
  SymScalar(Number literal) : literal_(literal) {}  // NOLINT(google-explicit-constructor): a number is one
  explicit SymScalar(std::shared_ptr<const SymExpr> expr) : expr_(std::move(expr)) {}

  bool is_literal() const { return expr_ == nullptr; }
  Number literal() const { return literal_; }
  // Only when it is no literal.
  const SymExpr& expr() const { return *expr_; }
  const std::shared_ptr<const SymExpr>& shared_expr() const { return expr_; }

 private:
  Number literal_ = {};
  std::shared_ptr<const SymExpr> expr_;
};
using SymInt = SymScalar<int64_t>;
using SymFloat = SymScalar<double>;
using SymBool = SymScalar<bool>;

struct TensorMeta {
  DType dtype = DType::kFloat32;
  std::vector<SymInt> sizes;
  bool requires_grad = false;
  DeviceSpec device;
  std::vector<SymInt> strides;
  SymInt storage_offset;
  Layout layout = Layout::kStrided;
  Extras extras = {};
};

// An object of a class registered with PyTorch.
struct CustomObjMeta {
  // The name the entry itself repeats; it differs from the value's name in some files.
  std::string name;
  std::string class_fqn;
  Extras extras = {};
};

// std::monostate: nothing is known of the value.
using Meta = std::variant<std::monostate, TensorMeta, SymInt, SymFloat, SymBool, CustomObjMeta>;

// In the order of Meta's alternatives.
enum class ValueKind : uint8_t { kUnknown, kTensor, kSymInt, kSymFloat, kSymBool, kCustomObj };
inline constexpr size_t kValueKinds = 6;
// "tensor", "SymInt", ...
std::string_view value_kind_name(ValueKind kind);
inline ValueKind kind_of(const Meta& meta) { return static_cast<ValueKind>(meta.index()); }

}  // namespace flambeau::graph
