// Compiles the code of archives and prints it again. What PyTorch saved twice must come back byte for byte:
//   recode [--sample N] [--all] [--list] files and folders...
// Shows the first line that differs in each archive, and counts. --all shows every archive's line, not one of
// a kind; --list names the archives that came back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/parallel.h"
#include "flambeau/formats/torchscript/script_archive.h"
#include "flambeau/formats/torchscript/value_reader.h"
#include "flambeau/interpreter/evaluator.h"
#include "flambeau/interpreter/native_methods.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/syntax/parser.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;

struct Result {
  std::string why;  // empty when all came back
  std::string detail;
};

// The first line that is not the same, of both.
std::string difference(std::string_view ours, std::string_view theirs) {
  size_t line = 1;
  while (true) {
    const auto a = ours.substr(0, ours.find('\n'));
    const auto b = theirs.substr(0, theirs.find('\n'));
    if (a != b) return fmt::format("line {}:\n    want {}\n    have {}", line, b, a);
    if (a.size() == ours.size() || b.size() == theirs.size()) return "one text is longer";
    ours.remove_prefix(a.size() + 1);
    theirs.remove_prefix(b.size() + 1);
    ++line;
  }
}

class Recoder {
 public:
  explicit Recoder(const std::string& path)
      : records_(std::make_shared<RecordArchive>(RecordArchive::open(Mapping::open(path)))),
        archive_(records_) {}

  Result run(const std::shared_ptr<const script::OperatorTable>& operators,
             const script::Evaluator& evaluator, const script::NativeMethods& native_methods) {
    script::Unit unit(operators);
    unit.set_evaluator(evaluator);
    unit.set_native_methods(native_methods);
    script::KeptStates kept;
    const script::LoadHooks hooks;
    script::ValueReader reader(unit, hooks, archive_.version(), kept);
    script::compiler::ArchiveCode code;
    code.find_text = [&](std::string_view qualifier) { return archive_.find_source(qualifier); };
    code.version = archive_.version();
    // Constants may be objects of classes that the code defines.
    script::compiler::use_archive_code(unit, code);
    code.constants = archive_.read_constants(reader);
    const std::vector<script::IValue> constants = code.constants;
    script::compiler::use_archive_code(unit, std::move(code));

    script::ConstantTable table;
    script::Dependencies dependencies;
    std::map<std::string, std::string> printed;
    for (const std::string& qualifier : archive_.qualifiers()) {
      const std::shared_ptr<const script::Source> source = archive_.find_source(qualifier);
      const auto tree = script::syntax::parse_file(source);
      script::CodePrinter printer(unit, table, dependencies, {});
      for (const script::syntax::Node* node : tree->definitions) {
        const std::string name = qualifier + "." + node->text;
        if (node->is(script::syntax::Kind::kClass)) {
          const script::Class& type = unit.get_class(name);
          if (!script::is_native_class(name) || script::is_printed_native_class(type)) printer.print(type);
        } else {
          printer.print(unit.get_function(name));
        }
      }
      printed[qualifier] = printer.text();
    }
    for (const auto& [qualifier, text] : printed) {
      const std::string ours = renumbered(text, table.values(), constants);
      const std::string& theirs = archive_.find_source(qualifier)->text();
      if (ours != theirs) return {"differs", qualifier + " " + difference(ours, theirs)};
    }
    return {};
  }

 private:
  // Constants are numbered in the order of printing, which is another one here.
  static std::string renumbered(const std::string& text, const std::vector<script::IValue>& ours,
                                const std::vector<script::IValue>& theirs) {
    constexpr std::string_view kName = "CONSTANTS.c";
    std::string result;
    for (size_t at = 0; at < text.size();) {
      const size_t found = text.find(kName, at);
      result += text.substr(at, found - at);
      if (found == std::string::npos) break;
      size_t index = 0;
      const char* digits = text.data() + found + kName.size();
      const auto read = std::from_chars(digits, text.data() + text.size(), index);
      at = static_cast<size_t>(read.ptr - text.data());
      result += kName;
      if (index < ours.size()) {
        const auto same = std::find_if(theirs.begin(), theirs.end(), [&](const script::IValue& value) {
          return value.identity() != nullptr && value.identity() == ours[index].identity();
        });
        result += std::to_string(same - theirs.begin());
      }
    }
    return result;
  }

  std::shared_ptr<const RecordArchive> records_;
  script::ScriptArchive archive_;
};

}  // namespace

int main(int count, char** arguments) {
  size_t sample = 1;
  bool shows_all = false;
  bool lists = false;
  std::vector<std::string> paths;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--sample" && i + 1 < count) {
      sample = std::max(1UL, std::stoul(arguments[++i]));
    } else if (argument == "--all") {
      shows_all = true;
    } else if (argument == "--list") {
      lists = true;
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::directory_iterator(argument)) {
        if (entry.is_regular_file()) paths.push_back(entry.path().string());
      }
    } else {
      paths.push_back(argument);
    }
  }
  std::sort(paths.begin(), paths.end());
  const auto operators = std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  ThreadPool pool{1};
  const auto library = std::make_shared<const ops::Library>();
  const script::Evaluator evaluator = interpreter::make_evaluator(operators, library, pool);
  const script::NativeMethods native_methods = interpreter::native_methods(library);
  size_t tried = 0;
  size_t same = 0;
  std::map<std::string, size_t> kinds;
  for (size_t i = 0; i < paths.size(); i += sample) {
    ++tried;
    Result result;
    try {
      result = Recoder(paths[i]).run(operators, evaluator, native_methods);
    } catch (const Error& error) {
      result = {"error: " + error.message().substr(0, error.message().find('\n')), error.what()};
    }
    if (result.why.empty()) {
      ++same;
      if (lists) std::cout << "same " << paths[i] << "\n";
      continue;
    }
    if (kinds[result.why]++ < 3 || shows_all || result.why == "differs") {
      std::cout << fmt::format("{}: {}: {}\n", paths[i], result.why, result.detail);
    }
  }
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [why, times] : kinds) sorted.emplace_back(times, why);
  std::sort(sorted.rbegin(), sorted.rend());
  for (const auto& [times, why] : sorted) std::cout << fmt::format("{:6} {}\n", times, why);
  std::cout << fmt::format("{} of {} came back\n", same, tried);
  return same == tried ? 0 : 1;
}
