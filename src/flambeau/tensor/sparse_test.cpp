#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::error_code;
using testing::error_text;
using testing::make_tensor;
using testing::split;
using testing::to_dims;

// "2,3 0 1 2 0 1 2": a shape and its numbers.
Tensor indices(DType dtype, const std::string& text) {
  const auto words = split(text, ' ');
  std::vector<int64_t> sizes;
  for (const std::string& size : split(words[0], ',')) sizes.push_back(std::stoll(size));
  const Dims shape{std::span<const int64_t>(sizes)};
  std::vector<int64_t> values;
  for (size_t i = 1; i < words.size(); ++i) values.push_back(std::stoll(words[i]));
  if (dtype == DType::kInt64) return make_tensor(dtype, shape, values);
  return make_tensor(dtype, shape, std::vector<int32_t>(values.begin(), values.end()));
}

TEST(Sparse, AcceptsWhatPyTorchAccepts) {
  int accepted = 0;
  int refused = 0;
  for (const std::string& line : testing::golden_lines("sparse.txt")) {
    const auto fields = split(line, '|');
    const auto head = split(fields[0], ' ');
    const Layout layout = *layout_from_name(head[0]);
    const DType dtype = *dtype_from_name(head[2]);
    SparseParts parts;
    parts.is_coalesced = head[1] == "1";
    if (layout == Layout::kSparseCoo) {
      parts.indices = indices(dtype, fields[2]);
    } else {
      parts.compressed_indices = indices(dtype, fields[2]);
      parts.plain_indices = indices(dtype, fields[3]);
    }
    parts.values = Tensor::zeros(DType::kFloat32, to_dims(fields[4]));
    const std::string text =
        error_text([&] { validate_sparse_indices(Tensor::sparse(layout, to_dims(fields[1]), parts)); });
    const bool is_accepted = fields[5] == " 1";
    EXPECT_EQ(text == "no error", is_accepted) << line << "\n" << text;
    ++(is_accepted ? accepted : refused);
  }
  EXPECT_GT(accepted, 30);
  EXPECT_GT(refused, 50);
}

SparseParts coo_parts() {
  SparseParts parts;
  parts.indices = make_tensor<int64_t>(DType::kInt64, {2, 2}, {0, 1, 2, 0});
  parts.values = make_tensor<float>(DType::kFloat32, {2}, {5, 6});
  return parts;
}

TEST(Sparse, DescribesACooTensor) {
  const Tensor tensor = Tensor::sparse(Layout::kSparseCoo, Dims{2, 3}, coo_parts());
  EXPECT_EQ(tensor.summary(), "float32[2, 3] (sparse_coo)");
  EXPECT_EQ(tensor.byte_count(), 32U + 8U);
  EXPECT_FALSE(tensor.is_contiguous());
  EXPECT_EQ(tensor.storage(), nullptr);
  EXPECT_EQ(error_text([&] { tensor.to_contiguous(); }), "float32[2, 3] (sparse_coo) has no contiguous form");
}

TEST(Sparse, SaysWhatDoesNotFit) {
  SparseParts parts = coo_parts();
  parts.values = Tensor();
  EXPECT_EQ(error_text([&] { Tensor::sparse(Layout::kSparseCoo, Dims{2, 3}, parts); }),
            "the values of a sparse tensor must be a strided tensor");
  parts = coo_parts();
  parts.indices = Tensor::zeros(DType::kFloat32, Dims{2, 2});
  EXPECT_EQ(error_text([&] { Tensor::sparse(Layout::kSparseCoo, Dims{2, 3}, parts); }),
            "the indices of a sparse tensor must be int64 or int32, not float32");
  EXPECT_EQ(error_text([&] { Tensor::sparse(Layout::kSparseCoo, Dims{2}, coo_parts()); }),
            "a sparse tensor of shape [2] cannot have values float32[2] with 2 sparse dimensions");
  EXPECT_EQ(error_code([&] { Tensor::sparse(Layout::kSparseCoo, Dims{2, -3}, coo_parts()); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(error_code([&] { Tensor::sparse(Layout::kStrided, Dims{2, 3}, coo_parts()); }),
            ErrorCode::kInvalidArgument);
}

TEST(Sparse, SaysWhichIndexIsWrong) {
  const Tensor narrow = Tensor::sparse(Layout::kSparseCoo, Dims{2, 2}, coo_parts());
  EXPECT_EQ(error_text([&] { validate_sparse_indices(narrow); }),
            "entry 0 of float32[2, 2] (sparse_coo) has index 2 in dimension 1, whose size is 2");
  SparseParts parts;
  parts.compressed_indices = make_tensor<int32_t>(DType::kInt32, {3}, {0, 1, 2});
  parts.plain_indices = make_tensor<int32_t>(DType::kInt32, {2}, {0, 7});
  parts.values = make_tensor<float>(DType::kFloat32, {2}, {5, 6});
  EXPECT_EQ(
      error_text([&] { validate_sparse_indices(Tensor::sparse(Layout::kSparseCsr, Dims{2, 3}, parts)); }),
      "plain index 1 of float32[2, 3] (sparse_csr) is 7, not within 0 and 3");
  EXPECT_EQ(
      error_text([&] { Tensor::sparse(Layout::kSparseCsr, Dims{3, 3}, parts); }),
      "compressed indices int32[3], plain indices int32[2] and values float32[2] do not fit a sparse_csr "
      "tensor of shape [3, 3]: expected 3 + 1 compressed indices");
  EXPECT_EQ(error_text([&] { validate_sparse_indices(Tensor::zeros(DType::kInt8, Dims{1})); }),
            "int8[1] is not sparse");
}

TEST(Sparse, RefusesCompressedIndicesWithGaps) {
  SparseParts parts;
  parts.compressed_indices = Tensor::strided(DType::kInt64, {{3}, {2}, 0}, Storage::allocate(48));
  parts.plain_indices = Tensor::zeros(DType::kInt64, Dims{0});
  parts.values = Tensor::zeros(DType::kFloat32, Dims{0});
  EXPECT_EQ(
      error_text([&] { validate_sparse_indices(Tensor::sparse(Layout::kSparseCsr, Dims{2, 3}, parts)); }),
      "the indices of float32[2, 3] (sparse_csr) must be contiguous, not of stride 2");
}

}  // namespace
}  // namespace flambeau
