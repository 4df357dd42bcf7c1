// Elements where something is true, and positions in the flattened tensor.
#include <fmt/format.h>

#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/type_names.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

// One row for each element that is not zero; laid column by column, as PyTorch does it.
Tensor nonzero(Context& context, const Tensor& self) {
  if (self.dim() == 0) {
    return context.allocate(DType::kInt64, Dims{item(self).to_bool() ? 1 : 0, 0});
  }
  const std::vector<std::vector<int64_t>> positions = nonzero_positions(self);
  const auto count = static_cast<int64_t>(positions[0].size());
  Info<Size> info = contiguous<Size>(DType::kInt64, {count, static_cast<int64_t>(self.dim())});
  info.strides = {1, count};
  Tensor out = context.allocate(info);
  for (size_t d = 0; d < positions.size() && count > 0; ++d) {
    std::memcpy(out.mutable_data<int64_t>() + static_cast<int64_t>(d) * count, positions[d].data(),
                positions[d].size() * sizeof(int64_t));
  }
  return out;
}

TensorList nonzero_columns(Context& context, const Tensor& self) {
  const Tensor vector = self.dim() == 0 ? self.with_geometry({{1}, {1}, self.offset()}) : self;
  const Tensor all = nonzero(context, vector);
  TensorList columns;
  const int64_t count = all.sizes()[0];
  for (int64_t d = 0; d < all.sizes()[1]; ++d) {
    columns.push_back(all.with_geometry({{count}, {1}, all.offset() + d * count}));
  }
  return columns;
}

template <typename N>
Info<N> nonzero_static_shape(const Info<N>& self, N size, Size) {
  return contiguous<N>(DType::kInt64, {size, N(static_cast<int64_t>(self.dim()))}, self.device);
}
void nonzero_static_kernel(Context&, const Tensor& self, Size size, Size fill_value, Tensor& out) {
  const std::vector<std::vector<int64_t>> positions = nonzero_positions(self);
  const auto rank = static_cast<int64_t>(positions.size());
  auto* const to = out.mutable_data<int64_t>();
  WorkPoller poll;
  for (int64_t i = 0; i < size; ++i) {
    poll(static_cast<size_t>(rank));
    for (int64_t d = 0; d < rank; ++d) {
      const std::vector<int64_t>& list = positions[static_cast<size_t>(d)];
      to[i * rank + d] =
          i < static_cast<int64_t>(list.size()) ? list[static_cast<size_t>(i)] : fill_value.value();
    }
  }
}

std::optional<Info<SymInt>> nonzero_data_shape(DataNumbers& data, const Tensor& given) {
  const Info<SymInt> self = boxing::unbox_info<SymInt>(given);
  const SymInt count = data.count_of(given, self.element_count());
  Info<SymInt> info = contiguous<SymInt>(DType::kInt64, {count, SymInt(static_cast<int64_t>(self.dim()))});
  info.strides = {SymInt(1), count};
  return info;
}

DataShape nonzero_columns_data_shape(DataNumbers& data, const Info<SymInt>& self) {
  const SymInt count = data.size(self.element_count());
  return Infos<SymInt>(std::max<size_t>(self.dim(), 1), contiguous<SymInt>(DType::kInt64, {count}));
}

void require_mask(const Tensor& mask, const char* name) {
  if (mask.dtype() == DType::kBool || mask.dtype() == DType::kUInt8) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: expected BoolTensor for mask, but got {}", name, dtype_name(mask.dtype())));
}

// The bytes of a mask, row-major, broadcast to sizes.
std::vector<uint8_t> flags_of(const Tensor& mask, std::span<const int64_t> sizes) {
  const Tensor packed = broadcast_view(mask, sizes).to_contiguous();
  require_memory(static_cast<uint64_t>(packed.element_count()));
  const uint8_t* const from = packed.data();
  return {from, from + packed.element_count()};
}

DataShape masked_select_data_shape(DataNumbers& data, const Info<SymInt>& self, const Info<SymInt>& mask) {
  Info<SymInt> all = self;
  all.sizes = broadcast(self.sizes, mask.sizes);
  return contiguous<SymInt>(self.dtype, {data.size(all.element_count())});
}
Tensor masked_select(Context& context, const Tensor& self, const Tensor& mask) {
  require_mask(mask, "masked_select");
  const Dims sizes = broadcast(self.sizes(), mask.sizes());
  const std::vector<uint8_t> flags = flags_of(mask, sizes);
  const Tensor packed = broadcast_view(self, sizes).to_contiguous();
  const auto count = static_cast<int64_t>(flags.size()) - std::count(flags.begin(), flags.end(), 0);
  Tensor out = context.allocate(self.dtype(), Dims{count});
  const size_t size = self.element_size();
  uint8_t* to = count > 0 ? out.mutable_data() : nullptr;
  const uint8_t* const from = flags.empty() ? nullptr : packed.data();
  WorkPoller poll;
  for (size_t i = 0; i < flags.size(); ++i) {
    poll();
    if (flags[i] == 0) continue;
    std::memcpy(to, from + i * size, size);
    to += size;
  }
  return out;
}

template <typename N>
Info<N> masked_scatter_shape(const Info<N>& self, const Info<N>& mask, const Info<N>& source) {
  if (source.dtype != self.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("masked_scatter: expected self and source to have same dtypes but got {} and {}",
                            dtype_type_name(self.dtype), dtype_type_name(source.dtype)));
  }
  return contiguous<N>(self.dtype, broadcast(self.sizes, mask.sizes), self.device);
}
void masked_scatter_kernel(Context& context, const Tensor& self, const Tensor& mask, const Tensor& source,
                           Tensor& out) {
  if (mask.dtype() != DType::kBool) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("masked_scatter_ only supports boolean masks, but got mask with dtype {}",
                            dtype_type_name(mask.dtype())));
  }
  copy_into(context, self, out);
  const std::vector<uint8_t> flags = flags_of(mask, out.sizes());
  const Tensor packed = source.to_contiguous();
  const size_t size = self.element_size();
  int64_t taken = 0;
  WorkPoller poll;
  for (size_t i = 0; i < flags.size(); ++i) {
    poll();
    if (flags[i] == 0) continue;
    if (taken == packed.element_count()) {
      throw Error(ErrorCode::kInvalidArgument, "Number of elements of source < number of ones in mask");
    }
    std::memcpy(out.mutable_data() + i * size, packed.data() + static_cast<size_t>(taken++) * size, size);
  }
}

// ---- take and put
template <typename N>
Info<N> take_shape(const Info<N>& self, const Info<N>& index) {
  if (index.dtype != DType::kInt64) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("take(): Expected a long tensor for index, but got {}", dtype_word(index.dtype)));
  }
  return contiguous<N>(self.dtype, index.sizes, self.device);
}
int64_t checked_position(int64_t value, int64_t count, const char* name) {
  if (value < -count || value >= count) {
    throw Error(ErrorCode::kInvalidArgument,
                count == 0 ? fmt::format("{}(): tried to take from an empty tensor", name)
                           : fmt::format("out of range: tried to access index {} on a tensor of {} elements.",
                                         value, count));
  }
  return value < 0 ? value + count : value;
}
void take_kernel(Context&, const Tensor& self, const Tensor& index, Tensor& out) {
  const Tensor packed = self.to_contiguous();
  const size_t size = self.element_size();
  uint8_t* to = out.mutable_data();
  WorkPoller poll;
  for (const int64_t value : read_indices(index)) {
    poll();
    const auto at = static_cast<size_t>(checked_position(value, packed.element_count(), "take"));
    std::memcpy(to, packed.data() + at * size, size);
    to += size;
  }
}

template <typename N>
Info<N> put_shape(const Info<N>& self, const Info<N>& index, const Info<N>& source, bool) {
  if (index.dtype != DType::kInt64) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("put_(): Expected a long tensor for index, but got {}", dtype_word(index.dtype)));
  }
  if (source.dtype != self.dtype || !(index.element_count() == source.element_count())) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "put_(): Expected self and source to have the same dtype, and source and index to have the same "
        "number of elements");
  }
  return {.dtype = self.dtype,
          .sizes = self.sizes,
          .strides = like_strides(self, MemoryFormat::kPreserve),
          .device = self.device};
}
void put_kernel(Context& context, const Tensor& self, const Tensor& index, const Tensor& source,
                bool accumulate, Tensor& out) {
  const Tensor target = context.allocate(self.dtype(), self.sizes());
  copy_into(context, self, target);
  const Tensor values = source.to_contiguous();
  const size_t size = self.element_size();
  const CombineRow row = combine_row(accumulate ? Combine::kAdd : Combine::kReplace, self.dtype());
  size_t i = 0;
  WorkPoller poll;
  for (const int64_t value : read_indices(index)) {
    poll();
    const auto at = static_cast<size_t>(checked_position(value, self.element_count(), "put_"));
    row(target.mutable_data() + at * size, 0, values.data() + i++ * size, 0, 1);
  }
  copy_into(context, target, out);
}

Tensor take_parts(Context& c, const Tensor& self, const Tensor& index) {
  return call(c, "aten::index.Tensor", call(c, "aten::reshape", self, Dims{-1}), TensorList{index});
}

}  // namespace

void define_masked(Library& library) {
  for (const char* const schema :
       {"aten::nonzero(Tensor self) -> Tensor", "aten::argwhere(Tensor self) -> Tensor"}) {
    library.define(schema).function<nonzero>().data_shape<nonzero_data_shape>();
  }
  for (const char* const schema :
       {"aten::nonzero_numpy(Tensor self) -> Tensor[]", "aten::where(Tensor condition) -> Tensor[]"}) {
    library.define(schema).function<nonzero_columns>().data_shape<nonzero_columns_data_shape>();
  }
  library.define("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor")
      .shape<nonzero_static_shape<Size>, nonzero_static_shape<SymInt>>()
      .kernel<nonzero_static_kernel>();
  library.define("aten::masked_select(Tensor self, Tensor mask) -> Tensor")
      .function<masked_select>()
      .is(Trait::kApartOut)
      .data_shape<masked_select_data_shape>();
  library.define("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor")
      .shape<masked_scatter_shape<Size>, masked_scatter_shape<SymInt>>()
      .kernel<masked_scatter_kernel>();
  library.define("aten::take(Tensor self, Tensor index) -> Tensor")
      .shape<take_shape<Size>, take_shape<SymInt>>()
      .kernel<take_kernel>()
      .is(Trait::kApartOut)
      .core_decomposition<take_parts>();
  library.define("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor")
      .shape<put_shape<Size>, put_shape<SymInt>>()
      .kernel<put_kernel>();
}

}  // namespace flambeau::ops
