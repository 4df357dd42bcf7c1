#include "flambeau/graph/text/atoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "flambeau/graph/text/names.h"
#include "flambeau/graph/text/python.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;

std::string json_text(const json::Value& value) { return python_repr(std::string_view(json::dump(value))); }

std::string extras_text(const Extras& extras) { return json_text(json::Value(extras.members())); }

class AtomPrinter {
 public:
  AtomPrinter(std::string& out, const AtomNames& names) : out_(out), names_(names) {}

  void argument(const Argument& argument) {
    switch (argument.kind()) {
      case K::kIntLists:
        return list(argument.get<K::kIntLists>(), [&](const auto& dims) { tuple(dims); });
      case K::kString:
        out_ += python_repr(std::string_view(argument.get<K::kString>()));
        return;
      case K::kOperator:
        return operator_name(argument.get<K::kOperator>());
      default:
        std::visit([&](const auto& holder) { item(holder.data); }, argument.data());
    }
  }

 private:
  template <typename Items, typename Write>
  void list(const Items& items, Write&& write) {
    out_ += '[';
    bool is_first = true;
    for (const auto& entry : items) {
      if (!is_first) out_ += ", ";
      is_first = false;
      write(entry);
    }
    out_ += ']';
  }

  void tuple(const std::vector<int64_t>& numbers) {
    out_ += '(';
    for (size_t i = 0; i < numbers.size(); ++i) out_ += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
    out_ += numbers.size() == 1 ? ",)" : ")";
  }

  void operator_name(const std::string& name) {
    const bool is_constant =
        name.starts_with("torch.") && kind_for_torch_word(std::string_view(name).substr(6)) != K::kOperator;
    if (names_.lossless && (!is_dotted_name(name) || is_constant)) {
      out_ += "operator(" + python_repr(std::string_view(name)) + ")";
    } else {
      out_ += name;
    }
  }

  void item(std::monostate) { out_ += "None"; }
  void item(int64_t number) { out_ += std::to_string(number); }
  void item(double number) { out_ += python_repr(number); }
  void item(bool flag) { out_ += flag ? "True" : "False"; }
  void item(uint8_t flag) { item(flag != 0); }
  void item(const std::string& text) { out_ += python_repr(std::string_view(text)); }
  void item(std::complex<double> number) { out_ += python_repr(number); }
  void item(DType dtype) { out_ += fmt::format("torch.{}", dtype_name(dtype)); }
  void item(MemoryFormat format) { out_ += fmt::format("torch.{}", memory_format_name(format)); }
  void item(Layout layout) { out_ += fmt::format("torch.{}", layout_name(layout)); }
  void item(const DeviceSpec& device) { out_ += device_atom(device); }
  void item(const ValueRef& ref) { out_ += ref ? names_.value(*ref) : "None"; }
  void item(const CustomObjArgument& object) { item(object.ref); }
  void item(const GraphArgument& inner) { out_ += names_.graph(inner); }
  void item(const json::Member& member) {
    out_ += "json(" + json_text(json::Value(json::Object{member})) + ")";
  }
  template <typename Number>
  void item(const SymArgument<Number>& number) {
    if (number.ref) {
      out_ += names_.value(*number.ref);
    } else {
      item(number.literal);
    }
  }
  void item(const std::unique_ptr<ArgumentDict>& dict) {
    out_ += '{';
    if (dict != nullptr) {
      bool is_first = true;
      for (const auto& [key, value] : *dict) {
        if (!is_first) out_ += ", ";
        is_first = false;
        out_ += python_repr(std::string_view(key)) + ": ";
        argument(value);
      }
    }
    out_ += '}';
  }
  template <typename T>
  void item(const std::vector<T>& items) {
    list(items, [&](const auto& entry) { item(entry); });
  }

  std::string& out_;
  const AtomNames& names_;
};

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

void note(ListShape& shape, const ValueRef& ref) {
  if (ref) {
    shape.add_name(ref->kind());
  } else {
    shape.has_none = true;
  }
}
void note(ListShape& shape, int64_t) { shape.has_integer = true; }
void note(ListShape& shape, double) { shape.has_real = true; }
void note(ListShape& shape, bool) { shape.has_bool = true; }
void note(ListShape& shape, uint8_t) { shape.has_bool = true; }
void note(ListShape& shape, const std::string&) { shape.has_string = true; }
template <typename T>
void note(ListShape& shape, const std::vector<T>&) {
  shape.has_other = true;
}
void note(ListShape& shape, const std::vector<int64_t>&) { shape.has_tuple = true; }
template <typename Number>
void note(ListShape& shape, const SymArgument<Number>& item) {
  if (item.ref) {
    shape.add_name(item.ref->kind());
  } else {
    note(shape, item.literal);
  }
}

// What reading the atom alone gives.
K inferred_kind(const Argument& argument) {
  switch (argument.kind()) {
    case K::kTensor:
    case K::kSymInt:
    case K::kSymFloat:
    case K::kSymBool:
    case K::kCustomObj:
    case K::kOptionalTensor:
      if (const Value* const value = argument.value()) return kind_for_value(value->kind());
      if (argument.is(K::kSymInt)) return K::kInt;
      if (argument.is(K::kSymFloat)) return K::kFloat;
      if (argument.is(K::kSymBool)) return K::kBool;
      return K::kNone;
    default:
      break;
  }
  return std::visit(
      [&](const auto& holder) {
        if constexpr (kIsList<std::decay_t<decltype(holder.data)>>) {
          ListShape shape;
          for (const auto& item : holder.data) note(shape, item);
          return kind_for_list(shape);
        } else {
          return argument.kind();
        }
      },
      argument.data());
}

}  // namespace

void append_atom(std::string& to, const Argument& argument, const AtomNames& names) {
  AtomPrinter(to, names).argument(argument);
}

std::string device_atom(const DeviceSpec& device) {
  const std::string type = python_repr(std::string_view(device.type));
  return device.index ? fmt::format("device(type={}, index={})", type, *device.index)
                      : fmt::format("device(type={})", type);
}

std::string name_token(std::string_view name) {
  static constexpr std::string_view kWords[] = {"inf", "nan", "torch", "device", "self", "json", "operator"};
  const bool is_plain = is_identifier(name) && !is_python_keyword(name) &&
                        std::find(std::begin(kWords), std::end(kWords), name) == std::end(kWords);
  return is_plain ? std::string(name) : "%" + python_repr(name);
}

bool is_dotted_name(std::string_view text) {
  bool has_dot = false;
  while (true) {
    const size_t dot = text.find('.');
    if (!is_identifier(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return has_dot;
    has_dot = true;
    text.remove_prefix(dot + 1);
  }
}

ArgumentKind kind_for_torch_word(std::string_view word) {
  if (layout_from_name(word)) return K::kLayout;
  if (dtype_from_name(word)) return K::kScalarType;
  for (const MemoryFormat format : {MemoryFormat::kContiguous, MemoryFormat::kPreserve,
                                    MemoryFormat::kChannelsLast, MemoryFormat::kChannelsLast3d}) {
    if (memory_format_name(format) == word) return K::kMemoryFormat;
  }
  return K::kOperator;
}

std::string_view kind_word(ArgumentKind kind) {
  return kind == K::kUnknown ? "json" : argument_kind_key(kind).substr(3);
}

bool kind_from_word(std::string_view word, ArgumentKind& kind) {
  for (size_t i = 0; i < kArgumentKinds; ++i) {
    if (kind_word(static_cast<K>(i)) != word) continue;
    kind = static_cast<K>(i);
    return true;
  }
  return false;
}

ArgumentKind kind_for_list(const ListShape& shape) {
  const int constants = shape.has_integer + shape.has_real + shape.has_bool + shape.has_none;
  const int others = shape.has_string + shape.has_tuple + shape.has_other;
  if (shape.has_other || constants + others > 1 || (shape.has_name && others > 0)) return K::kUnknown;
  if (shape.has_none) return K::kOptionalTensors;
  if (shape.has_string) return K::kStrings;
  if (shape.has_tuple) return K::kIntLists;
  if (!shape.has_name) return shape.has_real ? K::kFloats : shape.has_bool ? K::kBools : K::kInts;
  if (shape.has_integer) return K::kSymInts;
  if (shape.has_real) return K::kSymFloats;
  if (shape.has_bool) return K::kSymBools;
  switch (shape.first_name) {
    case ValueKind::kSymInt:
      return K::kSymInts;
    case ValueKind::kSymFloat:
      return K::kSymFloats;
    case ValueKind::kSymBool:
      return K::kSymBools;
    default:
      return K::kTensors;
  }
}

ArgumentKind kind_for_value(ValueKind kind) {
  switch (kind) {
    case ValueKind::kSymInt:
      return K::kSymInt;
    case ValueKind::kSymFloat:
      return K::kSymFloat;
    case ValueKind::kSymBool:
      return K::kSymBool;
    case ValueKind::kCustomObj:
      return K::kCustomObj;
    default:
      return K::kTensor;
  }
}

std::string kind_note(const Argument& argument) {
  switch (argument.kind()) {
    case K::kCustomObj: {
      const CustomObjArgument& object = argument.get<K::kCustomObj>();
      const auto* const meta = object.ref ? std::get_if<CustomObjMeta>(&object.ref->meta()) : nullptr;
      if (meta != nullptr && meta->class_fqn == object.class_fqn && object.extras.empty()) return "";
      return fmt::format("custom_obj({}{})", python_repr(std::string_view(object.class_fqn)),
                         object.extras.empty() ? "" : ", " + extras_text(object.extras));
    }
    case K::kDevice: {
      const DeviceSpec& device = argument.get<K::kDevice>();
      return device.extras.empty() ? "" : fmt::format("device({})", extras_text(device.extras));
    }
    case K::kStringToArgument: {
      std::string inner;
      bool says_something = false;
      if (argument.get<K::kStringToArgument>() == nullptr) return "";
      for (const auto& [key, item] : *argument.get<K::kStringToArgument>()) {
        const std::string note = kind_note(item);
        if (!inner.empty()) inner += ", ";
        inner += note.empty() ? "_" : note;
        says_something = says_something || !note.empty();
      }
      return says_something ? "string_to_argument(" + inner + ")" : "";
    }
    default:
      return inferred_kind(argument) == argument.kind() ? "" : std::string(kind_word(argument.kind()));
  }
}

}  // namespace flambeau::graph
