// Compiles texts of users, each file a unit of its own, and says of each whether it compiled:
//   compile_texts [--graph | --json] files...
// Prints "path<TAB>compiled" or "path<TAB>error: ...", with --graph the graphs of the functions. With --json,
// a line for each: {"path", "code": what an archive would hold of each function} or {"path", "error",
// "line"}.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/interpreter/evaluator.h"
#include "flambeau/interpreter/native_methods.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/diagnostics.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;

// Of the first place in the text; 0 when the error names none.
int64_t line_of(const Error& error) {
  const auto* const compile_error = dynamic_cast<const script::CompileError*>(&error);
  return compile_error == nullptr ? 0 : static_cast<int64_t>(compile_error->diagnostics().front().line);
}

std::string code_of(const script::Unit& unit, const script::Function& function) {
  script::ConstantTable constants;
  script::Dependencies dependencies;
  script::CodePrinter printer(unit, constants, dependencies, {});
  printer.print(function);
  return printer.text();
}

}  // namespace

int main(int count, char** arguments) {
  const auto operators = std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  ThreadPool pool{1};
  const auto library = std::make_shared<const ops::Library>();
  const script::Evaluator evaluator = interpreter::make_evaluator(operators, library, pool);
  bool shows_graphs = false;
  bool is_json = false;
  for (int i = 1; i < count; ++i) {
    const std::string path = arguments[i];
    if (path == "--graph" || path == "--json") {
      (path == "--graph" ? shows_graphs : is_json) = true;
      continue;
    }
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    json::Value said;
    said.set("path", path);
    try {
      script::Unit unit(operators);
      unit.set_evaluator(evaluator);
      unit.set_native_methods(interpreter::native_methods(library));
      const auto functions =
          script::compiler::compile_text(unit, std::make_shared<script::Source>(text.str(), "<string>"));
      json::Value code{json::Object{}};
      for (const auto& function : functions) {
        const auto& graph = function->graph();
        if (shows_graphs) std::cout << script::ir::to_text(*graph) << "\n";
        if (is_json) code.set(std::string(function->name()), code_of(unit, *function));
      }
      said.set("code", std::move(code));
      if (!is_json) std::cout << path << "\tcompiled\n";
    } catch (const Error& error) {
      const std::string message = error.what();
      said.set("error", message);
      said.set("line", line_of(error));
      if (!is_json) {
        std::cout << path << "\terror: " << (shows_graphs ? message : message.substr(0, message.find('\n')))
                  << "\n";
      }
    }
    if (is_json) std::cout << json::dump(said) << "\n";
  }
  return 0;
}
