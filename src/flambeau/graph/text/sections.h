// What the lossless form writes around the graph: signature, ranges, expressions, module calls, versions.
#pragma once

#include <string_view>

#include "flambeau/graph/signature.h"
#include "flambeau/graph/text/graph.h"

namespace flambeau::graph {

// Members of ExportedProgram::Style by their names in the text.
struct StyleFlag {
  std::string_view name;
  bool ExportedProgram::Style::* flag;
};
inline constexpr StyleFlag kStyleFlags[] = {
    {"argument_kind", &ExportedProgram::Style::has_argument_kind},
    {"node_name", &ExportedProgram::Style::has_node_name},
    {"hop_single_return", &ExportedProgram::Style::has_hop_single_return},
    {"custom_obj_values", &ExportedProgram::Style::has_custom_obj_values},
    {"sym_float_values", &ExportedProgram::Style::has_sym_float_values},
    {"metadata", &ExportedProgram::Style::has_metadata},
    {"named_tuples", &ExportedProgram::Style::has_named_tuples},
    {"forward_arg_names", &ExportedProgram::Style::has_forward_arg_names},
    {"verifiers", &ExportedProgram::Style::has_verifiers},
    {"torch_version", &ExportedProgram::Style::has_torch_version},
    {"guards_code", &ExportedProgram::Style::has_guards_code},
    {"bare_infinity", &ExportedProgram::Style::has_bare_infinity},
};

// As PyTorch prints the kinds: "USER_INPUT".
std::string_view input_kind_word(InputKind kind);
std::string_view output_kind_word(OutputKind kind);

void print_header(TextContext& context);
void print_sections(TextContext& context);

}  // namespace flambeau::graph
