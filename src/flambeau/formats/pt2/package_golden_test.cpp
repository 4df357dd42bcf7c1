// PyTorch's own .pt2 files: read, and written as they were.
#include <fmt/format.h>

#include "flambeau/formats/pt2/package_test_files.h"
#include "flambeau/graph/report/canonical.h"
#include "flambeau/graph/report/compare.h"
#include "flambeau/graph/verify/verify.h"
#include "support/temporary_folder.h"

namespace flambeau::pt2 {
namespace {

using testing::read_file;
using testing::TemporaryFolder;

class Golden : public ::testing::TestWithParam<std::string> {
 protected:
  std::string path() const { return golden_path(GetParam()); }
};

TEST_P(Golden, IsWrittenByteForByte) {
  const Package package = load_package(path());
  if (is_old_layout(GetParam())) {
    EXPECT_EQ(package.layout, PackageLayout::kZip);
    return;
  }
  EXPECT_EQ(package.layout, PackageLayout::kArchive);
  EXPECT_TRUE(written(package) == read_file(path()));
  EXPECT_EQ(package.notes, Notes());
}

TEST_P(Golden, TheProgramIsWrittenByteForByte) {
  const std::string json = program_json(GetParam());
  Notes notes;
  const graph::ExportedProgram program = read_program(json, notes);
  EXPECT_EQ(write_program(program), json);
  EXPECT_EQ(write_program(program.clone()), json);
  EXPECT_FALSE(program.has_weights);
  // A file of its own is recognized by its beginning.
  const Package package = load_package(Mapping::from_text(json));
  EXPECT_EQ(package.layout, PackageLayout::kJson);
  EXPECT_EQ(written(package, PackageLayout::kJson), json);
}

TEST_P(Golden, HasPyTorchsCanonicalForm) {
  Package package = load_package(path());
  const graph::ExportedProgram canonical = graph::canonicalize(package.model().program);
  const std::string expected =
      read_file(std::string(FLAMBEAU_GOLDEN_DIR "/pt2/") + GetParam() + ".canonical.json");
  EXPECT_EQ(write_program(canonical), expected);
  EXPECT_EQ(write_program(graph::canonicalize(canonical)), expected) << "once more";
}

TEST_P(Golden, IsValidAndEqualsItself) {
  Package package = load_package(path());
  const graph::ExportedProgram& program = package.model().program;
  for (const graph::Finding& finding : graph::verify(program)) ADD_FAILURE() << finding.to_string();
  program.graph().for_each_graph(
      [](const graph::Graph& graph) { EXPECT_EQ(graph.lint(), std::vector<std::string>()); });
  const graph::ProgramComparison comparison = graph::compare_programs(program, program.clone());
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_EQ(comparison.equal_nodes, program.graph().node_count());
}

TEST_P(Golden, TheOtherLayoutHoldsTheSame) {
  Package package = load_package(path());
  const PackageLayout other = is_old_layout(GetParam()) ? PackageLayout::kArchive : PackageLayout::kZip;
  std::string bytes;
  const std::string error = error_text([&] { bytes = written(package, other); });
  if (error != "no error") {
    EXPECT_TRUE(error.starts_with("unsupported: ")) << error;
    return;
  }
  Package again = load_package(Mapping::from_text(bytes));
  EXPECT_EQ(again.layout, other);
  const graph::ExportedProgram& first = package.model().program;
  const graph::ExportedProgram& second = again.model().program;
  EXPECT_EQ(write_program(first), write_program(second));
  for (const auto& [a, b] :
       {std::pair(&first.state_dict, &second.state_dict), std::pair(&first.constants, &second.constants)}) {
    ASSERT_EQ(a->size(), b->size());
    for (const graph::Weight& weight : *a) {
      const auto found = std::find_if(b->begin(), b->end(),
                                      [&](const graph::Weight& each) { return each.name == weight.name; });
      ASSERT_NE(found, b->end()) << weight.name;
      EXPECT_EQ(found->tensor.summary(), weight.tensor.summary());
      EXPECT_EQ(found->tensor.strides(), weight.tensor.strides());
      EXPECT_EQ(found->tensor.offset(), weight.tensor.offset());
      EXPECT_EQ(found->tensor.requires_grad(), weight.tensor.requires_grad());
      EXPECT_EQ(found->is_parameter, weight.is_parameter);
      if (weight.tensor.is_meta()) continue;
      EXPECT_EQ(as_text(found->tensor.to_contiguous().contiguous_bytes()),
                as_text(weight.tensor.to_contiguous().contiguous_bytes()));
    }
  }
  if (is_old_layout(GetParam())) return;
  // And back.
  EXPECT_EQ(
      written(load_package(Mapping::from_text(written(again, PackageLayout::kZip))), PackageLayout::kZip),
      bytes);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, ::testing::ValuesIn(golden_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(GoldenFiles, SavedUnderAnotherNameTheyStayTheSame) {
  const TemporaryFolder folder;
  const std::string path = folder / "renamed.pt2";
  const Package package = load_package(golden_path("weights.tied"));
  save_package(package, path, PackageLayout::kArchive);
  EXPECT_TRUE(read_file(path) == read_file(golden_path("weights.tied")));
  // A program that comes from elsewhere gets a folder of the file's name.
  const Package old = load_package(golden_path("weights.tied.old"));
  save_package(old, path, PackageLayout::kArchive);
  EXPECT_EQ(load_package(path).top_folder, "renamed");
}

TEST(GoldenFiles, TheOldestLayoutOfARealFile) {
  const std::string path = FLAMBEAU_FIXTURE_DIR "/real/pt2-old-layout/hades_pid_schema2.pt2";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no fixtures here";
  Package package = load_package(path);
  EXPECT_EQ(package.layout, PackageLayout::kZip);
  ASSERT_FALSE(package.notes.empty());
  EXPECT_EQ(package.notes[0], "converted from schema 2.0 to 8.20");
  for (const PackageLayout layout : {PackageLayout::kZip, PackageLayout::kArchive}) {
    const std::string bytes = written(package, layout);
    Package again = load_package(Mapping::from_text(bytes));
    EXPECT_EQ(again.notes, Notes());
    EXPECT_TRUE(write_program(again.model().program) == write_program(package.model().program));
    EXPECT_EQ(again.model().program.state_dict.size(), package.model().program.state_dict.size());
    EXPECT_TRUE(written(again, layout) == bytes);
  }
}

}  // namespace
}  // namespace flambeau::pt2
