// flambeau inspect, of exported programs: inputs, outputs, symbols, operators, modules.
#include <fmt/format.h>

#include "command_inspect_program.h"
#include "flambeau/error.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using Summary = graph::ProgramSummary;

void print_ports(std::string_view heading, const std::vector<Summary::Port>& ports) {
  print_heading(heading);
  Table table({"name", "type", "", ""});
  for (const Summary::Port& port : ports) {
    table.add({printable(port.name), printable(port.type, 200), printable(port.path), port.effect});
  }
  table.print(2);
}

std::string range_text(const Summary::Symbol& symbol) {
  const std::string low = symbol.min ? fmt::format("{}", *symbol.min) : "any";
  return symbol.max ? fmt::format("{} to {}", low, *symbol.max) : fmt::format("{} or more", low);
}

}  // namespace

void print_program(const pt2::Model& model, size_t limit) {
  const graph::ExportedProgram& program = model.program;
  const Summary summary = summarize(program);
  print_heading(fmt::format("program '{}'", printable(model.name)));
  std::string facts = fmt::format("schema {}", pt2::to_string(program.schema_version));
  if (!program.torch_version.empty())
    facts += fmt::format(", exported by PyTorch {}", printable(program.torch_version));
  facts += fmt::format(", {}", counted(summary.nodes, "node"));
  if (summary.subgraphs != 0)
    facts += fmt::format(" in {} and the main graph", counted(summary.subgraphs, "subgraph"));
  fmt::print("  {}\n", facts);
  fmt::print("  {} ({}, {}), {} ({}), {} ({})\n", counted(summary.parameters, "parameter"),
             counted(summary.parameter_elements, "value"), human_bytes(summary.parameter_bytes),
             counted(summary.buffers, "buffer"), human_bytes(summary.buffer_bytes),
             counted(summary.constants, "constant"), human_bytes(summary.constant_bytes));
  print_ports("inputs", summary.inputs);
  print_ports("outputs", summary.outputs);
  if (!summary.symbols.empty()) {
    print_heading("symbols");
    Table table({"symbol", "range", "example"});
    for (const Summary::Symbol& symbol : summary.symbols) {
      table.add({symbol.label.empty() ? printable(symbol.name)
                                      : fmt::format("{} ({})", printable(symbol.name), symbol.label),
                 range_text(symbol), symbol.example ? fmt::format("{}", *symbol.example) : ""});
    }
    table.print(2);
  }
  print_heading("operators");
  Table operators({"operator", "times"});
  operators.align_right(1);
  for (size_t i = 0; i < summary.operators.size() && (limit == 0 || i < limit); ++i) {
    operators.add({printable(summary.operators[i].first), fmt::format("{}", summary.operators[i].second)});
  }
  operators.print(2);
  if (limit != 0 && summary.operators.size() > limit) {
    fmt::print("  ... and {} more (--limit 0 shows all)\n", summary.operators.size() - limit);
  }
  if (summary.modules.empty()) return;
  print_heading("weights by module");
  Table modules({"module", "tensors", "values", "bytes"});
  for (const size_t column : {1, 2, 3}) modules.align_right(column);
  for (size_t i = 0; i < summary.modules.size() && (limit == 0 || i < limit); ++i) {
    const Summary::Module& module = summary.modules[i];
    modules.add({module.name.empty() ? "(the model itself)" : printable(module.name),
                 fmt::format("{}", module.tensors), fmt::format("{}", module.elements),
                 human_bytes(module.bytes)});
  }
  modules.print(2);
}

}  // namespace flambeau::cli
