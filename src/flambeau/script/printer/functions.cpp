// A function's head and body.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/printer/code_writer.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;

void CodeWriter::write_default(const Argument& argument) {
  const IValue& value = *argument.default_value;
  const bool is_repeated =
      argument.type.is(TypeKind::kList) && argument.list_size &&
      (value.is(IValue::Tag::kInt) || value.is(IValue::Tag::kFloat) || value.is(IValue::Tag::kBool));
  if (!is_repeated) return put("=" + constant_text(value, constants_, printed_names_));
  std::vector<IValue> items(static_cast<size_t>(*argument.list_size), value);
  const IValue list = IValue::list(argument.type.element(), std::move(items));
  put("=" + constant_text(list, constants_, printed_names_));
}

void CodeWriter::write_function(const Function& function, bool with_first_type) {
  const Signature& signature = function.signature();
  const ir::Graph& graph = *function.graph();
  if (signature.arguments.size() != graph.inputs().size() || signature.returns.size() != 1) {
    throw Error(ErrorCode::kInternal, fmt::format("{}: the signature is not that of the graph",
                                                  printable(function.qualified_name())));
  }
  names_.forget();
  inlining_.clear();
  variables_.clear();
  expressions_.clear();
  annotated_.clear();
  seen_constants_.clear();
  split_inputs_.clear();

  const RangeScope scope(*this, *graph.block().parameter_node());
  indent();
  put(fmt::format("def {}(", function.name()));
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const Argument& argument = signature.arguments[i];
    const ir::Value* input = graph.inputs()[i];
    mention(argument.type);
    const std::string name = names_.make(argument.name);
    if (i > 0) put(",\n    ");
    put(name);
    if (i > 0 || with_first_type) {
      put(": " + type_of(argument.type));
      annotated_.insert(input);
    }
    if (argument.default_value) write_default(argument);
    variables_[input] = name;
  }
  put(") -> " + type_of(signature.returns[0]) + ":\n");
  mention(signature.returns[0]);
  write_body(graph.block());
}

// Constants stand before everything, in the order of their first use.
void CodeWriter::collect_constants(const ir::Block& block, std::vector<const Node*>& found) {
  const auto collect = [&](const Node& node) {
    for (const ir::Value* input : node.inputs()) {
      const Node* maker = input->node();
      if (maker->is(NodeKind::kConstant) && seen_constants_.insert(maker).second) found.push_back(maker);
    }
  };
  if (++depth_ > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
  }
  for (const Node* node = block.first(); node != nullptr; node = node->next()) {
    collect(*node);
    for (const ir::Block* inner : node->blocks()) collect_constants(*inner, found);
  }
  collect(*block.return_node());
  --depth_;
}

void CodeWriter::write_body(const ir::Block& body) {
  std::vector<const Node*> constants;
  collect_constants(body, constants);
  inlining_.scan(body);
  ++level_;
  for (const Node* constant : constants) {
    const RangeScope scope(*this, *constant);
    mention_types(*constant);
    write_expression_node(*constant);
  }
  write_block(body, !body.outputs().empty());
  write_node(*body.return_node());
  --level_;
}

void CodeWriter::write_block(const ir::Block& block, bool has_more) {
  if (++depth_ > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
  }
  if (!has_more && block.is_empty()) {
    indent();
    put("pass\n");
  }
  for (const Node* node = block.first(); node != nullptr; node = node->next()) write_node(*node);
  --depth_;
}

}  // namespace flambeau::script
