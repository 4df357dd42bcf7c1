// What is equal, less, the same.
#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/tensors.h"

namespace flambeau::interpreter {
namespace {

using script::EnumBox;
using script::ListBox;

struct Less {
  static bool of(const auto& a, const auto& b) { return a < b; }
};
struct Greater {
  static bool of(const auto& a, const auto& b) { return a > b; }
};
struct LessOrEqual {
  static bool of(const auto& a, const auto& b) { return a <= b; }
};
struct GreaterOrEqual {
  static bool of(const auto& a, const auto& b) { return a >= b; }
};
struct Equal {
  static bool of(const auto& a, const auto& b) { return a == b; }
};
struct Unequal {
  static bool of(const auto& a, const auto& b) { return a != b; }
};

template <typename Op>
void define_order(const Definer& define, const std::string& name) {
  define(name + ".int", [](int64_t a, int64_t b) { return Op::of(a, b); });
  define(name + ".float", [](double a, double b) { return Op::of(a, b); });
  define(name + ".int_float", [](int64_t a, double b) { return Op::of(static_cast<double>(a), b); });
  define(name + ".float_int", [](double a, int64_t b) { return Op::of(a, static_cast<double>(b)); });
  define(name + ".str", [](const std::string& a, const std::string& b) { return Op::of(a, b); });
}
template <typename Op>
void define_scalar_order(const Definer& define, const std::string& name) {
  define_order<Op>(define, name);
  define(name, [](const IValue& a, const IValue& b) {
    if (a.is(IValue::Tag::kFloat) || b.is(IValue::Tag::kFloat)) return Op::of(float_of(a), float_of(b));
    return Op::of(a.as_int(), b.as_int());
  });
}

bool same_enum(const EnumBox& a, const EnumBox& b) {
  return a.type->qualified_name() == b.type->qualified_name() && a.name == b.name;
}

bool same_items(const ListBox& a, const ListBox& b) {
  return a.items.size() == b.items.size() &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), script::equal_keys);
}

// Element by element; floats by value, so that NaN is not itself.
bool same_floats(const ListBox& a, const ListBox& b) {
  return a.items.size() == b.items.size() &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(),
                    [](const IValue& x, const IValue& y) { return float_of(x) == float_of(y); });
}

bool same_tensors(Call& call, const ListBox& a, const ListBox& b) {
  if (a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!all_equal(call, a.items[i].as_tensor(), b.items[i].as_tensor())) return false;
  }
  return true;
}

template <bool kEqual>
void define_equality(const Definer& define, const std::string& name) {
  using Op = std::conditional_t<kEqual, Equal, Unequal>;
  define_order<Op>(define, name);
  define(name + ".bool", [](bool a, bool b) { return Op::of(a, b); });
  define(name + ".complex", [](Complex a, Complex b) { return Op::of(a, b); });
  define(name + ".float_complex", [](double a, Complex b) { return Op::of(Complex(a), b); });
  define(name + ".complex_float", [](Complex a, double b) { return Op::of(a, Complex(b)); });
  define(name, [](const IValue& a, const IValue& b) { return Op::of(complex_of(a), complex_of(b)); });
  define(name + ".device", [](Device a, Device b) { return Op::of(a, b); });
  define(name + ".enum", [](EnumBox& a, EnumBox& b) { return same_enum(a, b) == kEqual; });
  for (const char* const kind : {"int", "bool", "str"})
    define(name + "." + kind + "_list", [](ListBox& a, ListBox& b) { return same_items(a, b) == kEqual; });
  define(name + ".float_list", [](ListBox& a, ListBox& b) { return same_floats(a, b) == kEqual; });
  define(name + ".Tensor_list",
         [](Call& call, ListBox& a, ListBox& b) { return same_tensors(call, a, b) == kEqual; });
}

// Numbers by value, all else by identity.
bool is_same(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  if (a.is_boxed()) return a.identity() == b.identity();
  if (a.is(IValue::Tag::kFloat)) return a.as_float() == b.as_float();
  return script::equal_keys(a, b);
}

}  // namespace

void define_comparisons(Builtins& builtins) {
  const Definer define(builtins);
  define_scalar_order<Less>(define, "aten::lt");
  define_scalar_order<Greater>(define, "aten::gt");
  define_scalar_order<LessOrEqual>(define, "aten::le");
  define_scalar_order<GreaterOrEqual>(define, "aten::ge");
  define_equality<true>(define, "aten::eq");
  define_equality<false>(define, "aten::ne");
  define("aten::__is__", [](const IValue& a, const IValue& b) { return is_same(a, b); });
  define("aten::__isnot__", [](const IValue& a, const IValue& b) { return !is_same(a, b); });
}

}  // namespace flambeau::interpreter
