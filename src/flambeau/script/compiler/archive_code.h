// The code of an archive as a unit's resolver: texts are read when a name in them is first asked for, and
// functions compiled when they are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/script/source.h"
#include "flambeau/script/syntax/tree.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::compiler {

struct ArchiveCode {
  // The text of a qualifier, "__torch__.torch.nn.modules.linear"; null when the archive has none.
  std::function<std::shared_ptr<const Source>(std::string_view qualifier)> find_text;
  // What CONSTANTS.c0, CONSTANTS.c1 ... are.
  std::vector<IValue> constants;
  // Of the archive: operators are those of that time.
  int64_t version = 0;
};

// From now on the unit finds in the code what it does not know. Texts and trees are kept for functions that
// are not compiled yet.
void use_archive_code(Unit& unit, ArchiveCode code);

// Code of another unit, printed as an archive would hold it, that joins this one. What has a name that is
// taken gets another, as archives give it: "__torch__.___torch_mangle_0.Foo".
struct CodeToImport {
  struct Definition {
    std::shared_ptr<const syntax::Tree> tree;
    const syntax::Node* node = nullptr;
    std::string name;
  };
  std::vector<Definition> definitions;
  std::unordered_map<std::string, std::string> renamed;  // by the names in the texts; only those that change
};
struct NamedText {
  std::string qualifier;  // "__torch__.m"
  std::shared_ptr<const Source> source;
};
CodeToImport plan_import(const Unit& unit, std::span<const NamedText> texts);
void import_code(Unit& unit, const CodeToImport& code, std::vector<IValue> constants, int64_t version);
// A name that nothing in the unit has, this one where it is free.
std::string free_name(const Unit& unit, const std::string& name);

}  // namespace flambeau::script::compiler
