// Windows that signals are multiplied with, and the frequencies of a transform: tensors that follow from
// their length.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using OptionalDType = std::optional<DType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;

struct Options {
  DType dtype;
  OptionalDevice device;
};

Options checked_options(std::string_view what, Size length, OptionalDType dtype, OptionalLayout layout,
                        OptionalDevice device) {
  const DType given = dtype.value_or(kDefaultFloat);
  if (layout.value_or(Layout::kStrided) != Layout::kStrided) {
    fail_view(fmt::format("{} is not implemented for sparse types", what));
  }
  if (!is_floating(given) && !is_complex(given)) {
    fail_view(fmt::format("{} expects floating point dtypes, got: {}", what, dtype_name(given)));
  }
  if (length < 0) {
    fail_view(fmt::format("{} requires non-negative window_length, got window_length={}", what, length));
  }
  return {given, device};
}

Tensor line_of(Context& c, const Value& start, const Value& end, const Options& options) {
  return parts::arange(c, start, end, options.dtype, options.device.value_or(Device{}));
}

// A periodic window is one longer, without its last number. Windows of none and of one number are all alike.
// The short types are too coarse for what is between.
template <typename Make>
Tensor window_of(Context& c, Size length, bool is_periodic, const Options& options, Make&& make) {
  if (length < 2) {
    return call_with(c, "aten::ones", {Dims{length}},
                     {{"dtype", options.dtype},
                      {"layout", Layout::kStrided},
                      {"device", options.device.value_or(Device{})},
                      {"pin_memory", false}});
  }
  const bool is_short = is_floating(options.dtype) && options.dtype != DType::kFloat64;
  const Options between = {is_short ? DType::kFloat32 : options.dtype, options.device};
  const Size whole = is_periodic ? length + 1 : length;
  Tensor window = make(line_of(c, 0, whole, between), whole);
  if (is_periodic) window = call(c, "aten::slice.Tensor", window, 0, 0, length);
  return parts::to_dtype(c, window, options.dtype);
}

// ---- alpha - beta cos(2 pi x)

template <bool kIsHann>
Tensor raised_cosine(Context& c, Size length, bool periodic, double alpha, double beta, OptionalDType dtype,
                     OptionalLayout layout, OptionalDevice device) {
  const std::string_view what = kIsHann ? "hann_window" : "hamming_window";
  const Options options = checked_options(what, length, dtype, layout, device);
  return window_of(c, length, periodic, options, [&](const Tensor& line, Size whole) {
    const double step = std::numbers::pi * 2 / static_cast<double>(whole - 1);
    const Tensor cosine = call(c, "aten::cos", parts::mul(c, line, step));
    return parts::add(c, parts::mul(c, cosine, -beta), alpha);
  });
}

Tensor hann(Context& c, Size length, OptionalDType dtype, OptionalLayout layout, OptionalDevice device,
            OptionalBool) {
  return raised_cosine<true>(c, length, true, 0.5, 0.5, dtype, layout, device);
}
Tensor hann_periodic(Context& c, Size length, bool periodic, OptionalDType dtype, OptionalLayout layout,
                     OptionalDevice device, OptionalBool) {
  return raised_cosine<true>(c, length, periodic, 0.5, 0.5, dtype, layout, device);
}
Tensor hamming_all(Context& c, Size length, bool periodic, double alpha, double beta, OptionalDType dtype,
                   OptionalLayout layout, OptionalDevice device, OptionalBool) {
  return raised_cosine<false>(c, length, periodic, alpha, beta, dtype, layout, device);
}
Tensor hamming_alpha(Context& c, Size length, bool periodic, double alpha, OptionalDType dtype,
                     OptionalLayout layout, OptionalDevice device, OptionalBool) {
  return raised_cosine<false>(c, length, periodic, alpha, 0.46, dtype, layout, device);
}
Tensor hamming_periodic(Context& c, Size length, bool periodic, OptionalDType dtype, OptionalLayout layout,
                        OptionalDevice device, OptionalBool) {
  return raised_cosine<false>(c, length, periodic, 0.54, 0.46, dtype, layout, device);
}
Tensor hamming(Context& c, Size length, OptionalDType dtype, OptionalLayout layout, OptionalDevice device,
               OptionalBool) {
  return raised_cosine<false>(c, length, true, 0.54, 0.46, dtype, layout, device);
}

// ---- a triangle
Tensor bartlett_periodic(Context& c, Size length, bool periodic, OptionalDType dtype, OptionalLayout layout,
                         OptionalDevice device, OptionalBool) {
  const Options options = checked_options("bartlett_window", length, dtype, layout, device);
  return window_of(c, length, periodic, options, [&](const Tensor& line, Size whole) {
    const Tensor up = parts::mul(c, line, 2.0 / static_cast<double>(whole - 1));
    const Size middle = (whole - 1) / 2 + 1;
    const Tensor falling = call(c, "aten::slice.Tensor", up, 0, middle, whole);
    const Tensor down = parts::add(c, parts::mul(c, falling, -1), 2);
    return call(c, "aten::cat", TensorList{call(c, "aten::slice.Tensor", up, 0, 0, middle), down}, 0);
  });
}
Tensor bartlett(Context& c, Size length, OptionalDType dtype, OptionalLayout layout, OptionalDevice device,
                OptionalBool pin_memory) {
  return bartlett_periodic(c, length, true, dtype, layout, device, pin_memory);
}

// ---- 0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x)
Tensor blackman_periodic(Context& c, Size length, bool periodic, OptionalDType dtype, OptionalLayout layout,
                         OptionalDevice device, OptionalBool) {
  const Options options = checked_options("blackman_window", length, dtype, layout, device);
  return window_of(c, length, periodic, options, [&](const Tensor& line, Size whole) {
    const Tensor turn = parts::mul(c, line, std::numbers::pi / static_cast<double>(whole - 1));
    const auto wave = [&](int times, double height) {
      return parts::mul(c, call(c, "aten::cos", parts::mul(c, turn, times)), height);
    };
    return parts::add(c, parts::sub(c, wave(4, 0.08), wave(2, 0.5)), 0.42);
  });
}
Tensor blackman(Context& c, Size length, OptionalDType dtype, OptionalLayout layout, OptionalDevice device,
                OptionalBool pin_memory) {
  return blackman_periodic(c, length, true, dtype, layout, device, pin_memory);
}

// ---- I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta)
Tensor kaiser_beta(Context& c, Size length, bool periodic, double beta, OptionalDType dtype,
                   OptionalLayout layout, OptionalDevice device, OptionalBool) {
  const Options options = checked_options("kaiser_window", length, dtype, layout, device);
  return window_of(c, length, periodic, options, [&](const Tensor& line, Size whole) {
    const Tensor place = parts::sub(c, parts::mul(c, line, 2.0 / static_cast<double>(whole - 1)), 1);
    const Tensor rest = parts::sub(c, 1, parts::mul(c, place, place));
    // Rounding may leave a little less than nothing at the ends.
    const Tensor root = call(c, "aten::sqrt", call(c, "aten::clamp", rest, 0));
    const Tensor height = call(c, "aten::i0", parts::scalar(c, beta, line));
    return parts::div(c, call(c, "aten::i0", parts::mul(c, root, beta)), height);
  });
}
Tensor kaiser_periodic(Context& c, Size length, bool periodic, OptionalDType dtype, OptionalLayout layout,
                       OptionalDevice device, OptionalBool pin_memory) {
  return kaiser_beta(c, length, periodic, 12, dtype, layout, device, pin_memory);
}
Tensor kaiser(Context& c, Size length, OptionalDType dtype, OptionalLayout layout, OptionalDevice device,
              OptionalBool pin_memory) {
  return kaiser_beta(c, length, true, 12, dtype, layout, device, pin_memory);
}

// ---- the frequencies of a transform of n samples, d apart
template <bool kIsHalf>
Tensor frequencies(Context& c, Size n, double d, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                   OptionalBool) {
  const Options options = {dtype.value_or(kDefaultFloat), device};
  if (!is_floating(options.dtype) && !is_complex(options.dtype)) {
    fail_view(fmt::format("{} requires a floating point or complex dtype", kIsHalf ? "rfftfreq" : "fftfreq"));
  }
  if (n < 0) fail_view(fmt::format("Trying to create tensor with negative dimension {}: [{}]", n, n));
  Tensor line;
  if (kIsHalf) {
    line = line_of(c, 0, n / 2 + 1, options);
  } else {
    line = call(c, "aten::cat",
                TensorList{line_of(c, 0, (n + 1) / 2, options), line_of(c, -(n / 2), 0, options)}, 0);
  }
  return parts::mul(c, line, 1 / (static_cast<double>(n) * d));
}

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define WINDOW(name, more) "aten::" name "(int window_length, " more OPTIONS ") -> Tensor"

}  // namespace

void define_window_functions(Library& library) {
  library.define(WINDOW("hann_window", "")).core_decomposition<hann>();
  library.define(WINDOW("hann_window.periodic", "bool periodic, ")).core_decomposition<hann_periodic>();
  library.define(WINDOW("hamming_window", "")).decomposition<hamming>();
  library.define(WINDOW("hamming_window.periodic", "bool periodic, ")).decomposition<hamming_periodic>();
  library.define(WINDOW("hamming_window.periodic_alpha", "bool periodic, float alpha, "))
      .decomposition<hamming_alpha>();
  library.define(WINDOW("hamming_window.periodic_alpha_beta", "bool periodic, float alpha, float beta, "))
      .decomposition<hamming_all>();
  library.define(WINDOW("bartlett_window", "")).decomposition<bartlett>();
  library.define(WINDOW("bartlett_window.periodic", "bool periodic, ")).decomposition<bartlett_periodic>();
  library.define(WINDOW("blackman_window", "")).decomposition<blackman>();
  library.define(WINDOW("blackman_window.periodic", "bool periodic, ")).decomposition<blackman_periodic>();
  library.define(WINDOW("kaiser_window", "")).decomposition<kaiser>();
  library.define(WINDOW("kaiser_window.periodic", "bool periodic, ")).decomposition<kaiser_periodic>();
  library.define(WINDOW("kaiser_window.beta", "bool periodic, float beta, ")).decomposition<kaiser_beta>();
  library.define("aten::fft_fftfreq(int n, float d=1., " OPTIONS ") -> Tensor")
      .decomposition<frequencies<false>>();
  library.define("aten::fft_rfftfreq(int n, float d=1., " OPTIONS ") -> Tensor")
      .decomposition<frequencies<true>>();
}

#undef WINDOW
#undef OPTIONS

}  // namespace flambeau::ops
