#include "flambeau/ops/resample/resize.h"

#include <algorithm>
#include <vector>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/resample/resize_axis.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

struct Axis {
  int64_t outer, inner;
  Taps taps;
};

template <typename Body>
void for_lines(Context& context, const Axis& axis, Body&& body) {
  const int64_t lines = axis.inner == 1 ? axis.outer : axis.outer * axis.taps.out;
  const int64_t length = axis.inner == 1 ? axis.taps.out : axis.inner;
  const auto grain = static_cast<size_t>(std::max<int64_t>(kGrain / (length * axis.taps.count + 1), 1));
  context.pool().for_each_range(static_cast<size_t>(lines), grain, [&](size_t begin, size_t end) {
    body(static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
}

// `rounding` is the type that PyTorch keeps the weights in.
template <typename T>
void resize_numbers(Context& context, const Axis& axis, DType rounding, const void* from, void* to) {
  ScratchVector<T> weights(axis.taps.weight.begin(), axis.taps.weight.end());
  if (rounding == DType::kFloat16 || rounding == DType::kBFloat16) {
    std::vector<uint16_t> rounded(weights.size());
    const DType type = compute_dtype(rounding);
    store_packed(type, weights.data(), weights.size(), rounding, reinterpret_cast<uint8_t*>(rounded.data()),
                 2);
    load_packed(rounding, reinterpret_cast<const uint8_t*>(rounded.data()), 2, weights.size(), type,
                weights.data());
  }
  const AxisResize<T> numbers{axis.taps.in,    axis.taps.out,          axis.inner,
                              axis.taps.count, axis.taps.index.data(), weights.data()};
  for_lines(context, axis, [&](int64_t begin, int64_t end) {
    const ResizeLoops<T>* loops = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      loops = &FLAMBEAU_PICK(float_resize)();
    } else {
      loops = &FLAMBEAU_PICK(double_resize)();
    }
    loops->lines(numbers, static_cast<const T*>(from), static_cast<T*>(to), begin, end);
  });
}

// Bytes are blended with weights of 16 bits, as precise as the largest of them allows, and rounded after each
// dimension: the results are PyTorch's (and those of Python's imaging library) to the bit.
void resize_bytes(Context& context, const Axis& axis, const void* from_bytes, void* to_bytes) {
  const Taps& taps = axis.taps;
  const auto* const from = static_cast<const uint8_t*>(from_bytes);
  auto* const to = static_cast<uint8_t*>(to_bytes);
  // Taps beyond the border are one with the border's: weights are added before they are rounded.
  ScratchVector<double> weights = taps.weight;
  double largest = 0;
  for (int64_t i = 0; i < taps.out; ++i) {
    for (int64_t k = 1; k < taps.count; ++k) {
      const auto at = static_cast<size_t>(k * taps.out + i);
      const auto before = static_cast<size_t>((k - 1) * taps.out + i);
      if (taps.index[at] == taps.index[before]) weights[at] += std::exchange(weights[before], 0);
    }
  }
  for (const double weight : weights) largest = std::max(largest, weight);
  int bits = 0;
  while (bits < 22 && static_cast<int>(0.5 + largest * (1 << (bits + 1))) < 1 << 15) ++bits;
  ScratchVector<int> rounded;
  for (const double weight : weights) {
    const double scaled = weight * (1 << bits);
    rounded.push_back(static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
  }
  const int half = bits > 0 ? 1 << (bits - 1) : 0;
  for_lines(context, axis, [&](int64_t begin, int64_t end) {
    const int64_t inner = axis.inner;
    const int64_t first = inner == 1 ? begin * taps.out : begin;
    const int64_t last = inner == 1 ? end * taps.out : end;
    for (int64_t line = first; line < last; ++line) {
      const int64_t i = line % taps.out;
      const uint8_t* const source = from + line / taps.out * taps.in * inner;
      for (int64_t j = 0; j < inner; ++j) {
        int sum = half;
        for (int64_t k = 0; k < taps.count; ++k) {
          const auto at = static_cast<size_t>(k * taps.out + i);
          sum += rounded[at] * source[taps.index[at] * inner + j];
        }
        to[line * inner + j] = static_cast<uint8_t>(std::clamp(sum >> bits, 0, 255));
      }
    }
  });
}

// Where PyTorch keeps weights in the type of the image: everywhere but in its loops over channels.
bool rounds_weights(Resampling kind, const Tensor& out, bool is_last) {
  if (kind == Resampling::kCubic) return true;
  if (kind != Resampling::kLinear) return false;
  const size_t rank = out.dim();
  const bool is_wide = is_last && out.sizes()[1] > 3;
  if (rank == 4) return !is_wide && out.sizes()[2] + out.sizes()[3] > 128;
  return rank == 3 || !is_wide;
}

}  // namespace

void resize(Context& context, Resampling kind, const Tensor& input, bool align_corners,
            std::span<const std::optional<double>> scales, const Tensor& out) {
  const bool is_nearest = kind == Resampling::kNearest || kind == Resampling::kNearestExact;
  const bool is_byte = out.dtype() == DType::kUInt8;
  if (!is_floating(out.dtype()) && !is_byte) fail_dtype("upsample", out.dtype());
  const size_t dims = scales.size();
  const DType dtype = is_byte && !is_nearest ? DType::kUInt8
                      : is_byte              ? DType::kFloat32
                                             : compute_dtype(out.dtype());
  Info<Size> info = info_of(out);
  const bool is_last = !is_contiguous(info) && is_channels_last(info);
  const auto packed_info = [&](const ShortList<Size>& sizes) -> Info<Size> {
    return {
        .dtype = dtype, .sizes = sizes, .strides = is_last ? channels_last_strides(sizes) : row_major(sizes)};
  };
  const auto is_packed = [&](const Tensor& tensor) {
    return tensor.dtype() == dtype && info_of(tensor).strides == packed_info(tensor.sizes()).strides;
  };
  std::vector<size_t> changed;
  for (size_t d = dims + 2; d-- > 2;) {
    const bool is_smooth = kind > Resampling::kCubic;
    if (input.sizes()[d] != out.sizes()[d] || !(is_smooth || is_nearest || is_byte || !scales[d - 2]))
      changed.push_back(d);
  }
  Tensor from = input;
  if (!changed.empty() && !is_packed(input)) {
    from = context.allocate(packed_info(input.sizes()));
    copy_into(context, input, from);
  }
  const bool writes_out = !changed.empty() && is_packed(out);
  for (const size_t d : changed) {
    const int64_t size = out.sizes()[d];
    Axis axis{1, 1, make_taps(kind, out.dtype(), from.sizes()[d], size, align_corners, scales[d - 2])};
    axis.outer = from.sizes()[0] * (is_last ? 1 : from.sizes()[1]);
    for (size_t e = 2; e < d; ++e) axis.outer *= from.sizes()[e];
    axis.inner = is_last ? from.sizes()[1] : 1;
    for (size_t e = d + 1; e < dims + 2; ++e) axis.inner *= from.sizes()[e];
    Dims sizes = from.sizes();
    sizes[d] = size;
    const Tensor to = writes_out && d == changed.back() ? out : context.allocate(packed_info(sizes));
    if (dtype == DType::kUInt8) {
      resize_bytes(context, axis, from.data(), to.mutable_data());
    } else if (dtype == DType::kFloat64) {
      resize_numbers<double>(context, axis, dtype, from.data(), to.mutable_data());
    } else {
      resize_numbers<float>(context, axis, rounds_weights(kind, out, is_last) ? out.dtype() : dtype,
                            from.data(), to.mutable_data());
    }
    from = to;
  }
  if (!writes_out) copy_into(context, from, out);
}

}  // namespace flambeau::ops
