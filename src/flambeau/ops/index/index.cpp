// x[a, :, b] read and written.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

std::vector<Info<Size>> infos_of(std::span<const Tensor> indices) {
  std::vector<Info<Size>> infos;
  for (const Tensor& index : indices) infos.push_back(info_of(index));
  return infos;
}

template <typename N>
Info<N> index_shape(const Info<N>& self, std::span<const Info<N>> indices) {
  return plan_index(self, indices).result;
}

bool is_mask(const Tensor& index) {
  return index.defined() && (index.dtype() == DType::kBool || index.dtype() == DType::kUInt8);
}
// A mask counts as one index of a length of its own for each of its dimensions.
std::optional<Info<SymInt>> index_data_shape(DataNumbers& data, const Info<SymInt>& self,
                                             std::span<const Tensor> indices) {
  if (std::ranges::none_of(indices, is_mask)) return {};
  Infos<SymInt> infos;
  for (const Tensor& index : indices) {
    const Info<SymInt> info = boxing::unbox_info<SymInt>(index);
    if (is_mask(index)) {
      infos.insert(infos.end(), info.dim(),
                   contiguous<SymInt>(DType::kInt64, {data.count_of(index, info.element_count())}));
    } else {
      infos.push_back(info);
    }
  }
  return index_shape<SymInt>(self, infos);
}

// An index on every place of a dimension without elements is out of bounds.
void require_places(const Tensor& self, const IndexPlan<Size>& plan) {
  for (const int64_t size : plan.index_sizes) {
    if (size == 0) return;
  }
  for (size_t i = 0; i < plan.indexed; ++i) {
    if (self.sizes()[static_cast<size_t>(plan.order[plan.before + i])] == 0) {
      throw Error(ErrorCode::kInvalidArgument, "index is out of bounds for dimension with size 0");
    }
  }
}

// Masks become the places where they are true.
Tensor index(Context& context, const Tensor& self, std::span<const Tensor> indices) {
  if (indices.empty()) throw Error(ErrorCode::kInvalidArgument, "at least one index must be provided");
  const TensorList expanded = expand_masks(context, self, indices);
  require_places(self, plan_index<Size>(info_of(self), infos_of(expanded)));
  return call(context, "aten::_unsafe_index.Tensor", self, expanded);
}

void unsafe_index_kernel(Context& context, const Tensor& self, std::span<const Tensor> indices, Tensor& out) {
  const std::vector<Info<Size>> infos = infos_of(indices);
  read_indexed(context, self, plan_index<Size>(info_of(self), infos), indices, out);
}

void put(Context& context, const Tensor& self, std::span<const Tensor> indices, const Tensor& values,
         bool accumulate) {
  if (values.dtype() != self.dtype()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Index put requires the source and destination dtypes match, got {} for the "
                            "destination and {} for the source.",
                            dtype_name(self.dtype()), dtype_name(values.dtype())));
  }
  const std::vector<Tensor> expanded = expand_masks(context, self, indices);
  const std::vector<Info<Size>> infos = infos_of(expanded);
  const IndexPlan<Size> plan = plan_index<Size>(info_of(self), infos);
  require_places(self, plan);
  bool fits = values.dim() <= plan.result.dim();
  for (size_t d = 0; fits && d < values.dim(); ++d) {
    const int64_t size = values.sizes()[values.dim() - 1 - d];
    fits = size == 1 || size == plan.result.sizes[plan.result.dim() - 1 - d];
  }
  if (!fits) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of "
                    "shape {}",
                    Value(values.sizes()).summary(), Value(plan.result.sizes).summary()));
  }
  write_indexed(context, self, plan, expanded, values, accumulate ? Combine::kAdd : Combine::kReplace);
}

template <typename N>
Info<N> index_put_shape(const Info<N>& self, std::span<const Info<N>>, const Info<N>&, bool) {
  return {.dtype = self.dtype,
          .sizes = self.sizes,
          .strides = like_strides(self, MemoryFormat::kPreserve),
          .device = self.device};
}
void index_put_kernel(Context& context, const Tensor& self, std::span<const Tensor> indices,
                      const Tensor& values, bool accumulate, Tensor& out) {
  copy_into(context, self, out);
  put(context, out, indices, values, accumulate);
}
Tensor index_put_in_place(Context& context, const Tensor& self, std::span<const Tensor> indices,
                          const Tensor& values, bool accumulate) {
  put(context, self, indices, values, accumulate);
  return self;
}
Tensor index_put_impl(Context& context, const Tensor& self, std::span<const Tensor> indices,
                      const Tensor& values, bool accumulate, bool) {
  put(context, self, indices, values, accumulate);
  return self;
}

// Where the mask is false, the index is taken as 0 and the value does not count.
Tensor masked_index(Context& context, const Tensor& self, const Tensor& mask, std::span<const Tensor> indices,
                    Scalar fill_value) {
  TensorList clamped;
  for (const Tensor& index_tensor : indices) {
    if (!index_tensor.defined()) {
      clamped.push_back(index_tensor);
      continue;
    }
    clamped.push_back(call(context, "aten::where.ScalarOther", mask, index_tensor, 0));
  }
  const Tensor read = call(context, "aten::index.Tensor", self, clamped);
  return call(context, "aten::masked_fill.Scalar", read, call(context, "aten::logical_not", mask),
              Value(fill_value));
}
Tensor masked_index_put(Context& context, const Tensor& self, const Tensor& mask,
                        std::span<const Tensor> indices, const Tensor& values) {
  TensorList clamped;
  for (const Tensor& index_tensor : indices) {
    if (!index_tensor.defined()) {
      clamped.push_back(index_tensor);
      continue;
    }
    clamped.push_back(call(context, "aten::where.ScalarOther", mask, index_tensor, 0));
  }
  const Tensor masked =
      call(context, "aten::masked_fill.Scalar", values, call(context, "aten::logical_not", mask), 0);
  return call(context, "aten::index_put", self, clamped, masked, true);
}

Tensor unsafe_index_parts(Context& c, const Tensor& self, std::span<const Tensor> indices) {
  return call(c, "aten::index.Tensor", self, indices);
}

}  // namespace

void define_index(Library& library) {
  for (const char* const schema :
       {"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
        "aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor"}) {
    library.define(schema)
        .shape<index_shape<Size>, index_shape<SymInt>>()
        .decomposition<index>()
        .data_shape<index_data_shape>();
  }
  for (const char* const schema :
       {"aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
        "aten::_unsafe_index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor"}) {
    library.define(schema)
        .shape<index_shape<Size>, index_shape<SymInt>>()
        .kernel<unsafe_index_kernel>()
        .core_decomposition<unsafe_index_parts>();
  }
  for (const char* const schema :
       {"aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> "
        "Tensor",
        "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> "
        "Tensor",
        "aten::_unsafe_index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool "
        "accumulate=False) -> Tensor"}) {
    library.define(schema).shape<index_put_shape<Size>, index_put_shape<SymInt>>().kernel<index_put_kernel>();
  }
  for (const char* const schema : {"aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool "
                                   "accumulate=False) -> Tensor(a!)",
                                   "aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor "
                                   "values, bool accumulate=False) "
                                   "-> Tensor(a!)"}) {
    library.define(schema).function<index_put_in_place>();
  }
  library
      .define(
          "aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, "
          "bool unsafe=False) -> Tensor(a!)")
      .function<index_put_impl>();
  library
      .define(
          "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor")
      .decomposition<masked_index>();
  library
      .define(
          "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor "
          "values) -> Tensor")
      .decomposition<masked_index_put>();
}

}  // namespace flambeau::ops
