// Histograms over bins with edges, in one dimension or several.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/norm/row_access.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using OptionalRange = std::optional<std::span<const double>>;

[[noreturn]] void refuse_bins(const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "torch.histogramdd: " + why);
}

// Points are the rows along the last dimension; every point has a weight.
template <typename N>
void require_points(const Info<N>& self, size_t dimensions, const Info<N>* weight) {
  if (self.dim() < 2) refuse_bins("input tensor should have at least 2 dimensions");
  if (self.dtype != DType::kFloat32 && self.dtype != DType::kFloat64) fail_dtype("histogramdd", self.dtype);
  if (!(self.sizes[self.dim() - 1] == N(static_cast<int64_t>(dimensions)))) {
    refuse_bins(fmt::format("expected {} sequences of bin edges for a {}-dimensional histogram but got {}",
                            number_text(self.sizes[self.dim() - 1]), number_text(self.sizes[self.dim() - 1]),
                            dimensions));
  }
  if (weight == nullptr) return;
  if (weight->dtype != self.dtype)
    refuse_bins("if weight tensor is provided, input tensor and weight tensor should have the same dtype");
  ShortList<N> points = self.sizes;
  points.erase(points.size() - 1);
  if (!(weight->sizes == points)) {
    refuse_bins(
        fmt::format("if weight tensor is provided it should have the same shape as the input tensor "
                    "excluding its innermost dimension, but got input with shape {} and weight with shape {}",
                    sizes_text(self.sizes), sizes_text(weight->sizes)));
  }
}
void require_bin_count(int64_t bins) {
  if (bins <= 0) refuse_bins(fmt::format("bins must be > 0, but got {}", bins));
}

// The first and last edge along each dimension: as given, or where the values end.
std::vector<double> outer_edges(const Tensor& self, size_t dimensions, OptionalRange range) {
  std::vector<double> ends(2 * dimensions);
  if (range) {
    if (range->size() != 2 * dimensions) {
      refuse_bins(fmt::format("for a {}-dimensional histogram range should have {} elements, but got {}",
                              dimensions, 2 * dimensions, range->size()));
    }
    std::copy(range->begin(), range->end(), ends.begin());
  } else if (self.element_count() == 0) {
    for (size_t d = 0; d < dimensions; ++d) ends[2 * d + 1] = 1;
  } else {
    const std::vector<double> values = read_all<double>(&self);
    for (size_t d = 0; d < dimensions; ++d) ends[2 * d] = ends[2 * d + 1] = values[d];
    for (size_t i = 0; i < values.size(); ++i) {
      double* const end = &ends[2 * (i % dimensions)];
      // What is no number is kept, and refused.
      if (!(values[i] >= end[0])) end[0] = values[i];
      if (!(values[i] <= end[1])) end[1] = values[i];
    }
  }
  for (size_t d = 0; d < dimensions; ++d) {
    double& first = ends[2 * d];
    double& last = ends[2 * d + 1];
    if (!std::isfinite(first) || !std::isfinite(last))
      refuse_bins(fmt::format("dimension {}'s range [{}, {}] is not finite", d, first, last));
    if (first > last)
      refuse_bins(
          fmt::format("min should not exceed max, but got min {} max {} for dimension {}", first, last, d));
    if (first == last) {
      first -= 0.5;
      last += 0.5;
    }
  }
  return ends;
}

Tensor even_edges(Context& context, const Tensor& self, double first, double last, int64_t bins) {
  Context plain = context.without_interceptor();
  return call_with(plain, "aten::linspace", {first, last, bins + 1},
                   {{"dtype", self.dtype()}, {"device", self.device()}});
}

// Counts, or sums of weights, of the points in each cell; an edge belongs to the bin that it begins, the last
// one to the last bin.
void count_points(const Tensor& self, const std::vector<std::vector<double>>& edges, const Tensor* weight,
                  bool density, Tensor& out) {
  const std::vector<double> values = read_all<double>(&self);
  const std::vector<double> weights = read_all<double>(weight);
  const size_t dimensions = edges.size();
  ScratchVector<double> counts(static_cast<size_t>(out.element_count()));
  WorkPoller poll;
  const size_t points = dimensions == 0 ? 0 : values.size() / dimensions;
  for (size_t i = 0; i < points; ++i) {
    size_t cell = 0;
    bool is_inside = true;
    for (size_t d = 0; d < dimensions && is_inside; ++d) {
      poll(16);
      const std::vector<double>& bounds = edges[d];
      const double value = values[i * dimensions + d];
      is_inside = value >= bounds.front() && value <= bounds.back();
      if (!is_inside) break;
      const auto above = std::upper_bound(bounds.begin(), bounds.end(), value) - bounds.begin();
      const auto bins = static_cast<std::ptrdiff_t>(bounds.size()) - 1;
      cell = cell * static_cast<size_t>(bins) +
             static_cast<size_t>(std::clamp<std::ptrdiff_t>(above - 1, 0, bins - 1));
    }
    if (is_inside) counts[cell] += weights.empty() ? 1 : weights[i];
  }
  if (density) {
    double sum = 0;
    for (const double count : counts) sum += count;
    for (size_t cell = 0; cell < counts.size(); ++cell) {
      double volume = 1;
      size_t rest = cell;
      for (size_t d = dimensions; d-- > 0;) {
        const size_t bins = edges[d].size() - 1;
        volume *= edges[d][rest % bins + 1] - edges[d][rest % bins];
        rest /= bins;
      }
      counts[cell] = counts[cell] / sum / volume;
    }
  }
  if (!counts.empty())
    store_packed(DType::kFloat64, counts.data(), counts.size(), out.dtype(), out.mutable_data(),
                 static_cast<int64_t>(out.element_size()));
}
std::vector<double> read_edges(const Tensor& edges) { return read_all<double>(&edges); }

// ---- several dimensions
template <typename N>
Infos<N> edges_shape(const Info<N>& self, std::span<const Size> bins, OptionalRange, const Info<N>* weight,
                     bool) {
  require_points(self, bins.size(), weight);
  Infos<N> results;
  for (const Size count : bins) {
    require_bin_count(count);
    results.push_back(contiguous<N>(self.dtype, {N(count + 1)}, self.device));
  }
  return results;
}
void edges_kernel(Context& context, const Tensor& self, std::span<const Size> bins, OptionalRange range,
                  const Tensor*, bool, std::span<Tensor> out) {
  const std::vector<double> ends = outer_edges(self, bins.size(), range);
  for (size_t d = 0; d < bins.size(); ++d)
    copy_into(context, even_edges(context, self, ends[2 * d], ends[2 * d + 1], bins[d]), out[d]);
}

template <typename N>
Info<N> by_counts_shape(const Info<N>& self, std::span<const Size> bins, OptionalRange, const Info<N>* weight,
                        bool) {
  require_points(self, bins.size(), weight);
  ShortList<N> sizes;
  for (const Size count : bins) {
    require_bin_count(count);
    sizes.push_back(N(count));
  }
  return contiguous<N>(self.dtype, sizes, self.device);
}
void by_counts_kernel(Context& context, const Tensor& self, std::span<const Size> bins, OptionalRange range,
                      const Tensor* weight, bool density, Tensor& out) {
  const std::vector<double> ends = outer_edges(self, bins.size(), range);
  std::vector<std::vector<double>> edges;
  for (size_t d = 0; d < bins.size(); ++d)
    edges.push_back(read_edges(even_edges(context, self, ends[2 * d], ends[2 * d + 1], bins[d])));
  count_points(self, edges, weight, density, out);
}

template <typename N>
Info<N> by_edges_shape(const Info<N>& self, std::span<const Info<N>> bins, const Info<N>* weight, bool) {
  require_points(self, bins.size(), weight);
  ShortList<N> sizes;
  for (const Info<N>& edges : bins) {
    if (edges.dim() != 1 || edges.sizes[0] == N(0))
      refuse_bins("bins tensors should have one dimension and an edge");
    if (edges.dtype != self.dtype) refuse_bins("input tensor and bins tensors should have the same dtype");
    sizes.push_back(edges.sizes[0] - N(1));
  }
  return contiguous<N>(self.dtype, sizes, self.device);
}
void by_edges_kernel(Context&, const Tensor& self, std::span<const Tensor> bins, const Tensor* weight,
                     bool density, Tensor& out) {
  std::vector<std::vector<double>> edges;
  for (const Tensor& given : bins) edges.push_back(read_edges(given));
  if (out.element_count() > 0) count_points(self, edges, weight, density, out);
}

using Histogram = std::tuple<Tensor, TensorList>;

Histogram histogramdd(Context& c, const Tensor& self, std::span<const Size> bins, OptionalRange range,
                      const Tensor* weight, bool density) {
  const Value bounds = range ? Value(std::vector<double>(range->begin(), range->end())) : Value();
  const KeywordArguments more{{"range", bounds}, {"weight", Value(weight)}, {"density", density}};
  const Dims counts(bins);
  return {call_with(c, "aten::_histogramdd_from_bin_cts", {self, counts}, more),
          call_with<TensorList>(c, "aten::_histogramdd_bin_edges", {self, counts}, more)};
}
Histogram histogramdd_int(Context& c, const Tensor& self, Size bins, OptionalRange range,
                          const Tensor* weight, bool density) {
  const int64_t dimensions = rank_of(self) == 0 ? 0 : fixed(size_of(self, rank_of(self) - 1));
  if (dimensions > 64) refuse_bins("expected points of at most 64 dimensions");
  const std::vector<Size> counts(static_cast<size_t>(dimensions), bins);
  return histogramdd(c, self, counts, range, weight, density);
}
Histogram histogramdd_edges(Context& c, const Tensor& self, std::span<const Tensor> bins, OptionalRange range,
                            const Tensor* weight, bool density) {
  if (range) refuse_bins("range has no meaning where bins are given by their edges");
  const KeywordArguments more{{"weight", Value(weight)}, {"density", density}};
  return {call_with(c, "aten::_histogramdd_from_bin_tensors", {self, Value(bins)}, more),
          TensorList(bins.begin(), bins.end())};
}

// ---- one dimension: all elements are points
template <typename N>
void require_elements(const Info<N>& self, const Info<N>* weight) {
  if (self.dtype != DType::kFloat32 && self.dtype != DType::kFloat64) fail_dtype("histogram", self.dtype);
  if (weight == nullptr) return;
  if (weight->dtype != self.dtype || !(weight->sizes == self.sizes))
    refuse_bins("expected weight to have the type and shape of the input");
}
template <typename N>
std::tuple<Info<N>, Info<N>> histogram_shape(const Info<N>& self, Size bins, OptionalRange,
                                             const Info<N>* weight, bool) {
  require_elements(self, weight);
  require_bin_count(bins);
  return {contiguous<N>(self.dtype, {N(bins)}, self.device),
          contiguous<N>(self.dtype, {N(bins + 1)}, self.device)};
}
void histogram_kernel(Context& context, const Tensor& self, Size bins, OptionalRange range,
                      const Tensor* weight, bool density, Tensor& out, Tensor& edges) {
  const std::vector<double> ends = outer_edges(self, 1, range);
  copy_into(context, even_edges(context, self, ends[0], ends[1], bins), edges);
  count_points(self, {read_edges(edges)}, weight, density, out);
}
template <typename N>
std::tuple<Info<N>, Info<N>> histogram_edges_shape(const Info<N>& self, const Info<N>& bins,
                                                   const Info<N>* weight, bool) {
  require_elements(self, weight);
  if (bins.dim() != 1 || bins.sizes[0] == N(0))
    refuse_bins("bins tensor should have one dimension and an edge");
  if (bins.dtype != self.dtype) refuse_bins("input tensor and bins tensor should have the same dtype");
  return {contiguous<N>(self.dtype, {bins.sizes[0] - N(1)}, self.device),
          contiguous<N>(self.dtype, bins.sizes, self.device)};
}
void histogram_edges_kernel(Context& context, const Tensor& self, const Tensor& bins, const Tensor* weight,
                            bool density, Tensor& out, Tensor& edges) {
  copy_into(context, bins, edges);
  if (out.element_count() > 0) count_points(self, {read_edges(bins)}, weight, density, out);
}

}  // namespace

void define_bins(Library& library) {
  library
      .define(
          "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, "
          "bool "
          "density=False) -> (Tensor hist, Tensor bin_edges)")
      .shape<histogram_shape<Size>, histogram_shape<SymInt>>()
      .kernel<histogram_kernel>();
  library
      .define(
          "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) "
          "-> "
          "(Tensor hist, Tensor bin_edges)")
      .shape<histogram_edges_shape<Size>, histogram_edges_shape<SymInt>>()
      .kernel<histogram_edges_kernel>();
  library
      .define(
          "aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? "
          "weight=None, "
          "bool density=False) -> Tensor[]")
      .shape<edges_shape<Size>, edges_shape<SymInt>>()
      .kernel<edges_kernel>();
  library
      .define(
          "aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? "
          "weight=None, "
          "bool density=False) -> Tensor")
      .shape<by_counts_shape<Size>, by_counts_shape<SymInt>>()
      .kernel<by_counts_kernel>();
  library
      .define(
          "aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool "
          "density=False) -> Tensor")
      .shape<by_edges_shape<Size>, by_edges_shape<SymInt>>()
      .kernel<by_edges_kernel>();
  library
      .define(
          "aten::histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool "
          "density=False) -> (Tensor hist, Tensor[] bin_edges)")
      .composite<histogramdd>();
  library
      .define(
          "aten::histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool "
          "density=False) -> (Tensor hist, Tensor[] bin_edges)")
      .composite<histogramdd_int>();
  library
      .define(
          "aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? "
          "weight=None, "
          "bool density=False) -> (Tensor hist, Tensor[] bin_edges)")
      .composite<histogramdd_edges>();
}

}  // namespace flambeau::ops
