#include "flambeau/formats/safety/safety.h"

#include <gtest/gtest.h>

#include "flambeau/archive/record_archive.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::golden_file;
using testing::read_file;
using testing::TorchFileBuilder;

std::string verdict(const SafetyReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += std::string(severity_name(finding.severity)) + " " + finding.topic + " [" + finding.record +
            "] " + finding.message + "\n";
  }
  return text;
}
std::string verdict_on(std::string_view bytes) { return verdict(check_file(Mapping::from_text(bytes))); }
std::string verdict_on_file(const std::string& name) {
  return verdict(check_file(Mapping::open(golden_file(name))));
}

constexpr std::string_view kEvil = "cos\nsystem\n(S'true'\ntR.";
const std::string kCall = "unpickling would import and call os.system, which can run anything\n";

TEST(Safety, GoldenFilesAreHarmless) {
  for (const char* name : {"types_2.13.pt", "views_1.13.pt", "legacy_types_2.13.pt", "legacy_views_1.13.pt",
                           "tensors.tar", "ids.tar", "extras_2.13.pt", "sparse_2.13.pt", "quantized_1.13.pt",
                           "big_endian.pt", "protocol_5.pt"}) {
    const SafetyReport report = check_file(Mapping::open(golden_file(name)));
    EXPECT_TRUE(report.is_harmless()) << name << ": " << verdict(report);
    EXPECT_GT(report.pickles_read, 0U);
  }
  EXPECT_TRUE(check_file(Mapping::open(FLAMBEAU_GOLDEN_DIR "/safetensors/types.safetensors")).is_harmless());
  EXPECT_TRUE(check_file(Mapping::open(FLAMBEAU_GOLDEN_DIR "/npy/matrix.npy")).is_harmless());
}

TEST(Safety, NumpyValuesAreMentioned) {
  const SafetyReport report = check_file(Mapping::open(golden_file("numpy_2.13.pt")));
  EXPECT_TRUE(report.is_harmless()) << verdict(report);
  EXPECT_NE(verdict(report).find("info pickle [numpy_2.13/data.pkl] holds NumPy values (numpy.dtype)"),
            std::string::npos);
}

TEST(Safety, TorchScriptRunsCode) {
  EXPECT_EQ(verdict_on_file("script_2.13.pt"),
            "caution code [] 1 file of TorchScript code, which runs when the module is loaded and called\n");
  EXPECT_EQ(verdict_on_file("mobile_2.13.pt").substr(0, 13), "caution code ");
  TorchFileBuilder bare;
  bare.record("constants.pkl", "\x80\x02).");
  bare.record("bytecode.pkl", "\x80\x02).");
  EXPECT_EQ(verdict(check_file(bare.with_pickle("\x80\x02N."))),
            "caution code [] a TorchScript module, which runs when it is loaded and called\n");
}

TEST(Safety, WholeModulesAreNotData) {
  EXPECT_NE(verdict_on_file("module_2.13.pt")
                .find("danger pickle [module_2.13/data.pkl] unpickling would import and call "
                      "net.Net, which is not on the list of names that only build data"),
            std::string::npos)
      << verdict_on_file("module_2.13.pt");
  EXPECT_NE(verdict_on_file("legacy_module_2.13.pt").find("net.Net"), std::string::npos);
}

TEST(Safety, BarePickles) {
  EXPECT_EQ(verdict_on(kEvil), "danger pickle [] " + kCall);
  EXPECT_EQ(verdict_on("\x80\x02N."), "");
  // Thrown away again: imported all the same.
  EXPECT_EQ(verdict_on("\x80\x02"
                       "cos\nsystem\n0N."),
            "danger pickle [] unpickling would import os.system, which can run anything\n");
}

TEST(Safety, ContainersOfPythons) {
  EXPECT_EQ(verdict_on("\x80\x02"
                       "ccollections\ndeque\n)K\x03\x86R(K\x01K\x02"
                       "e."),
            "");
  EXPECT_EQ(
      verdict_on("\x80\x02"
                 "ccollections\ndeque\nU\x01"
                 "aK\x03\x86R."),
      "danger pickle [] unpickling calls collections.deque with other arguments than torch.save writes: it "
      "can take any amount of memory, or do something else\n");
}

TEST(Safety, WhatHappensBeforeAPickleBreaks) {
  const std::string text = verdict_on(
      "\x80\x02"
      "cos\nsystem\n(S'true'\ntR"
      "\xff.");
  EXPECT_NE(text.find(kCall), std::string::npos) << text;
  EXPECT_EQ(text.find("danger pickle [] byte 24: "), 0U) << text;
}

TEST(Safety, RecordsUnderAnyName) {
  TorchFileBuilder file;
  file.record("extra/notes.txt", "\x80\x02" + std::string(kEvil));
  file.record("other.pkl", std::string(kEvil));
  EXPECT_EQ(
      verdict(check_file(file.with_pickle("\x80\x02N."))),
      "danger pickle [archive/extra/notes.txt] " + kCall + "danger pickle [archive/other.pkl] " + kCall);
}

std::string legacy_with(std::string_view magic, std::string_view system, std::string_view keys) {
  return std::string(magic) + "\x80\x02M\xe9\x03." + std::string(system) + "\x80\x02N." + std::string(keys);
}
constexpr std::string_view kMagic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);

TEST(Safety, EveryPickleOfTheLegacyForm) {
  EXPECT_EQ(verdict_on(legacy_with(kMagic, "\x80\x02}.", "\x80\x02].")), "");
  const std::string evil = "\x80\x02" + std::string(kEvil);
  EXPECT_EQ(verdict_on(legacy_with(kMagic, evil, "\x80\x02].")),
            "danger pickle [system information] " + kCall);
  const std::string text = verdict_on(legacy_with(kMagic, "\x80\x02}.", evil));
  EXPECT_NE(text.find("danger pickle [storage keys] " + kCall), std::string::npos) << text;
  const std::string magic =
      "\x80\x02"
      "cos\nabort\n0\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.";
  EXPECT_EQ(verdict_on(legacy_with(magic, "\x80\x02}.", "\x80\x02].")),
            "danger pickle [magic number] unpickling would import os.abort, which can run anything\n");
}

// The first tensor's class in the member "tensors" is only ever thrown away.
TEST(Safety, EveryPickleOfATar) {
  std::string tar = read_file(golden_file("tensors.tar"));
  for (const std::string_view name : {"torch\nFloatTensor\n", "torch\nFloatStorage\n"}) {
    std::string changed = tar;
    const std::string evil = name.size() == 18 ? "posix\nsystem_____\n" : "posix\nsystem______\n";
    changed.replace(changed.find(name), name.size(), evil);
    EXPECT_NE(verdict_on(changed).find("unpickling would import posix.system_"), std::string::npos)
        << verdict_on(changed);
  }
}

// A valid safetensors file whose bytes are also a pickle: the length of its header reads as the opcode X,
// which skips 40 bytes; texts lead on to the bytes of the tensor.
std::string safetensors_and_pickle(std::string_view pickle) {
  constexpr size_t kSkipped = 40, kHeader = 'X' + 256 * kSkipped, kEnd = 8 + kHeader, kLast = 100;
  const std::string size = std::to_string(pickle.size());
  const std::string tail =
      "\"},\"x\":{\"dtype\":\"U8\",\"shape\":[" + size + "],\"data_offsets\":[0," + size + "]}}";
  std::string bytes =
      std::string("X") + static_cast<char>(kSkipped) + std::string(6, '\0') + "{\"__metadata__\":{\"a\":\"";
  bytes.resize(5 + kSkipped, 'a');
  const auto text = [&](size_t length) {
    bytes += "U" + std::string(1, static_cast<char>(length)) + std::string(length, 'a');
  };
  while (kEnd - bytes.size() > 129 + 2 + kLast) text(127);
  text(kEnd - bytes.size() - 2 - 2 - kLast);
  text(kLast);
  bytes.replace(bytes.size() - tail.size(), tail.size(), tail);
  EXPECT_EQ(bytes.size(), kEnd);
  return bytes + std::string(pickle);
}

TEST(Safety, SafetensorsThatAreAPickleToo) {
  const std::string bytes = safetensors_and_pickle(kEvil);
  EXPECT_EQ(load_checkpoint(Mapping::from_text(bytes)).find("x")->summary(), "uint8[23]");
  EXPECT_EQ(verdict_on(bytes), "danger pickle [] " + kCall);
  EXPECT_EQ(verdict_on(safetensors_and_pickle("N.")), "");
  // It need not end well.
  EXPECT_EQ(verdict_on(safetensors_and_pickle("cos\nsystem\n(S'true'\ntRabc")), "danger pickle [] " + kCall);
}

TEST(Safety, CodeAndLibraries) {
  TorchFileBuilder file;
  file.record("data/aotinductor/model/x.so",
              "\x7f"
              "ELF");
  file.record("data/0",
              "\x7f"
              "ELF...");
  file.record("setup.py", "import os");
  EXPECT_EQ(verdict(check_file(file.with_pickle("\x80\x02N."))),
            "danger library [archive/data/aotinductor/model/x.so] compiled code, which loading the model "
            "would run\n"
            "danger library [archive/data/0] a program or shared library\n"
            "danger code [archive/setup.py] a source file, which using the file would run\n");
}

TEST(Safety, FilesInsideOfFiles) {
  TorchFileBuilder inner;
  const std::shared_ptr<Mapping> evil = inner.with_pickle(kEvil);
  TorchFileBuilder outer;
  outer.record("weights.pt", std::string(as_text(evil->bytes())));
  const std::shared_ptr<Mapping> file = outer.with_pickle("\x80\x02N.");
  EXPECT_EQ(verdict(check_file(file)), "danger pickle [archive/weights.pt > archive/data.pkl] " + kCall);
  std::string nested(as_text(file->bytes()));
  for (int i = 0; i < 4; ++i) {
    TorchFileBuilder more;
    more.record("inner", nested);
    nested = as_text(more.with_pickle("\x80\x02N.")->bytes());
  }
  EXPECT_NE(verdict_on(nested).find("archives nested more than 3 deep"), std::string::npos);
  TorchFileBuilder legacy;
  legacy.record("weights", legacy_with(kMagic, "\x80\x02" + std::string(kEvil), "\x80\x02]."));
  EXPECT_EQ(verdict(check_file(legacy.with_pickle("\x80\x02N."))),
            "danger pickle [archive/weights > system information] " + kCall);
}

TEST(Safety, BrokenFilesAreFindings) {
  const std::string bytes = read_file(golden_file("views_2.13.pt"));
  EXPECT_EQ(verdict_on(std::string_view(bytes).substr(0, 2000)).substr(0, 11), "danger zip ");
  std::string flipped = bytes;
  flipped[RecordArchive::open(Mapping::from_text(bytes)).get("data/0").data_offset] ^= 1;
  const std::string text = verdict_on(flipped);
  EXPECT_NE(text.find("checksum"), std::string::npos) << text;
  EXPECT_EQ(verdict_on("abc"), "danger file [] the bytes fit no kind of file that Flambeau knows\n");
  EXPECT_EQ(verdict_on("\x1f\x8b\x08"),
            "danger file [] this is a gzip file (decompress it first), not a file of PyTorch\n");
}

// Unpickling makes them, whether the file keeps them or not.
TEST(Safety, TensorsThatNothingHolds) {
  const std::string storage = "(Vstorage\nctorch\nFloatStorage\nV0\nVcpu\nI1\ntQ";
  const auto tensor = [&](const std::string& size, const std::string& stride) {
    return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "I0\n(" + size + "t(" + stride +
           "tI00\nccollections\nOrderedDict\n)RtR";
  };
  const auto verdict_on_pickle = [](const std::string& pickle) {
    TorchFileBuilder file;
    file.record("data/0", std::string(4, 0));
    return verdict(check_file(file.with_pickle("\x80\x02" + pickle)));
  };
  EXPECT_EQ(verdict_on_pickle("}" + tensor("I1\n", "I1\n") + "0."), "");
  EXPECT_EQ(
      verdict_on_pickle("}" + tensor("I9\n", "I1\n") + "0."),
      "danger tensors [archive/data.pkl] a float32 tensor of sizes [9], strides [1] and offset 0 needs 36 "
      "bytes, its storage has 4\n");
  const std::string device = "}ctorch._utils\n_rebuild_device_tensor_from_cpu_tensor\n(" +
                             tensor("I5000000000\n", "I0\n") + "ctorch\nfloat64\nVcpu\nI00\ntR0.";
  EXPECT_EQ(verdict_on_pickle(device),
            "danger tensors [archive/data.pkl] makes room for 5000000000 elements, which the file does not "
            "hold\n");
}

// PyTorch believes the indices, which are among the values.
TEST(Safety, IndicesOutsideOfASparseTensor) {
  const auto part = [](const char* type, const char* name, const char* sizes, const char* strides) {
    return std::string("ctorch._utils\n_rebuild_tensor_v2\n((Vstorage\nctorch\n") + type + "Storage\nV" +
           name + "\nVcpu\nI2\ntQI0\n" + sizes + strides + "I00\nccollections\nOrderedDict\n)RtR";
  };
  const auto verdict_on_index = [&](char index) {
    TorchFileBuilder file;
    file.record("data/0", std::string(8, 0) + index + std::string(7, 0));
    file.record("data/1", std::string(8, 0));
    const std::string parts =
        part("Long", "0", "(I1\nI2\nt", "(I2\nI1\nt") + part("Float", "1", "(I2\nt", "(I1\nt");
    return verdict(check_file(
        file.with_pickle("\x80\x02}Va\nctorch._utils\n_rebuild_sparse_tensor\n(ctorch\nsparse_coo\n(" +
                         parts + "(I3\ntttRs.")));
  };
  EXPECT_EQ(verdict_on_index(2), "");
  EXPECT_NE(verdict_on_index(3).find("has index 3 in dimension 0, whose size is 3"), std::string::npos)
      << verdict_on_index(3);
}

TEST(Safety, AMemoOfGaps) {
  EXPECT_EQ(verdict_on("\x80\x02}p5\n."), "");
  EXPECT_EQ(verdict_on("\x80\x02}p2147483647\n."),
            "danger pickle [] unpickling makes room for 2147483647 values, of which the file has 1\n");
}

TEST(Safety, WhatFollowsAPickle) {
  EXPECT_EQ(verdict_on("\x80\x02N."), "");
  EXPECT_EQ(verdict_on("\x80\x02N.\x80\x02N."),
            "caution pickle [] another pickle follows the first, as in no file of torch.save\n");
  const std::string text = verdict_on("\x80\x02N." + std::string(kEvil));
  EXPECT_NE(text.find(kCall), std::string::npos) << text;
}

TEST(Safety, AZipBehindOtherBytes) {
  TorchFileBuilder file;
  const std::string zip(as_text(file.with_pickle("\x80\x02N.")->bytes()));
  EXPECT_NE(verdict_on("\x80\x02N." + zip).find("a zip archive lies behind other bytes"), std::string::npos);
}

TEST(Safety, NamesInAnotherCase) {
  TorchFileBuilder file;
  file.record("DATA.PKL", std::string(kEvil));
  const std::string text = verdict(check_file(file.with_pickle("\x80\x02N.")));
  EXPECT_NE(text.find("differs from 'archive/data.pkl' in case alone"), std::string::npos) << text;
  EXPECT_NE(text.find(kCall), std::string::npos) << text;
}

TEST(Safety, EachWayOfOpeningHasItsVerdict) {
  const auto outcomes = [](const std::shared_ptr<Mapping>& file) {
    std::string text;
    for (const OpeningVerdict& verdict : check_file(file).openings)
      text += std::string(outcome_name(verdict.outcome)) + " ";
    return text;
  };
  TorchFileBuilder good;
  EXPECT_EQ(outcomes(good.with_pickle("\x80\x02}.")), "harmless harmless refused ");
  TorchFileBuilder evil;
  EXPECT_EQ(outcomes(evil.with_pickle(kEvil)), "refused dangerous refused ");
  TorchFileBuilder bomb;
  EXPECT_EQ(outcomes(bomb.with_pickle("cbuiltins\nbytearray\n(I9999999999\ntR.")),
            "dangerous dangerous dangerous ");
  EXPECT_EQ(check_file(evil.with_pickle(kEvil)).verdict(Opening::kFull).remedy,
            "take its tensors out without running anything: flambeau convert FILE weights.safetensors");
}

class CancelAtOnce final : public Progress {
 public:
  void begin(std::string_view, uint64_t) override {}
  void advance(uint64_t) override {}
  bool cancelled() const override { return true; }
};

TEST(Safety, CanBeCancelled) {
  CancelAtOnce progress;
  EXPECT_THROW(check_file(Mapping::open(golden_file("views_2.13.pt")), progress), Error);
}

}  // namespace
}  // namespace flambeau
