// Elements added around a tensor: a constant, its own mirrored, its edge repeated, or its other end.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/create/runs.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

// What is added before and after a dimension; padding counts from the last one.
template <typename N>
struct Pad {
  N before;
  N after;
};
template <typename N>
Pad<N> pad_of(std::span<const N> pad, size_t rank, size_t dim) {
  const size_t at = 2 * (rank - 1 - dim);
  return at < pad.size() ? Pad<N>{pad[at], pad[at + 1]} : Pad<N>{N(0), N(0)};
}

template <typename N>
Info<N> constant_pad_shape(const Info<N>& self, std::span<const N> pad, const Value&) {
  if (pad.size() % 2 != 0) {
    fail_view(fmt::format("Length of pad must be even but instead it equals {}", pad.size()));
  }
  if (pad.size() > 2 * self.dim()) {
    fail_view(
        fmt::format("Length of pad should be no more than twice the number of dimensions of the input. Pad "
                    "length is {} while the input has {} dimensions.",
                    pad.size(), self.dim()));
  }
  Info<N> cut = self;  // what is left where padding is negative
  ShortList<N> sizes = self.sizes;
  for (size_t d = 0; d < self.dim(); ++d) {
    const auto [before, after] = pad_of(pad, self.dim(), d);
    sizes[d] = self.sizes[d] + before + after;
    if (sizes[d] < N(0)) {
      fail_view(
          fmt::format("The input size {}, plus negative padding {} and {} resulted in a negative output "
                      "size, which is invalid. Check dimension {} of your input.",
                      number_text(self.sizes[d]), number_text(before), number_text(after), d));
    }
    cut.sizes[d] = self.sizes[d] + min(before, N(0)) + min(after, N(0));
    if (cut.sizes[d] < N(0)) fail_view("narrow(): length must be non-negative.");
  }
  const auto only_cuts = [&] {
    bool all = true;
    for (size_t d = 0; all && d < self.dim(); ++d) {
      const auto [before, after] = pad_of(pad, self.dim(), d);
      all = before <= N(0) && after <= N(0);
    }
    return all;
  };
  // Of what lies in order the result does, too: no size need decide which of both it is.
  const bool is_same_either_way = std::is_same_v<N, SymInt> && is_contiguous(self);
  if (!is_same_either_way && only_cuts()) {
    return {.dtype = self.dtype,
            .sizes = sizes,
            .strides = like_strides(cut, MemoryFormat::kPreserve),
            .device = self.device};
  }
  return formatted(self.dtype, std::move(sizes), suggested_format(self), self.device);
}

void constant_pad_kernel(Context& context, const Tensor& self, std::span<const Size> pad, Scalar value,
                         Tensor& out) {
  Info<Size> from = info_of(self);
  Info<Size> to = info_of(out);
  bool only_cuts = true;
  for (size_t d = 0; d < self.dim(); ++d) {
    const auto [before, after] = pad_of(pad, self.dim(), d);
    only_cuts = only_cuts && before <= 0 && after <= 0;
    const Size length = self.sizes()[d] + min(before, 0) + min(after, 0);
    from = part_info(from, d, max(-before, 0), length);
    to = part_info(to, d, max(before, 0), length);
  }
  if (!only_cuts) fill(context, out, value);
  copy_into(context, viewed(self, from), viewed(out, to));
}

// ---- the others
enum class Mode { kReflect, kReplicate, kCircular };

// Of one dimension, as PyTorch's kernels have it also where padding is negative.
IndexRuns padded_runs(Mode mode, int64_t size, Pad<Size> pad) {
  const Size total = size + pad.before + pad.after;
  const int64_t left = std::clamp<int64_t>(pad.before, 0, total);
  const int64_t right_begin = std::clamp<int64_t>(size + pad.before, left, total);
  const int64_t right = total - right_begin;
  const IndexRun middle{left - pad.before, right_begin - left, 1};
  switch (mode) {
    case Mode::kReflect:
      return {{pad.before, left, -1}, middle, {2 * (size - 1) - (right_begin - pad.before), right, -1}};
    case Mode::kReplicate:
      return {{0, left, 0}, middle, {size - 1, right, 0}};
    case Mode::kCircular: {
      // The ends that wrap around are those of what is left of the tensor.
      const int64_t first = std::max<int64_t>(-pad.before, 0);
      const int64_t last = size - std::max<int64_t>(-pad.after, 0);
      return {{last - left, left, 1}, middle, {first, right, 1}};
    }
  }
  return {};
}

template <typename N>
Info<N> padded_info(Mode mode, std::string_view name, size_t spatial, const Info<N>& self,
                    std::span<const N> padding) {
  if (padding.size() != 2 * spatial) {
    fail_view(fmt::format("padding size is expected to be {}, but got: {}", 2 * spatial, padding.size()));
  }
  const size_t rank = self.dim();
  bool is_valid = rank == spatial + 1 || rank == spatial + 2;
  for (size_t d = rank == spatial + 2 ? 1 : 0; is_valid && d < rank; ++d) {
    if (mode != Mode::kCircular) is_valid = !(self.sizes[d] == N(0));
  }
  if (!is_valid) {
    fail_view(
        fmt::format("Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero "
                    "dimensions for input, but got: {}",
                    spatial + 1, spatial + 2, sizes_text(self.sizes)));
  }
  if (mode != Mode::kCircular && self.dtype == DType::kBool) fail_dtype(name, self.dtype);
  ShortList<N> sizes = self.sizes;
  for (size_t d = 0; d < rank; ++d) {
    const auto [before, after] = pad_of(padding, rank, d);
    if (mode == Mode::kReflect && d >= rank - spatial && !(before < self.sizes[d] && after < self.sizes[d])) {
      fail_view(
          fmt::format("Padding size should be less than the corresponding input dimension, but got: padding "
                      "({}, {}) at dimension {} of input {}",
                      number_text(before), number_text(after), d, sizes_text(self.sizes)));
    }
    if (mode == Mode::kCircular && (before > self.sizes[d] || after > self.sizes[d])) {
      fail_view("Padding value causes wrapping around more than once.");
    }
    if (mode == Mode::kCircular && (before < N(0) || after < N(0))) {
      const N left = self.sizes[d] + min(before, N(0)) + min(after, N(0));
      if (before > left || after > left) {
        fail_view(fmt::format("padding ({}, {}) at dimension {} of input {} leaves less than it repeats",
                              number_text(before), number_text(after), d, sizes_text(self.sizes)));
      }
    }
    sizes[d] = self.sizes[d] + before + after;
    if (sizes[d] < N(mode == Mode::kCircular || d < rank - spatial ? 0 : 1)) {
      fail_view(fmt::format("input (size {} at dimension {}) is too small. Calculated output size: {}",
                            number_text(self.sizes[d]), d, number_text(sizes[d])));
    }
  }
  const MemoryFormat format = mode == Mode::kCircular ? MemoryFormat::kContiguous : suggested_format(self);
  return formatted(self.dtype, std::move(sizes), format, self.device);
}

constexpr std::string_view kNames[2][4] = {
    {"", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d"},
    {"", "replication_pad1d", "replication_pad2d", "replication_pad3d"}};

template <Mode kMode, size_t kSpatial, typename N>
Info<N> padded_shape(const Info<N>& self, std::span<const N> padding) {
  return padded_info(kMode, kNames[static_cast<size_t>(kMode)][kSpatial], kSpatial, self, padding);
}

template <typename N>
Info<N> circular_shape(const Info<N>& self, std::span<const N> padding) {
  return padded_info(Mode::kCircular, "_pad_circular", padding.size() / 2, self, padding);
}

template <Mode kMode>
void padded_kernel(Context& context, const Tensor& self, std::span<const Size> padding, Tensor& out) {
  std::vector<IndexRuns> runs;
  for (size_t d = 0; d < self.dim(); ++d) {
    runs.push_back(padded_runs(kMode, self.sizes()[d], pad_of(padding, self.dim(), d)));
  }
  copy_runs(context, self, out, runs);
}

Tensor pad_by_mode(Context& context, const Tensor& self, std::span<const SymInt> pad, std::string_view mode,
                   std::optional<double> value) {
  const size_t pad_size = pad.size();
  if (pad_size % 2 != 0) fail_view("Padding length must be divisible by 2");
  const size_t rank = rank_of(self);
  if (pad_size > 2 * rank) {
    fail_view(
        fmt::format("Padding length should be less than or equal to two times the input dimension but got "
                    "padding length {} and input of dimension {}",
                    pad_size, rank));
  }
  if (mode == "constant") return call(context, "aten::constant_pad_nd", self, pad, value.value_or(0.0));
  if (value && *value != 0) {
    fail_view(fmt::format("Padding mode \"{}\" doesn't take in value argument", mode));
  }
  const size_t spatial = pad_size / 2;
  if (spatial < 1 || spatial > 3 || (rank != spatial + 1 && rank != spatial + 2)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("Padding size {} is not supported for {}D input tensor.", pad_size, rank));
  }
  if (mode == "circular") return call(context, "aten::_pad_circular", self, pad);
  if (mode != "reflect" && mode != "replicate") {
    throw Error(ErrorCode::kUnsupported, fmt::format("Unrecognised padding mode {}", printable(mode)));
  }
  return call(context,
              fmt::format("aten::{}_pad{}d", mode == "reflect" ? "reflection" : "replication", spatial), self,
              pad);
}

Tensor pad(Context& context, const Tensor& self, std::span<const SymInt> pad, std::string_view mode,
           std::optional<double> value) {
  return pad_by_mode(context, self, pad, mode, value);
}

Tensor pad_enum(Context& context, const Tensor& self, std::span<const SymInt> pad, Size mode,
                std::optional<double> value) {
  constexpr std::string_view kModes[] = {"reflect", "replicate", "circular", "constant"};
  if (mode < 0 || mode > 3) fail_view(fmt::format("Invalid padding mode ({})", mode));
  return pad_by_mode(context, self, pad, kModes[mode], value);
}

// ---- as other operators

// The elements along each dimension picked again, at the places that a function makes of a line of numbers.
template <typename Places>
Tensor gathered(Context& c, const Tensor& self, std::span<const SymInt> padding, Places&& places) {
  const auto rank = static_cast<size_t>(rank_of(self));
  Tensor result = self;
  for (size_t d = rank - padding.size() / 2; d < rank; ++d) {
    const auto [before, after] = pad_of(padding, rank, d);
    const SymInt size = size_of(self, static_cast<int64_t>(d));
    const Tensor line = parts::arange(c, -before, size + after, {}, self.device());
    TensorList indices(rank);
    indices[d] = places(line, size - SymInt(1));
    result = call(c, "aten::index.Tensor", result, indices);
  }
  return result;
}
Tensor reflected_parts(Context& c, const Tensor& self, std::span<const SymInt> padding) {
  return gathered(c, self, padding, [&](const Tensor& line, const SymInt& last) {
    const auto mirror = [&](const Tensor& x) { return parts::sub(c, last, call(c, "aten::abs", x)); };
    return mirror(mirror(line));
  });
}
Tensor replicated_parts(Context& c, const Tensor& self, std::span<const SymInt> padding) {
  return gathered(c, self, padding, [&](const Tensor& line, const SymInt& last) {
    return call(c, "aten::clamp", line, 0, last);
  });
}

// Written into something larger, whose ends are copied from its other ends then.
Tensor circular_parts(Context& c, const Tensor& self, std::span<const SymInt> padding) {
  const auto rank = static_cast<size_t>(rank_of(self));
  const SymInt zero = 0;
  const auto part = [&](const Tensor& of, size_t dim, const SymInt& start, const SymInt& end) {
    return call(c, "aten::slice.Tensor", of, static_cast<int64_t>(dim), start, end);
  };
  const auto positive = [&](const SymInt& number) { return number > zero ? number : zero; };
  const auto negative = [&](const SymInt& number) { return number < zero ? -number : zero; };
  SymIntList sizes = sizes_of(self);
  const size_t first = rank - padding.size() / 2;
  for (size_t d = rank; d-- > first;) {
    const auto [before, after] = pad_of(padding, rank, d);
    sizes[d] += before + after;
  }
  const Tensor out = parts::empty(c, sizes, self);
  Tensor to = out;
  Tensor from = self;
  for (size_t d = rank; d-- > first;) {
    const auto [before, after] = pad_of(padding, rank, d);
    to = part(to, d, positive(before), sizes[d] - positive(after));
    from = part(from, d, negative(before), size_of(self, static_cast<int64_t>(d)) - negative(after));
  }
  call(c, "aten::copy_", to, from);
  for (size_t d = rank; d-- > first;) {
    const SymInt before = positive(pad_of(padding, rank, d).before);
    const SymInt after = positive(pad_of(padding, rank, d).after);
    const SymInt& size = sizes[d];
    if (before > zero) {
      const Tensor left = part(out, d, zero, before);
      call(c, "aten::copy_", left, part(out, d, size - before - after, size - after));
    }
    if (after > zero) {
      const Tensor right = part(out, d, size - after, size);
      call(c, "aten::copy_", right, part(out, d, before, before + after));
    }
  }
  return out;
}

}  // namespace

void define_pad(Library& library) {
  library.define("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor")
      .shape<constant_pad_shape<Size>, constant_pad_shape<SymInt>>()
      .kernel<constant_pad_kernel>();
  library.define("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor")
      .shape<padded_shape<Mode::kReflect, 1, Size>, padded_shape<Mode::kReflect, 1, SymInt>>()
      .kernel<padded_kernel<Mode::kReflect>>()
      .core_decomposition<reflected_parts>();
  library.define("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor")
      .shape<padded_shape<Mode::kReflect, 2, Size>, padded_shape<Mode::kReflect, 2, SymInt>>()
      .kernel<padded_kernel<Mode::kReflect>>()
      .core_decomposition<reflected_parts>();
  library.define("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor")
      .shape<padded_shape<Mode::kReflect, 3, Size>, padded_shape<Mode::kReflect, 3, SymInt>>()
      .kernel<padded_kernel<Mode::kReflect>>()
      .core_decomposition<reflected_parts>();
  library.define("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor")
      .shape<padded_shape<Mode::kReplicate, 1, Size>, padded_shape<Mode::kReplicate, 1, SymInt>>()
      .kernel<padded_kernel<Mode::kReplicate>>()
      .core_decomposition<replicated_parts>();
  library.define("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor")
      .shape<padded_shape<Mode::kReplicate, 2, Size>, padded_shape<Mode::kReplicate, 2, SymInt>>()
      .kernel<padded_kernel<Mode::kReplicate>>()
      .core_decomposition<replicated_parts>();
  library.define("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor")
      .shape<padded_shape<Mode::kReplicate, 3, Size>, padded_shape<Mode::kReplicate, 3, SymInt>>()
      .kernel<padded_kernel<Mode::kReplicate>>()
      .core_decomposition<replicated_parts>();
  library.define("aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor")
      .shape<circular_shape<Size>, circular_shape<SymInt>>()
      .kernel<padded_kernel<Mode::kCircular>>()
      .composite<circular_parts>();
  library.define("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor")
      .composite<pad>();
  library.define("aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor")
      .composite<pad_enum>();
}

}  // namespace flambeau::ops
