#include "flambeau/tensor/elements/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/dequantize.h"
#include "flambeau/tensor/elements/strided_rows.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The elements of a tensor in row-major order, a block at a time; in place where they lie packed.
class Blocks {
 public:
  explicit Blocks(const Tensor& tensor)
      : rows_(tensor.geometry()),
        bytes_(tensor.storage()->bytes()),
        size_(tensor.element_size()),
        buffer_(rows_.is_packed() ? 0 : kWideBlock * size_) {}

  int64_t count() const { return rows_.count(); }
  const uint8_t* read(int64_t begin, int64_t end) {
    if (rows_.is_packed()) return bytes_.data() + static_cast<size_t>(rows_.offset() + begin) * size_;
    uint8_t* to = buffer_.data();
    rows_.for_each(begin, end, [&](int64_t at, int64_t stride, int64_t count, int64_t) {
      for (int64_t i = 0; i < count; ++i, to += size_) {
        std::memcpy(to, bytes_.data() + static_cast<size_t>(at + i * stride) * size_, size_);
      }
    });
    return buffer_.data();
  }

 private:
  StridedRows rows_;
  ByteSpan bytes_;
  size_t size_;
  std::vector<uint8_t> buffer_;
};

void note(Difference& result, int64_t index, double absolute, double relative) {
  if (result.differing++ == 0) result.first = index;
  result.max_abs = std::max(result.max_abs, absolute);
  result.max_rel = std::max(result.max_rel, relative);
}

// Exact between integers, which may lie further apart than either type reaches.
template <typename A, typename B>
double distance(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    __extension__ using Int128 = __int128;
    const Int128 difference = static_cast<Int128>(a) - static_cast<Int128>(b);
    return static_cast<double>(difference < 0 ? -difference : difference);
  } else {
    return std::abs(static_cast<double>(a) - static_cast<double>(b));
  }
}

template <typename A, typename B>
bool same_value(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) return std::cmp_equal(a, b);
  return static_cast<double>(a) == static_cast<double>(b);
}

// Where 0 and -0 may differ in bits alone.
template <typename A, typename B>
bool same_sign(A a, B b) {
  return std::signbit(static_cast<double>(a)) == std::signbit(static_cast<double>(b));
}

// Two elements that are not the same value, and how far they lie apart.
void note_distance(double absolute, double a_size, double b_size, int64_t index, Difference& result) {
  if (std::isnan(a_size) && std::isnan(b_size)) return;
  if (!std::isfinite(absolute)) return note(result, index, kInfinity, kInfinity);
  note(result, index, absolute, absolute / std::max(a_size, b_size));
}

template <typename A, typename B>
void compare_real(const A* a, const B* b, size_t count, int64_t index, bool by_bits, Difference& result) {
  for (size_t i = 0; i < count; ++i, ++index) {
    if (same_value(a[i], b[i])) {
      if (by_bits && !same_sign(a[i], b[i])) note(result, index, 0, 0);
      continue;
    }
    note_distance(distance(a[i], b[i]), std::abs(static_cast<double>(a[i])),
                  std::abs(static_cast<double>(b[i])), index, result);
  }
}

// Real and imaginary parts, one after the other.
template <typename A, typename B>
void compare_complex(const A* const (&a)[2], const B* const (&b)[2], size_t count, int64_t index,
                     bool by_bits, Difference& result) {
  const auto size = [](double real, double imaginary) {
    return std::isnan(real) || std::isnan(imaginary) ? NAN : std::hypot(real, imaginary);
  };
  for (size_t i = 0; i < count; ++i, ++index) {
    if (same_value(a[0][i], b[0][i]) && same_value(a[1][i], b[1][i])) {
      if (by_bits && !(same_sign(a[0][i], b[0][i]) && same_sign(a[1][i], b[1][i]))) note(result, index, 0, 0);
      continue;
    }
    note_distance(size(distance(a[0][i], b[0][i]), distance(a[1][i], b[1][i])),
                  size(static_cast<double>(a[0][i]), static_cast<double>(a[1][i])),
                  size(static_cast<double>(b[0][i]), static_cast<double>(b[1][i])), index, result);
  }
}

// A block's elements in their wide type; the imaginary parts of real types are zero.
class Values {
 public:
  explicit Values(DType dtype)
      : load_(load_row(part_dtype(dtype))),
        kind_(compute_type(part_dtype(dtype))),
        size_(static_cast<ptrdiff_t>(dtype_size(dtype))),
        is_complex_(dtype_info(dtype).is_complex),
        word_(dtype_info(dtype).word) {}

  void load(const uint8_t* from, size_t count) {
    load_(from, size_, count, parts_[0]);
    if (is_complex_) load_(from + word_, size_, count, parts_[1]);
  }
  bool is_complex() const { return is_complex_; }
  // Calls body(parts) with the arrays of both parts as the wide type.
  template <typename Body>
  void visit(Body&& body) const {
    switch (kind_) {
      case Compute::kFloat:
        return with<float>(body);
      case Compute::kDouble:
        return with<double>(body);
      case Compute::kUInt64:
        return with<uint64_t>(body);
      default:
        return with<int64_t>(body);
    }
  }

 private:
  template <typename T, typename Body>
  void with(Body&& body) const {
    const T* const parts[2] = {reinterpret_cast<const T*>(parts_[0]), reinterpret_cast<const T*>(parts_[1])};
    body(parts);
  }

  LoadRow load_;
  Compute kind_;
  ptrdiff_t size_;
  bool is_complex_;
  size_t word_;
  alignas(64) uint8_t parts_[2][kWideBlock * 8] = {};
};

Dims unravel(int64_t index, const Dims& sizes) {
  Dims result;
  result.resize(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    result[d] = index % sizes[d];
    index /= sizes[d];
  }
  return result;
}

// A view of the same elements as plain numbers.
Tensor as_numbers(const Tensor& tensor) {
  if (tensor.quantizer() != nullptr) return dequantize(tensor);
  if (is_plain(tensor.dtype())) return tensor;
  const DTypeInfo& info = dtype_info(tensor.dtype());
  if (info.per_byte > 1) {  // packed without a quantizer: the bytes are all there is to compare
    const auto bytes = static_cast<int64_t>(tensor.byte_count());
    tensor.contiguous_bytes();
    return Tensor::strided(DType::kUInt8, {{bytes}, {1}, tensor.offset()}, tensor.storage());
  }
  const DType plain = tensor.dtype() == DType::kQInt8 ? DType::kInt8
                      : info.size == 1                ? DType::kUInt8
                      : info.size == 2                ? DType::kUInt16
                                                      : DType::kInt32;
  return Tensor::strided(plain, tensor.geometry(), tensor.storage());
}

void compare_elements(const Tensor& left, const Tensor& right, bool by_bits, Difference& result) {
  const Tensor a = as_numbers(left);
  const Tensor b = as_numbers(right);
  const size_t size = a.element_size();
  if (a.element_count() == 0) return;
  Blocks a_blocks(a);
  Blocks b_blocks(b);
  const auto a_values = std::make_unique<Values>(a.dtype());  // too large for a small stack
  const auto b_values = std::make_unique<Values>(b.dtype());
  const bool can_skip = a.dtype() == b.dtype();
  for (int64_t begin = 0; begin < a_blocks.count(); begin += static_cast<int64_t>(kWideBlock)) {
    const int64_t end = std::min(a_blocks.count(), begin + static_cast<int64_t>(kWideBlock));
    const auto count = static_cast<size_t>(end - begin);
    const uint8_t* a_bytes = a_blocks.read(begin, end);
    const uint8_t* b_bytes = b_blocks.read(begin, end);
    if (can_skip && std::memcmp(a_bytes, b_bytes, count * size) == 0) continue;
    a_values->load(a_bytes, count);
    b_values->load(b_bytes, count);
    a_values->visit([&](const auto& x) {
      b_values->visit([&](const auto& y) {
        if (a_values->is_complex() || b_values->is_complex()) {
          compare_complex(x, y, count, begin, by_bits, result);
        } else {
          compare_real(x[0], y[0], count, begin, by_bits, result);
        }
      });
    });
  }
  left.storage()->check_unchanged();
  right.storage()->check_unchanged();
  if (result.first >= 0) result.first_index = unravel(result.first, a.sizes());
}

const Tensor* const* sparse_part_list(const SparseParts& parts, const Tensor* (&list)[4]) {
  list[0] = &parts.indices;
  list[1] = &parts.compressed_indices;
  list[2] = &parts.plain_indices;
  list[3] = &parts.values;
  return list;
}

void compare_sparse(const Tensor& a, const Tensor& b, Difference& result) {
  const Tensor* a_parts[4];
  const Tensor* b_parts[4];
  sparse_part_list(*a.sparse_parts(), a_parts);
  sparse_part_list(*b.sparse_parts(), b_parts);
  for (size_t i = 0; i < 4; ++i) {
    if (!a_parts[i]->defined() || !b_parts[i]->defined()) continue;
    if (a_parts[i]->sizes() != b_parts[i]->sizes()) {  // another number of stored entries
      result.differing += std::max(a_parts[i]->element_count(), b_parts[i]->element_count());
      result.max_abs = result.max_rel = kInfinity;
      continue;
    }
    const Difference part = compare(*a_parts[i], *b_parts[i]);
    if (result.differing == 0 && part.differing > 0) {
      result.first = part.first;
      result.first_index = part.first_index;
    }
    result.differing += part.differing;
    if (i == 3) {
      result.max_abs = std::max(result.max_abs, part.max_abs);
      result.max_rel = std::max(result.max_rel, part.max_rel);
    }
  }
}

bool same_quantizer(const Quantizer* a, const Quantizer* b) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a->scheme != b->scheme) return false;
  if (!a->is_per_channel()) return a->scale == b->scale && a->zero_point == b->zero_point;
  return a->axis == b->axis && bitwise_equal(a->scales, b->scales) &&
         bitwise_equal(a->zero_points, b->zero_points);
}

}  // namespace

Difference compare(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) {
    throw Error(ErrorCode::kInvalidArgument, "an undefined tensor cannot be compared");
  }
  Difference result;
  result.same_dtype = a.dtype() == b.dtype();
  result.same_shape = a.sizes() == b.sizes();
  result.same_layout = a.layout() == b.layout();
  if (!result.same_shape || !result.same_layout || (a.is_meta() && b.is_meta())) return result;
  if (a.layout() != Layout::kStrided) {
    compare_sparse(a, b, result);
  } else {
    compare_elements(a, b, result.same_dtype, result);
  }
  return result;
}

bool bitwise_equal(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.dtype() != b.dtype() || a.layout() != b.layout() || a.sizes() != b.sizes()) return false;
  if (a.layout() != Layout::kStrided) {
    const Tensor* a_parts[4];
    const Tensor* b_parts[4];
    sparse_part_list(*a.sparse_parts(), a_parts);
    sparse_part_list(*b.sparse_parts(), b_parts);
    return a.sparse_parts()->is_coalesced == b.sparse_parts()->is_coalesced &&
           std::equal(a_parts, a_parts + 4, b_parts,
                      [](const Tensor* x, const Tensor* y) { return bitwise_equal(*x, *y); });
  }
  if (!same_quantizer(a.quantizer(), b.quantizer())) return false;
  if (a.element_count() == 0 || (a.is_meta() && b.is_meta())) return true;
  const DTypeInfo& info = dtype_info(a.dtype());
  if (info.per_byte > 1) {
    const ByteSpan x = a.contiguous_bytes();
    const ByteSpan y = b.contiguous_bytes();
    const auto used = static_cast<unsigned>(a.element_count() % info.per_byte);  // of the last byte
    const unsigned mask = used == 0 ? 0xff : (1U << (used * 8 / info.per_byte)) - 1;
    return std::equal(x.begin(), x.end() - 1, y.begin()) && ((x.back() ^ y.back()) & mask) == 0;
  }
  Blocks a_blocks(a);
  Blocks b_blocks(b);
  for (int64_t begin = 0; begin < a_blocks.count(); begin += static_cast<int64_t>(kWideBlock)) {
    const int64_t end = std::min(a_blocks.count(), begin + static_cast<int64_t>(kWideBlock));
    const size_t bytes = static_cast<size_t>(end - begin) * info.size;
    if (std::memcmp(a_blocks.read(begin, end), b_blocks.read(begin, end), bytes) != 0) return false;
  }
  return true;
}

}  // namespace flambeau
