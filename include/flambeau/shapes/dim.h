// What a user says of one dimension: a name with bounds that the program must accept in full, a sum or
// product with one, a literal, or a hint (AUTO, DYNAMIC, STATIC) that leaves the rest to the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flambeau::symbolic {
class Expr;
class ValueRange;
}  // namespace flambeau::symbolic

namespace flambeau::trace {

enum class DimKind : uint8_t {
  kNone,     // nothing is said: static
  kNamed,    // Dim("batch")
  kDerived,  // 2*batch + 1
  kLiteral,  // 4
  kAuto,     // dynamic unless the model needs one size
  kDynamic,  // dynamic; an error when the model needs one size
  kStatic,
};

struct Bounds {
  std::optional<int64_t> min = {};
  std::optional<int64_t> max = {};
};

// AUTO and its sisters; called, they take bounds: Dim::DYNAMIC({.max = 64}).
struct DimHint {
  DimKind kind = DimKind::kAuto;
  Bounds bounds = {};

  DimHint operator()(Bounds given) const;
};

class Dim {
 public:
  // NOLINTBEGIN(readability-identifier-naming): PyTorch's names
  static constexpr DimHint AUTO{DimKind::kAuto};
  static constexpr DimHint DYNAMIC{DimKind::kDynamic};
  static constexpr DimHint STATIC{DimKind::kStatic};
  // NOLINTEND(readability-identifier-naming)

  Dim() = default;
  // Throws Error(kInvalidArgument) for a name that is no identifier, and unless min < max.
  explicit Dim(std::string name, Bounds bounds = {});
  Dim(const DimHint& hint);                                 // NOLINT(google-explicit-constructor)
  Dim(int64_t literal);                                     // NOLINT(google-explicit-constructor)
  Dim(int literal) : Dim(static_cast<int64_t>(literal)) {}  // NOLINT(google-explicit-constructor)

  // Only what grows with the dimension is allowed: sums with integers and products with positive ones.
  // Throw Error(kInvalidArgument) for anything else.
  friend Dim operator+(const Dim& dim, int64_t number) { return dim.derive(1, number); }
  friend Dim operator+(int64_t number, const Dim& dim) { return dim.derive(1, number); }
  friend Dim operator-(const Dim& dim, int64_t number) { return dim.derive(1, -number); }
  friend Dim operator*(const Dim& dim, int64_t factor) { return dim.derive(factor, 0); }
  friend Dim operator*(int64_t factor, const Dim& dim) { return dim.derive(factor, 0); }

  DimKind kind() const { return kind_; }
  bool is_hint() const {
    return kind_ == DimKind::kAuto || kind_ == DimKind::kDynamic || kind_ == DimKind::kStatic;
  }
  // "batch", "2*batch + 1", "4".
  const std::string& name() const { return name_; }
  const std::string& root_name() const { return root_name_; }
  Dim root() const;
  int64_t factor() const { return factor_; }
  int64_t offset() const { return offset_; }
  // factor*root + offset
  symbolic::Expr apply(const symbolic::Expr& root) const;
  // The root's value where the dimension has this one; nothing when there is no such integer.
  std::optional<int64_t> solve_root(int64_t value) const;
  // As given; of a hint, what it was called with.
  const Bounds& bounds() const { return bounds_; }
  // From 0 where no minimum is given. Throws Error(kInvalidArgument) for a derived one that can be negative.
  symbolic::ValueRange range() const;

  // "Dim('batch', min=2, max=8)", "2*batch", "Dim.AUTO(max=8)".
  std::string to_string() const;

 private:
  Dim derive(int64_t factor, int64_t offset) const;

  DimKind kind_ = DimKind::kNone;
  std::string name_;
  std::string root_name_;
  Bounds bounds_;  // of the root
  int64_t factor_ = 1;
  int64_t offset_ = 0;
};

// "Dim('a', min=3)": how a user would write it.
std::string dim_text(const std::string& name, std::optional<int64_t> min, std::optional<int64_t> max);

}  // namespace flambeau::trace
