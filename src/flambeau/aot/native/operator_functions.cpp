#include "flambeau/aot/native/operator_function.h"

namespace flambeau::aot::native {

std::vector<Value> call_operator(std::string_view name, std::vector<Value> arguments, const Value* out) {
  ops::Context& context = Scope::context();
  const ops::Operator& op = context.library().get(name);
  const size_t count = op.schema.arguments.size();
  const size_t given = count - (out != nullptr ? 1 : 0);
  for (size_t i = 0; i < given; ++i) {
    if (i < arguments.size()) {
      arguments[i] = ops::fit_argument(op.schema, i, arguments[i]);
    } else {
      arguments.push_back(ops::default_argument(op.schema, i));
    }
  }
  if (out != nullptr) arguments.push_back(ops::fit_argument(op.schema, given, *out));
  return ops::execute(context, op, arguments);
}

void give_results(std::vector<Value> results, std::span<Handle* const> to) {
  if (results.size() < to.size()) throw Error(ErrorCode::kInternal, "the operator gives too few results");
  for (size_t i = 0; i < to.size(); ++i) give(to[i], results[i].tensor());
}

namespace {

const Function kOperatorFunctions[] = {
    function("aoti_torch_cpu_addmm_out", of<"aten::addmm.out", 0, Out, In, In, In, Real, Real>),
    function("aoti_torch_cpu_mm_out", of<"aten::mm.out", 0, Out, In, In>),
    function("aoti_torch_cpu_bmm_out", of<"aten::bmm.out", 0, Out, In, In>),
    function("aoti_torch_cpu_baddbmm_out", of<"aten::baddbmm.out", 0, Out, In, In, In, Real, Real>),
    function("aoti_torch_cpu_addmv", of<"aten::addmv", 1, In, In, In, Real, Real>),
    function("aoti_torch_cpu_convolution",
             of<"aten::convolution", 1, In, In, OptionalIn, Ints, Ints, Ints, Bool, Ints, Int>),
    function("aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu",
             of<"aten::_scaled_dot_product_flash_attention_for_cpu", 2, In, In, In, Real, Bool, OptionalIn,
                OptionalReal>),
    function("aoti_torch_cpu_cumsum", of<"aten::cumsum", 1, In, Int, OptionalType>),
    function("aoti_torch_cpu_cumprod", of<"aten::cumprod", 1, In, Int, OptionalType>),
    function("aoti_torch_cpu_logcumsumexp", of<"aten::logcumsumexp", 1, In, Int>),
    function("aoti_torch_cpu_cummax", of<"aten::cummax", 2, In, Int>),
    function("aoti_torch_cpu_cummin", of<"aten::cummin", 2, In, Int>),
    function("aoti_torch_cpu_topk", of<"aten::topk", 2, In, Int, Int, Bool, Bool>),
    function("aoti_torch_cpu_sort", of<"aten::sort", 2, In, Int, Bool>),
    function("aoti_torch_cpu_sort_stable", of<"aten::sort.stable", 2, In, OptionalBool, Int, Bool>),
    function("aoti_torch_cpu_median", of<"aten::median", 1, In>),
    function("aoti_torch_cpu_kthvalue", of<"aten::kthvalue", 2, In, Int, Int, Bool>),
    function("aoti_torch_cpu_mode", of<"aten::mode", 2, In, Int, Bool>),
    function("aoti_torch_cpu_nonzero", of<"aten::nonzero", 1, In>),
    function("aoti_torch_cpu_masked_select", of<"aten::masked_select", 1, In, In>),
    function("aoti_torch_cpu_index_Tensor", of<"aten::index.Tensor", 1, In, OptionalInList>),
    function("aoti_torch_cpu_index_select", of<"aten::index_select", 1, In, Int, In>),
    function("aoti_torch_cpu_index_put", of<"aten::index_put", 1, In, OptionalInList, In, Bool>),
    function("aoti_torch_cpu_index_put_", of<"aten::index_put_", 0, In, OptionalInList, In, Bool>),
    function("aoti_torch_cpu_scatter_src_out", of<"aten::scatter.src_out", 0, Out, In, Int, In, In>),
    function("aoti_torch_cpu_scatter_value_out", of<"aten::scatter.value_out", 0, Out, In, Int, In, Real>),
    function("aoti_torch_cpu_scatter_reduce_two_out",
             of<"aten::scatter_reduce.two_out", 0, Out, In, Int, In, In, Text, Bool>),
    function("aoti_torch_cpu_masked_scatter", of<"aten::masked_scatter", 1, In, In, In>),
    function("aoti_torch_cpu_abs", of<"aten::abs", 1, In>),
    function("aoti_torch_cpu_add_Tensor", of<"aten::add.Tensor", 1, In, In, Real>),
    function("aoti_torch_cpu_mul_Tensor", of<"aten::mul.Tensor", 1, In, In>),
    function("aoti_torch_cpu_mul_Scalar", of<"aten::mul.Scalar", 1, In, Real>),
    function("aoti_torch_cpu_cat", of<"aten::cat", 1, InList, Int>),
    function("aoti_torch_cpu_view_as_real", of<"aten::view_as_real", 1, In>),
    function("aoti_torch_cpu_view_as_complex", of<"aten::view_as_complex", 1, In>),
    function("aoti_torch_cpu__fft_r2c", of<"aten::_fft_r2c", 1, In, Ints, Int, Bool>),
    function("aoti_torch_cpu__fft_c2c", of<"aten::_fft_c2c", 1, In, Ints, Int, Bool>),
    function("aoti_torch_cpu__embedding_bag",
             of<"aten::_embedding_bag", 4, In, In, In, Bool, Int, Bool, OptionalIn, Bool, Int>),
    function("aoti_torch_cpu_randint_low_out", of<"aten::randint.low_out", 0, Out, Int, Int, Ints>),
    function("aoti_torch_cpu_fill__Scalar", of<"aten::fill_.Scalar", 0, In, Real>),
    function("aoti_torch_cpu_narrow", of<"aten::narrow", 1, In, Int, Int, Int>),
    function("aoti_torch_cpu_permute", of<"aten::permute", 1, In, Ints>),
    function("aoti_torch_cpu_reshape", of<"aten::reshape", 1, In, Ints>),
    function("aoti_torch_cpu_squeeze_dim", of<"aten::squeeze.dim", 1, In, Int>),
    function("aoti_torch_cpu_avg_pool2d",
             of<"aten::avg_pool2d", 1, In, Ints, Ints, Ints, Bool, Bool, OptionalInt>),
    function("aoti_torch_cpu_max_pool2d_with_indices",
             of<"aten::max_pool2d_with_indices", 2, In, Ints, Ints, Ints, Ints, Bool>),
    function("aoti_torch_cpu_adaptive_max_pool2d", of<"aten::adaptive_max_pool2d", 2, In, Ints>),
    function("aoti_torch_cpu_bucketize_Tensor", of<"aten::bucketize.Tensor", 1, In, In, Bool, Bool>),
    function("aoti_torch_cpu_histc", of<"aten::histc", 1, In, Int, Real, Real>),
};

}  // namespace

std::span<const Function> operator_functions() { return kOperatorFunctions; }

}  // namespace flambeau::aot::native
