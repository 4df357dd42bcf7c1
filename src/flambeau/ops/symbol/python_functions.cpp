#include "flambeau/ops/symbol/python_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "flambeau/base/error.h"
#include "flambeau/ops/symbol/python_arithmetic.h"

namespace flambeau::ops {
namespace {

using namespace python;

// ---- comparisons, exact also between integers and floats
enum class Order { kLess, kEqual, kGreater, kNone };

template <typename T>
Order order_of(T a, T b) {
  return a < b ? Order::kLess : a > b ? Order::kGreater : a == b ? Order::kEqual : Order::kNone;
}

// A float between two integers of its size is one itself, so its whole part can be compared as one.
Order order_of(int64_t a, double b) {
  if (std::isnan(b)) return Order::kNone;
  if (b >= 0x1p63) return Order::kLess;
  if (b < -0x1p63) return Order::kGreater;
  const double whole_part = std::trunc(b);
  const Order order = order_of(a, static_cast<int64_t>(whole_part));
  return order == Order::kEqual ? order_of(whole_part, b) : order;
}

Order compare(const Value& a, const Value& b) {
  const std::optional<int64_t> x = integer(a);
  const std::optional<int64_t> y = integer(b);
  if (x && y) return order_of(*x, *y);
  if (x) return order_of(*x, real(b));
  if (!y) return order_of(real(a), real(b));
  const Order turned = order_of(*y, real(a));
  return turned == Order::kLess ? Order::kGreater : turned == Order::kGreater ? Order::kLess : turned;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return compare(a, b) == Order::kEqual;
  if (a.is<std::string>() && b.is<std::string>()) return a.get<std::string>() == b.get<std::string>();
  if (a.is<Dims>() && b.is<Dims>()) return a.get<Dims>() == b.get<Dims>();
  return a.is_none() && b.is_none();
}

Value is_equal(Arguments arguments) { return equal(arguments[0], arguments[1]); }
Value is_different(Arguments arguments) { return !equal(arguments[0], arguments[1]); }
Value is_less(Arguments arguments) { return compare(arguments[0], arguments[1]) == Order::kLess; }
Value is_greater(Arguments arguments) { return compare(arguments[0], arguments[1]) == Order::kGreater; }
Value is_at_most(Arguments arguments) {
  const Order order = compare(arguments[0], arguments[1]);
  return order == Order::kLess || order == Order::kEqual;
}
Value is_at_least(Arguments arguments) {
  const Order order = compare(arguments[0], arguments[1]);
  return order == Order::kGreater || order == Order::kEqual;
}

// ---- bits and truth
template <typename F>
Value bitwise(Arguments arguments, F&& f) {
  const int64_t result = f(require_integer(arguments[0]), require_integer(arguments[1]));
  if (arguments[0].is<bool>() && arguments[1].is<bool>()) return result != 0;
  return result;
}
Value bit_and(Arguments arguments) {
  return bitwise(arguments, [](int64_t a, int64_t b) { return a & b; });
}
Value bit_or(Arguments arguments) {
  return bitwise(arguments, [](int64_t a, int64_t b) { return a | b; });
}
Value bit_xor(Arguments arguments) {
  return bitwise(arguments, [](int64_t a, int64_t b) { return a ^ b; });
}
Value logical_not(Arguments arguments) { return !truth(arguments[0]); }
Value if_else(Arguments arguments) { return truth(arguments[0]) ? arguments[1] : arguments[2]; }

// ---- conversions
int64_t whole(double number) {
  if (std::isnan(number)) fail("cannot convert float NaN to integer");
  if (std::isinf(number)) fail("cannot convert float infinity to integer");
  if (!(number >= -0x1p63 && number < 0x1p63)) fail("the result does not fit a 64-bit integer");
  return static_cast<int64_t>(number);
}

template <typename F>
Value rounded(const Value& value, F&& f) {
  if (const std::optional<int64_t> number = integer(value)) return *number;
  return whole(f(real(value)));
}
Value round_up(Arguments arguments) {
  return rounded(arguments[0], [](double x) { return std::ceil(x); });
}
Value round_down(Arguments arguments) {
  return rounded(arguments[0], [](double x) { return std::floor(x); });
}
Value cut(Arguments arguments) {
  return rounded(arguments[0], [](double x) { return std::trunc(x); });
}
// To even, as Python's round() does.
Value round_even(Arguments arguments) {
  return rounded(arguments[0], [](double x) { return std::nearbyint(x); });
}
Value to_float(Arguments arguments) { return real(arguments[0]); }

template <double (*kFunction)(double)>
Value function_of(Arguments arguments) {
  const double x = real(arguments[0]);
  const double result = kFunction(x);
  if (std::isnan(result) && !std::isnan(x)) fail("math domain error");
  return result;
}
double sqrt_of(double x) { return std::sqrt(x); }
double sin_of(double x) { return std::sin(x); }
double cos_of(double x) { return std::cos(x); }
double tan_of(double x) { return std::tan(x); }
double sinh_of(double x) { return std::sinh(x); }
double cosh_of(double x) { return std::cosh(x); }
double tanh_of(double x) { return std::tanh(x); }
double asin_of(double x) { return std::asin(x); }
double acos_of(double x) { return std::acos(x); }
double atan_of(double x) { return std::atan(x); }
double exp_of(double x) { return std::exp(x); }
double log_of(double x) { return x <= 0 ? NAN : std::log(x); }
double log2_of(double x) { return x <= 0 ? NAN : std::log2(x); }

// ---- several
Value of_either(Arguments arguments, Order wanted) {
  Value first = arguments[0];
  Value second = arguments[1];
  if (first.is<double>() || second.is<double>()) {
    first = real(first);
    second = real(second);
  }
  return compare(second, first) == wanted ? second : first;
}
Value largest(Arguments arguments) { return of_either(arguments, Order::kGreater); }
Value smallest(Arguments arguments) { return of_either(arguments, Order::kLess); }

Value sum(Arguments arguments) {
  Value total = int64_t{0};
  const auto include = [&](const Value& value) {
    const Value pair[] = {total, value};
    total = add(pair);
  };
  if (const Dims* const numbers = arguments[0].get_if<Dims>()) {
    for (const int64_t number : *numbers) include(number);
  } else if (const auto* const floats = arguments[0].get_if<std::vector<double>>()) {
    for (const double number : *floats) include(number);
  } else {
    for (const Value& value : arguments[0].get<ValueList>()) include(value);
  }
  return total;
}

Value get_item(Arguments arguments) {
  const int64_t index = require_integer(arguments[1]);
  const auto item = [&](const auto& list) -> Value {
    const auto size = static_cast<int64_t>(list.size());
    const int64_t at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
      fail(fmt::format("list index {} out of range for {} elements", index, size));
    }
    return Value(list[static_cast<size_t>(at)]);
  };
  const Value& list = arguments[0];
  if (const auto* const tensors = list.get_if<TensorList>()) return item(*tensors);
  if (const auto* const numbers = list.get_if<Dims>()) return item(*numbers);
  if (const auto* const symbols = list.get_if<SymIntList>()) return item(*symbols);
  if (const auto* const floats = list.get_if<std::vector<double>>()) return item(*floats);
  if (const auto* const texts = list.get_if<std::vector<std::string>>()) return item(*texts);
  if (const auto* const values = list.get_if<ValueList>()) return item(*values);
  if (const auto* const flags = list.get_if<std::vector<bool>>()) {
    std::vector<Value> values;
    for (const bool flag : *flags) values.emplace_back(flag);
    return item(values);
  }
  fail(fmt::format("{} {} has no elements", list.kind_name(), list.summary()));
}

// Switches of training: nothing here is differentiated or cast behind the program's back.
Value nothing(Arguments) { return {}; }

constexpr size_t kAny = PythonFunction::kAnyCount;

// Sorted by name.
constexpr PythonFunction kFunctions[] = {
    {"_operator.abs", 1, absolute},
    {"_operator.add", 2, add},
    {"_operator.and_", 2, bit_and},
    {"_operator.eq", 2, is_equal},
    {"_operator.floordiv", 2, floor_divide},
    {"_operator.ge", 2, is_at_least},
    {"_operator.getitem", 2, get_item},
    {"_operator.gt", 2, is_greater},
    {"_operator.le", 2, is_at_most},
    {"_operator.lshift", 2, shift_left},
    {"_operator.lt", 2, is_less},
    {"_operator.mod", 2, remainder},
    {"_operator.mul", 2, multiply},
    {"_operator.ne", 2, is_different},
    {"_operator.neg", 1, negate},
    {"_operator.not_", 1, logical_not},
    {"_operator.or_", 2, bit_or},
    {"_operator.pos", 1, identity},
    {"_operator.pow", 2, power},
    {"_operator.rshift", 2, shift_right},
    {"_operator.sub", 2, subtract},
    {"_operator.truediv", 2, true_divide},
    {"_operator.xor", 2, bit_xor},
    {"builtins.max", 2, largest},
    {"builtins.min", 2, smallest},
    {"builtins.round", 1, round_even},
    {"math.acos", 1, function_of<acos_of>},
    {"math.asin", 1, function_of<asin_of>},
    {"math.atan", 1, function_of<atan_of>},
    {"math.ceil", 1, round_up},
    {"math.cos", 1, function_of<cos_of>},
    {"math.cosh", 1, function_of<cosh_of>},
    {"math.exp", 1, function_of<exp_of>},
    {"math.floor", 1, round_down},
    {"math.log", 1, function_of<log_of>},
    {"math.log2", 1, function_of<log2_of>},
    {"math.pow", 2, [](Arguments a) -> Value { return float_power(real(a[0]), real(a[1])); }},
    {"math.sin", 1, function_of<sin_of>},
    {"math.sinh", 1, function_of<sinh_of>},
    {"math.sqrt", 1, function_of<sqrt_of>},
    {"math.tan", 1, function_of<tan_of>},
    {"math.tanh", 1, function_of<tanh_of>},
    {"math.trunc", 1, cut},
    {"torch._C._set_grad_enabled", kAny, nothing},
    {"torch._sym_acos", 1, function_of<acos_of>},
    {"torch._sym_asin", 1, function_of<asin_of>},
    {"torch._sym_atan", 1, function_of<atan_of>},
    {"torch._sym_cos", 1, function_of<cos_of>},
    {"torch._sym_cosh", 1, function_of<cosh_of>},
    {"torch._sym_exp", 1, function_of<exp_of>},
    {"torch._sym_log", 1, function_of<log_of>},
    {"torch._sym_log2", 1, function_of<log2_of>},
    {"torch._sym_sin", 1, function_of<sin_of>},
    {"torch._sym_sinh", 1, function_of<sinh_of>},
    {"torch._sym_sqrt", 1, function_of<sqrt_of>},
    {"torch._sym_tan", 1, function_of<tan_of>},
    {"torch._sym_tanh", 1, function_of<tanh_of>},
    {"torch.amp.autocast_mode._enter_autocast", kAny, nothing},
    {"torch.amp.autocast_mode._exit_autocast", kAny, nothing},
    {"torch.autograd.grad_mode.set_grad_enabled", kAny, nothing},
    {"torch.fx.experimental.symbolic_shapes.cast_symbool_to_symint_guardless", 1, identity},
    {"torch.sym_float", 1, to_float},
    {"torch.sym_int", 1, cut},
    {"torch.sym_ite", 3, if_else},
    {"torch.sym_max", 2, largest},
    {"torch.sym_min", 2, smallest},
    {"torch.sym_not", 1, logical_not},
    {"torch.sym_sqrt", 1, function_of<sqrt_of>},
    {"torch.sym_sum", 1, sum},
};
static_assert(std::ranges::is_sorted(kFunctions, {}, &PythonFunction::name));

std::string summaries(Arguments arguments) {
  std::string text;
  for (const Value& argument : arguments) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", argument.is_none() ? "None" : argument.summary());
  }
  return text;
}

}  // namespace

Value PythonFunction::apply(std::span<const Value> values) const {
  try {
    if (arguments != kAnyCount && values.size() != arguments) {
      fail(fmt::format("it takes {} arguments", arguments));
    }
    return function(values);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}({}): {}", name, summaries(values), error.message()));
  }
}

const PythonFunction* find_python_function(std::string_view target) {
  const auto found = std::ranges::lower_bound(kFunctions, target, {}, &PythonFunction::name);
  return found != std::end(kFunctions) && found->name == target ? &*found : nullptr;
}

}  // namespace flambeau::ops
