#include "flambeau/formats/torchscript/script_writer.h"

#include <fmt/format.h>

#include "flambeau/formats/tensor_pieces.h"
#include "flambeau/formats/torchscript/debug_info.h"
#include "flambeau/formats/torchscript/script_archive.h"

namespace flambeau::script {
namespace {

// Texts up to so many bytes are not worth compressing, PyTorch says.
constexpr size_t kMostStoredText = 200;
// From this version on PyTorch 2.13 writes it where torch.package has it.
constexpr int64_t kFirstHiddenVersion = 6;

void add_text_record(zip::Writer& writer, const std::string& name, std::string_view text) {
  if (text.size() > kMostStoredText) {
    writer.add_deflated(name, as_bytes(text));
  } else {
    writer.add_text(name, text);
  }
}

// The storages of a pickle, then the pickle. `shared`: where storages of several have one folder, what names
// them.
void add_values(zip::Writer& writer, std::string_view name, const std::string& bytes,
                const std::vector<Tensor>& storages, bool with_data, Progress& progress,
                SharedStorages* shared = nullptr) {
  for (size_t key = 0; key < storages.size(); ++key) {
    const std::string record = shared != nullptr
                                   ? fmt::format("constants/{}", shared->name_of(storages[key]).first)
                                   : fmt::format("{}/{}", name, key);
    const std::shared_ptr<Storage>& storage = storages[key].storage();
    if (!with_data || storages[key].is_meta()) {
      writer.add(record, {});
      continue;
    }
    writer.add_stream(record, storage->size(), [&](const std::function<void(ByteSpan)>& emit) {
      emit_pieces(storage, emit, progress);
    });
  }
  writer.add_text(fmt::format("{}.pkl", name), bytes);
}

uint64_t byte_count_of(const std::vector<Tensor>& storages) {
  uint64_t total = 0;
  for (const Tensor& tensor : storages) total += tensor.is_meta() ? 0 : tensor.storage()->size();
  return total;
}

}  // namespace

void write_code(zip::Writer& writer, const std::vector<CodeFile>& files, const std::string& folder) {
  DebugPickler debug;
  for (const CodeFile& file : files) {
    const std::string name = folder + code_record(file.qualifier);
    add_text_record(writer, name, file.text);
    add_text_record(writer, name + ".debug_pkl", debug.pickle(file.origins));
  }
}

void ScriptWriter::write(const ScriptParts& parts, const PrintCode& print, const ScriptWriterOptions& options,
                         Progress& progress) {
  ValuePickler data(hooks_, kept_);
  const std::string data_bytes = data.pickle(parts.module);
  const PrintedCode code = print(data.classes());
  zip::WriterOptions zip_options;
  zip_options.top_folder = options.top_folder;
  zip::Writer writer(sink_, zip_options);
  for (const auto& [name, contents] : parts.extra_files) {
    writer.add_text(fmt::format("extra/{}", name), contents);
  }
  progress.begin("writing tensors", byte_count_of(data.storages()));
  add_values(writer, "data", data_bytes, data.storages(), true, progress);
  write_code(writer, code.files);
  SharedStorages storages;
  const bool is_mobile = !parts.bytecode.is_none();
  SharedStorages* const shared = is_mobile && !parts.has_own_storages ? &storages : nullptr;
  const Owners owners = parts.is_backported ? Owners::kNone : Owners::kCounted;
  ValuePickler constants(hooks_, kept_, shared, owners);
  const std::string constants_bytes = constants.pickle(IValue::tuple(code.constants));
  add_values(writer, "constants", constants_bytes, constants.storages(), true, progress, shared);
  if (is_mobile) {
    ValuePickler bytecode(hooks_, kept_, shared, owners);
    const std::string bytecode_bytes = bytecode.pickle(parts.bytecode, parts.is_backported);
    add_values(writer, "bytecode", bytecode_bytes, bytecode.storages(), true, progress, shared);
  }
  if (!parts.traced_inputs.is_none()) {
    ValuePickler inputs(hooks_, kept_);
    const std::string inputs_bytes = inputs.pickle(parts.traced_inputs);
    add_values(writer, "traced_inputs", inputs_bytes, inputs.storages(), false, progress);
  }
  writer.add_text(code.version >= kFirstHiddenVersion ? ".data/version" : "version",
                  fmt::format("{}\n", code.version));
  writer.add_text("byteorder", "little");
  writer.add_serialization_id();
  writer.finish();
}

}  // namespace flambeau::script
