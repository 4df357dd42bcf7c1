#include "flambeau/tensor/elements/convert.h"
#include "flambeau/base/files/mapping.h"

#include <cmath>
#include <map>

#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::error_code;
using testing::error_text;
using testing::from_hex;
using testing::make_tensor;
using testing::to_hex;
using testing::values_of;

// One byte into a buffer, so that every element is misaligned.
Tensor misaligned(DType dtype, const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t> padded = {0xaa};
  padded.insert(padded.end(), bytes.begin(), bytes.end());
  const auto count = static_cast<int64_t>(bytes.size() / dtype_size(dtype));
  return Tensor::contiguous(dtype, Dims{count},
                            Storage::view(Mapping::from_buffer(std::move(padded)), 1, bytes.size()));
}

// The same elements, three apart.
Tensor spread(DType dtype, const std::vector<uint8_t>& bytes) {
  const size_t size = dtype_size(dtype);
  const size_t count = bytes.size() / size;
  std::vector<uint8_t> wide(bytes.size() * 3, 0xcd);
  for (size_t i = 0; i < count; ++i) std::memcpy(&wide[i * 3 * size], &bytes[i * size], size);
  return Tensor::strided(dtype, {{static_cast<int64_t>(count)}, {3}, 0}, Storage::own(std::move(wide)));
}

TEST(Convert, EveryPairGivesPyTorchsBits) {
  std::map<std::string, std::vector<uint8_t>> sources;
  int pairs = 0;
  for (const std::string& line : testing::golden_lines("conversions.txt")) {
    const auto fields = testing::split(line, ' ');
    if (fields[0] == "source") {
      sources[fields[1]] = from_hex(fields[2]);
      continue;
    }
    ++pairs;
    const DType from = *dtype_from_name(fields[1]);
    const DType to = *dtype_from_name(fields[2]);
    EXPECT_TRUE(can_convert(from, to));
    const std::vector<uint8_t>& bytes = sources[fields[1]];
    const size_t size = dtype_size(to);
    for (const Tensor& source : {misaligned(from, bytes), spread(from, bytes)}) {
      const Tensor result = convert(source, to);
      EXPECT_EQ(result.dtype(), to);
      EXPECT_TRUE(result.is_contiguous());
      const ByteSpan out = result.contiguous_bytes();
      for (size_t i = 0; i < out.size() / size; ++i) {
        const ByteSpan element = out.subspan(i * size, size);
        const auto check = static_cast<uint8_t>(testing::fnv64(element));
        EXPECT_EQ(to_hex(ByteSpan(&check, 1)), fields[4].substr(i * 2, 2))
            << fields[1] << " to " << fields[2] << ", element " << i << ": "
            << to_hex(ByteSpan(bytes).subspan(i * dtype_size(from), dtype_size(from))) << " became "
            << to_hex(element) << " (bytes as stored)";
      }
      EXPECT_EQ(testing::fnv64(out), std::stoull(fields[3], nullptr, 16)) << fields[1] << " to " << fields[2];
    }
  }
  EXPECT_EQ(pairs, 21 * 21);
}

TEST(Convert, SharesWhatNeedsNoChange) {
  const Tensor tensor = make_tensor<float>(DType::kFloat32, {2}, {1, 2});
  EXPECT_EQ(convert(tensor, DType::kFloat32).storage(), tensor.storage());
  const Tensor bits = Tensor::zeros(DType::kBits8, Dims{2});
  EXPECT_EQ(convert(bits, DType::kBits8).storage(), bits.storage());
}

TEST(Convert, WalksAnyStrides) {
  const Tensor base = make_tensor<float>(DType::kFloat32, {6}, {0, 1, 2, 3, 4, 5});
  const auto view = [&](Geometry geometry) {
    return values_of<int64_t>(
        convert(Tensor::strided(DType::kFloat32, std::move(geometry), base.storage()), DType::kInt64));
  };
  EXPECT_EQ(view({{3, 2}, {1, 3}, 0}), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(view({{2, 2}, {0, 4}, 1}), (std::vector<int64_t>{1, 5, 1, 5}));
  EXPECT_EQ(view({{}, {}, 4}), (std::vector<int64_t>{4}));
  EXPECT_EQ(view({{2, 0}, {1, 1}, 0}), std::vector<int64_t>{});
  EXPECT_EQ(view({{1, 2}, {INT64_MAX, 1}, 0}), (std::vector<int64_t>{0, 1}));
}

TEST(Convert, ThreadsGiveTheSame) {
  std::vector<float> values(300007);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) * 1000;
  const Tensor tensor = make_tensor(DType::kFloat32, {300007}, values);
  ThreadPool pool(4);
  for (const DType to : {DType::kFloat16, DType::kBFloat16, DType::kInt8, DType::kComplex64}) {
    EXPECT_EQ(to_hex(convert(tensor, to, &pool).contiguous_bytes().last(2000)),
              to_hex(convert(tensor, to).contiguous_bytes().last(2000)));
    EXPECT_EQ(testing::fnv64(convert(tensor, to, &pool).contiguous_bytes()),
              testing::fnv64(convert(tensor, to).contiguous_bytes()));
  }
}

TEST(Convert, AnyByteIsABool) {
  const Tensor tensor = make_tensor<uint8_t>(DType::kBool, {3}, {0, 2, 255});
  EXPECT_EQ(values_of<float>(convert(tensor, DType::kFloat32)), (std::vector<float>{0, 1, 1}));
}

TEST(Convert, KeepsDeviceAndGradientFlag) {
  Tensor tensor = make_tensor<float>(DType::kFloat32, {1}, {1});
  tensor.set_device({DeviceType::kCuda, 1});
  tensor.set_requires_grad(true);
  EXPECT_EQ(convert(tensor, DType::kFloat16).device().to_string(), "cuda:1");
  EXPECT_TRUE(convert(tensor, DType::kFloat16).requires_grad());
  EXPECT_FALSE(convert(tensor, DType::kInt8).requires_grad());
}

TEST(Convert, MetaStaysMeta) {
  const Tensor meta =
      Tensor::strided(DType::kFloat32, {{2}, {1}, 0}, Storage::meta(8), Device{DeviceType::kMeta, -1});
  const Tensor result = convert(meta, DType::kFloat64);
  EXPECT_TRUE(result.is_meta());
  EXPECT_EQ(result.storage()->size(), 16U);
}

TEST(Convert, RefusesWhatIsNoPlainNumber) {
  const Tensor quantized = Tensor::quantized(Tensor::zeros(DType::kQInt8, Dims{2}), {});
  EXPECT_EQ(error_text([&] { convert(quantized, DType::kFloat32); }),
            "qint8[2] cannot be converted to float32 (call dequantize() first)");
  EXPECT_EQ(error_text([&] { convert(Tensor::zeros(DType::kBits8, Dims{2}), DType::kInt8); }),
            "bits8[2] cannot be converted to int8 (keep it as it is)");
  EXPECT_EQ(error_text([&] { convert(Tensor::zeros(DType::kFloat32, Dims{}), DType::kQUInt8); }),
            "float32[] cannot be converted to quint8 (choose a plain type; quantizing needs scales and zero "
            "points)");
  EXPECT_EQ(error_code([&] { convert(Tensor::zeros(DType::kFloat4E2M1FNx2, Dims{2}), DType::kFloat32); }),
            ErrorCode::kUnsupported);
  EXPECT_EQ(error_code([] { convert(Tensor(), DType::kFloat32); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace flambeau
