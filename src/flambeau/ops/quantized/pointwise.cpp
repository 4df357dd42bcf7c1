// Operators of quantized tensors, number by number: sums, products, activations, each with the scale of its
// result as an argument or with that of a tensor to write to.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/quantized/numbers.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

constexpr size_t kBlock = 1024;

// a + b or a * b of blocks of numbers.
enum class Combination : uint8_t { kAdd, kMul };

void check_pair(const Tensor& a, const Tensor& b) {
  per_tensor(a);
  per_tensor(b);
  if (a.dtype() != b.dtype())
    fail_view(fmt::format("{} and {} are of different types", a.summary(), b.summary()));
}

Tensor combine(Context& context, const Tensor& a, const Tensor& b, const Quantizer& result, Combination how,
               bool has_relu) {
  check_pair(a, b);
  if (lacks_elements(a) || lacks_elements(b)) {
    const Tensor x = dequantized(context, a), y = dequantized(context, b);
    const Tensor real = how == Combination::kAdd ? parts::add(context, x, y) : parts::mul(context, x, y);
    return quantize(context, has_relu ? call(context, "aten::relu", real) : real, a.dtype(), result);
  }
  const ShortList<Size> sizes = broadcast(ShortList<Size>(a.sizes()), ShortList<Size>(b.sizes()));
  const auto whole = [&](const Tensor& tensor) {
    const Tensor wide = Tensor::quantized(expanded(tensor, sizes.span()), quantizer_of(tensor));
    return packed_as(context, wide, a);
  };
  const Tensor left = whole(a), right = whole(b);
  const Tensor out = fresh_quantized(context, info_of(left), a.dtype(), result);
  const Affine from_left(quantizer_of(a)), from_right(quantizer_of(b)), to(result);
  const size_t size = a.element_size();
  context.pool().for_each_range(
      static_cast<size_t>(out.element_count()), static_cast<size_t>(kGrain), [&](size_t begin, size_t end) {
        float x[kBlock], y[kBlock];
        for (size_t i = begin; i < end; i += kBlock) {
          const size_t count = std::min(kBlock, end - i);
          dequantize_numbers(left.data() + i * size, a.dtype(), count, from_left, x);
          dequantize_numbers(right.data() + i * size, a.dtype(), count, from_right, y);
          if (how == Combination::kAdd) {
            for (size_t k = 0; k < count; ++k) x[k] += y[k];
          } else {
            for (size_t k = 0; k < count; ++k) x[k] *= y[k];
          }
          if (has_relu) {
            for (size_t k = 0; k < count; ++k) x[k] = x[k] > 0 ? x[k] : 0;
          }
          quantize_numbers(x, count, to, a.dtype(), out.mutable_data() + i * size);
        }
      });
  return out;
}

template <Combination kHow, bool kRelu>
Tensor combined(Context& context, const Tensor& a, const Tensor& b, double scale, Size zero_point) {
  return combine(context, a, b, checked_quantizer(scale, zero_point.value(), a.dtype()), kHow, kRelu);
}
template <Combination kHow, bool kRelu>
Tensor combined_into(Context& context, const Tensor& a, const Tensor& b, const Tensor& out) {
  copy_quantized_or_plain(context, combine(context, a, b, per_tensor(out), kHow, kRelu), out);
  return out;
}

// A number is not quantized: the scale or the zero point changes by it instead of the integers, as far as the
// type has room for that.
// `out`: the result's place, if there is one.
Tensor with_number(Context& context, const Tensor& a, double number, Combination how, bool has_relu,
                   const Tensor* out = nullptr) {
  const Quantizer& quantizer = per_tensor(a);
  const IntegerRange range = integer_range(a.dtype());
  Quantizer result = quantizer;
  if (how == Combination::kMul) {
    if (number > 0) {
      result.scale = quantizer.scale * number;
    } else if (number < 0) {
      result.scale = quantizer.scale * -number;
      result.zero_point = range.most - (quantizer.zero_point - range.least);
    } else {
      result.scale = 1;
      result.zero_point = 0;
    }
  } else {
    const double scale = quantizer.scale;
    const auto shift = static_cast<int64_t>(std::nearbyint(number / scale));
    const int64_t point = quantizer.zero_point - shift;
    const double steps = static_cast<double>(range.most) - static_cast<double>(range.least);
    if (point < range.least) {
      result.scale = (static_cast<double>(range.most) - static_cast<double>(point)) / steps * scale;
      result.zero_point = range.least;
    } else if (point > range.most) {
      result.scale = (static_cast<double>(point) - static_cast<double>(range.least)) / steps * scale;
      result.zero_point = range.most;
    } else {
      result.zero_point = point;
    }
    // Whole steps of the old scale are added where there is a new one.
    if (point < range.least || point > range.most) {
      number = static_cast<double>(shift) * scale;
      // PyTorch sets the new scale before it reads: where the result is the argument, its integers then mean
      // something else.
      if (out != nullptr && out->storage() == a.storage() && out->offset() == a.offset()) {
        const Tensor renamed = quantized_over(integers_of(a), a.dtype(), result);
        return apply_to_reals(context, renamed, result, [&](const Tensor& real) {
          const Tensor sum = parts::add(context, real, static_cast<double>(shift) * result.scale);
          return has_relu ? call(context, "aten::relu", sum) : sum;
        });
      }
    }
  }
  return apply_to_reals(context, a, result, [&](const Tensor& real) {
    const Tensor sum =
        how == Combination::kMul ? parts::mul(context, real, number) : parts::add(context, real, number);
    return has_relu ? call(context, "aten::relu", sum) : sum;
  });
}

template <Combination kHow, bool kRelu>
Tensor with_scalar(Context& context, const Tensor& a, Scalar b) {
  return with_number(context, a, b.to_double(), kHow, kRelu);
}
template <Combination kHow, bool kRelu>
Tensor scalar_with(Context& context, Scalar b, const Tensor& a) {
  return with_number(context, a, b.to_double(), kHow, kRelu);
}
template <Combination kHow, bool kRelu>
Tensor with_element(Context& context, const Tensor& a, const Tensor& b) {
  return with_number(context, a, item(b).to_double(), kHow, kRelu);
}
// The result takes the place of what was given for it, with the scale that it has.
template <Combination kHow, bool kRelu>
Tensor scalar_into(Context& context, const Tensor& a, Scalar b, const Tensor& out) {
  return with_number(context, a, b.to_double(), kHow, kRelu, &out);
}
template <Combination kHow, bool kRelu>
Tensor element_into(Context& context, const Tensor& a, const Tensor& b, const Tensor& out) {
  return with_number(context, a, item(b).to_double(), kHow, kRelu, &out);
}

// ---- functions of one

template <typename... Arguments>
Tensor activated(Context& context, const Tensor& self, double scale, Size zero_point, std::string_view name,
                 const Arguments&... arguments) {
  return apply_to_reals(context, self, checked_quantizer(scale, zero_point.value(), self.dtype()),
                        [&](const Tensor& real) { return call(context, name, real, arguments...); });
}
Tensor hardswish(Context& context, const Tensor& self, double scale, Size zero_point) {
  return activated(context, self, scale, zero_point, "aten::hardswish");
}
Tensor sigmoid(Context& context, const Tensor& self, double scale, Size zero_point) {
  return activated(context, self, scale, zero_point, "aten::sigmoid");
}
Tensor elu(Context& context, const Tensor& self, double scale, Size zero_point, Scalar alpha,
           Scalar out_scale, Scalar input_scale) {
  return activated(context, self, scale, zero_point, "aten::elu", alpha, out_scale, input_scale);
}
Tensor celu(Context& context, const Tensor& self, double scale, Size zero_point, Scalar alpha) {
  return activated(context, self, scale, zero_point, "aten::celu", alpha);
}
Tensor leaky_relu(Context& context, const Tensor& self, Scalar slope, bool, double scale, Size zero_point) {
  return activated(context, self, scale, zero_point, "aten::leaky_relu", slope);
}
Tensor prelu(Context& context, const Tensor& self, const Tensor& weight, double scale, Size zero_point) {
  const Tensor slopes = is_quantized(weight) ? dequantized(context, weight) : weight;
  const Tensor real = call(context, "aten::prelu", dequantized(context, self), slopes);
  return quantize(context, real, self.dtype(), checked_quantizer(scale, zero_point.value(), self.dtype()));
}
Tensor softmax(Context& context, const Tensor& self, Size dim, double scale, Size zero_point) {
  const Tensor real = call(context, "aten::softmax.int", dequantized(context, self), dim);
  return quantize(context, real, self.dtype(), checked_quantizer(scale, zero_point.value(), self.dtype()));
}
Tensor relu6(Context& context, const Tensor& self, bool is_in_place) {
  Tensor result = call(context, "aten::relu6", self);
  if (!is_in_place) return result;
  copy_quantized_or_plain(context, result, self);
  return self;
}
Tensor clamp(Context& context, const Tensor& self, std::optional<Scalar> least, std::optional<Scalar> most) {
  return call(context, "aten::clamp", self, least, most);
}
Tensor threshold(Context& context, const Tensor& self, Scalar threshold, Scalar value) {
  return call(context, "aten::threshold", self, threshold, value);
}
Tensor dropout(const Tensor& self, double, Size, Scalar, bool training) {
  if (training) fail_view("quantized tensors have no dropout while training");
  return self;
}

// ---- of several

Tensor joined(Context& context, std::span<const Tensor> tensors, Size dim, const Quantizer& result,
              bool has_relu) {
  if (tensors.empty()) fail_view("quantized tensors are expected, none is given");
  TensorList integers;
  const DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) {
    check_pair(tensors[0], tensor);
    const bool stays = is_same_quantizer(quantizer_of(tensor), result) && !has_relu;
    integers.push_back(
        integers_of(stays ? tensor : apply_to_reals(context, tensor, result, [&](const Tensor& real) {
          return has_relu ? call(context, "aten::relu", real) : real;
        })));
  }
  return quantized_over(call(context, "aten::cat", integers, dim), dtype, result);
}
template <bool kRelu>
Tensor cat(Context& context, std::span<const Tensor> tensors, Size dim, std::optional<double> scale,
           std::optional<Size> zero_point) {
  if (tensors.empty()) fail_view("quantized tensors are expected, none is given");
  const Quantizer& first = per_tensor(tensors[0]);
  return joined(context, tensors, dim,
                checked_quantizer(scale.value_or(first.scale),
                                  zero_point ? zero_point->value() : first.zero_point, tensors[0].dtype()),
                kRelu);
}
template <bool kRelu>
Tensor cat_into(Context& context, std::span<const Tensor> tensors, Size dim, const Tensor& out) {
  copy_quantized_or_plain(context, joined(context, tensors, dim, per_tensor(out), kRelu), out);
  return out;
}

Tensor matmul(Context& context, const Tensor& a, const Tensor& b, double scale, Size zero_point) {
  check_pair(a, b);
  const Tensor real = call(context, "aten::matmul", dequantized(context, a), dequantized(context, b));
  return quantize(context, real, a.dtype(), checked_quantizer(scale, zero_point.value(), a.dtype()));
}

template <Combination kHow, bool kRelu>
void define_combination(Library& library, std::span<const char* const> schemas) {
  library.define(schemas[0]).template quantized<combined<kHow, kRelu>>();
  library.define(schemas[1]).template quantized<with_scalar<kHow, kRelu>>();
  library.define(schemas[2]).template quantized<scalar_with<kHow, kRelu>>();
  library.define(schemas[3]).template quantized<scalar_into<kHow, kRelu>>();
  library.define(schemas[4]).template quantized<combined_into<kHow, kRelu>>();
  library.define(schemas[5]).template quantized<combined_into<kHow, kRelu>>();
  library.define(schemas[6]).template quantized<with_scalar<kHow, kRelu>>();
  // PyTorch's add_scalar_relu.Tensor has no relu.
  library.define(schemas[7]).template quantized<with_element<kHow, kRelu && kHow == Combination::kMul>>();
  library.define(schemas[8]).template quantized<scalar_into<kHow, kRelu>>();
  library.define(schemas[9]).template quantized<element_into<kHow, kRelu && kHow == Combination::kMul>>();
}

}  // namespace

void define_pointwise(Library& library) {
#define FLAMBEAU_SCHEMAS(name, scalar_name)                                                     \
  constexpr const char* k_##name[] = {                                                          \
      "quantized::" #name "(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",   \
      "quantized::" #name ".Scalar(Tensor qa, Scalar b) -> Tensor qc",                          \
      "quantized::" #name ".Scalar2(Scalar b, Tensor qa) -> Tensor qc",                         \
      "quantized::" #name ".Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", \
      "quantized::" #name ".out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",       \
      "quantized::" #name "_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",       \
      "quantized::" #scalar_name "(Tensor qa, Scalar b) -> Tensor qc",                          \
      "quantized::" #scalar_name ".Tensor(Tensor qa, Tensor b) -> Tensor qc",                   \
      "quantized::" #scalar_name "_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out", \
      "quantized::" #scalar_name "_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out"}
  static FLAMBEAU_SCHEMAS(add, add_scalar);
  static FLAMBEAU_SCHEMAS(add_relu, add_scalar_relu);
  static FLAMBEAU_SCHEMAS(mul, mul_scalar);
  static FLAMBEAU_SCHEMAS(mul_relu, mul_scalar_relu);
#undef FLAMBEAU_SCHEMAS
  define_combination<Combination::kAdd, false>(library, k_add);
  define_combination<Combination::kAdd, true>(library, k_add_relu);
  define_combination<Combination::kMul, false>(library, k_mul);
  define_combination<Combination::kMul, true>(library, k_mul_relu);
  library.define("_quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc")
      .quantized<combined<Combination::kAdd, false>>();
  library.define("quantized::hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor")
      .quantized<hardswish>();
  library.define("quantized::sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor")
      .quantized<sigmoid>();
  library
      .define(
          "quantized::elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar "
          "scale=1, Scalar input_scale=1) -> Tensor")
      .quantized<elu>();
  library
      .define(
          "quantized::celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor")
      .quantized<celu>();
  library
      .define(
          "quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float output_scale, int "
          "output_zero_point) -> Tensor")
      .quantized<leaky_relu>();
  library
      .define(
          "quantized::prelu(Tensor qx, Tensor weight, float output_scale, int output_zero_point) -> Tensor")
      .quantized<prelu>();
  library
      .define("quantized::softmax(Tensor qx, int dim, float output_scale, int output_zero_point) -> Tensor")
      .quantized<softmax>();
  library.define("quantized::relu6(Tensor qx, bool inplace=False) -> Tensor").quantized<relu6>();
  library.define("quantized::clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy")
      .quantized<clamp>();
  library.define("quantized::threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy")
      .quantized<threshold>();
  library
      .define(
          "quantized::dropout(Tensor self, float output_scale, int output_zero_point, Scalar p=0.5, bool "
          "training=False) -> Tensor")
      .quantized<dropout>();
  library.define("quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor")
      .quantized<cat<false>>();
  library.define("quantized::cat_relu(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor")
      .quantized<cat<true>>();
  library.define("quantized::cat_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)")
      .quantized<cat_into<false>>();
  library.define("quantized::cat_relu_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)")
      .quantized<cat_into<true>>();
  library.define("quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc")
      .quantized<matmul>();
}

}  // namespace flambeau::ops
