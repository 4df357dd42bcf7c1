// Reductions: values as PyTorch has them, over strides, types, and dimensions.
#include <gtest/gtest.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::ops {
namespace {

struct Reduce : testing::Test {
  Library library;
  ThreadPool pool{2};
  Context context{library, pool};

  Tensor counted(DType dtype, std::initializer_list<int64_t> sizes) {
    Tensor tensor = Tensor::zeros(dtype, Dims(sizes));
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      const auto value = static_cast<double>(i);
      store_packed(DType::kFloat64, &value, 1, dtype,
                   tensor.mutable_data() + i * static_cast<int64_t>(tensor.element_size()), 0);
    }
    return tensor;
  }
  std::vector<double> values(const Tensor& tensor) {
    const Tensor packed = tensor.to_contiguous();
    std::vector<double> numbers(static_cast<size_t>(packed.element_count()));
    if (numbers.empty()) return numbers;
    load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), numbers.size(),
                DType::kFloat64, numbers.data());
    return numbers;
  }
  template <typename Body>
  std::string text_of(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};
using Numbers = std::vector<double>;

TEST_F(Reduce, CrossProducts) {
  const Tensor a = counted(DType::kFloat32, {2, 3});
  const Tensor b = call(context, "aten::flip", a, Dims{1});
  EXPECT_EQ(values(call(context, "aten::cross", a, b)), (std::vector<double>{-2, 4, -2, -8, 16, -8}));
}

TEST_F(Reduce, TrapezoidalRule) {
  const Tensor y = counted(DType::kInt64, {2, 3});
  EXPECT_EQ(values(call(context, "aten::trapezoid.dx", y)), (std::vector<double>{2, 8}));
  EXPECT_EQ(values(call(context, "aten::trapezoid.x", y, counted(DType::kFloat32, {3}))),
            (std::vector<double>{2, 8}));
  EXPECT_EQ(values(call(context, "aten::cumulative_trapezoid.dx", y)), (std::vector<double>{0.5, 2, 3.5, 8}));
  EXPECT_EQ(text_of([&] { call(context, "aten::trapezoid.x", y, counted(DType::kFloat32, {2})); }),
            "operator 'aten::trapezoid.x': trapezoid: expected one value of x for each point of y");
}

TEST_F(Reduce, SumsOverAnyDimensions) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kInt32}) {
    const Tensor x = counted(dtype, {2, 3, 4});
    EXPECT_EQ(values(call(context, "aten::sum.dim_IntList", x, Dims{0})),
              (Numbers{12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}));
    EXPECT_EQ(values(call(context, "aten::sum.dim_IntList", x, Dims{2})), (Numbers{6, 22, 38, 54, 70, 86}));
    EXPECT_EQ(values(call(context, "aten::sum.dim_IntList", x, Dims{0, -1}, true)), (Numbers{60, 92, 124}));
    EXPECT_EQ(values(call(context, "aten::sum", x)), Numbers{276});
  }
  const Tensor t = counted(DType::kFloat32, {3, 4}).with_geometry({{4, 3}, {1, 4}, 0});
  EXPECT_EQ(values(call(context, "aten::sum.dim_IntList", t, Dims{1})), (Numbers{12, 15, 18, 21}));
  EXPECT_EQ(call(context, "aten::sum", counted(DType::kInt8, {3})).dtype(), DType::kInt64);
}

TEST_F(Reduce, LongSumsStayExact) {
  Tensor x = Tensor::zeros(DType::kFloat32, Dims{1 << 22});
  std::fill_n(x.mutable_data<float>(), x.element_count(), 0.1F);
  EXPECT_NEAR(values(call(context, "aten::sum", x))[0], (1 << 22) * static_cast<double>(0.1F), 0.5);
  EXPECT_NEAR(values(call(context, "aten::mean", x))[0], 0.1, 1e-7);
  const Tensor columns = x.with_geometry({{1 << 18, 16}, {16, 1}, 0});
  for (const double sum : values(call(context, "aten::sum.dim_IntList", columns, Dims{0}))) {
    EXPECT_NEAR(sum, (1 << 18) * static_cast<double>(0.1F), 0.05);
  }
}

TEST_F(Reduce, SumsHaveTheSameBitsWithAnyNumberOfThreads) {
  Tensor x = Tensor::zeros(DType::kFloat32, Dims{1 << 18});
  for (int64_t i = 0; i < x.element_count(); ++i)
    x.mutable_data<float>()[i] = 1.0F / static_cast<float>(i + 1);
  for (const Dims& sizes : {Dims{1 << 18}, Dims{4, 1 << 16}, Dims{1 << 16, 4}}) {
    const Tensor shaped = call(context, "aten::view", x, sizes);
    const auto sums = [&](int threads) {
      ThreadPool other(threads, 64);
      Context own(library, other);
      return values(
          call(own, "aten::sum.dim_IntList", shaped, Dims{sizes.size() > 1 && sizes[0] == 4 ? 1 : 0}));
    };
    const Numbers alone = sums(1);
    for (const int threads : {2, 3, 16}) EXPECT_EQ(sums(threads), alone) << threads << " threads";
  }
}

TEST_F(Reduce, ExtremesFindNan) {
  Tensor x = counted(DType::kFloat32, {2, 3});
  x.mutable_data<float>()[4] = NAN;
  const Numbers most = values(call(context, "aten::amax", x, Dims{1}));
  EXPECT_EQ(most[0], 2);
  EXPECT_TRUE(std::isnan(most[1]));
  EXPECT_EQ(values(call(context, "aten::argmax", x)), Numbers{4});
  const auto [value, index] = call<std::tuple<Tensor, Tensor>>(context, "aten::min.dim", x, 0, true);
  EXPECT_EQ(values(index), (Numbers{0, 1, 0}));
  EXPECT_EQ(value.sizes(), (Dims{1, 3}));
  EXPECT_EQ(text_of([&] { call(context, "aten::amax", counted(DType::kFloat32, {2, 0}), Dims{1}); }),
            "operator 'aten::amax': amax(): Expected reduction dim 1 to have non-zero size.");
}

TEST_F(Reduce, VarianceOfEveryKind) {
  const Tensor x = counted(DType::kFloat32, {2, 4});
  EXPECT_EQ(values(call(context, "aten::var.dim", x, Dims{1}, false)), (Numbers{1.25, 1.25}));
  EXPECT_NEAR(values(call(context, "aten::std", x))[0], 2.449489742783178, 1e-6);
  EXPECT_TRUE(std::isnan(values(call(context, "aten::var", counted(DType::kFloat32, {1})))[0]));
}

TEST_F(Reduce, NormsOfEveryOrder) {
  Tensor x = counted(DType::kFloat32, {3});
  x.mutable_data<float>()[2] = -3;  // 0 1 -3
  const auto norm = [&](double order) {
    return values(call(context, "aten::linalg_vector_norm", x, order))[0];
  };
  EXPECT_EQ(norm(0), 2);
  EXPECT_EQ(norm(1), 4);
  EXPECT_NEAR(norm(2), std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(norm(3), std::cbrt(28.0), 1e-6);
  EXPECT_EQ(norm(INFINITY), 3);
  EXPECT_EQ(norm(-INFINITY), 0);
}

TEST_F(Reduce, ScansAlongADimension) {
  const Tensor x = counted(DType::kInt32, {2, 3});
  const Tensor sums = call(context, "aten::cumsum", x, 0);
  EXPECT_EQ(sums.dtype(), DType::kInt64);
  EXPECT_EQ(values(sums), (Numbers{0, 1, 2, 3, 5, 7}));
  EXPECT_EQ(values(call(context, "aten::cumprod", x, -1)), (Numbers{0, 0, 0, 3, 12, 60}));
}

TEST_F(Reduce, AnyAndAll) {
  Tensor x = counted(DType::kFloat32, {2, 2});
  EXPECT_EQ(values(call(context, "aten::all.dim", x, 1)), (Numbers{0, 1}));
  EXPECT_EQ(values(call(context, "aten::any", x)), Numbers{1});
  EXPECT_EQ(call(context, "aten::any.dim", counted(DType::kUInt8, {2}), 0).dtype(), DType::kUInt8);
}

TEST_F(Reduce, IndexingPlacesItsDimensions) {
  const Tensor x = counted(DType::kFloat32, {2, 3, 4});
  Tensor index = counted(DType::kInt64, {2});
  const Tensor adjacent = call(context, "aten::index.Tensor", x, TensorList{Tensor(), index});
  EXPECT_EQ(adjacent.sizes(), (Dims{2, 2, 4}));
  const Tensor apart = call(context, "aten::index.Tensor", x, TensorList{index, Tensor(), index});
  EXPECT_EQ(apart.sizes(), (Dims{2, 3}));
  EXPECT_EQ(values(apart), (Numbers{0, 4, 8, 13, 17, 21}));
  index.mutable_data<int64_t>()[0] = 5;
  EXPECT_EQ(text_of([&] { call(context, "aten::index.Tensor", x, TensorList{index}); }),
            "operator 'aten::_unsafe_index.Tensor': index 5 is out of bounds for dimension 0 with size 2");
  const Tensor mask = call(context, "aten::gt.Scalar", x, 20.5);
  EXPECT_EQ(values(call(context, "aten::index.Tensor", x, TensorList{mask})), (Numbers{21, 22, 23}));
}

TEST_F(Reduce, WrongSizesAreRefused) {
  const Tensor x = counted(DType::kFloat32, {2, 4});
  const Tensor three = counted(DType::kFloat32, {3});
  const Tensor index = Tensor::zeros(DType::kInt64, Dims{5});
  EXPECT_EQ(text_of([&] { call(context, "aten::native_group_norm", x, three, Value(), 2, 4, 1, 2, 1e-5); }),
            "operator 'aten::native_group_norm': Expected weight and bias of 4 elements, got 3");
  EXPECT_EQ(text_of([&] {
              call(context, "aten::batch_norm", x, three, Value(), Value(), Value(), true, 0.1, 1e-5, false);
            }),
            "operator 'aten::batch_norm': weight should contain 4 elements not 3");
  EXPECT_EQ(text_of([&] {
              call(context, "aten::scatter.src", three, 0, index, scalar_tensor(1.0, DType::kFloat32));
            }),
            "operator 'aten::scatter.src': Expected index 5 to be no larger than src 1 at dimension 0");
  EXPECT_EQ(
      text_of([&] { call(context, "aten::gather", x, 0, Tensor::zeros(DType::kInt64, Dims{1, 5})); }),
      "operator 'aten::gather': Size does not match at dimension 1 expected index 5 to be no larger than "
      "self 4 apart from dimension 0");
  EXPECT_EQ(
      text_of([&] { call_with(context, "aten::searchsorted.Tensor", {three, three}, {{"sorter", index}}); }),
      "operator 'aten::searchsorted.Tensor': torch.searchsorted(): boundary and sorter must have the same "
      "size");
  EXPECT_EQ(text_of([&] { call(context, "aten::embedding", x, counted(DType::kInt64, {3})); }),
            "operator 'aten::embedding': index out of range in self");
  EXPECT_EQ(text_of([&] { call(context, "aten::sum.dim_IntList", x, Dims{0, -2}); }),
            "operator 'aten::sum.dim_IntList': dim 0 appears multiple times in the list of dims");
}

TEST_F(Reduce, ScatterAddsAndMeans) {
  const Tensor zeros = Tensor::zeros(DType::kFloat32, Dims{3});
  Tensor index = Tensor::zeros(DType::kInt64, Dims{4});
  index.mutable_data<int64_t>()[3] = 2;
  const Tensor src = counted(DType::kFloat32, {4});
  EXPECT_EQ(values(call(context, "aten::scatter_add", zeros, 0, index, src)), (Numbers{3, 0, 3}));
  EXPECT_EQ(values(call_with(context, "aten::scatter_reduce.two", {zeros, 0, index, src, "mean"},
                             {{"include_self", false}})),
            (Numbers{1, 0, 3}));
}

TEST_F(Reduce, SortsAndTopK) {
  Tensor x = counted(DType::kFloat32, {5});
  x.mutable_data<float>()[0] = 2.5F;
  const auto [value, index] = call<std::tuple<Tensor, Tensor>>(context, "aten::topk", x, 2);
  EXPECT_EQ(values(value), (Numbers{4, 3}));
  EXPECT_EQ(values(call(context, "aten::argsort", x)), (Numbers{1, 2, 0, 3, 4}));
  EXPECT_EQ(values(std::get<0>(call<std::tuple<Tensor, Tensor>>(context, "aten::median.dim", x, 0))),
            Numbers{2.5});
}

TEST_F(Reduce, BatchNormUpdatesRunningStatistics) {
  const Tensor x = counted(DType::kFloat32, {2, 2, 2});
  const Tensor mean = Tensor::zeros(DType::kFloat32, Dims{2});
  const Tensor var = Tensor::zeros(DType::kFloat32, Dims{2});
  const Tensor y = call(context, "aten::batch_norm", x, Value(), Value(), mean, var, true, 0.5, 0.0, false);
  EXPECT_EQ(values(mean), (Numbers{1.25, 2.25}));
  EXPECT_NEAR(values(var)[0], 0.5 * 17 / 3, 1e-6);
  EXPECT_NEAR(values(y)[0], -2.5 / std::sqrt(4.25), 1e-6);
}

TEST_F(Reduce, SoftmaxAndLayerNorm) {
  const Tensor x = counted(DType::kFloat32, {2, 3});
  const Numbers soft = values(call(context, "aten::softmax.int", x, -1));
  EXPECT_NEAR(soft[2], 0.66524096, 1e-7);
  EXPECT_NEAR(values(call(context, "aten::log_softmax.int", x, 0))[0], -3.04858735, 1e-6);
  const Numbers norm = values(call(context, "aten::layer_norm", x, Dims{3}));
  EXPECT_NEAR(norm[0], -1.22473562, 1e-6);
  EXPECT_NEAR(norm[5], 1.22473562, 1e-6);
}

// Sizes without elements may be as large as numbers go, and so may their strides.
TEST_F(Reduce, NothingIsEnormous) {
  constexpr int64_t kMany = int64_t{1} << 62;
  const Tensor nothing = counted(DType::kFloat64, {0}).with_geometry({{0, kMany}, {kMany, kMany}, 0});
  EXPECT_EQ(values(call(context, "aten::sum", nothing)), Numbers{0});
  EXPECT_EQ(call(context, "aten::cumsum", nothing, 0).sizes(), (Dims{0, kMany}));
  EXPECT_TRUE(std::isnan(values(call(context, "aten::mse_loss", nothing, counted(DType::kInt64, {})))[0]));
  EXPECT_EQ(values(call(context, "aten::_cdist_forward", counted(DType::kFloat64, {2, 0}),
                        counted(DType::kFloat64, {1, 0}), 1.0, std::nullopt)),
            (Numbers{0, 0}));
}

TEST_F(Reduce, QuantilesHaveExactRanks) {
  const Tensor many = Tensor::zeros(DType::kFloat32, Dims{(int64_t{1} << 24) + 4});
  EXPECT_EQ(text_of([&] { call(context, "aten::quantile.scalar", many, 1.0); }),
            "operator 'aten::quantile.scalar': quantile() input tensor is too large");
}

TEST_F(Reduce, NumbersHaveNoClasses) {
  const Tensor number = counted(DType::kFloat32, {});
  EXPECT_EQ(
      text_of([&] { call(context, "aten::cross_entropy_loss", number, number); }),
      "operator 'aten::cross_entropy_loss': Dimension out of range (expected to be in range of [-1, 0], but "
      "got 1)");
}

TEST_F(Reduce, IndicesFitWhatTheyIndex) {
  const Tensor two = counted(DType::kInt64, {2});
  EXPECT_EQ(
      text_of([&] { call(context, "aten::index_select", counted(DType::kFloat32, {}), 0, two); }),
      "operator 'aten::index_select': index_select(): Index to scalar can have only 1 value, got 2 value(s)");
  EXPECT_EQ(
      text_of([&] {
        call(context, "aten::index_add", counted(DType::kFloat32, {2, 3, 4}), 2, two,
             counted(DType::kFloat32, {2}));
      }),
      "operator 'aten::index_add': index_add(): source has 1 dimensions and self has 3, where they must be "
      "the same");
}

}  // namespace
}  // namespace flambeau::ops
