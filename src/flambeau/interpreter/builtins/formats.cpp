// Values as text: str(), print(), format() and %.
#include <bit>
#include <cinttypes>
#include <cmath>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/interpreter/machine.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

// How deep lists may stand inside of lists, as types bound it; values of type Any could go further.
constexpr int kMostTextDepth = 200;
constexpr size_t kMostText = size_t{256} << 20;

std::string complex_text(Complex value) {
  std::string text = float_text(value.real());
  const std::string imaginary = float_text(value.imag());
  if (value.imag() >= 0 || std::isnan(value.imag())) text += '+';
  return text + imaginary + 'j';
}

void add_text(Call& call, const IValue& value, int depth, std::string& text) {
  if (depth > kMostTextDepth || text.size() > kMostText)
    throw Error(ErrorCode::kLimit, "the text of a value is too long, or too deeply nested");
  const auto add_items = [&](const std::vector<IValue>& items, std::string_view end) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += ", ";
      add_text(call, items[i], depth + 1, text);
    }
    text += end;
  };
  switch (value.tag()) {
    case Tag::kNone:
      text += "None";
      return;
    case Tag::kUninitialized:
      text += "Uninitialized";
      return;
    case Tag::kBool:
      text += value.as_bool() ? "True" : "False";
      return;
    case Tag::kInt:
      text += std::to_string(value.as_int());
      return;
    case Tag::kFloat:
      text += float_text(value.as_float());
      return;
    case Tag::kDevice:
      text += value.as_device().to_string();
      return;
    case Tag::kTensor:
      text += tensor_text(call, value.as_tensor());
      return;
    case Tag::kString:
      text += value.as_string();
      return;
    case Tag::kComplex:
      text += complex_text(value.as_complex());
      return;
    case Tag::kTuple:
      text += '(';
      add_items(value.items(), value.items().size() == 1 ? ",)" : ")");
      return;
    case Tag::kList:
      text += '[';
      add_items(value.items(), "]");
      return;
    case Tag::kDict: {
      text += '{';
      bool is_first = true;
      for (const script::DictItems::Entry& entry : value.as_dict().items.entries()) {
        if (!is_first) text += ", ";
        is_first = false;
        add_text(call, entry.key, depth + 1, text);
        text += ": ";
        add_text(call, entry.value, depth + 1, text);
      }
      text += '}';
      return;
    }
    case Tag::kObject:
      // Where it lies is nobody's business, and would make every run another.
      text += fmt::format("<{} object>", value.as_object().type->qualified_name());
      return;
    case Tag::kEnum: {
      const std::string& name = value.as_enum().type->qualified_name();
      text += fmt::format("Enum<{}.{}>", name.substr(name.rfind('.') + 1), value.as_enum().name);
      return;
    }
    case Tag::kFuture:
      text += value.as_future().is_await ? "Await" : "Future";
      return;
    case Tag::kNative:
      text += fmt::format("<{} object>", value.as_native().object.class_name);
      return;
    case Tag::kSymbolic:
      text += value.as_symbolic().summary();
      return;
  }
}

std::string formatted(Call& call) {
  const std::string& format = call[0].as_string();
  std::string text;
  size_t from = 0;
  for (size_t used = 1;; ++used) {
    const size_t place = format.find("{}", from);
    if (place == std::string::npos) break;
    text.append(format, from, place - from);
    if (used >= call.size()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("Too few arguments for format string: {}", printable(format)));
    }
    add_text(call, call[used], 0, text);
    from = place + 2;
  }
  return text.append(format, from);
}

// What PyTorch's messages call a kind of value.
std::string_view tag_word(const IValue& value) {
  switch (value.tag()) {
    case Tag::kNone:
      return "None";
    case Tag::kInt:
      return "Int";
    case Tag::kFloat:
      return "Double";
    case Tag::kComplex:
      return "ComplexDouble";
    case Tag::kBool:
      return "Bool";
    case Tag::kString:
      return "String";
    case Tag::kTensor:
      return "Tensor";
    case Tag::kTuple:
      return "Tuple";
    case Tag::kList:
      return "GenericList";
    case Tag::kDict:
      return "GenericDict";
    case Tag::kDevice:
      return "Device";
    case Tag::kEnum:
      return "Enum";
    default:
      return "Object";
  }
}

void add_percent(Call& call, char key, const IValue& value, std::string& text) {
  const auto number = [&] {
    const bool is_number = value.is(Tag::kInt) || value.is(Tag::kFloat) || value.is(Tag::kBool);
    if (!is_number) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("%{} requires a number for formatting, but got {}", key, tag_word(value)));
    }
    return value.is(Tag::kBool) ? IValue(int64_t{value.as_bool()}) : value;
  };
  // Through a float of 32 bits: a quirk of PyTorch's.
  const auto narrow = [&] { return static_cast<double>(static_cast<float>(float_of(number()))); };
  switch (key) {
    case 'd':
    case 'i':
      if (const IValue given = number(); given.is(Tag::kInt)) {
        text += std::to_string(given.as_int());
      } else {
        const double real = given.as_float();
        const bool fits = real > -2147483649.0 && real < 2147483648.0;
        text += std::to_string(fits ? static_cast<int32_t>(real) : INT32_MIN);
      }
      return;
    case 'e':
      text += fmt::format("{:.6e}", narrow());
      return;
    case 'E':
      text += fmt::format("{:.6E}", narrow());
      return;
    case 'f':
    case 'F':
      text += fmt::format("{:.6f}", narrow());
      return;
    case 'c':
      if (value.is(Tag::kInt)) {
        text += static_cast<char>(value.as_int());
      } else if (value.is(Tag::kString) && value.as_string().size() == 1) {
        text += value.as_string();
      } else {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("%c requires an int or char for formatting, but got {}", tag_word(value)));
      }
      return;
    case 's':
      add_text(call, value, 0, text);
      return;
    default:
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("The specifier %{} is not supported in TorchScript format strings",
                              printable(std::string(1, key))));
  }
}

std::string percent_formatted(Call& call) {
  const std::string& format = call[0].as_string();
  if (call.size() != 2) throw Error(ErrorCode::kInvalidArgument, "% takes one value, or a tuple");
  const bool is_tuple = call[1].is(Tag::kTuple);
  const size_t count = is_tuple ? call[1].items().size() : 1;
  std::string text;
  size_t used = 0;
  for (size_t from = 0;;) {
    const size_t place = format.find('%', from);
    text.append(format, from, place == std::string::npos ? place : place - from);
    if (place == std::string::npos) break;
    if (place + 1 == format.size()) throw Error(ErrorCode::kInvalidArgument, "Incomplete format specifier");
    from = place + 2;
    if (format[place + 1] == '%') {
      text += '%';
      continue;
    }
    if (used >= count) throw Error(ErrorCode::kInvalidArgument, "Too few arguments for format string");
    add_percent(call, format[place + 1], is_tuple ? call[1].items()[used] : call[1], text);
    ++used;
  }
  if (used != count) throw Error(ErrorCode::kInvalidArgument, "Too many arguments for format string");
  return text;
}

std::string based(int64_t number, char letter, unsigned bits) {
  const bool is_negative = number < 0;
  uint64_t rest = is_negative ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[rest & ((1U << bits) - 1)]);
    rest >>= bits;
  } while (rest != 0);
  return std::string(is_negative ? "-0" : "0") + letter + digits;
}

}  // namespace

std::string float_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (value >= -0x1p63 && value < 0x1p63 && (std::isnormal(value) || value == 0)) {
    const auto number = static_cast<int64_t>(value);
    if (static_cast<double>(number) == value) return std::to_string(number) + ".";
  }
  return fmt::format("{:.17g}", value);
}

std::string text_of(Call& call, const IValue& value) {
  std::string text;
  add_text(call, value, 0, text);
  return text;
}

void define_formats(Builtins& builtins) {
  const Definer define(builtins);
  define("aten::str", [](Call& call, const IValue& value) { return text_of(call, value); });
  define("aten::format", formatted);
  define("aten::percentFormat", percent_formatted);
  define("aten::hex", [](int64_t number) { return based(number, 'x', 4); });
  define("aten::oct", [](int64_t number) { return based(number, 'o', 3); });
  define("aten::bin", [](int64_t number) { return based(number, 'b', 1); });
  define("prim::Print", [](Call& call) {
    std::string text;
    for (size_t i = 0; i < call.size(); ++i) {
      if (i > 0) text += ' ';
      text += text_of(call, call[i]);
    }
    call.machine().print(text + '\n');
  });
  define("aten::warn",
         [](Call& call, const std::string& message, int64_t) { call.machine().warn(call.node(), message); });
}

}  // namespace flambeau::interpreter
