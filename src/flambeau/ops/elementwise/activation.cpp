// Activation functions of one tensor, and numbers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

namespace vector_math = kernels::vector_math;

#define FLAMBEAU_ACTIVATION(Name, name)                                                    \
  struct Name {                                                                            \
    static constexpr std::string_view kName = #name;                                       \
    static constexpr int kCost = 4;                                                        \
    static constexpr std::string_view kCode = "return " #name "_of(a);";                   \
    static void rows(const float* x, float* y, size_t n) { vector_math::name(x, y, n); }   \
    static void rows(const double* x, double* y, size_t n) { vector_math::name(x, y, n); } \
  };
FLAMBEAU_ACTIVATION(Gelu, gelu)
FLAMBEAU_ACTIVATION(GeluTanh, gelu_tanh)
FLAMBEAU_ACTIVATION(Mish, mish)
FLAMBEAU_ACTIVATION(LogSigmoid, log_sigmoid)

struct Silu {
  static constexpr std::string_view kName = "silu";
  static constexpr int kCost = 4;
  static constexpr std::string_view kCode = "return silu_of(a);";
  static void rows(const float* x, float* y, size_t n) { vector_math::silu(x, y, n); }
  static void rows(const double* x, double* y, size_t n) { vector_math::silu(x, y, n); }
  template <typename T>
  std::complex<T> operator()(std::complex<T> z) const {
    return z / (T(1) + std::exp(-z));
  }
};
struct Relu {
  static constexpr std::string_view kName = "relu";
  static constexpr Hot kHot = Hot::kRelu;
};
struct HardSwish {
  static constexpr std::string_view kName = "hardswish";
  static constexpr Hot kHot = Hot::kHardSwish;
};
struct HardSigmoid {
  static constexpr std::string_view kName = "hardsigmoid";
  static constexpr Hot kHot = Hot::kHardSigmoid;
};
// Loops that take numbers.
template <Hot kLoop>
struct Numbered {
  static constexpr Hot kHot = kLoop;
  static constexpr bool kTakesBool = false;
  HotNumbers given;
  HotNumbers numbers() const { return given; }
};

Body relu(const Tensor& self, const Tensor& out) {
  if (self.dtype() == DType::kBool) {
    throw Error(ErrorCode::kUnsupported, "Boolean inputs not supported for relu");
  }
  return unary<Relu>(self, out);
}

// F is for floating types only.
template <typename F>
Body floats_only(const Tensor& self, const Tensor& out) {
  if (is_integral(self.dtype())) fail_dtype(F::kName, self.dtype());
  return unary<F>(self, out);
}

Body gelu(const Tensor& self, std::string_view approximate, const Tensor& out) {
  if (approximate == "none") return floats_only<Gelu>(self, out);
  if (approximate == "tanh") return floats_only<GeluTanh>(self, out);
  throw Error(ErrorCode::kInvalidArgument, "approximate argument must be either none or tanh.");
}

Body leaky_relu(const Tensor& self, Scalar slope, const Tensor& out) {
  if (is_integral(self.dtype())) fail_dtype("leaky_relu", self.dtype());
  return body_of("leaky_relu", Numbered<Hot::kLeakyRelu>{hot_numbers(slope)}, out.dtype(), out, self);
}
Body threshold(const Tensor& self, Scalar at, Scalar value, const Tensor& out) {
  return body_of("threshold", Numbered<Hot::kThreshold>{hot_numbers(at, value)}, out.dtype(), out, self);
}
Body soft_shrink(const Tensor& self, Scalar lambda, const Tensor& out) {
  if (is_integral(self.dtype())) fail_dtype("softshrink", self.dtype());
  if (lambda.to_double() < 0) {
    throw Error(ErrorCode::kInvalidArgument, "lambda must be greater or equal to 0, but found to be " +
                                                 std::to_string(lambda.to_double()));
  }
  return body_of("softshrink", Numbered<Hot::kSoftShrink>{hot_numbers(lambda)}, out.dtype(), out, self);
}
Body hard_shrink(const Tensor& self, Scalar lambda, const Tensor& out) {
  if (is_integral(self.dtype())) fail_dtype("hardshrink", self.dtype());
  return body_of("hardshrink", Numbered<Hot::kHardShrink>{hot_numbers(lambda)}, out.dtype(), out, self);
}
Body hard_tanh(const Tensor& self, Scalar low, Scalar high, const Tensor& out) {
  if (is_complex(self.dtype())) fail_dtype("hardtanh", self.dtype());
  const DType dtype = self.dtype();
  if (is_integral(dtype) && !dtype_info(dtype).is_signed && low.to_double() < 0) {
    throw Error(ErrorCode::kInvalidArgument, "cannot do hardtanh on an unsigned type with negative limits");
  }
  return body_of("hardtanh", Numbered<Hot::kClamp>{hot_numbers(low, high)}, out.dtype(), out, self);
}
Body relu6(const Tensor& self, const Tensor& out) { return hard_tanh(self, 0, 6, out); }

struct Softplus {
  static constexpr std::string_view kName = "softplus";
  static constexpr int kCost = 8;
  static constexpr std::string_view kCode = "return (T)softplus_of(a, parameters[0], parameters[1]);";
  double beta;
  double threshold;
  void rows(const float* x, float* y, size_t n) const { vector_math::softplus(x, y, n, beta, threshold); }
  void rows(const double* x, double* y, size_t n) const { vector_math::softplus(x, y, n, beta, threshold); }
};
Body softplus(const Tensor& self, Scalar beta, Scalar threshold_at, const Tensor& out) {
  if (is_integral(self.dtype())) fail_dtype("softplus", self.dtype());
  return body_of("softplus", Softplus{beta.to_double(), threshold_at.to_double()}, out.dtype(), out, self);
}

// scale x where positive, else negative expm1(input_scale x).
struct Elu {
  static constexpr std::string_view kName = "elu";
  static constexpr int kCost = 8;
  static constexpr std::string_view kCode =
      "const T power = expm1_of(a * z); return a <= (T)0 ? power * x : a * y;";
  double negative;
  double scale;
  double input_scale;
  template <RealNumber T>
  void rows(const T* x, T* y, size_t n) const {
    constexpr size_t kPiece = 512;
    T powers[kPiece];
    const T inner_factor = static_cast<T>(input_scale);
    const HotNumbers numbers{.x = negative, .y = scale};
    const Row join = hot_rows(Hot::kEluJoin, kHotType<T>).plain;
    for (size_t done = 0; done < n; done += kPiece) {
      const size_t count = std::min(kPiece, n - done);
      const T* const from = x + done;
      if (inner_factor != T(1)) {
        for (size_t i = 0; i < count; ++i) powers[i] = from[i] * inner_factor;
      }
      vector_math::expm1(inner_factor != T(1) ? powers : from, powers, count);
      const void* const in[] = {from, powers};
      void* const out[] = {y + done};
      join(in, out, count, &numbers);
    }
  }
};
Body elu(const Tensor& self, Scalar alpha, Scalar scale, Scalar input_scale, const Tensor& out) {
  if (is_integral(self.dtype())) fail_dtype("elu", self.dtype());
  const Elu function{alpha.to_double() * scale.to_double(), scale.to_double(), input_scale.to_double()};
  return body_of(Elu::kName, function, out.dtype(), out, self);
}
Body celu(const Tensor& self, Scalar alpha, const Tensor& out) {
  if (alpha.to_double() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "ZeroDivisionError: alpha cannot be 0 for CELU");
  }
  return elu(self, alpha, 1.0, 1.0 / alpha.to_double(), out);
}
Body selu(const Tensor& self, const Tensor& out) {
  return elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0, out);
}

Tensor rrelu(Context& context, const Tensor& self, Scalar lower, Scalar upper, bool training,
             const Value& generator) {
  if (!(lower.to_double() <= upper.to_double())) {
    throw Error(ErrorCode::kInvalidArgument, "Lower bound should be less than or equal to the upper bound");
  }
  if (training) {
    const Tensor noise = call(context, "aten::empty_like", self);
    return parts::first_of(context, "aten::rrelu_with_noise_functional", self, noise, Value(lower),
                           Value(upper), training, generator);
  }
  return call(context, "aten::leaky_relu", self, (lower.to_double() + upper.to_double()) / 2);
}

template <typename N>
Info<N> rrelu_shape(const Info<N>& self, Scalar, Scalar, bool, const Value&) {
  return elementwise_info<N>(self.dtype, self);
}

// ---- log_sigmoid is laid out row-major, whatever its argument

template <typename N>
Info<N> row_major_shape(const Info<N>& self) {
  return contiguous(self.dtype, self.sizes, self.device);
}
template <typename N>
std::tuple<Info<N>, Info<N>> log_sigmoid_shape(const Info<N>& self) {
  return {row_major_shape(self), row_major_shape(self)};
}
// What the backward pass needs besides: exp(-|x|).
struct ExpMinusAbs {
  static constexpr std::string_view kName = "log_sigmoid";
  static constexpr int kCost = 10;
  template <RealNumber T>
  T operator()(T x) const {
    return std::exp(-std::abs(x));
  }
};
void log_sigmoid_forward(Context& context, const Tensor& self, Tensor& out, Tensor& buffer) {
  run_body(context, floats_only<LogSigmoid>(self, out), out);
  run_body(context, unary<ExpMinusAbs>(self, buffer), buffer);
}

// ---- as other operators

Tensor silu_parts(Context& c, const Tensor& self) {
  return parts::mul(c, self, call(c, "aten::sigmoid", self));
}

Tensor softplus_parts(Context& c, const Tensor& self, Scalar beta, Scalar threshold) {
  const bool is_plain = beta.to_double() == 1;
  const Tensor scaled = is_plain ? self : parts::mul(c, self, beta);
  Tensor soft = call(c, "aten::log1p", call(c, "aten::exp", scaled));
  if (!is_plain) soft = parts::div(c, soft, beta);
  return parts::where(c, call(c, "aten::gt.Scalar", scaled, threshold), self, soft);
}
Tensor mish_parts(Context& c, const Tensor& self) {
  return parts::mul(c, self, call(c, "aten::tanh", softplus_parts(c, self, int64_t{1}, int64_t{20})));
}

Tensor clamped_to_six(Context& c, const Tensor& x) {
  const Tensor moved = parts::add(c, x, 3);
  return call(c, "aten::clamp", call(c, "aten::clamp", moved, 0), Value(), 6);
}
Tensor hardsigmoid_parts(Context& c, const Tensor& self) { return parts::div(c, clamped_to_six(c, self), 6); }
Tensor hardswish_parts(Context& c, const Tensor& self) {
  return parts::div(c, parts::mul(c, self, clamped_to_six(c, self)), 6);
}
Tensor relu6_parts(Context& c, const Tensor& self) { return call(c, "aten::hardtanh", self, 0, 6); }

Tensor celu_parts(Context& c, const Tensor& self, Scalar alpha) {
  Tensor below;
  if (alpha.to_double() == 1) {
    below = call(c, "aten::expm1", self);
  } else {
    below = parts::mul(c, call(c, "aten::expm1", parts::div(c, self, alpha)), alpha);
  }
  return parts::where(c, call(c, "aten::gt.Scalar", self, 0), self, below);
}
Tensor selu_parts(Context& c, const Tensor& self) {
  return call(c, "aten::elu", self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946);
}

Tensor softshrink_parts(Context& c, const Tensor& self, Scalar lambd) {
  const Tensor is_large = call(c, "aten::gt.Scalar", call(c, "aten::abs", self), lambd);
  const Tensor moved = parts::sub(c, self, parts::mul(c, call(c, "aten::sign", self), lambd));
  return parts::where(c, is_large, moved, parts::mul(c, self, 0));
}
Tensor hardshrink_parts(Context& c, const Tensor& self, Scalar lambd) {
  const Tensor is_small = call(c, "aten::le.Scalar", call(c, "aten::abs", self), lambd);
  return parts::where(c, is_small, parts::scalar(c, 0, self), self);
}
Tensor threshold_parts(Context& c, const Tensor& self, Scalar threshold, Scalar value) {
  const Tensor is_small = call(c, "aten::le.Scalar", self, threshold);
  return parts::where(c, is_small, parts::scalar(c, value, self), self);
}

Tensor log_sigmoid_parts(Context& c, const Tensor& self) {
  return parts::first_of(c, "aten::log_sigmoid_forward", self);
}
std::tuple<Tensor, Tensor> log_sigmoid_forward_parts(Context& c, const Tensor& self) {
  const Tensor least = call(c, "aten::minimum", parts::full(c, {}, 0, self), self);
  const Tensor exp = call(c, "aten::exp", call(c, "aten::neg", call(c, "aten::abs", self)));
  const Tensor output = parts::sub(c, least, call(c, "aten::log1p", exp));
  return {output, parts::full(c, {SymInt(0)}, 0, self)};
}

// ---- as what follows a layer
Epilogue relu6_epilogue(const Tensor& self) {
  return {{.kind = Epilogue::Kind::kClip, .alpha = 0, .beta = 6}, &self};
}
Epilogue gelu_epilogue(const Tensor& self, std::string_view approximate) {
  return {{.kind = approximate == "tanh" ? Epilogue::Kind::kGeluTanh : Epilogue::Kind::kGeluErf}, &self};
}
Epilogue leaky_relu_epilogue(const Tensor& self, Scalar slope) {
  return {{.kind = Epilogue::Kind::kRelu, .alpha = static_cast<float>(slope.to_double())}, &self};
}
Epilogue hard_tanh_epilogue(const Tensor& self, Scalar low, Scalar high) {
  return {{.kind = Epilogue::Kind::kClip,
           .alpha = static_cast<float>(low.to_double()),
           .beta = static_cast<float>(high.to_double())},
          &self};
}

}  // namespace

void define_activation(Library& library) {
  using E = Epilogue::Kind;
  elementwise<SameType, relu>(library, "aten::relu(Tensor self) -> Tensor")
      .describe<plain_epilogue<E::kRelu>>();
  elementwise<SameType, relu6>(library, "aten::relu6(Tensor self) -> Tensor")
      .composite<relu6_parts>()
      .describe<relu6_epilogue>();
  elementwise<SameType, gelu>(library, "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor")
      .describe<gelu_epilogue>();
  elementwise<SameType, floats_only<Silu>>(library, "aten::silu(Tensor self) -> Tensor")
      .core_decomposition<silu_parts>()
      .describe<plain_epilogue<E::kSilu>>();
  elementwise<SameType, floats_only<Mish>>(library, "aten::mish(Tensor self) -> Tensor")
      .core_decomposition<mish_parts>();
  elementwise<SameType, floats_only<HardSwish>>(library, "aten::hardswish(Tensor self) -> Tensor")
      .core_decomposition<hardswish_parts>()
      .describe<plain_epilogue<E::kHardSwish>>();
  elementwise<SameType, floats_only<HardSigmoid>>(library, "aten::hardsigmoid(Tensor self) -> Tensor")
      .core_decomposition<hardsigmoid_parts>();
  elementwise<SameType, leaky_relu>(library,
                                    "aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor")
      .describe<leaky_relu_epilogue>();
  elementwise<SameType, threshold>(library,
                                   "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor")
      .core_decomposition<threshold_parts>();
  elementwise<SameType, soft_shrink>(library, "aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
      .core_decomposition<softshrink_parts>();
  elementwise<SameType, hard_shrink>(library, "aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
      .core_decomposition<hardshrink_parts>();
  elementwise<SameType, hard_tanh>(
      library, "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor")
      .describe<hard_tanh_epilogue>();
  elementwise<SameType, softplus>(library,
                                  "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor")
      .core_decomposition<softplus_parts>();
  elementwise<SameType, elu>(
      library, "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor");
  elementwise<SameType, celu>(library, "aten::celu(Tensor self, Scalar alpha=1.) -> Tensor")
      .core_decomposition<celu_parts>();
  elementwise<SameType, selu>(library, "aten::selu(Tensor self) -> Tensor").composite<selu_parts>();
  library
      .define(
          "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
          "training=False, Generator? generator=None) -> Tensor")
      .shape<rrelu_shape<Size>, rrelu_shape<SymInt>>()
      .decomposition<rrelu>();
  library.define("aten::log_sigmoid(Tensor self) -> Tensor")
      .shape<row_major_shape<Size>, row_major_shape<SymInt>>()
      .body<floats_only<LogSigmoid>>()
      .elementwise()
      .composite<log_sigmoid_parts>();
  library.define("aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)")
      .shape<log_sigmoid_shape<Size>, log_sigmoid_shape<SymInt>>()
      .kernel<log_sigmoid_forward>()
      .core_decomposition<log_sigmoid_forward_parts>();
}

}  // namespace flambeau::ops
