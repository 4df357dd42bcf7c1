// Steps that compute: functions of elements, comparisons, reductions.
#include <fmt/format.h>

#include "steps.h"

namespace flambeau::random_modules {
namespace {

struct Unary {
  const char* text;
  Tensor (*run)(const Tensor&);
  Margin margin = {};
};

// How far from an integer, where rounding jumps.
Tensor off_integers(const TensorList& in) { return nn::sub(in[0], nn::round(in[0])); }
Tensor off_zero(const TensorList& in) { return in[0]; }
Tensor off_half(const TensorList& in) { return nn::sub(nn::abs(in[0]), 0.5); }
Tensor off_middle(const TensorList& in) { return nn::sub(nn::abs(nn::sub(in[0], nn::floor(in[0]))), 0.5); }
Tensor apart(const TensorList& in) { return nn::sub(in[0], in[1]); }
// Neighbours in order along a dimension.
Margin distinct(int64_t dim) {
  return [dim](const TensorList& in) {
    const Tensor sorted = nn::sort(in[0], dim).first;
    const SymInt count = nn::size(sorted, dim);
    if (count == 1) return nn::ones({1});
    return nn::sub(nn::narrow(sorted, dim, 1, count - 1), nn::narrow(sorted, dim, 0, count - 1));
  };
}

const Unary kUnary[] = {
    {"relu($0)", [](const Tensor& x) { return nn::relu(x); }},
    {"sigmoid($0)", [](const Tensor& x) { return nn::sigmoid(x); }},
    {"tanh($0)", [](const Tensor& x) { return nn::tanh(x); }},
    {"gelu($0)", [](const Tensor& x) { return nn::gelu(x); }},
    {"gelu($0, tanh)", [](const Tensor& x) { return nn::gelu(x, "tanh"); }},
    {"silu($0)", [](const Tensor& x) { return nn::silu(x); }},
    {"mish($0)", [](const Tensor& x) { return nn::mish(x); }},
    {"selu($0)", [](const Tensor& x) { return nn::selu(x); }},
    {"hardswish($0)", [](const Tensor& x) { return nn::hardswish(x); }},
    {"hardsigmoid($0)", [](const Tensor& x) { return nn::hardsigmoid(x); }},
    {"relu6($0)", [](const Tensor& x) { return nn::relu6(x); }},
    {"elu($0, 0.7)", [](const Tensor& x) { return nn::elu(x, 0.7); }},
    {"celu($0, 1.3)", [](const Tensor& x) { return nn::celu(x, 1.3); }},
    {"leaky_relu($0, 0.2)", [](const Tensor& x) { return nn::leaky_relu(x, 0.2); }},
    {"hardtanh($0, -0.5, 2)", [](const Tensor& x) { return nn::hardtanh(x, -0.5, 2.0); }},
    {"threshold($0, 0.5, 0.5)", [](const Tensor& x) { return nn::threshold(x, 0.5, 0.5); }},
    {"rrelu($0)", [](const Tensor& x) { return nn::rrelu(x); }},
    {"softplus($0)", [](const Tensor& x) { return nn::softplus(x); }},
    {"hardshrink($0)", [](const Tensor& x) { return nn::hardshrink(x); }, off_half},
    {"softshrink($0)", [](const Tensor& x) { return nn::softshrink(x); }},
    {"logsigmoid($0)", [](const Tensor& x) { return nn::logsigmoid(x); }},
    {"softsign($0)", [](const Tensor& x) { return nn::softsign(x); }},
    {"tanhshrink($0)", [](const Tensor& x) { return nn::tanhshrink(x); }},
    {"sin($0)", [](const Tensor& x) { return nn::sin(x); }},
    {"cos($0)", [](const Tensor& x) { return nn::cos(x); }},
    {"atan($0)", [](const Tensor& x) { return nn::atan(x); }},
    {"asinh($0)", [](const Tensor& x) { return nn::asinh(x); }},
    {"erf($0)", [](const Tensor& x) { return nn::erf(x); }},
    {"erfc($0)", [](const Tensor& x) { return nn::erfc(x); }},
    {"abs($0)", [](const Tensor& x) { return nn::abs(x); }},
    {"-$0", [](const Tensor& x) { return -x; }},
    {"square($0)", [](const Tensor& x) { return nn::square(x); }},
    {"pow($0, 3)", [](const Tensor& x) { return nn::pow(x, 3); }},
    {"exp(clamp($0, -2, 2))", [](const Tensor& x) { return nn::exp(nn::clamp(x, -2, 2)); }},
    {"expm1(clamp($0, -1, 1))", [](const Tensor& x) { return nn::expm1(nn::clamp(x, -1, 1)); }},
    {"exp2(clamp_max($0, 2))", [](const Tensor& x) { return nn::exp2(nn::clamp_max(x, 2)); }},
    {"sinh(hardtanh($0))", [](const Tensor& x) { return nn::sinh(nn::hardtanh(x)); }},
    {"cosh(tanh($0))", [](const Tensor& x) { return nn::cosh(nn::tanh(x)); }},
    {"tan(sin($0))", [](const Tensor& x) { return nn::tan(nn::sin(x)); }},
    {"asin(0.9 * tanh($0))", [](const Tensor& x) { return nn::asin(nn::mul(nn::tanh(x), 0.9)); }},
    {"acos(0.8 * sin($0))", [](const Tensor& x) { return nn::acos(nn::mul(nn::sin(x), 0.8)); }},
    {"atanh(0.7 * tanh($0))", [](const Tensor& x) { return nn::atanh(nn::mul(nn::tanh(x), 0.7)); }},
    {"acosh(abs($0) + 1.5)", [](const Tensor& x) { return nn::acosh(nn::add(nn::abs(x), 1.5)); }},
    {"erfinv(0.8 * tanh($0))", [](const Tensor& x) { return nn::erfinv(nn::mul(nn::tanh(x), 0.8)); }},
    {"log(abs($0) + 1)", [](const Tensor& x) { return nn::log(nn::add(nn::abs(x), 1)); }},
    {"log2(square($0) + 0.5)", [](const Tensor& x) { return nn::log2(nn::add(nn::square(x), 0.5)); }},
    {"log10(clamp_min($0, 0.3))", [](const Tensor& x) { return nn::log10(nn::clamp_min(x, 0.3)); }},
    {"log1p(relu($0))", [](const Tensor& x) { return nn::log1p(nn::relu(x)); }},
    {"sqrt(abs($0) + 0.2)", [](const Tensor& x) { return nn::sqrt(nn::add(nn::abs(x), 0.2)); }},
    {"rsqrt(square($0) + 0.5)", [](const Tensor& x) { return nn::rsqrt(nn::add(nn::square(x), 0.5)); }},
    {"1 / (abs($0) + 0.5)", [](const Tensor& x) { return 1 / (nn::abs(x) + 0.5); }},
    {"reciprocal(sigmoid($0) + 1)",
     [](const Tensor& x) { return nn::reciprocal(nn::add(nn::sigmoid(x), 1)); }},
    {"floor($0)", [](const Tensor& x) { return nn::floor(x); }, off_integers},
    {"ceil($0)", [](const Tensor& x) { return nn::ceil(x); }, off_integers},
    {"trunc($0)", [](const Tensor& x) { return nn::trunc(x); }, off_integers},
    {"frac($0)", [](const Tensor& x) { return nn::frac(x); }, off_integers},
    {"round($0)", [](const Tensor& x) { return nn::round(x); }, off_middle},
    {"sign($0)", [](const Tensor& x) { return nn::sign(x); }, off_zero},
    {"remainder($0, 1)", [](const Tensor& x) { return nn::remainder(x, 1); }, off_integers},
    {"fmod($0, 1)", [](const Tensor& x) { return nn::fmod(x, 1); }, off_integers},
    {"div($0, 1, floor)", [](const Tensor& x) { return nn::div(x, 1, "floor"); }, off_integers},
    {"floor_divide($0, 1)", [](const Tensor& x) { return nn::floor_divide(x, 1); }, off_integers},
    {"isnan($0)", [](const Tensor& x) { return nn::isnan(x); }},
    {"isfinite($0)", [](const Tensor& x) { return nn::isfinite(x); }},
    {"isinf($0)", [](const Tensor& x) { return nn::isinf(x); }},
    {"logical_not($0)", [](const Tensor& x) { return nn::logical_not(x); }, off_zero},
    {"$0 + 1.5", [](const Tensor& x) { return x + 1.5; }},
    {"2 - $0", [](const Tensor& x) { return 2 - x; }},
    {"$0 * 0.5", [](const Tensor& x) { return x * 0.5; }},
    {"$0 / 3", [](const Tensor& x) { return x / 3; }},
    {"sub($0, 1, alpha=2)", [](const Tensor& x) { return nn::sub(x, 1, 2); }},
    {"clamp($0, -1.5, 1)", [](const Tensor& x) { return nn::clamp(x, -1.5, 1); }},
    {"pow(2, tanh($0))", [](const Tensor& x) { return nn::pow(2, nn::tanh(x)); }},
    {"where($0 > 0.1, $0, 0.5)", [](const Tensor& x) { return nn::where(nn::gt(x, 0.1), x, 0.5); },
     [](const TensorList& in) { return nn::sub(in[0], 0.1); }},
    {"masked_fill($0, $0 <= -0.2, 1)",
     [](const Tensor& x) { return nn::masked_fill(x, nn::le(x, -0.2), 1.0); },
     [](const TensorList& in) { return nn::add(in[0], 0.2); }},
    {"$0 >= 0.3", [](const Tensor& x) { return nn::ge(x, 0.3); },
     [](const TensorList& in) { return nn::sub(in[0], 0.3); }},
    {"$0 < 0", [](const Tensor& x) { return nn::lt(x, 0); }, off_zero},
    {"zeros_like($0) + 0.5", [](const Tensor& x) { return nn::add(nn::zeros_like(x), 0.5); }},
    {"full_like($0, 0.25)", [](const Tensor& x) { return nn::full_like(x, 0.25); }},
    {"ones_like($0) - $0", [](const Tensor& x) { return nn::sub(nn::ones_like(x), x); }},
    {"dropout($0, eval)", [](const Tensor& x) { return nn::dropout(x, 0.3, false); }},
};
const Unary kInteger[] = {
    {"$0 + 1", [](const Tensor& x) { return x + 1; }},
    {"$0 * 2", [](const Tensor& x) { return x * 2; }},
    {"floor_divide($0, 2)", [](const Tensor& x) { return nn::floor_divide(x, 2); }},
    {"remainder($0, 3)", [](const Tensor& x) { return nn::remainder(x, 3); }},
    {"fmod($0, 4)", [](const Tensor& x) { return nn::fmod(x, 4); }},
    {"div($0, 2, trunc)", [](const Tensor& x) { return nn::div(x, 2, "trunc"); }},
    {"div($0, 4)", [](const Tensor& x) { return nn::div(x, 4); }},
    {"clamp($0, 1, 3)", [](const Tensor& x) { return nn::clamp(x, 1, 3); }},
    {"bitwise_not($0)", [](const Tensor& x) { return ~x; }},
    {"$0 == 2", [](const Tensor& x) { return nn::eq(x, 2); }},
    {"$0 != 1", [](const Tensor& x) { return nn::ne(x, 1); }},
    {"$0 > 2", [](const Tensor& x) { return nn::gt(x, 2); }},
    {"abs($0)", [](const Tensor& x) { return nn::abs(x); }},
    {"sign($0)", [](const Tensor& x) { return nn::sign(x); }},
    {"to($0, float32) * 0.3", [](const Tensor& x) { return nn::mul(nn::to(x, DType::kFloat32), 0.3); }},
    {"to($0, int32)", [](const Tensor& x) { return nn::to(x, DType::kInt32); }},
    {"sin($0)", [](const Tensor& x) { return nn::sin(x); }},
    {"sum($0)", [](const Tensor& x) { return nn::sum(x); }},
    {"max($0)", [](const Tensor& x) { return nn::max(x); }},
};
const Unary kBool[] = {
    {"~$0", [](const Tensor& x) { return ~x; }},
    {"logical_not($0)", [](const Tensor& x) { return nn::logical_not(x); }},
    {"any($0)", [](const Tensor& x) { return nn::any(x); }},
    {"all($0)", [](const Tensor& x) { return nn::all(x); }},
    {"sum($0)", [](const Tensor& x) { return nn::sum(x); }},
    {"to($0, float32)", [](const Tensor& x) { return nn::to(x, DType::kFloat32); }},
    {"to($0, int64)", [](const Tensor& x) { return nn::to(x, DType::kInt64); }},
    {"$0 * 2", [](const Tensor& x) { return x * 2; }},
    {"$0 + 0.5", [](const Tensor& x) { return x + 0.5; }},
};

Made from_table(Builder& b, std::span<const Unary> table, const std::optional<size_t>& x) {
  if (!x) return {};
  const Unary& unary = table[static_cast<size_t>(b.random.below(static_cast<int64_t>(table.size())))];
  return {{.text = unary.text,
           .inputs = {*x},
           .run = one([run = unary.run](const TensorList& in) { return run(in[0]); }),
           .margin = unary.margin}};
}
Made make_unary(Builder& b) { return from_table(b, kUnary, b.pick_float()); }
Made make_integer(Builder& b) { return from_table(b, kInteger, b.pick_integer()); }
Made make_bool(Builder& b) { return from_table(b, kBool, b.pick_bool()); }

Made make_conversion(Builder& b) {
  constexpr DType kTypes[] = {DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16};
  const auto x = b.pick_float();
  if (!x) return {};
  const DType type = b.random.choose(kTypes);
  return {{.text = fmt::format("to($0, {})", dtype_name(type)),
           .inputs = {*x},
           .run = one([type](const TensorList& in) { return nn::to(in[0], type); })}};
}

struct Binary {
  const char* text;
  Tensor (*run)(const Tensor&, const Tensor&);
  Margin margin = {};
};
const Binary kBinary[] = {
    {"$0 + $1", [](const Tensor& a, const Tensor& b) { return a + b; }},
    {"$0 - $1", [](const Tensor& a, const Tensor& b) { return a - b; }},
    {"$0 * $1", [](const Tensor& a, const Tensor& b) { return a * b; }},
    {"add($0, $1, alpha=0.5)", [](const Tensor& a, const Tensor& b) { return nn::add(a, b, 0.5); }},
    {"sub($0, $1, alpha=2)", [](const Tensor& a, const Tensor& b) { return nn::sub(a, b, 2); }},
    {"$0 / (abs($1) + 0.5)",
     [](const Tensor& a, const Tensor& b) { return nn::div(a, nn::add(nn::abs(b), 0.5)); }},
    {"atan2($0, abs($1) + 0.5)",
     [](const Tensor& a, const Tensor& b) { return nn::atan2(a, nn::add(nn::abs(b), 0.5)); }},
    {"pow(abs($0) + 0.5, tanh($1))",
     [](const Tensor& a, const Tensor& b) {
       const Tensor base = nn::add(nn::abs(a), 0.5);
       return nn::pow(base, nn::tanh(b));
     }},
    {"maximum($0, $1)", [](const Tensor& a, const Tensor& b) { return nn::maximum(a, b); }},
    {"minimum($0, $1)", [](const Tensor& a, const Tensor& b) { return nn::minimum(a, b); }},
    {"lerp($0, $1, 0.3)", [](const Tensor& a, const Tensor& b) { return nn::lerp(a, b, 0.3); }},
    {"addcmul($0, $1, $1, 0.5)", [](const Tensor& a, const Tensor& b) { return nn::addcmul(a, b, b, 0.5); }},
    {"addcdiv($0, $1, exp(tanh($1)))",
     [](const Tensor& a, const Tensor& b) { return nn::addcdiv(a, b, nn::exp(nn::tanh(b))); }},
    {"where($0 < $1, $0, $1 * 2)",
     [](const Tensor& a, const Tensor& b) {
       const Tensor mask = nn::lt(a, b);
       return nn::where(mask, a, nn::mul(b, 2));
     },
     apart},
    {"$0 > $1", [](const Tensor& a, const Tensor& b) { return nn::gt(a, b); }, apart},
    {"$0 <= $1", [](const Tensor& a, const Tensor& b) { return nn::le(a, b); }, apart},
    {"$0 >= $1", [](const Tensor& a, const Tensor& b) { return nn::ge(a, b); }, apart},
    {"$0 == $1", [](const Tensor& a, const Tensor& b) { return nn::eq(a, b); }, apart},
    {"$0 != $1", [](const Tensor& a, const Tensor& b) { return nn::ne(a, b); }, apart},
    {"mse_loss($0, $1)", [](const Tensor& a, const Tensor& b) { return nn::mse_loss(a, b); }},
    {"l1_loss($0, $1, sum)",
     [](const Tensor& a, const Tensor& b) { return nn::l1_loss(a, b, nn::Reduction::kSum); }},
    {"smooth_l1_loss($0, $1, none)",
     [](const Tensor& a, const Tensor& b) { return nn::smooth_l1_loss(a, b, nn::Reduction::kNone); }},
    {"huber_loss($0, $1)", [](const Tensor& a, const Tensor& b) { return nn::huber_loss(a, b); }},
};

// Another value that the first is broadcast with, or a parameter of its last dimensions.
Made make_binary(Builder& b) {
  const auto x = b.pick_float();
  if (!x) return {};
  const Binary& binary = b.random.choose(kBinary);
  const auto run = binary.run;
  const size_t rank = b.rank(*x);
  if (rank > 0 && b.is_static(*x, rank - 1) && b.random.chance(25)) {
    if (binary.margin) return {};
    const size_t slot = b.parameter({b.least(*x, rank - 1)});
    std::string text = binary.text;
    for (size_t at; (at = text.find("$1")) != std::string::npos;)
      text.replace(at, 2, fmt::format("p{}", slot));
    return {{.text = text, .inputs = {*x}, .run = [run, slot](Frame& frame, const TensorList& in) {
               return TensorList{run(in[0], frame.module.parameter(slot))};
             }}};
  }
  const auto y = b.pick([&](size_t at) { return b.is_float(at) && at != *x && b.broadcasts(*x, at); });
  if (!y) return {};
  return {{.text = binary.text,
           .inputs = {*x, *y},
           .run = one([run](const TensorList& in) { return run(in[0], in[1]); }),
           .margin = binary.margin}};
}

Made make_logical(Builder& b) {
  const auto x = b.pick_bool();
  const auto y = b.pick([&](size_t at) { return x && b.dtype(at) == DType::kBool && b.broadcasts(*x, at); });
  if (!x || !y) return {};
  const int64_t which = b.random.below(5);
  constexpr const char* kNames[] = {"logical_and($0, $1)", "logical_or($0, $1)", "logical_xor($0, $1)",
                                    "$0 & $1", "$0 | $1"};
  return {{.text = kNames[which], .inputs = {*x, *y}, .run = one([which](const TensorList& in) {
                                                        return which == 0   ? nn::logical_and(in[0], in[1])
                                                               : which == 1 ? nn::logical_or(in[0], in[1])
                                                               : which == 2 ? nn::logical_xor(in[0], in[1])
                                                               : which == 3 ? in[0] & in[1]
                                                                            : in[0] | in[1];
                                                      })}};
}

Made make_masked(Builder& b) {
  const auto mask = b.pick_bool();
  const auto x = b.pick([&](size_t at) { return mask && b.is_float(at) && b.broadcasts(*mask, at); });
  if (!x) return {};
  if (b.random.chance(50))
    return {{.text = "where($0, $1, -0.5)", .inputs = {*mask, *x}, .run = one([](const TensorList& in) {
                                                                     return nn::where(in[0], in[1], -0.5);
                                                                   })}};
  return {{.text = "masked_fill($1, $0, 0.75)",
           .inputs = {*mask, *x},
           .run = one([](const TensorList& in) { return nn::masked_fill(in[1], in[0], 0.75); })}};
}

Made make_reduction(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return {};
  const auto dim =
      static_cast<int64_t>(b.pick_dim(*x)) - (b.random.chance(40) ? static_cast<int64_t>(b.rank(*x)) : 0);
  const bool keep = b.random.chance(50);
  struct Reduction {
    const char* name;
    Tensor (*run)(const Tensor&, int64_t, bool);
  };
  static const Reduction kReductions[] = {
      {"sum", [](const Tensor& t, int64_t d, bool k) { return nn::sum(t, d, k); }},
      {"mean", [](const Tensor& t, int64_t d, bool k) { return nn::mean(t, d, k); }},
      {"amax", [](const Tensor& t, int64_t d, bool k) { return nn::amax(t, d, k); }},
      {"amin", [](const Tensor& t, int64_t d, bool k) { return nn::amin(t, d, k); }},
      {"logsumexp", [](const Tensor& t, int64_t d, bool k) { return nn::logsumexp(t, d, k); }},
      {"prod of tanh", [](const Tensor& t, int64_t d, bool k) { return nn::prod(nn::tanh(t), d, k); }},
      {"var", [](const Tensor& t, int64_t d, bool k) { return nn::var(t, d, false, k); }},
      {"std", [](const Tensor& t, int64_t d, bool k) { return nn::std(t, d, true, k); }},
      {"vector_norm", [](const Tensor& t, int64_t d, bool k) { return nn::vector_norm(t, 2, Dims{d}, k); }},
      {"max.values", [](const Tensor& t, int64_t d, bool k) { return nn::max(t, d, k).first; }},
      {"min.values", [](const Tensor& t, int64_t d, bool k) { return nn::min(t, d, k).first; }},
      {"any of > 0.2", [](const Tensor& t, int64_t d, bool k) { return nn::any(nn::gt(t, 0.2), d, k); }},
      {"all of < 0.2", [](const Tensor& t, int64_t d, bool k) { return nn::all(nn::lt(t, 0.2), d, k); }},
  };
  const Reduction& reduction = b.random.choose(kReductions);
  const bool compares = std::string_view(reduction.name).find("of ") != std::string_view::npos;
  return {
      {.text = fmt::format("{}($0, {}{})", reduction.name, dim, keep ? ", keepdim" : ""),
       .inputs = {*x},
       .run = one([run = reduction.run, dim, keep](const TensorList& in) { return run(in[0], dim, keep); }),
       .margin = compares ? Margin([](const TensorList& in) { return nn::sub(in[0], 0.2); }) : Margin()}};
}

// Over all, or several dimensions at once.
Made make_wide_reduction(Builder& b) {
  const auto x = b.pick_float(2);
  if (!x) return {};
  const auto last = static_cast<int64_t>(b.rank(*x)) - 1;
  const bool keep = b.random.chance(50);
  switch (b.random.below(7)) {
    case 0:
      return {{.text = "sum($0)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                    return nn::sum(in[0]);
                                                  })}};
    case 1:
      return {{.text = "mean($0)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                     return nn::mean(in[0]);
                                                   })}};
    case 2:
      return {{.text = "max($0)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                    return nn::max(in[0]);
                                                  })}};
    case 3:
      return {{.text = fmt::format("mean($0, [0, {}])", last),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::mean(in[0], Dims{0, last}, keep); })}};
    case 4:
      return {{.text = fmt::format("amax($0, [0, {}])", last),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::amax(in[0], Dims{0, last}, keep); })}};
    case 5:
      return {{.text = fmt::format("var($0, [0, {}])", last),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::var(in[0], Dims{0, last}, true, keep); })}};
    default:
      return {{.text = "min($0)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                    return nn::min(in[0]);
                                                  })}};
  }
}

Made make_along(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return {};
  const auto dim = static_cast<int64_t>(b.pick_dim(*x));
  struct Along {
    const char* name;
    Tensor (*run)(const Tensor&, int64_t);
  };
  static const Along kAlong[] = {
      {"softmax", [](const Tensor& t, int64_t d) { return nn::softmax(t, d); }},
      {"log_softmax", [](const Tensor& t, int64_t d) { return nn::log_softmax(t, d); }},
      {"softmin", [](const Tensor& t, int64_t d) { return nn::softmin(t, d); }},
      {"cumsum", [](const Tensor& t, int64_t d) { return nn::cumsum(t, d); }},
      {"cumprod of tanh", [](const Tensor& t, int64_t d) { return nn::cumprod(nn::tanh(t), d); }},
      {"normalize", [](const Tensor& t, int64_t d) { return nn::normalize(t, 2.0, d); }},
      {"sort.values", [](const Tensor& t, int64_t d) { return nn::sort(t, d, true).first; }},
      {"glu", [](const Tensor& t, int64_t d) { return nn::glu(t, d); }},
  };
  const Along& along = b.random.choose(kAlong);
  // Half of a size that varies is not always a size.
  if (std::string_view(along.name) == "glu" && !b.is_static(*x, static_cast<size_t>(dim))) return {};
  return {{.text = fmt::format("{}($0, {})", along.name, dim),
           .inputs = {*x},
           .run = one([run = along.run, dim](const TensorList& in) { return run(in[0], dim); })}};
}

// What gives places: the numbers must be apart.
Made make_places(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return {};
  const size_t at = b.pick_dim(*x);
  const auto dim = static_cast<int64_t>(at);
  const int64_t k = b.random.between(1, b.least(*x, at));
  switch (b.random.below(5)) {
    case 0:
      return {{.text = fmt::format("argmax($0, {})", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::argmax(in[0], dim); }),
               .margin = distinct(dim)}};
    case 1:
      return {{.text = fmt::format("argmin($0, {}, keepdim)", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::argmin(in[0], dim, true); }),
               .margin = distinct(dim)}};
    case 2:
      return {{.text = fmt::format("argsort($0, {})", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::argsort(in[0], dim); }),
               .margin = distinct(dim)}};
    case 3:
      return {{.text = fmt::format("topk($0, {}, {})", k, dim),
               .inputs = {*x},
               .run =
                   [=](Frame&, const TensorList& in) {
                     const auto [values, places] = nn::topk(in[0], k, dim);
                     return TensorList{values, places};
                   },
               .margin = distinct(dim)}};
    default:
      return {{.text = fmt::format("max($0, {})", dim),
               .inputs = {*x},
               .run =
                   [=](Frame&, const TensorList& in) {
                     const auto [values, places] = nn::max(in[0], dim);
                     return TensorList{values, places};
                   },
               .margin = distinct(dim)}};
  }
}

constexpr Maker kValuesMakers[] = {
    make_unary,          make_unary,     make_unary,
    make_unary,          make_binary,    make_binary,
    make_binary,         make_integer,   make_integer,
    make_bool,           make_logical,   make_masked,
    make_conversion,     make_reduction, make_reduction,
    make_wide_reduction, make_along,     make_along,
    make_places,         make_product,   make_product_with_parameter,
    make_attention,
};

}  // namespace

std::span<const Maker> value_makers() { return kValuesMakers; }

}  // namespace flambeau::random_modules
