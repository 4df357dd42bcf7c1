// Normalization of each sample on its own: over groups of channels, or over single channels.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/norm/batch_norm.h"
#include "flambeau/ops/norm/channel_rows.h"
#include "flambeau/ops/norm/row_access.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> group_out(const Info<N>& input) {
  return {.dtype = input.dtype,
          .sizes = input.sizes,
          .strides = like_strides(input, suggested_format(input)),
          .device = input.device};
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> native_group_norm_shape(const Info<N>& input, const Info<N>* weight,
                                                              const Info<N>* bias, N batch, N, N, Size groups,
                                                              double) {
  const Info<N>* const parameter = weight != nullptr ? weight : bias;
  const DType dtype = parameter != nullptr && parameter->dtype != input.dtype ? DType::kFloat32 : input.dtype;
  const Info<N> statistics = contiguous<N>(dtype, {batch, N(groups)}, input.device);
  return {group_out(input), statistics, statistics};
}

template <typename T>
void run(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias, int64_t batch,
         int64_t channels, int64_t space, int64_t groups, double eps, const Tensor& out, const Tensor* mean,
         const Tensor* rstd) {
  const Tensor packed = input.to_contiguous();
  const Tensor result = out.is_contiguous() ? out : context.allocate(out.dtype(), out.sizes());
  const std::vector<double> w = read_all<double>(weight);
  const std::vector<double> b = read_all<double>(bias);
  const int64_t each = channels / groups;
  const int64_t length = each * space;
  ScratchVector<double> means(static_cast<size_t>(batch * groups));
  ScratchVector<double> rstds(means.size());
  const auto piece = [&](size_t begin, size_t end) {
    RowReader<T> reader(packed);
    RowWriter<T> writer(result);
    for (size_t group = begin; group < end; ++group) {
      const auto first = static_cast<int64_t>(group) * length;
      const T* const x = reader.read(first, static_cast<size_t>(length));
      T* const y = writer.begin(first, static_cast<size_t>(length));
      const Moments moments = moments_of(x, static_cast<size_t>(length));
      means[group] = moments.mean;
      rstds[group] = 1 / std::sqrt(std::max(moments.squares / moments.count, 0.0) + eps);
      const int64_t channel = static_cast<int64_t>(group) % groups * each;
      for (int64_t c = 0; c < each; ++c) {
        const auto at = static_cast<size_t>(channel + c);
        const double scale = w.empty() ? rstds[group] : rstds[group] * w[at];
        const double shift = (b.empty() ? 0 : b[at]) - means[group] * scale;
        scale_one(x + c * space, static_cast<T>(scale), static_cast<T>(shift), y + c * space,
                  static_cast<size_t>(space));
      }
      writer.finish();
    }
  };
  const size_t grain = std::max<size_t>(static_cast<size_t>(kGrain / 2 / std::max<int64_t>(length, 1)), 1);
  if (means.size() <= grain) {
    piece(0, means.size());
  } else {
    context.pool().for_each_range(means.size(), grain, piece);
  }
  if (!out.is_contiguous()) copy_into(context, result, out);
  if (mean != nullptr) write_all(means, *mean);
  if (rstd != nullptr) write_all(rstds, *rstd);
}

void run_any(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias, Size batch,
             Size channels, Size space, Size groups, double eps, const Tensor& out, const Tensor* mean,
             const Tensor* rstd) {
  const bool is_counted = batch >= 0 && channels >= 0 && space >= 0;
  if (groups <= 0 || !is_counted || channels % groups != 0 ||
      batch * channels * space != input.element_count()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("Expected number of channels in input to be divisible by num_groups, but got input "
                    "of shape {} and num_groups={}",
                    Value(input.sizes()).summary(), groups));
  }
  for (const Tensor* const parameter : {weight, bias}) {
    if (parameter != nullptr && parameter->element_count() != channels) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("Expected weight and bias of {} elements, got {}",
                                                           channels, parameter->element_count()));
    }
  }
  switch (input.dtype()) {
    case DType::kFloat64:
      return run<double>(context, input, weight, bias, batch, channels, space, groups, eps, out, mean, rstd);
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      return run<float>(context, input, weight, bias, batch, channels, space, groups, eps, out, mean, rstd);
    default:
      fail_dtype("GroupNormKernelImpl", input.dtype());
  }
}

void native_group_norm_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                              Size batch, Size channels, Size space, Size groups, double eps, Tensor& out,
                              Tensor& mean, Tensor& rstd) {
  run_any(context, input, weight, bias, batch, channels, space, groups, eps, out, &mean, &rstd);
}

template <typename N>
Info<N> group_norm_shape(const Info<N>& input, Size groups, const Info<N>* weight, const Info<N>* bias,
                         double, bool) {
  if (input.dim() < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Expected at least 2 dimensions for input tensor but received {}", input.dim()));
  }
  if (groups <= 0 || !(modulo(input.sizes[1], N(groups)) == N(0))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Expected number of channels in input to be divisible by num_groups, but got {} "
                            "channels and num_groups={}",
                            number_text(input.sizes[1]), groups));
  }
  for (const Info<N>* const parameter : {weight, bias}) {
    if (parameter != nullptr && !(parameter->dim() == 1 && parameter->sizes[0] == input.sizes[1])) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("Expected {} to be a vector of size equal to the number of channels in input ({})",
                      parameter == weight ? "weight" : "bias", number_text(input.sizes[1])));
    }
  }
  return group_out(input);
}
void group_norm_kernel(Context& context, const Tensor& input, Size groups, const Tensor* weight,
                       const Tensor* bias, double eps, bool, Tensor& out) {
  const int64_t batch = input.sizes()[0];
  const int64_t channels = input.sizes()[1];
  run_any(context, input, weight, bias, batch, channels, input.element_count() / (batch * channels), groups,
          eps, out, nullptr, nullptr);
}

// ---- instance norm: a batch norm whose channels are those of all samples
template <typename N>
Info<N> instance_norm_shape(const Info<N>& input, const Info<N>* weight, const Info<N>* bias,
                            const Info<N>* mean, const Info<N>* var, bool use_input_stats, double, double,
                            bool) {
  if (input.dim() < 2) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("instance_norm: expected an input of at least 2 dimensions, got {}", input.dim()));
  }
  for (const Info<N>* const parameter : {weight, bias, mean, var}) {
    if (parameter != nullptr && !(parameter->dim() == 1 && parameter->sizes[0] == input.sizes[1])) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("instance_norm: expected vectors of {} elements, one for each channel",
                              number_text(input.sizes[1])));
    }
  }
  if (!use_input_stats && (mean == nullptr || var == nullptr)) {
    throw Error(ErrorCode::kInvalidArgument,
                "Expected running_mean and running_var to be defined when use_input_stats is false");
  }
  return contiguous<N>(input.dtype, input.sizes, input.device);
}

// The vector, once for each sample.
Tensor repeated(Context& context, const Tensor& vector, int64_t times) {
  const int64_t count = vector.element_count();
  Tensor result = context.allocate(vector.dtype(), Dims{times * count});
  copy_into(context, vector.with_geometry({{count}, vector.strides(), vector.offset()}),
            result.with_geometry({{times, count}, {count, 1}, 0}));
  return result;
}
void average_back(Context& context, const Tensor& all, int64_t times, const Tensor& running) {
  std::vector<double> values = read_all<double>(&all);
  const size_t count = values.size() / static_cast<size_t>(times);
  std::vector<double> means(count);
  for (size_t i = 0; i < values.size(); ++i) means[i % count] += values[i] / static_cast<double>(times);
  Tensor packed = context.allocate(running.dtype(), running.sizes());
  write_all(means, packed);
  copy_into(context, packed, running);
}

void instance_norm_kernel(Context& context, const Tensor& input, const Tensor* weight, const Tensor* bias,
                          const Tensor* mean, const Tensor* var, bool use_input_stats, double momentum,
                          double eps, bool, Tensor& out) {
  const int64_t batch = input.sizes()[0];
  const Tensor packed = input.to_contiguous();
  Dims sizes = packed.sizes();
  sizes[1] *= batch;
  sizes[0] = 1;
  const Dims strides = contiguous_strides(sizes);
  const Tensor* vectors[] = {weight, bias, mean, var};
  Tensor copies[4];
  for (size_t i = 0; i < 4; ++i) {
    if (vectors[i] == nullptr) continue;
    copies[i] = repeated(context, *vectors[i], batch);
    vectors[i] = &copies[i];
  }
  run_batch_norm(context, packed.with_geometry({sizes, strides, packed.offset()}),
                 {vectors[0], vectors[1], vectors[2], vectors[3], use_input_stats, momentum, eps},
                 out.with_geometry({sizes, strides, out.offset()}), nullptr, nullptr);
  if (!use_input_stats) return;
  if (mean != nullptr) average_back(context, copies[2], batch, *mean);
  if (var != nullptr) average_back(context, copies[3], batch, *var);
}

// ---- as other operators
Tensor group_norm_parts(Context& c, const Tensor& self, Size groups, const Tensor* weight, const Tensor* bias,
                        double eps, bool) {
  const Tensor input = call(c, "aten::contiguous", self);
  const SymIntList sizes = sizes_of(input);
  SymInt space = 1;
  for (size_t d = 2; d < sizes.size(); ++d) space *= sizes[d];
  return parts::first_of(c, "aten::native_group_norm", input, weight, bias, sizes[0], sizes[1], space, groups,
                         eps);
}

// A batch norm of one item that has the channels of all.
Tensor instance_norm_parts(Context& c, const Tensor& input, const Tensor* weight, const Tensor* bias,
                           const Tensor* running_mean, const Tensor* running_var, bool use_input_stats,
                           double momentum, double eps, bool cudnn_enabled) {
  const SymIntList sizes = sizes_of(input);
  SymIntList shape = {SymInt(1), sizes[0] * sizes[1]};
  for (size_t d = 2; d < sizes.size(); ++d) shape.push_back(sizes[d]);
  const auto repeated = [&](const Tensor* tensor) {
    return tensor == nullptr ? Value() : Value(call(c, "aten::repeat", *tensor, SymIntList{sizes[0]}));
  };
  const Value weights = repeated(weight);
  const Value biases = repeated(bias);
  const Value mean = repeated(running_mean);
  const Value variance = repeated(running_var);
  const Tensor flat = call(c, "aten::view", call(c, "aten::contiguous", input), shape);
  const Tensor output = call(c, "aten::batch_norm", flat, weights, biases, mean, variance, use_input_stats,
                             momentum, eps, cudnn_enabled);
  const auto keep = [&](const Tensor* running, const Value& updated) {
    if (running == nullptr || !use_input_stats) return;
    const Tensor rows = call(c, "aten::view", updated, SymIntList{sizes[0], sizes[1]});
    call(c, "aten::copy_", call(c, "aten::alias", *running), call(c, "aten::mean.dim", rows, Dims{0}));
  };
  keep(running_mean, mean);
  keep(running_var, variance);
  return call(c, "aten::view", output, sizes);
}

}  // namespace

void define_group_norm(Library& library) {
  library
      .define(
          "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt "
          "HxW, int group, float eps) -> (Tensor, Tensor, Tensor)")
      .shape<native_group_norm_shape<Size>, native_group_norm_shape<SymInt>>()
      .kernel<native_group_norm_kernel>();
  library
      .define(
          "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
          "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor")
      .shape<group_norm_shape<Size>, group_norm_shape<SymInt>>()
      .kernel<group_norm_kernel>()
      .composite<group_norm_parts>();
  library
      .define(
          "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
          "running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor")
      .shape<instance_norm_shape<Size>, instance_norm_shape<SymInt>>()
      .kernel<instance_norm_kernel>()
      .composite<instance_norm_parts>()
      .also_writes({"running_mean", "running_var"}, "use_input_stats");
}

}  // namespace flambeau::ops
