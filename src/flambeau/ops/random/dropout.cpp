// Elements dropped at random while training; out of training the input itself.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/random/draw.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) {
    fail_view(fmt::format("dropout probability has to be between 0 and 1, but got {}", p));
  }
}

// Ones and zeros in the shape of the input, or one for each of its channels.
Tensor draw_noise(Context& context, const Tensor& input, double keep, bool is_feature) {
  Info<Size> info = info_of(input);
  info.offset = 0;
  if (is_feature) {
    if (input.dim() < 2) fail_view("Feature dropout requires at least 2 dimensions in the input");
    for (size_t d = 2; d < input.dim(); ++d) info.sizes[d] = 1;
    info.strides = row_major(info.sizes);
  } else {
    info.strides = like_strides(info, MemoryFormat::kPreserve);
  }
  Tensor noise = context.allocate(info);
  draw_bernoulli(context, {}, noise, keep);
  return noise;
}

// Out of training it is the input itself.
template <typename N>
Info<N> dropped_shape(const Info<N>& input, double p, bool train) {
  if (p == 0 || !train) return input;
  return {.dtype = input.dtype,
          .sizes = input.sizes,
          .strides = like_strides(input, MemoryFormat::kPreserve),
          .device = input.device};
}

template <typename N>
std::tuple<Info<N>, Info<N>> native_dropout_shape(const Info<N>& input, double, std::optional<bool>) {
  const Info<N> kept = dropped_shape(input, 1, true);
  Info<N> mask = kept;
  mask.dtype = DType::kBool;
  return {kept, mask};
}

template <bool kFeature, bool kAlpha>
Tensor dropped(Context& context, const Tensor& input, double p, bool train) {
  check_probability(p);
  if (p == 0 || !train || input.element_count() == 0) return input;
  if (p == 1) return call(context, "aten::mul.Tensor", input, scalar_tensor(0, input.dtype()));
  Tensor noise = draw_noise(context, input, 1 - p, kFeature);
  if (!kAlpha) {
    return call(context, "aten::mul.Tensor", input, call(context, "aten::div.Tensor", noise, 1 - p));
  }
  // What keeps mean and variance after a SELU.
  constexpr double kAlphaPrime = 1.7580993408473766;
  const double a = 1. / std::sqrt((kAlphaPrime * kAlphaPrime * p + 1) * (1 - p));
  Tensor shift = call(context, "aten::add.Tensor", noise, int64_t{-1});
  shift = call(context, "aten::mul.Tensor", shift, kAlphaPrime * a);
  shift = call(context, "aten::add.Tensor", shift, kAlphaPrime * a * p);
  const Tensor kept = call(context, "aten::mul.Tensor", input, call(context, "aten::mul.Tensor", noise, a));
  return call(context, "aten::add.Tensor", kept, shift);
}

template <bool kFeature, bool kAlpha>
Tensor drop_in_place(Context& context, const Tensor& self, double p, bool train) {
  check_probability(p);
  if (p != 0 && train && self.element_count() > 0) {
    copy_into(context, dropped<kFeature, kAlpha>(context, self, p, train), self);
  }
  return self;
}

std::tuple<Tensor, Tensor> native_dropout(Context& context, const Tensor& input, double p,
                                          std::optional<bool> train) {
  // PyTorch's mask of nothing has the input's type.
  if (input.element_count() == 0) return {input, call(context, "aten::empty_like", input)};
  Info<Size> info = info_of(input);
  info.dtype = DType::kBool;
  info.offset = 0;
  info.strides = like_strides(info, MemoryFormat::kPreserve);
  const Tensor mask = context.allocate(info);
  if (!train.value_or(true)) {
    fill(context, mask, true);
    return {call(context, "aten::clone", input), mask};
  }
  const double keep = 1. - p;
  draw_bernoulli(context, {}, mask, keep);
  const Tensor kept = call(context, "aten::mul.Tensor", input, mask);
  // The factor is rounded to the input's type first.
  const Tensor factor = scalar_tensor(keep == 0 ? 0. : 1. / keep, input.dtype());
  return {call(context, "aten::mul.Tensor", kept, factor), mask};
}

// ---- as other operators
Tensor dropout_parts(Context& c, const Tensor& input, double p, bool train) {
  return train ? parts::first_of(c, "aten::native_dropout", input, p, true) : call(c, "aten::clone", input);
}
Tensor feature_dropout_parts(Context& c, const Tensor& input, double p, bool train) {
  if (!train || p == 0) return input;
  SymIntList shape = sizes_of(input);
  for (size_t d = 2; d < shape.size(); ++d) shape[d] = 1;
  const Tensor kept = call(c, "aten::bernoulli.p", parts::empty(c, shape, input), 1 - p);
  return parts::mul(c, input, call(c, "aten::div.Scalar", kept, 1 - p));
}
std::optional<Tensor> alpha_dropout_parts(Context&, const Tensor& input, double p, bool train) {
  return !train || p == 0 ? std::optional(input) : std::nullopt;
}

}  // namespace

void define_dropout(Library& library) {
  library.define("aten::dropout(Tensor input, float p, bool train) -> Tensor")
      .shape<dropped_shape<Size>, dropped_shape<SymInt>>()
      .function<dropped<false, false>>()
      .random()
      .composite<dropout_parts>();
  library.define("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor")
      .shape<dropped_shape<Size>, dropped_shape<SymInt>>()
      .function<dropped<true, false>>()
      .random()
      .composite<feature_dropout_parts>();
  library.define("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor")
      .shape<dropped_shape<Size>, dropped_shape<SymInt>>()
      .function<dropped<false, true>>()
      .random()
      .composite<alpha_dropout_parts>();
  library.define("aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor")
      .shape<dropped_shape<Size>, dropped_shape<SymInt>>()
      .function<dropped<true, true>>()
      .random()
      .composite<alpha_dropout_parts>();
  library.define("aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
      .function<drop_in_place<false, false>>()
      .random();
  library.define("aten::feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
      .function<drop_in_place<true, false>>()
      .random();
  library.define("aten::alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
      .function<drop_in_place<false, true>>()
      .random();
  library.define("aten::feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
      .function<drop_in_place<true, true>>()
      .random();
  library.define("aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)")
      .shape<native_dropout_shape<Size>, native_dropout_shape<SymInt>>()
      .function<native_dropout>()
      .random();
}

}  // namespace flambeau::ops
