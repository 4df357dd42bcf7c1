#include "flambeau/nn/init.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::nn::init {
namespace {

void run(std::string_view name, const std::vector<Value>& arguments) {
  ops::Context context = current().without_interceptor();
  ops::call_with<std::vector<Value>>(context, name, arguments, {});
}

int64_t fan_of(const Tensor& tensor, FanMode mode) {
  const Fans both = fans(tensor);
  return mode == FanMode::kFanIn ? both.in : both.out;
}

}  // namespace

Tensor empty(std::initializer_list<int64_t> sizes, DType dtype) { return zeros(Dims(sizes), dtype); }
Tensor empty(const Dims& sizes, DType dtype) { return zeros(sizes, dtype); }
Tensor zeros(const Dims& sizes, DType dtype) { return Tensor::zeros(dtype, sizes); }
Tensor ones(const Dims& sizes, DType dtype) {
  Tensor tensor = zeros(sizes, dtype);
  constant_(tensor, 1);
  return tensor;
}

void uniform_(const Tensor& tensor, double from, double to) { run("aten::uniform_", {tensor, from, to}); }
void normal_(const Tensor& tensor, double mean, double std) { run("aten::normal_", {tensor, mean, std}); }
void constant_(const Tensor& tensor, double value) { run("aten::fill_.Scalar", {tensor, value}); }

void trunc_normal_(const Tensor& tensor, double mean, double std, double a, double b) {
  const auto cdf = [](double x) { return (1.0 + std::erf(x / std::sqrt(2.0))) / 2.0; };
  const double low = cdf((a - mean) / std);
  const double high = cdf((b - mean) / std);
  uniform_(tensor, 2 * low - 1, 2 * high - 1);
  run("aten::erfinv_", {tensor});
  run("aten::mul_.Tensor", {tensor, std * std::sqrt(2.0)});
  run("aten::add_.Tensor", {tensor, mean});
  run("aten::clamp_", {tensor, a, b});
}

Fans fans(const Tensor& tensor) {
  if (tensor.dim() < 2) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a {} has no fan in and fan out: it takes two dimensions or more", tensor.summary()));
  }
  int64_t field = 1;
  for (size_t d = 2; d < tensor.dim(); ++d) field *= tensor.sizes()[d];
  return {tensor.sizes()[1] * field, tensor.sizes()[0] * field};
}

double calculate_gain(std::string_view nonlinearity, double param) {
  if (nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity.starts_with("conv")) return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + param * param));
  if (nonlinearity == "selu") return 3.0 / 4;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("no gain is known for '{}'", printable(nonlinearity)),
              "take linear, conv1d to conv3d, sigmoid, tanh, relu, leaky_relu or selu");
}

// The order of the operations is PyTorch's: the bounds must be the same to the last bit.
void kaiming_uniform_(const Tensor& tensor, double a, FanMode mode, std::string_view nonlinearity) {
  const double std = calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan_of(tensor, mode)));
  const double bound = std::sqrt(3.0) * std;
  uniform_(tensor, -bound, bound);
}

void kaiming_normal_(const Tensor& tensor, double a, FanMode mode, std::string_view nonlinearity) {
  normal_(tensor, 0, calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan_of(tensor, mode))));
}

void xavier_uniform_(const Tensor& tensor, double gain) {
  const Fans both = fans(tensor);
  const double std = gain * std::sqrt(2.0 / static_cast<double>(both.in + both.out));
  const double bound = std::sqrt(3.0) * std;
  uniform_(tensor, -bound, bound);
}

void xavier_normal_(const Tensor& tensor, double gain) {
  const Fans both = fans(tensor);
  normal_(tensor, 0, gain * std::sqrt(2.0 / static_cast<double>(both.in + both.out)));
}

void reset_affine(const Tensor& weight, const Tensor& bias) {
  const int64_t fan_in = fans(weight).in;
  if (fan_in > 0) kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  uniform_(bias, -bound, bound);
}

}  // namespace flambeau::nn::init
