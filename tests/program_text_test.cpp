// The text form of whole programs: the goldens print as PyTorch printed them, and everything comes back.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "flambeau/archive/zip/reader.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/graph/text/print.h"

namespace flambeau {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The programs of an archive: its JSON records that have a graph.
std::vector<std::pair<std::string, std::string>> programs_in(const fs::path& path) {
  std::vector<std::pair<std::string, std::string>> programs;
  const zip::Reader reader = zip::Reader::open(Mapping::open(path.string()));
  for (const zip::Entry& entry : reader.entries()) {
    if (!entry.name.ends_with(".json")) continue;
    const std::vector<uint8_t> bytes = reader.read(entry);
    std::string text(bytes.begin(), bytes.end());
    if (text.starts_with("{\"graph_module\"")) programs.emplace_back(entry.name, std::move(text));
  }
  return programs;
}

graph::ExportedProgram read(const std::string& text) {
  pt2::Notes notes;
  return pt2::read_program(text, notes);
}

void expect_comes_back(const std::string& text, const std::string& name) {
  const graph::ExportedProgram program = read(text);
  const std::string printed = to_text(program, {.lossless = true});
  const graph::ExportedProgram again = graph::parse_text(printed);
  EXPECT_TRUE(pt2::write_program(again) == pt2::write_program(program)) << name;
  EXPECT_TRUE(to_text(again, {.lossless = true}) == printed) << name;
}

TEST(ProgramText, GoldensPrintAsInPyTorchAndComeBack) {
  size_t count = 0;
  const fs::path folder = fs::path(FLAMBEAU_GOLDEN_DIR) / "pt2";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".pt2") continue;
    for (const auto& [name, text] : programs_in(entry.path())) {
      expect_comes_back(text, entry.path().string() + " " + name);
      const fs::path expected = fs::path(entry.path()).replace_extension(".txt");
      const bool is_main =
          name.ends_with("models/model.json") || name.ends_with("serialized_exported_program.json");
      if (!is_main || !fs::exists(expected)) continue;
      EXPECT_EQ(to_text(read(text)), read_file(expected)) << entry.path();
      ++count;
    }
  }
  EXPECT_GT(count, 20U);
}

TEST(ProgramText, GraphsOfRealModelsComeBack) {
  const fs::path path = fs::path(FLAMBEAU_FIXTURE_DIR) / "graphs-torch-2.11.zip";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto programs = programs_in(path);
  EXPECT_EQ(programs.size(), 35U);
  for (const auto& [name, text] : programs) expect_comes_back(text, name);
}

}  // namespace
}  // namespace flambeau
