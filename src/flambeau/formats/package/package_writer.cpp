#include "flambeau/formats/package/package_writer.h"

#include <fmt/format.h>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/archive/zip/writer.h"
#include "flambeau/formats/tensor_pieces.h"
#include "flambeau/formats/torchscript/printed_code.h"
#include "flambeau/formats/torchscript/script_writer.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

constexpr int kPackageVersion = 6;
constexpr int kPackagePickle = 3;  // the protocol of PackageExporter

void add_packaged(zip::Writer& writer, const std::string& record, const std::string& bytes,
                  const std::vector<Tensor>& storages, SharedStorages& shared, Progress& progress) {
  for (const Tensor& tensor : storages) {
    const std::string name = fmt::format(".data/{}", shared.name_of(tensor).first);
    if (tensor.is_meta()) {
      writer.add(name, {});
      continue;
    }
    const std::shared_ptr<Storage>& storage = tensor.storage();
    writer.add_stream(name, storage->size(), [&](const std::function<void(ByteSpan)>& emit) {
      emit_pieces(storage, emit, progress);
    });
  }
  writer.add_text(record, bytes);
}

// What unpickles as the module, when PackageImporter reads it.
pickle::Node* reference(pickle::Tree& tree, size_t id) {
  return tree.persistent(tree.tuple({tree.string("reduce_package"), tree.integer(static_cast<int64_t>(id)),
                                     tree.global("torch.jit._script", "unpackage_script_module"),
                                     tree.tuple({tree.string(std::to_string(id))})}));
}

}  // namespace

void write_package(ByteSink& sink, const Unit& unit, const std::vector<PackageResource>& resources,
                   const std::string& top_folder, const SaveHooks& hooks, const KeptStates& kept,
                   Progress& progress) {
  struct Packed {
    std::string data;
    std::vector<Tensor> storages;
  };
  std::vector<IValue> modules;
  std::unordered_map<const void*, size_t> ids;
  std::vector<Packed> packed;
  std::vector<PrintedRoot> roots;
  SharedStorages shared;
  for (const PackageResource& resource : resources) {
    for (const auto& [name, module] : resource.modules) {
      if (!ids.emplace(module.identity(), modules.size()).second) continue;
      modules.push_back(module);
      ValuePickler pickler(hooks, kept, &shared);
      const std::string data = pickler.pickle(module);
      packed.push_back({data, pickler.storages()});
      roots.push_back({pickler.classes(), module.as_object().type->qualified_name()});
    }
  }
  std::vector<size_t> constant_counts;
  const PrintedCode code = print_code(unit, roots, constant_counts);
  zip::WriterOptions options;
  options.top_folder = top_folder;
  zip::Writer writer(sink, options);
  uint64_t total = 0;
  for (const Packed& each : packed) {
    for (const Tensor& tensor : each.storages) total += tensor.is_meta() ? 0 : tensor.storage()->size();
  }
  progress.begin("writing tensors", total);
  size_t written = 0;
  for (const PackageResource& resource : resources) {
    pickle::Tree tree;
    pickle::Node* all = tree.dict();
    pickle::Node* only = nullptr;
    for (const auto& [name, module] : resource.modules) {
      const size_t id = ids.at(module.identity());
      if (id == written) {  // in the order of their numbers
        const std::string folder = fmt::format(".data/ts_code/{}/", id);
        add_packaged(writer, folder + "data.pkl", packed[id].data, packed[id].storages, shared, progress);
        std::vector<IValue> constants(
            code.constants.begin(),
            code.constants.begin() + static_cast<std::ptrdiff_t>(constant_counts[id]));
        ValuePickler pickler(hooks, kept, &shared);
        const std::string bytes = pickler.pickle(IValue::tuple(std::move(constants)));
        add_packaged(writer, folder + "constants.pkl", bytes, pickler.storages(), shared, progress);
        ++written;
      }
      if (name.empty()) {
        only = reference(tree, id);
      } else {
        tree.set_item(all, tree.string(name), reference(tree, id));
      }
    }
    writer.add_text(resource.record, pickle::write_python(only != nullptr ? *only : *all, kPackagePickle));
  }
  writer.add_text(".data/extern_modules", "torch.jit._script\n");
  write_code(writer, code.files, ".data/ts_code/");
  writer.add_text(".data/version", fmt::format("{}\n", kPackageVersion));
  writer.add_text("byteorder", "little");
  writer.add_serialization_id();
  writer.finish();
}

}  // namespace flambeau::script
