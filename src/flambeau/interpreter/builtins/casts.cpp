// One kind of number to another, and texts to numbers.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/tensor/dtype_words.h"
#include "flambeau/value/scalar.h"

namespace flambeau::interpreter {
namespace {

[[noreturn]] void fail_text(const char* what, const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: '{}'", what, printable(text)));
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Blanks before it and a sign, as the C library reads them; nothing may follow.
int64_t int_in_text(const std::string& text) {
  constexpr const char* kWhat = "invalid literal for int() with base 10";
  const char* begin = text.data();
  const char* const end = begin + text.size();
  while (begin != end && is_blank(*begin)) ++begin;
  if (begin != end && *begin == '+' && (begin + 1 == end || begin[1] != '-')) ++begin;
  int64_t number = 0;
  const std::from_chars_result result = std::from_chars(begin, end, number);
  if (result.ec != std::errc() || result.ptr != end) fail_text(kWhat, text);
  return number;
}

double float_in_text(const std::string& text) {
  constexpr const char* kWhat = "could not convert string to float";
  // The C library's reader takes hexadecimal floats, "inf" and "nan" as PyTorch does, but stops at a zero
  // byte.
  if (text.find('\0') != std::string::npos) fail_text(kWhat, text);
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || end != text.c_str() + text.size() || errno == ERANGE) fail_text(kWhat, text);
  return number;
}

// A float as an int, by cutting; beyond an int's range as x86 has it.
int64_t cut(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MIN;
}

// Tensors that stand for a number without being asked.
const Tensor& implicit(const Tensor& tensor, bool to_int) {
  if (tensor.requires_grad()) {
    throw Error(ErrorCode::kInvalidArgument, "Cannot input a tensor that requires grad as a scalar argument");
  }
  if (tensor.dim() != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "Cannot input a tensor of dimension other than 0 as a scalar argument");
  }
  const DTypeInfo& info = dtype_info(tensor.dtype());
  if (to_int && (info.is_floating || info.is_complex || tensor.dtype() == DType::kBool)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("Cannot input a tensor of type {} as an integral argument", dtype_word(tensor.dtype())));
  }
  return tensor;
}

IValue scalar_of(const Tensor& tensor) {
  const Scalar number = number_in(tensor);
  if (number.is_complex()) return number.to_complex();
  if (number.is_float()) return number.to_double();
  if (number.is_bool()) return number.to_bool();
  return number.to_int();
}

// What goes through an int of 32 bits in PyTorch.
double narrow(int64_t value) { return static_cast<double>(static_cast<int32_t>(value)); }

void define_complex_casts(const Definer& define) {
  static constexpr auto real = [](const Tensor& tensor) { return float_in(tensor); };
  define("aten::Complex.Scalar", [](const IValue& a) { return complex_of(a); });
  define("aten::Complex.Tensor_Tensor",
         [](const Tensor& a, const Tensor& b) { return Complex(real(a), real(b)); });
  define("aten::Complex.Tensor_float", [](const Tensor& a, double b) { return Complex(real(a), b); });
  define("aten::Complex.Tensor_int", [](const Tensor& a, int64_t b) { return Complex(real(a), narrow(b)); });
  define("aten::Complex.Tensor_bool", [](const Tensor& a, bool b) { return Complex(real(a), b ? 1 : 0); });
  define("aten::Complex.float_Tensor", [](double a, const Tensor& b) { return Complex(a, real(b)); });
  define("aten::Complex.int_Tensor", [](int64_t a, const Tensor& b) { return Complex(narrow(a), real(b)); });
  define("aten::Complex.bool_Tensor", [](bool a, const Tensor& b) { return Complex(a ? 1 : 0, real(b)); });
  define("aten::Complex.int_int", [](int64_t a, int64_t b) { return Complex(narrow(a), narrow(b)); });
  define("aten::Complex.int_float", [](int64_t a, double b) { return Complex(narrow(a), b); });
  define("aten::Complex.int_bool", [](int64_t a, bool b) { return Complex(narrow(a), b ? 1 : 0); });
  define("aten::Complex.float_int", [](double a, int64_t b) { return Complex(a, narrow(b)); });
  define("aten::Complex.float_float", [](double a, double b) { return Complex(a, b); });
  define("aten::Complex.float_bool", [](double a, bool b) { return Complex(a, b ? 1 : 0); });
  define("aten::Complex.bool_int", [](bool a, int64_t b) { return Complex(a ? 1 : 0, narrow(b)); });
  define("aten::Complex.bool_float", [](bool a, double b) { return Complex(a ? 1 : 0, b); });
  define("aten::Complex.bool_bool", [](bool a, bool b) { return Complex(a ? 1 : 0, b ? 1 : 0); });
  define("aten::ComplexImplicit", [](const Tensor& a) { return number_in(implicit(a, false)).to_complex(); });
}

}  // namespace

void define_casts(Builtins& builtins) {
  const Definer define(builtins);
  define("aten::Bool.int", [](int64_t a) { return a != 0; });
  define("aten::Bool.float", [](double a) { return a != 0; });
  define("aten::Bool.Tensor", [](const Tensor& a) { return truth_of(a); });
  define("aten::Int.Tensor", [](const Tensor& a) { return int_in(a); });
  define("aten::Int.bool", [](bool a) { return int64_t{a}; });
  define("aten::Int.float", cut);
  define("aten::Int.Scalar", [](const IValue& a) {
    return with_number(a, [](auto number) {
      if constexpr (std::is_same_v<decltype(number), Complex>)
        return cut(number.real());
      else if constexpr (std::is_same_v<decltype(number), double>)
        return cut(number);
      else
        return number;
    });
  });
  define("aten::Int.str", int_in_text);
  define("aten::IntImplicit", [](const Tensor& a) { return int_in(implicit(a, true)); });
  define("aten::Float.Tensor", [](const Tensor& a) { return float_in(a); });
  define("aten::Float.Scalar",
         [](const IValue& a) { return a.is(IValue::Tag::kComplex) ? a.as_complex().real() : float_of(a); });
  // Through a float of 32 bits: a quirk of PyTorch's.
  define("aten::Float.int", [](int64_t a) { return static_cast<double>(static_cast<float>(a)); });
  define("aten::Float.bool", [](bool a) { return a ? 1.0 : 0.0; });
  define("aten::Float.str", float_in_text);
  define("aten::FloatImplicit", [](const Tensor& a) { return float_in(implicit(a, false)); });
  define("aten::ScalarImplicit", [](const Tensor& a) { return scalar_of(implicit(a, false)); });
  define_complex_casts(define);
}

}  // namespace flambeau::interpreter
