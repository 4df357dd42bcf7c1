// A .pt2 file: one or more exported programs with their weights, and whatever else lies beside them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/file_api.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/file_kind.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/graph/program.h"

namespace flambeau {
class Mapping;
}

namespace flambeau::pt2 {

enum class PackageLayout : uint8_t {
  kArchive,  // today's: models/, data/weights/, ... inside one folder
  kZip,      // that of PyTorch 2.1 to 2.7: serialized_exported_program.json, ...
  kJson,     // a program alone, without weights
};
// "archive", "zip", "json".
std::string_view layout_name(PackageLayout layout);
std::optional<PackageLayout> layout_from_name(std::string_view name);

struct Model {
  std::string name;
  graph::ExportedProgram program;
};

// Bytes under a name.
struct Record {
  std::string name;
  std::shared_ptr<Storage> bytes;
  bool is_deflated = false;  // is written so
};

struct Package {
  PackageLayout layout = PackageLayout::kArchive;
  std::vector<Model> models;
  // What the user put beside the programs; names without the folder.
  std::vector<Record> extra_files;
  // Everything else in an archive, untouched: compiled libraries, records of later versions.
  std::vector<Record> others;

  // What an archive says of itself.
  std::string top_folder;  // empty: named after the file
  std::string archive_version = "0";
  std::string format_version = "6\n";
  // The records in the order in which they were; saving keeps it where the records are the same.
  std::vector<std::string> record_order;

  // What reading had to convert.
  Notes notes;

  // The model of that name, or the only one for an empty name. Throws Error(kNotFound), naming those there
  // are.
  Model& model(std::string_view name = {});
};

// Gives programs that were read alone the weights, objects and example inputs of the programs of the same
// names. Throws Error(kNotFound) where there is none of that name.
void take_weights(Package& package, const Package& from);

// Weights stay where they are, mapped: opening costs the program's description. Programs are read, not
// verified. Throws Error located at the file, the record and the place in it.
Package load_package(const std::string& path);
Package load_package(const std::shared_ptr<Mapping>& mapping);
Package load_package(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping);

// The bytes PyTorch writes for the same programs. An archive that was read and not changed comes out byte for
// byte as it was. `top_folder` is used unless the package has one. Throws Error(kUnsupported) for what the
// layout cannot hold.
void write_package(ByteSink& sink, const Package& package, PackageLayout layout,
                   std::string_view top_folder = "archive", Progress& progress = Progress::silent());
// Atomically: the old file or the new one.
void save_package(const Package& package, const std::string& path, PackageLayout layout,
                  Progress& progress = Progress::silent(), FileApi& api = FileApi::system(),
                  Durability durability = Durability::kSynced);

}  // namespace flambeau::pt2
