// Compiles texts of users, each file a unit of its own, and says of each whether it compiled:
//   compile_texts [--graph | --code] files...
// Prints "path<TAB>compiled" or "path<TAB>error: ...", with --graph the graphs of the functions, with --code
// what an archive would hold of them.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/interpreter/evaluator.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

int main(int count, char** arguments) {
  using namespace flambeau;
  const auto operators = std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  ThreadPool pool{1};
  const script::Evaluator evaluator =
      interpreter::make_evaluator(operators, std::make_shared<const ops::Library>(), pool);
  bool shows_graphs = false;
  bool shows_code = false;
  for (int i = 1; i < count; ++i) {
    const std::string path = arguments[i];
    if (path == "--graph" || path == "--code") {
      (path == "--graph" ? shows_graphs : shows_code) = true;
      continue;
    }
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    try {
      script::Unit unit(operators);
      unit.set_evaluator(evaluator);
      const auto functions =
          script::compiler::define_text(unit, std::make_shared<script::Source>(text.str(), "<string>"));
      script::ConstantTable constants;
      script::Dependencies dependencies;
      script::CodePrinter printer(unit, constants, dependencies, {});
      for (const auto& function : functions) {
        const auto& graph = function->graph();
        if (shows_graphs) std::cout << script::ir::to_text(*graph) << "\n";
        if (shows_code) printer.print(*function);
      }
      std::cout << printer.text();
      std::cout << path << "\tcompiled\n";
    } catch (const Error& error) {
      std::string message = error.what();
      if (!shows_graphs && !shows_code) message = message.substr(0, message.find('\n'));
      std::cout << path << "\terror: " << message << "\n";
    }
  }
  return 0;
}
