// The code records of an archive: which classes and functions a module needs, and in which order PyTorch
// writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flambeau/formats/torchscript/value_pickler.h"
#include "flambeau/script/printer/tagged_text.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

// The text of one code record.
struct CodeFile {
  std::string qualifier;  // "__torch__.m"
  std::string text;
  std::vector<TextOrigin> origins = {};
};

struct PrintedCode {
  std::vector<CodeFile> files = {};  // in the order of their records
  std::vector<IValue> constants = {};
  int64_t version = 3;  // of the archive
};

// Prints the classes of a module's objects in the order in which they were met, then whatever their code
// mentions, `root` (the module's own class) and so on. A class of PyTorch's own has a record without text.
// Throws Error(kNotFound) for a class or function that the unit does not have, and what compiling and
// printing throw.
PrintedCode print_code(const Unit& unit, const std::vector<ValuePickler::Met>& met, const std::string& root);

// Of several modules of one unit, with one set of files. Those of constants that each module needs are the
// first `constant_counts[i]`.
struct PrintedRoot {
  std::vector<ValuePickler::Met> met = {};
  std::string root = {};
};
PrintedCode print_code(const Unit& unit, const std::vector<PrintedRoot>& roots,
                       std::vector<size_t>& constant_counts);

}  // namespace flambeau::script
