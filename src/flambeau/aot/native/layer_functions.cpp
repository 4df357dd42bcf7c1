// The layers that PyTorch's compiler gives to oneDNN: products and convolutions with what follows them, and
// recurrent layers. Their weights were unpacked when the library was started.
#include <fmt/format.h>

#include "flambeau/aot/native/operator_function.h"

namespace flambeau::aot::native {
namespace {

// What follows a layer, as the compiler names it.
struct Epilogue {
  std::string_view name;
  const double* const* numbers = nullptr;
  int64_t count = 0;
  std::string_view algorithm;

  double number(int64_t index) const {
    if (index >= count || numbers == nullptr || numbers[index] == nullptr)
      throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' lacks a number", printable(name)));
    return *numbers[index];
  }
};

std::string_view text_of(const char* text) { return text == nullptr ? "" : text; }
std::string_view text_at(const char* const* text) { return text == nullptr ? "" : text_of(*text); }

Tensor with_epilogue(const Tensor& x, const Epilogue& epilogue) {
  ops::Context& context = Scope::context();
  if (epilogue.name.empty() || epilogue.name == "none") return x;
  if (epilogue.name == "relu") return ops::call(context, "aten::relu", x);
  if (epilogue.name == "sigmoid") return ops::call(context, "aten::sigmoid", x);
  if (epilogue.name == "tanh") return ops::call(context, "aten::tanh", x);
  if (epilogue.name == "swish") return ops::call(context, "aten::silu", x);
  if (epilogue.name == "hardswish") return ops::call(context, "aten::hardswish", x);
  if (epilogue.name == "hardsigmoid") return ops::call(context, "aten::hardsigmoid", x);
  if (epilogue.name == "leaky_relu") return ops::call(context, "aten::leaky_relu", x, epilogue.number(0));
  if (epilogue.name == "hardtanh")
    return ops::call(context, "aten::hardtanh", x, epilogue.number(0), epilogue.number(1));
  if (epilogue.name == "gelu") {
    return ops::call_with(context, "aten::gelu", {x},
                          {{"approximate", epilogue.algorithm == "tanh" ? "tanh" : "none"}});
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("a layer is followed by '{}'", printable(epilogue.name)));
}

Tensor with_other(const Tensor& x, const Tensor& other, std::string_view how, double alpha) {
  ops::Context& context = Scope::context();
  if (how == "add") return ops::call_with(context, "aten::add.Tensor", {x, other}, {{"alpha", alpha}});
  if (how == "sub") return ops::call_with(context, "aten::sub.Tensor", {x, other}, {{"alpha", alpha}});
  if (how == "mul") return ops::call(context, "aten::mul.Tensor", x, other);
  throw Error(ErrorCode::kUnsupported, fmt::format("a layer is combined by '{}'", printable(how)));
}

Value bias_of(const Handle* bias) { return OptionalIn::value(bias); }

Tensor linear(Handle x, Handle weight, const Handle* bias) {
  return ops::call(Scope::context(), "aten::linear", at(x), at(weight), bias_of(bias));
}

int32_t linear_pointwise(Handle x, Handle weight, const Handle* bias, const char* name,
                         const double* const* numbers, int64_t count, const char* const* algorithm,
                         Handle* made) {
  return guarded("_linear_pointwise", [&] {
    give(made, with_epilogue(linear(x, weight, bias), {text_of(name), numbers, count, text_at(algorithm)}));
  });
}
int32_t linear_pointwise_binary(Handle x, Handle other, Handle weight, const Handle* bias, const char* name,
                                Handle* made) {
  return guarded("_linear_pointwise_binary",
                 [&] { give(made, with_other(linear(x, weight, bias), at(other), text_of(name), 1)); });
}
int32_t mkl_linear(Handle x, Handle /*packed*/, Handle weight, const Handle* bias, int64_t /*batch*/,
                   Handle* made) {
  return guarded("_mkl_linear", [&] { give(made, linear(x, weight, bias)); });
}

Tensor convolution(Handle x, Handle weight, const Handle* bias, const Dims& padding, const Dims& stride,
                   const Dims& dilation, int64_t groups) {
  const Dims none(padding.size(), 0);
  return ops::call(Scope::context(), "aten::convolution", at(x), at(weight), bias_of(bias), stride, padding,
                   dilation, false, none, groups);
}
Dims dims(const int64_t* numbers, int64_t count) {
  return Dims(std::span<const int64_t>(numbers, static_cast<size_t>(count)));
}

int32_t convolution_pointwise(Handle x, Handle weight, const Handle* bias, const int64_t* padding,
                              int64_t paddings, const int64_t* stride, int64_t strides,
                              const int64_t* dilation, int64_t dilations, int64_t groups, const char* name,
                              const double* const* numbers, int64_t count, const char* const* algorithm,
                              Handle* made) {
  return guarded("mkldnn::_convolution_pointwise", [&] {
    const Tensor y = convolution(x, weight, bias, dims(padding, paddings), dims(stride, strides),
                                 dims(dilation, dilations), groups);
    give(made, with_epilogue(y, {text_of(name), numbers, count, text_at(algorithm)}));
  });
}

Tensor convolution_and(Handle x, Handle other, Handle weight, const Handle* bias, const int64_t* padding,
                       int64_t paddings, const int64_t* stride, int64_t strides, const int64_t* dilation,
                       int64_t dilations, int64_t groups, const char* how, const double* alpha,
                       const Epilogue& epilogue) {
  const Tensor y = convolution(x, weight, bias, dims(padding, paddings), dims(stride, strides),
                               dims(dilation, dilations), groups);
  return with_epilogue(with_other(y, at(other), text_of(how), alpha == nullptr ? 1 : *alpha), epilogue);
}
int32_t convolution_pointwise_binary(Handle x, Handle other, Handle weight, const Handle* bias,
                                     const int64_t* padding, int64_t paddings, const int64_t* stride,
                                     int64_t strides, const int64_t* dilation, int64_t dilations,
                                     int64_t groups, const char* how, const double* alpha,
                                     const char* const* name, const double* const* numbers, int64_t count,
                                     const char* const* algorithm, Handle* made) {
  return guarded("mkldnn::_convolution_pointwise.binary", [&] {
    give(made,
         convolution_and(x, other, weight, bias, padding, paddings, stride, strides, dilation, dilations,
                         groups, how, alpha, {text_at(name), numbers, count, text_at(algorithm)}));
  });
}
// Writes the result to `other`, which then is it.
int32_t convolution_pointwise_binary_in_place(Handle other, Handle x, Handle weight, const Handle* bias,
                                              const int64_t* padding, int64_t paddings, const int64_t* stride,
                                              int64_t strides, const int64_t* dilation, int64_t dilations,
                                              int64_t groups, const char* how, const double* alpha,
                                              const char* const* name, const double* const* numbers,
                                              int64_t count, const char* const* algorithm, Handle* made) {
  return guarded("mkldnn::_convolution_pointwise_.binary", [&] {
    const Tensor y =
        convolution_and(x, other, weight, bias, padding, paddings, stride, strides, dilation, dilations,
                        groups, how, alpha, {text_at(name), numbers, count, text_at(algorithm)});
    ops::call(Scope::context(), "aten::copy_", at(other), y);
    give(made, at(other));
  });
}

// One layer in one direction.
int32_t rnn_layer(Handle x, Handle weight0, Handle weight1, Handle weight2, Handle weight3, Handle hidden,
                  Handle cell, int32_t is_reverse, const int64_t* /*batch_sizes*/, int64_t batch_sizes,
                  int64_t mode, int64_t /*hidden_size*/, int64_t /*layers*/, int32_t has_biases,
                  int32_t /*is_bidirectional*/, int32_t is_batch_first, int32_t /*train*/, Handle* output,
                  Handle* last_hidden, Handle* last_cell, Handle* workspace) {
  return guarded("mkldnn_rnn_layer", [&] {
    constexpr int64_t kLstm = 2;
    if (mode != kLstm || batch_sizes != 0)
      throw Error(ErrorCode::kUnsupported, "a recurrent layer is no LSTM over whole sequences");
    ops::Context& context = Scope::context();
    const Dims time = {is_batch_first != 0 ? 1 : 0};
    const auto flipped = [&](const Tensor& it) {
      return is_reverse != 0 ? ops::call(context, "aten::flip", it, time) : it;
    };
    const auto layered = [&](const Tensor& it) {
      return it.dim() == 2 ? ops::call(context, "aten::unsqueeze", it, int64_t{0}) : it;
    };
    TensorList weights = {at(weight0), at(weight1)};
    if (has_biases != 0) weights.insert(weights.end(), {at(weight2), at(weight3)});
    const auto [y, h, c] = ops::call<std::tuple<Tensor, Tensor, Tensor>>(
        context, "aten::lstm.input", flipped(at(x)), TensorList{layered(at(hidden)), layered(at(cell))},
        weights, has_biases != 0, int64_t{1}, 0.0, false, false, is_batch_first != 0);
    give(output, flipped(y));
    give(last_hidden, ops::call(context, "aten::view", h, at(hidden).sizes()));
    give(last_cell, ops::call(context, "aten::view", c, at(cell).sizes()));
    give(workspace, Tensor::zeros(DType::kUInt8, Dims{0}));
  });
}

const Function kLayerFunctions[] = {
    function("aoti_torch_cpu__linear_pointwise", linear_pointwise),
    function("aoti_torch_cpu__linear_pointwise_binary", linear_pointwise_binary),
    function("aoti_torch_cpu__mkl_linear", mkl_linear),
    function("aoti_torch_cpu_mkldnn__convolution_pointwise", convolution_pointwise),
    function("aoti_torch_cpu_mkldnn__convolution_pointwise_binary", convolution_pointwise_binary),
    function("aoti_torch_cpu_mkldnn__convolution_pointwise_binary_", convolution_pointwise_binary_in_place),
    function("aoti_torch_cpu_mkldnn_rnn_layer", rnn_layer),
};

}  // namespace

std::span<const Function> layer_functions() { return kLayerFunctions; }

}  // namespace flambeau::aot::native
