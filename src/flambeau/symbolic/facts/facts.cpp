#include "flambeau/symbolic/facts/facts.h"

#include <algorithm>
#include <array>

namespace flambeau::symbolic {
namespace {

constexpr std::array<std::string_view, kFactCount> kFactNames = {"algebraic",
                                                                 "antihermitian",
                                                                 "commutative",
                                                                 "complex",
                                                                 "composite",
                                                                 "even",
                                                                 "extended_negative",
                                                                 "extended_nonnegative",
                                                                 "extended_nonpositive",
                                                                 "extended_nonzero",
                                                                 "extended_positive",
                                                                 "extended_real",
                                                                 "finite",
                                                                 "hermitian",
                                                                 "imaginary",
                                                                 "infinite",
                                                                 "integer",
                                                                 "irrational",
                                                                 "negative",
                                                                 "noninteger",
                                                                 "nonnegative",
                                                                 "nonpositive",
                                                                 "nonzero",
                                                                 "odd",
                                                                 "positive",
                                                                 "prime",
                                                                 "rational",
                                                                 "real",
                                                                 "transcendental",
                                                                 "zero"};

// A clause holds when one of its facts is true or one of its denied facts is false; when all but one literal
// are known to fail, the last must hold.
struct Clause {
  uint32_t facts = 0;
  uint32_t denied = 0;
};

constexpr uint32_t bits() { return 0; }
template <typename... Rest>
constexpr uint32_t bits(Fact fact, Rest... rest) {
  return (uint32_t{1} << static_cast<int>(fact)) | bits(rest...);
}

class Rules {
 public:
  Rules() {
    using enum Fact;
    implies(kInteger, kRational);
    implies(kRational, kReal);
    implies(kRational, kAlgebraic);
    implies(kAlgebraic, kComplex);
    both_without(kTranscendental, kComplex, kAlgebraic);
    implies(kReal, kHermitian);
    implies(kImaginary, kComplex);
    implies(kImaginary, kAntihermitian);
    implies(kExtendedReal, kCommutative);
    implies(kComplex, kCommutative);
    implies(kComplex, kFinite);
    both_without(kOdd, kInteger, kEven);
    both_without(kEven, kInteger, kOdd);
    implies(kReal, kComplex);
    add(bits(kReal, kInfinite), bits(kExtendedReal));
    both(kReal, kExtendedReal, kFinite);
    one_of(kExtendedReal, kExtendedNegative, kZero, kExtendedPositive);
    both(kExtendedNegative, kExtendedNonpositive, kExtendedNonzero);
    both(kExtendedPositive, kExtendedNonnegative, kExtendedNonzero);
    both_without(kExtendedNonpositive, kExtendedReal, kExtendedPositive);
    both_without(kExtendedNonnegative, kExtendedReal, kExtendedNegative);
    one_of(kReal, kNegative, kZero, kPositive);
    both(kNegative, kNonpositive, kNonzero);
    both(kPositive, kNonnegative, kNonzero);
    both_without(kNonpositive, kReal, kPositive);
    both_without(kNonnegative, kReal, kNegative);
    both(kPositive, kExtendedPositive, kFinite);
    both(kNegative, kExtendedNegative, kFinite);
    both(kNonpositive, kExtendedNonpositive, kFinite);
    both(kNonnegative, kExtendedNonnegative, kFinite);
    both(kNonzero, kExtendedNonzero, kFinite);
    implies(kZero, kEven);
    implies(kZero, kFinite);
    both(kZero, kExtendedNonnegative, kExtendedNonpositive);
    both(kZero, kNonnegative, kNonpositive);
    implies(kNonzero, kReal);
    implies(kPrime, kInteger);
    implies(kPrime, kPositive);
    implies(kComposite, kInteger);
    implies(kComposite, kPositive);
    add(0, bits(kComposite, kPrime));
    add(bits(kComposite, kPrime), bits(kPositive, kEven));
    both_without(kIrrational, kReal, kRational);
    add(0, bits(kImaginary, kExtendedReal));
    add(bits(kInfinite, kFinite), 0);
    add(0, bits(kInfinite, kFinite));
    both_without(kNoninteger, kExtendedReal, kInteger);
    both_without(kExtendedNonzero, kExtendedReal, kZero);
  }

  std::span<const Clause> clauses() const { return clauses_; }

 private:
  void add(uint32_t facts, uint32_t denied) { clauses_.push_back({facts, denied}); }
  void implies(Fact a, Fact b) { add(bits(b), bits(a)); }
  // a == b & c
  void both(Fact a, Fact b, Fact c) {
    implies(a, b);
    implies(a, c);
    add(bits(a), bits(b, c));
  }
  // a == b & !c
  void both_without(Fact a, Fact b, Fact c) {
    implies(a, b);
    add(0, bits(a, c));
    add(bits(a, c), bits(b));
  }
  // a == b | c | d
  void one_of(Fact a, Fact b, Fact c, Fact d) {
    add(bits(b, c, d), bits(a));
    implies(b, a);
    implies(c, a);
    implies(d, a);
  }

  std::vector<Clause> clauses_;
};

}  // namespace

std::string_view fact_name(Fact fact) { return kFactNames[static_cast<size_t>(fact)]; }

std::optional<Fact> fact_by_name(std::string_view name) {
  const auto found = std::find(kFactNames.begin(), kFactNames.end(), name);
  if (found == kFactNames.end()) return std::nullopt;
  return static_cast<Fact>(found - kFactNames.begin());
}

void Facts::learn(Fact fact, Fuzzy value) {
  if (!value || is_known(fact)) return;
  (*value ? yes_ : no_) |= bit(fact);
}

namespace {

bool deduce_all(uint32_t& yes, uint32_t& no) {
  static const Rules rules;
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Clause& clause : rules.clauses()) {
      if ((clause.facts & yes) != 0 || (clause.denied & no) != 0) continue;
      const uint32_t open_facts = clause.facts & ~no;
      const uint32_t open_denied = clause.denied & ~yes;
      const int open = __builtin_popcount(open_facts) + __builtin_popcount(open_denied);
      if (open == 0) return false;
      if (open > 1) continue;
      yes |= open_facts;
      no |= open_denied;
      changed = true;
    }
  }
  return true;
}

// What follows depends on nothing but the facts, and the expressions of a program have few different sets.
struct Deduced {
  uint64_t from = 0;
  uint32_t yes = 0;
  uint32_t no = 0;
  bool is_consistent = true;  // no facts at all are
};
constexpr size_t kRemembered = 256;

}  // namespace

bool Facts::deduce() {
  thread_local std::array<Deduced, kRemembered> remembered;
  const uint64_t from = uint64_t{yes_} << 32 | no_;
  Deduced& known = remembered[from * 0x9e3779b97f4a7c15u >> 56];
  if (known.from != from) {
    known = {.from = from, .yes = yes_, .no = no_, .is_consistent = false};
    known.is_consistent = deduce_all(known.yes, known.no);
  }
  yes_ = known.yes;
  no_ = known.no;
  return known.is_consistent;
}

}  // namespace flambeau::symbolic
