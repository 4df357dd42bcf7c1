#include "flambeau/ops/mechanism/parts.h"

#include <limits>
#include <utility>

#include "flambeau/ops/mechanism/boxing.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/symbolic/build.h"

namespace flambeau::ops {

Info<SymInt> symbolic_info(const Tensor& tensor) { return boxing::unbox_info<SymInt>(tensor); }

SymIntList sizes_of(const Tensor& tensor) { return shape_of(tensor).sizes; }

SymInt size_of(const Tensor& tensor, int64_t dim) {
  const SymIntList sizes = sizes_of(tensor);
  return sizes.empty() ? SymInt(1) : sizes[wrap_dim(dim, sizes.size())];
}

int64_t rank_of(const Tensor& tensor) { return static_cast<int64_t>(tensor.dim()); }

SymInt count_of(const Tensor& tensor) { return symbolic_info(tensor).element_count(); }

bool is_row_major(const Tensor& tensor) {
  if (!tensor.is_traced()) return tensor.is_contiguous();
  const Info<SymInt> info = symbolic_info(tensor);
  symbolic::Expr expected(1);
  for (size_t d = info.dim(); d-- > 0;) {
    const SymInt& size = info.sizes[d];
    if (is_literally(size, 0)) return true;
    if (is_literally(size, 1)) continue;
    if (!(info.strides[d].expr() == expected)) return false;
    expected = symbolic::mul(expected, size.expr());
  }
  return true;
}

bool can_view(Context& context, const Tensor& tensor, const SymIntList& sizes) {
  const Quietly quietly(context);
  return view_strides(symbolic_info(tensor), sizes).has_value();
}

int64_t wrapped_dim(int64_t dim, int64_t rank) {
  return static_cast<int64_t>(wrap_dim(dim, static_cast<size_t>(rank)));
}

Dims wrapped_dims(std::span<const Size> dims, int64_t rank) {
  if (dims.empty()) return all_dims(rank);
  Dims wrapped;
  for (const int64_t dim : dims) wrapped.push_back(wrapped_dim(dim, rank));
  return wrapped;
}

Dims all_dims(int64_t rank) {
  Dims dims;
  for (int64_t d = 0; d < rank; ++d) dims.push_back(d);
  return dims;
}

SymIntList inserted(SymIntList list, int64_t place, const SymInt& number) {
  list.insert(static_cast<size_t>(place), number);
  return list;
}

bool is_literally(const SymInt& size, int64_t number) {
  return size.is_literal() && size.literal() == number;
}

int64_t fixed(const SymInt& size) {
  if (size.is_literal()) return size.literal();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t below = -1;
  int64_t number = 1;
  while (SymInt(number) < size) {
    below = number;
    number = below > kMost / 2 ? kMost : 2 * below;
  }
  while (number - below > 1) {
    const int64_t middle = below + (number - below) / 2;
    (SymInt(middle) < size ? below : number) = middle;
  }
  return number;
}

Quietly::Quietly(Context& context) {
  if (context.interceptor == nullptr || context.interceptor->is_quiet == nullptr) return;
  flag_ = context.interceptor->is_quiet;
  before_ = std::exchange(*flag_, true);
}

Quietly::~Quietly() {
  if (flag_ != nullptr) *flag_ = before_;
}

namespace parts {

Tensor add(Context& context, const Value& a, const Value& b) {
  return call(context, "aten::add.Tensor", a, b);
}
Tensor sub(Context& context, const Value& a, const Value& b) {
  return call(context, "aten::sub.Tensor", a, b);
}
Tensor mul(Context& context, const Value& a, const Value& b) {
  return call(context, "aten::mul.Tensor", a, b);
}
Tensor div(Context& context, const Value& a, const Value& b) {
  return call(context, "aten::div.Tensor", a, b);
}

Tensor scalar(Context& context, const Value& number, const Tensor& like) {
  return call_with(context, "aten::scalar_tensor", {number},
                   {{"dtype", like.dtype()}, {"layout", Layout::kStrided}, {"device", like.device()}});
}

Tensor full(Context& context, const SymIntList& sizes, const Value& number, const Tensor& like) {
  return call_with(context, "aten::full", {sizes, number},
                   {{"dtype", like.dtype()},
                    {"layout", Layout::kStrided},
                    {"device", like.device()},
                    {"pin_memory", false}});
}

Tensor empty(Context& context, const SymIntList& sizes, const Tensor& like) {
  return call_with(context, "aten::empty.memory_format", {sizes},
                   {{"dtype", like.dtype()},
                    {"layout", Layout::kStrided},
                    {"device", like.device()},
                    {"pin_memory", false}});
}

Tensor arange(Context& context, const Value& start, const Value& end, std::optional<DType> dtype,
              Device device) {
  return call_with(
      context, "aten::arange.start_step", {start, end, 1},
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

Tensor reduce(Context& context, const Tensor& loss, int64_t reduction) {
  if (reduction == kMean) return call(context, "aten::mean", loss);
  return reduction == kSum ? call(context, "aten::sum", loss) : loss;
}

}  // namespace parts
}  // namespace flambeau::ops
