// Channels and pixels rearranged: a copy between two ways of splitting the dimensions.
#include <fmt/format.h>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

// A dimension as two: `outer` runs of what is left.
template <typename N>
Info<N> split_dim(const Info<N>& self, size_t dim, const Given<N>& outer) {
  Info<N> info = self;
  const N inner = floor_div(self.sizes[dim], outer);
  info.sizes[dim] = outer;
  info.strides[dim] = self.strides[dim] * inner;
  info.sizes.insert(dim + 1, inner);
  info.strides.insert(dim + 1, self.strides[dim]);
  return info;
}

template <typename N>
Info<N> pixel_shuffle_shape(const Info<N>& self, Size factor) {
  if (self.dim() < 3) {
    fail_view(fmt::format(
        "pixel_shuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)",
        self.dim()));
  }
  if (factor <= 0)
    fail_view(fmt::format("pixel_shuffle expects a positive upscale_factor, but got {}", factor));
  const size_t c = self.dim() - 3;
  const N square = N(factor) * N(factor);
  if (!(modulo(self.sizes[c], square) == N(0))) {
    fail_view(
        fmt::format("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                    "upscale_factor, but input.size(-3)={} is not divisible by {}",
                    number_text(self.sizes[c]), number_text(square)));
  }
  ShortList<N> sizes = self.sizes;
  sizes[c] = floor_div(sizes[c], square);
  sizes[c + 1] *= N(factor);
  sizes[c + 2] *= N(factor);
  return formatted(self.dtype, std::move(sizes), suggested_format(self), self.device);
}

void pixel_shuffle_kernel(Context& context, const Tensor& self, Size factor, Tensor& out) {
  const size_t c = self.dim() - 3;
  // (channels, r, r, h, w) against (channels, h, r, w, r).
  Info<Size> from = split_dim(info_of(self), c, out.sizes()[c]);
  from = split_dim(from, c + 1, factor);
  Info<Size> to = split_dim(info_of(out), c + 2, self.sizes()[c + 2]);
  to = split_dim(to, c + 1, self.sizes()[c + 1]);
  Dims order;
  for (size_t d = 0; d <= c; ++d) order.push_back(static_cast<int64_t>(d));
  for (const size_t d : {3, 1, 4, 2}) order.push_back(static_cast<int64_t>(c + d));
  copy_into(context, viewed(self, permute_info(from, order)), viewed(out, to));
}

template <typename N>
Info<N> pixel_unshuffle_shape(const Info<N>& self, Size factor) {
  if (self.dim() < 3) {
    fail_view(fmt::format(
        "pixel_unshuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)",
        self.dim()));
  }
  if (factor <= 0) {
    fail_view(fmt::format("pixel_unshuffle expects a positive downscale_factor, but got {}", factor));
  }
  const size_t c = self.dim() - 3;
  ShortList<N> sizes = self.sizes;
  for (size_t d = c + 1; d < self.dim(); ++d) {
    if (!(modulo(sizes[d], N(factor)) == N(0))) {
      fail_view(fmt::format(
          "pixel_unshuffle expects {} to be divisible by downscale_factor, but input.size({})={} "
          "is not divisible by {}",
          d == c + 1 ? "height" : "width", static_cast<int64_t>(d) - static_cast<int64_t>(self.dim()),
          number_text(sizes[d]), factor));
    }
    sizes[d] = floor_div(sizes[d], N(factor));
  }
  sizes[c] *= N(factor) * N(factor);
  return formatted(self.dtype, std::move(sizes), suggested_format(self), self.device);
}

void pixel_unshuffle_kernel(Context& context, const Tensor& self, Size factor, Tensor& out) {
  const size_t c = self.dim() - 3;
  Info<Size> to = split_dim(info_of(out), c, self.sizes()[c]);
  to = split_dim(to, c + 1, factor);
  Info<Size> from = split_dim(info_of(self), c + 2, out.sizes()[c + 2]);
  from = split_dim(from, c + 1, out.sizes()[c + 1]);
  // (channels, h, r, w, r) against (channels, r, r, h, w).
  Dims order;
  for (size_t d = 0; d <= c; ++d) order.push_back(static_cast<int64_t>(d));
  for (const size_t d : {2, 4, 1, 3}) order.push_back(static_cast<int64_t>(c + d));
  copy_into(context, viewed(self, permute_info(from, order)), viewed(out, to));
}

template <typename N>
Info<N> channel_shuffle_shape(const Info<N>& self, N groups) {
  if (self.dim() <= 2) {
    fail_view("channel_shuffle expects input with > 2 dims, but got input with sizes " +
              sizes_text(self.sizes));
  }
  if (groups <= N(0)) {
    fail_view("Number of groups to divide channels in must be positive. Value of groups:" +
              number_text(groups));
  }
  if (!(modulo(self.sizes[1], groups) == N(0))) {
    fail_view("Number of channels must be divisible by groups. Got " + number_text(self.sizes[1]) +
              " channels and " + number_text(groups) + " groups.");
  }
  return formatted(self.dtype, self.sizes, suggested_format(self), self.device);
}

void channel_shuffle_kernel(Context& context, const Tensor& self, Size groups, Tensor& out) {
  const Info<Size> from = transpose_info(split_dim(info_of(self), 1, groups), 1, 2);
  const Info<Size> to = split_dim(info_of(out), 1, self.sizes()[1] / groups);
  copy_into(context, viewed(self, from), viewed(out, to));
}

// ---- as other operators

// The sizes of the batch, then those given.
SymIntList with_tail(const Tensor& image, const SymIntList& tail) {
  SymIntList sizes = sizes_of(image);
  for (int i = 0; i < 3; ++i) sizes.erase(sizes.size() - 1);
  for (const SymInt& size : tail) sizes.push_back(size);
  return sizes;
}
Tensor shuffled(Context& c, const Tensor& self, const SymIntList& split, std::initializer_list<int64_t> order,
                const SymIntList& joined) {
  const int64_t batch = rank_of(self) - 3;
  Dims dims = all_dims(batch);
  for (const int64_t d : order) dims.push_back(batch + d);
  const Tensor wide = call(c, "aten::view", self, with_tail(self, split));
  const Tensor moved = call(c, "aten::permute", wide, dims);
  return parts::packed(c, call(c, "aten::reshape", moved, with_tail(self, joined)));
}
Tensor pixel_shuffle_parts(Context& c, const Tensor& self, Size factor) {
  const SymInt r = factor;
  const SymInt channels = floor_div(size_of(self, -3), r * r);
  const SymInt height = size_of(self, -2);
  const SymInt width = size_of(self, -1);
  return shuffled(c, self, {channels, r, r, height, width}, {0, 3, 1, 4, 2},
                  {channels, height * r, width * r});
}
Tensor pixel_unshuffle_parts(Context& c, const Tensor& self, Size factor) {
  const SymInt r = factor;
  const SymInt channels = size_of(self, -3);
  const SymInt height = floor_div(size_of(self, -2), r);
  const SymInt width = floor_div(size_of(self, -1), r);
  return shuffled(c, self, {channels, height, r, width, r}, {0, 2, 4, 1, 3},
                  {channels * r * r, height, width});
}
Tensor channel_shuffle_parts(Context& c, const Tensor& self, SymInt groups) {
  const SymIntList sizes = sizes_of(self);
  SymIntList split = inserted(sizes, 1, groups);
  split[2] = floor_div(sizes[1], groups);
  Dims order = all_dims(rank_of(self) + 1);
  std::swap(order[1], order[2]);
  const Tensor moved = call(c, "aten::permute", call(c, "aten::view", self, split), order);
  return call(c, "aten::reshape", moved, sizes);
}

}  // namespace

void define_shuffle(Library& library) {
  library.define("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor")
      .shape<pixel_shuffle_shape<Size>, pixel_shuffle_shape<SymInt>>()
      .kernel<pixel_shuffle_kernel>()
      .core_decomposition<pixel_shuffle_parts>();
  library.define("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor")
      .shape<pixel_unshuffle_shape<Size>, pixel_unshuffle_shape<SymInt>>()
      .kernel<pixel_unshuffle_kernel>()
      .core_decomposition<pixel_unshuffle_parts>();
  library.define("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor")
      .shape<channel_shuffle_shape<Size>, channel_shuffle_shape<SymInt>>()
      .kernel<channel_shuffle_kernel>()
      .core_decomposition<channel_shuffle_parts>();
  library.define("aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor")
      .shape<channel_shuffle_shape<Size>, channel_shuffle_shape<SymInt>>()
      .kernel<channel_shuffle_kernel>();
}

}  // namespace flambeau::ops
