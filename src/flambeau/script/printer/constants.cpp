#include "flambeau/script/printer/constants.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/script/printer/tensor_key.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

namespace {

constexpr int kMostConstantNesting = 200;

bool has_wide_string(const IValue& value, int depth) {
  if (depth > kMostConstantNesting) throw Error(ErrorCode::kLimit, "a constant is nested too deep to print");
  switch (value.tag()) {
    case IValue::Tag::kString:
      for (const char c : value.as_string()) {
        if (static_cast<unsigned char>(c) >= 0x80) return true;
      }
      return false;
    case IValue::Tag::kList:
    case IValue::Tag::kTuple:
      for (const IValue& item : value.items()) {
        if (has_wide_string(item, depth + 1)) return true;
      }
      return false;
    case IValue::Tag::kDict:
      for (const DictItems::Entry& entry : value.as_dict().items.entries()) {
        if (has_wide_string(entry.key, depth + 1) || has_wide_string(entry.value, depth + 1)) return true;
      }
      return false;
    default:
      return false;
  }
}

// As a part of a complex number: larger integral numbers keep their point here.
std::string part_text(double value) {
  constexpr double kMostInt64 = 9223372036854774784.0;
  if (value == std::trunc(value) && std::abs(value) <= kMostInt64) {
    return std::to_string(static_cast<int64_t>(value)) + ".";
  }
  return float_text(value);
}

std::string complex_text(std::complex<double> value) {
  return part_text(value.real()) + (value.imag() >= 0 ? "+" : "-") + part_text(std::abs(value.imag())) + "j";
}

class ConstantPrinter {
 public:
  ConstantPrinter(ConstantTable& constants, const ClassNames& names) : constants_(constants), names_(names) {}

  void print(const IValue& value) {
    if (++depth_ > kMostConstantNesting) {
      throw Error(ErrorCode::kLimit, "a constant is nested too deep to print");
    }
    const bool is_referred = value.is(IValue::Tag::kTensor) || value.is(IValue::Tag::kObject) ||
                             value.is(IValue::Tag::kNative) || has_wide_string(value, 0);
    if (is_referred) {
      text_ += fmt::format("CONSTANTS.c{}", constants_.add(value));
    } else {
      print_literal(value);
    }
    --depth_;
  }

  std::string take() { return std::move(text_); }

 private:
  void print_literal(const IValue& value) {
    switch (value.tag()) {
      case IValue::Tag::kNone:
        text_ += "None";
        return;
      case IValue::Tag::kBool:
        text_ += value.as_bool() ? "True" : "False";
        return;
      case IValue::Tag::kInt:
        text_ += std::to_string(value.as_int());
        return;
      case IValue::Tag::kFloat:
        text_ += float_text(value.as_float());
        return;
      case IValue::Tag::kComplex:
        text_ += complex_text(value.as_complex());
        return;
      case IValue::Tag::kString:
        text_ += quoted_text(value.as_string());
        return;
      case IValue::Tag::kDevice:
        text_ += fmt::format("torch.device({})", quoted_text(value.as_device().to_string()));
        return;
      case IValue::Tag::kEnum:
        text_ += fmt::format("{}.{}", value.as_enum().type->qualified_name(), value.as_enum().name);
        return;
      case IValue::Tag::kTuple:
        if (const Class* named = value.as_tuple().named.get()) {
          text_ += printed_name(named->qualified_name(), names_);
        }
        print_items(value.items(), '(', value.items().size() == 1 ? ",)" : ")");
        return;
      case IValue::Tag::kList:
        print_list(value.as_list());
        return;
      case IValue::Tag::kDict:
        print_dict(value.as_dict());
        return;
      default:
        throw Error(ErrorCode::kUnsupported, fmt::format("a constant of type {} cannot be written as code",
                                                         printable(value.kind_name())));
    }
  }

  void print_items(const std::vector<IValue>& items, char begin, std::string_view end) {
    text_ += begin;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      print(items[i]);
    }
    text_ += end;
  }

  void print_list(const ListBox& list) {
    // The annotation of a constant has the names that types have themselves.
    const bool is_plain = !list.items.empty() && is_inferred_from_members(list.element, false);
    if (!is_plain) text_ += fmt::format("annotate({}, ", annotation_text(Type::list(list.element)));
    print_items(list.items, '[', "]");
    if (!is_plain) text_ += ')';
  }

  void print_dict(const DictBox& dict) {
    const bool is_plain = dict.items.size() != 0 && is_inferred_from_members(dict.value, false);
    if (!is_plain) text_ += fmt::format("annotate({},", annotation_text(Type::dict(dict.key, dict.value)));
    text_ += '{';
    bool is_first = true;
    for (const DictItems::Entry& entry : dict.items.entries()) {
      if (!is_first) text_ += ", ";
      is_first = false;
      print(entry.key);
      text_ += ": ";
      print(entry.value);
    }
    text_ += is_plain ? "}" : "})";
  }

  ConstantTable& constants_;
  const ClassNames& names_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

size_t ConstantTable::add(const IValue& value) {
  if (value.is(IValue::Tag::kTensor)) {
    if (const std::optional<std::string> key = tensor_key(value.as_tensor())) {
      const auto [place, is_new] = tensors_.try_emplace(*key, values_.size());
      if (!is_new) return place->second;
    }
  }
  values_.push_back(value);
  return values_.size() - 1;
}

std::string constant_text(const IValue& value, ConstantTable& constants, const ClassNames& names) {
  ConstantPrinter printer(constants, names);
  printer.print(value);
  return printer.take();
}

std::string printed_name(const std::string& qualified_name, const ClassNames& names) {
  return names ? names(qualified_name) : qualified_name;
}

std::string float_text(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{:.17g}", value);
  // From 1e10 on PyTorch leaves the point out, and then reads an integer.
  if (text.find_first_of(".e") == std::string::npos) text += '.';
  return text;
}

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    switch (c) {
      case '\\':
      case '\'':
      case '"':
        result += '\\';
        result += c;
        break;
      case '\a':
        result += "\\a";
        break;
      case '\b':
        result += "\\b";
        break;
      case '\f':
        result += "\\f";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\v':
        result += "\\v";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f) {
          result += c;
        } else {
          result += fmt::format("\\{:03o}", byte);
        }
      }
    }
  }
  return result + "\"";
}

bool is_inferred_from_members(const Type& element, bool is_interface) {
  return !is_interface && !element.is(TypeKind::kUnion) && !element.is(TypeKind::kOptional) &&
         !element.is(TypeKind::kNumber) && !element.is(TypeKind::kAny);
}

}  // namespace flambeau::script
