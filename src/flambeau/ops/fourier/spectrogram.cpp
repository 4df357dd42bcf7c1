// Transforms of a signal's windows, one after the other (stft), and the signal that they came from (istft).
#include <fmt/format.h>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/fourier/fourier.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using namespace fourier;  // NOLINT: the three transforms

using OptionalSize = std::optional<Size>;
using OptionalBool = std::optional<bool>;

void require(bool holds, const std::string& text) {
  if (!holds) fail_view(text);
}

// A window of `length`, in the middle of n_fft; none where there is none and none is needed.
std::optional<Tensor> centred_window(Context& c, std::string_view what, const Tensor* window,
                                     const Tensor& like, Size n_fft, Size length) {
  if (window != nullptr) {
    require(rank_of(*window) == 1 && size_of(*window, 0) == SymInt(length),
            fmt::format("{}: expected a 1D window tensor of size equal to win_length={}, but got window with "
                        "size {}",
                        what, length, sizes_text(std::span<const SymInt>(sizes_of(*window)))));
  }
  if (window == nullptr && length == n_fft) return std::nullopt;
  Tensor given = window != nullptr ? *window
                                   : call_with(c, "aten::ones", {Dims{length}},
                                               {{"dtype", to_real(like.dtype())},
                                                {"layout", Layout::kStrided},
                                                {"device", like.device()},
                                                {"pin_memory", false}});
  if (length == n_fft) return given;
  const Size left = (n_fft - length) / 2;
  return call(c, "aten::constant_pad_nd", given, Dims{left, n_fft - length - left});
}

Tensor stft(Context& c, const Tensor& given, Size n_fft, OptionalSize hop_length, OptionalSize win_length,
            const Tensor* window, bool normalized, OptionalBool onesided, OptionalBool return_complex,
            OptionalBool align_to_window) {
  const bool is_all_complex = is_complex(given.dtype()) || (window != nullptr && is_complex(window->dtype()));
  require(
      return_complex.has_value() || is_all_complex,
      "stft requires the return_complex parameter be given for real inputs, and will further require that "
      "return_complex=True in a future PyTorch release.");
  require(is_floating(given.dtype()) || is_complex(given.dtype()),
          "stft: expected a tensor of floating point or complex values");
  const int64_t rank = rank_of(given);
  require(rank == 1 || rank == 2, fmt::format("stft: expected a 1D or 2D tensor, got {} dimensions", rank));
  const Size hop = hop_length ? *hop_length : n_fft / 4;
  const Size length = win_length ? *win_length : n_fft;
  Tensor self = rank == 1 ? call(c, "aten::unsqueeze", given, 0) : given;
  require(n_fft > 0, fmt::format("stft: expected 0 < n_fft, but got n_fft={}", n_fft));
  require(hop > 0, fmt::format("stft: expected hop_length > 0, but got hop_length={}", hop));
  require(length > 0 && length <= n_fft,
          fmt::format("stft: expected 0 < win_length <= n_fft, but got win_length={}", length));
  const std::optional<Tensor> frame = centred_window(c, "stft", window, self, n_fft, length);
  // Each window's own samples in the middle of its frame, the first ones of the signal too.
  if (align_to_window.value_or(false) && length < n_fft) {
    const Size left = (n_fft - length) / 2;
    self = call(c, "aten::constant_pad_nd", self, Dims{left, left}, 0.0);
  }
  const SymInt samples = size_of(self, 1);
  require(SymInt(n_fft) <= samples,
          fmt::format("stft: expected 0 < n_fft < {}, but got n_fft={}", number_text(samples), n_fft));
  const bool is_half = onesided.value_or(!is_all_complex);
  require(!is_half || !is_all_complex, "Cannot have onesided output if window or input is complex");

  Tensor frames = call(c, "aten::unfold", self, -1, n_fft, hop);
  if (frame) frames = parts::mul(c, frames, *frame);
  const int64_t norm = normalized ? kByRoot : kNone;
  Tensor result = is_all_complex ? complex_to_complex(c, frames, {2}, norm, true)
                                 : real_to_complex(c, frames, {2}, norm, is_half);
  result = call(c, "aten::transpose.int", result, 1, 2);
  if (rank == 1) result = call(c, "aten::squeeze.dim", result, 0);
  return return_complex.value_or(true) ? result : call(c, "aten::view_as_real", result);
}

Tensor stft_center(Context& c, const Tensor& given, Size n_fft, OptionalSize hop_length,
                   OptionalSize win_length, const Tensor* window, bool center, std::string_view pad_mode,
                   bool normalized, OptionalBool onesided, OptionalBool return_complex,
                   OptionalBool align_to_window) {
  Tensor self = given;
  if (center) {
    require(!align_to_window.has_value(), "stft align_to_window should only be set when center = false.");
    const int64_t rank = rank_of(given);
    require(rank == 1 || rank == 2, fmt::format("stft: expected a 1D or 2D tensor, got {} dimensions", rank));
    SymIntList sizes = sizes_of(given);
    while (sizes.size() < 3) sizes.insert(0, SymInt(1));
    const Size half = n_fft / 2;
    const Tensor padded =
        call(c, "aten::pad", call(c, "aten::view", given, sizes), Dims{half, half}, pad_mode);
    sizes = sizes_of(given);
    sizes.back() = size_of(padded, 2);
    self = call(c, "aten::view", padded, sizes);
  }
  std::vector<Value> rest = {self,
                             n_fft.value(),
                             hop_length ? Value(hop_length->value()) : Value(),
                             win_length ? Value(win_length->value()) : Value(),
                             window != nullptr ? Value(*window) : Value(),
                             normalized,
                             onesided ? Value(*onesided) : Value(),
                             return_complex ? Value(*return_complex) : Value(),
                             align_to_window ? Value(*align_to_window) : Value()};
  return take_result<Tensor>(call_named(c, "aten::stft", rest));
}

// ---- back

// Windows that overlap, summed where they lie.
Tensor overlapped(Context& c, const Tensor& frames, const SymInt& samples, Size size, Size step) {
  return call(c, "aten::unfold_backward", frames, SymIntList{size_of(frames, 0), samples}, 1, size, step);
}

Tensor istft(Context& c, const Tensor& given, Size n_fft, OptionalSize hop_length, OptionalSize win_length,
             const Tensor* window, bool center, bool normalized, OptionalBool onesided, OptionalSize length,
             bool return_complex) {
  require(is_complex(given.dtype()),
          "istft requires a complex-valued input tensor matching the output from stft with "
          "return_complex=True.");
  const int64_t rank = rank_of(given);
  require(rank == 2 || rank == 3,
          fmt::format("istft: expected a tensor with 3 or 4 dimensions, but got {}", rank + 1));
  require(!(count_of(given) == SymInt(0)), "istft: input tensor cannot be empty.");
  const Size hop = hop_length ? *hop_length : n_fft / 4;
  const Size win = win_length ? *win_length : n_fft;
  require(win > 0 && win <= n_fft, "istft: expected 0 < win_length <= n_fft");
  require(hop > 0 && hop <= win, "istft: expected 0 < hop_length <= win_length");
  const SymInt points = size_of(given, rank - 2);
  const bool is_half = onesided ? *onesided : !(points == SymInt(n_fft));
  require(
      points == SymInt(is_half ? n_fft / 2 + 1 : n_fft),
      fmt::format("istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
                  "{} when onesided={}, but got {}",
                  is_half ? n_fft / 2 + 1 : n_fft, is_half, number_text(points)));
  if (return_complex) {
    require(!is_half, "Cannot have onesided output if window or input is complex");
  } else {
    require(window == nullptr || !is_complex(window->dtype()),
            "Complex windows are incompatible with return_complex=False");
  }
  require(!length || *length > 0, "istft: expected length > 0");
  std::optional<Tensor> frame = centred_window(c, "istft", window, given, n_fft, win);
  if (!frame) {
    frame = call_with(c, "aten::ones", {Dims{n_fft}},
                      {{"dtype", to_real(given.dtype())},
                       {"layout", Layout::kStrided},
                       {"device", given.device()},
                       {"pin_memory", false}});
  }

  Tensor spectra = rank == 2 ? call(c, "aten::unsqueeze", given, 0) : given;
  spectra = call(c, "aten::transpose.int", spectra, 1, 2);
  const SymInt count = size_of(spectra, 1);
  const SymInt samples = SymInt(n_fft) + SymInt(hop) * (count - SymInt(1));
  const int64_t norm = normalized ? kByRoot : kByCount;
  if (!return_complex && !is_half) {
    spectra = call(c, "aten::slice.Tensor", spectra, -1, 0, n_fft / 2 + 1);
  }
  const Tensor frames = return_complex ? complex_to_complex(c, spectra, {2}, norm, false)
                                       : complex_to_real(c, spectra, {2}, norm, n_fft);
  const Tensor weighted = parts::mul(c, frames, call(c, "aten::view", *frame, Dims{1, 1, n_fft}));
  const Tensor squares = call(c, "aten::pow.Tensor_Scalar", *frame, 2);
  const Tensor weights = call(c, "aten::expand", squares, SymIntList{SymInt(1), count, SymInt(n_fft)});
  Tensor signal = overlapped(c, weighted, samples, n_fft, hop);
  Tensor envelope = overlapped(c, weights, samples, n_fft, hop);

  // What the centring added is cut off again.
  const SymInt start = center ? n_fft / 2 : Size(0);
  SymInt end = center ? samples - SymInt(n_fft / 2) : samples;
  if (length) end = start + SymInt(*length);
  const auto cut = [&](const Tensor& tensor) { return call(c, "aten::slice.Tensor", tensor, 1, start, end); };
  signal = cut(signal);
  envelope = cut(envelope);
  const bool has_data =
      !envelope.is_traced() && envelope.storage() != nullptr && !envelope.storage()->is_meta();
  if (has_data) {
    require(envelope.element_count() > 0, "istft: the signal has no samples to give");
    const Tensor least = call(c, "aten::min", call(c, "aten::abs", envelope));
    require(item(least).to_double() > 1e-11, "istft: window overlap add min: 1");
  }
  signal = parts::div(c, signal, envelope);
  if (rank == 2) signal = call(c, "aten::squeeze.dim", signal, 0);
  if (length && end > samples)
    signal = call(c, "aten::constant_pad_nd", signal, SymIntList{SymInt(0), end - samples});
  return signal;
}

}  // namespace

void define_spectrogram(Library& library) {
  library
      .define(
          "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
          "window=None, "
          "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
          "align_to_window=None) "
          "-> Tensor")
      .composite<stft>();
  library
      .define(
          "aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
          "window=None, bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? "
          "onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor")
      .composite<stft_center>();
  library
      .define(
          "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
          "window=None, "
          "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool "
          "return_complex=False) -> Tensor")
      .composite<istft>();
}

}  // namespace flambeau::ops
