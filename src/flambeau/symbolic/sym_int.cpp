#include "flambeau/symbolic/sym_int.h"

#include <algorithm>
#include <atomic>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/symbolic/listener.h"

namespace flambeau::symbolic {
namespace {

SymInt note(Arithmetic how, const SymInt& a, const SymInt& b, const Expr& result, Decider& decider) {
  if (result.is_integer()) return result.integer();
  if (auto* const listener = dynamic_cast<Listener*>(&decider))
    listener->computed(how, a.expr(), b.expr(), result);
  return SymInt(result, decider);
}

}  // namespace

struct SymInt::Term {
  Expr expr;
  Decider* decider;
  std::atomic<int64_t> uses = 1;
};

void SymInt::retain(Term* term) { term->uses.fetch_add(1, std::memory_order_relaxed); }

void SymInt::release(Term* term) noexcept {
  if (term->uses.fetch_sub(1, std::memory_order_acq_rel) == 1) delete term;
}

SymInt::SymInt(const Expr& expr, Decider& decider) {
  if (expr.is_integer()) {
    value_ = expr.integer();
  } else {
    term_ = new Term{expr, &decider};
  }
}

Expr SymInt::expr() const { return term_ != nullptr ? term_->expr : Expr(value_); }

Decider* SymInt::decider_with(const SymInt& other) const {
  return (term_ != nullptr ? term_ : other.term_)->decider;
}

SymInt operator+(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return (Size(a.value_) + b.value_);
  return note(Arithmetic::kAdd, a, b, add(a.expr(), b.expr()), *a.decider_with(b));
}

SymInt operator-(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return (Size(a.value_) - b.value_);
  return note(Arithmetic::kSubtract, a, b, subtract(a.expr(), b.expr()), *a.decider_with(b));
}

SymInt operator*(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return (Size(a.value_) * b.value_);
  return note(Arithmetic::kMultiply, a, b, mul(a.expr(), b.expr()), *a.decider_with(b));
}

SymInt floor_div(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return floor_div(a.value_, b.value_);
  return note(Arithmetic::kFloorDivide, a, b, floor_div(a.expr(), b.expr()), *a.decider_with(b));
}

SymInt modulo(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return modulo(a.value_, b.value_);
  const Expr left = a.expr();
  const Expr right = b.expr();
  // PyTorch keeps Mod for numbers that are not negative; only of it can divisibility be learned.
  const bool is_plain = left.facts().is(Fact::kNonnegative) && right.facts().is(Fact::kNonnegative);
  return note(Arithmetic::kModulo, a, b, is_plain ? mod(left, right) : python_mod(left, right),
              *a.decider_with(b));
}

SymInt round_div(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return round_div(a.value_, b.value_);
  return SymInt(apply("RoundToInt", {int_true_div(a.expr(), b.expr())}), *a.decider_with(b));
}

SymInt min(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return std::min(a.value_, b.value_);
  return note(Arithmetic::kMin, a, b, min({a.expr(), b.expr()}), *a.decider_with(b));
}

SymInt max(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return std::max(a.value_, b.value_);
  return note(Arithmetic::kMax, a, b, max({a.expr(), b.expr()}), *a.decider_with(b));
}

bool operator==(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return a.value_ == b.value_;
  return a.decider_with(b)->decide(a.is_literal() ? eq(b.expr(), a.expr()) : eq(a.expr(), b.expr()));
}

bool operator<(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return a.value_ < b.value_;
  return a.decider_with(b)->decide(a.is_literal() ? gt(b.expr(), a.expr()) : lt(a.expr(), b.expr()));
}

bool operator<=(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return a.value_ <= b.value_;
  return a.decider_with(b)->decide(a.is_literal() ? ge(b.expr(), a.expr()) : le(a.expr(), b.expr()));
}

bool operator>(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return a.value_ > b.value_;
  return a.decider_with(b)->decide(a.is_literal() ? lt(b.expr(), a.expr()) : gt(a.expr(), b.expr()));
}

bool operator>=(const SymInt& a, const SymInt& b) {
  if (a.is_literal() && b.is_literal()) return a.value_ >= b.value_;
  return a.decider_with(b)->decide(a.is_literal() ? le(b.expr(), a.expr()) : ge(a.expr(), b.expr()));
}

int64_t floor_div(int64_t a, int64_t b) { return floor_div(Size(a), Size(b)); }
int64_t modulo(int64_t a, int64_t b) { return modulo(Size(a), Size(b)); }
int64_t round_div(int64_t a, int64_t b) { return round_div(Size(a), Size(b)); }

}  // namespace flambeau::symbolic
