// The C++ of README.md and docs/*.md: it compiles, and it runs in a folder with a model.pt and a model.pt2.
#include <flambeau/aot.h>
#include <flambeau/flambeau.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

// A page may name things as it likes, and need not use them.
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

namespace {

using namespace flambeau;

// What a page does with what it has shown.
template <typename... T>
void use(const T&... /*shown*/) {}

struct Page {
  const char* path;
  void (*run)(ExportedProgram& program);
};

#include "docs_code.inc"

class DocsCode : public testing::TestWithParam<Page> {};

TEST_P(DocsCode, Runs) {
  if (std::string_view(GetParam().path) == "docs/aot.md" && aot::prebuilt_library().empty())
    GTEST_SKIP() << "this build has no library of compiled models";
  namespace fs = std::filesystem;
  const fs::path golden = FLAMBEAU_GOLDEN_DIR;
  const fs::path folder = fs::path(testing::TempDir()) / "docs_code";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy_file(golden / "run/classifier.pt2", folder / "model.pt2");
  save_checkpoint(Checkpoint::from_tensors({{"fc.weight", Tensor::zeros(DType::kFloat32, Dims{2, 3})}}),
                  (folder / "model.pt").string(), FileKind::kTorchSave);
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  Package package = load_package("model.pt2");
  EXPECT_NO_THROW(GetParam().run(package.model().program));
  fs::current_path(before);
}

INSTANTIATE_TEST_SUITE_P(Pages, DocsCode, testing::ValuesIn(kPages),
                         [](const testing::TestParamInfo<Page>& info) {
                           std::string name;
                           for (const char* c = info.param.path; *c != '\0'; ++c)
                             name += std::isalnum(static_cast<unsigned char>(*c)) != 0 ? *c : '_';
                           return name;
                         });

}  // namespace
