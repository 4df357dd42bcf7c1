#include "flambeau/graph/text/print.h"

#include <fmt/format.h>

#include "flambeau/graph/text/expr.h"
#include "flambeau/graph/text/graph.h"
#include "flambeau/graph/text/sections.h"

namespace flambeau::graph {
namespace {

// PyTorch forgets the name of what it takes for a constant.
std::string argument_name(const Argument& argument) {
  const Value* const value = argument.value();
  return value == nullptr || argument.is(ArgumentKind::kSymBool) ? "" : value->name();
}

void print_signature(std::string& out, const GraphSignature& signature) {
  out += "Graph signature: \n    # inputs\n";
  for (const InputSpec& spec : signature.inputs) {
    out += fmt::format("    {}: {}",
                       spec.kind == InputKind::kConstantInput ? spec.target : argument_name(spec.argument),
                       input_kind_word(spec.kind));
    switch (spec.kind) {
      case InputKind::kParameter:
      case InputKind::kBuffer:
      case InputKind::kTensorConstant:
      case InputKind::kCustomObj:
        out += fmt::format(" target='{}'", spec.target);
        break;
      default:
        break;
    }
    if (spec.kind == InputKind::kBuffer) {
      out += fmt::format(" persistent={}", spec.persistent ? "True" : "False");
    }
    out += '\n';
  }
  if (signature.inputs.empty()) out += "    \n";
  out += "    \n    # outputs\n";
  for (const OutputSpec& spec : signature.outputs) {
    out += fmt::format("    {}: {}", argument_name(spec.argument), output_kind_word(spec.kind));
    if (spec.input) {
      out += fmt::format(" target='{}'", spec.input->name());
    } else if (!spec.target.empty()) {
      out += fmt::format(" target='{}'", spec.target);
    }
    out += '\n';
  }
  if (signature.outputs.empty()) out += "    \n";
  out += "    \n";
}

std::string bound_text(const std::optional<int64_t>& bound, std::string_view unbounded) {
  return bound ? std::to_string(*bound) : std::string(unbounded);
}

// Those of symbols and expressions that some value's description has; PyTorch drops the others when it loads
// a program.
void print_ranges(TextContext& context) {
  ExprTerms terms;
  for (const ExprNames::Entry& entry : context.exprs.entries()) terms.add(*entry.expr);
  std::string out;
  for (const auto& [symbol, range] : context.program.range_constraints) {
    if (!terms.contains(symbol)) continue;
    if (!out.empty()) out += ", ";
    out += fmt::format("{}: VR[{}, {}]", symbol, bound_text(range.min, "-int_oo"),
                       bound_text(range.max, "int_oo"));
  }
  context.out += "Range constraints: {" + out + "}\n";
}

}  // namespace

std::string to_text(const ExportedProgram& program, const TextOptions& options) {
  TextContext context{program, options, ExprNames(options.lossless), {}, {}, {}};
  if (options.lossless) {
    // The comments say both.
    context.options.strides = context.options.devices = false;
    print_header(context);
  }
  context.out += "ExportedProgram:\n";
  print_graph(context, program.graph(), "GraphModule", 0);
  if (options.lossless) {
    print_sections(context);
  } else {
    print_signature(context.out, program.signature);
    print_ranges(context);
  }
  return std::move(context.out);
}

}  // namespace flambeau::graph
