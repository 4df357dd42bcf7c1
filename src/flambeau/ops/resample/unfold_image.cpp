// Windows of images as columns of a matrix and back: im2col, col2im; and what undoes max pooling:
// max_unpool2d.
#include <fmt/format.h>

#include "flambeau/ops/dense/convolution.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;

struct WindowArguments {
  ShortList<Size> kernel, dilation, padding, stride;
};

WindowArguments window_arguments(Numbers kernel, Numbers dilation, Numbers padding, Numbers stride) {
  const auto pair = [](Numbers given, const char* name, int64_t least) {
    if (given.size() != 1 && given.size() != 2)
      fail_argument(fmt::format("It is expected {} equals to 2, but got size {}", name, given.size()));
    const ShortList<Size> two{given[0], given.back()};
    for (const Size number : two) {
      if (number < least)
        fail_argument(fmt::format("{} should be {} zero, but got {}", name,
                                  least == 1 ? "greater than" : "at least", number.value()));
    }
    return two;
  };
  return {pair(kernel, "kernel_size", 1), pair(dilation, "dilation", 1), pair(padding, "padding", 0),
          pair(stride, "stride", 1)};
}

// How many windows fit along one dimension.
template <typename N>
N window_count(const N& size, const WindowArguments& arguments, size_t d) {
  return floor_div(size + N(2 * arguments.padding[d] - arguments.dilation[d] * (arguments.kernel[d] - 1) - 1),
                   N(arguments.stride[d])) +
         N(1);
}

template <typename N>
Info<N> im2col_shape(const Info<N>& self, Numbers kernel_size, Numbers dilation, Numbers padding,
                     Numbers stride) {
  const WindowArguments arguments = window_arguments(kernel_size, dilation, padding, stride);
  if (self.dim() != 3 && self.dim() != 4) {
    fail_argument(fmt::format(
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
        "input, but got: {}",
        sizes_text(self.sizes.span())));
  }
  const size_t first = self.dim() - 3;
  const N rows = window_count<N>(self.sizes[first + 1], arguments, 0);
  const N columns = window_count<N>(self.sizes[first + 2], arguments, 1);
  require(
      rows >= N(1) && columns >= N(1),
      "im2col: the image with its padding is smaller than the kernel; its components must be at least one");
  ShortList<N> sizes;
  if (first == 1) sizes.push_back(self.sizes[0]);
  sizes.push_back(self.sizes[first] * N(arguments.kernel[0] * arguments.kernel[1]));
  sizes.push_back(rows * columns);
  return contiguous<N>(self.dtype, std::move(sizes), self.device);
}

void require_window_type(std::string_view what, DType dtype) {
  if (is_floating(dtype) || dtype == DType::kBool || dtype == DType::kComplex64 ||
      dtype == DType::kComplex128)
    return;
  fail_dtype(what, dtype);
}

// The windows of a padded image as a view: [batch, channels, kernel, kernel, windows, windows].
Tensor windows_of(const Tensor& image, const WindowArguments& arguments, int64_t rows, int64_t columns) {
  const Dims& strides = image.strides();
  return image.with_geometry(
      {{image.sizes()[0], image.sizes()[1], arguments.kernel[0], arguments.kernel[1], rows, columns},
       {strides[0], strides[1], arguments.dilation[0] * strides[2], arguments.dilation[1] * strides[3],
        arguments.stride[0] * strides[2], arguments.stride[1] * strides[3]},
       image.offset()});
}

// A zeroed image with room for the padding, and the view of its inside.
std::pair<Tensor, Tensor> padded_image(Context& context, DType dtype, const Dims& sizes,
                                       const ShortList<Size>& padding) {
  const Tensor whole =
      context.allocate(dtype, Dims{sizes[0], sizes[1], sizes[2] + 2 * padding[0], sizes[3] + 2 * padding[1]});
  fill(context, whole, 0);
  const Size offset = padding[0] * whole.strides()[2] + padding[1];
  return {whole, whole.with_geometry({sizes, whole.strides(), whole.offset() + offset})};
}

void im2col_kernel(Context& context, const Tensor& self, Numbers kernel_size, Numbers dilation,
                   Numbers padding, Numbers stride, Tensor& out) {
  require_window_type("im2col_out_cpu", out.dtype());
  const WindowArguments arguments = window_arguments(kernel_size, dilation, padding, stride);
  const Tensor image = self.dim() == 4 ? self : unsqueezed(self, 0);
  const auto [whole, inside] = padded_image(context, image.dtype(), image.sizes(), arguments.padding);
  copy_into(context, image, inside);
  const Tensor windows = windows_of(whole, arguments, window_count<Size>(image.sizes()[2], arguments, 0),
                                    window_count<Size>(image.sizes()[3], arguments, 1));
  copy_into(context, windows,
            out.with_geometry({windows.sizes(), contiguous_strides(windows.sizes()), out.offset()}));
}

template <typename N>
Info<N> col2im_shape(const Info<N>& self, std::span<const N> output_size, Numbers kernel_size,
                     Numbers dilation, Numbers padding, Numbers stride) {
  const WindowArguments arguments = window_arguments(kernel_size, dilation, padding, stride);
  require(output_size.size() == 2, "It is expected output_size equals to 2");
  if (self.dim() != 2 && self.dim() != 3) {
    fail_argument(fmt::format(
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions "
        "for input, but got: {}",
        sizes_text(self.sizes.span())));
  }
  const size_t first = self.dim() - 2;
  const Size taps = arguments.kernel[0] * arguments.kernel[1];
  require(modulo(self.sizes[first], N(taps)) == N(0),
          "Expected size of input's dimension 1 to be divisible by the product of kernel_size");
  const N rows = window_count<N>(output_size[0], arguments, 0);
  const N columns = window_count<N>(output_size[1], arguments, 1);
  require(
      rows >= N(1) && columns >= N(1),
      "col2im: the image with its padding is smaller than the kernel; its components must be at least one");
  const N windows = rows * columns;
  if (!(self.sizes[first + 1] == windows)) {
    fail_argument(
        fmt::format("expected the size of the input's last dimension to match the number of sliding "
                    "blocks {}, but got {}",
                    number_text(windows), number_text(self.sizes[first + 1])));
  }
  ShortList<N> sizes;
  if (first == 1) sizes.push_back(self.sizes[0]);
  sizes.push_back(floor_div(self.sizes[first], N(taps)));
  sizes.push_back(output_size[0]);
  sizes.push_back(output_size[1]);
  return contiguous<N>(self.dtype, std::move(sizes), self.device);
}

template <typename T>
void add_windows(const Tensor& columns, const Tensor& windows) {
  const Dims& sizes = windows.sizes();
  const Dims& strides = windows.strides();
  const T* from = columns.data<T>();
  T* const to = windows.mutable_data<T>();
  WorkPoller poll;
  for (int64_t plane = 0; plane < sizes[0] * sizes[1]; ++plane) {
    for (int64_t tap = 0; tap < sizes[2] * sizes[3]; ++tap) {
      T* const start = to + plane * strides[1] + tap / sizes[3] * strides[2] + tap % sizes[3] * strides[3];
      for (int64_t row = 0; row < sizes[4]; ++row) {
        poll(static_cast<size_t>(sizes[5]));
        for (int64_t column = 0; column < sizes[5]; ++column) {
          start[row * strides[4] + column * strides[5]] += *from++;
        }
      }
    }
  }
}

void col2im_kernel(Context& context, const Tensor& self, Numbers output_size, Numbers kernel_size,
                   Numbers dilation, Numbers padding, Numbers stride, Tensor& out) {
  require_window_type("col2im_out_cpu", out.dtype());
  const WindowArguments arguments = window_arguments(kernel_size, dilation, padding, stride);
  const DType dtype = compute_dtype(out.dtype());
  const Tensor columns = context.allocate(dtype, self.sizes());
  copy_into(context, self, columns);
  const Tensor image = out.dim() == 4 ? out : unsqueezed(out, 0);
  const auto [whole, inside] = padded_image(context, dtype, image.sizes(), arguments.padding);
  const Tensor windows = windows_of(whole, arguments, window_count(output_size[0], arguments, 0),
                                    window_count(output_size[1], arguments, 1));
  switch (compute_type(dtype)) {
    case Compute::kDouble:
      add_windows<double>(columns, windows);
      break;
    case Compute::kComplexFloat:
      add_windows<std::complex<float>>(columns, windows);
      break;
    case Compute::kComplexDouble:
      add_windows<std::complex<double>>(columns, windows);
      break;
    case Compute::kFloat:
      add_windows<float>(columns, windows);
      break;
    default:
      add_windows<int64_t>(columns, windows);
  }
  copy_into(context, inside, image);
}

// ---- max_unpool2d

template <typename N>
Info<N> unpool_shape(const Info<N>& self, const Info<N>& indices, std::span<const N> output_size) {
  require(indices.dtype == DType::kInt64, "elements in indices should be type int64");
  require(output_size.size() == 2,
          "There should be exactly two elements (height, width) in output_size for max_unpooling2d");
  require(self.dim() == 3 || self.dim() == 4, "Input to max_unpooling2d should be a 3d or 4d Tensor");
  require(self.sizes == indices.sizes,
          "Expected shape of indices to be the same as that of the input tensor");
  Info<N> out{.dtype = self.dtype, .device = self.device};
  for (size_t d = 0; d + 2 < self.dim(); ++d) out.sizes.push_back(self.sizes[d]);
  out.sizes.push_back(output_size[0]);
  out.sizes.push_back(output_size[1]);
  out.strides = suggested_format(self) == MemoryFormat::kContiguous ? row_major(out.sizes)
                                                                    : channels_last_strides(out.sizes);
  return out;
}

void unpool_kernel(Context& context, const Tensor& self, const Tensor& indices, Numbers output_size,
                   Tensor& out) {
  const int64_t size = output_size[0] * output_size[1];
  const Tensor values = packed(context, self);
  const Tensor places = packed(context, indices);
  const Tensor made = context.allocate(out.dtype(), out.sizes());
  fill(context, made, 0);
  const auto element = static_cast<int64_t>(out.element_size());
  const int64_t count = values.sizes()[values.dim() - 1] * values.sizes()[values.dim() - 2];
  uint8_t* const to = made.mutable_data();
  WorkPoller poll;
  for (int64_t i = 0; i < values.element_count(); ++i) {
    poll();
    const int64_t place = places.data<int64_t>()[i];
    if (place < 0 || place >= size) {
      fail_argument(fmt::format("Found an invalid max index: {} (output volumes are of size {}x{})", place,
                                output_size[0], output_size[1]));
    }
    std::copy_n(values.data() + i * element, element, to + (i / count * size + place) * element);
  }
  copy_into(context, made, out);
}

// ---- as other operators

// The places of a sliding window along one dimension: rows of the window, columns of its positions.
Tensor window_places(Context& c, Size size, Size kernel, Size dilation, Size padding, Size stride,
                     Device device) {
  const auto range = [&](Size end, Size step) {
    return call_with(c, "aten::arange.start_step", {0, end, step},
                     {{"dtype", DType::kInt64}, {"device", device}, {"pin_memory", false}});
  };
  const Tensor starts = range(size + 2 * padding - dilation * (kernel - 1), stride);
  const Tensor row = call(c, "aten::unsqueeze", starts, 0);
  return parts::add(c, row, call(c, "aten::unsqueeze", range(kernel * dilation, dilation), -1));
}

// A single image, or one whose size is a symbol, stays one operator.
std::optional<Tensor> im2col_parts(Context& c, const Tensor& self, std::span<const Size> kernel,
                                   std::span<const Size> dilation, std::span<const Size> padding,
                                   std::span<const Size> stride) {
  const SymIntList sizes = sizes_of(self);
  if (sizes.size() != 4 || !sizes[2].is_literal() || !sizes[3].is_literal()) return std::nullopt;
  const auto places = [&](size_t d) {
    return window_places(c, sizes[d + 2].literal(), kernel[d], dilation[d], padding[d], stride[d],
                         self.device());
  };
  Tensor rows = places(0);
  const Tensor columns = places(1);
  const SymInt count = size_of(rows, 1) * size_of(columns, 1);
  const Tensor padded =
      call(c, "aten::constant_pad_nd", self, Dims{padding[1], padding[1], padding[0], padding[0]}, 0.0);
  rows = call(c, "aten::unsqueeze", call(c, "aten::unsqueeze", rows, -1), -1);
  const Tensor windows = call(c, "aten::index.Tensor", padded, TensorList{Tensor(), Tensor(), rows, columns});
  const Tensor moved = call(c, "aten::permute", windows, Dims{0, 1, 2, 4, 3, 5});
  const SymInt columns_each = sizes[1] * SymInt(kernel[0]) * SymInt(kernel[1]);
  return call(c, "aten::reshape", moved, SymIntList{sizes[0], columns_each, count});
}

}  // namespace

void define_unfold_image(Library& library) {
  library
      .define(
          "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> "
          "Tensor")
      .shape<im2col_shape<Size>, im2col_shape<SymInt>>()
      .kernel<im2col_kernel>()
      .core_decomposition<im2col_parts>();
  library
      .define(
          "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] "
          "padding, int[2] stride) -> Tensor")
      .shape<col2im_shape<Size>, col2im_shape<SymInt>>()
      .kernel<col2im_kernel>();
  library.define("aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor")
      .shape<unpool_shape<Size>, unpool_shape<SymInt>>()
      .kernel<unpool_kernel>();
}

}  // namespace flambeau::ops
