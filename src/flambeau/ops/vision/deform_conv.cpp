// torchvision's deform_conv2d: a convolution whose kernel reads where offsets say. What it reads becomes the
// columns of a matrix, and the rest is a product.
#include <algorithm>
#include <array>
#include <limits>

#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/vision/regions.h"

namespace flambeau::ops {
namespace {

template <typename N>
N deformed_size(const N& size, const N& kernel, const N& stride, const N& padding, const N& dilation) {
  const N reach = dilation * (kernel - N(1)) + N(1);
  return floor_div(size + N(2) * padding - reach, stride) + N(1);
}

template <typename N>
Info<N> deform_shape(const Info<N>& input, const Info<N>& weight, const Info<N>& offset, const Info<N>& mask,
                     const Info<N>& bias, N stride_h, N stride_w, N pad_h, N pad_w, N dilation_h,
                     N dilation_w, N groups, N offset_groups, bool use_mask) {
  require(input.dim() == 4 && weight.dim() == 4 && offset.dim() == 4,
          "deform_conv2d: input, weight and offset must have four dimensions");
  require(!use_mask || mask.dim() == 4, "deform_conv2d: the mask must have four dimensions");
  require_vision_dtype("deformable_im2col", input);
  for (const Info<N>* other : {&weight, &offset, &bias})
    require(other->dtype == input.dtype, "deform_conv2d: all tensors must have the input's type");
  require(!use_mask || mask.dtype == input.dtype, "deform_conv2d: all tensors must have the input's type");
  const N& kernel_h = weight.sizes[2];
  const N& kernel_w = weight.sizes[3];
  const N zero(0);
  require(kernel_h > zero && kernel_w > zero, "weight must have a kernel of positive sizes");
  require(stride_h > zero && stride_w > zero, "stride must be positive");
  require(pad_h >= zero && pad_w >= zero, "padding must be non-negative");
  require(dilation_h > zero && dilation_w > zero, "dilation must be positive");
  require(groups > zero && offset_groups > zero, "groups must be positive");
  require(weight.sizes[1] * groups == input.sizes[1],
          "deform_conv2d: the weight's channels times the groups must be the input's");
  require(modulo(weight.sizes[0], groups) == zero,
          "deform_conv2d: the groups must divide the number of results");
  require(modulo(input.sizes[1], offset_groups) == zero,
          "deform_conv2d: the groups of offsets must divide the input's channels");
  require(offset.sizes[0] == input.sizes[0], "invalid batch size of offset");
  const N taps = offset_groups * kernel_h * kernel_w;
  require(offset.sizes[1] == N(2) * taps, "offset.shape[1] is not valid: expected two for each tap");
  const N height = deformed_size(input.sizes[2], kernel_h, stride_h, pad_h, dilation_h);
  const N width = deformed_size(input.sizes[3], kernel_w, stride_w, pad_w, dilation_w);
  require(height > zero && width > zero, "deform_conv2d: the kernel is larger than the padded input");
  require(offset.sizes[2] == height && offset.sizes[3] == width,
          "offset output dims are not the computed output dims");
  if (use_mask) {
    require(mask.sizes[0] == input.sizes[0], "invalid batch size of mask");
    require(mask.sizes[1] == taps, "mask.shape[1] is not valid: expected one for each tap");
    require(mask.sizes[2] == height && mask.sizes[3] == width,
            "mask output dims are not the computed output dims");
  }
  require(bias.dim() == 1 && bias.sizes[0] == weight.sizes[0],
          "deform_conv2d: the bias must have a number for each result");
  return contiguous<N>(input.dtype, {input.sizes[0], weight.sizes[0], height, width}, input.device);
}

// A pixel between four, which are zero outside of the image.
template <typename T>
struct FourPixels {
  std::array<int64_t, 4> offsets{};
  std::array<T, 4> weights{};
};

template <typename T>
FourPixels<T> four_pixels(T y, T x, int64_t height, int64_t width, T factor) {
  FourPixels<T> four;
  // Places that no integer holds lie outside, and so does what is not a number.
  if (!(y > -1 && y < static_cast<T>(height) && x > -1 && x < static_cast<T>(width))) return four;
  const T floor_y = std::floor(y), floor_x = std::floor(x);
  const auto low_y = static_cast<int64_t>(floor_y), low_x = static_cast<int64_t>(floor_x);
  const T rest_y = y - floor_y, rest_x = x - floor_x;
  for (int i = 0; i < 4; ++i) {
    const int64_t row = low_y + i / 2, column = low_x + i % 2;
    if (row < 0 || row >= height || column < 0 || column >= width) continue;
    four.offsets[static_cast<size_t>(i)] = row * width + column;
    four.weights[static_cast<size_t>(i)] =
        (i / 2 == 0 ? 1 - rest_y : rest_y) * (i % 2 == 0 ? 1 - rest_x : rest_x) * factor;
  }
  return four;
}

struct Window {
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};

// The columns of one image: [channels, taps of the kernel, places].
template <typename T>
void fill_columns(Context& context, const T* image, const Dims& sizes, const T* offsets, const T* masks,
                  const Window& window, int64_t offset_groups, int64_t height, int64_t width, T* columns) {
  const int64_t channels = sizes[1] / offset_groups;
  const int64_t pixels = sizes[2] * sizes[3];
  const int64_t places = height * width;
  const int64_t taps = window.kernel_h * window.kernel_w;
  constexpr int64_t kBlock = 256;
  const int64_t blocks = (places - 1) / kBlock + 1;
  context.pool().for_each_range(
      static_cast<size_t>(offset_groups * taps * blocks),
      static_cast<size_t>(16 / std::min<int64_t>(channels + 1, 16) + 1), [&](size_t begin, size_t end) {
        std::array<FourPixels<T>, kBlock> fours;
        WorkPoller poll;
        for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
          const int64_t first = i % blocks * kBlock, tap = i / blocks % taps, group = i / blocks / taps;
          const int64_t count = std::min(kBlock, places - first);
          const T* const shift = offsets + ((group * taps + tap) * 2) * places;
          const T* const mask = masks == nullptr ? nullptr : masks + (group * taps + tap) * places;
          for (int64_t k = 0; k < count; ++k) {
            const int64_t at = first + k;
            const int64_t row = at / width, tap_row = tap / window.kernel_w;
            const auto y = static_cast<T>(row * window.stride_h - window.pad_h + tap_row * window.dilation_h);
            const auto x = static_cast<T>(at % width * window.stride_w - window.pad_w +
                                          tap % window.kernel_w * window.dilation_w);
            fours[static_cast<size_t>(k)] = four_pixels<T>(y + shift[at], x + shift[places + at], sizes[2],
                                                           sizes[3], mask == nullptr ? T(1) : mask[at]);
          }
          for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
            poll(static_cast<size_t>(count));
            const T* const plane = image + c * pixels;
            T* const to = columns + (c * taps + tap) * places + first;
            for (int64_t k = 0; k < count; ++k) {
              const FourPixels<T>& four = fours[static_cast<size_t>(k)];
              T sum = 0;
              for (size_t j = 0; j < 4; ++j) {
                // A weight of nothing hides what stands there, be it infinite.
                if (four.weights[j] != 0) sum += four.weights[j] * plane[four.offsets[j]];
              }
              to[k] = sum;
            }
          }
        }
      });
}

Tensor reshaped(const Tensor& packed, const Dims& sizes) {
  return packed.with_geometry({sizes, contiguous_strides(sizes), packed.offset()});
}

void deform_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor& offset,
                   const Tensor& mask, const Tensor& bias, Size stride_h, Size stride_w, Size pad_h,
                   Size pad_w, Size dilation_h, Size dilation_w, Size groups, Size offset_groups,
                   bool use_mask, Tensor& out) {
  const DType dtype = compute_dtype(out.dtype());
  const Tensor images = packed_as(context, input, dtype), weights = packed_as(context, weight, dtype);
  const Tensor offsets = packed_as(context, offset, dtype), added = packed_as(context, bias, dtype);
  const Tensor masks = use_mask ? packed_as(context, mask, dtype) : Tensor();
  const Window window{weight.sizes()[2], weight.sizes()[3], stride_h, stride_w, pad_h, pad_w,
                      dilation_h,        dilation_w};
  const int64_t height = out.sizes()[2], width = out.sizes()[3];
  const Size taps = Size(window.kernel_h) * window.kernel_w;
  const Size rows = taps * input.sizes()[1];  // of the columns, all groups together
  const Size places = Size(height) * width;
  const Tensor columns = context.allocate(dtype, Dims{groups, floor_div(rows, groups), places});
  const Size results = floor_div(Size(out.sizes()[1]), groups);
  const Tensor matrices = reshaped(weights, Dims{groups, results, floor_div(rows, groups)});
  const Tensor biases = reshaped(added, Dims{groups, results, 1});
  into(context, out, [&](const Tensor& result) {
    with_vision_type(dtype, [&]<typename T>(T) {
      for (int64_t n = 0; n < input.sizes()[0]; ++n) {
        poll_work();
        const auto of_image = [&](const Tensor& tensor) {
          return tensor.data<T>() + n * (tensor.element_count() / input.sizes()[0]);
        };
        fill_columns<T>(context, of_image(images), input.sizes(), of_image(offsets),
                        use_mask ? of_image(masks) : nullptr, window, offset_groups, height, width,
                        columns.mutable_data<T>());
        Tensor to = reshaped(result, Dims{groups, results, places});
        to.set_storage(result.storage(), result.offset() + n * (result.element_count() / input.sizes()[0]));
        multiply(context, matrices, columns, to, {.tensor = &biases});
      }
    });
  });
}

uint64_t deform_work(const Tensor& out, const Tensor&, const Tensor& weight) {
  const Size each = Size(weight.sizes()[1]) * weight.sizes()[2] * weight.sizes()[3] * 2;
  return static_cast<uint64_t>((each * out.element_count()).value());
}

}  // namespace

void define_deform_conv(Library& library) {
  library
      .define(
          "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
          "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt "
          "dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor")
      .shape<deform_shape<Size>, deform_shape<SymInt>>()
      .kernel<deform_kernel>()
      .work<deform_work>();
}

}  // namespace flambeau::ops
