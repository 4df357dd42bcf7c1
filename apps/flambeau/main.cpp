// The command line of flambeau: the list of subcommands, and the one place where errors become messages.
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <system_error>

#include "commands.h"
#include "flambeau/error.h"
#include "parser.h"
#include "reports.h"
#include "supervisor.h"
#include "terminal.h"

namespace {

using namespace flambeau::cli;  // NOLINT: this file is the command itself
using flambeau::Error;
using flambeau::ErrorCode;

std::vector<Option> common_options(CommonOptions& common) {
  return {
      Option("--json", "Print one JSON document, for scripts", &common.json),
      Option("-q,--quiet", "Print only errors and findings; no progress", &common.quiet),
      Option("-j,--threads", "Threads to work with (default: all cores)", &common.threads).between(1, 1024),
      Option("--time-limit", "Stop after that many seconds", &common.time_limit)
          .between(0, std::numeric_limits<double>::max()),
      Option("--memory-limit", "Stop beyond that much memory: 500MB, 4GB", &common.memory_limit).in_bytes(),
  };
}

// A full disk must not pass for success in a script.
int report_lost_output() {
  if (!is_reader_gone()) report_error(Error(ErrorCode::kIo, "standard output cannot be written"), {});
  return kExitError;
}

int run(const Command& command, const CommonOptions& common) {
  try {
    const int code = [&] {
      const Supervisor supervisor(common);
      return command.run(common);
    }();
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? code : report_lost_output();
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return report_lost_output();
    report_error(Error(ErrorCode::kIo, error.what()), common);
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
  open_closed_streams();
  CommonOptions common;
  const std::vector<Option> options = common_options(common);
  std::vector<Command> commands = {
      inspect_command(),        check_command(),    convert_command(),      diff_command(),
      verify_command(),         graph_command(),    code_command(),         compile_command(),
      compile_script_command(), migrate_command(),  canonicalize_command(), run_command(),
      bench_command(),          export_command(),   list_command(),         extract_command(),
      opnames_command(),        optimize_command(),
  };
  commands.push_back(completion_command(commands, options));
  const Parsed parsed = parse(commands, options, argc, argv);
  if (parsed.command != nullptr) return run(*parsed.command, common);
  return std::cout.flush() ? parsed.exit_code : report_lost_output();  // --help, --version
}
