// Text that is compiled and printed again.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/syntax/parser.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

// The first function of a person's text.
inline std::string printed(const std::string& text) {
  Unit unit(std::make_shared<const SchemaTable>());
  const auto functions = compiler::define_text(unit, std::make_shared<const Source>(text, "test.py"));
  ConstantTable constants;
  Dependencies dependencies;
  CodePrinter printer(unit, constants, dependencies, {});
  printer.print(*functions.at(0));
  return printer.text();
}

// Files of an archive's code by their qualifiers, each printed again.
class PrintedArchive {
 public:
  explicit PrintedArchive(const std::map<std::string, std::string>& texts, std::vector<IValue> values = {})
      : unit(std::make_shared<const SchemaTable>()) {
    std::map<std::string, std::shared_ptr<const Source>> sources;
    for (const auto& [qualifier, text] : texts) {
      sources[qualifier] = std::make_shared<const Source>(text, "code/" + qualifier + ".py");
    }
    compiler::ArchiveCode code;
    code.find_text = [sources](std::string_view qualifier) {
      const auto found = sources.find(std::string(qualifier));
      return found == sources.end() ? nullptr : found->second;
    };
    code.constants = std::move(values);
    code.version = 10;
    compiler::use_archive_code(unit, std::move(code));
    for (const auto& [qualifier, source] : sources) {
      CodePrinter printer(unit, constants, dependencies, {});
      const auto tree = syntax::parse_file(source);
      for (const syntax::Node* node : tree->definitions) {
        const std::string name = qualifier + "." + node->text;
        if (node->is(syntax::Kind::kClass)) {
          printer.print(unit.get_class(name));
        } else {
          printer.print(unit.get_function(name));
        }
      }
      printed[qualifier] = printer.text();
      origins[qualifier] = printer.origins();
      version = std::max(version, printer.version());
    }
  }

  Unit unit;
  ConstantTable constants;
  Dependencies dependencies;
  std::map<std::string, std::string> printed;
  std::map<std::string, std::vector<TextOrigin>> origins;
  int64_t version = 0;
};

}  // namespace flambeau::script
