#include "flambeau/tensor/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/tensor/dequantize.h"
#include "flambeau/tensor/number.h"
#include "flambeau/tensor/strided_rows.h"
#include "flambeau/tensor/wide_rows.h"

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

// A block's values, ready to be subtracted.
class Values {
 public:
  explicit Values(DType dtype)
      : load_(load_row(part_dtype(dtype))),
        kind_(wide_kind(dtype)),
        size_(static_cast<ptrdiff_t>(dtype_size(dtype))),
        is_complex_(dtype_info(dtype).is_complex),
        word_(dtype_info(dtype).word) {}

  void load(const uint8_t* from, size_t count) {
    load_(from, size_, count, real_);
    if (is_complex_) load_(from + word_, size_, count, imaginary_);
  }
  bool is_complex() const { return is_complex_; }
  Number real(size_t i) const { return at(real_, i); }
  double imaginary(size_t i) const { return is_complex_ ? to_double(at(imaginary_, i)) : 0; }
  bool is_nan(size_t i) const { return std::isnan(to_double(real(i))) || std::isnan(imaginary(i)); }

 private:
  Number at(const uint64_t* wide, size_t i) const {
    const auto take = [&]<typename T>(T value) -> Number {
      std::memcpy(&value, reinterpret_cast<const uint8_t*>(wide) + i * sizeof(T), sizeof(T));
      return value;
    };
    switch (kind_) {
      case Wide::kFloat:
        return take(float{});
      case Wide::kDouble:
        return take(double{});
      case Wide::kUInt64:
        return take(uint64_t{});
      default:
        return take(int64_t{});
    }
  }

  LoadRow load_;
  Wide kind_;
  ptrdiff_t size_;
  bool is_complex_;
  size_t word_;
  alignas(64) uint64_t real_[kWideBlock];
  alignas(64) uint64_t imaginary_[kWideBlock];
};

bool is_integer(const Number& number) {
  return std::holds_alternative<int64_t>(number) || std::holds_alternative<uint64_t>(number);
}

// Exact between integers, which may lie further apart than either type reaches.
double distance(const Number& a, const Number& b) {
  __extension__ using Int128 = __int128;
  if (is_integer(a) && is_integer(b)) {
    const auto whole = [](const Number& number) {
      return std::visit([](auto value) { return static_cast<Int128>(value); }, number);
    };
    const Int128 difference = whole(a) - whole(b);
    return static_cast<double>(difference < 0 ? -difference : difference);
  }
  return std::abs(to_double(a) - to_double(b));
}

void note(Difference& result, int64_t index, double absolute, double relative) {
  if (result.differing++ == 0) result.first = index;
  result.max_abs = std::max(result.max_abs, absolute);
  result.max_rel = std::max(result.max_rel, relative);
}

// Compares element i of two loaded blocks.
void compare_values(const Values& a, const Values& b, size_t i, int64_t index, bool by_bits,
                    Difference& result) {
  const bool a_nan = a.is_nan(i);
  const bool b_nan = b.is_nan(i);
  if (a_nan || b_nan) {
    if (a_nan != b_nan) note(result, index, kInfinity, kInfinity);
    return;
  }
  const double real = distance(a.real(i), b.real(i));
  const double imaginary = std::abs(a.imaginary(i) - b.imaginary(i));
  const bool is_real = !a.is_complex() && !b.is_complex();
  const double absolute = is_real ? real : std::hypot(real, imaginary);
  if (absolute == 0) {
    if (by_bits) note(result, index, 0, 0);  // 0 and -0
    return;
  }
  if (!std::isfinite(absolute)) {
    // Infinity minus itself is NaN: the same infinity on both sides, so look at the parts.
    const bool same = to_double(a.real(i)) == to_double(b.real(i)) && a.imaginary(i) == b.imaginary(i);
    if (!same) note(result, index, kInfinity, kInfinity);
    return;
  }
  const auto magnitude = [&](const Values& of) { return std::hypot(to_double(of.real(i)), of.imaginary(i)); };
  note(result, index, absolute, absolute / std::max(magnitude(a), magnitude(b)));
}

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
  if (wide_kind(tensor.dtype()) != Wide::kNone) return tensor;
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
    for (size_t i = 0; i < count; ++i) {
      if (can_skip && std::memcmp(a_bytes + i * size, b_bytes + i * size, size) == 0) continue;
      compare_values(*a_values, *b_values, i, begin + static_cast<int64_t>(i), by_bits, result);
    }
  }
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
