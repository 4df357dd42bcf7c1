// Activation functions: torch.nn.modules.activation.
#pragma once

#include <optional>
#include <string>

#include "flambeau/nn/functional/call.h"
#include "flambeau/nn/layer.h"

namespace flambeau::nn {

class ReLU : public Layer<ReLU> {
 public:
  explicit ReLU(bool inplace = false) : inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.ReLU"; }

 private:
  bool inplace_;
};

class ReLU6 : public Layer<ReLU6> {
 public:
  explicit ReLU6(bool inplace = false) : inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.ReLU6"; }

 private:
  bool inplace_;
};

class SELU : public Layer<SELU> {
 public:
  explicit SELU(bool inplace = false) : inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.SELU"; }

 private:
  bool inplace_;
};

class SiLU : public Layer<SiLU> {
 public:
  explicit SiLU(bool inplace = false) : inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.SiLU"; }

 private:
  bool inplace_;
};

class Mish : public Layer<Mish> {
 public:
  explicit Mish(bool inplace = false) : inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Mish"; }

 private:
  bool inplace_;
};

class Hardswish : public Layer<Hardswish> {
 public:
  explicit Hardswish(bool inplace = false) : inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Hardswish"; }

 private:
  bool inplace_;
};

class Hardsigmoid : public Layer<Hardsigmoid> {
 public:
  explicit Hardsigmoid(bool inplace = false) : inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Hardsigmoid"; }

 private:
  bool inplace_;
};

class ELU : public Layer<ELU> {
 public:
  explicit ELU(const Number& alpha = 1.0, bool inplace = false) : alpha_(alpha), inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.ELU"; }

 private:
  Number alpha_;
  bool inplace_;
};

class CELU : public Layer<CELU> {
 public:
  explicit CELU(const Number& alpha = 1.0, bool inplace = false) : alpha_(alpha), inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.CELU"; }

 private:
  Number alpha_;
  bool inplace_;
};

class LeakyReLU : public Layer<LeakyReLU> {
 public:
  explicit LeakyReLU(const Number& negative_slope = 0.01, bool inplace = false)
      : negative_slope_(negative_slope), inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.LeakyReLU"; }

 private:
  Number negative_slope_;
  bool inplace_;
};

class Hardtanh : public Layer<Hardtanh> {
 public:
  explicit Hardtanh(const Number& min_val = -1.0, const Number& max_val = 1.0, bool inplace = false)
      : min_val_(min_val), max_val_(max_val), inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Hardtanh"; }

 private:
  Number min_val_;
  Number max_val_;
  bool inplace_;
};

class Threshold : public Layer<Threshold> {
 public:
  explicit Threshold(const Number& threshold, const Number& value, bool inplace = false)
      : threshold_(threshold), value_(value), inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Threshold"; }

 private:
  Number threshold_;
  Number value_;
  bool inplace_;
};

class RReLU : public Layer<RReLU> {
 public:
  explicit RReLU(const Number& lower = 1.0 / 8, const Number& upper = 1.0 / 3, bool inplace = false)
      : lower_(lower), upper_(upper), inplace_(inplace) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.RReLU"; }

 private:
  Number lower_;
  Number upper_;
  bool inplace_;
};

class GELU : public Layer<GELU> {
 public:
  explicit GELU(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.GELU"; }

 private:
  std::string approximate_;
};

class Sigmoid : public Layer<Sigmoid> {
 public:
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Sigmoid"; }
};

class Tanh : public Layer<Tanh> {
 public:
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Tanh"; }
};

class LogSigmoid : public Layer<LogSigmoid> {
 public:
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.LogSigmoid"; }
};

class Softsign : public Layer<Softsign> {
 public:
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Softsign"; }
};

class Tanhshrink : public Layer<Tanhshrink> {
 public:
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Tanhshrink"; }
};

class Softplus : public Layer<Softplus> {
 public:
  explicit Softplus(const Number& beta = 1.0, const Number& threshold = 20.0)
      : beta_(beta), threshold_(threshold) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Softplus"; }

 private:
  Number beta_;
  Number threshold_;
};

class Softshrink : public Layer<Softshrink> {
 public:
  explicit Softshrink(const Number& lambd = 0.5) : lambd_(lambd) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Softshrink"; }

 private:
  Number lambd_;
};

class Hardshrink : public Layer<Hardshrink> {
 public:
  explicit Hardshrink(const Number& lambd = 0.5) : lambd_(lambd) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Hardshrink"; }

 private:
  Number lambd_;
};

class GLU : public Layer<GLU> {
 public:
  explicit GLU(int64_t dim = -1) : dim_(dim) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.GLU"; }

 private:
  int64_t dim_;
};

class Softmax : public Layer<Softmax> {
 public:
  explicit Softmax(int64_t dim) : dim_(dim) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Softmax"; }

 private:
  int64_t dim_;
};

class LogSoftmax : public Layer<LogSoftmax> {
 public:
  explicit LogSoftmax(int64_t dim) : dim_(dim) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.LogSoftmax"; }

 private:
  int64_t dim_;
};

class Softmin : public Layer<Softmin> {
 public:
  explicit Softmin(int64_t dim) : dim_(dim) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Softmin"; }

 private:
  int64_t dim_;
};

// Over the channels of [N, C, H, W] or [C, H, W].
class Softmax2d : public Layer<Softmax2d> {
 public:
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.Softmax2d"; }
};

class PReLU : public Layer<PReLU> {
 public:
  explicit PReLU(int64_t num_parameters = 1, double init = 0.25);
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.activation.PReLU"; }

  Tensor weight;
};

}  // namespace flambeau::nn
