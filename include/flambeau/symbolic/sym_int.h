// An integer that may be an expression over symbols. Arithmetic builds expressions; a comparison is a
// question to whoever traces (a Decider), who answers from the example's sizes and remembers the answer as a
// guard. Code that is a template over the number takes Size and SymInt alike; it says floor_div() and
// modulo(), which round down for both: a Size's own / rounds as C++'s does.
#pragma once

#include <cstdint>
#include <utility>

#include "flambeau/base/size.h"

namespace flambeau::symbolic {

class Expr;

class Decider {
 public:
  virtual ~Decider() = default;
  // Is the condition true for the run that is being traced?
  virtual bool decide(const Expr& condition) = 0;
};

class SymInt {
 public:
  SymInt() = default;
  SymInt(int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor): a number is one
  SymInt(int value) : value_(value) {}      // NOLINT(google-explicit-constructor)
  SymInt(Size value) : value_(value) {}     // NOLINT(google-explicit-constructor)
  // A literal where the expression is one. The decider must outlive it.
  SymInt(const Expr& expr, Decider& decider);

  SymInt(const SymInt& other) : value_(other.value_), term_(other.term_) {
    if (term_ != nullptr) retain(term_);
  }
  SymInt(SymInt&& other) noexcept : value_(other.value_), term_(std::exchange(other.term_, nullptr)) {}
  SymInt& operator=(SymInt other) noexcept {
    value_ = other.value_;
    std::swap(term_, other.term_);
    return *this;
  }
  ~SymInt() {
    if (term_ != nullptr) release(term_);
  }

  bool is_literal() const { return term_ == nullptr; }
  // The number of a literal.
  int64_t literal() const { return value_; }
  Expr expr() const;

  friend SymInt operator+(const SymInt& a, const SymInt& b);
  friend SymInt operator-(const SymInt& a, const SymInt& b);
  friend SymInt operator*(const SymInt& a, const SymInt& b);
  friend SymInt operator-(const SymInt& a) { return SymInt(0) - a; }
  SymInt& operator+=(const SymInt& other) { return *this = *this + other; }
  SymInt& operator-=(const SymInt& other) { return *this = *this - other; }
  SymInt& operator*=(const SymInt& other) { return *this = *this * other; }
  // Python's // and %, which round down. Throw Error(kInvalidArgument) for a division by zero.
  friend SymInt floor_div(const SymInt& a, const SymInt& b);
  friend SymInt modulo(const SymInt& a, const SymInt& b);
  friend SymInt operator/(const SymInt& a, const SymInt& b) { return floor_div(a, b); }
  friend SymInt operator%(const SymInt& a, const SymInt& b) { return modulo(a, b); }
  SymInt& operator/=(const SymInt& other) { return *this = *this / other; }
  SymInt& operator%=(const SymInt& other) { return *this = *this % other; }
  // Python's round(a / b): to the nearest, and from the middle to the even one.
  friend SymInt round_div(const SymInt& a, const SymInt& b);
  // Smallest and largest as expressions, without a question.
  friend SymInt min(const SymInt& a, const SymInt& b);
  friend SymInt max(const SymInt& a, const SymInt& b);

  // The question has a literal on its right, as Python asks it: 3 < a is a > 3.
  friend bool operator==(const SymInt& a, const SymInt& b);
  friend bool operator<(const SymInt& a, const SymInt& b);
  friend bool operator<=(const SymInt& a, const SymInt& b);
  friend bool operator>(const SymInt& a, const SymInt& b);
  friend bool operator>=(const SymInt& a, const SymInt& b);

 private:
  struct Term;  // an expression, shared and counted; out of line, for every shape rule copies numbers
  static void retain(Term* term);
  static void release(Term* term) noexcept;
  Decider* decider_with(const SymInt& other) const;

  int64_t value_ = 0;
  Term* term_ = nullptr;
};

// The same operations on numbers. Throw Error(kInvalidArgument) for a division by zero.
int64_t floor_div(int64_t a, int64_t b);
int64_t modulo(int64_t a, int64_t b);
int64_t round_div(int64_t a, int64_t b);
using flambeau::floor_div;
using flambeau::modulo;
using flambeau::round_div;

}  // namespace flambeau::symbolic
