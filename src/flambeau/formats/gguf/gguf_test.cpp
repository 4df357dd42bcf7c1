// Against what the reference library reads from the files that it wrote.
#include "flambeau/formats/gguf/gguf.h"

#include <gtest/gtest.h>

#include <map>

#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/convert.h"
#include "flambeau/tensor/elements/compare.h"

namespace flambeau {
namespace {

std::shared_ptr<Mapping> gguf_golden(const std::string& name) {
  return Mapping::open(FLAMBEAU_GOLDEN_DIR "/gguf/" + name);
}

TEST(Gguf, DecodesAsTheReferenceLibrary) {
  const GgufFile file = read_gguf(gguf_golden("types.gguf"));
  const Checkpoint expected = load_checkpoint(gguf_golden("types.npz"));
  ASSERT_EQ(file.tensors.size(), expected.tensors().size());
  for (const GgufTensor& entry : file.tensors) {
    const Tensor* const values = expected.find(entry.name);
    ASSERT_NE(values, nullptr) << entry.name;
    EXPECT_EQ(entry.tensor.sizes(), values->sizes()) << entry.name;
    EXPECT_EQ(compare(entry.tensor, *values).differing, 0) << entry.name;
    EXPECT_EQ(entry.name.substr(entry.name.find('.') + 1), entry.type);
    EXPECT_EQ(entry.is_quantized, entry.name.starts_with("blocks."));
  }
  ASSERT_EQ(file.skipped.size(), 1U);
  EXPECT_EQ(file.skipped[0],
            std::pair(std::string("other.IQ4_XS"), std::string("of type IQ4_XS, which is not decoded")));
}

TEST(Gguf, ReadsEveryKindOfMetadata) {
  for (const char* name : {"metadata.gguf", "version_2.gguf"}) {
    const GgufFile file = read_gguf(gguf_golden(name));
    EXPECT_EQ(file.version, name == std::string("metadata.gguf") ? 3U : 2U);
    std::map<std::string, std::string> found;
    for (const GgufMetadata& entry : file.metadata)
      found[entry.key] = std::string(entry.type) + " " + entry.text;
    EXPECT_EQ(found.at("general.architecture"), "string llama");
    for (const std::string kind : {"uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"})
      EXPECT_EQ(found.at("x." + kind), kind + " 100");
    EXPECT_EQ(found.at("x.float32"), "float32 0.25");
    EXPECT_EQ(found.at("x.float64"), "float64 -1e+300");
    EXPECT_EQ(found.at("x.bool"), "bool true");
    EXPECT_EQ(found.at("x.string"), "string a \xc3\xa9\n");
    EXPECT_EQ(found.at("x.strings"), "array of string ['<s>', '</s>', 'a', 'b', ...] (6 values)");
    EXPECT_EQ(found.at("x.numbers"), "array of int32 [1, 2, 3]");
    EXPECT_EQ(found.at("x.nested"), "array of array [[...], [...]]");
    ASSERT_EQ(file.tensors.size(), 1U);
    EXPECT_EQ(file.tensors[0].tensor.sizes(), (Dims{2, 3}));
    EXPECT_EQ(file.tensors[0].tensor.data<float>()[5], 5.0F);
  }
}

TEST(Gguf, TakesTheAlignmentFromTheFile) {
  const GgufFile file = read_gguf(gguf_golden("aligned.gguf"));
  EXPECT_EQ(file.alignment, 256U);
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[1].tensor.data<float>()[2], 2.0F);
  EXPECT_TRUE(read_gguf(gguf_golden("empty.gguf")).tensors.empty());
}

TEST(Gguf, IsACheckpointLikeOthers) {
  Checkpoint checkpoint = load_checkpoint(gguf_golden("types.gguf"));
  EXPECT_EQ(checkpoint.kind(), FileKind::kGguf);
  const Tensor* const tensor = checkpoint.find("blocks.Q4_K");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->dtype(), DType::kFloat32);
  EXPECT_FALSE(tensor->storage()->is_ready());
  ConvertOptions options;
  options.dtype = DType::kFloat16;
  options.patterns = {"blocks.*"};
  options.keep_sharing = false;
  const Checkpoint converted = transform(std::move(checkpoint), options);
  MemorySink sink, npz;
  write_checkpoint(npz, converted, FileKind::kNpz);
  write_checkpoint(sink, converted, FileKind::kSafetensors);
  const Checkpoint again = load_checkpoint(Mapping::from_buffer(sink.take()));
  EXPECT_EQ(again.tensors().size(), 10U);
  EXPECT_EQ(again.find("blocks.Q4_K")->dtype(), DType::kFloat16);
  // Writing went over the values once and kept none of them.
  EXPECT_FALSE(converted.find("blocks.Q4_K")->storage()->is_ready());
}

}  // namespace
}  // namespace flambeau
