// A short list of sizes or strides; up to six live inside, so that most tensors need no allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

namespace flambeau {

class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  Dims(std::span<const int64_t> values) {  // NOLINT(google-explicit-constructor): a view of the same thing
    resize(values.size());
    std::copy(values.begin(), values.end(), begin());
  }
  Dims(const Dims& other) : Dims(std::span<const int64_t>(other.begin(), other.size())) {}
  Dims(Dims&& other) noexcept { *this = std::move(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) *this = Dims(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    std::copy(std::begin(other.inline_), std::end(other.inline_), inline_);
    heap_ = std::move(other.heap_);
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* begin() { return heap_ ? heap_.get() : inline_; }
  int64_t* end() { return begin() + size_; }
  const int64_t* begin() const { return heap_ ? heap_.get() : inline_; }
  const int64_t* end() const { return begin() + size_; }
  int64_t& operator[](size_t i) { return begin()[i]; }
  int64_t operator[](size_t i) const { return begin()[i]; }
  operator std::span<const int64_t>() const { return {begin(), size_}; }  // NOLINT

  // Sets the length; the values are zero afterwards.
  void resize(size_t count) {
    heap_ = count > kInline ? std::make_unique<int64_t[]>(count) : nullptr;
    size_ = count;
    std::fill(begin(), end(), 0);
  }

  friend bool operator==(const Dims& a, const Dims& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr size_t kInline = 6;
  size_t size_ = 0;
  int64_t inline_[kInline] = {};
  std::unique_ptr<int64_t[]> heap_;
};

}  // namespace flambeau
