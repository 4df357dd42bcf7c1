// Arithmetic, element by element, as fewer operators.
#include <cmath>
#include <limits>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Decomposition alias_of(const char* name) {
  return [name](Context& c, const Arguments& given) {
    const ops::Operator& op = c.library().get(name);
    return ops::call(c, op, ops::bind_arguments(op.schema, given.values()));
  };
}

std::vector<Value> lerp(Context& c, const Arguments& given) {
  const Tensor& start = given.tensor(0);
  const Tensor& end = given.tensor(1);
  const Tensor weight =
      given[2].is_tensor() ? given.tensor(2) : parts::full(c, {}, given[2], start.dtype(), start.device());
  const Tensor is_far = call(c, "aten::ge.Scalar", call(c, "aten::abs", weight), 0.5);
  const Tensor share = parts::where(c, is_far, sub(c, weight, 1), weight);
  const Tensor base = parts::where(c, is_far, end, start);
  return gives(add(c, mul(c, share, sub(c, end, start)), base));
}

std::vector<Value> nan_to_num(Context& c, const Arguments& given) {
  const Tensor& x = given.tensor(0);
  const double most = x.dtype() == DType::kFloat64 ? std::numeric_limits<double>::max()
                                                   : double{std::numeric_limits<float>::max()};
  if (x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64) return {};
  const auto number = [&](const Value& value) { return parts::scalar(c, value, x.dtype(), x.device()); };
  const Tensor is_nan = call(c, "aten::isnan", x);
  Tensor result = parts::where(c, is_nan, number(given.has(1) ? given.real(1) : 0.0), x);
  const Tensor is_low = call(c, "aten::eq.Scalar", x, -kInfinity);
  result = parts::where(c, is_low, number(given.has(3) ? given.real(3) : -most), result);
  const Tensor is_high = call(c, "aten::eq.Scalar", x, kInfinity);
  return gives(parts::where(c, is_high, number(given.has(2) ? given.real(2) : most), result));
}

// Neither infinite nor nan.
Tensor is_finite(Context& c, const Tensor& x) {
  const Tensor is_bounded = call(c, "aten::ne.Scalar", call(c, "aten::abs", x), kInfinity);
  return mul(c, call(c, "aten::eq.Tensor", x, x), is_bounded);
}

std::vector<Value> logaddexp(Context& c, const Arguments& given) {
  const Tensor& a = given.tensor(0);
  const Tensor& b = given.tensor(1);
  const Tensor is_first = call(c, "aten::ge.Tensor", a, b);
  const Tensor most = parts::where(c, is_first, a, b);
  const Tensor least = parts::where(c, is_first, b, a);
  const Tensor is_unbounded = call(c, "aten::logical_not", is_finite(c, a));
  const Tensor is_same = call(c, "aten::logical_and", is_unbounded, call(c, "aten::eq.Tensor", a, b));
  const Tensor tail = call(c, "aten::log1p", call(c, "aten::exp", sub(c, least, most)));
  return gives(parts::where(c, is_same, a, add(c, most, tail)));
}

std::vector<Value> xlogy(Context& c, const Arguments& given) {
  if (!given[0].is_tensor() || !given[1].is_tensor()) return {};
  const Tensor& x = given.tensor(0);
  const Tensor& y = given.tensor(1);
  const auto number = [&](const Value& value) { return parts::scalar(c, value, x.dtype(), x.device()); };
  const Tensor is_zero = call(c, "aten::eq.Scalar", x, 0);
  const Tensor product = mul(c, x, call(c, "aten::log", y));
  const Tensor result = parts::where(c, is_zero, number(0), product);
  const Tensor is_nan = call(c, "aten::isnan", y);
  return gives(parts::where(c, is_nan, number(std::numeric_limits<double>::quiet_NaN()), result));
}

std::vector<Value> is_close(Context& c, const Arguments& given) {
  const Tensor& a = given.tensor(0);
  const Tensor& b = given.tensor(1);
  if (given.flag(4)) return {};
  const Tensor is_equal = call(c, "aten::eq.Tensor", a, b);
  const Tensor allowed =
      call(c, "aten::add.Scalar", call(c, "aten::abs", call(c, "aten::mul.Scalar", b, given[2])), given[3]);
  const Tensor far = call(c, "aten::abs", sub(c, a, b));
  const Tensor is_near =
      call(c, "aten::bitwise_and.Tensor", is_finite(c, far), call(c, "aten::le.Tensor", far, allowed));
  return gives(call(c, "aten::bitwise_or.Tensor", is_equal, is_near));
}

std::vector<Value> logit(Context& c, const Arguments& given) {
  const Tensor& x = given.tensor(0);
  const double least = given.has(1) ? given.real(1) : -1.0;
  const double most = 1.0 - least;
  const auto number = [&](double value) { return parts::scalar(c, value, x.dtype(), x.device()); };
  const Tensor is_low = call(c, "aten::lt.Scalar", x, least);
  const Tensor is_high = call(c, "aten::gt.Scalar", x, most);
  const Tensor bounded = parts::where(c, is_low, number(least), parts::where(c, is_high, number(most), x));
  return gives(call(c, "aten::log", div(c, bounded, sub(c, 1, bounded))));
}

void add_names(DecompositionTable& table) {
  table.composite("aten::__and__.Tensor", alias_of("aten::bitwise_and.Tensor"));
  table.composite("aten::__and__.Scalar", alias_of("aten::bitwise_and.Scalar"));
  table.composite("aten::__or__.Tensor", alias_of("aten::bitwise_or.Tensor"));
  table.composite("aten::__or__.Scalar", alias_of("aten::bitwise_or.Scalar"));
  table.composite("aten::__xor__.Tensor", alias_of("aten::bitwise_xor.Tensor"));
  table.composite("aten::__xor__.Scalar", alias_of("aten::bitwise_xor.Scalar"));
  table.composite("aten::absolute", alias_of("aten::abs"));
  table.composite("aten::negative", alias_of("aten::neg"));
  table.composite("aten::subtract.Tensor", alias_of("aten::sub.Tensor"));
  table.composite("aten::multiply.Tensor", alias_of("aten::mul.Tensor"));
  table.composite("aten::divide.Tensor", alias_of("aten::div.Tensor"));
  table.composite("aten::true_divide.Tensor", alias_of("aten::div.Tensor"));
  table.composite("aten::greater.Tensor", alias_of("aten::gt.Tensor"));
  table.composite("aten::less.Tensor", alias_of("aten::lt.Tensor"));
  table.composite("aten::multiply.Scalar", alias_of("aten::mul.Scalar"));
  table.composite("aten::subtract.Scalar", alias_of("aten::sub.Scalar"));
  table.composite("aten::divide.Scalar", alias_of("aten::div.Scalar"));
  table.composite("aten::true_divide.Scalar", alias_of("aten::div.Scalar"));
  table.composite("aten::divide.Tensor_mode", alias_of("aten::div.Tensor_mode"));
  table.composite("aten::clip", alias_of("aten::clamp"));
  table.composite("aten::clip.Tensor", alias_of("aten::clamp.Tensor"));
  table.composite("aten::square", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::pow.Tensor_Scalar", given[0], 2));
  });
}

}  // namespace

void add_arithmetic(DecompositionTable& table) {
  add_names(table);
  for (const char* const name : {"aten::rsub.Scalar", "aten::rsub.Tensor"}) {
    table.functional(name, [](Context& c, const Arguments& given) {
      return gives(call_with(c, "aten::sub.Tensor", {given[1], given[0]}, {{"alpha", given[2]}}));
    });
  }
  for (const char* const name : {"aten::floor_divide", "aten::floor_divide.Scalar"}) {
    table.functional(name, [](Context& c, const Arguments& given) {
      return gives(call_with(c, "aten::div.Tensor_mode", {given[0], given[1]}, {{"rounding_mode", "floor"}}));
    });
  }
  table.functional("aten::clamp_min", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::clamp", given[0], given[1]));
  });
  table.functional("aten::clamp_max", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::clamp", given[0], Value(), given[1]));
  });
  table.functional("aten::clamp_min.Tensor", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::clamp.Tensor", given[0], given[1]));
  });
  table.functional("aten::clamp_max.Tensor", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::clamp.Tensor", given[0], Value(), given[1]));
  });
  table.functional("aten::addcmul", [](Context& c, const Arguments& given) {
    return gives(add(c, given[0], mul(c, mul(c, given[1], given[3]), given[2])));
  });
  table.functional("aten::addcdiv", [](Context& c, const Arguments& given) {
    return gives(add(c, given[0], div(c, mul(c, given[1], given[3]), given[2])));
  });
  table.functional("aten::frac", [](Context& c, const Arguments& given) {
    return gives(sub(c, given[0], call(c, "aten::trunc", given[0])));
  });
  table.functional("aten::lerp.Scalar", lerp);
  table.functional("aten::lerp.Tensor", lerp);
  table.functional("aten::nan_to_num", nan_to_num);
  table.functional("aten::logaddexp", logaddexp);
  table.functional("aten::xlogy.Tensor", xlogy);
  table.functional("aten::logit", logit);
  table.composite("aten::isclose", is_close);
  table.composite("aten::isfinite",
                  [](Context& c, const Arguments& given) { return gives(is_finite(c, given.tensor(0))); });
  table.composite("aten::cdist", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::_cdist_forward", given[0], given[1], given[2], given[3]));
  });
}

}  // namespace flambeau::trace
