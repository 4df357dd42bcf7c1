// A short list, of sizes or strides; up to six elements live inside, so that most tensors need no allocation.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "flambeau/base/size.h"

namespace flambeau {

// The same numbers, checked and plain: lists of them become each other.
template <typename T>
struct OtherNumber {};
template <>
struct OtherNumber<Size> {
  using Type = int64_t;
};
template <>
struct OtherNumber<int64_t> {
  using Type = Size;
};
template <typename T>
concept HasOtherNumber = requires { typename OtherNumber<T>::Type; };

template <typename T>
class ShortList {
 public:
  using value_type = T;

  ShortList() = default;
  ShortList(std::initializer_list<T> values) : ShortList(std::span<const T>(values.begin(), values.size())) {}
  ShortList(std::span<const T> values) {  // NOLINT(google-explicit-constructor): a view of the same thing
    resize(values.size());
    std::copy(values.begin(), values.end(), begin());
  }
  template <typename U>
    requires(HasOtherNumber<T> && std::is_same_v<typename OtherNumber<T>::Type, U>)
  ShortList(const ShortList<U>& other) {  // NOLINT(google-explicit-constructor)
    resize(other.size());
    std::copy(other.begin(), other.end(), begin());
  }
  explicit ShortList(std::span<const Size> values)
    requires(std::is_same_v<T, int64_t>)
      : ShortList(plain(values)) {}
  explicit ShortList(std::span<const int64_t> values)
    requires(std::is_same_v<T, Size>)
      : ShortList(checked(values)) {}
  ShortList(size_t count, const T& value) {
    resize(count);
    std::fill(begin(), end(), value);
  }
  ShortList(const ShortList& other) : ShortList(std::span<const T>(other.begin(), other.size())) {}
  ShortList(ShortList&& other) noexcept { *this = std::move(other); }
  ShortList& operator=(const ShortList& other) {
    if (this == &other) return *this;
    if (other.size_ <= kInline && !heap_) {
      size_ = other.size_;
      std::copy(std::begin(other.inline_), std::end(other.inline_), inline_);
    } else {
      *this = ShortList(other);
    }
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    std::move(std::begin(other.inline_), std::end(other.inline_), inline_);
    heap_ = std::move(other.heap_);
    capacity_ = std::exchange(other.capacity_, kInline);
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return heap_ ? heap_.get() : inline_; }
  T* end() { return begin() + size_; }
  const T* begin() const { return heap_ ? heap_.get() : inline_; }
  const T* end() const { return begin() + size_; }
  // Elements inside are no memory of their own that a sanitizer would watch, hence the asserts.
  T& operator[](size_t i) {
    assert(i < size_);
    return begin()[i];
  }
  const T& operator[](size_t i) const {
    assert(i < size_);
    return begin()[i];
  }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }
  operator std::span<const T>() const { return {begin(), size_}; }  // NOLINT
  std::span<const T> span() const { return {begin(), size_}; }
  operator std::span<const int64_t>() const  // NOLINT(google-explicit-constructor)
    requires(std::is_same_v<T, Size>)
  {
    return plain(span());
  }
  operator std::span<const Size>() const  // NOLINT(google-explicit-constructor)
    requires(std::is_same_v<T, int64_t>)
  {
    return checked(span());
  }

  // Sets the length; the values are zero afterwards.
  void resize(size_t count) {
    if (count > capacity_) {
      heap_ = std::make_unique<T[]>(count);
      capacity_ = count;
    }
    size_ = count;
    std::fill(begin(), end(), T{});
  }
  void clear() { size_ = 0; }
  void push_back(T value) {
    if (size_ == capacity_) grow();
    begin()[size_++] = std::move(value);
  }
  void insert(size_t at, T value) {
    assert(at <= size_);
    if (size_ == capacity_) grow();
    ++size_;
    std::move_backward(begin() + at, end() - 1, end());
    begin()[at] = std::move(value);
  }
  void erase(size_t at) {
    assert(at < size_);
    std::move(begin() + at + 1, end(), begin() + at);
    --size_;
  }

  friend bool operator==(const ShortList& a, const ShortList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  // Numbers lie inside; what has a destructor lies apart, or every use would copy and destroy six of them.
  static constexpr size_t kInline = std::is_trivially_copyable_v<T> ? 6 : 1;

  // Apart, for few lists are so long and every push_back would have it inside.
  [[gnu::noinline]] void grow() {
    auto larger = std::make_unique<T[]>(capacity_ * 2);
    std::move(begin(), end(), larger.get());
    heap_ = std::move(larger);
    capacity_ *= 2;
  }

  size_t size_ = 0;
  size_t capacity_ = kInline;
  T inline_[kInline] = {};
  std::unique_ptr<T[]> heap_;
};

using Dims = ShortList<int64_t>;

inline bool operator==(const ShortList<Size>& a, const Dims& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace flambeau
