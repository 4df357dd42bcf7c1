// Real programs are valid: the golden files that PyTorch wrote, and graphs of real models.
#include <gtest/gtest.h>

#include <filesystem>

#include "flambeau/archive/zip/reader.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/graph/verify/verify.h"

namespace flambeau {
namespace {

namespace fs = std::filesystem;

std::string findings_of(const graph::ExportedProgram& program) {
  std::string words;
  for (const graph::Finding& finding : graph::verify(program)) words += "\n  " + finding.to_string();
  return words;
}

TEST(VerifyFiles, GoldenProgramsAreValid) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(FLAMBEAU_GOLDEN_DIR) / "pt2")) {
    if (entry.path().extension() != ".pt2") continue;
    const pt2::Package package = pt2::load_package(entry.path().string());
    for (const pt2::Model& model : package.models) {
      EXPECT_EQ(findings_of(model.program), "") << entry.path();
      EXPECT_EQ(findings_of(model.program.clone()), "") << entry.path();
      ++count;
    }
  }
  EXPECT_GE(count, 20U);
}

TEST(VerifyFiles, GraphsOfRealModelsAreValid) {
  const fs::path path = fs::path(FLAMBEAU_FIXTURE_DIR) / "graphs-torch-2.11.zip";
  if (!fs::exists(path)) GTEST_SKIP() << "there is no " << path;
  const zip::Reader archive = zip::Reader::open(Mapping::open(path.string()));
  size_t count = 0;
  for (const zip::Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(".json")) continue;
    const std::vector<uint8_t> bytes = archive.read(entry);
    pt2::Notes notes;
    const graph::ExportedProgram program =
        pt2::read_program({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, notes);
    EXPECT_EQ(findings_of(program), "") << entry.name;
    EXPECT_GT(program.graph().node_count(), 2U) << entry.name;
    ++count;
  }
  EXPECT_EQ(count, 35U);
}

}  // namespace
}  // namespace flambeau
