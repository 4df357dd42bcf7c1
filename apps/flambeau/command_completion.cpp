// flambeau completion: scripts that teach a shell the subcommands and options, made from their table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands.h"

namespace flambeau::cli {
namespace {

std::string replaced(std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> escapes) {
  std::string out;
  for (const char c : text) {
    const auto found = std::ranges::find(escapes, c, &std::pair<char, std::string_view>::first);
    if (found == escapes.end()) {
      out += c;
    } else {
      out += found->second;
    }
  }
  return out;
}

std::string long_names(const std::vector<Option>& options) {
  std::vector<std::string_view> names;
  for (const Option& option : options) {
    if (!option.is_positional()) names.push_back(option.long_name());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string command_names(const std::vector<Command>& commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// The words for the value of an option, where they are known: "convert:-d|convert:--dtype) ...".
std::string bash_values(const Command& command, const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    if (option.is_positional() || option.offered().empty()) continue;
    std::string pattern = fmt::format("{}:{}", command.name, option.long_name());
    if (!option.short_name().empty()) pattern += fmt::format("|{}:{}", command.name, option.short_name());
    text += fmt::format("    {}) words=\"{}\" ;;\n", pattern, fmt::join(option.offered(), " "));
  }
  return text;
}

std::string bash_positionals(const Command& command) {
  for (const Option& option : command.options) {
    if (option.is_positional() && !option.offered().empty())
      return fmt::format("    {}) positionals=\"{}\" ;;\n", command.name, fmt::join(option.offered(), " "));
  }
  return {};
}

std::string bash_script(const std::vector<Command>& commands, const std::vector<Option>& common) {
  std::string options, values, positionals;
  for (const Command& command : commands) {
    options += fmt::format("    {}) options=\"$options {}\" ;;\n", command.name, long_names(command.options));
    values += bash_values(command, command.options);
    positionals += bash_positionals(command);
  }
  return fmt::format(R"(# flambeau completion for bash: put this into ~/.bashrc
#   source <(flambeau completion bash)
_flambeau() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words="" positionals=""
  local options="{} --help"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case $command in
{}  esac
  case $command:${{COMP_WORDS[COMP_CWORD-1]}} in
{}  esac
  case $command in
{}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [ -n "$positionals" ]; then
    COMPREPLY=($(compgen -W "$positionals" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _flambeau flambeau
)",
                     long_names(common), command_names(commands), options, values, positionals);
}

std::string zsh_text(std::string_view text) {
  return replaced(text, {{'\'', "'\\''"}, {'[', "\\["}, {']', "\\]"}, {':', "\\:"}});
}

std::string zsh_value(const Option& option) {
  if (option.is_flag()) return {};
  if (!option.offered().empty()) return fmt::format(":value:({})", fmt::join(option.offered(), " "));
  return option.value == Takes::kText ? ":value" : ":file:_files";
}

std::string zsh_options(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    if (option.is_positional()) {
      text += fmt::format(" '{}{}'", option.is_list() ? "*" : "",
                          option.offered().empty() ? ":file:_files" : zsh_value(option));
      continue;
    }
    for (const std::string_view name : {option.short_name(), option.long_name()}) {
      if (name.empty()) continue;
      text += fmt::format(" \\\n      '{}{}[{}]{}'", option.is_list() ? "*" : "", name, zsh_text(option.help),
                          zsh_value(option));
    }
  }
  return text;
}

std::string zsh_script(const std::vector<Command>& commands, const std::vector<Option>& common) {
  std::string list, cases;
  for (const Command& command : commands) {
    list += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    cases += fmt::format("    {}) _arguments $common{} ;;\n", command.name, zsh_options(command.options));
  }
  return fmt::format(R"(#compdef flambeau
# flambeau completion for zsh: save as _flambeau in a folder of $fpath
_flambeau() {{
  local -a commands common
  commands=(
{})
  common=({})
  if (( CURRENT == 2 )); then
    _describe subcommand commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_flambeau "$@"
)",
                     list, zsh_options(common), cases);
}

std::string fish_text(std::string_view text) { return replaced(text, {{'\\', "\\\\"}, {'\'', "\\'"}}); }

std::string fish_option(std::string_view condition, const Option& option) {
  std::string text = "complete -c flambeau" + std::string(condition);
  if (!option.is_positional()) {
    if (!option.short_name().empty()) text += fmt::format(" -s {}", option.short_name().substr(1));
    text += fmt::format(" -l {}", option.long_name().substr(2));
    if (!option.is_flag()) text += option.value == Takes::kText ? " -x" : " -r";
  } else {
    text += " -f";
  }
  if (!option.offered().empty()) text += fmt::format(" -a '{}'", fmt::join(option.offered(), " "));
  return text + fmt::format(" -d '{}'\n", fish_text(option.help));
}

std::string fish_script(const std::vector<Command>& commands, const std::vector<Option>& common) {
  std::string text = fmt::format(
      "# flambeau completion for fish: save as ~/.config/fish/completions/flambeau.fish\n"
      "set -l commands {}\n",
      command_names(commands));
  for (const Command& command : commands) {
    text += fmt::format(
        "complete -c flambeau -n \"not __fish_seen_subcommand_from $commands\" -f -a {} -d '{}'\n",
        command.name, fish_text(command.summary));
  }
  for (const Option& option : common) text += fish_option("", option);
  for (const Command& command : commands) {
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    for (const Option& option : command.options) {
      if (!option.is_positional() || !option.offered().empty()) text += fish_option(condition, option);
    }
  }
  return text;
}

constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

}  // namespace

std::string completion_script(std::string_view shell, const std::vector<Command>& commands,
                              const std::vector<Option>& common) {
  if (shell == "zsh") return zsh_script(commands, common);
  return shell == "fish" ? fish_script(commands, common) : bash_script(commands, common);
}

Command completion_command(const std::vector<Command>& commands, const std::vector<Option>& common) {
  auto shell = std::make_shared<std::string>();
  Command command{"completion",
                  "Print a completion script for your shell",
                  {Option("SHELL", "bash, zsh or fish", shell.get())
                       .required()
                       .one_of({std::begin(kShells), std::end(kShells)})},
                  {{"completion bash >> ~/.bashrc", ""},
                   {"completion zsh > ~/.zfunc/_flambeau", ""},
                   {"completion fish > ~/.config/fish/completions/flambeau.fish", ""}},
                  {}};
  command.run = [shell, &commands, &common](const CommonOptions&) {
    const std::string text = completion_script(*shell, commands, common);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return static_cast<int>(kExitOk);
  };
  return command;
}

}  // namespace flambeau::cli
