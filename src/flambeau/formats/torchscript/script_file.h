// A TorchScript module with everything around it: what a file becomes, and what becomes a file.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/torchscript/script_archive.h"
#include "flambeau/formats/torchscript/script_writer.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

class OperatorTable;

struct ScriptFile {
  std::shared_ptr<const ScriptContents> archive;  // null for a module that came from no file
  std::shared_ptr<Unit> unit;
  IValue module;
  KeptStates kept;
};

// Reads objects, and of the code what their classes are; functions are compiled when they are asked for.
// Throws what ScriptArchive, ValueReader and the compiler throw.
ScriptFile read_script(std::shared_ptr<const RecordArchive> records,
                       std::shared_ptr<const OperatorTable> operators, const LoadHooks& hooks = {},
                       const ScriptPlaces& places = {});

// Compiles and prints all code that the module needs, which is the file's or one inside of it: what
// torch.jit.save gives for torch.jit.load of the file. Throws what ScriptWriter and print_code throw.
// With `bytecode_version`, also bytecode of it: what _save_for_lite_interpreter gives. Throws what
// export_program throws then.
void write_script(ByteSink& sink, const ScriptFile& file, const IValue& module, const ExtraFiles& extra_files,
                  const ScriptWriterOptions& options, const SaveHooks& hooks, Progress& progress,
                  std::optional<int64_t> bytecode_version = {});

// The archive as it is, record by record, under another folder's name. With the same name, and where
// PyTorch's writer made it, the bytes are the same.
void copy_script(ByteSink& sink, const RecordArchive& records, const ScriptWriterOptions& options,
                 Progress& progress);

}  // namespace flambeau::script
