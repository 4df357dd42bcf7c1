#include "flambeau/graph/text/argument.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/atoms.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;
using L = Literal::Kind;

[[noreturn]] void fail_kind(const Literal& literal, std::string_view expected) {
  fail_at(literal.place, fmt::format("expected {}", expected));
}

int64_t integer_of(const Literal& literal) {
  if (literal.kind != L::kInteger) fail_kind(literal, "an integer");
  return literal.integer;
}
double real_of(const Literal& literal) {
  if (literal.kind != L::kReal && literal.kind != L::kInteger) fail_kind(literal, "a number");
  return literal.number.real();
}
bool bool_of(const Literal& literal) {
  if (literal.kind != L::kBool) fail_kind(literal, "True or False");
  return literal.flag;
}
std::string string_of(const Literal& literal) {
  if (literal.kind != L::kString) fail_kind(literal, "a string");
  return literal.text;
}

template <typename Make>
auto list_of(const Literal& literal, Make&& make) {
  if (literal.kind != L::kList && literal.kind != L::kTuple) fail_kind(literal, "a list");
  std::vector<std::decay_t<decltype(make(literal))>> list;
  list.reserve(literal.items.size());
  for (const Literal& item : literal.items) list.push_back(make(item));
  return list;
}

MemoryFormat memory_format_of(const Literal& literal) {
  for (const MemoryFormat format : {MemoryFormat::kContiguous, MemoryFormat::kPreserve,
                                    MemoryFormat::kChannelsLast, MemoryFormat::kChannelsLast3d}) {
    if (literal.kind == L::kTorch && memory_format_name(format) == literal.text) return format;
  }
  fail_kind(literal, "a memory format, torch.contiguous_format");
}

DType dtype_of(const Literal& literal) {
  const std::optional<DType> dtype = literal.kind == L::kTorch ? dtype_from_name(literal.text) : std::nullopt;
  if (!dtype) fail_kind(literal, "an element type, torch.float32");
  return *dtype;
}

Layout layout_of(const Literal& literal) {
  const std::optional<Layout> layout =
      literal.kind == L::kTorch ? layout_from_name(literal.text) : std::nullopt;
  if (!layout) fail_kind(literal, "a layout, torch.strided");
  return *layout;
}

}  // namespace

ValueRef ArgumentMaker::ref(const Literal& literal) const {
  if (literal.kind != L::kName) fail_kind(literal, "a value's name");
  return ValueRef(graph.value(literal.text));
}

template <typename Number>
SymArgument<Number> ArgumentMaker::sym(const Literal& literal) const {
  SymArgument<Number> made;
  if (literal.kind == L::kName) {
    made.ref = ref(literal);
  } else if constexpr (std::is_same_v<Number, int64_t>) {
    made.literal = integer_of(literal);
  } else if constexpr (std::is_same_v<Number, double>) {
    made.literal = real_of(literal);
  } else {
    made.literal = bool_of(literal);
  }
  return made;
}

ArgumentKind ArgumentMaker::infer(const Literal& literal) const {
  const auto kind_of_name = [&](const Literal& name) {
    const Value* const value = graph.find(name.text);
    return value == nullptr ? ValueKind::kUnknown : value->kind();
  };
  switch (literal.kind) {
    case L::kNone:
      return K::kNone;
    case L::kBool:
      return K::kBool;
    case L::kInteger:
      return K::kInt;
    case L::kReal:
      return K::kFloat;
    case L::kComplex:
      return K::kComplex;
    case L::kString:
      return K::kString;
    case L::kName:
      return kind_for_value(kind_of_name(literal));
    case L::kOperator:
      return K::kOperator;
    case L::kDevice:
      return K::kDevice;
    case L::kJson:
      return K::kUnknown;
    case L::kDict:
      return K::kStringToArgument;
    case L::kTorch:
      return kind_for_torch_word(literal.text);
    case L::kTuple:
    case L::kList:
      break;
  }
  ListShape shape;
  for (const Literal& item : literal.items) {
    switch (item.kind) {
      case L::kNone:
        shape.has_none = true;
        break;
      case L::kName:
        shape.add_name(kind_of_name(item));
        break;
      case L::kInteger:
        shape.has_integer = true;
        break;
      case L::kReal:
        shape.has_real = true;
        break;
      case L::kBool:
        shape.has_bool = true;
        break;
      case L::kString:
        shape.has_string = true;
        break;
      case L::kTuple:
        shape.has_tuple = true;
        break;
      default:
        shape.has_other = true;
    }
  }
  const K kind = kind_for_list(shape);
  if (kind == K::kUnknown) {
    fail_at(literal.place, "the list's items are of different kinds", "say in the comment what it is");
  }
  return kind;
}

DeviceSpec ArgumentMaker::device(const Literal& literal, const KindSpec& spec) {
  if (literal.kind != L::kDevice) fail_kind(literal, "a device, device(type='cpu')");
  DeviceSpec device;
  device.type = literal.text;
  if (literal.flag) device.index = literal.integer;
  if (!spec.extras.empty()) device.extras = parse_extras(spec.extras, spec.place);
  return device;
}

CustomObjArgument ArgumentMaker::object(const Literal& literal, const KindSpec& spec) const {
  CustomObjArgument object;
  object.ref = ref(literal);
  if (spec.kind) {
    object.class_fqn = spec.class_fqn;
    if (!spec.extras.empty()) object.extras = parse_extras(spec.extras, spec.place);
  } else if (const auto* const meta = std::get_if<CustomObjMeta>(&object.ref->meta())) {
    object.class_fqn = meta->class_fqn;
  }
  return object;
}

std::unique_ptr<ArgumentDict> ArgumentMaker::dict(const Literal& literal, const KindSpec& spec) const {
  if (literal.kind != L::kDict) fail_kind(literal, "a dictionary");
  if (!spec.items.empty() && spec.items.size() != literal.items.size()) {
    fail_at(spec.place, fmt::format("the dictionary has {} items, the comment {} kinds", literal.items.size(),
                                    spec.items.size()));
  }
  auto dict = std::make_unique<ArgumentDict>();
  for (size_t i = 0; i < literal.items.size(); ++i) {
    dict->emplace_back(literal.keys[i],
                       make(literal.items[i], spec.items.empty() ? KindSpec() : spec.items[i]));
  }
  return dict;
}

// How an argument is written follows from the type of its data.
template <typename T>
T ArgumentMaker::data(const Literal& literal, const KindSpec& spec) const {
  if constexpr (std::is_same_v<T, std::monostate>) {
    if (literal.kind != L::kNone) fail_kind(literal, "None");
    return {};
  } else if constexpr (std::is_same_v<T, ValueRef>) {
    return ref(literal);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>) {
    return static_cast<T>(bool_of(literal));
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return integer_of(literal);
  } else if constexpr (std::is_same_v<T, double>) {
    return real_of(literal);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return string_of(literal);
  } else if constexpr (std::is_same_v<T, DType>) {
    return dtype_of(literal);
  } else if constexpr (std::is_same_v<T, MemoryFormat>) {
    return memory_format_of(literal);
  } else if constexpr (std::is_same_v<T, Layout>) {
    return layout_of(literal);
  } else if constexpr (std::is_same_v<T, DeviceSpec>) {
    return device(literal, spec);
  } else if constexpr (requires(T number) { number.literal; }) {
    return sym<decltype(T::literal)>(literal);
  } else if constexpr (std::is_same_v<T, CustomObjArgument>) {
    return object(literal, spec);
  } else if constexpr (std::is_same_v<T, GraphArgument>) {
    fail_kind(literal, "the name of a subgraph");
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    if (literal.kind != L::kComplex) fail_kind(literal, "a complex number");
    return literal.number;
  } else if constexpr (std::is_same_v<T, std::unique_ptr<ArgumentDict>>) {
    return dict(literal, spec);
  } else if constexpr (std::is_same_v<T, json::Member>) {
    if (literal.kind != L::kJson) fail_kind(literal, "json('{...}')");
    return at_place(literal.place, [&] {
      json::Value tree = json::parse(literal.text);
      if (tree.as_object().size() != 1) throw Error(ErrorCode::kCorrupt, "expected an object of one member");
      return std::move(tree.as_object().front());
    });
  } else {
    static_assert(kIsList<T>);
    return list_of(literal, [&](const Literal& item) { return data<typename T::value_type>(item, spec); });
  }
}

Argument ArgumentMaker::make(const Literal& literal, const KindSpec& spec) const {
  if (literal.kind == L::kName && subgraph && (!spec.kind || *spec.kind == K::kGraph)) {
    if (std::optional<GraphArgument> inner = subgraph(literal)) {
      return Argument::make<K::kGraph>(std::move(*inner));
    }
  }
  const auto optional_tensor = [&](const Literal& item) {
    return item.kind == L::kNone ? ValueRef() : ref(item);
  };
  return Argument::of_kind(spec.kind ? *spec.kind : infer(literal), [&]<typename Holder>() {
    if constexpr (Holder::kind == K::kOptionalTensor) {
      return Argument::make<K::kOptionalTensor>(optional_tensor(literal));
    } else if constexpr (Holder::kind == K::kOptionalTensors) {
      return Argument::make<K::kOptionalTensors>(list_of(literal, optional_tensor));
    } else if constexpr (Holder::kind == K::kOperator) {
      if (literal.kind == L::kTorch) return Argument::make<K::kOperator>("torch." + literal.text);
      if (literal.kind != L::kOperator) fail_kind(literal, "an operator");
      return Argument::make<K::kOperator>(literal.text);
    } else {
      return Argument::make<Holder::kind>(data<typename Holder::Type>(literal, spec));
    }
  });
}

}  // namespace flambeau::graph
