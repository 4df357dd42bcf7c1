#include "flambeau/script_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/file_kind.h"
#include "flambeau/formats/package/package_writer.h"
#include "flambeau/formats/package/script_package.h"
#include "flambeau/script_module.h"

namespace flambeau::script {
namespace {

PackagedScript described(const PackagedModule& module) {
  return {module.id, module.names, module.class_name};
}

// "models/all.pkl". PyTorch takes dots of a package's name for folders.
std::string record_of(const ScriptResource& resource) {
  std::string folder = resource.package;
  std::replace(folder.begin(), folder.end(), '.', '/');
  const auto is_name = [](std::string_view text) {
    const bool is_plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != '\\'; });
    return !text.empty() && is_plain && text.front() != '/' && text.find("..") == std::string_view::npos;
  };
  if (!is_name(folder) || !is_name(resource.resource) || folder.front() == '.') {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' and '{}' name no resource of a package", printable(resource.package),
                            printable(resource.resource)),
                "names are such as 'models' and 'encoder.pkl'");
  }
  return fmt::format("{}/{}", folder, resource.resource);
}

void require_names(const ScriptResource& resource) {
  std::set<std::string> names;
  for (const auto& [name, module] : resource.modules) {
    const bool may_be = !name.empty() || resource.modules.size() == 1;
    if (may_be && names.insert(name).second) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the modules of '{}' need names of their own, '{}' is taken or none",
                            printable(resource.resource), printable(name)));
  }
}

}  // namespace

std::vector<PackagedScript> list_script_package(const std::shared_ptr<Mapping>& bytes) {
  std::vector<PackagedScript> found;
  if (recognize(bytes) != FileKind::kTorchPackage) return found;
  const RecordArchive records = RecordArchive::open(bytes);
  for (const PackagedModule& module : packaged_modules(records)) found.push_back(described(module));
  return found;
}

std::vector<PackagedScript> list_script_package(const std::string& path) {
  return with_location("file", path, [&] { return list_script_package(Mapping::open(path)); });
}

ScriptModule load_packaged(const std::shared_ptr<const RecordArchive>& records, const PackagedModule& module,
                           const std::shared_ptr<SharedZipStorages>& shared,
                           const ScriptLoadOptions& options) {
  return with_location("module", printable(module.names.empty() ? module.id : module.names.front()), [&] {
    auto loaded = std::make_shared<ScriptModule::Loaded>(std::make_shared<ScriptCode>(options));
    loaded->file = read_script(records, loaded->code->operators, loaded->load_hooks(options),
                               places_in_package(module.id, shared));
    loaded->note_training();
    IValue root = loaded->file.module;
    return ScriptModule(std::move(loaded), std::move(root), {});
  });
}

std::vector<std::pair<PackagedScript, ScriptModule>> load_script_package(const std::string& path,
                                                                         const ScriptLoadOptions& options) {
  return with_location("file", path, [&] {
    const auto records = std::make_shared<const RecordArchive>(RecordArchive::open(Mapping::open(path)));
    const auto shared = std::make_shared<SharedZipStorages>();
    std::vector<std::pair<PackagedScript, ScriptModule>> loaded;
    for (const PackagedModule& module : packaged_modules(*records))
      loaded.emplace_back(described(module), load_packaged(records, module, shared, options));
    return loaded;
  });
}

void save_script_package(const std::string& path, const std::vector<ScriptResource>& resources,
                         Progress& progress) {
  std::set<std::string> records;
  for (const ScriptResource& resource : resources) {
    require_names(resource);
    if (!records.insert(record_of(resource)).second) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("two resources are called '{}'", printable(record_of(resource))));
    }
  }
  // Modules of several files become modules of one unit, with one set of names.
  const ScriptModule container = make_script("Package");
  const std::shared_ptr<ScriptModule::Loaded>& into = container.loaded_;
  const std::unique_lock lock(into->mutex);
  std::unordered_map<const void*, IValue> copies;
  std::vector<PackageResource> packed;
  for (const ScriptResource& resource : resources) {
    PackageResource& made = packed.emplace_back();
    made.record = record_of(resource);
    for (const auto& [name, module] : resource.modules) {
      IValue& copy = copies[module.object_.identity()];
      if (copy.is_none()) {
        const std::unique_lock other(module.loaded_->mutex);
        copy = module.copy_into(into).object_;
      }
      made.modules.emplace_back(name, copy);
    }
  }
  AtomicFile out(path);
  write_package(out, *into->file.unit, packed, top_folder_of(path), into->save_hooks(), into->file.kept,
                progress);
  out.commit();
}

}  // namespace flambeau::script
