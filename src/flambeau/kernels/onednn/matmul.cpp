#include "flambeau/kernels/onednn/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "flambeau/base/error.h"
#include "flambeau/kernels/onednn/internal.h"

namespace flambeau::kernels::onednn {
namespace {

// A batch dimension only where there is a batch: two dimensions have faster loops. A repeated operand is a
// batch of one, which oneDNN repeats.
Layout matrix_layout(const MatrixSteps& steps, int64_t batch, int64_t rows, int64_t columns) {
  if (batch == 1) return Layout::strided(std::array{rows, columns}, std::array{steps.row, steps.column});
  const int64_t own = steps.batch == 0 ? 1 : batch;
  return Layout::strided(std::array{own, rows, columns},
                         std::array{own == 1 ? rows * columns : steps.batch, steps.row, steps.column});
}

}  // namespace

Matmul::Matmul(const MatmulShape& shape, const float* right, const float* bias, std::span<const PostOp> post,
               std::span<const Weights> same) {
  const bool constant = right != nullptr;
  const Layout left = matrix_layout(shape.left, shape.batch, shape.rows, shape.depth);
  const Layout out = matrix_layout(shape.out, shape.batch, shape.rows, shape.columns);
  Layout plain_right = matrix_layout(shape.right, shape.batch, shape.depth, shape.columns);
  if (constant && shape.batch != 1 && shape.right.batch != 0) {
    throw Error(ErrorCode::kInvalidArgument, "constant weights of a product are one matrix",
                "give the right side a batch step of 0");
  }
  translate("a matrix product", [&] {
    const dnnl::memory::desc wanted_right =
        constant ? desc_of(Layout::any(plain_right.sizes())) : desc_of(plain_right);
    dnnl::memory::dims bias_sizes(desc_of(out).dims().size(), 1);
    bias_sizes.back() = shape.columns;
    const dnnl::memory::desc bias_desc = desc_of(Layout::plain(bias_sizes));
    const dnnl::matmul::desc wanted =
        bias != nullptr ? dnnl::matmul::desc(desc_of(left), wanted_right, bias_desc, desc_of(out))
                        : dnnl::matmul::desc(desc_of(left), wanted_right, desc_of(out));
    const dnnl::matmul::primitive_desc desc(wanted, attributes(post), engine());
    prepared_ = prepare<dnnl::matmul>(desc);
    prepared_->add_array(DNNL_ARG_SRC, desc_of(left));
    if (constant) {
      const Layout packed = layout_of(desc.weights_desc());
      const auto shared =
          std::ranges::find_if(same, [&](const Weights& one) { return one.layout() == packed; });
      weights_ = shared != same.end() ? *shared : Weights(packed, reordered(right, plain_right, packed));
      prepared_->add_constant(DNNL_ARG_WEIGHTS, desc.weights_desc(), weights_.memory());
    } else {
      prepared_->add_array(DNNL_ARG_WEIGHTS, desc_of(plain_right));
    }
    prepared_->add_array(DNNL_ARG_DST, desc_of(out));
    if (bias != nullptr) {
      prepared_->add_constant(DNNL_ARG_BIAS, bias_desc, copied(bias, static_cast<size_t>(shape.columns)));
    }
    prepared_->add_operands(post);
  });
}

void Matmul::run(const float* left, const float* right, float* out, void* scratch,
                 std::span<const float* const> operands) const {
  if (weights_) {
    execute(std::array<const void*, 2>{left, out}, operands, scratch);
  } else {
    execute(std::array<const void*, 3>{left, right, out}, operands, scratch);
  }
}

void sgemm(int64_t rows, int64_t columns, int64_t depth, float alpha, const float* left, bool left_transposed,
           int64_t left_step, const float* right, bool right_transposed, int64_t right_step, float beta,
           float* out, int64_t out_step) {
  engine();  // caps the instruction set before the library looks at the processor
  const dnnl_status_t status =
      dnnl_sgemm(left_transposed ? 'T' : 'N', right_transposed ? 'T' : 'N', rows, columns, depth, alpha, left,
                 left_step, right, right_step, beta, out, out_step);
  if (status != dnnl_success) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("oneDNN refused a product of {} x {} x {} with row steps {}, {} and {}: {}", rows,
                            columns, depth, left_step, right_step, out_step, dnnl_status2str(status)));
  }
}

}  // namespace flambeau::kernels::onednn
