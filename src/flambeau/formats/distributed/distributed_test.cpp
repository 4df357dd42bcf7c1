#include "flambeau/formats/distributed/distributed.h"

#include <gtest/gtest.h>

#include <numeric>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/safety/safety.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::error_text;
using testing::TemporaryFolder;
using testing::values_of;

const std::string kRoot = FLAMBEAU_GOLDEN_DIR "/distributed/";

template <typename T>
std::vector<T> counting(size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T(0));
  return values;
}

std::string bytes_of(const std::string& path) { return testing::read_file(path); }

// A copy of the golden folder, with its index changed.
class Copied {
 public:
  explicit Copied(const std::string& name) {
    std::filesystem::copy(kRoot + name, folder_ / "x", std::filesystem::copy_options::recursive);
  }
  std::string path() const { return folder_ / "x"; }
  std::string index() const { return path() + "/.metadata"; }
  // Texts of one length, so that frames and memos stay as they are.
  void replace(std::string_view from, std::string_view to) const {
    std::string text = bytes_of(index());
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    testing::write_file(index(), text);
  }
  std::string error() const {
    const std::string text = error_text([&] { load_checkpoint(path()); });
    const size_t at = text.find(".metadata: ");
    return at == std::string::npos ? text : text.substr(at + 11);
  }

 private:
  TemporaryFolder folder_;
};

TEST(Distributed, OneProcess) {
  const Checkpoint read = load_checkpoint(kRoot + "single");
  EXPECT_EQ(read.kind(), FileKind::kDistributed);
  ASSERT_EQ(read.tensors().size(), 5U);
  EXPECT_EQ(values_of<float>(*read.find("model.weight")), counting<float>(12));
  EXPECT_EQ(read.find("model.bias")->dtype(), DType::kBFloat16);
  EXPECT_EQ(values_of<int64_t>(*read.find("step")), std::vector<int64_t>{7});
  EXPECT_EQ(values_of<int32_t>(*read.find("part")), (std::vector<int32_t>{2, 3, 4, 5}));
  EXPECT_EQ(values_of<float>(*read.find("turned")), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  ASSERT_EQ(read.notes().size(), 1U);
  EXPECT_EQ(read.notes()[0], "1 values that are no tensors are left out, the first is 'epoch'");
  EXPECT_TRUE(read.find("model.weight")->storage()->is_ready()) << "a view of the mapped file";
}

TEST(Distributed, PiecesOfSeveralProcesses) {
  const Checkpoint read = load_checkpoint(kRoot + "sharded/.metadata");
  ASSERT_EQ(read.tensors().size(), 5U);
  EXPECT_FALSE(read.find("rows")->storage()->is_ready()) << "put together when it is read";
  EXPECT_EQ(values_of<float>(*read.find("rows")), counting<float>(15));
  EXPECT_EQ(values_of<int64_t>(*read.find("columns")), counting<int64_t>(12));
  EXPECT_EQ(values_of<float>(*read.find("middle")), counting<float>(24));
  EXPECT_EQ(read.find("middle")->sizes(), (Dims{2, 3, 4}));
  EXPECT_EQ(values_of<float>(*read.find("same")), std::vector<float>(4, 1.0F));
}

TEST(Distributed, IsConvertedInspectedAndChecked) {
  MemorySink sink;
  write_checkpoint(sink, load_checkpoint(kRoot + "sharded"), FileKind::kSafetensors);
  const Checkpoint again = load_checkpoint(Mapping::from_buffer(sink.take()));
  EXPECT_EQ(values_of<float>(*again.find("middle")), counting<float>(24));
  const Inspection inspection = inspect_file(kRoot + "sharded");
  EXPECT_EQ(inspection.records.size(), 2U);
  EXPECT_TRUE(inspection.records_are_files);
  // PyTorch unpickles the index, and what the files beside it have for values.
  const SafetyReport report = check_file(Mapping::open(kRoot + "single/.metadata"));
  EXPECT_FALSE(report.is_harmless());
  EXPECT_EQ(report.findings[0].severity, Severity::kCaution);
}

TEST(DistributedErrors, IndexesThatLie) {
  {
    const Copied copied("single");
    copied.replace("__0_0.distcp", "../../x.dist");
    EXPECT_EQ(copied.error(),
              "tensor 'epoch': '../../x.dist' is not the name of a file beside the index (an index names "
              "files of its own "
              "folder, without a path)");
  }
  {
    const Copied copied("single");
    std::filesystem::remove(copied.path() + "/__0_0.distcp");
    EXPECT_NE(copied.error().find("the index needs this file beside it"), std::string::npos)
        << copied.error();
  }
  {
    const Copied copied("single");
    std::filesystem::resize_file(copied.path() + "/__0_0.distcp", 3000);
    EXPECT_NE(copied.error().find("a piece ends behind the end of the file (3000 bytes)"), std::string::npos)
        << copied.error();
  }
  {
    const Copied copied("single");
    copied.replace("float32", "float64");
    EXPECT_NE(copied.error().find("the index says float64[3, 4], the piece is float32[3, 4]"),
              std::string::npos)
        << copied.error();
  }
  {
    const Copied copied("single");
    copied.replace("TensorStorageMetadata", "TensorStorageMetaduta");
    EXPECT_NE(copied.error().find("expected a TensorStorageMetadata"), std::string::npos) << copied.error();
  }
}

TEST(DistributedErrors, PiecesThatDoNotCoverTheTensor) {
  const Copied copied("sharded");
  // The size of "rows": BININT1 5, BININT1 3, TUPLE2.
  copied.replace(std::string_view("K\x05K\x03\x86"), std::string_view("K\x06K\x03\x86"));
  EXPECT_EQ(copied.error(), "tensor 'rows': the pieces have 15 elements, the tensor has 18");
}

TEST(DistributedErrors, AnIndexInMemory) {
  EXPECT_NE(error_text([&] {
              load_checkpoint(Mapping::from_text(bytes_of(kRoot + "single/.metadata")));
            }).find("which are looked for beside it"),
            std::string::npos);
}

std::string verdict_on(const std::string& folder) {
  std::string text;
  const SafetyReport report = check_folder(folder);
  for (const Finding& finding : report.findings) text += finding.record + ": " + finding.message + "\n";
  return text + (report.is_harmless() ? "harmless" : "not harmless");
}

TEST(Distributed, WhatPyTorchWroteIsHarmless) {
  for (const char* name : {"single", "sharded"}) EXPECT_EQ(verdict_on(kRoot + name), "harmless") << name;
}

// Each piece and value is a file inside of a file, which is looked into.
TEST(Distributed, PiecesAreChecked) {
  const Copied behind("single");
  const std::string data = behind.path() + "/__0_0.distcp";
  const std::string good = bytes_of(data);
  testing::write_file(data, good + "cos\nsystem\n(S'true'\ntR.");
  EXPECT_EQ(verdict_on(behind.path()),
            "__0_0.distcp: 23 bytes at its end are not in the index\nnot harmless");
  const size_t last = good.rfind("PK\x03\x04", good.size() - 1);
  std::string evil = good;
  evil.replace(evil.find("PK\x03\x04"), 23, "cos\nsystem\n(S'true'\ntR.");
  testing::write_file(data, evil);
  EXPECT_NE(verdict_on(behind.path()).find("> byte 0: unpickling would import and call os.system"),
            std::string::npos)
      << verdict_on(behind.path());
  testing::write_file(data, good.substr(0, last));
  EXPECT_NE(verdict_on(behind.path()).find("__0_0.distcp: is shorter than the index says"),
            std::string::npos);
}

// Python's getattr reaches everything; the index has it for one enumeration.
TEST(Distributed, NamesInTheIndex) {
  const auto misuses = [](const std::string& pickle) {
    return find_misuses_in_index(pickle::parse(as_bytes(pickle), nullptr).tree).size();
  };
  const std::string kClass = "ctorch.distributed.checkpoint.metadata\n";
  EXPECT_EQ(misuses("cbuiltins\ngetattr\n(" + kClass + "_MEM_FORMAT_ENCODING\nVTORCH_CONTIGUOUS_FORMAT\ntR."),
            0U);
  EXPECT_EQ(misuses("cbuiltins\ngetattr\n(" + kClass + "_MEM_FORMAT_ENCODING\nV__class__\ntR."), 1U);
  EXPECT_EQ(misuses("cbuiltins\ngetattr\n(" + kClass + "Metadata\nVTORCH_X\ntR."), 1U);
  EXPECT_EQ(misuses(kClass + "Metadata\n)\x81}b."), 0U);
  EXPECT_EQ(misuses(kClass + "Metadata\n)\x81(N}tb."), 1U);
  EXPECT_EQ(misuses(kClass + "Metadata\n(I1\ntR."), 1U);
  EXPECT_EQ(misuses("cpathlib\nPosixPath\n(V/\nVtmp\ntR."), 0U);
  EXPECT_EQ(misuses("cpathlib\nPosixPath\n(V/\ntR}b."), 1U);
}

}  // namespace
}  // namespace flambeau
