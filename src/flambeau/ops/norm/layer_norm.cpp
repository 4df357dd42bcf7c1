// Normalization over the last dimensions: layer norm and RMS norm.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/norm/row_access.h"
#include "flambeau/ops/norm/row_loops.h"

namespace flambeau::ops {
namespace {

template <typename N>
void check_normalized(const Info<N>& input, std::span<const N> normalized, const Info<N>* weight,
                      const Info<N>* bias) {
  if (normalized.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
        "but got normalized_shape = []");
  }
  const auto fits = [&](const Info<N>* parameter) {
    return parameter == nullptr ||
           (parameter->dim() == normalized.size() &&
            std::equal(normalized.begin(), normalized.end(), parameter->sizes.begin()));
  };
  if (!fits(weight) || !fits(bias)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("Expected {} to be of same shape as normalized_shape", fits(weight) ? "bias" : "weight"));
  }
  bool is_end = input.dim() >= normalized.size();
  for (size_t i = 0; is_end && i < normalized.size(); ++i) {
    is_end = input.sizes[input.dim() - normalized.size() + i] == normalized[i];
  }
  if (!is_end) {
    std::string shape;
    for (const N& size : normalized) shape += (shape.empty() ? "" : ", ") + number_text(size);
    std::string found;
    for (const N& size : input.sizes) found += (found.empty() ? "" : ", ") + number_text(size);
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("Given normalized_shape=[{}], expected input with shape [*, {}], but got input of "
                    "size [{}]",
                    shape, shape, found));
  }
}

// float beside half: the statistics of float weights stay float.
template <typename N>
DType statistics_dtype(const Info<N>& input, const Info<N>* weight, const Info<N>* bias) {
  const Info<N>* const parameter = weight != nullptr ? weight : bias;
  return parameter != nullptr && parameter->dtype != input.dtype ? DType::kFloat32 : input.dtype;
}

template <typename N>
Info<N> statistics_info(const Info<N>& input, size_t normalized, DType dtype) {
  ShortList<N> sizes = input.sizes;
  for (size_t d = sizes.size() - normalized; d < sizes.size(); ++d) sizes[d] = N(1);
  return contiguous<N>(dtype, std::move(sizes), input.device);
}

template <typename N>
std::tuple<Info<N>, Info<N>, Info<N>> native_layer_norm_shape(const Info<N>& input,
                                                              std::span<const N> normalized,
                                                              const Info<N>* weight, const Info<N>* bias,
                                                              double) {
  check_normalized(input, normalized, weight, bias);
  const Info<N> statistics = statistics_info(input, normalized.size(), statistics_dtype(input, weight, bias));
  return {contiguous<N>(input.dtype, input.sizes, input.device), statistics, statistics};
}

void norm_row(const float* x, const float* weight, const float* bias, float* y, size_t count, double eps,
              bool is_half, float* mean, float* rstd) {
  static const auto row = FLAMBEAU_PICK(layer_norm_row);
  row(x, weight, bias, y, count, eps, is_half, mean, rstd);
}
void norm_row(const double* x, const double* weight, const double* bias, double* y, size_t count, double eps,
              bool, double* mean, double* rstd) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += x[i];
  const double middle = sum / static_cast<double>(count);
  double squares = 0;
  for (size_t i = 0; i < count; ++i) squares += (x[i] - middle) * (x[i] - middle);
  const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + eps);
  *mean = middle;
  *rstd = scale;
  for (size_t i = 0; i < count; ++i) {
    const double value = (x[i] - middle) * scale;
    y[i] = (weight != nullptr ? value * weight[i] : value) + (bias != nullptr ? bias[i] : 0);
  }
}

template <typename T>
const T* data_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// The parameters themselves where they are of the type, else a converted copy.
template <typename T>
const T* parameter_rows(const Tensor* tensor, std::vector<T>& copy) {
  if (tensor == nullptr) return nullptr;
  if (tensor->dtype() == kRowType<T> && tensor->is_contiguous()) return tensor->data<T>();
  copy = read_all<T>(tensor);
  return data_or_null(copy);
}

template <typename T>
void run_layer_norm(Context& context, const Tensor& input, size_t count, const Tensor* weight,
                    const Tensor* bias, double eps, Tensor& out, Tensor* mean, Tensor* rstd) {
  if (count == 0) return;
  const Tensor packed = input.to_contiguous();
  const auto rows = static_cast<size_t>(packed.element_count()) / count;
  const bool is_half = packed.dtype() != kRowType<T>;
  std::vector<T> weight_copy;
  std::vector<T> bias_copy;
  const T* const w = parameter_rows<T>(weight, weight_copy);
  const T* const b = parameter_rows<T>(bias, bias_copy);
  std::vector<T> means(mean != nullptr ? rows : 0);
  std::vector<T> rstds(mean != nullptr ? rows : 0);
  const auto piece = [&](size_t begin, size_t end) {
    RowReader<T> reader(packed);
    RowWriter<T> writer(out);
    T row_mean = 0;
    T row_rstd = 0;
    for (size_t row = begin; row < end; ++row) {
      const auto first = static_cast<int64_t>(row * count);
      norm_row(reader.read(first, count), w, b, writer.begin(first, count), count, eps, is_half, &row_mean,
               &row_rstd);
      writer.finish();
      if (mean == nullptr) continue;
      means[row] = row_mean;
      rstds[row] = row_rstd;
    }
  };
  const size_t grain = std::max<size_t>(static_cast<size_t>(kGrain) / 2 / count, 1);
  if (rows <= grain) {
    piece(0, rows);
  } else {
    context.pool().for_each_range(rows, grain, piece);
  }
  if (mean == nullptr) return;
  write_all(means, *mean);
  write_all(rstds, *rstd);
}

void run_any(Context& context, const Tensor& input, std::span<const Size> normalized, const Tensor* weight,
             const Tensor* bias, double eps, Tensor& out, Tensor* mean, Tensor* rstd) {
  size_t count = 1;
  for (const int64_t size : normalized) count *= static_cast<size_t>(size);
  switch (input.dtype()) {
    case DType::kFloat64:
      return run_layer_norm<double>(context, input, count, weight, bias, eps, out, mean, rstd);
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      return run_layer_norm<float>(context, input, count, weight, bias, eps, out, mean, rstd);
    default:
      fail_dtype("LayerNormKernelImpl", input.dtype());
  }
}

void native_layer_norm_kernel(Context& context, const Tensor& input, std::span<const Size> normalized,
                              const Tensor* weight, const Tensor* bias, double eps, Tensor& out, Tensor& mean,
                              Tensor& rstd) {
  run_any(context, input, normalized, weight, bias, eps, out, &mean, &rstd);
}

template <typename N>
Info<N> layer_norm_shape(const Info<N>& input, std::span<const N> normalized, const Info<N>* weight,
                         const Info<N>* bias, double, bool) {
  check_normalized(input, normalized, weight, bias);
  return contiguous<N>(input.dtype, input.sizes, input.device);
}
void layer_norm_kernel(Context& context, const Tensor& input, std::span<const Size> normalized,
                       const Tensor* weight, const Tensor* bias, double eps, bool, Tensor& out) {
  run_any(context, input, normalized, weight, bias, eps, out, nullptr, nullptr);
}
Tensor layer_norm_parts(Context& context, const Tensor& input, std::span<const SymInt> normalized,
                        const Tensor* weight, const Tensor* bias, double eps, bool) {
  return parts::first_of(context, "aten::native_layer_norm", input, normalized, weight, bias, eps);
}

// ---- RMS norm
template <typename N>
Info<N> rms_info(const Info<N>& input, std::span<const N> normalized, const Info<N>* weight) {
  check_normalized<N>(input, normalized, weight, nullptr);
  if (suggested_format(input) == MemoryFormat::kContiguous) {
    return contiguous<N>(input.dtype, input.sizes, input.device);
  }
  return {.dtype = input.dtype,
          .sizes = input.sizes,
          .strides = like_strides(input, MemoryFormat::kPreserve),
          .device = input.device};
}
template <typename N>
Info<N> rms_norm_shape(const Info<N>& input, std::span<const N> normalized, const Info<N>* weight,
                       std::optional<double>) {
  return rms_info(input, normalized, weight);
}
template <typename N>
std::tuple<Info<N>, Info<N>> fused_shape(const Info<N>& input, std::span<const Size> normalized,
                                         const Info<N>* weight, std::optional<double>) {
  ShortList<N> sizes;
  for (const int64_t size : normalized) sizes.push_back(N(size));
  return {rms_info(input, sizes.span(), weight),
          statistics_info(input, normalized.size(), compute_dtype(input.dtype))};
}

void rms_row(const float* x, const float* weight, float* y, size_t count, double eps, float* rstd) {
  static const auto row = FLAMBEAU_PICK(rms_norm_row);
  row(x, weight, y, count, eps, rstd);
}
void rms_row(const double* x, const double* weight, double* y, size_t count, double eps, double* rstd) {
  double squares = 0;
  for (size_t i = 0; i < count; ++i) squares += x[i] * x[i];
  const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + eps);
  *rstd = scale;
  for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale * (weight != nullptr ? weight[i] : 1);
}

template <typename T>
void run_rms(Context& context, const Tensor& input, size_t count, const Tensor* weight,
             std::optional<double> eps, Tensor& out, Tensor* rstd) {
  if (count == 0) return;
  const Tensor packed = input.to_contiguous();
  Tensor result = out.is_contiguous() ? out : context.allocate(out.dtype(), out.sizes());
  const auto rows = static_cast<size_t>(packed.element_count()) / count;
  std::vector<T> weight_copy;
  const T* const w = parameter_rows<T>(weight, weight_copy);
  std::vector<T> rstds(rstd != nullptr ? rows : 0);
  const double small = eps.value_or(static_cast<double>(std::numeric_limits<T>::epsilon()));
  const auto piece = [&](size_t begin, size_t end) {
    RowReader<T> reader(packed);
    RowWriter<T> writer(result);
    T row_rstd = 0;
    for (size_t row = begin; row < end; ++row) {
      const auto first = static_cast<int64_t>(row * count);
      rms_row(reader.read(first, count), w, writer.begin(first, count), count, small, &row_rstd);
      writer.finish();
      if (rstd != nullptr) rstds[row] = row_rstd;
    }
  };
  const size_t grain = std::max<size_t>(static_cast<size_t>(kGrain) / 2 / count, 1);
  if (rows <= grain) {
    piece(0, rows);
  } else {
    context.pool().for_each_range(rows, grain, piece);
  }
  if (!out.is_contiguous()) copy_into(context, result, out);
  if (rstd != nullptr) write_all(rstds, *rstd);
}

void rms_complex(Context& context, const Tensor& input, std::span<const Size> normalized,
                 const Tensor* weight, std::optional<double> eps, Tensor& out, Tensor* rstd) {
  Context inner = context.without_interceptor();
  Dims dims;
  for (size_t i = 0; i < normalized.size(); ++i) dims.push_back(-1 - static_cast<int64_t>(i));
  const double small = eps.value_or(input.dtype() == DType::kComplex128
                                        ? std::numeric_limits<double>::epsilon()
                                        : static_cast<double>(std::numeric_limits<float>::epsilon()));
  const Tensor square =
      call(inner, "aten::mean.dim", call(inner, "aten::pow.Tensor_Scalar", input, 2), dims, true);
  const Tensor scale = call(inner, "aten::rsqrt", call(inner, "aten::add.Scalar", square, small));
  Tensor result = call(inner, "aten::mul.Tensor", input, scale);
  if (weight != nullptr) result = call(inner, "aten::mul.Tensor", result, *weight);
  copy_into(context, result, out);
  if (rstd != nullptr) copy_into(context, scale, *rstd);
}

void rms_any(Context& context, const Tensor& input, std::span<const Size> normalized, const Tensor* weight,
             std::optional<double> eps, Tensor& out, Tensor* rstd) {
  size_t count = 1;
  for (const int64_t size : normalized) count *= static_cast<size_t>(size);
  if (is_complex(input.dtype())) return rms_complex(context, input, normalized, weight, eps, out, rstd);
  if (!is_floating(input.dtype()) || dtype_size(input.dtype()) == 1) fail_dtype("rms_norm", input.dtype());
  if (input.dtype() == DType::kFloat64) {
    run_rms<double>(context, input, count, weight, eps, out, rstd);
  } else {
    run_rms<float>(context, input, count, weight, eps, out, rstd);
  }
}
void rms_norm_kernel(Context& context, const Tensor& input, std::span<const Size> normalized,
                     const Tensor* weight, std::optional<double> eps, Tensor& out) {
  rms_any(context, input, normalized, weight, eps, out, nullptr);
}
void fused_kernel(Context& context, const Tensor& input, std::span<const Size> normalized,
                  const Tensor* weight, std::optional<double> eps, Tensor& out, Tensor& rstd) {
  rms_any(context, input, normalized, weight, eps, out, &rstd);
}

// In other types PyTorch computes in float32 between, which is left out.
std::optional<Tensor> rms_norm_parts(Context& c, const Tensor& input, std::span<const SymInt> normalized,
                                     const Tensor* weight, std::optional<double> eps) {
  if (input.dtype() != DType::kFloat32 && input.dtype() != DType::kFloat64) return std::nullopt;
  Dims dims;
  for (size_t i = 0; i < normalized.size(); ++i) dims.push_back(rank_of(input) - 1 - static_cast<int64_t>(i));
  const double least = input.dtype() == DType::kFloat64
                           ? std::numeric_limits<double>::epsilon()
                           : static_cast<double>(std::numeric_limits<float>::epsilon());
  const Tensor squares = call(c, "aten::pow.Tensor_Scalar", input, 2);
  const Tensor mean = call(c, "aten::mean.dim", squares, dims, true);
  const Tensor scale = call(c, "aten::rsqrt", call(c, "aten::add.Scalar", mean, eps.value_or(least)));
  const Tensor result = parts::mul(c, input, scale);
  return weight == nullptr ? result : parts::mul(c, result, *weight);
}

}  // namespace

void define_layer_norm(Library& library) {
  library
      .define(
          "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
          "float eps) -> (Tensor, Tensor, Tensor)")
      .shape<native_layer_norm_shape<Size>, native_layer_norm_shape<SymInt>>()
      .kernel<native_layer_norm_kernel>();
  library
      .define(
          "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
          "float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor")
      .shape<layer_norm_shape<Size>, layer_norm_shape<SymInt>>()
      .kernel<layer_norm_kernel>()
      .composite<layer_norm_parts>();
  library
      .define(
          "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> "
          "Tensor")
      .shape<rms_norm_shape<Size>, rms_norm_shape<SymInt>>()
      .kernel<rms_norm_kernel>()
      .composite<rms_norm_parts>();
  library
      .define(
          "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> "
          "(Tensor, Tensor)")
      .shape<fused_shape<Size>, fused_shape<SymInt>>()
      .kernel<fused_kernel>();
}

}  // namespace flambeau::ops
