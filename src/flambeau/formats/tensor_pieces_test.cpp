#include "flambeau/formats/tensor_pieces.h"

#include <gtest/gtest.h>

#include <numeric>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

Tensor bytes_tensor(size_t count) {
  std::vector<uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), 0);
  return Tensor::contiguous(DType::kUInt8, Dims{static_cast<int64_t>(count)}, Storage::own(std::move(bytes)));
}

struct Pieces {
  std::vector<size_t> sizes;
  std::vector<uint8_t> all;
};
Pieces pieces_of(const Tensor& tensor, size_t piece) {
  Pieces result;
  emit_pieces(
      tensor,
      [&](ByteSpan part) {
        result.sizes.push_back(part.size());
        result.all.insert(result.all.end(), part.begin(), part.end());
      },
      Progress::silent(), piece);
  return result;
}
std::vector<uint8_t> packed(const Tensor& tensor) {
  const Tensor contiguous = tensor.to_contiguous();
  const ByteSpan bytes = contiguous.contiguous_bytes();
  return {bytes.begin(), bytes.end()};
}

TEST(TensorPieces, CutsContiguousBytesInPlace) {
  const Tensor tensor = bytes_tensor(10);
  const uint8_t* first = nullptr;
  emit_pieces(
      tensor, [&](ByteSpan part) { first = first == nullptr ? part.data() : first; }, Progress::silent(), 4);
  EXPECT_EQ(first, tensor.storage()->bytes().data());
  EXPECT_EQ(pieces_of(tensor, 4).sizes, (std::vector<size_t>{4, 4, 2}));
  EXPECT_EQ(pieces_of(tensor, 4).all, packed(tensor));
}

TEST(TensorPieces, GathersAnyViewInAnyPiece) {
  const auto storage = bytes_tensor(240).storage();
  const Geometry views[] = {
      {Dims{5, 4, 3}, Dims{1, 5, 20}, 7},       // transposed
      {Dims{4, 1, 6}, Dims{24, 0, 2}, 0},       // sliced, with a dimension of one
      {Dims{1, 1, 7}, Dims{0, 0, 3}, 1},        // only the last has more than one
      {Dims{3, 4}, Dims{0, 1}, 0},              // expanded
      {Dims{2, 2, 2, 2}, Dims{1, 2, 4, 9}, 3},  // four dimensions
  };
  for (const Geometry& view : views) {
    const Tensor tensor = Tensor::strided(DType::kUInt8, view, storage);
    const std::vector<uint8_t> expected = packed(tensor);
    for (size_t piece = 1; piece < 64; ++piece) {
      const Pieces pieces = pieces_of(tensor, piece);
      EXPECT_EQ(pieces.all, expected) << piece;
      EXPECT_LE(*std::max_element(pieces.sizes.begin(), pieces.sizes.end()), piece);
    }
  }
  const Tensor wide = Tensor::strided(DType::kInt32, {Dims{3, 5}, Dims{1, 3}, 2}, storage);
  EXPECT_EQ(pieces_of(wide, 8).all, packed(wide));
}

TEST(TensorPieces, DoesNotRecurseByRank) {
  Dims sizes;
  sizes.resize(200'000);
  std::fill(sizes.begin(), sizes.end(), 1);
  sizes[100] = 5;
  sizes[101] = 2;
  Dims strides = sizes;
  strides[100] = 1;
  strides[101] = 5;
  const Tensor tensor = Tensor::strided(DType::kUInt8, {sizes, strides, 0}, bytes_tensor(10).storage());
  EXPECT_EQ(pieces_of(tensor, 1).all, (std::vector<uint8_t>{0, 5, 1, 6, 2, 7, 3, 8, 4, 9}));
}

TEST(TensorPieces, EmptyTensorsGiveNothing) {
  EXPECT_TRUE(pieces_of(Tensor::zeros(DType::kFloat32, Dims{3, 0}), 4).sizes.empty());
}

class CancelAfter final : public Progress {
 public:
  explicit CancelAfter(uint64_t most) : most_(most) {}
  void begin(std::string_view, uint64_t) override {}
  void advance(uint64_t amount) override { done_ += amount; }
  bool cancelled() const override { return done_ >= most_; }
  uint64_t done() const { return done_; }

 private:
  uint64_t most_;
  uint64_t done_ = 0;
};

TEST(TensorPieces, ReportsAndStops) {
  CancelAfter patient(1000);
  emit_pieces(bytes_tensor(100), [](ByteSpan) {}, patient, 8);
  EXPECT_EQ(patient.done(), 100U);
  CancelAfter hasty(16);
  try {
    emit_pieces(bytes_tensor(100), [](ByteSpan) {}, hasty, 8);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
    EXPECT_EQ(hasty.done(), 16U);
  }
}

std::string refusal(const Tensor& tensor) {
  try {
    require_dense(tensor, "npy");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TensorPieces, RefusesWhatPlainFormatsCannotHold) {
  EXPECT_EQ(refusal(Tensor()), "an undefined tensor cannot be saved");
  EXPECT_EQ(refusal(Tensor::strided(DType::kFloat32, {Dims{2}, Dims{1}, 0}, Storage::meta(8),
                                    {.type = DeviceType::kMeta})),
            "float32[2] is on the meta device and has no data to save (load its weights first)");
  EXPECT_EQ(
      refusal(Tensor::quantized(Tensor::zeros(DType::kQInt8, Dims{2}), {})),
      "qint8[2] is quantized, npy has no place for its scales (dequantize it first, or save a .pt file)");
  SparseParts parts;
  parts.indices = Tensor::zeros(DType::kInt64, Dims{1, 1});
  parts.values = Tensor::zeros(DType::kFloat32, Dims{1});
  EXPECT_EQ(
      refusal(Tensor::sparse(Layout::kSparseCoo, Dims{4}, parts)),
      "float32[4] (sparse_coo) is sparse, npy holds dense tensors only (make it dense first, or save a .pt "
      "file)");
}

}  // namespace
}  // namespace flambeau
