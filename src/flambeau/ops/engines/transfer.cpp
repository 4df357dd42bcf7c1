// Copying and filling: between any strides and types, at the speed of memory where elements lie packed on
// both sides, in whatever order of dimensions.
#include <algorithm>
#include <cstring>

#include "flambeau/kernels/transpose.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/walk.h"
#include "flambeau/tensor/elements/convert_rows.h"

namespace flambeau::ops {
namespace {

// One byte again and again, zeros above all, needs no element.
bool is_one_byte(const uint8_t* element, size_t size) {
  return std::all_of(element, element + size, [&](uint8_t byte) { return byte == *element; });
}

// One element, `count` times. Blocks are copied from the start of the row, which stays in the cache.
void fill_row(const uint8_t* element, uint8_t* to, size_t count, size_t size) {
  constexpr size_t kBlock = 512;
  if (is_one_byte(element, size)) {
    std::memset(to, *element, count * size);
    return;
  }
  std::memcpy(to, element, size);
  const size_t first = std::min(count, kBlock);
  repeat_packed(to, size, first);
  for (size_t done = first; done < count;) {
    const size_t more = std::min(kBlock, count - done);
    std::memcpy(to + done * size, to, more * size);
    done += more;
  }
}

// Where the source is packed along one of the outer dimensions: rows of the result are columns of the source.
struct Turned {
  size_t dim;
};
std::optional<Turned> find_turned(const Walk& walk, int64_t size) {
  constexpr int64_t kLeast = 4;  // below that a column at a time is as good
  if (walk.step(0) != size || walk.step(1) == size || walk.step(1) == 0 || walk.row_length() < kLeast)
    return {};
  for (size_t d = 0; d < walk.outer().size(); ++d) {
    const Walk::Dimension& dimension = walk.outer()[d];
    if (dimension.strides[1] == size && dimension.size >= kLeast) return Turned{d};
  }
  return {};
}

void copy_turned(Context& context, const Walk& walk, Turned turned, const uint8_t* source, uint8_t* target,
                 int64_t size) {
  constexpr int64_t kStripe = 64;
  const Walk::Dimension& rows = walk.outer()[turned.dim];
  const int64_t stripes = (rows.size + kStripe - 1) / kStripe;
  const int64_t units = walk.element_count() / walk.row_length() / rows.size * stripes;
  const int64_t per_unit = std::min(kStripe, rows.size) * walk.row_length();
  const auto run = [&](size_t begin, size_t end) {
    for (auto unit = static_cast<int64_t>(begin); unit < static_cast<int64_t>(end); ++unit) {
      int64_t rest = unit / stripes;
      const int64_t first = unit % stripes * kStripe;
      int64_t to = first * rows.strides[0];
      int64_t from = first * rows.strides[1];
      for (size_t d = walk.outer().size(); d-- > 0;) {
        if (d == turned.dim) continue;
        const Walk::Dimension& dimension = walk.outer()[d];
        const int64_t index = rest % dimension.size;
        rest /= dimension.size;
        to += index * dimension.strides[0];
        from += index * dimension.strides[1];
      }
      kernels::transpose(source + from, walk.step(1), target + to, rows.strides[0],
                         static_cast<size_t>(std::min(kStripe, rows.size - first)),
                         static_cast<size_t>(walk.row_length()), static_cast<size_t>(size));
    }
  };
  context.pool().for_each_range(static_cast<size_t>(units),
                                static_cast<size_t>(std::max<int64_t>(kGrain / per_unit, 1)), run);
}

}  // namespace

void copy_into(Context& context, const Tensor& from, const Tensor& to) {
  const Tensor* const operands[] = {&to, &from};
  const Walk walk(to.sizes(), operands);
  if (walk.element_count() == 0) return;
  uint8_t* const target = to.mutable_data();
  const uint8_t* const source = from.data();
  const auto size = static_cast<int64_t>(to.element_size());
  const bool is_same = from.dtype() == to.dtype();
  if (is_same) {
    if (const std::optional<Turned> turned = find_turned(walk, size)) {
      return copy_turned(context, walk, *turned, source, target, size);
    }
  }
  const bool is_fill = is_same && walk.step(1) == 0 && walk.step(0) == size;
  const bool is_back = is_same && walk.step(1) == -size && walk.step(0) == size;
  const auto copy = [&](const Walk::Offsets& offsets, int64_t length) {
    const uint8_t* const row = source + offsets[1];
    uint8_t* const place = target + offsets[0];
    const auto count = static_cast<size_t>(length);
    if (is_fill) {
      fill_row(row, place, count, static_cast<size_t>(size));
    } else if (is_back) {
      kernels::reverse(row, place, count, static_cast<size_t>(size));
    } else if (is_same) {
      copy_row(row, walk.step(1), place, walk.step(0), count, static_cast<size_t>(size));
    } else {
      convert_row(from.dtype(), row, walk.step(1), to.dtype(), place, walk.step(0), count);
    }
  };
  if (walk.element_count() <= kGrain) {
    walk.for_each(0, walk.element_count(), copy);
    return;
  }
  context.pool().for_each_range(static_cast<size_t>(walk.element_count()), static_cast<size_t>(kGrain),
                                [&](size_t begin, size_t end) {
                                  walk.for_each(static_cast<int64_t>(begin), static_cast<int64_t>(end), copy);
                                });
}

void fill(Context& context, const Tensor& to, const Scalar& value) {
  if (to.element_count() > 0) copy_into(context, scalar_tensor(value, to.dtype()), to);
}

}  // namespace flambeau::ops
