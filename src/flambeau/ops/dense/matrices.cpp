// Products of matrices and vectors of fixed ranks: mm, bmm, mv, dot, vdot, and what is added to them: addmm,
// addmv, addbmm, baddbmm.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/mechanism/type_names.h"
#include "flambeau/ops/reduce/fold_loops.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

template <typename... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename N>
void require_matrices(const Info<N>& left, const Info<N>& right) {
  if (left.dim() != 2) fail("self must be a matrix");
  if (right.dim() != 2) fail("mat2 must be a matrix");
  if (!(left.sizes[1] == right.sizes[0])) {
    fail("mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", number_text(left.sizes[0]),
         number_text(left.sizes[1]), number_text(right.sizes[0]), number_text(right.sizes[1]));
  }
  require_same_type(left.dtype, right.dtype);
}

// The sizes must broadcast to the result's, which they do not enlarge.
template <typename N>
void require_expands(const Info<N>& self, const ShortList<N>& sizes) {
  bool fits = self.dim() <= sizes.size();
  const size_t shift = fits ? sizes.size() - self.dim() : 0;
  for (size_t d = 0; fits && d < self.dim(); ++d) {
    fits = self.sizes[d] == N(1) || self.sizes[d] == sizes[d + shift];
  }
  if (fits) return;
  std::string from, to;
  for (const N& size : self.sizes) from += (from.empty() ? "" : ", ") + number_text(size);
  for (const N& size : sizes) to += (to.empty() ? "" : ", ") + number_text(size);
  fail(
      "The expanded size of the tensor must match the existing size. Target sizes: [{}].  Tensor sizes: [{}]",
      to, from);
}

template <typename N>
Info<N> mm_shape(const Info<N>& self, const Info<N>& mat2) {
  require_matrices(self, mat2);
  return contiguous<N>(self.dtype, {self.sizes[0], mat2.sizes[1]}, self.device);
}

void mm_kernel(Context& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  require_product_type("addmm_impl_cpu_", out.dtype());
  multiply(context, self, mat2, out);
}

template <typename N>
void require_batches(const Info<N>& left, const Info<N>& right) {
  if (left.dim() != 3) fail("batch1 must be a 3D tensor");
  if (right.dim() != 3) fail("batch2 must be a 3D tensor");
  if (!(left.sizes[0] == right.sizes[0]) || !(left.sizes[2] == right.sizes[1])) {
    fail("Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
         number_text(left.sizes[0]), number_text(left.sizes[2]), number_text(right.sizes[0]),
         number_text(right.sizes[1]));
  }
  require_same_type(left.dtype, right.dtype);
}

template <typename N>
Info<N> bmm_shape(const Info<N>& self, const Info<N>& mat2) {
  require_batches(self, mat2);
  return contiguous<N>(self.dtype, {self.sizes[0], self.sizes[1], mat2.sizes[2]}, self.device);
}

void bmm_kernel(Context& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  require_product_type("bmm", out.dtype());
  multiply(context, self, mat2, out);
}

template <typename N>
Info<N> mv_shape(const Info<N>& self, const Info<N>& vec) {
  if (self.dim() != 2 || vec.dim() != 1) {
    fail("vector + matrix @ vector expected, got {}, {}, {}", 1, self.dim(), vec.dim());
  }
  if (!(self.sizes[1] == vec.sizes[0])) {
    fail("size mismatch, got input ({}), mat ({}x{}), vec ({})", number_text(self.sizes[0]),
         number_text(self.sizes[0]), number_text(self.sizes[1]), number_text(vec.sizes[0]));
  }
  require_same_type(self.dtype, vec.dtype);
  return contiguous<N>(self.dtype, {self.sizes[0]}, self.device);
}

void mv_kernel(Context& context, const Tensor& self, const Tensor& vec, Tensor& out) {
  require_product_type("addmv_impl_cpu", out.dtype());
  multiply(context, self, unsqueezed(vec, 1), unsqueezed(out, 1));
}

template <typename N>
Info<N> dot_shape(const Info<N>& self, const Info<N>& other) {
  if (self.dim() != 1 || other.dim() != 1) {
    fail("1D tensors expected, but got {}D and {}D tensors", self.dim(), other.dim());
  }
  if (self.dtype != other.dtype) {
    fail("dot : expected both vectors to have same dtype, but found {} and {}", dtype_word(self.dtype),
         dtype_word(other.dtype));
  }
  if (!(self.sizes[0] == other.sizes[0])) {
    const std::string a = number_text(self.sizes[0]);
    const std::string b = number_text(other.sizes[0]);
    fail(
        "inconsistent tensor size, expected tensor [{}] and src [{}] to have the same number of elements, "
        "but "
        "got {} and {} elements respectively",
        a, b, a, b);
  }
  return contiguous<N>(self.dtype, {}, self.device);
}

// So many elements of a dot are summed without asking whether to stop.
constexpr size_t kMostAtOnce = 1 << 22;

void dot_kernel(Context& context, const Tensor& self, const Tensor& other, Tensor& out) {
  require_product_type("dot", out.dtype());
  const auto count = static_cast<size_t>(self.element_count());
  if (count <= kMostAtOnce && self.is_contiguous() && other.is_contiguous()) {
    if (out.dtype() == DType::kFloat32) {
      static const auto dot = FLAMBEAU_PICK(dot_row);
      *out.mutable_data<float>() = static_cast<float>(dot(self.data<float>(), other.data<float>(), count));
      return;
    }
    if (out.dtype() == DType::kFloat64) {
      static const auto dot = FLAMBEAU_PICK(dot_row_double);
      *out.mutable_data<double>() = dot(self.data<double>(), other.data<double>(), count);
      return;
    }
  }
  multiply(context, unsqueezed(self, 0), unsqueezed(other, 1), unsqueezed(unsqueezed(out, 0), 0));
}

template <typename T>
void conjugate(const Tensor& packed_copy) {
  auto* const numbers = packed_copy.mutable_data<std::complex<T>>();
  for (int64_t i = 0; i < packed_copy.element_count(); ++i) numbers[i] = std::conj(numbers[i]);
}

void vdot_kernel(Context& context, const Tensor& self, const Tensor& other, Tensor& out) {
  if (!is_complex(self.dtype())) return dot_kernel(context, self, other, out);
  require_product_type("vdot", out.dtype());
  const Tensor copy = context.allocate(self.dtype(), self.sizes());
  copy_into(context, self, copy);
  if (copy.element_count() > 0) {
    self.dtype() == DType::kComplex64 ? conjugate<float>(copy) : conjugate<double>(copy);
  }
  dot_kernel(context, copy, other, out);
}

template <typename N>
Info<N> addmm_shape(const Info<N>& self, const Info<N>& mat1, const Info<N>& mat2, Scalar beta,
                    Scalar alpha) {
  if (mat1.dim() != 2) fail("mat1 must be a matrix, got {}-D tensor", mat1.dim());
  if (mat2.dim() != 2) fail("mat2 must be a matrix, got {}-D tensor", mat2.dim());
  require_matrices(mat1, mat2);
  require_same_type(self.dtype, mat1.dtype);
  require_factors(mat1.dtype, beta, alpha);
  Info<N> out = contiguous<N>(mat1.dtype, {mat1.sizes[0], mat2.sizes[1]}, mat1.device);
  require_expands(self, out.sizes);
  return out;
}

void addmm_kernel(Context& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
                  Scalar alpha, Tensor& out) {
  require_product_type("addmm_impl_cpu_", out.dtype());
  multiply(context, mat1, mat2, out, {&self, beta}, alpha);
}

template <typename N>
Info<N> addmv_shape(const Info<N>& self, const Info<N>& mat, const Info<N>& vec, Scalar, Scalar) {
  Info<N> out = mv_shape(mat, vec);
  require_same_type(self.dtype, mat.dtype);
  require_expands(self, out.sizes);
  return out;
}

void addmv_kernel(Context& context, const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta,
                  Scalar alpha, Tensor& out) {
  require_product_type("addmv_impl_cpu", out.dtype());
  const Tensor addend = unsqueezed(expanded(self, out.sizes()), 1);
  multiply(context, mat, unsqueezed(vec, 1), unsqueezed(out, 1), {&addend, beta}, alpha);
}

template <typename N>
Info<N> baddbmm_shape(const Info<N>& self, const Info<N>& batch1, const Info<N>& batch2, Scalar, Scalar) {
  Info<N> out = bmm_shape(batch1, batch2);
  if (self.dtype != batch1.dtype) {
    fail("Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}", dtype_type_name(self.dtype),
         dtype_type_name(batch1.dtype), dtype_type_name(batch2.dtype));
  }
  require_expands(self, out.sizes);
  return out;
}

void baddbmm_kernel(Context& context, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                    Scalar beta, Scalar alpha, Tensor& out) {
  require_product_type("baddbmm", out.dtype());
  multiply(context, batch1, batch2, out, {&self, beta}, alpha);
}

template <typename N>
Info<N> addbmm_shape(const Info<N>& self, const Info<N>& batch1, const Info<N>& batch2, Scalar, Scalar) {
  require_batches(batch1, batch2);
  require_same_type(self.dtype, batch1.dtype);
  Info<N> out = contiguous<N>(self.dtype, {batch1.sizes[1], batch2.sizes[2]}, self.device);
  require_expands(self, out.sizes);
  return out;
}

// The sum over the batch is one product whose depth is batch times depth, once the left side is copied so.
void addbmm_kernel(Context& context, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                   Scalar beta, Scalar alpha, Tensor& out) {
  require_product_type("addbmm", out.dtype());
  const int64_t depth = batch1.sizes()[0] * batch1.sizes()[2];
  const Tensor left = context.allocate(
      out.dtype(), std::array<int64_t, 3>{batch1.sizes()[1], batch1.sizes()[0], batch1.sizes()[2]});
  const Dims& strides = batch1.strides();
  copy_into(context,
            batch1.with_geometry({left.sizes(), {strides[1], strides[0], strides[2]}, batch1.offset()}),
            left);
  const Tensor right = packed(context, batch2);
  const Dims left_sizes{out.sizes()[0], depth};
  const Dims right_sizes{depth, out.sizes()[1]};
  multiply(context, left.with_geometry({left_sizes, contiguous_strides(left_sizes), left.offset()}),
           right.with_geometry({right_sizes, contiguous_strides(right_sizes), right.offset()}), out,
           {&self, beta}, alpha);
}

// ---- as other operators
Tensor dot_parts(Context& c, const Tensor& self, const Tensor& tensor) {
  return call(c, "aten::sum", parts::mul(c, self, tensor));
}
Tensor mv_parts(Context& c, const Tensor& self, const Tensor& vec) {
  return call(c, "aten::sum.dim_IntList", parts::mul(c, self, vec), Dims{1});
}
Tensor baddbmm_parts(Context& c, const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta,
                     Scalar alpha) {
  Tensor product = call(c, "aten::bmm", batch1, batch2);
  if (alpha.to_double() != 1) product = parts::mul(c, product, alpha);
  if (beta.to_double() == 0) return product;
  return parts::add(c, beta.to_double() == 1 ? self : parts::mul(c, self, beta), product);
}

std::optional<Tensor> vdot_parts(Context& c, const Tensor& self, const Tensor& other) {
  return is_complex(self.dtype()) ? std::nullopt : std::optional(dot_parts(c, self, other));
}

ProductCall mm_call(const Tensor& self, const Tensor& mat2) { return {.input = &self, .weight = &mat2}; }
std::optional<ProductCall> addmm_call(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
                                      Scalar alpha) {
  const Scalar one(int64_t{1});
  if (!(beta == one && alpha == one)) return {};
  return ProductCall{.input = &mat1, .weight = &mat2, .bias = &self};
}
uint64_t added_product_work(const Tensor& out, const Tensor&, const Tensor& left) {
  return product_work(out, left);
}

}  // namespace

void define_matrices(Library& library) {
  library.define("aten::mm(Tensor self, Tensor mat2) -> Tensor")
      .shape<mm_shape<Size>, mm_shape<SymInt>>()
      .kernel<mm_kernel>()
      .describe<mm_call>()
      .work<product_work>();
  library.define("aten::bmm(Tensor self, Tensor mat2) -> Tensor")
      .shape<bmm_shape<Size>, bmm_shape<SymInt>>()
      .kernel<bmm_kernel>()
      .work<product_work>();
  library.define("aten::mv(Tensor self, Tensor vec) -> Tensor")
      .shape<mv_shape<Size>, mv_shape<SymInt>>()
      .kernel<mv_kernel>()
      .core_decomposition<mv_parts>()
      .work<product_work>();
  library.define("aten::dot(Tensor self, Tensor tensor) -> Tensor")
      .shape<dot_shape<Size>, dot_shape<SymInt>>()
      .kernel<dot_kernel>()
      .core_decomposition<dot_parts>()
      .work<product_work>();
  library.define("aten::vdot(Tensor self, Tensor other) -> Tensor")
      .shape<dot_shape<Size>, dot_shape<SymInt>>()
      .kernel<vdot_kernel>()
      .core_decomposition<vdot_parts>();
  library
      .define(
          "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
      .shape<addmm_shape<Size>, addmm_shape<SymInt>>()
      .kernel<addmm_kernel>()
      .describe<addmm_call>()
      .work<added_product_work>();
  library
      .define("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
      .shape<addmv_shape<Size>, addmv_shape<SymInt>>()
      .kernel<addmv_kernel>()
      .work<added_product_work>();
  library
      .define(
          "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
          "Tensor")
      .shape<baddbmm_shape<Size>, baddbmm_shape<SymInt>>()
      .kernel<baddbmm_kernel>()
      .core_decomposition<baddbmm_parts>()
      .work<added_product_work>();
  library
      .define(
          "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
          "Tensor")
      .shape<addbmm_shape<Size>, addbmm_shape<SymInt>>()
      .kernel<addbmm_kernel>();
}

}  // namespace flambeau::ops
