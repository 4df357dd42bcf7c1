// The subcommands, one value for each, in the order in which --help lists them.
#pragma once

#include <vector>

#include "command.h"

namespace flambeau::cli {

Command inspect_command();
Command check_command();
Command convert_command();
Command diff_command();
Command verify_command();
Command graph_command();
Command code_command();
Command compile_command();
Command compile_script_command();
Command migrate_command();
Command opnames_command();
Command optimize_command();
Command canonicalize_command();
Command run_command();
Command bench_command();
Command export_command();
Command list_command();
Command extract_command();
// Knows the others, which must stay where they are, and the options of all.
Command completion_command(const std::vector<Command>& commands, const std::vector<Option>& common);

}  // namespace flambeau::cli
