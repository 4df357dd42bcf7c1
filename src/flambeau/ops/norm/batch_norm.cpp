// Batch normalization, in the many forms it has had.
#include "flambeau/ops/norm/batch_norm.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

template <typename N>
void check_channels(const Info<N>& input, const Info<N>* parameter, const char* name) {
  if (parameter != nullptr && parameter->dim() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} should have one dimension, not {}", name, parameter->dim()));
  }
  if (parameter != nullptr && !(parameter->element_count() == input.sizes[1])) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} should contain {} elements not {}", name, number_text(input.sizes[1]),
                            number_text(parameter->element_count())));
  }
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> native_batch_norm_shape(const Info<N>& input, const Info<N>* weight,
                                                              const Info<N>* bias,
                                                              const Info<N>* running_mean,
                                                              const Info<N>* running_var, bool training,
                                                              double, double) {
  if (input.dim() < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("batch_norm: expected an input of at least 2 dimensions, got {}", input.dim()));
  }
  check_channels(input, running_mean, "running_mean");
  check_channels(input, running_var, "running_var");
  check_channels(input, weight, "weight");
  check_channels(input, bias, "bias");
  if (!training && (running_mean == nullptr || running_var == nullptr)) {
    throw Error(ErrorCode::kInvalidArgument, "running_mean must be defined in evaluation mode");
  }
  Info<N> out{.dtype = input.dtype, .sizes = input.sizes, .device = input.device};
  if (is_contiguous(input)) {
    out.strides = row_major(input.sizes);
  } else if (is_channels_last(input)) {
    out.strides = channels_last_strides(input.sizes);
  } else {
    out.strides = like_strides(input, suggested_format(input));
  }
  DType statistics = input.dtype;
  for (const Info<N>* const parameter : {weight, bias, running_mean, running_var}) {
    if (parameter != nullptr && parameter->dtype != input.dtype) statistics = DType::kFloat32;
  }
  ShortList<N> sizes;
  sizes.push_back(training ? input.sizes[1] : N(0));
  const Info<N> saved = contiguous<N>(statistics, std::move(sizes), input.device);
  return {std::move(out), saved, saved};
}

void native_batch_norm_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                              const Tensor* running_mean, const Tensor* running_var, bool training,
                              double momentum, double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  if (input.element_count() == 0) return;
  run_batch_norm(context, input, {weight, bias, running_mean, running_var, training, momentum, eps}, out,
                 &mean, &rstd);
}

// Given results: those of other sizes get new memory.
std::tuple<Tensor, Tensor, Tensor> legit_out(Context& context, const Tensor& input, const Tensor* weight,
                                             const Tensor* bias, const Tensor& mean, const Tensor& var,
                                             bool training, double momentum, double eps, const Tensor& out,
                                             const Tensor& save_mean, const Tensor& save_rstd) {
  const auto value = [](const Tensor* tensor) { return tensor == nullptr ? Value() : Value(*tensor); };
  const auto made = call<std::tuple<Tensor, Tensor, Tensor>>(context, "aten::_native_batch_norm_legit", input,
                                                             value(weight), value(bias), mean, var, training,
                                                             momentum, eps);
  const auto deliver = [&](const Tensor& from, const Tensor& to) {
    if (!(from.sizes() == to.sizes())) return from;
    copy_into(context, from, to);
    return to;
  };
  return {deliver(std::get<0>(made), out), deliver(std::get<1>(made), save_mean),
          deliver(std::get<2>(made), save_rstd)};
}

// ---- the others are the same with fewer or more arguments
template <typename N>
Info<N> batch_norm_shape(const Info<N>& input, const Info<N>* weight, const Info<N>* bias,
                         const Info<N>* mean, const Info<N>* var, bool training, double momentum, double eps,
                         bool) {
  if (input.element_count() == N(0)) {
    return {.dtype = input.dtype,
            .sizes = input.sizes,
            .strides = like_strides(input, MemoryFormat::kPreserve),
            .device = input.device};
  }
  return std::get<0>(native_batch_norm_shape<N>(input, weight, bias, mean, var, training, momentum, eps));
}
void batch_norm_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                       const Tensor* mean, const Tensor* var, bool training, double momentum, double eps,
                       bool, Tensor& out) {
  run_batch_norm(context, input, {weight, bias, mean, var, training, momentum, eps}, out, nullptr, nullptr);
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> legit_shape(const Info<N>& input, const Info<N>* weight,
                                                  const Info<N>* bias, const Info<N>& mean,
                                                  const Info<N>& var, bool training, double momentum,
                                                  double eps) {
  return native_batch_norm_shape<N>(input, weight, bias, &mean, &var, training, momentum, eps);
}
void legit_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                  const Tensor& mean, const Tensor& var, bool training, double momentum, double eps,
                  Tensor& out, Tensor& save_mean, Tensor& save_rstd) {
  native_batch_norm_kernel(context, input, weight, bias, &mean, &var, training, momentum, eps, out, save_mean,
                           save_rstd);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> no_stats_shape(const Info<N>& input, const Info<N>* weight,
                                                     const Info<N>* bias, bool training, double momentum,
                                                     double eps) {
  return native_batch_norm_shape<N>(input, weight, bias, nullptr, nullptr, training, momentum, eps);
}
void no_stats_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                     bool training, double momentum, double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  native_batch_norm_kernel(context, input, weight, bias, nullptr, nullptr, training, momentum, eps, out, mean,
                           rstd);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> no_training_shape(const Info<N>& input, const Info<N>* weight,
                                                        const Info<N>* bias, const Info<N>& mean,
                                                        const Info<N>& var, double momentum, double eps) {
  return native_batch_norm_shape<N>(input, weight, bias, &mean, &var, false, momentum, eps);
}
void no_training_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                        const Tensor& mean, const Tensor& var, double momentum, double eps, Tensor& out,
                        Tensor& save_mean, Tensor& save_rstd) {
  native_batch_norm_kernel(context, input, weight, bias, &mean, &var, false, momentum, eps, out, save_mean,
                           save_rstd);
}

// The running statistics come back as new tensors.
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>, Info<N>, Info<N>> functional_shape(
    const Info<N>& input, const Info<N>* weight, const Info<N>* bias, const Info<N>& mean, const Info<N>& var,
    bool training, double momentum, double eps) {
  const auto copy = [](const Info<N>& info) {
    return Info<N>{.dtype = info.dtype,
                   .sizes = info.sizes,
                   .strides = like_strides(info, MemoryFormat::kPreserve),
                   .device = info.device};
  };
  return std::tuple_cat(native_batch_norm_shape<N>(input, weight, bias, &mean, &var, training, momentum, eps),
                        std::make_tuple(copy(mean), copy(var)));
}
void functional_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                       const Tensor& mean, const Tensor& var, bool training, double momentum, double eps,
                       Tensor& out, Tensor& save_mean, Tensor& save_rstd, Tensor& new_mean, Tensor& new_var) {
  copy_into(context, mean, new_mean);
  copy_into(context, var, new_var);
  native_batch_norm_kernel(context, input, weight, bias, &new_mean, &new_var, training, momentum, eps, out,
                           save_mean, save_rstd);
}

// ---- with a reserved tensor that only GPUs fill
template <typename N>
Info<N> reserve_info(const Info<N>& input) {
  return contiguous<N>(DType::kUInt8, {N(0)}, input.device);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>, Info<N>> no_update_shape(const Info<N>& input, const Info<N>* weight,
                                                               const Info<N>* bias, const Info<N>* mean,
                                                               const Info<N>* var, double momentum,
                                                               double eps) {
  return std::tuple_cat(native_batch_norm_shape<N>(input, weight, bias, mean, var, false, momentum, eps),
                        std::make_tuple(reserve_info(input)));
}
void no_update_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                      const Tensor* mean, const Tensor* var, double momentum, double eps, Tensor& out,
                      Tensor& save_mean, Tensor& save_rstd, Tensor&) {
  native_batch_norm_kernel(context, input, weight, bias, mean, var, false, momentum, eps, out, save_mean,
                           save_rstd);
}
template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>, Info<N>> with_update_shape(const Info<N>& input, const Info<N>* weight,
                                                                 const Info<N>* bias, const Info<N>& mean,
                                                                 const Info<N>& var, double momentum,
                                                                 double eps) {
  return std::tuple_cat(native_batch_norm_shape<N>(input, weight, bias, &mean, &var, true, momentum, eps),
                        std::make_tuple(reserve_info(input)));
}
void with_update_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                        const Tensor& mean, const Tensor& var, double momentum, double eps, Tensor& out,
                        Tensor& save_mean, Tensor& save_rstd, Tensor&) {
  native_batch_norm_kernel(context, input, weight, bias, &mean, &var, true, momentum, eps, out, save_mean,
                           save_rstd);
}

// Each form is another operator, all of which give the statistics, too.
Tensor batch_norm_parts(Context& c, const Tensor& input, const Tensor* weight, const Tensor* bias,
                        const Tensor* mean, const Tensor* variance, bool training, double momentum,
                        double eps, bool) {
  if (!training)
    return parts::first_of(c, "aten::_native_batch_norm_legit_no_training", input, weight, bias, mean,
                           variance, momentum, eps);
  if (mean == nullptr)
    return parts::first_of(c, "aten::_native_batch_norm_legit.no_stats", input, weight, bias, true, momentum,
                           eps);
  return parts::first_of(c, "aten::_native_batch_norm_legit", input, weight, bias, mean, variance, true,
                         momentum, eps);
}

std::optional<NormalizationCall> batch_norm_call(const Tensor& input, const Tensor* weight,
                                                 const Tensor* bias, const Tensor* mean,
                                                 const Tensor* variance, bool training, double, double eps) {
  if (training || mean == nullptr || variance == nullptr) return {};
  return NormalizationCall{&input, weight, bias, mean, variance, eps};
}
NormalizationCall no_training_call(const Tensor& input, const Tensor* weight, const Tensor* bias,
                                   const Tensor& mean, const Tensor& variance, double, double eps) {
  return {&input, weight, bias, &mean, &variance, eps};
}

}  // namespace

void define_batch_norm(Library& library) {
  library
      .define(
          "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
          "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
      .shape<native_batch_norm_shape<Size>, native_batch_norm_shape<SymInt>>()
      .kernel<native_batch_norm_kernel>()
      .also_writes({"running_mean", "running_var"}, "training");
  library
      .define(
          "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
          "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor")
      .shape<batch_norm_shape<Size>, batch_norm_shape<SymInt>>()
      .kernel<batch_norm_kernel>()
      .composite<batch_norm_parts>()
      .is(Trait::kAnyLayout)
      .describe<batch_norm_call>()
      .also_writes({"running_mean", "running_var"}, "training");
  library
      .define(
          "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
          "running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, "
          "Tensor, Tensor)")
      .shape<legit_shape<Size>, legit_shape<SymInt>>()
      .kernel<legit_kernel>()
      .functional("aten::_native_batch_norm_legit_functional");
  library
      .define(
          "aten::_native_batch_norm_legit.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
          "running_mean, Tensor(b!) running_var, bool training, float momentum, float eps, *, Tensor(d!) "
          "out, Tensor(e!) save_mean, Tensor(f!) save_invstd) -> (Tensor(d!), Tensor(e!), Tensor(f!))")
      .function<legit_out>();
  library
      .define(
          "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool "
          "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
      .shape<no_stats_shape<Size>, no_stats_shape<SymInt>>()
      .kernel<no_stats_kernel>();
  library
      .define(
          "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor "
          "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)")
      .shape<no_training_shape<Size>, no_training_shape<SymInt>>()
      .kernel<no_training_kernel>()
      .is(Trait::kAnyLayout)
      .describe<no_training_call>();
  library
      .define(
          "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
          "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, "
          "Tensor, Tensor running_mean_out, Tensor running_var_out)")
      .shape<functional_shape<Size>, functional_shape<SymInt>>()
      .kernel<functional_kernel>();
  library
      .define(
          "aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
          "Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)")
      .shape<no_update_shape<Size>, no_update_shape<SymInt>>()
      .kernel<no_update_kernel>();
  library
      .define(
          "aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
          "running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, "
          "Tensor)")
      .shape<with_update_shape<Size>, with_update_shape<SymInt>>()
      .kernel<with_update_kernel>();
}

}  // namespace flambeau::ops
