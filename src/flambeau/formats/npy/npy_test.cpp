#include "flambeau/formats/npy/npy.h"
#include "flambeau/base/files/mapping.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "flambeau/base/error.h"
#include "flambeau/formats/npy/npy_header.h"

namespace flambeau {
namespace {

std::shared_ptr<Mapping> golden(const std::string& name) {
  return Mapping::open(std::string(FLAMBEAU_GOLDEN_DIR) + "/npy/" + name);
}
std::vector<uint8_t> vector_of(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }
std::vector<uint8_t> packed(const Tensor& tensor) {
  const Tensor contiguous = tensor.to_contiguous();
  return vector_of(contiguous.contiguous_bytes());
}
std::vector<uint8_t> written(const Tensor& tensor) {
  MemorySink sink;
  write_npy(sink, tensor);
  return sink.take();
}
std::vector<uint8_t> counting(size_t count) {
  std::vector<uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), 0);
  return bytes;
}
template <typename T>
std::vector<T> values(const Tensor& tensor) {
  const std::vector<uint8_t> bytes = packed(tensor);
  std::vector<T> result(bytes.size() / sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

struct TypeCase {
  std::string code;
  DType dtype;
};
const TypeCase kTypes[] = {
    {"i1", DType::kInt8},        {"i2", DType::kInt16},   {"i4", DType::kInt32},   {"i8", DType::kInt64},
    {"u1", DType::kUInt8},       {"u2", DType::kUInt16},  {"u4", DType::kUInt32},  {"u8", DType::kUInt64},
    {"f2", DType::kFloat16},     {"f4", DType::kFloat32}, {"f8", DType::kFloat64}, {"c8", DType::kComplex64},
    {"c16", DType::kComplex128},
};

TEST(Npy, ReadsAndWritesEveryType) {
  for (const auto& [code, dtype] : kTypes) {
    const auto mapping = golden(code + ".npy");
    const Tensor tensor = read_npy(mapping);
    EXPECT_EQ(tensor.dtype(), dtype);
    EXPECT_EQ(packed(tensor), counting(16)) << code;
    EXPECT_EQ(tensor.contiguous_bytes().data(), mapping->bytes().data() + 128) << "a view";
    EXPECT_EQ(written(tensor), vector_of(mapping->bytes())) << code;
  }
  const Tensor flags = read_npy(golden("b1.npy"));
  EXPECT_EQ(flags.dtype(), DType::kBool);
  EXPECT_EQ(packed(flags)[1], 1);
  EXPECT_EQ(written(flags), vector_of(golden("b1.npy")->bytes()));
}

TEST(Npy, SwapsBigEndianWhenAsked) {
  for (const std::string code : {"i2", "f4", "f8", "c8", "c16"}) {
    const Tensor tensor = read_npy(golden("big_" + code + ".npy"));
    EXPECT_FALSE(tensor.storage()->is_ready());
    EXPECT_EQ(packed(tensor), counting(16)) << code;
  }
  EXPECT_EQ(values<float>(read_npy(golden("fortran_big.npy"))), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, FortranOrderIsAView) {
  const auto mapping = golden("fortran.npy");
  const Tensor tensor = read_npy(mapping);
  EXPECT_EQ(tensor.sizes(), (Dims{2, 3}));
  EXPECT_EQ(tensor.strides(), (Dims{1, 2}));
  EXPECT_EQ(tensor.storage()->bytes().data(), mapping->bytes().data() + 128);
  EXPECT_EQ(values<float>(tensor), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(written(tensor), vector_of(mapping->bytes()));
}

TEST(Npy, ReadsEveryVersion) {
  for (const char* name : {"version2.npy", "version3.npy"}) {
    EXPECT_EQ(written(read_npy(golden(name))), vector_of(golden("matrix.npy")->bytes()));
  }
}

TEST(Npy, ShapesComeBackByteForByte) {
  for (const char* name : {"matrix.npy", "scalar.npy", "empty.npy", "column.npy", "sliced.npy"}) {
    EXPECT_EQ(written(read_npy(golden(name))), vector_of(golden(name)->bytes())) << name;
  }
  EXPECT_EQ(read_npy(golden("scalar.npy")).dim(), 0U);
  EXPECT_EQ(values<double>(read_npy(golden("scalar.npy"))), (std::vector<double>{2.5}));
  EXPECT_EQ(read_npy(golden("empty.npy")).sizes(), (Dims{0, 3}));
}

TEST(Npy, GathersWhatIsInNeitherOrder) {
  std::vector<uint8_t> bytes(24 * 4);
  for (int32_t i = 0; i < 24; ++i) store_le(bytes.data() + 4 * i, i);
  const Tensor sliced =
      Tensor::strided(DType::kInt32, {Dims{4, 3}, Dims{6, 2}, 0}, Storage::own(std::move(bytes)));
  EXPECT_EQ(written(sliced), vector_of(golden("sliced.npy")->bytes()));
}

TEST(Npy, HeadersOfEveryLength) {
  const auto mapping = golden("headers.bin");
  ByteReader reader(mapping->bytes());
  int count = 0;
  for (; !reader.at_end(); ++count) {
    const size_t start = reader.offset();
    const NpyHeader header = read_npy_header(reader);
    const ByteSpan raw = mapping->bytes().subspan(start, reader.offset() - start);
    EXPECT_EQ(npy_header_bytes(header), as_text(raw));
    EXPECT_EQ(raw.size() % 64, 0U);
  }
  EXPECT_EQ(count, 100);
}

TEST(Npy, ReadsPythonTwosNumbersAndOtherSpacing) {
  const std::string header = "{\"shape\":(2L,1 ,), 'fortran_order' : False,\n 'descr': \"<u2\"}  \n";
  ByteWriter writer;
  writer.text(kNpyMagic);
  writer.u8(1);
  writer.u8(0);
  writer.le(static_cast<uint16_t>(header.size()));
  writer.text(header + "abcd");
  EXPECT_EQ(read_npy(Mapping::from_text(writer.str())).summary(), "uint16[2, 1]");
}

TEST(Npy, ReadsAPartOfALargerFile) {
  const std::string text = "??" + std::string(as_text(golden("matrix.npy")->bytes())) + "!";
  const auto mapping = Mapping::from_text(text);
  EXPECT_EQ(values<float>(read_npy(mapping, 2, text.size() - 3)), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, RecognizesItsFiles) {
  EXPECT_TRUE(looks_like_npy(golden("matrix.npy")->bytes()));
  EXPECT_FALSE(looks_like_npy(as_bytes("NUMPY")));
  EXPECT_FALSE(looks_like_npy({}));
}

}  // namespace
}  // namespace flambeau
