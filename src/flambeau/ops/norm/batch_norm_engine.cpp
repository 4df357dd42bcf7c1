#include <algorithm>
#include <cmath>

#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/norm/batch_norm.h"
#include "flambeau/ops/norm/channel_rows.h"
#include "flambeau/ops/norm/row_access.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

// A dense tensor as rows: of one channel each (row-major), or of all channels (channels last).
struct RowPlan {
  int64_t rows;
  int64_t length;
  int64_t channels;
  bool is_columns;
};

RowPlan plan_of(const Tensor& tensor) {
  const int64_t channels = tensor.sizes()[1];
  const int64_t count = tensor.element_count();
  const int64_t space = count / (tensor.sizes()[0] * channels);
  if (space == 1 || !tensor.is_contiguous()) return {count / channels, channels, channels, true};
  return {count / space, space, channels, false};
}

template <typename Body>
void for_rows(Context& context, const RowPlan& plan, Body&& body) {
  const int64_t grain = std::max<int64_t>(kGrain / plan.length, 1);
  if (plan.rows <= grain) {
    body(int64_t{0}, plan.rows);
    return;
  }
  context.pool().for_each_range(
      static_cast<size_t>(plan.rows), static_cast<size_t>(grain),
      [&](size_t begin, size_t end) { body(static_cast<int64_t>(begin), static_cast<int64_t>(end)); });
}

void add(Moments& a, const Moments& b) {
  if (b.count == 0) return;
  const double count = a.count + b.count;
  const double delta = b.mean - a.mean;
  a.mean += delta * b.count / count;
  a.squares += b.squares + delta * delta * a.count * b.count / count;
  a.count = count;
}

template <typename T>
std::vector<Moments> channel_moments(Context& context, const Tensor& input, const RowPlan& plan) {
  std::vector<Moments> moments(static_cast<size_t>(plan.channels));
  if (!plan.is_columns) {
    const int64_t batch = plan.rows / plan.channels;
    context.pool().for_each_range(moments.size(), 1, [&](size_t begin, size_t end) {
      RowReader<T> reader(input);
      for (size_t c = begin; c < end; ++c) {
        for (int64_t n = 0; n < batch; ++n) {
          const int64_t row = n * plan.channels + static_cast<int64_t>(c);
          add(moments[c], moments_of(reader.read(row * plan.length, static_cast<size_t>(plan.length)),
                                     static_cast<size_t>(plan.length)));
        }
      }
    });
    return moments;
  }
  RowReader<T> reader(input);
  for (int64_t row = 0; row < plan.rows; ++row) {
    const T* const x = reader.read(row * plan.length, static_cast<size_t>(plan.length));
    for (size_t c = 0; c < moments.size(); ++c) moments[c].mean += static_cast<double>(x[c]);
  }
  for (Moments& moment : moments) {
    moment.count = static_cast<double>(plan.rows);
    moment.mean /= moment.count;
  }
  for (int64_t row = 0; row < plan.rows; ++row) {
    const T* const x = reader.read(row * plan.length, static_cast<size_t>(plan.length));
    for (size_t c = 0; c < moments.size(); ++c) {
      const double d = static_cast<double>(x[c]) - moments[c].mean;
      moments[c].squares += d * d;
    }
  }
  return moments;
}

void scale_each(const float* x, const float* scale, const float* shift, float* y, size_t count) {
  static const auto row = FLAMBEAU_PICK(scale_columns);
  row(x, scale, shift, y, count);
}
void scale_each(const double* x, const double* scale, const double* shift, double* y, size_t count) {
  for (size_t i = 0; i < count; ++i) y[i] = x[i] * scale[i] + shift[i];
}

// A number as a tensor of that type keeps it.
double rounded(DType dtype, double x) {
  if (dtype == DType::kFloat64) return x;
  const auto single = static_cast<float>(x);
  if (dtype == DType::kFloat16) return static_cast<double>(Float16::from_float(single).to_float());
  if (dtype == DType::kBFloat16) return static_cast<double>(BFloat16::from_float(single).to_float());
  return static_cast<double>(single);
}

// The type of the statistics: that of the input, or float where other arguments are not of its type.
DType statistics_dtype(const Tensor& input, const BatchNorm& norm) {
  for (const Tensor* const tensor : {norm.weight, norm.bias, norm.running_mean, norm.running_var}) {
    if (tensor != nullptr && tensor->dtype() != input.dtype()) return DType::kFloat32;
  }
  return input.dtype();
}

// Where something does not lie evenly, PyTorch computes step by step, and half precision is rounded at each.
bool takes_steps(const Tensor& input, const BatchNorm& norm) {
  if (dtype_size(statistics_dtype(input, norm)) != 2) return false;
  const Info<Size> info = info_of(input);
  if (!is_contiguous(info) && !is_channels_last(info)) return true;
  for (const Tensor* const tensor : {norm.weight, norm.bias, norm.running_mean, norm.running_var}) {
    if (tensor != nullptr && !tensor->is_contiguous()) return true;
  }
  return false;
}

// Where PyTorch rounds half-precision statistics, and how.
struct Rounding {
  DType dtype;    // of the statistics
  bool is_even;   // the input lies densely
  bool in_steps;  // see takes_steps
  // bfloat16 keeps even what is between two steps in its own precision.
  double between(double x) const { return is_even && dtype == DType::kBFloat16 ? rounded(dtype, x) : x; }
};

void update(const Tensor* running, double momentum, const Rounding& rounding,
            const std::vector<double>& found) {
  if (running == nullptr) return;
  const std::vector<double> old = read_all<double>(running);
  const double factor = rounding.between(momentum);
  const double rest = rounding.between(1 - factor);
  for (size_t c = 0; c < old.size(); ++c) {
    const double value = rounding.between(factor * found[c]) + rounding.between(rest * old[c]);
    store_packed(
        DType::kFloat64, &value, 1, running->dtype(),
        running->mutable_data() + static_cast<int64_t>(c * running->element_size()) * running->strides()[0],
        0);
  }
}

// The means and inverse deviations of the batch; updates the running ones.
template <typename T>
void measure(Context& context, const Tensor& input, const BatchNorm& norm, const RowPlan& plan,
             const Rounding& rounding, std::vector<double>& mean, std::vector<double>& rstd) {
  const std::vector<Moments> moments = channel_moments<T>(context, input, plan);
  std::vector<double> unbiased(mean.size());
  for (size_t c = 0; c < mean.size(); ++c) {
    const double count = moments[c].count;
    mean[c] = rounding.is_even ? rounding.between(moments[c].mean) : rounded(rounding.dtype, moments[c].mean);
    double squares = moments[c].squares;
    if (!rounding.is_even) squares += count * (moments[c].mean - mean[c]) * (moments[c].mean - mean[c]);
    squares = rounding.between(squares);
    const double variance = rounding.between(squares / count);
    rstd[c] = variance == 0 && norm.eps == 0 ? 0 : 1 / std::sqrt(variance + norm.eps);
    unbiased[c] = rounding.between(squares / (count - 1));
  }
  update(norm.running_mean, norm.momentum, rounding, mean);
  update(norm.running_var, norm.momentum, rounding, unbiased);
}

template <typename T>
void run(Context& context, const Tensor& input, const BatchNorm& norm, const Rounding& rounding,
         const Tensor& out, const Tensor* save_mean, const Tensor* save_rstd) {
  const DType dtype = rounding.dtype;
  const bool in_steps = rounding.in_steps;
  const RowPlan plan = plan_of(out);
  const auto channels = static_cast<size_t>(plan.channels);
  std::vector<double> mean(channels);
  std::vector<double> rstd(channels);
  if (norm.training) {
    measure<T>(context, input, norm, plan, rounding, mean, rstd);
    if (save_mean != nullptr) write_all(mean, *save_mean);
    if (save_rstd != nullptr) write_all(rstd, *save_rstd);
    for (double& value : mean) value = rounded(dtype, value);
    for (double& value : rstd) value = rounded(dtype, value);
  } else {
    mean = read_all<double>(norm.running_mean);
    rstd = read_all<double>(norm.running_var);
    for (double& value : rstd) {
      value = in_steps ? rounded(dtype, 1 / rounded(dtype, std::sqrt(rounded(dtype, value + norm.eps))))
                       : 1 / std::sqrt(value + norm.eps);
    }
  }
  const std::vector<double> weight = read_all<double>(norm.weight);
  const std::vector<double> bias = read_all<double>(norm.bias);
  if (in_steps) {
    const auto length = static_cast<size_t>(plan.length);
    RowReader<T> reader(input);
    RowWriter<T> writer(out);
    for (int64_t row = 0; row < plan.rows; ++row) {
      const T* const x = reader.read(row * plan.length, length);
      T* const y = writer.begin(row * plan.length, length);
      for (size_t i = 0; i < length; ++i) {
        const size_t c = plan.is_columns ? i : static_cast<size_t>(row % plan.channels);
        double value = rounded(dtype, rounded(dtype, static_cast<double>(x[i]) - mean[c]) * rstd[c]);
        if (!weight.empty()) value = rounded(dtype, value * weight[c]);
        y[i] = static_cast<T>(bias.empty() ? value : value + bias[c]);
      }
      writer.finish();
    }
    return;
  }
  std::vector<T> scale(channels);
  std::vector<T> shift(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double factor = weight.empty() ? rstd[c] : rstd[c] * weight[c];
    scale[c] = static_cast<T>(factor);
    shift[c] = static_cast<T>((bias.empty() ? 0 : bias[c]) - mean[c] * factor);
  }
  for_rows(context, plan, [&](int64_t begin, int64_t end) {
    RowReader<T> reader(input);
    RowWriter<T> writer(out);
    const auto length = static_cast<size_t>(plan.length);
    for (int64_t row = begin; row < end; ++row) {
      const T* const x = reader.read(row * plan.length, length);
      T* const y = writer.begin(row * plan.length, length);
      if (plan.is_columns) {
        scale_each(x, scale.data(), shift.data(), y, length);
      } else {
        const auto c = static_cast<size_t>(row % plan.channels);
        scale_one(x, scale[c], shift[c], y, length);
      }
      writer.finish();
    }
  });
}

}  // namespace

void run_batch_norm(Context& context, const Tensor& input, const BatchNorm& norm, const Tensor& out,
                    const Tensor* save_mean, const Tensor* save_rstd) {
  const Info<Size> info = info_of(input);
  const Rounding rounding{statistics_dtype(input, norm), is_contiguous(info) || is_channels_last(info),
                          takes_steps(input, norm)};
  Tensor same = input;
  if (!(input.strides() == out.strides()) && !(input.is_contiguous() && out.is_contiguous())) {
    Info<Size> laid = info_of(out);
    laid.offset = 0;
    same = context.allocate(laid);
    copy_into(context, input, same);
  }
  switch (input.dtype()) {
    case DType::kFloat64:
      return run<double>(context, same, norm, rounding, out, save_mean, save_rstd);
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      return run<float>(context, same, norm, rounding, out, save_mean, save_rstd);
    default:
      fail_dtype("batch_norm", input.dtype());
  }
}

}  // namespace flambeau::ops
