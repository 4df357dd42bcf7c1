#include "flambeau/script/ir/text.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::ir {

namespace {

constexpr int kMostValueDepth = 100;

std::string quoted_field(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{:.17g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".";
  return text;
}

void print_items(std::string& to, const std::vector<IValue>& items, int depth);

void print_value(std::string& to, const IValue& value, int depth) {
  if (depth > kMostValueDepth) {
    to += "...";
    return;
  }
  switch (value.tag()) {
    case IValue::Tag::kNone:
      to += "None";
      return;
    case IValue::Tag::kBool:
      to += value.as_bool() ? "True" : "False";
      return;
    case IValue::Tag::kInt:
      to += std::to_string(value.as_int());
      return;
    case IValue::Tag::kFloat:
      to += number_text(value.as_float());
      return;
    case IValue::Tag::kComplex:
      to += fmt::format("complex({}, {})", number_text(value.as_complex().real()),
                        number_text(value.as_complex().imag()));
      return;
    case IValue::Tag::kString:
      to += quoted_field(value.as_string());
      return;
    case IValue::Tag::kDevice:
      to += fmt::format("device({})", quoted_field(value.as_device().to_string()));
      return;
    case IValue::Tag::kList:
      to += '[';
      print_items(to, value.items(), depth);
      to += ']';
      return;
    case IValue::Tag::kTuple:
      to += '(';
      print_items(to, value.items(), depth);
      to += value.items().size() == 1 ? ",)" : ")";
      return;
    case IValue::Tag::kEnum:
      to += fmt::format("<{}.{}>", value.as_enum().type->qualified_name(), value.as_enum().name);
      return;
    default:
      to += fmt::format("<{}>", value.kind_name());
      return;
  }
}

void print_items(std::string& to, const std::vector<IValue>& items, int depth) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) to += ", ";
    print_value(to, items[i], depth + 1);
  }
}

class GraphPrinter {
 public:
  void print_graph(const Graph& graph, int level) {
    indent(level);
    text_ += "graph(";
    print_declared(graph.inputs());
    text_ += "):\n";
    print_nodes(graph.block(), level + 1);
    indent(level + 1);
    text_ += "return (";
    print_used(graph.outputs());
    text_ += ")\n";
  }

  void print_line(const Node& node) {
    print_declared(node.outputs());
    if (!node.outputs().empty()) text_ += " = ";
    text_ += node.is(NodeKind::kOperator) ? node.op->schema.name.to_string()
                                          : std::string(node_kind_name(node.kind()));
    print_fields(node);
    text_ += '(';
    print_used(node.inputs());
    text_ += ")";
  }

  std::string take() { return std::move(text_); }

 private:
  void indent(int level) { text_.append(static_cast<size_t>(level) * 2, ' '); }

  void print_nodes(const Block& block, int level) {
    if (level > kMostBlockDepth * 2) throw Error(ErrorCode::kLimit, "blocks are nested too deep to print");
    for (const Node* node = block.first(); node != nullptr; node = node->next()) {
      indent(level);
      print_line(*node);
      text_ += '\n';
      for (size_t i = 0; i < node->blocks().size(); ++i) {
        const Block& inner = *node->block(i);
        indent(level + 1);
        text_ += fmt::format("block{}(", i);
        print_declared(inner.inputs());
        text_ += "):\n";
        print_nodes(inner, level + 2);
        indent(level + 2);
        text_ += "-> (";
        print_used(inner.outputs());
        text_ += ")\n";
      }
      if (node->subgraph != nullptr) {
        GraphPrinter inner;
        inner.print_graph(*node->subgraph, level + 1);
        text_ += inner.take();
      }
    }
  }

  void print_fields(const Node& node) {
    std::string fields;
    const auto add = [&](std::string_view field, const std::string& value) {
      fields += fmt::format("{}{}={}", fields.empty() ? "" : ", ", field, value);
    };
    if (!node.name.empty()) add("name", quoted_field(node.name));
    if (node.is(NodeKind::kConstant) && node.name.empty() && !node.constant.is_none()) {
      add("value", to_text(node.constant));
    }
    if (node.is(NodeKind::kIsInstance)) {
      std::string types;
      for (const Type& type : node.types) types += (types.empty() ? "" : ", ") + type.to_string();
      add("types", "[" + types + "]");
    }
    if (node.is(NodeKind::kTupleSlice)) {
      add("begin", std::to_string(node.begin));
      add("end", std::to_string(node.end));
    }
    if (node.warn_id >= 0) add("warn_id", std::to_string(node.warn_id));
    if (!fields.empty()) text_ += "[" + fields + "]";
  }

  void print_name(const Value& value) {
    text_ += '%';
    if (value.has_name()) {
      text_ += value.name();
    } else {
      text_ += std::to_string(numbers_.try_emplace(&value, numbers_.size()).first->second);
    }
  }

  void print_declared(std::span<Value* const> values) {
    for (const Value* value : values) {
      if (value != values.front()) text_ += ", ";
      print_name(*value);
      text_ += " : " + value->type().to_string();
    }
  }

  void print_used(std::span<Value* const> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      print_name(*values[i]);
    }
  }

  std::string text_;
  std::unordered_map<const Value*, size_t> numbers_;
};

}  // namespace

std::string to_text(const Graph& graph) {
  GraphPrinter printer;
  printer.print_graph(graph, 0);
  return printer.take();
}

std::string to_text(const Node& node) {
  GraphPrinter printer;
  printer.print_line(node);
  return printer.take();
}

std::string to_text(const IValue& value) {
  std::string text;
  print_value(text, value, 0);
  return text;
}

}  // namespace flambeau::script::ir
