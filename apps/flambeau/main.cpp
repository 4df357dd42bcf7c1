// The command line of flambeau: the list of subcommands, and the one place where errors become messages.
#include <cstdio>
#include <exception>
#include <new>

#include "commands.h"
#include "flambeau/error.h"
#include "parser.h"
#include "reports.h"

namespace {

using namespace flambeau::cli;  // NOLINT: this file is the command itself
using flambeau::Error;
using flambeau::ErrorCode;

std::vector<Option> common_options(CommonOptions& common) {
  return {
      Option("--json", "Print one JSON document, for scripts", &common.json),
      Option("-q,--quiet", "Print only errors and findings; no progress", &common.quiet),
      Option("-j,--threads", "Threads to work with (default: all cores)", &common.threads).between(1, 1024),
  };
}

int run(const Command& command, const CommonOptions& common) {
  try {
    const int code = command.run(common);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    // A full disk must not pass for success in a script.
    report_error(Error(ErrorCode::kIo, "standard output cannot be written"), {});
  } catch (const Error& error) {
    report_error(error, common);
  } catch (const std::bad_alloc&) {
    report_error(Error(ErrorCode::kLimit, "not enough memory"), common);
  } catch (const std::exception& error) {
    report_error(Error(ErrorCode::kInternal, error.what(), "this is a bug of Flambeau: please report it"),
                 common);
  }
  return kExitError;
}

}  // namespace

int main(int argc, char** argv) {
  CommonOptions common;
  const std::vector<Option> options = common_options(common);
  std::vector<Command> commands = {
      inspect_command(), check_command(),  convert_command(),      diff_command(),
      verify_command(),  graph_command(),  canonicalize_command(), run_command(),
      bench_command(),   export_command(), list_command(),         extract_command(),
  };
  commands.push_back(completion_command(commands, options));
  const Parsed parsed = parse(commands, options, argc, argv);
  return parsed.command == nullptr ? parsed.exit_code : run(*parsed.command, common);
}
