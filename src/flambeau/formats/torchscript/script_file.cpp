#include "flambeau/formats/torchscript/script_file.h"

#include "flambeau/archive/zip/writer.h"
#include "flambeau/formats/mobile/bytecode_writer.h"
#include "flambeau/script/bytecode/export.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

// Of bytecode.
constexpr int64_t kLastVersionWithOwnStorages = 4;
constexpr int64_t kLastBackportedVersion = 7;

}  // namespace

ScriptFile read_script(std::shared_ptr<const RecordArchive> records,
                       std::shared_ptr<const OperatorTable> operators, const LoadHooks& hooks,
                       const ScriptPlaces& places) {
  ScriptFile file;
  const auto archive = std::make_shared<const ScriptArchive>(std::move(records), places);
  file.archive = archive;
  file.unit = std::make_shared<Unit>(std::move(operators));
  if (hooks.begin) hooks.begin(file.unit);
  compiler::ArchiveCode code;
  code.find_text = [archive](std::string_view qualifier) { return archive->find_source(qualifier); };
  code.version = archive->version();
  ValueReader reader(*file.unit, hooks, archive->version(), file.kept);
  // Constants may be objects of the archive's classes.
  compiler::use_archive_code(*file.unit, code);
  code.constants = archive->read_constants(reader);
  if (!code.constants.empty()) compiler::use_archive_code(*file.unit, std::move(code));
  file.module = archive->read_data(reader);
  return file;
}

void write_script(ByteSink& sink, const ScriptFile& file, const IValue& module, const ExtraFiles& extra_files,
                  const ScriptWriterOptions& options, const SaveHooks& hooks, Progress& progress,
                  std::optional<int64_t> bytecode_version) {
  ScriptParts parts;
  parts.module = module;
  parts.extra_files = extra_files;
  if (bytecode_version) {
    parts.bytecode = bytecode_value(bytecode::export_program(*file.unit, module, *bytecode_version));
    parts.has_own_storages = *bytecode_version <= kLastVersionWithOwnStorages;
    parts.is_backported = *bytecode_version <= kLastBackportedVersion;
  }
  const std::string root = module.as_object().type->qualified_name();
  const auto print = [&](const std::vector<ValuePickler::Met>& met) {
    return print_code(*file.unit, met, root);
  };
  ScriptWriter(sink, hooks, file.kept).write(parts, print, options, progress);
}

void copy_script(ByteSink& sink, const RecordArchive& records, const ScriptWriterOptions& options,
                 Progress& progress) {
  zip::WriterOptions zip_options;
  zip_options.top_folder = options.top_folder;
  zip::Writer writer(sink, zip_options);
  uint64_t total = 0;
  for (const std::string_view name : records.names()) total += records.get(name).size;
  progress.begin("writing records", total);
  for (const std::string_view name : records.names()) {
    const zip::Entry& entry = records.get(name);
    if (entry.method == zip::Method::kDeflated) {
      writer.add_deflated(name, records.zip().read(entry));
    } else {
      writer.add(name, records.zip().view(entry));
    }
    progress.advance(entry.size);
  }
  writer.finish();
}

}  // namespace flambeau::script
