#include "flambeau/aot/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "flambeau/aot/kernels/collect.h"
#include "flambeau/aot/kernels/compiler.h"
#include "flambeau/aot/kernels/source.h"
#include "flambeau/aot/kernels/table.h"
#include "flambeau/aot/payload.h"
#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/graph/interface.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/runtime/program.h"

namespace flambeau::aot {
namespace {

using graph::LeafKind;
using pt2::Package;
using pt2::PackageLayout;

constexpr std::string_view kModel = "model";  // what PyTorch loads when not told otherwise
constexpr std::string_view kFolder = "data/aotinductor/";
constexpr std::string_view kStem = "flambeau.wrapper";
// Behind the code: weights compress badly, and take their time.
constexpr uint64_t kMostDeflated = uint64_t{8} << 20;

[[noreturn]] void fail_interface(std::string message, std::string remedy) {
  throw Error(ErrorCode::kUnsupported, std::move(message), std::move(remedy));
}

// PyTorch hands over tensors and takes tensors; everything else of a call is in its tree.
void require_tensors(const graph::Interface& interface) {
  for (const graph::Leaf& leaf : interface.inputs) {
    const bool varies = !leaf.name.empty() && leaf.constant.is_none() && leaf.kind != LeafKind::kNone;
    if (leaf.is_tensor() || !varies) continue;
    fail_interface(
        fmt::format("the input {} is no tensor and may vary, and loaders of compiled models hand over "
                    "nothing but tensors",
                    leaf.to_string()),
        "export the model with a fixed value there, or with a tensor");
  }
  for (const graph::Leaf& leaf : interface.outputs) {
    const bool fits = leaf.is_tensor() || leaf.kind == LeafKind::kNone || leaf.kind == LeafKind::kInt ||
                      leaf.kind == LeafKind::kFloat || leaf.kind == LeafKind::kBool;
    if (fits) continue;
    fail_interface(fmt::format("the output {} is neither a tensor nor a number", leaf.to_string()),
                   "let the model give tensors");
  }
}

// What the library will do when it is loaded, so that what cannot be loaded is not written.
void require_runnable(const graph::ExportedProgram& program) {
  graph::require_valid(program);
  for (const auto* const list : {&program.state_dict, &program.constants}) {
    for (const graph::Weight& weight : *list) {
      if (!weight.tensor.defined() || !weight.tensor.storage() || !weight.tensor.storage()->is_meta())
        continue;
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("the weight '{}' is fake: it has sizes and no data", printable(weight.name)),
                  "export the model with its weights");
    }
  }
  const runtime::Program trial(program.clone(), {.threads = 1, .plan = false});
  require_tensors(trial.interface());
}

uint64_t weight_bytes(const graph::ExportedProgram& program) {
  uint64_t bytes = 0;
  for (const auto* const list : {&program.state_dict, &program.constants}) {
    for (const graph::Weight& weight : *list) {
      if (weight.tensor.defined()) bytes += weight.tensor.storage()->size();
    }
  }
  return bytes;
}

std::vector<uint8_t> archive_of(const Package& package) {
  MemorySink sink;
  write_package(sink, package, PackageLayout::kArchive, kModel);
  return sink.take();
}

std::shared_ptr<Storage> stored(std::string_view text) { return Storage::own({text.begin(), text.end()}); }

// The program alone, under the name that loaders take.
Package prepared(Package package, const CompileOptions& options) {
  if (prebuilt_library().empty()) {
    throw Error(ErrorCode::kUnsupported, "this build has no library to make compiled models with",
                "build with FLAMBEAU_AOT_LIBRARY=ON");
  }
  pt2::Model chosen = std::move(package.model(options.model));
  if (!chosen.program.has_weights) {
    throw Error(ErrorCode::kInvalidArgument, "the program was read without weights",
                "give the whole archive, not its graph alone");
  }
  require_runnable(chosen.program);
  package.models.clear();
  chosen.name = kModel;
  package.models.push_back(std::move(chosen));
  package.layout = PackageLayout::kArchive;
  // What an earlier compilation left would be another model of the same name.
  std::erase_if(package.others, [](const pt2::Record& record) {
    return record.name.starts_with(std::string(kFolder).append(kModel).append("/"));
  });
  package.record_order.clear();
  return package;
}

// For the library: without what only people look at.
Package bare(const Package& package) {
  Package copy;
  copy.models.push_back({std::string(kModel), package.models[0].program.clone()});
  copy.models[0].program.example_inputs = nullptr;
  return copy;
}

std::string metadata_text(const CompileOptions& options) {
  json::Value value;
  value.set("AOTI_DEVICE_KEY", "cpu");
  for (const auto& [name, text] : options.metadata) value.set(name, text);
  return json::dump(value);
}

void add_library(Package& package, std::vector<uint8_t> library, const CompileOptions& options) {
  const bool is_deflated = !options.is_stored && library.size() < prebuilt_library().size() + kMostDeflated;
  const std::string path = fmt::format("{}{}/{}", kFolder, kModel, kStem);
  package.others.push_back({path + ".so", Storage::own(std::move(library)), is_deflated});
  package.others.push_back({path + "_metadata.json", stored(metadata_text(options))});
}

// The library that all models share, with this one's kernels.
std::vector<uint8_t> library_for(const graph::ExportedProgram& program, const CompileOptions& options,
                                 CompileReport& report) {
  const ByteSpan prebuilt = prebuilt_library();
  // A compiler that is asked for must be there, even if there is nothing to compile.
  const std::string compiler = options.kernels ? find_compiler(options.compiler) : std::string();
  const std::vector<std::string> codes =
      options.kernels ? collect_kernels(program) : std::vector<std::string>();
  report.kernels = codes.size();
  if (codes.empty()) return {prebuilt.begin(), prebuilt.end()};
  const std::vector<uint8_t> library = compile_kernels(compiler, kernel_source(codes));
  check_kernel_library(library, codes.size());
  KernelTable table{.keys = {}, .library = library};
  for (const std::string& code : codes) table.keys.push_back(key_of(code));
  return with_kernels(prebuilt, write_kernels(table));
}

}  // namespace

std::vector<uint8_t> compile_library(Package package, const CompileOptions& options, CompileReport* report) {
  const Package program = prepared(std::move(package), options);
  CompileReport made;
  const std::vector<uint8_t> library = library_for(program.models[0].program, options, made);
  if (report != nullptr) *report = made;
  return with_payload(library, PayloadKind::kWhole, archive_of(bare(program)));
}

CompileReport compile_package(Package& package, const CompileOptions& options) {
  package = prepared(std::move(package), options);
  CompileReport report;
  const std::vector<uint8_t> library = library_for(package.models[0].program, options, report);
  const Package program = bare(package);
  const bool refers =
      options.form == CompiledForm::kPackage && weight_bytes(program.models[0].program) > kMostCopied;
  const std::vector<uint8_t> payload = [&] {
    if (!refers) return archive_of(program);
    const Reference reference{std::string(kModel), token_of(program.models[0].program)};
    package.others.push_back({token_record(kModel), stored(reference.token)});
    const std::string text = write_reference(reference);
    return std::vector<uint8_t>(text.begin(), text.end());
  }();
  if (options.form != CompiledForm::kPackage) package.models.clear();
  add_library(package, with_payload(library, refers ? PayloadKind::kReference : PayloadKind::kWhole, payload),
              options);
  return report;
}

CompileReport compile_to_file(Package package, const std::string& path, CompileOptions options,
                              Progress& progress) {
  if (path.ends_with(".so")) options.form = CompiledForm::kLibrary;
  if (options.form == CompiledForm::kLibrary) {
    CompileReport report;
    const std::vector<uint8_t> library = compile_library(std::move(package), options, &report);
    with_location("file", path, [&] {
      AtomicFile file(path);
      file.write(library);
      file.commit();
    });
    return report;
  }
  const CompileReport report = compile_package(package, options);
  save_package(package, path, PackageLayout::kArchive, progress);
  return report;
}

}  // namespace flambeau::aot
