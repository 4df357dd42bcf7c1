// Reads the text form of a graph.
#include <fmt/format.h>

#include <charconv>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/ir/text_cursor.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::ir {

namespace {

class GraphParser {
 public:
  GraphParser(TextCursor& cursor, const SchemaTable& operators, int depth)
      : cursor_(cursor), operators_(operators), depth_(depth) {}

  std::shared_ptr<Graph> graph() {
    graph_ = std::make_shared<Graph>();
    cursor_.expect("graph");
    inputs_of(graph_->block());
    nodes_of(graph_->block(), "return");
    outputs_of(graph_->block());
    return graph_;
  }

 private:
  Value* find(std::string_view name, size_t at) {
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) cursor_.fail_at(at, fmt::format("nothing made %{}", printable(name)));
    return found->second;
  }

  void declare(std::string_view name, Value* value, size_t at) {
    if (!values_.try_emplace(std::string(name), value).second) {
      cursor_.fail_at(at, fmt::format("%{} is made twice", printable(name)));
    }
    if (name.find_first_not_of("0123456789") != std::string_view::npos) value->set_name(std::string(name));
  }

  void inputs_of(Block& block) {
    cursor_.expect("(");
    while (!cursor_.take(")")) {
      const size_t at = cursor_.offset();
      const std::string_view name = cursor_.value_name();
      cursor_.expect(":");
      declare(name, block.add_input(cursor_.type()), at);
      if (!cursor_.at(")")) cursor_.expect(",");
    }
    cursor_.expect(":");
  }

  std::vector<Value*> values() {
    std::vector<Value*> values;
    cursor_.expect("(");
    while (!cursor_.take(")")) {
      const size_t at = cursor_.offset();
      values.push_back(find(cursor_.value_name(), at));
      if (!cursor_.at(")")) cursor_.expect(",");
    }
    return values;
  }

  void outputs_of(Block& block) {
    for (Value* value : values()) block.add_output(value);
  }

  void nodes_of(Block& block, std::string_view end) {
    if (++depth_ > kMostBlockDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", kMostBlockDepth));
    }
    while (!cursor_.take(end)) node_of(block);
    --depth_;
  }

  Node* make_node(std::string_view kind, std::span<Value* const> inputs, size_t at) {
    for (size_t i = 1; i < static_cast<size_t>(NodeKind::kParameters); ++i) {
      const auto known = static_cast<NodeKind>(i);
      if (node_kind_name(known) == kind) return graph_->make(known, inputs, 0);
    }
    const OperatorName name = parse_operator_name(kind);
    const OperatorEntry* op = operators_.find(name);
    if (op == nullptr) {
      cursor_.fail_at(at, fmt::format("there is no operator {}", printable(kind)), ErrorCode::kNotFound);
    }
    Node* node = graph_->make(NodeKind::kOperator, inputs, 0);
    node->op = op;
    return node;
  }

  void node_of(Block& block) {
    struct Declared {
      std::string_view name;
      size_t at;
      Type type;
    };
    std::vector<Declared> outputs;
    while (cursor_.at("%")) {
      const size_t at = cursor_.offset();
      const std::string_view name = cursor_.value_name();
      cursor_.expect(":");
      outputs.push_back({name, at, cursor_.type()});
      if (!cursor_.take(",")) break;
    }
    if (!outputs.empty()) cursor_.expect("=");
    const size_t at = cursor_.offset();
    const std::string_view kind = cursor_.kind();
    Node fields;
    fields_of(fields, outputs.empty() ? nullptr : &outputs[0].type);
    const std::vector<Value*> inputs = values();
    Node* node = make_node(kind, inputs, at);
    const OperatorEntry* op = node->op;
    node->copy_fields(fields);
    node->op = op;
    block.append(node);
    for (Declared& output : outputs) {
      declare(output.name, node->add_output(std::move(output.type)), output.at);
    }
    blocks_of(*node);
  }

  void fields_of(Node& node, const Type* type) {
    if (!cursor_.take("[")) return;
    while (!cursor_.take("]")) {
      const size_t at = cursor_.offset();
      const std::string_view field = cursor_.word();
      cursor_.expect("=");
      if (field == "name") {
        node.name = cursor_.string();
      } else if (field == "value") {
        node.constant = cursor_.constant(type, 0);
      } else if (field == "begin") {
        node.begin = cursor_.integer();
      } else if (field == "end") {
        node.end = cursor_.integer();
      } else if (field == "warn_id") {
        node.warn_id = cursor_.integer();
      } else if (field == "types") {
        cursor_.expect("[");
        while (!cursor_.take("]")) {
          node.types.push_back(cursor_.type());
          if (!cursor_.at("]")) cursor_.expect(",");
        }
      } else {
        cursor_.fail_at(at, fmt::format("a node has no field '{}'", printable(field)));
      }
      if (!cursor_.at("]")) cursor_.expect(",");
    }
  }

  void blocks_of(Node& node) {
    while (cursor_.at_prefix("block")) {
      cursor_.word();
      Block* block = node.add_block();
      inputs_of(*block);
      nodes_of(*block, "->");
      outputs_of(*block);
    }
    if (!cursor_.at("graph")) return;
    if (++depth_ > kMostBlockDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("graphs are nested deeper than {}", kMostBlockDepth));
    }
    node.subgraph = GraphParser(cursor_, operators_, depth_).graph();
    --depth_;
  }

  TextCursor& cursor_;
  const SchemaTable& operators_;
  int depth_;
  std::shared_ptr<Graph> graph_;
  std::unordered_map<std::string, Value*> values_;
};

}  // namespace

std::shared_ptr<Graph> parse_graph(std::string_view text, const SchemaTable& operators) {
  TextCursor cursor(text);
  std::shared_ptr<Graph> graph = GraphParser(cursor, operators, 0).graph();
  if (!cursor.at_end()) cursor.fail("the text goes on behind the graph");
  return graph;
}

}  // namespace flambeau::script::ir
