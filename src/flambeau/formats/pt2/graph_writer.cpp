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

void GraphWriter::argument(const Argument& argument) {
  using K = ArgumentKind;
  const auto tensor = [&](const ValueRef& ref) { named(ref); };
  const auto integer = [&](int64_t value) { out_.integer(value); };
  const auto real = [&](double value) { meta_.real(value); };
  const auto sym = [&](const auto& item) {
    out_.begin_object();
    if (item.ref) {
      out_.key("as_name");
      out_.string(item.ref->name());
    } else if constexpr (std::is_same_v<decltype(item), const SymArgument<int64_t>&>) {
      out_.key("as_int");
      out_.integer(item.literal);
    } else if constexpr (std::is_same_v<decltype(item), const SymArgument<double>&>) {
      out_.key("as_float");
      meta_.real(item.literal);
    } else {
      out_.key("as_bool");
      out_.boolean(item.literal);
    }
    out_.end_object();
  };

  out_.begin_object();
  if (argument.is(K::kUnknown)) {
    const json::Member& member = argument.get<K::kUnknown>();
    out_.key(member.first);
    out_.value(member.second);
    out_.end_object();
    return;
  }
  out_.key(graph::argument_kind_key(argument.kind()));
  switch (argument.kind()) {
    case K::kNone:
      out_.boolean(true);
      break;
    case K::kTensor:
      named(argument.get<K::kTensor>());
      break;
    case K::kTensors:
      write_list(out_, argument.get<K::kTensors>(), tensor);
      break;
    case K::kInt:
      out_.integer(argument.get<K::kInt>());
      break;
    case K::kInts:
      write_list(out_, argument.get<K::kInts>(), integer);
      break;
    case K::kFloat:
      meta_.real(argument.get<K::kFloat>());
      break;
    case K::kFloats:
      write_list(out_, argument.get<K::kFloats>(), real);
      break;
    case K::kString:
      out_.string(argument.get<K::kString>());
      break;
    case K::kStrings:
      string_list(argument.get<K::kStrings>());
      break;
    case K::kSymInt:
      sym(argument.get<K::kSymInt>());
      break;
    case K::kSymInts:
      write_list(out_, argument.get<K::kSymInts>(), sym);
      break;
    case K::kScalarType:
      out_.integer(schema_number(argument.get<K::kScalarType>()));
      break;
    case K::kMemoryFormat:
      out_.integer(schema_number(argument.get<K::kMemoryFormat>()));
      break;
    case K::kLayout:
      out_.integer(schema_number(argument.get<K::kLayout>()));
      break;
    case K::kDevice:
      meta_.device(argument.get<K::kDevice>());
      break;
    case K::kBool:
      out_.boolean(argument.get<K::kBool>());
      break;
    case K::kBools:
      write_list(out_, argument.get<K::kBools>(), [&](uint8_t value) { out_.boolean(value != 0); });
      break;
    case K::kSymBool:
      sym(argument.get<K::kSymBool>());
      break;
    case K::kSymBools:
      write_list(out_, argument.get<K::kSymBools>(), sym);
      break;
    case K::kGraph: {
      const graph::GraphArgument& inner = argument.get<K::kGraph>();
      out_.begin_object();
      out_.key("name");
      out_.string(inner.name);
      out_.key("graph");
      graph(*inner.graph);
      meta_.extras(inner.extras);
      out_.end_object();
      break;
    }
    case K::kOptionalTensors:
      write_list(out_, argument.get<K::kOptionalTensors>(),
                 [&](const ValueRef& ref) { optional_tensor(ref); });
      break;
    case K::kCustomObj:
      custom_obj(argument.get<K::kCustomObj>());
      break;
    case K::kOperator:
      out_.string(argument.get<K::kOperator>());
      break;
    case K::kSymFloat:
      sym(argument.get<K::kSymFloat>());
      break;
    case K::kSymFloats:
      write_list(out_, argument.get<K::kSymFloats>(), sym);
      break;
    case K::kOptionalTensor:
      optional_tensor(argument.get<K::kOptionalTensor>());
      break;
    case K::kComplex:
      out_.begin_object();
      out_.key("real");
      meta_.real(argument.get<K::kComplex>().real());
      out_.key("imag");
      meta_.real(argument.get<K::kComplex>().imag());
      out_.end_object();
      break;
    case K::kNestedTensors:
      write_list(out_, argument.get<K::kNestedTensors>(),
                 [&](const auto& list) { write_list(out_, list, tensor); });
      break;
    case K::kIntLists:
      write_list(out_, argument.get<K::kIntLists>(),
                 [&](const auto& list) { write_list(out_, list, integer); });
      break;
    case K::kStringToArgument:
      out_.begin_object();
      for (const auto& [key, item] : *argument.get<K::kStringToArgument>()) {
        out_.key(key);
        this->argument(item);
      }
      out_.end_object();
      break;
    case K::kFloatLists:
      write_list(out_, argument.get<K::kFloatLists>(),
                 [&](const auto& list) { write_list(out_, list, real); });
      break;
    case K::kUnknown:
      break;
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
