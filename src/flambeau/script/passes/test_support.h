// Graphs before and after a pass, as text.
#pragma once

#include <memory>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using TestedPass = void (*)(ir::Graph& graph, Unit& unit);

inline std::string after(TestedPass pass, const std::string& text) {
  Unit unit(std::make_shared<const SchemaTable>());
  const std::shared_ptr<ir::Graph> graph = ir::parse_graph(text, unit.operators());
  pass(*graph, unit);
  graph->check();
  return ir::to_text(*graph);
}

inline std::string error_of(TestedPass pass, const std::string& text) {
  try {
    return after(pass, text);
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace flambeau::script
