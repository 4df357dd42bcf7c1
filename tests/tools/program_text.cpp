// Prints programs as text, for the interop tests: program_text [--lossless | --check | --json] FILE...
// --check parses what it prints, and says for which files the same program comes back; --json goes the other
// way.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/graph/text/print.h"

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// "same", or what is not.
std::string check(const flambeau::graph::ExportedProgram& program) {
  const std::string text = to_text(program, {.lossless = true});
  const auto again = flambeau::graph::parse_text(text);
  if (flambeau::pt2::write_program(again) != flambeau::pt2::write_program(program)) return "other program";
  return to_text(again, {.lossless = true}) == text ? "same" : "other text";
}

}  // namespace

int main(int count, char** arguments) {
  std::string mode;
  int failed = 0;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument.starts_with("--")) {
      mode = argument;
      continue;
    }
    try {
      if (mode == "--json") {
        fmt::print("{}\n", flambeau::pt2::write_program(flambeau::graph::parse_text(read_file(argument))));
        continue;
      }
      flambeau::pt2::Notes notes;
      const auto program = flambeau::pt2::read_program(read_file(argument), notes);
      if (mode == "--check") {
        const std::string found = check(program);
        fmt::print("{}: {}\n", argument, found);
        failed += found != "same";
      } else {
        fmt::print("{}", to_text(program, {.lossless = mode == "--lossless"}));
      }
    } catch (const flambeau::Error& error) {
      fmt::print("{}: {}\n", argument, error.what());
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}
