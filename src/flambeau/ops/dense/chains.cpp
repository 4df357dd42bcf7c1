// Products of several matrices, in the order that takes the fewest multiplications: linalg_multi_dot,
// chain_matmul. And products of groups of rows: _grouped_mm and its relatives.
#include <fmt/format.h>

#include <limits>
#include <vector>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

// One that is not known while tracing is small: any order gives the product.
double size_in(const Tensor& matrix, int64_t dim) {
  const SymInt size = size_of(matrix, dim);
  return static_cast<double>(size.is_literal() ? size.literal() : 1);
}
// Which product of a range of matrices comes last.
class BestOrder {
 public:
  explicit BestOrder(std::span<const Tensor> matrices) : count_(matrices.size()) {
    std::vector<double> sizes{size_in(matrices[0], 0)};
    for (const Tensor& matrix : matrices) sizes.push_back(size_in(matrix, 1));
    std::vector<double> cost(count_ * count_, 0);
    split_.resize(count_ * count_, 0);
    for (size_t length = 2; length <= count_; ++length) {
      for (size_t first = 0; first + length <= count_; ++first) {
        const size_t last = first + length - 1;
        double best = std::numeric_limits<double>::infinity();
        for (size_t middle = first; middle < last; ++middle) {
          const double found = cost[first * count_ + middle] + cost[(middle + 1) * count_ + last] +
                               sizes[first] * sizes[middle + 1] * sizes[last + 1];
          if (found < best) {
            best = found;
            split_[first * count_ + last] = middle;
          }
        }
        cost[first * count_ + last] = best;
      }
    }
  }
  Tensor multiply(Context& context, std::span<const Tensor> matrices, size_t first, size_t last) const {
    if (first == last) return matrices[first];
    const size_t middle = split_[first * count_ + last];
    return call(context, "aten::mm", multiply(context, matrices, first, middle),
                multiply(context, matrices, middle + 1, last));
  }

 private:
  size_t count_;
  std::vector<size_t> split_;
};

Tensor multi_dot(Context& context, std::span<const Tensor> tensors) {
  require(tensors.size() >= 2, "multi_dot(): expected at least 2 tensors");
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  const bool is_row = rank_of(tensors.front()) == 1;
  const bool is_column = rank_of(tensors.back()) == 1;
  if (is_row) matrices.front() = call(context, "aten::unsqueeze", matrices.front(), 0);
  if (is_column) matrices.back() = call(context, "aten::unsqueeze", matrices.back(), 1);
  for (size_t i = 0; i < matrices.size(); ++i) {
    if (rank_of(matrices[i]) != 2) {
      fail_argument(fmt::format("multi_dot(): tensor {} must be 2D but got {}D", i, rank_of(matrices[i])));
    }
  }
  Tensor product = BestOrder(matrices).multiply(context, matrices, 0, matrices.size() - 1);
  SymIntList sizes;
  if (!is_row) sizes.push_back(size_of(product, 0));
  if (!is_column) sizes.push_back(size_of(product, 1));
  return is_row || is_column ? call(context, "aten::view", product, sizes) : product;
}

Tensor chain_matmul(Context& context, std::span<const Tensor> matrices) {
  require(!matrices.empty(), "chain_matmul(): Expected one or more matrices");
  for (const Tensor& matrix : matrices) {
    if (rank_of(matrix) != 2)
      fail_argument(fmt::format("Tensor dimension is {}, expected 2 instead.", rank_of(matrix)));
  }
  return BestOrder(matrices).multiply(context, matrices, 0, matrices.size() - 1);
}

// ---- groups

std::vector<int64_t> offsets_of(const Tensor& offsets, int64_t most) {
  const Tensor packed_offsets = offsets.to_contiguous();
  std::vector<int64_t> ends(static_cast<size_t>(offsets.element_count()));
  load_packed(offsets.dtype(), packed_offsets.data(), static_cast<int64_t>(offsets.element_size()),
              ends.size(), DType::kInt64, ends.data());
  int64_t before = 0;
  for (const int64_t end : ends) {
    if (end < before || end > most) {
      fail_argument(fmt::format("the offset {} of a group lies outside of {} to {}", end, before, most));
    }
    before = end;
  }
  return ends;
}

Tensor narrowed(const Tensor& tensor, size_t dim, int64_t begin, int64_t end) {
  Geometry geometry = tensor.geometry();
  geometry.sizes[dim] = end - begin;
  geometry.offset += begin * geometry.strides[dim];
  return tensor.with_geometry(std::move(geometry));
}
Tensor selected(const Tensor& tensor, int64_t index) {
  Geometry geometry = tensor.geometry();
  geometry.offset += index * geometry.strides[0];
  geometry.sizes.erase(0);
  geometry.strides.erase(0);
  return tensor.with_geometry(std::move(geometry));
}

// Rows of one side, or the depth of both, come in groups that end at the offsets.
void multiply_groups(Context& context, const Tensor& left, const Tensor& right, const Tensor& offsets,
                     const Tensor& out) {
  fill(context, out, 0);
  const bool is_left = left.dim() == 2;
  const bool is_right = right.dim() == 2;
  int64_t begin = 0;
  int64_t group = 0;
  for (const int64_t end : offsets_of(offsets, is_left ? left.sizes()[is_right ? 1 : 0] : right.sizes()[1])) {
    if (is_left && is_right) {
      multiply(context, narrowed(left, 1, begin, end), narrowed(right, 0, begin, end), selected(out, group));
    } else if (is_left) {
      multiply(context, narrowed(left, 0, begin, end), selected(right, group), narrowed(out, 0, begin, end));
    } else {
      multiply(context, selected(left, group), narrowed(right, 1, begin, end), narrowed(out, 1, begin, end));
    }
    begin = end;
    ++group;
  }
}

template <typename N>
Info<N> fallback_shape(const Info<N>& input, const Info<N>& weight, const Info<N>& offs) {
  require(input.dim() == 2 && weight.dim() == 3 && offs.dim() == 1,
          "grouped_mm_fallback takes a matrix, one matrix for each group, and a vector of offsets");
  require(offs.sizes[0] == weight.sizes[0], "offs must have one element for each group of weights");
  require(input.sizes[1] == weight.sizes[1], "the columns of input must be the rows of each weight");
  require(offs.dtype == DType::kInt32 || offs.dtype == DType::kInt64, "offs must be an integer tensor");
  require_same_type(input.dtype, weight.dtype);
  return contiguous<N>(input.dtype, {input.sizes[0], weight.sizes[2]}, input.device);
}

void fallback_kernel(Context& context, const Tensor& input, const Tensor& weight, const Tensor& offs,
                     Tensor& out) {
  require_product_type("addmm_impl_cpu_", out.dtype());
  multiply_groups(context, input, weight, offs, out);
}

// Rows of the result start at multiples of 16 bytes.
template <typename N>
Info<N> grouped_shape(const Info<N>& self, const Info<N>& mat2, const Info<N>* offs, const Info<N>* bias,
                      std::optional<DType> out_dtype) {
  require(self.dim() == 2 || self.dim() == 3, "mat_a has to be 2 or 3d");
  require(mat2.dim() == 2 || mat2.dim() == 3, "mat_b has to be 2 or 3d");
  const bool is_left = self.dim() == 2;
  const bool is_right = mat2.dim() == 2;
  require((offs != nullptr) == (is_left || is_right),
          "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d");
  require(bias == nullptr, "Bias not supported yet");
  require(out_dtype.value_or(self.dtype) == self.dtype, "Grouped gemm output dtype must match `mat_a` dtype");
  require_same_type(self.dtype, mat2.dtype);
  require(self.sizes[self.dim() - 1] == mat2.sizes[mat2.dim() - 2],
          "contraction dimension of mat_a and mat_b must match");
  require(is_left || is_right || self.sizes[0] == mat2.sizes[0], "matrix batch sizes have to match");
  require(offs == nullptr || (offs->dim() == 1 && is_integral(offs->dtype)),
          "offs has to be a vector of integers");
  const N columns = mat2.sizes[mat2.dim() - 1];
  const auto alignment = static_cast<int64_t>(16 / dtype_size(self.dtype));
  const N padded = floor_div(columns + N(alignment - 1), N(alignment)) * N(alignment);
  Info<N> out{.dtype = self.dtype, .device = self.device};
  if (is_left != is_right) {
    const N& groups = is_left ? mat2.sizes[0] : self.sizes[0];
    require(offs->sizes[0] == groups, "matrix batch sizes have to match");
    out.sizes = {is_left ? self.sizes[0] : self.sizes[1], columns};
    out.strides = {padded, 1};
  } else {
    out.sizes = {is_left ? offs->sizes[0] : self.sizes[0], self.sizes[self.dim() - 2], columns};
    out.strides = {out.sizes[1] * padded, padded, 1};
  }
  return out;
}

void grouped_kernel(Context& context, const Tensor& self, const Tensor& mat2, const Tensor* offs,
                    const Tensor*, std::optional<DType>, Tensor& out) {
  require_product_type("_grouped_mm", out.dtype());
  if (offs == nullptr) return multiply(context, self, mat2, out);
  multiply_groups(context, self, mat2, *offs, out);
}

}  // namespace

void define_chains(Library& library) {
  library.define("aten::linalg_multi_dot(Tensor[] tensors) -> Tensor").composite<multi_dot>();
  library.define("aten::chain_matmul(Tensor[] matrices) -> Tensor").composite<chain_matmul>();
  library
      .define(
          "aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
          "out_dtype=None) -> Tensor")
      .shape<grouped_shape<Size>, grouped_shape<SymInt>>()
      .kernel<grouped_kernel>();
  // Not PyTorch's: models of the transformers package bring it.
  library.define("transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor")
      .shape<fallback_shape<Size>, fallback_shape<SymInt>>()
      .kernel<fallback_kernel>();
}

}  // namespace flambeau::ops
