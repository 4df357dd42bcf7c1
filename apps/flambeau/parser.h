// The command line against the table of commands.
#pragma once

#include <optional>
#include <vector>

#include "command.h"

namespace flambeau::cli {

struct Parsed {
  const Command* command = nullptr;
  int exit_code = kExitOk;  // where there is no command to run: --help was shown, or what is wrong
};

// Fills the options' targets. Prints help to standard output, and one line on standard error where the
// command line is wrong; with --json a document on standard output.
Parsed parse(const std::vector<Command>& commands, const std::vector<Option>& common, int argc, char** argv);

}  // namespace flambeau::cli
