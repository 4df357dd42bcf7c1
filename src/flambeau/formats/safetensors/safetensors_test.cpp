#include "flambeau/formats/safetensors/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

std::shared_ptr<Mapping> golden(const std::string& name) {
  return Mapping::open(std::string(FLAMBEAU_GOLDEN_DIR) + "/safetensors/" + name + ".safetensors");
}
std::vector<uint8_t> written(std::span<const NamedTensor> tensors, const SafetensorsMetadata& metadata = {}) {
  MemorySink sink;
  write_safetensors(sink, tensors, metadata);
  return sink.take();
}
std::vector<uint8_t> vector_of(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }
const Tensor& find(const SafetensorsFile& file, std::string_view name) {
  return std::ranges::find(file.tensors, name, &NamedTensor::name)->tensor;
}

TEST(Safetensors, ReadsEveryType) {
  const auto mapping = golden("types");
  const SafetensorsFile file = read_safetensors(mapping);
  EXPECT_EQ(file.tensors.size(), 40U);
  std::vector<uint8_t> expected(16);
  std::iota(expected.begin(), expected.end(), 0);
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_EQ(name.substr(2), dtype_name(tensor.dtype()));
    EXPECT_EQ(tensor.element_count(), 16 / static_cast<int64_t>(tensor.element_size())) << name;
    if (tensor.dtype() == DType::kBool) continue;
    EXPECT_EQ(vector_of(tensor.contiguous_bytes()), expected) << name;
  }
  EXPECT_EQ(file.tensors.front().name, "a.uint64");
  EXPECT_EQ(file.tensors.back().name, "b.bool");
  EXPECT_EQ(find(file, "a.float4_e2m1fn_x2").sizes(), (Dims{16}));
}

TEST(Safetensors, TensorsAreViewsOfTheFile) {
  const auto mapping = golden("types");
  const SafetensorsFile file = read_safetensors(mapping);
  const uint8_t* first = mapping->bytes().data();
  for (const auto& [name, tensor] : file.tensors) {
    const uint8_t* data = tensor.contiguous_bytes().data();
    EXPECT_TRUE(data >= first && data < first + mapping->size()) << name;
    EXPECT_EQ(tensor.storage()->size(), 16U);
    EXPECT_EQ(tensor.storage().use_count(), 1);
  }
}

TEST(Safetensors, ReadsShapesNamesAndMetadata) {
  const SafetensorsFile shapes = read_safetensors(golden("shapes"));
  EXPECT_EQ(find(shapes, "scalar").dim(), 0U);
  EXPECT_EQ(load_le<float>(find(shapes, "scalar").contiguous_bytes().data()), 1.5F);
  EXPECT_EQ(find(shapes, "empty").sizes(), (Dims{0}));
  EXPECT_EQ(find(shapes, "none").sizes(), (Dims{3, 0}));
  EXPECT_EQ(find(shapes, "ones").sizes(), (Dims{1, 1, 1, 1, 1, 1, 1}));

  const SafetensorsFile names = read_safetensors(golden("names"));
  ASSERT_EQ(names.tensors.size(), 11U);
  EXPECT_EQ(names.tensors[0].name, "");
  EXPECT_EQ(names.tensors[1].name, std::string("\0\x01\x1f\x7f", 4));
  EXPECT_EQ(names.tensors[10].name, "\U0001f600");
  EXPECT_EQ(names.metadata, (SafetensorsMetadata{{"key \u00e9\"\n", "value \U0001f600\\\x02"}}));

  EXPECT_EQ(read_safetensors(golden("metadata")).metadata, (SafetensorsMetadata{{"format", "pt"}}));
  EXPECT_TRUE(read_safetensors(golden("empty")).tensors.empty());
}

TEST(Safetensors, WritesTheBytesOfTheReferenceLibrary) {
  for (const std::string name : {"types", "metadata", "names", "shapes", "empty"}) {
    const auto mapping = golden(name);
    SafetensorsFile file = read_safetensors(mapping);
    EXPECT_EQ(written(file.tensors, file.metadata), vector_of(mapping->bytes())) << name;
    std::ranges::reverse(file.tensors);
    EXPECT_EQ(written(file.tensors, file.metadata), vector_of(mapping->bytes())) << name << " reversed";
  }
}

TEST(Safetensors, GathersTensorsThatAreNotContiguous) {
  std::vector<uint8_t> bytes(6 * 4);
  for (size_t i = 0; i < 6; ++i) store_le(bytes.data() + 4 * i, static_cast<float>(i % 2 * 3 + i / 2));
  // The golden's [[0, 1, 2], [3, 4, 5]], kept column by column.
  const Tensor tensor =
      Tensor::strided(DType::kFloat32, {Dims{2, 3}, Dims{1, 2}, 0}, Storage::own(std::move(bytes)));
  const NamedTensor named{"x", tensor};
  EXPECT_EQ(written({&named, 1}, {{"format", "pt"}}), vector_of(golden("metadata")->bytes()));
}

TEST(Safetensors, WritesAliasesSeparately) {
  const Tensor shared = Tensor::zeros(DType::kUInt8, Dims{4});
  const NamedTensor tensors[] = {{"a", shared}, {"b", shared}};
  const SafetensorsFile file = read_safetensors(Mapping::from_buffer(written(tensors)));
  EXPECT_NE(file.tensors[0].tensor.storage(), file.tensors[1].tensor.storage());
  EXPECT_EQ(
      file.tensors[1].tensor.contiguous_bytes().data() - file.tensors[0].tensor.contiguous_bytes().data(), 4);
}

TEST(Safetensors, WritesMetadataWithoutTensors) {
  // The reference library writes broken JSON here.
  const std::vector<uint8_t> bytes = written({}, {{"b", "1"}, {"a", "2"}});
  EXPECT_EQ(as_text(bytes).substr(8), R"({"__metadata__":{"b":"1","a":"2"}}      )");
  EXPECT_EQ(read_safetensors(Mapping::from_buffer(bytes)).metadata,
            (SafetensorsMetadata{{"b", "1"}, {"a", "2"}}));
}

TEST(Safetensors, RecognizesItsFiles) {
  EXPECT_TRUE(looks_like_safetensors(golden("types")->bytes()));
  EXPECT_TRUE(looks_like_safetensors(golden("empty")->bytes()));
  EXPECT_FALSE(looks_like_safetensors(as_bytes("PK\3\4 something else")));
  EXPECT_FALSE(looks_like_safetensors({}));
}

}  // namespace
}  // namespace flambeau
