// flambeau completion: scripts that teach a shell the subcommands and options.
#include <cstdio>

#include "commands.h"

namespace flambeau::cli {
namespace {

constexpr const char* kBash = R"(# flambeau completion for bash: put this into ~/.bashrc
#   source <(flambeau completion bash)
_flambeau() {
  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options="--json --quiet --threads --help"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "inspect list extract convert diff check verify graph canonicalize run bench completion --help --version" -- "$current"))
    return
  fi
  case $command in
    inspect) options="$options --stats --records --globals --structure --limit" ;;
    extract) options="$options --output" ;;
    convert) options="$options --dtype --filter --format --layout --schema --model --weights" ;;
    verify) options="$options --dialect --limit" ;;
    graph) options="$options --format --modules --output --model" ;;
    canonicalize) options="$options --output --model" ;;
    diff) options="$options --filter --tolerance --ignore-dtype" ;;
    run) options="$options --input --size --seed --model --operators --no-plan --output --check-against --rtol --atol --profile --limit" ;;
    bench) options="$options --input --size --seed --model --operators --no-plan --runs --seconds --warmup --compare --profile --limit" ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$current")); return ;;
  esac
  case ${COMP_WORDS[COMP_CWORD-1]} in
    -d|--dtype)
      COMPREPLY=($(compgen -W "float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2" -- "$current"))
      return ;;
    --format)
      local formats="pt safetensors npz"
      [ "$command" = graph ] && formats="text full json dot"
      COMPREPLY=($(compgen -W "$formats" -- "$current"))
      return ;;
    --layout) COMPREPLY=($(compgen -W "archive zip json" -- "$current")); return ;;
    --dialect) COMPREPLY=($(compgen -W "auto training aten core edge" -- "$current")); return ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _flambeau flambeau)";

constexpr const char* kZsh = R"(#compdef flambeau
# flambeau completion for zsh: save as _flambeau in a folder of $fpath
_flambeau() {
  local -a commands common
  commands=('inspect:show what files are and what they hold' 'list:list the records of an archive'
            'extract:write records to files' 'convert:convert weights to another format'
            'diff:compare the weights of two files' 'check:report whether files are safe to open'
            'verify:report what is wrong with exported programs' 'graph:print an exported program'
            'canonicalize:bring an exported program into canonical form' 'run:run an exported program'
            'bench:measure how fast an exported program runs' 'completion:print a completion script')
  common=('--json[print one JSON document]' '--quiet[print only errors and findings]' '--threads[threads to work with]:count')
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case $words[2] in
    inspect) _arguments $common '--stats[read the weights too]' '--records[list records]' '--globals[list names in pickles]' '--structure[draw the nesting]' '--limit[rows per table]:rows' '*:file:_files' ;;
    extract) _arguments $common '--output[where to]:file:_files' '*:file:_files' ;;
    convert) _arguments $common '--dtype[element type]:type:(float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2)' '--filter[names to keep]:pattern' '--format[format]:format:(pt safetensors npz)' '--layout[layout of a program]:layout:(archive zip json)' '--schema[version to write]:version' '--model[program to take]:name' '--weights[where to take weights from]:file:_files' '*:file:_files' ;;
    verify) _arguments $common '--dialect[allowed operators]:dialect:(auto training aten core edge)' '--limit[findings]:count' '*:file:_files' ;;
    graph) _arguments $common '--format[format]:format:(text full json dot)' '--modules[nest in modules]' '--output[where to]:file:_files' '--model[program]:name' '*:file:_files' ;;
    canonicalize) _arguments $common '--output[where to]:file:_files' '--model[program]:name' '*:file:_files' ;;
    diff) _arguments $common '--filter[names to compare]:pattern' '--tolerance[absolute difference]:number' '--ignore-dtype[compare by value]' '*:file:_files' ;;
    run) _arguments $common '*--input[NAME=FILE, random, zeros or a number]:input:_files' '*--size[SYMBOL=NUMBER]:size' '--seed[of random numbers]:seed' '--model[program]:name' '*--operators[shared library of operators]:file:_files' '--no-plan[interpret node by node]' '--output[folder for outputs]:folder:_files -/' '--check-against[what outputs should be]:file:_files' '--rtol[relative tolerance]:number' '--atol[absolute tolerance]:number' '--profile[time of each node]' '--limit[rows]:rows' '*:file:_files' ;;
    bench) _arguments $common '*--input[NAME=FILE, random, zeros or a number]:input:_files' '*--size[SYMBOL=NUMBER]:size' '--seed[of random numbers]:seed' '--model[program]:name' '*--operators[shared library of operators]:file:_files' '--no-plan[interpret node by node]' '--runs[timed runs]:count' '--seconds[how long to run]:seconds' '--warmup[runs before]:count' '--compare[another program]:file:_files' '--profile[time of each node]' '--limit[rows]:rows' '*:file:_files' ;;
    completion) _values 'shell' bash zsh fish ;;
    *) _arguments $common '*:file:_files' ;;
  esac
}
_flambeau "$@")";

constexpr const char* kFish =
    R"(# flambeau completion for fish: save as ~/.config/fish/completions/flambeau.fish
set -l commands inspect list extract convert diff check verify graph canonicalize run bench completion
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a inspect -d "Show what files are and hold"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a list -d "List the records of an archive"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a extract -d "Write records to files"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a convert -d "Convert weights"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a diff -d "Compare the weights of two files"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a check -d "Report whether files are safe"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a verify -d "Report what is wrong with programs"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a graph -d "Print an exported program"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a canonicalize -d "Canonical form of a program"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a run -d "Run an exported program"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a bench -d "Measure an exported program"
complete -c flambeau -n "not __fish_seen_subcommand_from $commands" -f -a completion -d "Print a completion script"
complete -c flambeau -l json -d "Print one JSON document"
complete -c flambeau -s q -l quiet -d "Print only errors and findings"
complete -c flambeau -s j -l threads -x -d "Threads to work with"
complete -c flambeau -n "__fish_seen_subcommand_from inspect" -s s -l stats -d "Read the weights too"
complete -c flambeau -n "__fish_seen_subcommand_from inspect" -s r -l records -d "List records"
complete -c flambeau -n "__fish_seen_subcommand_from inspect" -s g -l globals -d "List names in pickles"
complete -c flambeau -n "__fish_seen_subcommand_from inspect" -l structure -d "Draw the nesting"
complete -c flambeau -n "__fish_seen_subcommand_from inspect" -s n -l limit -x -d "Rows per table"
complete -c flambeau -n "__fish_seen_subcommand_from extract" -s o -l output -r -d "Where to"
complete -c flambeau -n "__fish_seen_subcommand_from convert" -s d -l dtype -x -a "float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2"
complete -c flambeau -n "__fish_seen_subcommand_from convert" -s f -l filter -x -d "Names to keep"
complete -c flambeau -n "__fish_seen_subcommand_from convert" -l format -x -a "pt safetensors npz"
complete -c flambeau -n "__fish_seen_subcommand_from convert" -l layout -x -a "archive zip json"
complete -c flambeau -n "__fish_seen_subcommand_from convert" -l schema -x -d "Version of a program to write"
complete -c flambeau -n "__fish_seen_subcommand_from convert" -l weights -r -d "Where to take weights from"
complete -c flambeau -n "__fish_seen_subcommand_from convert graph canonicalize run bench" -l model -x -d "Program to take"
complete -c flambeau -n "__fish_seen_subcommand_from verify" -l dialect -x -a "auto training aten core edge"
complete -c flambeau -n "__fish_seen_subcommand_from verify" -s n -l limit -x -d "Findings"
complete -c flambeau -n "__fish_seen_subcommand_from graph" -l format -x -a "text full json dot"
complete -c flambeau -n "__fish_seen_subcommand_from graph" -l modules -d "Nest in modules"
complete -c flambeau -n "__fish_seen_subcommand_from graph canonicalize" -s o -l output -r -d "Where to"
complete -c flambeau -n "__fish_seen_subcommand_from diff" -s f -l filter -x -d "Names to compare"
complete -c flambeau -n "__fish_seen_subcommand_from diff" -s t -l tolerance -x -d "Absolute difference"
complete -c flambeau -n "__fish_seen_subcommand_from diff" -l ignore-dtype -d "Compare by value"
complete -c flambeau -n "__fish_seen_subcommand_from run bench" -s i -l input -r -d "NAME=FILE, random, zeros or a number"
complete -c flambeau -n "__fish_seen_subcommand_from run bench" -l size -x -d "SYMBOL=NUMBER"
complete -c flambeau -n "__fish_seen_subcommand_from run bench" -l seed -x -d "Of random numbers"
complete -c flambeau -n "__fish_seen_subcommand_from run bench" -l operators -r -d "Shared library of operators"
complete -c flambeau -n "__fish_seen_subcommand_from run bench" -l no-plan -d "Interpret node by node"
complete -c flambeau -n "__fish_seen_subcommand_from run bench" -s p -l profile -d "Time of each node"
complete -c flambeau -n "__fish_seen_subcommand_from run bench" -s n -l limit -x -d "Rows"
complete -c flambeau -n "__fish_seen_subcommand_from run" -s o -l output -r -d "Folder for outputs"
complete -c flambeau -n "__fish_seen_subcommand_from run" -l check-against -r -d "What outputs should be"
complete -c flambeau -n "__fish_seen_subcommand_from run" -l rtol -x -d "Relative tolerance"
complete -c flambeau -n "__fish_seen_subcommand_from run" -l atol -x -d "Absolute tolerance"
complete -c flambeau -n "__fish_seen_subcommand_from bench" -s r -l runs -x -d "Timed runs"
complete -c flambeau -n "__fish_seen_subcommand_from bench" -s s -l seconds -x -d "How long to run"
complete -c flambeau -n "__fish_seen_subcommand_from bench" -s w -l warmup -x -d "Runs before"
complete -c flambeau -n "__fish_seen_subcommand_from bench" -l compare -r -d "Another program"
complete -c flambeau -n "__fish_seen_subcommand_from completion" -f -a "bash zsh fish")";

}  // namespace

int run_completion(const std::string& shell) {
  std::puts(shell == "zsh" ? kZsh : shell == "fish" ? kFish : kBash);
  return kExitOk;
}

}  // namespace flambeau::cli
