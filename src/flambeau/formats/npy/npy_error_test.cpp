#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npy_header.h"

namespace flambeau {
namespace {

std::string reading(const std::shared_ptr<Mapping>& mapping, ErrorCode code = ErrorCode::kCorrupt) {
  try {
    read_npy(mapping);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}
std::string reading_golden(const std::string& name, ErrorCode code) {
  const std::string path = std::string(FLAMBEAU_GOLDEN_DIR) + "/npy/" + name + ".npy";
  const std::string text = reading(Mapping::open(path), code);
  EXPECT_TRUE(text.starts_with(path + ": ")) << text;
  return text.substr(path.size() + 2);
}
std::string reading_header(std::string_view header, std::string_view data = {},
                           ErrorCode code = ErrorCode::kCorrupt) {
  ByteWriter writer;
  writer.text(kNpyMagic);
  writer.u8(1);
  writer.u8(0);
  writer.le(static_cast<uint16_t>(header.size()));
  writer.text(header);
  writer.text(data);
  return reading(Mapping::from_text(writer.str()), code);
}
std::string reading_type(std::string_view descr, ErrorCode code = ErrorCode::kCorrupt) {
  return reading_header("{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (1,), }",
                        "1234", code);
}
std::string reading_shape(std::string_view shape, std::string_view data = {}) {
  return reading_header("{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
                        data);
}

TEST(NpyErrors, Start) {
  EXPECT_EQ(reading(Mapping::from_text("")), "byte 0: NumPy's magic needs 6 bytes, 0 are left");
  EXPECT_EQ(reading(Mapping::from_text("not an array")),
            "byte 0: the array does not start with NumPy's magic \"\\x93NUMPY\"");
  EXPECT_EQ(reading(Mapping::from_text("\x93NUMPY")), "byte 6: the version needs 1 bytes, 0 are left");
}

TEST(NpyErrors, Version) {
  EXPECT_EQ(reading(Mapping::from_text("\x93NUMPY\x04\x02"), ErrorCode::kUnsupported),
            "the array is in version 4.2 of NumPy's format, known are 1.0, 2.0 and 3.0");
  EXPECT_EQ(reading(Mapping::from_text(std::string_view("\x93NUMPY\x01\0\x05\0{", 11))),
            "byte 10: the header needs 5 bytes, 1 are left");
  EXPECT_EQ(reading(Mapping::from_text(std::string_view("\x93NUMPY\x02\0\xff\xff\xff\xff{", 13))),
            "byte 12: the header needs 4294967295 bytes, 1 are left");
}

TEST(NpyErrors, Literal) {
  EXPECT_EQ(reading_header(""), "byte 10: expected '{' in the header, found the end of the header");
  EXPECT_EQ(reading_header("[]"), "byte 10: expected '{' in the header, found '['");
  EXPECT_EQ(reading_header("{}"), "byte 10: the header has no 'descr'");
  EXPECT_EQ(reading_header("{'descr': '<f4'}"), "byte 10: the header has no 'fortran_order'");
  EXPECT_EQ(reading_header("{'descr': '<f4', 'fortran_order': True}"), "byte 10: the header has no 'shape'");
  EXPECT_EQ(reading_header("{descr: 1}"), "byte 11: expected a key in quotes, found 'd'");
  EXPECT_EQ(reading_header("{'descr' 1}"), "byte 19: expected ':' in the header, found '1'");
  EXPECT_EQ(reading_header("{'x': 1}"), "byte 11: the header has an unexpected or repeated key 'x'");
  EXPECT_EQ(reading_header("{'descr': '<f4', 'descr': '<f8'}"),
            "byte 27: the header has an unexpected or repeated key 'descr'");
  EXPECT_EQ(reading_header("{'descr': __import__('os')}"), "byte 20: expected the type in quotes, found '_'");
  EXPECT_EQ(reading_header("{'descr': '<f4\"}"), "byte 20: the type is not a plain string in quotes");
  EXPECT_EQ(reading_header("{'descr': '\\x3cf4'}"), "byte 20: the type is not a plain string in quotes");
  EXPECT_EQ(reading_header("{'fortran_order': 1}"),
            "byte 28: expected True or False for 'fortran_order', found '1'");
  EXPECT_EQ(reading_header("{'fortran_order': True 'shape'"),
            "byte 33: expected '}' in the header, found '''");
  EXPECT_EQ(reading_header("{'descr': '<f4', 'fortran_order': False, 'shape': (), } x", "1234"),
            "byte 66: the header goes on after its closing '}'");
}

TEST(NpyErrors, Shape) {
  EXPECT_EQ(reading_shape("3"), "byte 60: expected '(' in the header, found '3'");
  EXPECT_EQ(reading_shape("(3)", "123412341234"), "byte 63: 'shape' is a number, a tuple was expected");
  EXPECT_EQ(reading_shape("(3 4)"), "byte 63: expected ',' or ')' in 'shape', found '4'");
  EXPECT_EQ(reading_shape("(,)"), "byte 61: expected a size in 'shape', found ','");
  EXPECT_EQ(reading_shape("(1.5,)"), "byte 62: expected ',' or ')' in 'shape', found '.'");
  EXPECT_EQ(reading_shape("(-1,)"), "byte 61: 'shape' has the negative size -1");
  EXPECT_EQ(reading_shape("(9223372036854775808,)"), "byte 61: a size in 'shape' does not fit in 64 bits");
  EXPECT_EQ(reading_shape("(4611686018427387904, 4)"),
            "the number of elements of a tensor does not fit in a 64-bit number");
  EXPECT_EQ(reading_shape("(4611686018427387904, 4, 0)"),
            "the number of elements of a tensor does not fit in a 64-bit number");
  EXPECT_EQ(reading_shape("(4611686018427387904,)"),
            "the size of the array in bytes does not fit in a 64-bit number");
  EXPECT_EQ(reading_shape("(2, 3)", "1234"),
            "an array of type float32 and shape [2, 3] takes 24 bytes, 4 are there");
  EXPECT_EQ(reading_shape("(1,)", "12345"),
            "an array of type float32 and shape [1] takes 4 bytes, 5 are there");
  EXPECT_EQ(reading_shape("()", ""), "an array of type float32 and shape [] takes 4 bytes, 0 are there");
}

TEST(NpyErrors, TypesOfRealFiles) {
  EXPECT_EQ(
      reading_golden("objects", ErrorCode::kUnsafe),
      "the array holds pickled objects, which can run any code when loaded (save it with a numeric type)");
  EXPECT_EQ(reading_golden("text", ErrorCode::kUnsupported), "the array is of type '<U2': text, not numbers");
  EXPECT_EQ(reading_golden("bytes", ErrorCode::kUnsupported),
            "the array is of type '|S2': text, not numbers");
  EXPECT_EQ(reading_golden("datetime", ErrorCode::kUnsupported),
            "the array is of type '<M8[D]': times, not numbers (save it as int64)");
  EXPECT_EQ(reading_golden("structured", ErrorCode::kUnsupported),
            "the array is of a structured type, a tensor has one type only (save each field as an array of "
            "its own)");
  EXPECT_EQ(reading_golden("longdouble", ErrorCode::kUnsupported),
            "the array is of type '<f16', which PyTorch does not have (save it as float32 or float64)");
  EXPECT_EQ(reading_golden("void", ErrorCode::kUnsupported),
            "the array is of type '|V2': NumPy kept the size of a type and not its name, as it does for "
            "bfloat16 and "
            "float8 (save it as float32, or in a safetensors file)");
}

TEST(NpyErrors, Types) {
  EXPECT_EQ(reading_type(""), "'' is not a NumPy type such as '<f4'");
  EXPECT_EQ(reading_type("f4"), "'f4' is not a NumPy type such as '<f4'");
  EXPECT_EQ(reading_type("<"), "'<' is not a NumPy type such as '<f4'");
  EXPECT_EQ(reading_type("<<f4"), "'<<f4' is not a NumPy type such as '<f4'");
  EXPECT_EQ(reading_type("|f4"), "the type '|f4' has no byte order");
  EXPECT_EQ(reading_type("=f4"), "the type '=f4' has no byte order");
  EXPECT_EQ(reading_type("<f3", ErrorCode::kUnsupported),
            "the array is of type '<f3', which PyTorch does not have (save it as float32 or float64)");
  EXPECT_EQ(
      reading_type("|O", ErrorCode::kUnsafe),
      "the array holds pickled objects, which can run any code when loaded (save it with a numeric type)");
}

TEST(NpyErrors, EveryCutOfAFileIsAnError) {
  const auto whole = Mapping::open(std::string(FLAMBEAU_GOLDEN_DIR) + "/npy/matrix.npy");
  for (size_t size = 0; size < whole->size(); ++size) {
    EXPECT_NE(reading(Mapping::from_text(as_text(whole->bytes()).substr(0, size))), "no error") << size;
  }
}

TEST(NpyErrors, APartThatLeavesTheFile) {
  try {
    read_npy(Mapping::from_text("0123456789"), 4, 7);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "an array of 7 bytes at byte 4 leaves its file of 10 bytes");
  }
}

std::string writing(const Tensor& tensor) {
  MemorySink sink;
  try {
    write_npy(sink, tensor);
  } catch (const Error& error) {
    EXPECT_EQ(sink.position(), 0U);
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

TEST(NpyErrors, Writing) {
  EXPECT_EQ(writing(Tensor::zeros(DType::kBFloat16, Dims{1})),
            "unsupported: NumPy has no type for bfloat16 (use --dtype float32)");
  EXPECT_EQ(writing(Tensor::zeros(DType::kFloat8E4M3FN, Dims{1})),
            "unsupported: NumPy has no type for float8_e4m3fn (use --dtype float32)");
  EXPECT_EQ(writing(Tensor::zeros(DType::kComplex32, Dims{1})),
            "unsupported: NumPy has no type for complex32 (use --dtype complex64)");
  EXPECT_EQ(writing(Tensor::quantized(Tensor::zeros(DType::kQUInt8, Dims{1}), {})),
            "unsupported: quint8[1] is quantized, npy has no place for its scales (dequantize it first, or "
            "save a .pt "
            "file)");
  Dims many;
  many.resize(65);
  EXPECT_EQ(writing(Tensor::zeros(DType::kUInt8, many)),
            "unsupported: the tensor has 65 dimensions, NumPy allows 64");
}

}  // namespace
}  // namespace flambeau
