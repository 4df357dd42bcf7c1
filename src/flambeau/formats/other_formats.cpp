// Files that are neither weights nor programs: a bare pickle, a torch.package, and what nobody knows.
#include <fmt/format.h>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/inspecting.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace {

// PROTO with a known version, or the text opcodes that protocol 0 starts with.
bool starts_like_pickle(ByteSpan bytes) {
  return bytes.size() >= 2 && ((bytes[0] == 0x80 && bytes[1] <= 5) || bytes[0] == '(' || bytes[0] == 'c');
}

// STOP at the end.
bool looks_like_pickle(ByteSpan bytes) { return starts_like_pickle(bytes) && bytes.back() == '.'; }

void inspect_pickle(Inspecting& inspecting) {
  const pickle::Parsed parsed = pickle::parse(inspecting.mapping()->bytes(), inspecting.mapping());
  inspecting.result().structure = outline(parsed.tree);
  inspecting.add_globals(parsed.tree);
  inspecting.result().notes.emplace_back(
      "a bare pickle is shown as data; none of its names is imported or called");
}

bool is_torch_package(const RecordArchive& archive) { return archive.has(".data/extern_modules"); }

void inspect_torch_package(Inspecting& inspecting) {
  inspecting.add_archive_version();
  inspecting.add_byte_order();
}

bool is_any_zip(const RecordArchive& /*archive*/) { return true; }

void inspect_unknown(Inspecting& inspecting) {
  const std::string_view foreign = foreign_kind(inspecting.mapping()->bytes());
  if (!foreign.empty()) inspecting.result().notes.push_back(fmt::format("it seems to be {}", foreign));
}

}  // namespace

constinit const Format kUnknownFormat = {
    .name = "unknown",
    .description = "a file of no known kind",
    .inspect = inspect_unknown,
    .note = "the bytes fit no kind of file that Flambeau knows",
};

constinit const Format kPickleFormat = {
    .name = "pickle",
    .description = "a bare Python pickle",
    .fits = looks_like_pickle,
    .may_begin = starts_like_pickle,
    .inspect = inspect_pickle,
    .check = safety::check_bare_pickle,
};

constinit const Format kTorchPackageFormat = {
    .name = "torch_package",
    .description = "a torch.package archive",
    .fits_archive = is_torch_package,
    .inspect = inspect_torch_package,
    .note = "the package holds Python code, which Flambeau lists and never runs",
};

constinit const Format kZipFormat = {
    .name = "zip",
    .description = "a zip archive of no known kind",
    .fits_archive = is_any_zip,
    .note = "the zip archive has none of the records that PyTorch writes",
};

}  // namespace flambeau
