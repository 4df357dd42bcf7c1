#include "flambeau/tensor/elements/dequantize.h"

#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::error_text;
using testing::from_hex;
using testing::split;
using testing::to_dims;
using testing::to_hex;

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

TEST(Dequantize, GivesPyTorchsBits) {
  int cases = 0;
  for (const std::string& line : testing::golden_lines("quantized.txt")) {
    std::vector<std::string> fields = split(line, '|');
    for (std::string& field : fields) field = trimmed(field);
    const auto head = split(fields[0], ' ');
    if (head[0] == "packed") continue;
    ++cases;
    const DType dtype = *dtype_from_name(head[1]);
    const Dims sizes = to_dims(fields[1]);
    Quantizer quantizer;
    if (head[0] == "tensor") {
      quantizer.scale = std::stod(head[2]);
      quantizer.zero_point = std::stoll(head[3]);
    } else {
      quantizer.scheme = *scheme_from_name(head[2]);
      quantizer.axis = std::stoll(head[3]);
      const Dims channels{sizes[static_cast<size_t>(quantizer.axis)]};
      const bool has_floats = head[2].ends_with("float_qparams");
      quantizer.scales = Tensor::contiguous(DType::kFloat64, channels, Storage::own(from_hex(fields[2])));
      quantizer.zero_points = Tensor::contiguous(has_floats ? DType::kFloat64 : DType::kInt64, channels,
                                                 Storage::own(from_hex(fields[3])));
    }
    const Tensor base = Tensor::strided(dtype, {sizes, contiguous_strides(sizes), 0},
                                        Storage::own(from_hex(fields[fields.size() - 2])));
    const Tensor result = dequantize(Tensor::quantized(base, quantizer));
    EXPECT_EQ(result.dtype(), DType::kFloat32);
    EXPECT_EQ(result.sizes(), sizes);
    EXPECT_EQ(to_hex(result.contiguous_bytes()), fields.back()) << fields[0];
  }
  EXPECT_EQ(cases, 16 + 12);
}

TEST(Dequantize, FollowsStrides) {
  const auto storage = Storage::own({0, 1, 2, 3, 4, 5});
  const Tensor base = Tensor::strided(DType::kQUInt8, {{3, 2}, {1, 3}, 0}, storage);
  const Tensor result = dequantize(Tensor::quantized(base, {.scale = 2, .zero_point = 1}));
  EXPECT_EQ(testing::values_of<float>(result), (std::vector<float>{-2, 4, 0, 6, 2, 8}));
}

TEST(Dequantize, NeedsAQuantizer) {
  EXPECT_EQ(error_text([] { dequantize(Tensor::zeros(DType::kQInt8, Dims{2})); }),
            "qint8[2] is not quantized");
  EXPECT_EQ(error_text([] { dequantize(Tensor()); }), "undefined is not quantized");
}

TEST(Dequantize, EmptyAndMeta) {
  EXPECT_EQ(dequantize(Tensor::quantized(Tensor::zeros(DType::kQInt8, Dims{0, 3}), {})).element_count(), 0);
  const Tensor meta =
      Tensor::strided(DType::kQInt8, {{2}, {1}, 0}, Storage::meta(2), Device{DeviceType::kMeta, -1});
  EXPECT_TRUE(dequantize(Tensor::quantized(meta, {})).is_meta());
}

}  // namespace
}  // namespace flambeau
