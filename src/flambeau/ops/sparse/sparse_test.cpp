// Sparse arguments: every operator takes them or says that it does not. Values against PyTorch's are compared
// in tests/interop/test_sparse.py.
#include "flambeau/ops/sparse/sparse.h"

#include <cstring>

#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::ops {
namespace {

Tensor integers(std::initializer_list<int64_t> sizes, const std::vector<int64_t>& values) {
  Tensor tensor = Tensor::zeros(DType::kInt64, Dims(sizes));
  if (!values.empty()) std::memcpy(tensor.mutable_data(), values.data(), values.size() * sizeof(int64_t));
  return tensor;
}

struct Sparse : OperatorTest {
  // [[0, 0, 5], [2, 0, 3]], the first number in two parts.
  Tensor coo =
      make_coo(Dims{2, 3}, integers({2, 4}, {0, 1, 1, 0, 2, 0, 2, 2}), floats({4}, {1, 2, 3, 4}), false);
  Tensor csr = call(context, "aten::to_sparse_csr", coo);

  std::vector<float> dense(const Tensor& tensor) { return values_of(dense_of(context, tensor)); }
};

TEST_F(Sparse, GoesThroughCalls) {
  EXPECT_EQ(dense(coo), (std::vector<float>{0, 0, 5, 2, 0, 3}));
  EXPECT_EQ(dense(csr), dense(coo));
  EXPECT_EQ(dense(call(context, "aten::neg", coo)), (std::vector<float>{0, 0, -5, -2, 0, -3}));
  EXPECT_EQ(dense(call(context, "aten::relu", csr)), dense(coo));
  EXPECT_EQ(dense(call(context, "aten::add.Tensor", coo, coo)), (std::vector<float>{0, 0, 10, 4, 0, 6}));
  EXPECT_EQ(values_of(call(context, "aten::mm", coo, ramp({3, 2}))), (std::vector<float>{20, 25, 12, 17}));
  EXPECT_EQ(values_of(call(context, "aten::mm", csr, ramp({3, 2}))), (std::vector<float>{20, 25, 12, 17}));
  EXPECT_EQ(call<int64_t>(context, "aten::_nnz", call(context, "aten::coalesce", coo)), 3);
}

TEST_F(Sparse, InPlaceWritesWhereTheIndicesStay) {
  const Tensor copy = call(context, "aten::clone", coo);
  call(context, "aten::mul_.Tensor", copy, 2);
  EXPECT_EQ(dense(copy), (std::vector<float>{0, 0, 10, 4, 0, 6}));
  EXPECT_EQ(dense(coo), (std::vector<float>{0, 0, 5, 2, 0, 3}));
}

TEST_F(Sparse, RefusesWhatIsNotWhole) {
  const Tensor values = floats({2}, {1, 2});
  EXPECT_EQ(error("aten::_sparse_coo_tensor_unsafe", integers({1, 2}, {0, 3}), values, Dims{3}),
            "entry 1 of float32[3] (sparse_coo) has index 3 in dimension 0, whose size is 3");
  // One that nobody checked, as a file may hold it.
  const Tensor loose = make_coo(Dims{3}, integers({1, 2}, {0, 7}), values, true);
  EXPECT_EQ(error("aten::to_dense", loose), "index 7 is out of bounds for dimension 0 with size 3");
  EXPECT_NE(error("aten::cat", TensorList{loose, loose}), "no error");
  EXPECT_EQ(error("aten::cos", coo),
            "aten::cos takes no sparse tensor: argument 'self' is float32[2, 3] (sparse_coo)");
  EXPECT_EQ(error("aten::add.Tensor", coo, ramp({2, 3})),
            "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
}

Value any_value(const Type& type, const Tensor& tensor) {
  switch (type.without_optional().kind()) {
    case TypeKind::kTensor:
      return tensor;
    case TypeKind::kFloat:
      return 0.5;
    case TypeKind::kBool:
      return false;
    case TypeKind::kString:
      return std::string("mean");
    case TypeKind::kScalarType:
      return DType::kFloat32;
    case TypeKind::kLayout:
      return tensor.layout();
    case TypeKind::kList: {
      const TypeKind element = type.without_optional().element().without_optional().kind();
      if (element == TypeKind::kTensor) return TensorList{tensor, tensor};
      return Dims(static_cast<size_t>(type.without_optional().list_size().value_or(2)), 1);
    }
    default:
      return int64_t{1};
  }
}

// Whatever operator a program names: an argument that is sparse never makes it read what is not there.
TEST_F(Sparse, EveryOperatorTakesItOrRefuses) {
  size_t taken = 0, refused = 0;
  for (const std::string& name : library.names(true)) {
    const Operator& op = library.get(name);
    for (const Tensor& sparse : {coo, csr, call(context, "aten::coalesce", coo)}) {
      for (size_t which = 0; which <= op.schema.arguments.size(); ++which) {
        std::vector<Value> arguments;
        bool has_one = false;
        for (size_t i = 0; i < op.schema.arguments.size(); ++i) {
          // One tensor after the other is sparse, and last all of them.
          const bool is_here = which == i || which == op.schema.arguments.size();
          arguments.push_back(any_value(op.schema.arguments[i].type, is_here ? sparse : ramp({2, 3})));
          has_one = has_one || (is_here && (arguments[i].is_tensor() || arguments[i].is<TensorList>()));
        }
        if (!has_one) continue;
        try {
          call(context, op, bind_arguments(op.schema, arguments));
          ++taken;
        } catch (const Error& error) {
          ASSERT_NE(error.code(), ErrorCode::kInternal) << name << ": " << error.what();
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(taken, 300U);
  EXPECT_GT(refused, 3000U);
}

}  // namespace
}  // namespace flambeau::ops
