// The largest element of windows whose places are drawn at random, and what undoes max pooling of volumes.
#include <cmath>

#include "flambeau/kernels/random/fill.h"
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/pool/pooling.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;

template <typename N, size_t kDims>
std::tuple<Info<N>, Info<N>> fractional_shape(const Info<N>& self, Numbers kernel, Numbers output,
                                              const Info<N>& samples) {
  require(kernel.size() == kDims && output.size() == kDims,
          "fractional_max_pool: a kernel and an output size are needed for each dimension");
  check_pool_input(self, kDims);
  ShortList<N> spatial;
  for (size_t d = 0; d < kDims; ++d) {
    require(kernel[d] > 0 && output[d] > 0,
            "fractional_max_pool: kernel_size and output_size must be positive");
    if (!(N(output[d]) + N(kernel[d]) - N(1) <= self.sizes[self.dim() - kDims + d])) {
      fail_argument("fractional_max_pool: pool size " + std::to_string(kernel[d].value()) +
                    " too large relative to input size " + number_text(self.sizes[self.dim() - kDims + d]));
    }
    spatial.push_back(output[d]);
  }
  const N batch = self.dim() == kDims + 2 ? self.sizes[0] : N(1);
  const N channels = self.sizes[self.dim() - kDims - 1];
  require(samples.dtype == self.dtype, "Expect _random_samples to have the same dtype as input");
  require_same_sizes("fractional_max_pool", samples.sizes, {batch, channels, N(static_cast<int64_t>(kDims))});
  Info<N> values = pooled_info(self, spatial, false);
  Info<N> indices = values;
  indices.dtype = DType::kInt64;
  return {std::move(values), std::move(indices)};
}

// Where the windows begin along one dimension. Each step is rounded to the tensor's type, as PyTorch computes
// in it.
template <typename T>
std::vector<int64_t> window_starts(DType dtype, T sample, int64_t in, int64_t out, int64_t pool) {
  std::vector<int64_t> starts(static_cast<size_t>(out), in - pool);
  if (out < 2) return starts;
  const auto rounded = [&](T value) -> T {
    if constexpr (std::is_same_v<T, float>) return kernels::rounded_to(dtype, value);
    return value;
  };
  const T step = rounded(rounded(static_cast<T>(in - pool)) / rounded(static_cast<T>(out - 1)));
  const auto place = [&](T turn) { return static_cast<int64_t>(rounded(rounded(turn + sample) * step)); };
  for (int64_t i = 0; i + 1 < out; ++i) {
    const int64_t at = place(rounded(static_cast<T>(i))) - place(T(0));
    starts[static_cast<size_t>(i)] = std::clamp<int64_t>(at, 0, in - pool);
  }
  return starts;
}

template <size_t kDims>
void fractional_kernel(Context& context, const Tensor& self, Numbers kernel, Numbers, const Tensor& samples,
                       Tensor& out, Tensor& indices) {
  with_floats("fractional_max_pool_out_frame", self.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor x = packed_as(context, self, wide), draws = packed_as(context, samples, wide);
    for (int64_t i = 0; i < draws.element_count(); ++i) {
      const T sample = draws.data<T>()[i];
      // Any window lies in the image, whatever was drawn; only what is no place at all is refused.
      require(std::abs(sample) <= T(1e6), "fractional_max_pool: expected samples between 0 and 1");
    }
    PackedOutput made(context, out, wide);
    int64_t in[3] = {1, 1, 1}, size[3] = {1, 1, 1}, pool[3] = {1, 1, 1};
    for (size_t d = 0; d < kDims; ++d) {
      in[3 - kDims + d] = self.sizes()[self.dim() - kDims + d];
      size[3 - kDims + d] = out.sizes()[out.dim() - kDims + d];
      pool[3 - kDims + d] = kernel[d];
    }
    const int64_t places = size[0] * size[1] * size[2], image = in[0] * in[1] * in[2];
    T* const values = made.data<T>();
    int64_t* const index = indices.mutable_data<int64_t>();
    for_each_part(
        context, self.element_count() / image, places * pool[0] * pool[1] * pool[2], [&](int64_t plane) {
          std::vector<int64_t> starts[3];
          for (size_t d = 0; d < 3; ++d) {
            // In two dimensions the width's sample comes first, in three the depth's.
            const size_t sample = kDims == 2 ? 2 - d : d;
            const T drawn =
                d + kDims < 3
                    ? T(0)
                    : draws.data<T>()[plane * static_cast<int64_t>(kDims) + static_cast<int64_t>(sample)];
            starts[d] = window_starts<T>(self.dtype(), drawn, in[d], size[d], pool[d]);
          }
          const T* const from = x.data<T>() + plane * image;
          for (int64_t place = 0; place < places; ++place) {
            const int64_t z = starts[0][static_cast<size_t>(place / (size[1] * size[2]))];
            const int64_t y = starts[1][static_cast<size_t>(place / size[2] % size[1])];
            const int64_t w = starts[2][static_cast<size_t>(place % size[2])];
            int64_t best = (z * in[1] + y) * in[2] + w;
            for (int64_t a = z; a < z + pool[0]; ++a) {
              for (int64_t b = y; b < y + pool[1]; ++b) {
                for (int64_t k = w; k < w + pool[2]; ++k) {
                  const int64_t at = (a * in[1] + b) * in[2] + k;
                  if (from[at] > from[best] || from[at] != from[at]) best = at;
                }
              }
            }
            values[plane * places + place] = from[best];
            index[plane * places + place] = best;
          }
        });
    made.finish();
  });
}

// ---- volumes

template <typename N>
Info<N> unpool3d_shape(const Info<N>& self, const Info<N>& indices, std::span<const N> output_size,
                       Numbers stride, Numbers padding) {
  require(output_size.size() == 3,
          "There should be exactly three elements (depth, height, width) in output_size for max_unpooling3d");
  require(stride.size() == 3 && padding.size() == 3,
          "There should be exactly three elements (depth, height, width) in stride and in padding");
  require(indices.dtype == DType::kInt64, "elements in indices should be type int64");
  require(self.dim() == 4 || self.dim() == 5, "Input to max_unpooling3d should be a 4d or 5d Tensor");
  require_same_sizes("max_unpooling3d", indices.sizes, self.sizes);
  for (const Size step : stride) require(step > 0, "strides should be greater than zero");
  ShortList<N> sizes = self.sizes;
  for (size_t d = 0; d < 3; ++d) {
    require(!(output_size[d] < N(0)), "max_unpooling3d: output_size should not be negative");
    sizes[self.dim() - 3 + d] = output_size[d];
  }
  return contiguous<N>(self.dtype, std::move(sizes), self.device);
}
void unpool3d_kernel(Context& context, const Tensor& self, const Tensor& indices, Numbers, Numbers, Numbers,
                     Tensor& out) {
  const Tensor values = self.to_contiguous();
  const Tensor places = packed_indices(context, indices);
  fill(context, out, 0);
  const int64_t size = product_of(out.sizes(), out.dim() - 3, out.dim());
  const int64_t count = product_of(self.sizes(), self.dim() - 3, self.dim());
  const auto element = static_cast<int64_t>(out.element_size());
  uint8_t* const to = out.mutable_data();
  WorkPoller poll;
  for (int64_t i = 0; i < values.element_count(); ++i) {
    poll();
    const int64_t place = places.data<int64_t>()[i];
    if (place < 0 || place >= size) {
      fail_argument("found an invalid max index: " + std::to_string(place) + " (output volumes are of size " +
                    std::to_string(size) + ")");
    }
    std::copy_n(values.data() + i * element, element, to + (i / count * size + place) * element);
  }
}

}  // namespace

void define_fractional_pool(Library& library) {
  library
      .define(
          "aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor "
          "random_samples) "
          "-> (Tensor, Tensor)")
      .shape<fractional_shape<Size, 2>, fractional_shape<SymInt, 2>>()
      .kernel<fractional_kernel<2>>();
  library
      .define(
          "aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor "
          "random_samples) "
          "-> (Tensor, Tensor)")
      .shape<fractional_shape<Size, 3>, fractional_shape<SymInt, 3>>()
      .kernel<fractional_kernel<3>>();
  library
      .define(
          "aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] "
          "padding) "
          "-> Tensor")
      .shape<unpool3d_shape<Size>, unpool3d_shape<SymInt>>()
      .kernel<unpool3d_kernel>();
}

}  // namespace flambeau::ops
