// What is known of an expression's value: sympy's assumptions as a set of three-valued facts, and the rules
// between them (a positive integer is nonzero, real, finite...).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace flambeau::symbolic {

// In sympy's alphabetical order, which decides the order of symbols of one name.
enum class Fact : uint8_t {
  kAlgebraic,
  kAntihermitian,
  kCommutative,
  kComplex,
  kComposite,
  kEven,
  kExtendedNegative,
  kExtendedNonnegative,
  kExtendedNonpositive,
  kExtendedNonzero,
  kExtendedPositive,
  kExtendedReal,
  kFinite,
  kHermitian,
  kImaginary,
  kInfinite,
  kInteger,
  kIrrational,
  kNegative,
  kNoninteger,
  kNonnegative,
  kNonpositive,
  kNonzero,
  kOdd,
  kPositive,
  kPrime,
  kRational,
  kReal,
  kTranscendental,
  kZero,
};
inline constexpr int kFactCount = 30;

std::string_view fact_name(Fact fact);
std::optional<Fact> fact_by_name(std::string_view name);

using Fuzzy = std::optional<bool>;  // true, false, or not known

class Facts {
 public:
  Fuzzy get(Fact fact) const {
    if (is(fact)) return true;
    if (is_not(fact)) return false;
    return std::nullopt;
  }
  bool is(Fact fact) const { return (yes_ & bit(fact)) != 0; }
  bool is_not(Fact fact) const { return (no_ & bit(fact)) != 0; }
  bool is_known(Fact fact) const { return ((yes_ | no_) & bit(fact)) != 0; }
  int known_count() const { return __builtin_popcount(yes_ | no_); }

  // Keeps what was known before when the two contradict each other.
  void learn(Fact fact, Fuzzy value);
  // Adds all that follows. False: the facts contradict each other.
  bool deduce();

  bool operator==(const Facts&) const = default;

 private:
  static uint32_t bit(Fact fact) { return uint32_t{1} << static_cast<int>(fact); }

  uint32_t yes_ = 0;
  uint32_t no_ = 0;
};

// The assumptions written at a symbol, in the order they were written (srepr prints them so).
using Assumptions = std::vector<std::pair<Fact, bool>>;

}  // namespace flambeau::symbolic
