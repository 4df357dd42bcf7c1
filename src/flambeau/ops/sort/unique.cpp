// Elements, or slices, without repetitions.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "flambeau/base/error.h"
#include "flambeau/base/stoppable.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"

namespace flambeau::ops {
namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

// Which rows of a packed matrix are kept, which of those each row equals, and how often.
struct Groups {
  std::vector<size_t> kept;
  std::vector<int64_t> inverse;
  std::vector<int64_t> counts;
};

// NaN comes last and equals nothing, itself included.
template <typename T>
int compare_rows(const T* a, const T* b, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (a[i] == b[i]) continue;
    if (a[i] != a[i] || b[i] != b[i]) return a[i] == a[i] ? -1 : 1;
    return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

template <typename T>
Groups group(const std::vector<T>& values, size_t rows, size_t length, bool sorts) {
  Groups groups;
  groups.inverse.resize(rows);
  ScratchVector<size_t> order(rows);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto row = [&](size_t i) { return values.data() + i * length; };
  if (sorts) {
    WorkPoller poll;
    const auto is_before = [&](size_t a, size_t b) {
      for (size_t i = 0; i < length; ++i) {
        const T x = row(a)[i];
        const T y = row(b)[i];
        if (x == y || (x != x && y != y)) continue;
        return x < y || (x == x && y != y);
      }
      return false;
    };
    std::stable_sort(order.begin(), order.end(), stoppable(poll, is_before));
  }
  WorkPoller poll;
  for (size_t i = 0; i < rows; ++i) {
    poll(length);
    if (i == 0 || compare_rows(row(order[i]), row(order[i - 1]), length) != 0) {
      groups.kept.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[order[i]] = static_cast<int64_t>(groups.kept.size()) - 1;
  }
  return groups;
}

Groups group_rows(const Tensor& packed, size_t rows, size_t length, bool sorts) {
  if (is_complex(packed.dtype())) fail_dtype("unique", packed.dtype());
  return with_compute_type(packed.dtype(), [&]<typename T>(T) -> Groups {
    if constexpr (kIsComplex<T>) {
      return {};
    } else {
      require_memory(static_cast<uint64_t>((Size(rows) * length * sizeof(T)).value()));
      std::vector<T> values(rows * length);
      if (!values.empty()) {
        load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), values.size(),
                    compute_dtype(packed.dtype()), values.data());
      }
      return group(values, rows, length, sorts);
    }
  });
}

Tensor numbers(Context& context, const std::vector<int64_t>& values, std::span<const int64_t> sizes) {
  Tensor made = context.allocate(DType::kInt64, sizes);
  if (!values.empty()) std::memcpy(made.mutable_data(), values.data(), values.size() * sizeof(int64_t));
  return made;
}

Tensor kept_rows(Context& context, const Tensor& packed, const Groups& groups, std::span<const int64_t> sizes,
                 size_t row_bytes) {
  Tensor made = context.allocate(packed.dtype(), sizes);
  for (size_t i = 0; i < groups.kept.size() && row_bytes > 0; ++i) {
    std::memcpy(made.mutable_data() + i * row_bytes, packed.data() + groups.kept[i] * row_bytes, row_bytes);
  }
  return made;
}

Three unique_elements(Context& context, const Tensor& self, bool sorts, bool inverse, bool counts) {
  const Tensor packed = self.to_contiguous();
  const Groups groups = group_rows(packed, static_cast<size_t>(packed.element_count()), 1, sorts);
  const auto count = static_cast<int64_t>(groups.kept.size());
  return {kept_rows(context, packed, groups, Dims{count}, packed.element_size()),
          inverse ? numbers(context, groups.inverse, self.sizes()) : context.allocate(DType::kInt64, Dims{0}),
          numbers(context, counts ? groups.counts : std::vector<int64_t>(), Dims{counts ? count : 0})};
}

// The slices of a dimension, as rows; the result's dimension comes first in memory.
Three unique_slices(Context& context, const Tensor& self, int64_t dim, bool sorts, bool inverse,
                    bool counts) {
  const size_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0) return unique_elements(context, self, sorts, inverse, counts);
  Geometry geometry = self.geometry();
  const int64_t rows = geometry.sizes[d];
  const int64_t stride = geometry.strides[d];
  geometry.sizes.erase(d);
  geometry.strides.erase(d);
  geometry.sizes.insert(0, rows);
  geometry.strides.insert(0, stride);
  const Tensor packed = self.with_geometry(geometry).to_contiguous();
  const int64_t length = rows == 0 ? 0 : packed.element_count() / rows;
  if (self.element_count() == 0 && rows != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  }
  const Groups groups = group_rows(packed, static_cast<size_t>(rows), static_cast<size_t>(length), sorts);
  const auto count = static_cast<int64_t>(groups.kept.size());
  Dims sizes = packed.sizes();
  sizes[0] = count;
  const Tensor made =
      kept_rows(context, packed, groups, sizes, static_cast<size_t>(length) * packed.element_size());
  Geometry back = made.geometry();
  const int64_t first = back.strides[0];
  back.sizes.erase(0);
  back.strides.erase(0);
  back.sizes.insert(d, count);
  back.strides.insert(d, first);
  return {made.with_geometry(std::move(back)),
          inverse ? numbers(context, groups.inverse, Dims{rows}) : context.allocate(DType::kInt64, Dims{0}),
          numbers(context, counts ? groups.counts : std::vector<int64_t>(), Dims{counts ? count : 0})};
}

// ---- while tracing: how many are left only data can tell

SymInt kept_count(DataNumbers& data, const Info<SymInt>& self, const SymInt& most) {
  // Of nothing nothing is left.
  const SymInt all = self.element_count();
  return all.is_literal() && all.literal() == 0 ? SymInt(0) : data.size(most);
}
Info<SymInt> numbers_info(const Info<SymInt>& self, SymIntList sizes) {
  return contiguous<SymInt>(DType::kInt64, std::move(sizes), self.device);
}
Infos<SymInt> unique_elements_infos(DataNumbers& data, const Info<SymInt>& self, bool inverse, bool counts) {
  const SymInt count = kept_count(data, self, self.element_count());
  return {contiguous<SymInt>(self.dtype, {count}, self.device),
          numbers_info(self, inverse ? self.sizes : SymIntList{SymInt(0)}),
          numbers_info(self, {counts ? count : SymInt(0)})};
}
Infos<SymInt> unique_slices_infos(DataNumbers& data, const Info<SymInt>& self, int64_t dim) {
  const size_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0) return unique_elements_infos(data, self, true, true);
  const SymInt count = kept_count(data, self, self.sizes[d]);
  SymIntList first = self.sizes;
  first.erase(d);
  first.insert(0, count);
  Info<SymInt> slices = contiguous<SymInt>(self.dtype, first, self.device);
  const SymInt stride = slices.strides[0];
  slices.strides.erase(0);
  slices.strides.insert(d, stride);
  slices.sizes = self.sizes;
  slices.sizes[d] = count;
  return {slices, numbers_info(self, {self.sizes[d]}), numbers_info(self, {count})};
}

DataShape unique1_data_shape(DataNumbers& data, const Info<SymInt>& self, bool, bool inverse) {
  Infos<SymInt> infos = unique_elements_infos(data, self, inverse, false);
  infos.pop_back();
  return infos;
}
DataShape unique2_data_shape(DataNumbers& data, const Info<SymInt>& self, bool, bool inverse, bool counts) {
  return unique_elements_infos(data, self, inverse, counts);
}
DataShape unique_dim_data_shape(DataNumbers& data, const Info<SymInt>& self, Size dim) {
  return unique_slices_infos(data, self, dim);
}
DataShape unique_consecutive_data_shape(DataNumbers& data, const Info<SymInt>& self, bool inverse,
                                        bool counts, std::optional<Size> dim) {
  if (!dim || self.dim() == 0 || (self.dim() == 1 && *dim == 0))
    return unique_elements_infos(data, self, inverse, counts);
  return unique_slices_infos(data, self, *dim);
}

// ----

std::tuple<Tensor, Tensor> unique1(Context& context, const Tensor& self, bool, bool inverse) {
  const Three all = unique_elements(context, self, true, inverse, false);
  return {std::get<0>(all), std::get<1>(all)};
}
Three unique2(Context& context, const Tensor& self, bool, bool inverse, bool counts) {
  return unique_elements(context, self, true, inverse, counts);
}
// These give the inverse and the counts, asked for or not.
Three unique_dim(Context& context, const Tensor& self, Size dim, bool, bool, bool) {
  return unique_slices(context, self, dim, true, true, true);
}
Three unique_dim_consecutive(Context& context, const Tensor& self, Size dim, bool, bool) {
  return unique_slices(context, self, dim, false, true, true);
}
Three unique_consecutive(Context& context, const Tensor& self, bool inverse, bool counts,
                         std::optional<Size> dim) {
  // A vector goes the shorter way only where the dimension is given as 0, as in PyTorch.
  if (!dim || self.dim() == 0 || (self.dim() == 1 && *dim == 0)) {
    return unique_elements(context, self, false, inverse, counts);
  }
  return unique_slices(context, self, *dim, false, true, true);
}

}  // namespace

void define_unique(Library& library) {
  library
      .define("aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)")
      .function<unique1>()
      .data_shape<unique1_data_shape>();
  library
      .define(
          "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
          "return_counts=False) -> (Tensor, Tensor, Tensor)")
      .function<unique2>()
      .data_shape<unique2_data_shape>();
  library
      .define(
          "aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
          "return_counts=False) -> (Tensor, Tensor, Tensor)")
      .function<unique_dim>()
      .data_shape<unique_dim_data_shape>();
  library
      .define(
          "aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool "
          "return_counts=False) -> (Tensor, Tensor, Tensor)")
      .function<unique_dim_consecutive>()
      .data_shape<unique_dim_data_shape>();
  library
      .define(
          "aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? "
          "dim=None) -> (Tensor, Tensor, Tensor)")
      .function<unique_consecutive>()
      .data_shape<unique_consecutive_data_shape>();
}

}  // namespace flambeau::ops
