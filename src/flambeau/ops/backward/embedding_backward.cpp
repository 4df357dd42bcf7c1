// Gradients of tables: rows of gradients added where indices said.
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

void require_rows(std::span<const int64_t> indices, int64_t rows) {
  for (const int64_t index : indices) {
    if (index < 0 || index >= rows) fail_index(index, 0, rows);
  }
}
std::vector<double> shares_by_count(std::span<const int64_t> indices, int64_t rows) {
  std::vector<int64_t> counts(static_cast<size_t>(rows), 0);
  for (const int64_t index : indices) ++counts[static_cast<size_t>(index)];
  std::vector<double> shares(indices.size());
  for (size_t i = 0; i < indices.size(); ++i)
    shares[i] = 1.0 / static_cast<double>(counts[static_cast<size_t>(indices[i])]);
  return shares;
}

// to[into[i]] += share[i] * from[of[i]] for all rows; threads share the columns.
template <typename T>
void add_rows(Context& context, const T* from, T* to, int64_t width, std::span<const int64_t> of,
              std::span<const int64_t> into, std::span<const double> shares, int64_t skipped) {
  constexpr int64_t kColumns = 64;
  const auto count = static_cast<int64_t>(into.size());
  for_each_part(context, (width + kColumns - 1) / kColumns, count * kColumns, [&](int64_t part) {
    const int64_t begin = part * kColumns, end = std::min(width, begin + kColumns);
    WorkPoller poll;
    for (size_t i = 0; i < into.size(); ++i) {
      poll(static_cast<size_t>(kColumns));
      if (into[i] == skipped) continue;
      const T* const source = from + (of.empty() ? static_cast<int64_t>(i) : of[i]) * width;
      T* const target = to + into[i] * width;
      if (shares.empty()) {
        for (int64_t k = begin; k < end; ++k) target[k] += source[k];
      } else {
        const T share = static_cast<T>(shares[i]);
        for (int64_t k = begin; k < end; ++k) target[k] += source[k] * share;
      }
    }
  });
}

template <typename N>
Info<N> embedding_gradient_shape(const Info<N>& gradient, const Info<N>& indices, N rows, N, bool) {
  require_index_dtype(indices.dtype);
  require(gradient.dim() == indices.dim() + 1,
          "embedding_backward: expected a row of gradients for each index");
  for (size_t d = 0; d < indices.dim(); ++d) {
    require(gradient.sizes[d] == indices.sizes[d],
            "embedding_backward: expected a row of gradients for each index");
  }
  if (rows < N(0)) fail_argument("embedding_backward: negative number of rows " + number_text(rows));
  return contiguous<N>(gradient.dtype, {rows, gradient.sizes[gradient.dim() - 1]}, gradient.device);
}
void embedding_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& indices, Size rows,
                               Size padding, bool by_count, Tensor& out) {
  with_floats("embedding_backward", gradient.dtype(), [&]<typename T>(T, DType wide) {
    const std::vector<int64_t> into = read_indices(indices);
    require_rows(into, rows);
    const std::vector<double> shares = by_count ? shares_by_count(into, rows) : std::vector<double>();
    const Tensor g = packed_as(context, gradient, wide);
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    add_rows<T>(context, g.data<T>(), to, out.sizes()[1], {}, into, shares, padding);
    made.finish();
  });
}
std::optional<Tensor> embedding_gradient_parts(Context& c, const Tensor& gradient, const Tensor& indices,
                                               SymInt rows, SymInt padding, bool by_count) {
  const DType wide = compute_dtype(gradient.dtype());
  const Tensor wanted = parts::to_dtype(c, indices, DType::kInt64);
  Tensor g = parts::to_dtype(c, gradient, wide);
  if (by_count) {
    const Tensor ones = parts::full(c, sizes_of(wanted), 1, wanted);
    const Tensor none = parts::full(c, {rows}, 0, wanted);
    const Tensor counts = call(c, "aten::index_put", none, TensorList{wanted}, ones, true);
    const Tensor each = call(c, "aten::index.Tensor", counts, TensorList{wanted});
    g = parts::div(c, g, call(c, "aten::unsqueeze", each, -1));
  }
  const Tensor is_padding = call(c, "aten::unsqueeze", call(c, "aten::eq.Scalar", wanted, padding), -1);
  const Tensor kept = call(c, "aten::masked_fill.Scalar", g, is_padding, 0);
  const Tensor zeros = parts::full(c, {rows, size_of(gradient, -1)}, 0, g);
  const Tensor sum = call(c, "aten::index_put", zeros, TensorList{wanted}, kept, true);
  return parts::to_dtype(c, sum, gradient.dtype());
}
Tensor embedding_backward(Context& c, const Tensor& gradient, const Tensor& indices, SymInt rows,
                          SymInt padding, bool by_count, bool is_sparse) {
  if (is_sparse) {
    throw Error(ErrorCode::kUnsupported, "embedding_backward: sparse gradients are not supported",
                "use sparse=False");
  }
  return call(c, "aten::embedding_dense_backward", gradient, indices, rows, padding, by_count);
}

// ---- of bags

enum Mode : uint8_t { kBagSum = 0, kBagMean = 1, kBagMax = 2 };

// Which bag each index is in. Where the forward pass left it out, the offsets say it.
std::vector<int64_t> bags_of(const Tensor& offsets, const Tensor& offset2bag, size_t count) {
  std::vector<int64_t> bags = read_indices(offset2bag);
  if (bags.size() == count) return bags;
  const std::vector<int64_t> starts = read_indices(offsets);
  bags.assign(count, 0);
  for (size_t bag = 0; bag < starts.size(); ++bag) {
    const int64_t end = bag + 1 < starts.size() ? starts[bag + 1] : static_cast<int64_t>(count);
    if (starts[bag] < 0 || end > static_cast<int64_t>(count))
      fail_index(starts[bag], 0, static_cast<int64_t>(count));
    for (int64_t i = starts[bag]; i < end; ++i) bags[static_cast<size_t>(i)] = static_cast<int64_t>(bag);
  }
  return bags;
}

template <typename N>
Info<N> bag_dense_shape(const Info<N>& gradient, const Info<N>&, const Info<N>&, const Info<N>&,
                        const Info<N>&, N rows, bool, Size mode, const Info<N>* per_sample, Size) {
  require(gradient.dim() == 2, "embedding_bag_backward: expected gradients of two dimensions");
  require(mode >= kBagSum && mode <= kBagMax, "embedding_bag_backward: mode is 0 (sum), 1 (mean) or 2 (max)");
  require(per_sample == nullptr || mode == kBagSum,
          "embedding_bag_backward: per_sample_weights are supported for mode='sum' alone");
  if (rows < N(0)) fail_argument("embedding_bag_backward: negative number of rows " + number_text(rows));
  return contiguous<N>(gradient.dtype, {rows, gradient.sizes[1]}, gradient.device);
}
void run_bag_gradient(Context& context, const Tensor& gradient, const Tensor& indices,
                      const std::vector<int64_t>& bags, const Tensor& bag_size, const Tensor& maximum_indices,
                      int64_t rows, bool by_count, int64_t mode, const Tensor* per_sample, int64_t padding,
                      Tensor& out) {
  with_floats("embedding_bag_backward", gradient.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor g = packed_as(context, gradient, wide);
    const int64_t bag_count = gradient.sizes()[0], width = gradient.sizes()[1];
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    const std::vector<int64_t> sizes = read_indices(bag_size);
    if (mode == kBagMax) {
      const std::vector<int64_t> places = read_indices(maximum_indices);
      require(static_cast<int64_t>(places.size()) == bag_count * width &&
                  static_cast<int64_t>(sizes.size()) == bag_count,
              "embedding_bag_backward: expected an index of a maximum for each gradient");
      for (int64_t i = 0; i < bag_count * width; ++i) {
        if (sizes[static_cast<size_t>(i / width)] == 0) continue;
        const int64_t row = places[static_cast<size_t>(i)];
        if (row < 0 || row >= rows) fail_index(row, 0, rows);
        to[row * width + i % width] += g.data<T>()[i];
      }
      return made.finish();
    }
    const std::vector<int64_t> into = read_indices(indices);
    require_rows(into, rows);
    require(bags.size() == into.size(), "embedding_bag_backward: expected a bag for each index");
    require_rows(bags, bag_count);
    std::vector<double> shares;
    if (by_count) shares = shares_by_count(into, rows);
    if (shares.empty() && (mode == kBagMean || per_sample != nullptr)) shares.assign(into.size(), 1.0);
    if (mode == kBagMean) {
      require(static_cast<int64_t>(sizes.size()) >= bag_count,
              "embedding_bag_backward: expected a size for each bag");
      for (size_t i = 0; i < into.size(); ++i) {
        const int64_t size = sizes[static_cast<size_t>(bags[i])];
        if (size != 0) shares[i] /= static_cast<double>(size);
      }
    }
    if (per_sample != nullptr) {
      require(per_sample->element_count() == static_cast<int64_t>(into.size()),
              "embedding_bag_backward: expected a weight for each index");
      const Tensor weights = packed_as(context, *per_sample, wide);
      for (size_t i = 0; i < into.size(); ++i) shares[i] *= static_cast<double>(weights.data<T>()[i]);
    }
    add_rows<T>(context, g.data<T>(), to, width, bags, into, shares, padding);
    made.finish();
  });
}
void bag_dense_kernel(Context& context, const Tensor& gradient, const Tensor& indices,
                      const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices,
                      Size rows, bool by_count, Size mode, const Tensor* per_sample, Size padding,
                      Tensor& out) {
  run_bag_gradient(context, gradient, indices, read_indices(offset2bag), bag_size, maximum_indices, rows,
                   by_count, mode, per_sample, padding, out);
}

template <typename N>
Info<N> bag_shape(const Info<N>& gradient, const Info<N>& indices, const Info<N>&, const Info<N>& offset2bag,
                  const Info<N>& bag_size, const Info<N>& maximum_indices, N rows, bool by_count, Size mode,
                  bool is_sparse, const Info<N>* per_sample, Size padding) {
  if (is_sparse) {
    throw Error(ErrorCode::kUnsupported, "embedding_bag_backward: sparse gradients are not supported",
                "use sparse=False");
  }
  return bag_dense_shape(gradient, indices, offset2bag, bag_size, maximum_indices, rows, by_count, mode,
                         per_sample, padding);
}
void bag_kernel(Context& context, const Tensor& gradient, const Tensor& indices, const Tensor& offsets,
                const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices, Size rows,
                bool by_count, Size mode, bool, const Tensor* per_sample, Size padding, Tensor& out) {
  run_bag_gradient(context, gradient, indices,
                   bags_of(offsets, offset2bag, static_cast<size_t>(indices.element_count())), bag_size,
                   maximum_indices, rows, by_count, mode, per_sample, padding, out);
}

template <typename N>
Info<N> sample_weights_shape(const Info<N>& gradient, const Info<N>& weight, const Info<N>& indices,
                             const Info<N>&, const Info<N>&, Size mode, Size) {
  require(mode == kBagSum, "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  require(
      gradient.dim() == 2 && weight.dim() == 2 && indices.dim() == 1 && gradient.sizes[1] == weight.sizes[1],
      "embedding_bag_backward: expected gradients as wide as the table, and a list of indices");
  return contiguous<N>(gradient.dtype, indices.sizes, gradient.device);
}
void sample_weights_kernel(Context& context, const Tensor& gradient, const Tensor& weight,
                           const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag, Size,
                           Size padding, Tensor& out) {
  with_floats("_embedding_bag_per_sample_weights_backward_cpu", gradient.dtype(),
              [&]<typename T>(T, DType wide) {
                const Tensor g = packed_as(context, gradient, wide);
                const Tensor table = packed_as(context, weight, wide);
                const std::vector<int64_t> rows = read_indices(indices);
                const std::vector<int64_t> bags = bags_of(offsets, offset2bag, rows.size());
                require_rows(rows, weight.sizes()[0]);
                require_rows(bags, gradient.sizes()[0]);
                PackedOutput made(context, out, wide);
                T* const to = made.data<T>();
                const int64_t width = gradient.sizes()[1];
                for_each_part(context, static_cast<int64_t>(rows.size()), width, [&](int64_t i) {
                  const auto at = static_cast<size_t>(i);
                  const T* const a = g.data<T>() + bags[at] * width;
                  const T* const b = table.data<T>() + rows[at] * width;
                  T sum = 0;
                  for (int64_t k = 0; rows[at] != padding && k < width; ++k) sum += a[k] * b[k];
                  to[i] = sum;
                });
                made.finish();
              });
}

}  // namespace

void define_embedding_backward(Library& library) {
  library
      .define(
          "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt "
          "padding_idx, bool scale_grad_by_freq) -> Tensor")
      .shape<embedding_gradient_shape<Size>, embedding_gradient_shape<SymInt>>()
      .kernel<embedding_gradient_kernel>()
      .core_decomposition<embedding_gradient_parts>();
  library
      .define(
          "aten::embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, "
          "bool "
          "scale_grad_by_freq, bool sparse) -> Tensor")
      .composite<embedding_backward>();
  library
      .define(
          "aten::_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor "
          "bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? "
          "per_sample_weights, int padding_idx=-1) -> Tensor")
      .shape<bag_dense_shape<Size>, bag_dense_shape<SymInt>>()
      .kernel<bag_dense_kernel>();
  library
      .define(
          "aten::_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, "
          "Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, "
          "bool sparse, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor")
      .shape<bag_shape<Size>, bag_shape<SymInt>>()
      .kernel<bag_kernel>();
  library
      .define(
          "aten::_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, "
          "Tensor "
          "offsets, Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor")
      .shape<sample_weights_shape<Size>, sample_weights_shape<SymInt>>()
      .kernel<sample_weights_kernel>();
}

}  // namespace flambeau::ops
