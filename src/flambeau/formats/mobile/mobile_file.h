// Mobile modules (.ptl) by their bytecode alone: the code beside it is not looked at.
#pragma once

#include <memory>

#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/script/bytecode/bytecode.h"

namespace flambeau::script {

class OperatorTable;

bool has_bytecode(const RecordArchive& records);
// Whether there is code that a unit could be made of.
bool has_code(const RecordArchive& records);

struct MobileFile {
  ScriptFile script;
  std::shared_ptr<const bytecode::Program> program;
};

// Objects, and functions that are lifted, and so verified, when they are first called. Throws Error(kCorrupt,
// kUnsupported, kLimit), and what the hooks throw.
MobileFile read_mobile(std::shared_ptr<const RecordArchive> records,
                       std::shared_ptr<const OperatorTable> operators, const LoadHooks& hooks = {});
// The bytecode alone, with its constants; objects among them are kept as they are.
bytecode::Program read_mobile_program(const std::shared_ptr<const RecordArchive>& records,
                                      std::shared_ptr<const OperatorTable> operators);

}  // namespace flambeau::script
