#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/safetensors/safetensors.h"

namespace flambeau {
namespace {

std::string file_text(std::string_view header, std::string_view data = {}) {
  ByteWriter writer;
  writer.le<uint64_t>(header.size());
  writer.text(header);
  writer.text(data);
  return writer.take();
}

std::string reading(std::string_view bytes, ErrorCode code = ErrorCode::kCorrupt) {
  try {
    read_safetensors(Mapping::from_text(bytes));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}
std::string reading_entry(std::string_view entry, std::string_view data,
                          ErrorCode code = ErrorCode::kCorrupt) {
  return reading(file_text("{\"x\":" + std::string(entry) + "}", data), code);
}

TEST(SafetensorsErrors, Lengths) {
  EXPECT_EQ(reading(""), "byte 0: the length of the header needs 8 bytes, 0 are left");
  EXPECT_EQ(reading("abc"), "byte 0: the length of the header needs 8 bytes, 3 are left");
  EXPECT_EQ(reading(std::string_view("\x64\0\0\0\0\0\0\0{}", 10)),
            "byte 8: the header needs 100 bytes, 2 are left");
  EXPECT_EQ(reading(std::string_view("\x01\xe1\xf5\x05\0\0\0\0{}", 10)),
            "byte 0: the header is said to take 100000001 bytes, the format allows 100000000");
  EXPECT_EQ(reading("\xff\xff\xff\xff\xff\xff\xff\xff{}"),
            "byte 0: the header is said to take 18446744073709551615 bytes, the format allows 100000000");
}

TEST(SafetensorsErrors, Header) {
  EXPECT_EQ(reading(file_text("")), "byte 8: the header does not start with '{'");
  EXPECT_EQ(reading(file_text(" {}")), "byte 8: the header does not start with '{'");
  EXPECT_EQ(reading(file_text("[]")), "byte 8: the header does not start with '{'");
  EXPECT_EQ(reading(file_text("{\"x\":}")), "part 'header': byte 5: expected a JSON value, found '}'");
  EXPECT_EQ(reading(file_text(std::string_view("{}\0", 3))),
            "part 'header': byte 2: '\\x00' after the end of the JSON value");
  EXPECT_EQ(reading(file_text("{\"\xff\":1}")), "part 'header': byte 2: a string is not valid UTF-8");
  EXPECT_EQ(reading(file_text("{\"x\":" + std::string(600, '['), ""), ErrorCode::kLimit),
            "part 'header': byte 516: JSON nested deeper than 512 levels");
  const std::string entry = R"("x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_EQ(reading(file_text("{" + entry + "," + entry + "}", "1")),
            "part 'header': a JSON object has the key \"x\" more than once");
}

TEST(SafetensorsErrors, Metadata) {
  EXPECT_EQ(reading(file_text(R"({"__metadata__":{"a":1}})")),
            "part '__metadata__': key 'a': expected a string, found the integer 1");
  EXPECT_EQ(reading(file_text(R"({"__metadata__":[]})")),
            "part '__metadata__': expected an object, found an array");
  EXPECT_EQ(reading(file_text(R"({"__metadata__":null})")), "no error");  // the reference library agrees
}

TEST(SafetensorsErrors, Fields) {
  EXPECT_EQ(reading_entry("3", ""), "tensor 'x': the header's entry for it is not an object");
  EXPECT_EQ(reading_entry("{}", ""), "tensor 'x': field 'dtype': the header has no \"dtype\" for it");
  EXPECT_EQ(reading_entry(R"({"dtype":4})", ""),
            "tensor 'x': field 'dtype': expected a string, found the integer 4");
  EXPECT_EQ(reading_entry(R"({"dtype":"F33"})", ""), "tensor 'x': it is of the unknown type 'F33'");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8"})", ""),
            "tensor 'x': field 'shape': the header has no \"shape\" for it");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":1})", ""),
            "tensor 'x': field 'shape': expected an array, found the integer 1");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[-1]})", ""),
            "tensor 'x': field 'shape': expected an integer that is not negative, found the integer -1");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[1.0]})", ""),
            "tensor 'x': field 'shape': expected an integer that is not negative, found the number 1.0");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[18446744073709551615]})", ""),
            "tensor 'x': field 'shape': a size of the shape does not fit in a 64-bit number");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[1]})", "1"),
            "tensor 'x': field 'data_offsets': the header has no \"data_offsets\" for it");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[1],"data_offsets":[0,1,1]})", "1"),
            "tensor 'x': field 'data_offsets': expected two offsets, found 3");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[1],"data_offsets":[1,0]})", "1"),
            "tensor 'x': field 'data_offsets': it ends at 0, before its start 1");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":[]})", "1"), "no error");
}

TEST(SafetensorsErrors, Sizes) {
  EXPECT_EQ(reading_entry(R"({"dtype":"F32","shape":[2,3],"data_offsets":[0,4]})", "1234"),
            "tensor 'x': a tensor of type F32 and shape [2, 3] takes 24 bytes, its offsets span 4");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[4611686018427387904,4],"data_offsets":[0,0]})", ""),
            "tensor 'x': the number of elements of a tensor does not fit in a 64-bit number");
  EXPECT_EQ(reading_entry(R"({"dtype":"U8","shape":[4611686018427387904,4,0],"data_offsets":[0,0]})", ""),
            "tensor 'x': the number of elements of a tensor does not fit in a 64-bit number");
  EXPECT_EQ(reading_entry(R"({"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]})", ""),
            "tensor 'x': its size in bits does not fit in a 64-bit number");
  EXPECT_EQ(reading_entry(R"({"dtype":"F4","shape":[3],"data_offsets":[0,1]})", "1"),
            "tensor 'x': its 12 bits are not whole bytes");
  EXPECT_EQ(reading_entry(R"({"dtype":"F4","shape":[],"data_offsets":[0,1]})", "1"),
            "tensor 'x': its 4 bits are not whole bytes");
}

TEST(SafetensorsErrors, Cover) {
  const auto two = [](const char* first, const char* second) {
    return std::string(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)") + first +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
  };
  EXPECT_EQ(reading(file_text(two("[0,2]", "[2,4]"), "1234")), "no error");
  EXPECT_EQ(reading(file_text(two("[2,4]", "[0,2]"), "1234")), "no error");
  EXPECT_EQ(reading(file_text(two("[0,2]", "[3,5]"), "12345")),
            "tensor 'b': it starts at byte 3 of the data, leaving a hole: the tensor before it ends at 2");
  EXPECT_EQ(reading(file_text(two("[0,2]", "[1,3]"), "123")),
            "tensor 'b': it starts at byte 1 of the data, overlapping: the tensor before it ends at 2");
  EXPECT_EQ(reading(file_text(two("[1,3]", "[3,5]"), "12345")),
            "tensor 'a': it starts at byte 1 of the data, leaving a hole: the tensor before it ends at 0");
  EXPECT_EQ(reading(file_text(two("[0,2]", "[2,4]"), "12345")),
            "the tensors take 4 bytes, 5 bytes of data follow the header");
  EXPECT_EQ(reading(file_text(two("[0,2]", "[2,4]"), "123")),
            "the tensors take 4 bytes, 3 bytes of data follow the header (the file may be cut short: copy or "
            "download "
            "it again)");
  EXPECT_EQ(reading(file_text("{}", "1")), "the tensors take 0 bytes, 1 bytes of data follow the header");
}

TEST(SafetensorsErrors, TypesWithoutAPyTorchName) {
  EXPECT_EQ(
      reading_entry(R"({"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]})", "123",
                    ErrorCode::kUnsupported),
      "tensor 'x': it is of type F6_E2M3, which PyTorch does not have (convert it to another type with the "
      "program that wrote the file)");
  EXPECT_EQ(
      reading_entry(R"({"dtype":"F4","shape":[2,1],"data_offsets":[0,1]})", "1", ErrorCode::kUnsupported),
      "tensor 'x': its last dimension of 1 values of type F4 does not fill whole bytes");
}

TEST(SafetensorsErrors, EveryCutOfAFileIsAnError) {
  const auto whole = Mapping::open(std::string(FLAMBEAU_GOLDEN_DIR) + "/safetensors/types.safetensors");
  for (size_t size = 0; size < whole->size(); ++size) {
    EXPECT_NE(reading(as_text(whole->bytes()).substr(0, size)), "no error") << size;
  }
}

std::string writing(std::vector<NamedTensor> tensors, const SafetensorsMetadata& metadata = {}) {
  MemorySink sink;
  try {
    write_safetensors(sink, tensors, metadata);
  } catch (const Error& error) {
    EXPECT_EQ(sink.position(), 0U) << "wrote before looking";
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

TEST(SafetensorsErrors, Writing) {
  const Tensor plain = Tensor::zeros(DType::kUInt8, Dims{1});
  EXPECT_EQ(writing({{"x", plain}, {"y", plain}, {"x", plain}}),
            "invalid_argument: two tensors are named 'x'");
  EXPECT_EQ(writing({}, {{"k", "1"}, {"k", "2"}}), "invalid_argument: two metadata entries are named 'k'");
  EXPECT_EQ(
      writing({{"__metadata__", plain}}),
      "invalid_argument: tensor '__metadata__': safetensors keeps this name for itself (rename the tensor)");
  EXPECT_EQ(writing({{"a\xff", plain}}),
            "invalid_argument: the text 'a\\xff' is not UTF-8, safetensors holds no other");
  EXPECT_EQ(writing({{"x", Tensor()}}), "invalid_argument: tensor 'x': an undefined tensor cannot be saved");
  EXPECT_EQ(writing({{"x", Tensor::zeros(DType::kComplex128, Dims{1})}}),
            "unsupported: tensor 'x': safetensors has no type for complex128 (convert it to complex64, or "
            "save a .pt "
            "file)");
  EXPECT_EQ(
      writing({{"x", Tensor::zeros(DType::kBits8, Dims{1})}}),
      "unsupported: tensor 'x': safetensors has no type for bits8 (convert it to another type, or save a .pt "
      "file)");
  EXPECT_EQ(writing({{"x", Tensor::quantized(Tensor::zeros(DType::kQInt8, Dims{1}), {})}}),
            "unsupported: tensor 'x': qint8[1] is quantized, safetensors has no place for its scales "
            "(dequantize it "
            "first, or save a .pt file)");
  EXPECT_EQ(writing({{"x", Tensor::zeros(DType::kFloat4E2M1FNx2, Dims{})}}),
            "unsupported: tensor 'x': safetensors cannot hold a float4 tensor without dimensions (give it a "
            "shape of "
            "[1])");
}

TEST(SafetensorsErrors, ALazyTensorsErrorNamesTheTensor) {
  const auto storage =
      Storage::lazy(1, []() -> std::vector<uint8_t> { throw Error(ErrorCode::kCorrupt, "a bad checksum"); });
  const NamedTensor named{"x", Tensor::contiguous(DType::kUInt8, Dims{1}, storage)};
  MemorySink sink;
  try {
    write_safetensors(sink, {&named, 1});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "tensor 'x': a bad checksum");
  }
}

}  // namespace
}  // namespace flambeau
