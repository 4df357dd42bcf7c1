#include "flambeau/tensor/tensor.h"
#include "flambeau/base/files/mapping.h"

#include <limits>
#include <stdexcept>

#include "flambeau/symbolic/build.h"
#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::error_code;
using testing::error_text;
using testing::make_tensor;
using testing::values_of;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Tensor floats(Geometry geometry, size_t elements) {
  return Tensor::strided(DType::kFloat32, std::move(geometry), Storage::allocate(elements * 4));
}

TEST(Tensor, ComputesStridesAsPyTorch) {
  EXPECT_EQ(contiguous_strides(Dims{2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Dims{2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides(Dims{}), Dims{});
}

TEST(Tensor, RefusesNegativeNumbers) {
  EXPECT_EQ(error_text([] { floats({{2, -1}, {1, 1}, 0}, 8); }), "a tensor has the negative size -1");
  EXPECT_EQ(error_text([] { floats({{2, 0}, {-3, 1}, 0}, 8); }), "a tensor has the negative stride -3");
  EXPECT_EQ(error_text([] { floats({{1}, {-3}, 0}, 8); }), "a tensor has the negative stride -3");
  EXPECT_EQ(error_text([] { floats({{2}, {1}, -2}, 8); }), "a tensor has the negative storage offset -2");
  EXPECT_EQ(error_text([] { floats({{2}, {1, 1}, 0}, 8); }), "a tensor has 1 sizes but 2 strides");
  EXPECT_EQ(error_code([] { floats({{2, -1}, {1, 1}, 0}, 8); }), ErrorCode::kCorrupt);
}

TEST(Tensor, RefusesProductsThatWrapEvenWhenEmpty) {
  EXPECT_EQ(error_text([] { element_count(Dims{kHuge, 2}); }),
            "the number of elements of a tensor does not fit in a 64-bit number");
  EXPECT_EQ(error_code([] { element_count(Dims{kHuge, 0, 2}); }), ErrorCode::kCorrupt);
  EXPECT_EQ(error_code([] { element_count(Dims{0, int64_t{1} << 32, int64_t{1} << 32}); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(element_count(Dims{kHuge, 0}), 0);
  EXPECT_EQ(element_count(Dims{}), 1);
  EXPECT_EQ(error_text([] { floats({{2, 2}, {kHuge, 1}, 1}, 8); }),
            "the extent of a tensor does not fit in a 64-bit number");
  EXPECT_EQ(error_code([] { floats({{3}, {kHuge}, 0}, 8); }), ErrorCode::kCorrupt);
  EXPECT_EQ(error_code([] { floats({{1}, {1}, kHuge}, 8); }), ErrorCode::kCorrupt);
  EXPECT_EQ(error_text([] { floats({{int64_t{1} << 62}, {1}, 0}, 8); }),
            "the size of a tensor in bytes does not fit in a 64-bit number");
  EXPECT_EQ(error_code([] { Tensor::zeros(DType::kFloat64, Dims{int64_t{1} << 61}); }), ErrorCode::kCorrupt);
}

TEST(Tensor, RefusesAnExtentBeyondItsStorage) {
  EXPECT_NO_THROW(floats({{2, 3}, {3, 1}, 2}, 8));
  EXPECT_EQ(
      error_text([] { floats({{2, 3}, {3, 1}, 3}, 8); }),
      "a float32 tensor of sizes [2, 3], strides [3, 1] and offset 3 needs 36 bytes, its storage has 32");
  EXPECT_NO_THROW(floats({{2, 3}, {0, 0}, 7}, 8));
  EXPECT_NO_THROW(floats({{1000, 0}, {1, 1}, 100}, 8));  // nothing is read
  EXPECT_NO_THROW(floats({{1}, {kHuge}, 7}, 8));         // a stride that is never walked
  EXPECT_EQ(error_code([] { floats({{}, {}, 8}, 8); }), ErrorCode::kCorrupt);
  EXPECT_EQ(error_code([] { Tensor::strided(DType::kInt8, {{1}, {1}, 0}, nullptr); }),
            ErrorCode::kInvalidArgument);
}

TEST(Tensor, ContiguousTakesTheWholeStorage) {
  const Tensor tensor = make_tensor<int16_t>(DType::kInt16, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(tensor.summary(), "int16[2, 2]");
  EXPECT_EQ(tensor.byte_count(), 8U);
  EXPECT_EQ(error_text([] { make_tensor<int16_t>(DType::kInt16, {2, 2}, {1, 2, 3}); }),
            "a int16 tensor of shape [2, 2] takes 8 bytes, 6 are given");
}

TEST(Tensor, KnowsWhenItIsContiguous) {
  EXPECT_TRUE(floats({{2, 3}, {3, 1}, 1}, 9).is_contiguous());
  EXPECT_TRUE(floats({{2, 1, 3}, {3, 77, 1}, 0}, 9).is_contiguous());
  EXPECT_TRUE(floats({{0, 3}, {5, 7}, 0}, 0).is_contiguous());
  EXPECT_TRUE(floats({{}, {}, 0}, 1).is_contiguous());
  EXPECT_FALSE(floats({{3, 2}, {1, 3}, 0}, 9).is_contiguous());
  EXPECT_FALSE(floats({{2, 3}, {4, 1}, 0}, 9).is_contiguous());
  EXPECT_FALSE(floats({{2, 3}, {0, 1}, 0}, 9).is_contiguous());
}

TEST(Tensor, GivesItsBytesInPlaceOnlyWhenContiguous) {
  const auto storage = Storage::own({0, 1, 2, 3, 4, 5});
  Tensor tensor = Tensor::strided(DType::kUInt8, {{2, 2}, {2, 1}, 1}, storage);
  EXPECT_EQ(tensor.contiguous_bytes().data(), storage->bytes().data() + 1);
  tensor.mutable_contiguous_bytes()[0] = 9;
  EXPECT_EQ(storage->bytes()[1], 9);
  const Tensor turned = Tensor::strided(DType::kUInt8, {{2, 2}, {1, 2}, 1}, storage);
  EXPECT_EQ(error_text([&] { turned.contiguous_bytes(); }),
            "uint8[2, 2] is not contiguous (call to_contiguous() first)");
  EXPECT_EQ(error_text([&] { Tensor().contiguous_bytes(); }),
            "undefined is not contiguous (call to_contiguous() first)");
}

TEST(Tensor, GathersStridedElements) {
  const Tensor base = make_tensor<int32_t>(DType::kInt32, {12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const auto view = [&](Geometry geometry) {
    return values_of<int32_t>(Tensor::strided(DType::kInt32, std::move(geometry), base.storage()));
  };
  EXPECT_EQ(view({{4, 3}, {1, 4}, 0}), (std::vector<int32_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(view({{2, 3}, {0, 2}, 1}), (std::vector<int32_t>{1, 3, 5, 1, 3, 5}));
  EXPECT_EQ(view({{2, 1, 2, 2}, {6, 99, 2, 1}, 1}), (std::vector<int32_t>{1, 2, 3, 4, 7, 8, 9, 10}));
  EXPECT_EQ(view({{3}, {5}, 1}), (std::vector<int32_t>{1, 6, 11}));
  const Tensor same = base.to_contiguous();
  EXPECT_EQ(same.storage(), base.storage());
}

TEST(Tensor, GathersEveryElementSize) {
  for (const DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kComplex128}) {
    const size_t size = dtype_size(dtype);
    std::vector<uint8_t> bytes(1 + 6 * size);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
    // One byte in: misaligned, as legacy files have it.
    const auto storage = Storage::view(Mapping::from_buffer(bytes), 1, 6 * size);
    const Tensor tensor = Tensor::strided(dtype, {{3, 2}, {1, 3}, 0}, storage).to_contiguous();
    for (size_t i = 0; i < 6 * size; ++i) {
      const size_t from = (i / size % 2 * 3 + i / size / 2) * size + i % size;
      EXPECT_EQ(tensor.contiguous_bytes()[i], bytes[1 + from]);
    }
  }
}

TEST(Tensor, GathersLargeTurnedViews) {
  std::vector<int32_t> values(2 * 71 * 90);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  const Tensor base = make_tensor(DType::kInt32, {2, 71, 90}, values);
  const auto turned =
      values_of<int32_t>(Tensor::strided(DType::kInt32, {{2, 90, 71}, {71 * 90, 1, 90}, 0}, base.storage()));
  for (size_t i = 0; i < turned.size(); ++i) {
    const size_t matrix = i / (71 * 90);
    const size_t row = i / 71 % 90;
    const size_t column = i % 71;
    ASSERT_EQ(turned[i], values[matrix * 71 * 90 + column * 90 + row]);
  }
}

TEST(Tensor, MetaHasGeometryOnly) {
  const Tensor tensor =
      Tensor::strided(DType::kFloat32, {{3, 2}, {1, 3}, 0}, Storage::meta(24), Device{DeviceType::kMeta, -1});
  EXPECT_TRUE(tensor.is_meta());
  EXPECT_TRUE(tensor.to_contiguous().is_contiguous());
  EXPECT_EQ(error_code([&] { tensor.to_contiguous().contiguous_bytes(); }), ErrorCode::kInvalidArgument);
}

TEST(Tensor, PackedTypesShareBytes) {
  for (const std::string& line : testing::golden_lines("quantized.txt")) {
    if (!line.starts_with("packed")) continue;
    const auto halves = testing::split(line, '|');
    const auto name = testing::split(halves[0], ' ')[1];
    const Dims sizes = testing::to_dims(halves[0].substr(8 + name.size()));
    const Tensor tensor = Tensor::zeros(*dtype_from_name(name), sizes);
    EXPECT_EQ(tensor.storage()->size(), std::stoul(halves[1])) << line;
  }
  const Tensor tensor = Tensor::zeros(DType::kQUInt4x2, Dims{3, 3});
  EXPECT_EQ(tensor.storage()->size(), 6U);  // PyTorch rounds the last size up
  EXPECT_EQ(tensor.byte_count(), 5U);       // but packs over the ends of rows
  EXPECT_EQ(tensor.contiguous_bytes().size(), 5U);
  EXPECT_NO_THROW(Tensor::contiguous(DType::kQUInt4x2, Dims{3, 3}, Storage::allocate(5)));
  EXPECT_EQ(error_text([] { Tensor::contiguous(DType::kQUInt4x2, Dims{3, 3}, Storage::allocate(4)); }),
            "a quint4x2 tensor of shape [3, 3] takes 6 bytes, 4 are given");
}

TEST(Tensor, PackedOffsetsCountBytes) {
  const auto storage = Storage::own({1, 2, 3, 4});
  const Tensor tensor = Tensor::strided(DType::kQUInt4x2, {{3}, {1}, 2}, storage);
  EXPECT_EQ(tensor.contiguous_bytes().data(), storage->bytes().data() + 2);
  EXPECT_EQ(tensor.contiguous_bytes().size(), 2U);
  EXPECT_EQ(error_text([&] { Tensor::strided(DType::kQUInt4x2, {{3}, {1}, 3}, storage); }),
            "a quint4x2 tensor of sizes [3], strides [1] and offset 3 needs 5 bytes, its storage has 4");
  EXPECT_EQ(error_code([&] { Tensor::strided(DType::kQUInt2x4, {{17}, {1}, 0}, storage); }),
            ErrorCode::kCorrupt);
  const Tensor turned = Tensor::strided(DType::kQUInt4x2, {{2, 2}, {1, 2}, 0}, storage);
  EXPECT_EQ(error_text([&] { turned.to_contiguous(); }),
            "quint4x2[2, 2] packs several elements into a byte and cannot be rearranged (save it in PyTorch "
            "as a contiguous tensor)");
}

TEST(Tensor, Float4CountsBytes) {
  const Tensor tensor = Tensor::zeros(DType::kFloat4E2M1FNx2, Dims{3});
  EXPECT_EQ(tensor.storage()->size(), 3U);
  EXPECT_EQ(tensor.byte_count(), 3U);
}

TEST(Tensor, QuantizedNeedsScalesThatFit) {
  const Tensor base = Tensor::zeros(DType::kQInt8, Dims{2, 3});
  EXPECT_EQ(Tensor::quantized(base, {.scale = 0.5, .zero_point = 3}).quantizer()->scale, 0.5);
  Quantizer quantizer{.scheme = Quantizer::Scheme::kPerChannelAffine,
                      .scales = Tensor::zeros(DType::kFloat64, Dims{3}),
                      .zero_points = Tensor::zeros(DType::kInt64, Dims{3}),
                      .axis = 1};
  EXPECT_NO_THROW(Tensor::quantized(base, quantizer));
  quantizer.axis = 0;
  EXPECT_EQ(error_text([&] { Tensor::quantized(base, quantizer); }),
            "per-channel scales and zero points must be 1-d tensors of 2 values");
  quantizer.axis = 2;
  EXPECT_EQ(error_text([&] { Tensor::quantized(base, quantizer); }),
            "a per-channel axis of 2 does not fit a tensor of 2 dimensions");
  quantizer.axis = -1;
  EXPECT_EQ(error_code([&] { Tensor::quantized(base, quantizer); }), ErrorCode::kCorrupt);
  EXPECT_EQ(error_text([] { Tensor::quantized(Tensor::zeros(DType::kInt8, Dims{2}), {}); }),
            "int8[2] cannot be quantized: expected a strided tensor of a quantized type");
  EXPECT_EQ(error_code([] { Tensor::quantized(Tensor(), {}); }), ErrorCode::kCorrupt);
}

TEST(Tensor, NamesLayoutsAndSchemes) {
  for (const char* name : {"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"}) {
    EXPECT_EQ(layout_name(*layout_from_name(name)), name);
    EXPECT_EQ(layout_from_name(std::string("torch.") + name), layout_from_name(name));
  }
  EXPECT_FALSE(layout_from_name("jagged").has_value());
  for (const char* name : {"per_tensor_affine", "per_channel_affine", "per_tensor_symmetric",
                           "per_channel_symmetric", "per_channel_affine_float_qparams"}) {
    EXPECT_EQ(scheme_name(*scheme_from_name(name)), name);
  }
  EXPECT_FALSE(scheme_from_name("per_row").has_value());
}

class NoQuestions : public symbolic::Decider {
 public:
  bool decide(const symbolic::Expr&) override { throw std::logic_error("nothing is to be asked"); }
};

TEST(Tensor, TracedOnesHaveNoPlainSizes) {
  NoQuestions decider;
  const symbolic::SymInt rows(symbolic::symbol("s0"), decider);
  const Tensor traced =
      Tensor::symbolic(DType::kFloat32, {.sizes = {rows, 3}, .strides = {3, 1}, .offset = rows * 2});
  EXPECT_TRUE(traced.is_traced());
  EXPECT_EQ(traced.dim(), 2U);
  EXPECT_EQ(traced.summary(), "float32[s0, 3]");
  EXPECT_EQ(traced.symbol(), nullptr);
  const std::string refusal =
      "the tensor float32[s0, 3] is traced: it has no data, and its sizes may be symbols "
      "(ask for sizes with nn::size() or shape_of(), which give symbols too)";
  EXPECT_EQ(error_code([&] { traced.sizes(); }), ErrorCode::kInternal);
  EXPECT_EQ(error_text([&] { traced.sizes(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.strides(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.offset(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.geometry(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.element_count(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.byte_count(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.is_contiguous(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.contiguous_bytes(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.to_contiguous(); }), refusal);
  EXPECT_EQ(error_text([&] { traced.byte_stride(0); }), refusal);
}

TEST(Tensor, TellsTheShapeOfEitherKind) {
  NoQuestions decider;
  const symbolic::SymInt rows(symbolic::symbol("s0"), decider);
  const SymbolicGeometry traced =
      shape_of(Tensor::symbolic(DType::kFloat32, {.sizes = {rows, 3}, .strides = {3, 1}, .offset = rows}));
  EXPECT_EQ(traced.sizes[0].expr(), rows.expr());
  EXPECT_EQ(traced.sizes[1].literal(), 3);
  EXPECT_EQ(traced.offset.expr(), rows.expr());
  const SymbolicGeometry plain = shape_of(floats({{2, 3}, {1, 2}, 1}, 8));
  EXPECT_EQ(plain.sizes[1].literal(), 3);
  EXPECT_EQ(plain.strides[1].literal(), 2);
  EXPECT_EQ(plain.offset.literal(), 1);
}

TEST(Tensor, StandsForASymbol) {
  NoQuestions decider;
  const symbolic::SymInt rows(symbolic::symbol("s0"), decider);
  const Tensor number = Tensor::of_symbol(rows);
  EXPECT_TRUE(number.is_traced() && number.is_wrapped_number());
  EXPECT_EQ(number.dim(), 0U);
  ASSERT_NE(number.symbol(), nullptr);
  EXPECT_EQ(number.symbol()->expr(), rows.expr());
  EXPECT_EQ(shape_of(number).offset.literal(), 0);
}

}  // namespace
}  // namespace flambeau
