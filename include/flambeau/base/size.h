// A 64-bit number whose arithmetic throws where it would wrap or divide by zero: what sizes, strides, offsets
// and the numbers that a program gives are computed with. It mixes with plain integers, and stays checked:
// only naming int64_t leaves it. Arithmetic that would leave it unseen does not compile.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace flambeau {

// Throw Error(kInvalidArgument).
[[noreturn, gnu::cold]] void throw_size_overflow();
[[noreturn, gnu::cold]] void throw_size_division();

class Size {
 public:
  constexpr Size() = default;
  template <std::integral I>
  constexpr Size(I value)  // NOLINT(google-explicit-constructor): a number is one
      : value_(static_cast<int64_t>(value)) {
    if constexpr (std::unsigned_integral<I> && sizeof(I) == sizeof(int64_t)) {
      if (value_ < 0) throw_size_overflow();
    }
  }
  constexpr operator int64_t() const { return value_; }  // NOLINT(google-explicit-constructor)
  template <std::integral I>
    requires(!std::same_as<I, int64_t>)
  explicit constexpr operator I() const {
    return static_cast<I>(value_);
  }
  template <std::floating_point F>
  explicit constexpr operator F() const {
    return static_cast<F>(value_);
  }
  constexpr int64_t value() const { return value_; }

  constexpr Size& operator+=(Size other) {
    if (__builtin_add_overflow(value_, other.value_, &value_)) throw_size_overflow();
    return *this;
  }
  constexpr Size& operator-=(Size other) {
    if (__builtin_sub_overflow(value_, other.value_, &value_)) throw_size_overflow();
    return *this;
  }
  constexpr Size& operator*=(Size other) {
    if (__builtin_mul_overflow(value_, other.value_, &value_)) throw_size_overflow();
    return *this;
  }
  // Round toward zero, as C++ does.
  constexpr Size& operator/=(Size other) {
    require_divisor(other);
    value_ /= other.value_;
    return *this;
  }
  constexpr Size& operator%=(Size other) {
    require_divisor(other);
    value_ %= other.value_;
    return *this;
  }
  constexpr Size& operator++() { return *this += Size(1); }
  constexpr Size& operator--() { return *this -= Size(1); }
  constexpr Size operator++(int) {
    const Size before = *this;
    ++*this;
    return before;
  }
  constexpr Size operator-() const { return Size() -= *this; }

  // Friends, so that nobody else's comparison considers them.
  friend constexpr bool operator==(Size a, Size b) { return a.value_ == b.value_; }
  friend constexpr std::strong_ordering operator<=>(Size a, Size b) { return a.value_ <=> b.value_; }
  template <std::integral I>
  friend constexpr bool operator==(Size a, I b) {
    return a == Size(b);
  }
  template <std::integral I>
  friend constexpr std::strong_ordering operator<=>(Size a, I b) {
    return a <=> Size(b);
  }

 private:
  constexpr void require_divisor(Size other) const {
    if (other.value_ == 0) throw_size_division();
    if (other.value_ == -1 && value_ == std::numeric_limits<int64_t>::min()) throw_size_overflow();
  }

  int64_t value_ = 0;
};

// One of the two is a Size, the other one may be any integer.
template <typename A, typename B>
concept SizePair = (std::same_as<A, Size> && (std::same_as<B, Size> || std::integral<B>)) ||
                   (std::integral<A> && std::same_as<B, Size>);

template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size operator+(A a, B b) {
  return Size(a) += Size(b);
}
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size operator-(A a, B b) {
  return Size(a) -= Size(b);
}
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size operator*(A a, B b) {
  return Size(a) *= Size(b);
}
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size operator/(A a, B b) {
  return Size(a) /= Size(b);
}
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size operator%(A a, B b) {
  return Size(a) %= Size(b);
}
// Each of these would go on with a plain integer, which wraps.
template <std::integral I>
void operator+=(I&, Size) = delete;
template <std::integral I>
void operator-=(I&, Size) = delete;
template <std::integral I>
void operator*=(I&, Size) = delete;
template <std::integral I>
void operator/=(I&, Size) = delete;
template <std::integral I>
void operator%=(I&, Size) = delete;
template <typename A, typename B>
  requires SizePair<A, B>
void operator<<(A, B) = delete;
template <typename A, typename B>
  requires SizePair<A, B>
void operator>>(A, B) = delete;
template <typename A, typename B>
  requires SizePair<A, B>
void operator&(A, B) = delete;
template <typename A, typename B>
  requires SizePair<A, B>
void operator|(A, B) = delete;
template <typename A, typename B>
  requires SizePair<A, B>
void operator^(A, B) = delete;
void operator~(Size) = delete;

template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size min(A a, B b) {
  return Size(a) < Size(b) ? Size(a) : Size(b);
}
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size max(A a, B b) {
  return Size(a) < Size(b) ? Size(b) : Size(a);
}
// Python's // and %, which round down; and round(a / b), from the middle to the even one.
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size floor_div(A a, B b) {
  const Size quotient = Size(a) / Size(b);
  return quotient - ((Size(a) % Size(b) != 0 && (Size(a) < 0) != (Size(b) < 0)) ? 1 : 0);
}
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size modulo(A a, B b) {
  const Size rest = Size(a) % Size(b);
  return rest != 0 && (rest < 0) != (Size(b) < 0) ? rest + Size(b) : rest;
}
template <typename A, typename B>
  requires SizePair<A, B>
constexpr Size round_div(A a, B b) {
  const Size low = floor_div(a, b);
  const Size rest = modulo(a, b);  // of the same sign as b
  const Size other = Size(b) - rest;
  const bool is_above = Size(b) > 0 ? rest > other : rest < other;
  return low + (is_above || (rest == other && low % 2 != 0) ? 1 : 0);
}

// The number without its fraction. Throws also for NaN.
inline Size truncated_size(double number) {
  if (!(number >= -0x1p63 && number < 0x1p63)) throw_size_overflow();
  return static_cast<int64_t>(number);
}

// For fmt.
constexpr int64_t format_as(Size size) { return size; }

// The same numbers, seen as plain or as checked ones.
static_assert(sizeof(Size) == sizeof(int64_t) && alignof(Size) == alignof(int64_t));
inline std::span<const Size> checked(std::span<const int64_t> numbers) {
  return {reinterpret_cast<const Size*>(numbers.data()), numbers.size()};
}
inline std::span<const int64_t> plain(std::span<const Size> numbers) {
  return {reinterpret_cast<const int64_t*>(numbers.data()), numbers.size()};
}

}  // namespace flambeau
