#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "flambeau/base/error.h"
#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/safety/safety.h"
#include "flambeau/formats/shards/shards.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

using testing::TemporaryFolder;

// Shards of safetensors with their index, and what else such folders have.
class FolderSafety : public ::testing::Test {
 protected:
  FolderSafety() {
    NamedTensors tensors;
    for (const char* name : {"a", "b"}) tensors.push_back({name, Tensor::zeros(DType::kFloat32, Dims{8})});
    save_shards(Checkpoint::from_tensors(std::move(tensors)), folder_ / "model/", FileKind::kSafetensors, 40);
    put("config.json", R"({"architectures": ["Model"]})");
    put("README.md", "a model\n");
  }

  void put(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / ("model/" + name), std::ios::binary) << text;
  }
  std::string verdict() const {
    std::string text;
    const SafetyReport report = check_folder(folder_ / "model");
    for (const Finding& finding : report.findings) {
      text +=
          std::string(severity_name(finding.severity)) + " " + finding.record + ": " + finding.message + "\n";
    }
    return text + (report.is_harmless() ? "harmless" : "not harmless");
  }

  TemporaryFolder folder_;
};

TEST_F(FolderSafety, OneVerdictForAllFiles) {
  EXPECT_EQ(verdict(),
            "info README.md: is no file of a model: a text\n"
            "info config.json: is no file of a model: a text\n"
            "harmless");
  const SafetyReport report = check_folder(folder_ / "model");
  EXPECT_EQ(report.kind, FileKind::kShardIndex);
  EXPECT_EQ(report.verdict(Opening::kFull).outcome, Outcome::kRefused);
}

TEST_F(FolderSafety, OneEvilFileIsEnough) {
  put("training_args.bin", "cos\nsystem\n(S'true'\ntR.");
  EXPECT_EQ(verdict(),
            "danger training_args.bin: unpickling would import and call os.system, which can run anything\n"
            "info README.md: is no file of a model: a text\n"
            "info config.json: is no file of a model: a text\n"
            "not harmless");
}

TEST_F(FolderSafety, CodeAndWhatNobodyKnows) {
  std::filesystem::remove(folder_ / "model/README.md");
  put("config.json", R"({"auto_map": {"AutoModel": "modeling.Model"}})");
  put("modeling.py", "import os\n");
  put("picture", std::string_view("\x89PNG\0\xff", 6));
  EXPECT_EQ(verdict(),
            "caution config.json: names code that whoever trusts the folder's code would run\n"
            "caution modeling.py: source code, which whoever trusts the folder's code would run\n"
            "caution picture: is no file of a model, and nothing says what it is\n"
            "info config.json: is no file of a model: a text\n"
            "not harmless");
}

// Python reads more than JSON; and a source is one whatever else it is.
TEST_F(FolderSafety, SettingsAndSourcesInDisguise) {
  std::filesystem::remove(folder_ / "model/README.md");
  put("config.json", R"({"a": 1, "a": 2, "auto_map": {"AutoModel": "modeling.Model"}})");
  put("modeling.py", "cos\nsystem\n(S'true'\ntR.");
  EXPECT_EQ(verdict(),
            "danger modeling.py: unpickling would import and call os.system, which can run anything\n"
            "caution config.json: may name code that whoever trusts the folder's code would run\n"
            "caution modeling.py: source code, which whoever trusts the folder's code would run\n"
            "info config.json: is no file of a model: a text\n"
            "not harmless");
}

TEST_F(FolderSafety, AShardThatIsNotThere) {
  std::filesystem::remove(folder_ / "model/model-00002-of-00002.safetensors");
  EXPECT_NE(verdict().find("caution model.safetensors.index.json: leads to "
                           "'model-00002-of-00002.safetensors', which is missing\n"),
            std::string::npos)
      << verdict();
}

TEST_F(FolderSafety, PipesDevicesAndLinksThatLeadNowhereAreNotOpened) {
  const std::filesystem::path model = folder_ / "model";
  ASSERT_EQ(mkfifo((model / "pipe.pt").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", model / "zeros.pt");
  std::filesystem::create_symlink("gone.pt", model / "gone.link");
  std::filesystem::create_symlink("loop", model / "loop");
  std::filesystem::create_symlink(".", model / "again");
  const std::string found = verdict();
  for (const char* name : {"pipe.pt", "zeros.pt", "gone.link", "loop", "again"}) {
    EXPECT_NE(found.find("caution " + std::string(name) + ": is no file, and nothing was read of it"),
              std::string::npos)
        << name << "\n"
        << found;
  }
}

TEST_F(FolderSafety, AnIndexThatLeadsToAPipe) {
  const std::filesystem::path shard = folder_ / "model/model-00001-of-00002.safetensors";
  std::filesystem::remove(shard);
  ASSERT_EQ(mkfifo(shard.c_str(), 0600), 0);
  EXPECT_NE(verdict().find("is no regular file, and an index leads to it"), std::string::npos) << verdict();
}

TEST_F(FolderSafety, NothingOfAModel) {
  for (const char* name : {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                           "model.safetensors.index.json"}) {
    std::filesystem::remove(folder_ / (std::string("model/") + name));
  }
  EXPECT_TRUE(verdict().starts_with("caution : the folder holds no file of a model that Flambeau knows\n"));
  EXPECT_THROW(check_folder(folder_ / "nowhere"), Error);
}

}  // namespace
}  // namespace flambeau
