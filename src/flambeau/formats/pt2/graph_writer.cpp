#include "flambeau/formats/pt2/graph_writer.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/enums.h"

namespace flambeau::pt2 {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::Graph;
using graph::NamedArgument;
using graph::PassedBy;
using graph::SymArgument;
using graph::Value;
using graph::ValueKind;
using graph::ValueRef;

// Writes `items` as an array, each by `write`.
template <typename Items, typename Write>
void write_list(json::Writer& out, const Items& items, Write&& write) {
  out.begin_array();
  for (const auto& item : items) write(item);
  out.end_array();
}

const std::string& name_of(const ValueRef& ref) {
  if (!ref) throw Error(ErrorCode::kInvalidArgument, "an argument refers to no value");
  return ref->name();
}

}  // namespace

void GraphWriter::string_map(const graph::StringMap& map) {
  out_.begin_object();
  for (const auto& [key, text] : map) {
    out_.key(key);
    out_.string(text);
  }
  out_.end_object();
}

void GraphWriter::string_list(const std::vector<std::string>& list) {
  write_list(out_, list, [&](const std::string& text) { out_.string(text); });
}

void GraphWriter::named(const ValueRef& ref) {
  out_.begin_object();
  out_.key("name");
  out_.string(name_of(ref));
  out_.end_object();
}

void GraphWriter::custom_obj(const graph::CustomObjArgument& argument) {
  out_.begin_object();
  out_.key("name");
  out_.string(name_of(argument.ref));
  out_.key("class_fqn");
  out_.string(argument.class_fqn);
  meta_.extras(argument.extras);
  out_.end_object();
}

void GraphWriter::optional_tensor(const ValueRef& ref) {
  out_.begin_object();
  if (ref) {
    out_.key("as_tensor");
    named(ref);
  } else {
    out_.key("as_none");
    out_.boolean(true);
  }
  out_.end_object();
}

template <typename Number>
void GraphWriter::sym(const SymArgument<Number>& argument) {
  out_.begin_object();
  if (argument.ref) {
    out_.key("as_name");
    out_.string(argument.ref->name());
  } else {
    out_.key(std::is_same_v<Number, int64_t>  ? "as_int"
             : std::is_same_v<Number, double> ? "as_float"
                                              : "as_bool");
    data(argument.literal);
  }
  out_.end_object();
}

// What the file has of an argument follows from the type of its data.
template <typename T>
void GraphWriter::data(const T& data) {
  if constexpr (std::is_same_v<T, std::monostate>) {
    out_.boolean(true);
  } else if constexpr (std::is_same_v<T, ValueRef>) {
    named(data);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>) {
    out_.boolean(data != 0);
  } else if constexpr (std::is_same_v<T, int64_t>) {
    out_.integer(data);
  } else if constexpr (std::is_same_v<T, double>) {
    meta_.real(data);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out_.string(data);
  } else if constexpr (requires { schema_number(data); }) {
    out_.integer(schema_number(data));
  } else if constexpr (std::is_same_v<T, graph::DeviceSpec>) {
    meta_.device(data);
  } else if constexpr (requires { sym(data); }) {
    sym(data);
  } else if constexpr (std::is_same_v<T, graph::CustomObjArgument>) {
    custom_obj(data);
  } else if constexpr (std::is_same_v<T, graph::GraphArgument>) {
    out_.begin_object();
    out_.key("name");
    out_.string(data.name);
    out_.key("graph");
    graph(*data.graph);
    meta_.extras(data.extras);
    out_.end_object();
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    out_.begin_object();
    out_.key("real");
    meta_.real(data.real());
    out_.key("imag");
    meta_.real(data.imag());
    out_.end_object();
  } else if constexpr (std::is_same_v<T, std::unique_ptr<graph::ArgumentDict>>) {
    out_.begin_object();
    for (const auto& [key, item] : *data) {
      out_.key(key);
      argument(item);
    }
    out_.end_object();
  } else {
    static_assert(graph::kIsList<T>);
    write_list(out_, data, [this](const auto& item) { this->data(item); });
  }
}

void GraphWriter::argument(const Argument& argument) {
  using K = ArgumentKind;
  out_.begin_object();
  if (argument.is(K::kUnknown)) {
    const json::Member& member = argument.get<K::kUnknown>();
    out_.key(member.first);
    out_.value(member.second);
  } else {
    out_.key(graph::argument_kind_key(argument.kind()));
    std::visit(
        [this]<K kKind, typename T>(const graph::ArgumentData<kKind, T>& holder) {
          if constexpr (kKind == K::kOptionalTensor) {
            optional_tensor(holder.data);
          } else if constexpr (kKind == K::kOptionalTensors) {
            write_list(out_, holder.data, [this](const ValueRef& ref) { optional_tensor(ref); });
          } else if constexpr (kKind != K::kUnknown) {
            data(holder.data);
          }
        },
        argument.data());
  }
  out_.end_object();
}

void GraphWriter::arguments(const std::vector<Argument>& list) {
  write_list(out_, list, [&](const Argument& item) { argument(item); });
}

void GraphWriter::node(const graph::Node& node) {
  out_.begin_object();
  out_.key("target");
  out_.string(node.target.text());
  out_.key("inputs");
  write_list(out_, node.inputs(), [&](const NamedArgument& input) {
    out_.begin_object();
    out_.key("name");
    out_.string(input.name);
    out_.key("arg");
    argument(input.argument);
    if (style_.has_argument_kind) {
      out_.key("kind");
      if (input.passed_by == PassedBy::kUnsaid) {
        out_.null();
      } else {
        out_.integer(static_cast<int64_t>(input.passed_by) - static_cast<int64_t>(PassedBy::kUnknown));
      }
    }
    meta_.extras(input.extras);
    out_.end_object();
  });
  out_.key("outputs");
  arguments(node.outputs());
  out_.key("metadata");
  string_map(node.metadata);
  if (style_.has_hop_single_return && (node.is_hop_single_tensor_return || !style_.omits_nulls)) {
    out_.key("is_hop_single_tensor_return");
    if (node.is_hop_single_tensor_return) {
      out_.boolean(*node.is_hop_single_tensor_return);
    } else {
      out_.null();
    }
  }
  if (style_.has_node_name) {
    out_.key("name");
    if (node.name) {
      out_.string(*node.name);
    } else {
      out_.null();
    }
  }
  meta_.extras(node.extras);
  out_.end_object();
}

void GraphWriter::values(std::string_view key, ValueKind kind, const Graph& graph) {
  out_.key(key);
  out_.begin_object();
  for (const Value* value : graph.values_of(kind)) {
    out_.key(value->name());
    switch (kind) {
      case ValueKind::kTensor:
        meta_.tensor(std::get<graph::TensorMeta>(value->meta()));
        break;
      case ValueKind::kSymInt:
        meta_.sym(std::get<graph::SymInt>(value->meta()));
        break;
      case ValueKind::kSymFloat:
        meta_.sym(std::get<graph::SymFloat>(value->meta()));
        break;
      case ValueKind::kSymBool:
        meta_.sym(std::get<graph::SymBool>(value->meta()));
        break;
      default: {
        const auto& object = std::get<graph::CustomObjMeta>(value->meta());
        out_.begin_object();
        out_.key("name");
        out_.string(object.name);
        out_.key("class_fqn");
        out_.string(object.class_fqn);
        meta_.extras(object.extras);
        out_.end_object();
      }
    }
  }
  out_.end_object();
}

void GraphWriter::graph(const Graph& graph) {
  out_.begin_object();
  out_.key("inputs");
  arguments(graph.inputs());
  out_.key("outputs");
  arguments(graph.outputs());
  out_.key("nodes");
  write_list(out_, graph.nodes(), [&](const graph::Node& item) { node(item); });
  values("tensor_values", ValueKind::kTensor, graph);
  values("sym_int_values", ValueKind::kSymInt, graph);
  values("sym_bool_values", ValueKind::kSymBool, graph);
  out_.key("is_single_tensor_return");
  out_.boolean(graph.is_single_tensor_return);
  if (style_.has_custom_obj_values) values("custom_obj_values", ValueKind::kCustomObj, graph);
  if (style_.has_sym_float_values) values("sym_float_values", ValueKind::kSymFloat, graph);
  meta_.extras(graph.extras);
  out_.end_object();
}

}  // namespace flambeau::pt2
