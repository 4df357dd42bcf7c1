#include "flambeau/script/operators/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "flambeau/value/schema_table.h"

namespace flambeau::script {

namespace {

using Tag = IValue::Tag;
using Result = std::optional<IValue>;
using Inputs = std::span<const IValue>;

bool is_number(const IValue& value) {
  return value.is(Tag::kInt) || value.is(Tag::kFloat) || value.is(Tag::kComplex);
}

double as_real(const IValue& value) {
  return value.is(Tag::kInt) ? static_cast<double>(value.as_int()) : value.as_float();
}

std::complex<double> as_complex(const IValue& value) {
  return value.is(Tag::kComplex) ? value.as_complex() : std::complex<double>(as_real(value));
}

// In the widest of the two kinds; integers wrap around.
template <typename Operation>
Result compute(Inputs inputs, Operation operation) {
  if (inputs.size() != 2 || !is_number(inputs[0]) || !is_number(inputs[1])) return {};
  if (inputs[0].is(Tag::kComplex) || inputs[1].is(Tag::kComplex)) {
    return IValue(operation(as_complex(inputs[0]), as_complex(inputs[1])));
  }
  if (inputs[0].is(Tag::kFloat) || inputs[1].is(Tag::kFloat)) {
    return IValue(operation(as_real(inputs[0]), as_real(inputs[1])));
  }
  const auto bits =
      operation(static_cast<uint64_t>(inputs[0].as_int()), static_cast<uint64_t>(inputs[1].as_int()));
  return IValue(static_cast<int64_t>(bits));
}

Result add(Inputs inputs) {
  if (inputs.size() == 2 && inputs[0].is(Tag::kString) && inputs[1].is(Tag::kString)) {
    return IValue(inputs[0].as_string() + inputs[1].as_string());
  }
  return compute(inputs, [](auto a, auto b) { return a + b; });
}

Result subtract(Inputs inputs) {
  return compute(inputs, [](auto a, auto b) { return a - b; });
}

Result multiply(Inputs inputs) {
  // Products of complex numbers are left to whoever knows PyTorch's rules for infinities.
  if (inputs.size() == 2 && (inputs[0].is(Tag::kComplex) || inputs[1].is(Tag::kComplex))) return {};
  return compute(inputs, [](auto a, auto b) { return a * b; });
}

Result negate(Inputs inputs) {
  if (inputs.size() != 1) return {};
  if (inputs[0].is(Tag::kInt))
    return IValue(static_cast<int64_t>(-static_cast<uint64_t>(inputs[0].as_int())));
  if (inputs[0].is(Tag::kFloat)) return IValue(-inputs[0].as_float());
  if (inputs[0].is(Tag::kComplex)) return IValue(-inputs[0].as_complex());
  return {};
}

template <typename Compare>
Result compare(Inputs inputs, Compare comparison) {
  if (inputs.size() != 2) return {};
  if (inputs[0].is(Tag::kString) && inputs[1].is(Tag::kString)) {
    return IValue(bool{comparison(inputs[0].as_string(), inputs[1].as_string())});
  }
  if (!is_number(inputs[0]) || !is_number(inputs[1])) return {};
  if (inputs[0].is(Tag::kComplex) || inputs[1].is(Tag::kComplex)) return {};
  if (inputs[0].is(Tag::kInt) && inputs[1].is(Tag::kInt)) {
    return IValue(bool{comparison(inputs[0].as_int(), inputs[1].as_int())});
  }
  return IValue(bool{comparison(as_real(inputs[0]), as_real(inputs[1]))});
}

Result equal(Inputs inputs) {
  if (inputs.size() != 2) return {};
  if (inputs[0].is(Tag::kBool) && inputs[1].is(Tag::kBool)) {
    return IValue(inputs[0].as_bool() == inputs[1].as_bool());
  }
  if (inputs[0].is(Tag::kDevice) && inputs[1].is(Tag::kDevice)) {
    return IValue(inputs[0].as_device() == inputs[1].as_device());
  }
  return compare(inputs, [](const auto& a, const auto& b) { return a == b; });
}

Result invert(const Result& result) { return result ? Result(IValue(!result->as_bool())) : std::nullopt; }

// Numbers are themselves when they are equal and of one kind; of what is on the heap, only None is known not
// to be it.
Result is_same(Inputs inputs) {
  if (inputs.size() != 2) return {};
  const IValue& a = inputs[0];
  const IValue& b = inputs[1];
  if (a.is_none() || b.is_none()) return IValue(a.is_none() && b.is_none());
  if (a.is_boxed() || b.is_boxed()) return {};
  if (a.tag() != b.tag()) return IValue(false);
  return equal(inputs);
}

template <typename Operation>
Result combine(Inputs inputs, Operation operation) {
  if (inputs.size() != 2) return {};
  if (inputs[0].is(Tag::kBool) && inputs[1].is(Tag::kBool)) {
    return IValue(operation(int64_t{inputs[0].as_bool()}, int64_t{inputs[1].as_bool()}) != 0);
  }
  if (!inputs[0].is(Tag::kInt) || !inputs[1].is(Tag::kInt)) return {};
  return IValue(operation(inputs[0].as_int(), inputs[1].as_int()));
}

Result to_truth(Inputs inputs) {
  if (inputs.size() != 1) return {};
  if (inputs[0].is(Tag::kInt)) return IValue(inputs[0].as_int() != 0);
  if (inputs[0].is(Tag::kFloat)) return IValue(inputs[0].as_float() != 0);
  return {};
}

Result to_integer(Inputs inputs) {
  if (inputs.size() != 1) return {};
  if (inputs[0].is(Tag::kBool)) return IValue(int64_t{inputs[0].as_bool()});
  if (inputs[0].is(Tag::kInt)) return inputs[0];
  constexpr double kBeyond = 9223372036854775808.0;
  if (!inputs[0].is(Tag::kFloat) || !(std::abs(inputs[0].as_float()) < kBeyond)) return {};
  return IValue(static_cast<int64_t>(inputs[0].as_float()));
}

Result to_real(Inputs inputs) {
  if (inputs.size() != 1) return {};
  if (inputs[0].is(Tag::kBool)) return IValue(inputs[0].as_bool() ? 1.0 : 0.0);
  if (inputs[0].is(Tag::kInt) || inputs[0].is(Tag::kFloat)) return IValue(as_real(inputs[0]));
  // What Python's literals have no other form for.
  if (!inputs[0].is(Tag::kString)) return {};
  if (inputs[0].as_string() == "inf") return IValue(std::numeric_limits<double>::infinity());
  if (inputs[0].as_string() == "-inf") return IValue(-std::numeric_limits<double>::infinity());
  return {};
}

Result to_device(Inputs inputs) {
  if (inputs.empty() || !inputs[0].is(Tag::kString)) return {};
  std::string text = inputs[0].as_string();
  if (inputs.size() == 2) {
    if (!inputs[1].is(Tag::kInt) || text.find(':') != std::string::npos) return {};
    text += ":" + std::to_string(inputs[1].as_int());
  }
  const std::optional<Device> device = parse_device(text);
  if (!device || device->type == DeviceType::kOther) return {};
  return IValue(*device);
}

Result not_it(Inputs inputs) {
  if (inputs.size() != 1 || !inputs[0].is(Tag::kBool)) return {};
  return IValue(!inputs[0].as_bool());
}

struct Rule {
  std::string_view name;
  Result (*evaluate)(Inputs inputs);
};

// Sorted.
constexpr std::array<Rule, 20> kRules = {{
    {"aten::Bool", to_truth},
    {"aten::Float", to_real},
    {"aten::Int", to_integer},
    {"aten::__and__", [](Inputs i) { return combine(i, [](int64_t a, int64_t b) { return a & b; }); }},
    {"aten::__is__", is_same},
    {"aten::__isnot__", [](Inputs i) { return invert(is_same(i)); }},
    {"aten::__not__", not_it},
    {"aten::__or__", [](Inputs i) { return combine(i, [](int64_t a, int64_t b) { return a | b; }); }},
    {"aten::__xor__", [](Inputs i) { return combine(i, [](int64_t a, int64_t b) { return a ^ b; }); }},
    {"aten::add", add},
    {"aten::device", to_device},
    {"aten::eq", equal},
    {"aten::ge", [](Inputs i) { return compare(i, [](const auto& a, const auto& b) { return a >= b; }); }},
    {"aten::gt", [](Inputs i) { return compare(i, [](const auto& a, const auto& b) { return a > b; }); }},
    {"aten::le", [](Inputs i) { return compare(i, [](const auto& a, const auto& b) { return a <= b; }); }},
    {"aten::lt", [](Inputs i) { return compare(i, [](const auto& a, const auto& b) { return a < b; }); }},
    {"aten::mul", multiply},
    {"aten::ne", [](Inputs i) { return invert(equal(i)); }},
    {"aten::neg", negate},
    {"aten::sub", subtract},
}};

}  // namespace

std::optional<std::vector<IValue>> evaluate_operator(const OperatorEntry& op, Inputs inputs) {
  const std::string_view name = op.schema.name.name;
  const auto* rule = std::ranges::lower_bound(kRules, name, {}, &Rule::name);
  if (rule == kRules.end() || rule->name != name) return {};
  const Result result = rule->evaluate(inputs);
  if (!result) return {};
  return std::vector{*result};
}

}  // namespace flambeau::script
