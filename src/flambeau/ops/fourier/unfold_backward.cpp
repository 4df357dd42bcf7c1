// Windows along a dimension, summed where they lie: the gradient of unfold, and a signal of its frames.
#include <fmt/format.h>

#include <complex>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> unfold_backward_shape(const Info<N>& grad, std::span<const N> input_sizes, Size dim, Size size,
                              Size step) {
  if (grad.dtype == DType::kBool) fail_dtype("unfold_backward_cpu", grad.dtype);
  if (step <= 0) fail_view("step is " + number_text(step) + " but must be > 0");
  if (size < 0) fail_view("size is " + number_text(size) + " but must be >= 0");
  const size_t d = wrap_dim(dim, input_sizes.size());
  ShortList<N> expected(input_sizes);
  for (const N& wanted : expected) {
    if (wanted < N(0)) fail_view("Trying to create tensor with negative dimension " + number_text(wanted));
  }
  ShortList<N> sizes = expected;
  if (!expected.empty()) {
    if (expected[d] < N(size)) {
      fail_view("maximum size for tensor at dimension " + number_text(static_cast<int64_t>(d)) + " is " +
                number_text(expected[d]) + " but size is " + number_text(size));
    }
    expected[d] = floor_div(expected[d] - N(size), N(step)) + N(1);
  }
  expected.push_back(N(size));
  if (grad.dim() != expected.size() || !(grad.sizes == expected)) {
    fail_view("expected a gradient of sizes " + sizes_text(expected) + ", got " + sizes_text(grad.sizes));
  }
  return contiguous(grad.dtype, std::move(sizes), grad.device);
}

// Line after line of the dimension, summed in T.
template <typename T>
void sum_windows(Context& context, DType row, const Tensor& grad, size_t dim, int64_t size, int64_t step,
                 const Tensor& out) {
  const int64_t length = out.sizes()[dim];
  const int64_t windows = grad.sizes()[dim];
  const int64_t lines = out.element_count() / length;
  const auto piece = [&](size_t begin, size_t end) {
    ScratchVector<T> sums(static_cast<size_t>(length));
    ScratchVector<T> window(static_cast<size_t>(size));
    WorkPoller poll;
    for (size_t line = begin; line < end; ++line) {
      auto rest = static_cast<int64_t>(line);
      int64_t from = 0, to = 0;
      for (size_t d = out.dim(); d-- > 0;) {
        if (d == dim) continue;
        const int64_t at = rest % out.sizes()[d];
        rest /= out.sizes()[d];
        from += at * grad.byte_stride(d);
        to += at * out.byte_stride(d);
      }
      std::fill(sums.begin(), sums.end(), T(0));
      for (int64_t w = 0; w < windows; ++w) {
        poll(static_cast<size_t>(size));
        load_packed(grad.dtype(), grad.data() + from + w * grad.byte_stride(dim), grad.byte_stride(out.dim()),
                    static_cast<size_t>(size), row, window.data());
        T* const place = sums.data() + w * step;
        for (size_t i = 0; i < window.size(); ++i) place[i] += window[i];
      }
      store_packed(row, sums.data(), static_cast<size_t>(length), out.dtype(), out.mutable_data() + to,
                   out.byte_stride(dim));
    }
  };
  const int64_t grain = std::max<int64_t>(kGrain / length, 1);
  if (lines <= grain) return piece(0, static_cast<size_t>(lines));
  context.pool().for_each_range(static_cast<size_t>(lines), static_cast<size_t>(grain), piece);
}

void unfold_backward_kernel(Context& context, const Tensor& grad, std::span<const Size>, Size dim, Size size,
                            Size step, Tensor& out) {
  if (out.element_count() == 0) return;
  if (size == 0) return fill(context, out, 0);
  if (out.dim() == 0) return copy_into(context, viewed(grad, part_info(info_of(grad), 0, 0, 1)), out);
  const size_t d = wrap_dim(dim, out.dim());
  switch (compute_dtype(out.dtype())) {
    case DType::kFloat32:
      return sum_windows<float>(context, DType::kFloat32, grad, d, size, step, out);
    case DType::kFloat64:
      return sum_windows<double>(context, DType::kFloat64, grad, d, size, step, out);
    case DType::kComplex64:
      return sum_windows<std::complex<float>>(context, DType::kComplex64, grad, d, size, step, out);
    case DType::kComplex128:
      return sum_windows<std::complex<double>>(context, DType::kComplex128, grad, d, size, step, out);
    default:
      return sum_windows<uint64_t>(context, DType::kInt64, grad, d, size, step, out);
  }
}

// Added at the places where unfold reads.
Tensor unfold_backward_parts(Context& c, const Tensor& grad, std::span<const SymInt> input_sizes, Size dim,
                             Size size, Size step) {
  const SymIntList sizes(input_sizes);
  const auto rank = static_cast<int64_t>(sizes.size());
  if (rank == 0) return call(c, "aten::squeeze.dim", grad, 0);
  const int64_t d = wrapped_dim(dim, rank);
  const Tensor zeros = parts::full(c, sizes, 0, grad);
  const Tensor line = parts::arange(c, 0, sizes[static_cast<size_t>(d)], DType::kInt32, grad.device());
  const Tensor windows = call(c, "aten::unfold", line, 0, size, step);
  const SymInt count = count_of(windows);
  const Tensor places = call(c, "aten::view", parts::packed(c, windows), SymIntList{count});
  Dims order = all_dims(rank);
  order.insert(static_cast<size_t>(d + 1), rank);
  Tensor values = call(c, "aten::permute", grad, order);
  SymIntList flat = sizes;
  flat[static_cast<size_t>(d)] = count;
  if (!can_view(c, values, flat)) values = parts::packed(c, values);
  values = call(c, "aten::view", values, flat);
  TensorList indices(static_cast<size_t>(d));
  indices.push_back(places);
  return call(c, "aten::index_put", zeros, indices, values, true);
}

}  // namespace

void define_unfold_backward(Library& library) {
  library
      .define(
          "aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> "
          "Tensor")
      .shape<unfold_backward_shape<Size>, unfold_backward_shape<SymInt>>()
      .kernel<unfold_backward_kernel>()
      .core_decomposition<unfold_backward_parts>();
}

}  // namespace flambeau::ops
