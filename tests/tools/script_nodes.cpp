// Reads functions of TorchScript, separated by lines of "%%", compiles each alone and prints on a line of its
// own the nodes of its graph without constants, "aten::add.Tensor prim::ListConstruct", or "error: " and why
// not.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;

std::string nodes_of(const std::shared_ptr<const script::OperatorTable>& operators, const std::string& text) {
  script::Unit unit(operators);
  const auto functions =
      script::compiler::define_text(unit, std::make_shared<script::Source>(text, std::string()));
  std::string names;
  script::ir::for_each_node(
      std::as_const(functions.at(0)->graph()->block()), [&](const script::ir::Node& node) {
        if (node.is(script::ir::NodeKind::kConstant)) return;
        if (!names.empty()) names += ' ';
        names += node.op != nullptr ? node.op->schema.name.to_string()
                                    : std::string(script::ir::node_kind_name(node.kind()));
      });
  return names;
}

}  // namespace

int main() {
  const auto operators = std::make_shared<const script::OperatorTable>(std::make_shared<SchemaTable>());
  std::string text;
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line != "%%") {
      text += line + "\n";
      continue;
    }
    try {
      std::cout << nodes_of(operators, text) << '\n';
    } catch (const Error& error) {
      std::string message = error.what();
      std::ranges::replace(message, '\n', ' ');
      std::cout << "error: " << message << '\n';
    }
    text.clear();
  }
  return 0;
}
