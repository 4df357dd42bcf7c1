// Any text is the code of a TorchScript archive, or an Error: it is parsed, compiled and printed, as code and
// as Python.
#include <memory>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/printed_code.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/python/decompile.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;
using namespace flambeau::script;

// What stands behind "class " and "def " at the beginning of a line.
std::vector<std::string> defined_names(std::string_view text, std::string_view keyword) {
  std::vector<std::string> names;
  for (size_t line = 0; line < text.size() && names.size() < 8;) {
    const size_t end = std::min(text.find('\n', line), text.size());
    std::string_view rest = text.substr(line, end - line);
    if (rest.starts_with(keyword)) {
      rest.remove_prefix(keyword.size());
      names.emplace_back(rest.substr(0, rest.find_first_of("(:")));
    }
    line = end + 1;
  }
  return names;
}

template <typename Body>
void guarded(Body&& body) {
  try {
    body();
  } catch (const Error&) {
    // Refusing is fine. Anything else that leaves the compiler is a bug.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto operators = std::make_shared<const OperatorTable>(std::make_shared<const SchemaTable>());
  const std::string text(as_text(ByteSpan(data, size)));
  Unit unit(operators);
  compiler::ArchiveCode code;
  code.find_text = [&](std::string_view qualifier) -> std::shared_ptr<const Source> {
    if (qualifier != "__torch__") return nullptr;
    return std::make_shared<const Source>(text, "code/__torch__.py");
  };
  code.constants = {IValue(1), IValue("text")};
  code.version = size % 10 + 1;
  compiler::use_archive_code(unit, std::move(code));
  for (const std::string& name : defined_names(text, "class ")) {
    guarded([&] {
      const std::shared_ptr<Class> found = unit.find_class("__torch__." + name);
      if (found == nullptr) return;
      for (const std::shared_ptr<Function>& method : found->methods) guarded([&] { method->signature(); });
      guarded([&] { print_code(unit, {}, found->qualified_name()); });
      if (found->is_module()) decompile(unit, IValue::object(found), nullptr);
    });
  }
  for (const std::string& name : defined_names(text, "def ")) {
    guarded([&] {
      if (const std::shared_ptr<Function> found = unit.find_function("__torch__." + name)) found->graph();
    });
  }
  return 0;
}
