#include "flambeau/trace/decompositions/parts.h"

#include <algorithm>

#include "flambeau/ops/view/rules.h"

namespace flambeau::trace::parts {

Tensor scalar(Context& context, const Value& number, DType dtype, Device device) {
  return call_with(context, "aten::scalar_tensor", {number},
                   {{"dtype", dtype}, {"layout", Layout::kStrided}, {"device", device}});
}

Tensor full(Context& context, const SymIntList& sizes, const Value& number, DType dtype, Device device) {
  return call_with(
      context, "aten::full", {sizes, number},
      {{"dtype", dtype}, {"layout", Layout::kStrided}, {"device", device}, {"pin_memory", false}});
}

Tensor arange(Context& context, const Value& start, const Value& end, std::optional<DType> dtype,
              Device device, const Value& step) {
  return call_with(
      context, "aten::arange.start_step", {start, end, step},
      {{"dtype", dtype}, {"layout", Layout::kStrided}, {"device", device}, {"pin_memory", false}});
}

Tensor where(Context& context, const Tensor& condition, const Tensor& yes, const Tensor& no) {
  return call(context, "aten::where.self", condition, yes, no);
}

Tensor to_dtype(Context& context, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  return call_with(context, "aten::_to_copy", {tensor}, {{"dtype", dtype}});
}

Tensor packed(Context& context, const Tensor& tensor) {
  return call_with(context, "aten::clone", {tensor}, {{"memory_format", MemoryFormat::kContiguous}});
}

Tensor reshape(Context& context, const Tensor& tensor, const SymIntList& sizes) {
  if (is_row_major(tensor)) return call(context, "aten::view", tensor, sizes);
  SymIntList whole = sizes;
  const auto is_open = [](const SymInt& size) { return size.is_literal() && size.literal() == -1; };
  if (std::ranges::any_of(sizes, is_open)) whole = ops::infer_sizes(sizes.span(), count_of(tensor));
  if (can_view(context, tensor, whole)) return call(context, "aten::view", tensor, whole);
  return call(context, "aten::_unsafe_view", packed(context, tensor), whole);
}

Tensor cat(Context& context, const TensorList& tensors, int64_t dim) {
  return call(context, "aten::cat", tensors, dim);
}

TensorList tensor_split(Context& context, const Tensor& tensor, int64_t sections, int64_t dim) {
  const SymInt size = size_of(tensor, dim);
  const SymInt least = floor_div(size, SymInt(sections));
  const SymInt more = modulo(size, SymInt(sections));
  TensorList pieces;
  SymInt start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const SymInt end = start + (SymInt(i) < more ? least + SymInt(1) : least);
    pieces.push_back(call(context, "aten::slice.Tensor", tensor, dim, start, end));
    start = end;
  }
  return pieces;
}

TensorList unbind(Context& context, const Tensor& tensor, int64_t dim) {
  const SymInt size = size_of(tensor, dim);
  int64_t count = 0;
  while (SymInt(count) < size) ++count;
  TensorList items;
  for (const Tensor& piece : tensor_split(context, tensor, count, dim))
    items.push_back(call(context, "aten::squeeze.dim", piece, dim));
  return items;
}

Tensor reduce(Context& context, const Tensor& loss, int64_t reduction) {
  if (reduction == 1) return call(context, "aten::mean", loss);
  if (reduction == 2) return call(context, "aten::sum", loss);
  return loss;
}

}  // namespace flambeau::trace::parts
