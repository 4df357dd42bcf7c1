#include <vector>

#include "flambeau/script/operators/legacy.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

void replace_old_convolutions(ir::Graph& graph, const Unit& unit) {
  std::vector<ir::Block*> rest{&graph.block()};
  while (!rest.empty()) {
    ir::Block* block = rest.back();
    rest.pop_back();
    for (ir::Node* node = block->first(); node != nullptr;) {
      ir::Node* next = node->next();
      rest.insert(rest.end(), node->blocks().begin(), node->blocks().end());
      const OperatorEntry* op = node->is(ir::NodeKind::kOperator)
                                    ? new_convolution(unit.operators(), node->op->schema.name)
                                    : nullptr;
      if (op != nullptr && node->inputs().size() == 8) {
        ir::Value* const inputs[] = {node->input(0), node->input(1), node->input(6), node->input(7)};
        ir::Node* made = graph.make_operator(*op, inputs);
        made->range = node->range;
        made->insert_before(node);
        node->output()->replace_uses_with(made->output());
        node->destroy();
      }
      node = next;
    }
  }
}

}  // namespace flambeau::script
