#include "flambeau/formats/pt2/graph_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/enums.h"
#include "flambeau/formats/pt2/json_fields.h"

namespace flambeau::pt2 {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::CustomObjArgument;
using graph::Graph;
using graph::GraphArgument;
using graph::NamedArgument;
using graph::PassedBy;
using graph::SymArgument;
using graph::Value;
using graph::ValueKind;
using graph::ValueRef;

ArgumentKind kind_of_key(std::string_view key) {
  static const std::unordered_map<std::string_view, ArgumentKind> kKinds = [] {
    std::unordered_map<std::string_view, ArgumentKind> kinds;
    for (size_t i = 0; i + 1 < graph::kArgumentKinds; ++i) {
      kinds.emplace(graph::argument_kind_key(static_cast<ArgumentKind>(i)), static_cast<ArgumentKind>(i));
    }
    return kinds;
  }();
  const auto found = kKinds.find(key);
  return found == kKinds.end() ? ArgumentKind::kUnknown : found->second;
}

PassedBy read_passed_by(const json::Value& value) {
  if (value.is_null()) return PassedBy::kUnsaid;
  const int64_t number = value.as_int();
  if (number < 0 || number > 2) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is not a way of passing an argument that this version knows", number));
  }
  return number == 0 ? PassedBy::kUnknown : number == 1 ? PassedBy::kPositional : PassedBy::kKeyword;
}

template <typename Read>
auto read_list(json::Value& value, Read&& read) {
  json::Array& items = value.as_array();
  std::vector<std::decay_t<decltype(read(items.front()))>> list;
  list.reserve(items.size());
  for (json::Value& item : items) list.push_back(read(item));
  return list;
}

graph::StringMap read_string_map(json::Value& value) {
  graph::StringMap map;
  json::Object& members = value.as_object();
  map.reserve(members.size());
  for (auto& [key, text] : members) map.emplace_back(key, take_string(text));
  return map;
}

}  // namespace

double GraphReader::real(const json::Value& value) {
  const double number = read_double(value);
  if (!value.is_string() && !std::isfinite(number)) has_bare_infinity_ = true;
  return number;
}

void GraphReader::note_lost(std::string_view what, const graph::Extras& members) {
  constexpr size_t kMostNotes = 10;
  if (members.empty()) return;
  for (const auto& [key, value] : members.members()) {
    if (lost_.size() < kMostNotes) lost_.insert(fmt::format("{} has a member '{}'", what, printable(key)));
  }
}

ValueRef GraphReader::named(json::Value& value, Graph& to, std::string_view what) {
  Fields fields(value, what);
  const std::string& name = fields.required("name").as_string();
  note_lost(what, fields.rest());
  return ValueRef(to.value(name));
}

CustomObjArgument GraphReader::custom_obj(json::Value& value, Graph& to) {
  Fields fields(value, "a custom object");
  CustomObjArgument argument;
  argument.ref = ValueRef(to.value(fields.required("name").as_string()));
  argument.class_fqn = take_string(fields.required("class_fqn"));
  argument.extras = fields.rest();
  return argument;
}

template <typename Number>
SymArgument<Number> GraphReader::sym(json::Value& value, Graph& to) {
  json::Member& member = union_member(value, "a symbolic argument");
  if (member.first == "as_name") return SymArgument<Number>(to.value(member.second.as_string()));
  if constexpr (std::is_same_v<Number, int64_t>) {
    if (member.first == "as_int") return SymArgument<Number>(member.second.as_int());
  } else if constexpr (std::is_same_v<Number, double>) {
    if (member.first == "as_float") return SymArgument<Number>(real(member.second));
  } else {
    if (member.first == "as_bool") return SymArgument<Number>(member.second.as_bool());
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("a symbolic argument has a member '{}', which this version does not know",
                          printable(member.first)));
}

ValueRef GraphReader::optional_tensor(json::Value& value, Graph& to) {
  json::Member& member = union_member(value, "an optional tensor");
  if (member.first == "as_none") return {};
  if (member.first == "as_tensor") return named(member.second, to, "a tensor argument");
  throw Error(ErrorCode::kUnsupported,
              fmt::format("an optional tensor has a member '{}', which this version does not know",
                          printable(member.first)));
}

GraphArgument GraphReader::graph_argument(json::Value& value) {
  Fields fields(value, "a graph argument");
  GraphArgument made;
  made.name = take_string(fields.required("name"));
  made.graph = std::make_unique<Graph>();
  with_location("subgraph", printable(made.name), [&] { graph(fields.required("graph"), *made.graph); });
  made.extras = fields.rest();
  return made;
}

std::complex<double> GraphReader::complex(json::Value& value) {
  Fields fields(value, "a complex number");
  const double re = real(fields.required("real"));
  const double im = real(fields.required("imag"));
  note_lost("a complex number", fields.rest());
  return {re, im};
}

// What the file has of an argument follows from the type of its data.
template <typename T>
T GraphReader::data(json::Value& value, Graph& to) {
  if constexpr (std::is_same_v<T, std::monostate>) {
    return {};
  } else if constexpr (std::is_same_v<T, ValueRef>) {
    return named(value, to, "a tensor argument");
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>) {
    return static_cast<T>(value.as_bool());
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return value.as_int();
  } else if constexpr (std::is_same_v<T, double>) {
    return real(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return take_string(value);
  } else if constexpr (std::is_same_v<T, DType>) {
    return dtype_from_schema(value.as_int());
  } else if constexpr (std::is_same_v<T, MemoryFormat>) {
    return memory_format_from_schema(value.as_int());
  } else if constexpr (std::is_same_v<T, Layout>) {
    return layout_from_schema(value.as_int());
  } else if constexpr (std::is_same_v<T, graph::DeviceSpec>) {
    return meta_.device(value);
  } else if constexpr (requires(T number) { number.literal; }) {
    return sym<decltype(T::literal)>(value, to);
  } else if constexpr (std::is_same_v<T, CustomObjArgument>) {
    return custom_obj(value, to);
  } else if constexpr (std::is_same_v<T, GraphArgument>) {
    return graph_argument(value);
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    return complex(value);
  } else if constexpr (std::is_same_v<T, std::unique_ptr<graph::ArgumentDict>>) {
    auto dict = std::make_unique<graph::ArgumentDict>();
    for (auto& [key, item] : value.as_object()) dict->emplace_back(key, argument(item, to));
    return dict;
  } else {
    static_assert(graph::kIsList<T>);
    return read_list(value, [&](json::Value& item) { return data<typename T::value_type>(item, to); });
  }
}

Argument GraphReader::argument(json::Value& value, Graph& to) {
  using K = ArgumentKind;
  json::Member& member = union_member(value, "an argument");
  const auto optional = [&](json::Value& item) { return optional_tensor(item, to); };
  return Argument::of_kind(kind_of_key(member.first), [&]<typename Holder>() {
    if constexpr (Holder::kind == K::kUnknown) {
      return Argument::make<K::kUnknown>(std::move(member));
    } else if constexpr (Holder::kind == K::kOptionalTensor) {
      return Argument::make<K::kOptionalTensor>(optional(member.second));
    } else if constexpr (Holder::kind == K::kOptionalTensors) {
      return Argument::make<K::kOptionalTensors>(read_list(member.second, optional));
    } else {
      return Argument::make<Holder::kind>(data<typename Holder::Type>(member.second, to));
    }
  });
}

std::vector<Argument> GraphReader::arguments(json::Value& value, Graph& to) {
  return read_list(value, [&](json::Value& item) { return argument(item, to); });
}

void GraphReader::node(json::Value& value, Graph& to) {
  Fields fields(value, "a node");
  graph::Node& node = to.append(take_string(fields.required("target")));
  for (json::Value& item : fields.required("inputs").as_array()) {
    Fields input(item, "a node's input");
    NamedArgument made;
    made.name = take_string(input.required("name"));
    with_location("input", printable(made.name),
                  [&] { made.argument = argument(input.required("arg"), to); });
    const json::Value* const kind = input.optional("kind");
    argument_kind_.note(kind != nullptr);
    if (kind != nullptr) made.passed_by = read_passed_by(*kind);
    made.extras = input.rest();
    node.add_input(std::move(made));
  }
  for (json::Value& output : fields.required("outputs").as_array()) node.add_output(argument(output, to));
  node.metadata = read_string_map(fields.required("metadata"));
  const json::Value* const single = fields.optional("is_hop_single_tensor_return");
  hop_single_return_.note(single != nullptr);
  if (!meta_.is_unsaid(single)) node.is_hop_single_tensor_return = single->as_bool();
  json::Value* const name = fields.optional("name");
  node_name_.note(name != nullptr);
  if (name != nullptr && !name->is_null()) node.name = take_string(*name);
  node.extras = fields.rest();
}

void GraphReader::value(const std::string& name, json::Value& description, ValueKind kind, Graph& to) {
  with_location("value", printable(name), [&] {
    Value& value = to.value(name);
    if (value.kind() != ValueKind::kUnknown) {
      throw Error(ErrorCode::kCorrupt, fmt::format("described twice, as {} and as {}",
                                                   value_kind_name(value.kind()), value_kind_name(kind)));
    }
    switch (kind) {
      case ValueKind::kTensor:
        return to.set_meta(value, meta_.tensor(description));
      case ValueKind::kSymInt:
        return to.set_meta(value, meta_.sym_int(description));
      case ValueKind::kSymFloat:
        return to.set_meta(value, meta_.sym_float(description));
      case ValueKind::kSymBool:
        return to.set_meta(value, meta_.sym_bool(description));
      default: {
        Fields fields(description, "a custom object");
        graph::CustomObjMeta meta;
        meta.name = take_string(fields.required("name"));
        meta.class_fqn = take_string(fields.required("class_fqn"));
        meta.extras = fields.rest();
        return to.set_meta(value, std::move(meta));
      }
    }
  });
}

void GraphReader::values(json::Value& table, ValueKind kind, Graph& to) {
  for (auto& [name, description] : table.as_object()) value(name, description, kind, to);
}

void GraphReader::graph(json::Value& value, Graph& to) { graph(value, nullptr, to); }

void GraphReader::graph(json::Value& value, const Large* large, Graph& to) {
  Fields fields(value, "a graph");
  for (json::Value& input : fields.required("inputs").as_array()) to.add_input(argument(input, to));
  // After the nodes, so that outputs are the last uses of their values.
  json::Value& outputs = fields.required("outputs");
  size_t index = 0;
  const auto add_node = [&](json::Value& item) {
    with_location("node", std::to_string(index++), [&] { node(item, to); });
  };
  json::Array& nodes = fields.required("nodes").as_array();
  json::Value& tensors = fields.required("tensor_values");
  if (large != nullptr) {
    const std::vector<json::Document::Element> items = large->nodes.items();
    to.reserve_values(items.size() + to.value_count());
    for (const json::Document::Element& item : items) {
      json::Value made = item.value();
      add_node(made);
    }
  } else {
    for (json::Value& item : nodes) add_node(item);
  }
  for (json::Value& output : outputs.as_array()) to.add_output(argument(output, to));
  if (large != nullptr) {
    for (const auto& [name, description] : large->tensor_values.members()) {
      json::Value made = description.value();
      this->value(std::string(name), made, ValueKind::kTensor, to);
    }
  } else {
    values(tensors, ValueKind::kTensor, to);
  }
  values(fields.required("sym_int_values"), ValueKind::kSymInt, to);
  values(fields.required("sym_bool_values"), ValueKind::kSymBool, to);
  if (const json::Value* const single = fields.optional("is_single_tensor_return")) {
    to.is_single_tensor_return = single->as_bool();
  }
  json::Value* const custom = fields.optional("custom_obj_values");
  custom_obj_values_.note(custom != nullptr);
  if (custom != nullptr) values(*custom, ValueKind::kCustomObj, to);
  json::Value* const floats = fields.optional("sym_float_values");
  sym_float_values_.note(floats != nullptr);
  if (floats != nullptr) values(*floats, ValueKind::kSymFloat, to);
  to.extras = fields.rest();
}

void GraphReader::describe_style(graph::ExportedProgram::Style& style) const {
  style.has_argument_kind = !argument_kind_.is_absent();
  style.has_node_name = !node_name_.is_absent();
  style.has_hop_single_return = !hop_single_return_.is_absent();
  style.has_custom_obj_values = !custom_obj_values_.is_absent();
  style.has_sym_float_values = !sym_float_values_.is_absent();
  style.has_bare_infinity = has_bare_infinity_;
}

}  // namespace flambeau::pt2
