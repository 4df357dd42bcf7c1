// A subcommand as a value: what it is called, takes, says of itself and does. The parser, --help and the
// completions of all shells are made from these values and from nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/json.h"

namespace flambeau::cli {

// 0: done, and for check, diff, run --check-against: harmless, equal. 1: they found something. 2: an error.
enum ExitCode : int { kExitOk = 0, kExitFound = 1, kExitError = 2 };

// What every subcommand takes.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  double time_limit = 0;      // seconds; 0 for none
  uint64_t memory_limit = 0;  // bytes; 0 for none
};

// What a word on the command line stands for.
enum class Takes : uint8_t {
  kText,
  kInput,   // a file to read: "-" is standard input
  kOutput,  // a file or folder to write
};

class Option {
 public:
  // A flag, a value, or several of them: a list is a positional of any number, or may be repeated.
  using Target = std::variant<bool*, int*, uint64_t*, double*, std::string*, std::vector<std::string>*>;

  // `all_names`: "-s,--stats", or "FILE" for a positional.
  Option(std::string_view all_names, std::string_view what, Target to)
      : names(all_names), help(what), target(to) {}

  Option& required() { return is_required = true, *this; }
  Option& takes(Takes what) { return value = what, *this; }
  // Nothing else is accepted.
  Option& one_of(std::vector<std::string_view> words) { return choices = std::move(words), *this; }
  // Completions offer these; others are accepted.
  Option& such_as(std::vector<std::string_view> words) { return suggestions = std::move(words), *this; }
  Option& between(double least, double most) { return range = {least, most}, *this; }
  // A number of bytes: "5GB", "500MB", "2GiB".
  Option& in_bytes() { return is_bytes = true, *this; }
  Option& excludes(std::string_view other) { return excluded = other, *this; }
  // --help shows the value that the target has at first.
  Option& shows_default() { return has_shown_default = true, *this; }

  bool is_positional() const { return !names.starts_with('-'); }
  bool is_flag() const { return std::holds_alternative<bool*>(target); }
  bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }
  // "--stats", "-s"; empty when there is none.
  std::string_view long_name() const;
  std::string_view short_name() const;
  // What completions offer for the value.
  const std::vector<std::string_view>& offered() const { return choices.empty() ? suggestions : choices; }

  std::string_view names;
  std::string_view help;
  Target target;
  Takes value = Takes::kText;
  bool is_required = false;
  bool has_shown_default = false;
  bool is_bytes = false;
  std::vector<std::string_view> choices;
  std::vector<std::string_view> suggestions;
  std::optional<std::pair<double, double>> range;
  std::string_view excluded;  // an option that cannot be given together with this one
};

struct Example {
  std::string_view line;  // without "flambeau "
  std::string_view what;  // what it does; may be empty
};

struct Command {
  std::string_view name;
  std::string_view summary;
  std::vector<Option> options;
  std::vector<Example> examples;  // the first one also stands in the help of the whole
  std::function<int(const CommonOptions&)> run;
  std::string_view notes = {};  // below the options in --help
};

// What scripts source: bash, zsh or fish.
std::string completion_script(std::string_view shell, const std::vector<Command>& commands,
                              const std::vector<Option>& common);

// All of it as one document: `flambeau --help --json`, from which the documentation is written.
json::Value table_of(const std::vector<Command>& commands, const std::vector<Option>& common);

// "Examples:\n  flambeau ...    what" in columns.
std::string examples_text(const std::vector<Example>& examples);

}  // namespace flambeau::cli
