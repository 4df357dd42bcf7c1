// Rows of a dense tensor in the type they are computed in, float or double: its own memory, or a converted
// copy.
#pragma once

#include <vector>

#include "flambeau/ops/engines/elementwise.h"

namespace flambeau::ops {

template <typename T>
constexpr DType kRowType = std::is_same_v<T, double> ? DType::kFloat64 : DType::kFloat32;

template <typename T>
class RowReader {
 public:
  explicit RowReader(const Tensor& tensor)
      : base_(tensor.data()), dtype_(tensor.dtype()), size_(tensor.element_size()) {}
  const T* read(int64_t first, size_t count) {
    const uint8_t* const from = base_ + static_cast<size_t>(first) * size_;
    if (dtype_ == kRowType<T>) return reinterpret_cast<const T*>(from);
    block_.resize(count);
    load_packed(dtype_, from, static_cast<int64_t>(size_), count, kRowType<T>, block_.data());
    return block_.data();
  }

 private:
  const uint8_t* base_;
  DType dtype_;
  size_t size_;
  std::vector<T> block_;
};

template <typename T>
class RowWriter {
 public:
  explicit RowWriter(const Tensor& tensor)
      : base_(tensor.mutable_data()), dtype_(tensor.dtype()), size_(tensor.element_size()) {}
  // Where to put a row; finish() brings it home.
  T* begin(int64_t first, size_t count) {
    to_ = base_ + static_cast<size_t>(first) * size_;
    count_ = count;
    if (dtype_ == kRowType<T>) return reinterpret_cast<T*>(to_);
    block_.resize(count);
    return block_.data();
  }
  void finish() {
    if (dtype_ != kRowType<T>)
      store_packed(kRowType<T>, block_.data(), count_, dtype_, to_, static_cast<int64_t>(size_));
  }

 private:
  uint8_t* base_;
  uint8_t* to_ = nullptr;
  DType dtype_;
  size_t size_;
  size_t count_ = 0;
  std::vector<T> block_;
};

// All elements of a tensor, row-major; empty for null.
template <typename T>
std::vector<T> read_all(const Tensor* tensor) {
  if (tensor == nullptr) return {};
  const Tensor packed = tensor->to_contiguous();
  require_memory(static_cast<uint64_t>((Size(packed.element_count()) * sizeof(T)).value()));
  std::vector<T> values(static_cast<size_t>(packed.element_count()));
  load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), values.size(),
              kRowType<T>, values.data());
  return values;
}
template <typename T, typename A>
void write_all(const std::vector<T, A>& values, const Tensor& packed) {
  store_packed(kRowType<T>, values.data(), values.size(), packed.dtype(), packed.mutable_data(),
               static_cast<int64_t>(packed.element_size()));
}

}  // namespace flambeau::ops
