// Linear algebra where PyTorch's own samples do not reach: what is refused and how it is said, hostile pivots
// and sizes, symbols, cancelling.
#include <gtest/gtest.h>

#include <atomic>

#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {
namespace {

struct LinalgOperatorTest : OperatorTest {
  std::vector<Value> results(std::string_view name, const std::vector<Value>& arguments,
                             const KeywordArguments& keywords = {}) {
    return call_named(context, name, arguments, keywords);
  }
};

Tensor ints(std::initializer_list<int64_t> sizes, const std::vector<int32_t>& values) {
  Tensor tensor = Tensor::zeros(DType::kInt32, Dims(sizes));
  std::copy(values.begin(), values.end(), tensor.mutable_data<int32_t>());
  return tensor;
}

TEST_F(LinalgOperatorTest, SingularMatricesAreNamedByTheirPlace) {
  const Tensor singular = floats({2, 2}, {1, 2, 2, 4});
  const Tensor batch = floats({2, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 4});
  EXPECT_EQ(
      error("aten::linalg_inv", singular),
      "linalg.inv: the diagonal element 2 is zero: the matrix is singular, and the inversion could not be "
      "completed.");
  EXPECT_EQ(error("aten::linalg_inv", batch),
            "linalg.inv: (Batch element 1): the diagonal element 2 is zero: the matrix is singular, and the "
            "inversion could not be completed.");
  EXPECT_EQ(
      error("aten::linalg_solve", batch, batch),
      "torch.linalg.solve: (Batch element 1): the matrix is singular, so that there is no single solution.");
  EXPECT_EQ(
      error("aten::linalg_cholesky", batch),
      "linalg.cholesky: (Batch element 1): the factorization could not be completed because the input is not "
      "positive-definite (the leading minor of order 2 is not positive-definite).");
  EXPECT_EQ(
      error("aten::linalg_lu_factor", singular),
      "torch.linalg.lu_factor: U[2,2] is zero, and using it on lu_solve would divide by zero; lu_factor_ex "
      "gives the factors nevertheless.");
  // The _ex forms give a number instead.
  EXPECT_EQ(values_of<int32_t>(results("aten::linalg_inv_ex", {batch})[1].tensor()),
            (std::vector<int32_t>{0, 2}));
}

TEST_F(LinalgOperatorTest, RefusesWhatIsNoMatrix) {
  EXPECT_EQ(error("aten::linalg_inv", ramp({3})),
            "linalg.inv: The input tensor A must have at least 2 dimensions.");
  EXPECT_EQ(error("aten::linalg_inv", ramp({2, 3})),
            "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices");
  EXPECT_EQ(error("aten::linalg_inv", ints({1, 1}, {1})),
            "linalg.inv: Expected a floating point or complex tensor as input. Got Int");
  EXPECT_EQ(error("aten::linalg_inv", Tensor::zeros(DType::kFloat16, Dims{2, 2})),
            "linalg.inv: Low precision dtypes not supported. Got Half");
  EXPECT_EQ(error("aten::linalg_solve", ramp({2, 2}), ramp({3, 2})),
            "linalg.solve: Incompatible shapes of A and B for the equation AX = B (A has 2 rows, B 3)");
  EXPECT_EQ(
      error("aten::linalg_qr", ramp({2, 2}), "economic"),
      "qr received unrecognized mode 'economic' but expected one of 'reduced' (default), 'r', or 'complete'");
  EXPECT_EQ(error("aten::linalg_eigh", ramp({2, 2}), "X"),
            "Expected UPLO argument to be 'L' or 'U', but got X");
  EXPECT_EQ(error("aten::linalg_svd", floats({1, 1}, {NAN})),
            "linalg.svd: the algorithm cannot converge because the input contains non-finite values.");
  EXPECT_EQ(error("aten::linalg_eig", floats({1, 1}, {INFINITY})),
            "torch.linalg.eig: the algorithm cannot converge because the input contains non-finite values.");
}

TEST_F(LinalgOperatorTest, PivotsOfAStrangerAreChecked) {
  const Tensor factors = floats({2, 2}, {1, 0, 0, 1});
  constexpr std::string_view kOutside =
      "the pivot 3 is out of range: pivots are from 1 to the 2 rows of the matrix";
  EXPECT_EQ(error("aten::linalg_lu_solve", factors, ints({2}, {3, 2}), factors), kOutside);
  EXPECT_EQ(error("aten::lu_unpack", factors, ints({2}, {3, 2})), kOutside);
  EXPECT_EQ(error("aten::lu_unpack", factors, ints({2}, {1, INT32_MIN})),
            "the pivot -2147483648 is out of range: pivots are from 1 to the 2 rows of the matrix");
  EXPECT_EQ(
      error("aten::linalg_ldl_solve", factors, ints({2}, {1, -2}), factors),
      "the pivot -2 is out of range: pivots are from 1 to the 2 rows of the matrix, or two equal negative "
      "ones");
  EXPECT_EQ(error("aten::linalg_lu_solve", factors, ints({1}, {1}), factors),
            "linalg.lu_solve: the pivots must have the batch of LU, and one pivot for each of its rows");
}

TEST_F(LinalgOperatorTest, MatricesWithoutElementsHaveDeterminantsAndVectors) {
  const Tensor none = Tensor::zeros(DType::kFloat32, Dims{2, 0, 0});
  expect_values(run("aten::linalg_det", none), {1, 1});
  const auto svd = results("aten::linalg_svd", {Tensor::zeros(DType::kFloat32, Dims{0, 2}), true});
  expect_values(svd[2].tensor(), {1, 0, 0, 1});
  EXPECT_EQ(run("aten::linalg_cond", none).sizes(), Dims{2});
  EXPECT_EQ(run("aten::linalg_matrix_rank.atol_rtol_float", none).sizes(), Dims{2});
}

TEST_F(LinalgOperatorTest, HugeSizesAreRefusedBeforeAnythingIsMade) {
  const Tensor one = Tensor::zeros(DType::kFloat32, Dims{1, 1});
  const Tensor huge = one.with_geometry({Dims{int64_t{1} << 31, int64_t{1} << 31}, Dims{0, 0}, 0});
  for (const char* const name : {"aten::linalg_inv_ex", "aten::linalg_svdvals", "aten::linalg_eig",
                                 "aten::linalg_qr", "aten::linalg_lu", "aten::linalg_matrix_exp"}) {
    EXPECT_NE(error(name, huge), "no error") << name;
  }
  EXPECT_NE(error("aten::matrix_power", ramp({2, 3}), INT64_MIN), "no error");
  expect_values(run("aten::matrix_power", floats({1, 1}, {1}), INT64_MIN), {1});
}

TEST_F(LinalgOperatorTest, ResultsOfMostLieColumnAfterColumn) {
  const Tensor a = floats({2, 3}, {1, 2, 3, 4, 5, 7});
  EXPECT_EQ(results("aten::linalg_qr", {a})[1].tensor().strides(), (Dims{1, 2}));
  EXPECT_EQ(results("aten::linalg_lu", {a})[2].tensor().strides(), (Dims{3, 1}));
  // The solution is the top of the longer right side.
  const Tensor tall = run("aten::transpose.int", a, 0, 1);
  EXPECT_EQ(results("aten::linalg_lstsq", {tall, ramp({3, 2})})[0].tensor().strides(), (Dims{1, 3}));
}

TEST_F(LinalgOperatorTest, RulesTakeSymbols) {
  const Operator& svd = library.get("aten::_linalg_svd");
  const auto shapes = svd.symbolic_shape(std::vector<Value>{ramp({4, 3}), true, true, Value()});
  EXPECT_EQ(shapes.at(0).sizes, (SymIntList{4, 4}));
  EXPECT_EQ(shapes.at(1).sizes, (SymIntList{3}));
  EXPECT_EQ(shapes.at(2).strides, (SymIntList{1, 3}));
}

TEST_F(LinalgOperatorTest, StopsWhenAsked) {
  const Tensor batch = run("aten::expand", floats({2, 2}, {1, 0, 0, 1}), Dims{1000, 2, 2});
  const std::atomic<bool> cancel = true;
  WorkScope scope(WorkLimits{.cancel = &cancel});
  EXPECT_EQ(error("aten::linalg_inv", batch), "the run was cancelled");
}

}  // namespace
}  // namespace flambeau::ops
