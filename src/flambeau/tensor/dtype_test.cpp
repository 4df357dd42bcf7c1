#include "flambeau/tensor/dtype.h"

#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::golden_lines;
using testing::split;

TEST(DType, TableIsPyTorchs) {
  size_t types = 0;
  for (const std::string& line : golden_lines("dtypes.txt")) {
    const std::vector<std::string> fields = split(line, ' ');
    if (fields[0] == "alias") {
      const auto dtype = dtype_from_name(fields[1]);
      ASSERT_TRUE(dtype.has_value()) << line;
      EXPECT_EQ(dtype_name(*dtype), fields[2]);
      EXPECT_EQ(dtype_from_name("torch." + fields[1]), dtype);
      continue;
    }
    ++types;
    const auto dtype = dtype_from_number(std::stoi(fields[1]));
    ASSERT_TRUE(dtype.has_value()) << line;
    const DTypeInfo& info = dtype_info(*dtype);
    EXPECT_EQ(info.dtype, *dtype);
    EXPECT_EQ(static_cast<int>(*dtype), std::stoi(fields[1]));
    EXPECT_EQ(info.name, fields[2]);
    EXPECT_EQ(info.size, std::stoi(fields[3])) << line;
    EXPECT_EQ(info.is_floating, fields[4] == "1") << line;
    EXPECT_EQ(info.is_complex, fields[5] == "1") << line;
    if (fields[6] != "?") {
      EXPECT_EQ(info.is_signed, fields[6] == "1") << line;
    }
    EXPECT_EQ(info.storage, fields[7] == "-" ? "" : fields[7]);
    EXPECT_EQ(dtype_from_name(fields[2]), dtype);
    EXPECT_EQ(dtype_from_name("torch." + fields[2]), dtype);
    if (fields[7] != "-") {
      EXPECT_EQ(dtype_from_storage(fields[7]), dtype);
    }
    EXPECT_EQ(info.is_quantized, fields[2].starts_with("q")) << line;
  }
  EXPECT_EQ(types, all_dtypes().size());
}

TEST(DType, IsInNumericOrder) {
  for (size_t i = 1; i < all_dtypes().size(); ++i) {
    EXPECT_LT(all_dtypes()[i - 1].dtype, all_dtypes()[i].dtype);
  }
}

TEST(DType, WordsAndPacking) {
  EXPECT_EQ(dtype_info(DType::kComplex32).word, 2);
  EXPECT_EQ(dtype_info(DType::kComplex64).word, 4);
  EXPECT_EQ(dtype_info(DType::kComplex128).word, 8);
  EXPECT_EQ(dtype_info(DType::kQInt32).word, 4);
  EXPECT_EQ(dtype_info(DType::kQUInt4x2).per_byte, 2);
  EXPECT_EQ(dtype_info(DType::kQUInt2x4).per_byte, 4);
  // Its sizes count bytes of two values.
  EXPECT_EQ(dtype_info(DType::kFloat4E2M1FNx2).per_byte, 1);
}

TEST(DType, UnknownOnesAreNothing) {
  EXPECT_FALSE(dtype_from_name("").has_value());
  EXPECT_FALSE(dtype_from_name("torch.").has_value());
  EXPECT_FALSE(dtype_from_name("Float32").has_value());
  EXPECT_FALSE(dtype_from_name("torch.torch.float32").has_value());
  EXPECT_FALSE(dtype_from_storage("").has_value());
  EXPECT_FALSE(dtype_from_storage("Storage").has_value());
  for (const int64_t number : {int64_t{-1}, int64_t{30}, int64_t{43}, int64_t{46}, int64_t{1} << 40}) {
    EXPECT_FALSE(dtype_from_number(number).has_value()) << number;
  }
}

TEST(DType, NamesForMessagesAreNames) {
  for (std::string name : split(std::string(dtype_names()), ',')) {
    if (name[0] == ' ') name.erase(0, 1);
    EXPECT_TRUE(dtype_from_name(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace flambeau
