#include "parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/report.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

constexpr const char* kDescription =
    "Flambeau: PyTorch models without PyTorch.\n"
    "Looks into, checks, converts and runs the files that PyTorch writes. Nothing inside of a file runs, "
    "except the\n"
    "graph of an exported program that you tell it to run.";

constexpr const char* kExitCodes =
    "Exit codes: 0 done (check: harmless, verify: valid, diff and run --check-against: equal), 1 they found "
    "something, 2 an error.";

constexpr const char* kStandardInput = "/dev/stdin";

std::vector<std::string> texts_of(const std::vector<std::string_view>& words) {
  return {words.begin(), words.end()};
}

CLI::Validator choice_of(const std::vector<std::string_view>& words) {
  const std::vector<std::string> choices = texts_of(words);
  CLI::Validator validator(
      [choices](std::string& text) {
        if (std::ranges::find(choices, text) != choices.end()) return std::string();
        return fmt::format(
            "'{}' is none of {}", printable(text),
            did_you_mean(text, choices).empty()
                ? fmt::format("{}", fmt::join(choices, ", "))
                : fmt::format("{}; {}", fmt::join(choices, ", "), did_you_mean(text, choices)));
      },
      fmt::format("{{{}}}", fmt::join(choices, ",")));
  return validator;
}

// Standard input where '-' stands for a file to read, once.
CLI::Validator input_file(const std::shared_ptr<bool>& is_taken) {
  return CLI::Validator(
      [is_taken](std::string& text) {
        if (text != "-") return std::string();
        if (std::exchange(*is_taken, true)) return std::string("standard input cannot be read twice");
        text = kStandardInput;
        return std::string();
      },
      "");
}

CLI::Validator byte_count() {
  return CLI::Validator(
      [](std::string& text) {
        const std::optional<uint64_t> bytes = parse_byte_count(text);
        if (!bytes) return fmt::format("'{}' is no size: write 5GB, 500MB or 2GiB", printable(text));
        text = std::to_string(*bytes);
        return std::string();
      },
      "SIZE");
}

CLI::Option* add_target(CLI::App& app, const Option& option) {
  const std::string names(option.names), help(option.help);
  return std::visit(
      [&](auto* target) -> CLI::Option* {
        using Type = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Type, bool>) {
          return app.add_flag(names, *target, help);
        } else {
          return app.add_option(names, *target, help);
        }
      },
      option.target);
}

void add_options(CLI::App& app, const std::vector<Option>& options) {
  const auto is_taken = std::make_shared<bool>(false);
  std::map<std::string_view, CLI::Option*> by_name;
  for (const Option& option : options) {
    CLI::Option* const added = add_target(app, option);
    by_name[option.is_positional() ? option.names : option.long_name()] = added;
    if (option.is_required) added->required();
    // One value each: what follows is a file.
    if (option.is_list() && !option.is_positional()) added->allow_extra_args(false);
    if (!option.choices.empty()) added->check(choice_of(option.choices));
    if (option.range) {
      const auto [least, most] = *option.range;
      if (std::holds_alternative<double*>(option.target)) {
        added->check(CLI::Range(least, most));
      } else {
        added->check(CLI::Range(static_cast<int64_t>(least), static_cast<int64_t>(most)));
      }
    }
    if (option.value == Takes::kInput) added->transform(input_file(is_taken));
    if (option.is_bytes) added->transform(byte_count());
    if (option.has_shown_default) added->capture_default_str();
    if (!option.excluded.empty()) added->excludes(by_name.at(option.excluded));
  }
}

// The first word that nobody expected.
std::string unexpected_word(const CLI::App& app) {
  for (const std::string& word : app.remaining(true)) return word;
  return {};
}

std::string unexpected_text(const std::string& word, const Command* command,
                            const std::vector<Command>& commands, const std::vector<Option>& common) {
  std::vector<std::string> known;
  if (command == nullptr && !word.starts_with('-')) {
    for (const Command& each : commands) known.emplace_back(each.name);
    const std::string near = did_you_mean(word, known);
    return fmt::format("'{}' is not a subcommand{}{}", printable(word), near.empty() ? "" : "; ", near);
  }
  if (word.starts_with('-')) {
    for (const Option& option : common) known.emplace_back(option.long_name());
    if (command != nullptr) {
      for (const Option& option : command->options) known.emplace_back(option.long_name());
    }
  }
  const std::string near = did_you_mean(word.substr(0, word.find('=')), known);
  return fmt::format("The following argument was not expected: {}{}{}", printable(word),
                     near.empty() ? "" : "; ", near);
}

// One line: what is wrong with the command line, and where help is.
void report_usage(const CLI::App& app, const CLI::ParseError& error, const Command* command,
                  const std::vector<Command>& commands, const std::vector<Option>& common, bool is_json) {
  const std::string word = unexpected_word(app);
  std::string message = error.what();
  const bool is_unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!word.empty() && (is_unexpected || command == nullptr))
    message = unexpected_text(word, command, commands, common);
  std::ranges::replace(message, '\n', ' ');
  message = printable(message, 400);
  const std::string help = fmt::format("see 'flambeau{}{} --help'", command == nullptr ? "" : " ",
                                       command == nullptr ? "" : command->name);
  if (is_json) return print_json(report::of_error(Error(ErrorCode::kInvalidArgument, message, help)));
  print_to_stderr("flambeau: {} ({})\n", message, help);
}

std::string footer_of(const Command& command) {
  std::string text;
  if (!command.notes.empty()) text = std::string(command.notes) + "\n\n";
  text += examples_text(command.examples);
  text.pop_back();
  return text;
}

std::string footer_of(const std::vector<Command>& commands) {
  std::vector<Example> firsts;
  for (const Command& command : commands) {
    if (!command.examples.empty()) firsts.push_back(command.examples.front());
  }
  return examples_text(firsts) + "'flambeau SUBCOMMAND --help' shows more.\n\n" + kExitCodes;
}

}  // namespace

Parsed parse(const std::vector<Command>& commands, const std::vector<Option>& common, int argc, char** argv) {
  CLI::App app{kDescription, "flambeau"};
  app.footer(footer_of(commands));
  app.set_version_flag("--version", std::string("flambeau ") + FLAMBEAU_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  add_options(app, common);
  for (const Command& command : commands) {
    CLI::App* const added = app.add_subcommand(std::string(command.name), std::string(command.summary));
    added->footer(footer_of(command));
    add_options(*added, command.options);
  }
  const auto chosen = [&]() -> const Command* {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    if (parsed.empty()) return nullptr;
    return &*std::ranges::find(commands, parsed.front()->get_name(), &Command::name);
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_json = std::any_of(argv + 1, argv + argc,
                                     [](const char* word) { return std::string_view(word) == "--json"; });
    if (is_json && dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) {
      print_json(table_of(commands, common));
      return {nullptr, kExitOk};
    }
    if (error.get_exit_code() == 0) return {nullptr, app.exit(error)};  // --help, --version
    report_usage(app, error, chosen(), commands, common, is_json);
    return {nullptr, kExitError};
  }
  return {chosen(), kExitOk};
}

}  // namespace flambeau::cli
