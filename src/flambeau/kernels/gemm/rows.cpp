#include "flambeau/kernels/gemm/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::kernels {
namespace {

template <typename T>
constexpr bool is_complex = !std::is_arithmetic_v<T>;

// Stored elements may be less aligned than T where T is a pair of them; memcpy costs nothing.
template <typename T>
void copy_row(const uint8_t* from, int64_t from_step, int64_t count, uint8_t* to, int64_t to_step) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  if (count == 0) return;
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count * kSize));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_step * kSize, from + i * from_step * kSize, kSize);
}

}  // namespace

template <typename T>
RowAccess<T>::RowAccess(DType dtype) : same_(is_stored_as<T>(dtype)), size_(dtype_size(dtype)) {
  const DType part = part_dtype(dtype);
  if (!is_plain(part)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a product of {} elements, which are no plain numbers", dtype_name(dtype)),
                "dequantize or convert the tensor first");
  }
  if (same_) return;
  load_ = load_row(part);
  store_ = store_row(std::is_same_v<T, uint64_t> ? Compute::kInt64 : compute_type(part), part);
}

template <typename T>
void RowAccess<T>::load(const void* data, int64_t index, int64_t step, int64_t count, T* to) const {
  const uint8_t* const from = at(data, index);
  if (count <= 1) step = 1;  // that of a single element may be as large as numbers go
  const auto bytes = static_cast<ptrdiff_t>(size_);
  if (same_) {
    copy_row<T>(from, step, count, reinterpret_cast<uint8_t*>(to), 1);
  } else if constexpr (is_complex<T>) {
    typename T::value_type part[kWideBlock];
    for (int64_t done = 0; done < count; done += kWideBlock) {
      const int64_t piece = std::min<int64_t>(count - done, kWideBlock);
      const uint8_t* const start = from + done * step * bytes;
      load_(start, step * bytes, static_cast<size_t>(piece), part);
      for (int64_t i = 0; i < piece; ++i) to[done + i].real(part[i]);
      load_(start + bytes / 2, step * bytes, static_cast<size_t>(piece), part);
      for (int64_t i = 0; i < piece; ++i) to[done + i].imag(part[i]);
    }
  } else {
    load_(from, step * bytes, static_cast<size_t>(count), to);
  }
}

template <typename T>
void RowAccess<T>::store(const T* from, int64_t count, void* data, int64_t index, int64_t step) const {
  uint8_t* const to = at(data, index);
  if (count <= 1) step = 1;
  const auto bytes = static_cast<ptrdiff_t>(size_);
  if (same_) {
    copy_row<T>(reinterpret_cast<const uint8_t*>(from), 1, count, to, step);
  } else if constexpr (is_complex<T>) {
    typename T::value_type part[kWideBlock];
    for (int64_t done = 0; done < count; done += kWideBlock) {
      const int64_t piece = std::min<int64_t>(count - done, kWideBlock);
      uint8_t* const start = to + done * step * bytes;
      for (int64_t i = 0; i < piece; ++i) part[i] = from[done + i].real();
      store_(part, static_cast<size_t>(piece), start, step * bytes);
      for (int64_t i = 0; i < piece; ++i) part[i] = from[done + i].imag();
      store_(part, static_cast<size_t>(piece), start + bytes / 2, step * bytes);
    }
  } else {
    store_(from, static_cast<size_t>(count), to, step * bytes);
  }
}

template <typename T>
void RowAccess<T>::finish(Epilogues epilogues, T* values, int64_t count, void* data, int64_t index,
                          int64_t step) const {
  if constexpr (std::is_same_v<T, float>) {
    constexpr int64_t kPiece = 512;
    T before[kPiece];
    const bool sums = has_sum(epilogues);
    for (int64_t done = 0; !epilogues.empty() && done < count; done += kPiece) {
      const int64_t some = std::min(kPiece, count - done);
      if (sums) load(data, index + done * step, step, some, before);
      apply(epilogues, values + done, before, static_cast<size_t>(some));
    }
  }
  store(values, count, data, index, step);
}

template class RowAccess<float>;
template class RowAccess<double>;
template class RowAccess<uint64_t>;
template class RowAccess<std::complex<float>>;
template class RowAccess<std::complex<double>>;

}  // namespace flambeau::kernels
