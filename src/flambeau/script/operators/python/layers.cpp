#include "flambeau/script/operators/python/layers.h"

#include <algorithm>
#include <array>

namespace flambeau::script {

namespace {

using Source = LayerSource;
using Arguments = std::span<const LayerArgument>;

constexpr LayerArgument kInPlace{"inplace", Source::kInPlace, "", 0, "False"};
constexpr LayerArgument kBias{"bias", Source::kHas, "bias", 0, "True"};

constexpr LayerArgument kLinear[] = {
    {"in_features", Source::kSize, "weight", 1}, {"out_features", Source::kSize, "weight", 0}, kBias};
constexpr LayerArgument kConvolution[] = {
    {"in_channels", Source::kChannels, "weight", 1},
    {"out_channels", Source::kSize, "weight", 0},
    {"kernel_size", Source::kKernel, "weight"},
    {"stride", Source::kSizes, "stride", 0, "1"},
    {"padding", Source::kSizes, "padding", 0, "0"},
    {"dilation", Source::kSizes, "dilation", 0, "1"},
    {"groups", Source::kInput, "groups", 0, "1"},
    kBias,
    {"transposed", Source::kRequired, "transposed", 0, "False"},
};
constexpr LayerArgument kTransposed[] = {
    {"in_channels", Source::kSize, "weight", 0},
    {"out_channels", Source::kChannels, "weight", 1},
    {"kernel_size", Source::kKernel, "weight"},
    {"stride", Source::kSizes, "stride", 0, "1"},
    {"padding", Source::kSizes, "padding", 0, "0"},
    {"output_padding", Source::kSizes, "output_padding", 0, "0"},
    {"groups", Source::kInput, "groups", 0, "1"},
    kBias,
    {"dilation", Source::kSizes, "dilation", 0, "1"},
    {"transposed", Source::kRequired, "transposed", 0, "True"},
};
constexpr LayerArgument kBatchNorm[] = {
    {"num_features", Source::kSize, "running_mean|weight", 0},
    {"eps", Source::kInput, "eps", 0, "1e-05"},
    {"momentum", Source::kInput, "momentum", 0, "0.1"},
    {"affine", Source::kHas, "weight", 0, "True"},
    {"track_running_stats", Source::kHas, "running_mean", 0, "True"},
};
constexpr LayerArgument kInstanceNorm[] = {
    {"num_features", Source::kConstant, "num_features"},
    {"eps", Source::kInput, "eps", 0, "1e-05"},
    {"momentum", Source::kInput, "momentum", 0, "0.1"},
    {"affine", Source::kHas, "weight", 0, "False"},
    {"track_running_stats", Source::kHas, "running_mean", 0, "False"},
};
constexpr LayerArgument kLayerNorm[] = {
    {"normalized_shape", Source::kInput, "normalized_shape"},
    {"eps", Source::kInput, "eps", 0, "1e-05"},
    {"elementwise_affine", Source::kHas, "weight", 0, "True"},
    {"bias", Source::kHasBeside, "bias", 0, "True"},
};
constexpr LayerArgument kGroupNorm[] = {
    {"num_groups", Source::kInput, "num_groups"},
    {"num_channels", Source::kSize, "weight|num_channels", 0},
    {"eps", Source::kInput, "eps", 0, "1e-05"},
    {"affine", Source::kHas, "weight", 0, "True"},
};
constexpr LayerArgument kEmbedding[] = {
    {"num_embeddings", Source::kSize, "weight", 0},
    {"embedding_dim", Source::kSize, "weight", 1},
    {"padding_idx", Source::kInput, "padding_idx", 0, "-1"},
    {"scale_grad_by_freq", Source::kInput, "scale_grad_by_freq", 0, "False"},
    {"sparse", Source::kInput, "sparse", 0, "False"},
};
constexpr LayerArgument kDropout[] = {{"p", Source::kInput, "p", 0, "0.5"}, kInPlace};
constexpr LayerArgument kInPlaceOnly[] = {kInPlace};
constexpr LayerArgument kRelu6[] = {kInPlace,
                                    {"min_val", Source::kRequired, "min_val", 0, "0|0.0"},
                                    {"max_val", Source::kRequired, "max_val", 0, "6|6.0"}};
constexpr LayerArgument kAlpha[] = {{"alpha", Source::kInput, "alpha", 0, "1|1.0"},
                                    kInPlace,
                                    {"scale", Source::kRequired, "scale", 0, "1|1.0"},
                                    {"input_scale", Source::kRequired, "input_scale", 0, "1|1.0"}};
constexpr LayerArgument kLeaky[] = {{"negative_slope", Source::kInput, "negative_slope", 0, "0.01"},
                                    kInPlace};
constexpr LayerArgument kGelu[] = {{"approximate", Source::kInput, "approximate", 0, "\"none\""}};
constexpr LayerArgument kSoftplus[] = {{"beta", Source::kInput, "beta", 0, "1|1.0"},
                                       {"threshold", Source::kInput, "threshold", 0, "20|20.0"}};
constexpr LayerArgument kDimension[] = {{"dim", Source::kInput, "dim", 0, "None"},
                                        {"dtype", Source::kRequired, "dtype", 0, "None"}};
constexpr LayerArgument kGlu[] = {{"dim", Source::kInput, "dim", 0, "-1"}};
constexpr LayerArgument kHardtanh[] = {{"min_val", Source::kInput, "min_val", 0, "-1|-1.0"},
                                       {"max_val", Source::kInput, "max_val", 0, "1|1.0"},
                                       kInPlace};
constexpr LayerArgument kShrink[] = {{"lambd", Source::kInput, "lambd", 0, "0.5"}};
constexpr LayerArgument kThreshold[] = {
    {"threshold", Source::kInput, "threshold"}, {"value", Source::kInput, "value"}, kInPlace};
constexpr LayerArgument kPrelu[] = {{"num_parameters", Source::kSize, "weight", 0, "1"}};
constexpr LayerArgument kMaxPool[] = {
    {"kernel_size", Source::kSizes, "kernel_size"},         {"stride", Source::kStride, "stride", 0, "None"},
    {"padding", Source::kSizes, "padding", 0, "0"},         {"dilation", Source::kSizes, "dilation", 0, "1"},
    {"ceil_mode", Source::kInput, "ceil_mode", 0, "False"},
};
constexpr LayerArgument kAvgPool[] = {
    {"kernel_size", Source::kSizes, "kernel_size"},
    {"stride", Source::kStride, "stride", 0, "None"},
    {"padding", Source::kSizes, "padding", 0, "0"},
    {"ceil_mode", Source::kInput, "ceil_mode", 0, "False"},
    {"count_include_pad", Source::kInput, "count_include_pad", 0, "True"},
    {"divisor_override", Source::kRequired, "divisor_override", 0, "None"},
};
constexpr LayerArgument kAdaptivePool[] = {{"output_size", Source::kSizes, "output_size"}};
constexpr LayerArgument kFlatten[] = {{"start_dim", Source::kInput, "start_dim", 0, "1"},
                                      {"end_dim", Source::kInput, "end_dim", 0, "-1"}};
constexpr LayerArgument kShuffle[] = {{"upscale_factor", Source::kInput, "upscale_factor"}};
constexpr LayerArgument kUnshuffle[] = {{"downscale_factor", Source::kInput, "downscale_factor"}};
constexpr LayerArgument kConstantPad[] = {{"padding", Source::kInput, "pad"},
                                          {"value", Source::kInput, "value"}};
constexpr LayerArgument kPad[] = {{"padding", Source::kInput, "pad|padding"}};
constexpr LayerArgument kRecurrent[] = {
    {"input_size", Source::kSize, "weight_ih_l0", 1},
    {"hidden_size", Source::kConstant, "hidden_size"},
    {"num_layers", Source::kInput, "num_layers", 0, "1"},
    {"bias", Source::kHas, "bias_ih_l0", 0, "True"},
    {"batch_first", Source::kInput, "batch_first", 0, "False"},
    {"dropout", Source::kConstant, "dropout", 0, "0.0"},
    {"bidirectional", Source::kInput, "bidirectional", 0, "False"},
    {"proj_size", Source::kConstant, "proj_size", 0, "0"},
};
constexpr LayerArgument kRnn[] = {
    {"input_size", Source::kSize, "weight_ih_l0", 1},
    {"hidden_size", Source::kSize, "weight_hh_l0", 1},
    {"num_layers", Source::kInput, "num_layers", 0, "1"},
    {"bias", Source::kHas, "bias_ih_l0", 0, "True"},
    {"batch_first", Source::kInput, "batch_first", 0, "False"},
    {"dropout", Source::kConstant, "dropout", 0, "0.0"},
    {"bidirectional", Source::kInput, "bidirectional", 0, "False"},
};
constexpr LayerArgument kAttention[] = {
    {"embed_dim", Source::kConstant, "embed_dim"},
    {"num_heads", Source::kConstant, "num_heads"},
    {"dropout", Source::kConstant, "dropout", 0, "0.0"},
    {"bias", Source::kHas, "in_proj_bias", 0, "True"},
    {"add_bias_kv", Source::kHas, "bias_k", 0, "False"},
    {"add_zero_attn", Source::kConstant, "add_zero_attn", 0, "False"},
    {"batch_first", Source::kConstant, "batch_first", 0, "False"},
};

constexpr std::string_view kOneTensor = "Tensor";
constexpr std::string_view kNormTensors = "weight bias running_mean running_var num_batches_tracked";

constexpr auto kLayers = std::to_array<LayerFact>({
    {"linear.Identity", "", "", "", kOneTensor, Arguments()},
    {"linear.Linear", "aten::linear", "", "weight bias", kOneTensor, kLinear},
    {"conv.Conv1d", "aten::conv1d aten::_convolution", "", "weight bias", kOneTensor, kConvolution},
    {"conv.Conv2d", "aten::conv2d aten::_convolution", "", "weight bias", kOneTensor, kConvolution},
    {"conv.Conv3d", "aten::conv3d aten::_convolution", "", "weight bias", kOneTensor, kConvolution},
    {"conv.ConvTranspose1d", "aten::conv_transpose1d aten::_convolution", "", "weight bias", kOneTensor,
     kTransposed},
    {"conv.ConvTranspose2d", "aten::conv_transpose2d aten::_convolution", "", "weight bias", kOneTensor,
     kTransposed},
    {"conv.ConvTranspose3d", "aten::conv_transpose3d aten::_convolution", "", "weight bias", kOneTensor,
     kTransposed},
    {"batchnorm.BatchNorm1d", "aten::batch_norm", "aten::add aten::add_", kNormTensors, kOneTensor,
     kBatchNorm},
    {"batchnorm.BatchNorm2d", "aten::batch_norm", "aten::add aten::add_", kNormTensors, kOneTensor,
     kBatchNorm},
    {"batchnorm.BatchNorm3d", "aten::batch_norm", "aten::add aten::add_", kNormTensors, kOneTensor,
     kBatchNorm},
    {"instancenorm.InstanceNorm1d", "aten::instance_norm", "", kNormTensors, kOneTensor, kInstanceNorm},
    {"instancenorm.InstanceNorm2d", "aten::instance_norm", "", kNormTensors, kOneTensor, kInstanceNorm},
    {"instancenorm.InstanceNorm3d", "aten::instance_norm", "", kNormTensors, kOneTensor, kInstanceNorm},
    {"normalization.LayerNorm", "aten::layer_norm", "", "weight bias", kOneTensor, kLayerNorm},
    {"normalization.GroupNorm", "aten::group_norm", "", "weight bias", kOneTensor, kGroupNorm},
    {"sparse.Embedding", "aten::embedding", "", "weight", kOneTensor, kEmbedding},
    {"dropout.Dropout", "aten::dropout aten::dropout_", "", "", kOneTensor, kDropout},
    {"dropout.Dropout1d", "aten::feature_dropout aten::feature_dropout_", "", "", kOneTensor, kDropout},
    {"dropout.Dropout2d", "aten::feature_dropout aten::feature_dropout_", "", "", kOneTensor, kDropout},
    {"dropout.Dropout3d", "aten::feature_dropout aten::feature_dropout_", "", "", kOneTensor, kDropout},
    {"dropout.AlphaDropout", "aten::alpha_dropout aten::alpha_dropout_", "", "", kOneTensor, kDropout},
    {"activation.ReLU", "aten::relu aten::relu_", "", "", kOneTensor, kInPlaceOnly},
    {"activation.ReLU6", "aten::relu6 aten::relu6_ aten::hardtanh aten::hardtanh_", "", "", kOneTensor,
     kRelu6},
    {"activation.Sigmoid", "aten::sigmoid", "", "", kOneTensor, Arguments()},
    {"activation.Tanh", "aten::tanh", "", "", kOneTensor, Arguments()},
    {"activation.SiLU", "aten::silu aten::silu_", "", "", kOneTensor, kInPlaceOnly},
    {"activation.Mish", "aten::mish aten::mish_", "", "", kOneTensor, kInPlaceOnly},
    {"activation.Hardswish", "aten::hardswish aten::hardswish_", "", "", kOneTensor, kInPlaceOnly},
    {"activation.Hardsigmoid", "aten::hardsigmoid aten::hardsigmoid_", "", "", kOneTensor, kInPlaceOnly},
    {"activation.SELU", "aten::selu aten::selu_", "", "", kOneTensor, kInPlaceOnly},
    {"activation.ELU", "aten::elu aten::elu_", "", "", kOneTensor, kAlpha},
    {"activation.CELU", "aten::celu aten::celu_", "", "", kOneTensor, kAlpha},
    {"activation.LeakyReLU", "aten::leaky_relu aten::leaky_relu_", "", "", kOneTensor, kLeaky},
    {"activation.GELU", "aten::gelu", "", "", kOneTensor, kGelu},
    {"activation.Softplus", "aten::softplus", "", "", kOneTensor, kSoftplus},
    {"activation.Softmax", "aten::softmax", "", "", kOneTensor, kDimension},
    {"activation.LogSoftmax", "aten::log_softmax", "", "", kOneTensor, kDimension},
    {"activation.LogSigmoid", "aten::log_sigmoid", "", "", kOneTensor, Arguments()},
    {"activation.Softsign", "aten::div", "aten::add aten::abs", "", kOneTensor, Arguments()},
    {"activation.Tanhshrink", "aten::sub", "aten::tanh", "", kOneTensor, Arguments()},
    {"activation.GLU", "aten::glu", "", "", kOneTensor, kGlu},
    {"activation.Hardtanh", "aten::hardtanh aten::hardtanh_", "", "", kOneTensor, kHardtanh},
    {"activation.Hardshrink", "aten::hardshrink", "", "", kOneTensor, kShrink},
    {"activation.Softshrink", "aten::softshrink", "", "", kOneTensor, kShrink},
    {"activation.Threshold", "aten::threshold aten::threshold_", "", "", kOneTensor, kThreshold},
    {"activation.PReLU", "aten::prelu", "", "weight", kOneTensor, kPrelu},
    {"pooling.MaxPool1d", "aten::max_pool1d", "", "", kOneTensor, kMaxPool},
    {"pooling.MaxPool2d", "aten::max_pool2d", "", "", kOneTensor, kMaxPool},
    {"pooling.MaxPool3d", "aten::max_pool3d", "", "", kOneTensor, kMaxPool},
    {"pooling.AvgPool1d", "aten::avg_pool1d", "", "", kOneTensor, kAvgPool},
    {"pooling.AvgPool2d", "aten::avg_pool2d", "", "", kOneTensor, kAvgPool},
    {"pooling.AvgPool3d", "aten::avg_pool3d", "", "", kOneTensor, kAvgPool},
    {"pooling.AdaptiveAvgPool1d", "aten::adaptive_avg_pool1d", "", "", kOneTensor, kAdaptivePool},
    {"pooling.AdaptiveAvgPool2d", "aten::adaptive_avg_pool2d", "", "", kOneTensor, kAdaptivePool},
    {"pooling.AdaptiveAvgPool3d", "aten::adaptive_avg_pool3d", "", "", kOneTensor, kAdaptivePool},
    {"pooling.AdaptiveMaxPool1d", "aten::adaptive_max_pool1d", "", "", kOneTensor, kAdaptivePool},
    {"pooling.AdaptiveMaxPool2d", "aten::adaptive_max_pool2d", "", "", kOneTensor, kAdaptivePool},
    {"pooling.AdaptiveMaxPool3d", "aten::adaptive_max_pool3d", "", "", kOneTensor, kAdaptivePool},
    {"flatten.Flatten", "aten::flatten", "", "", kOneTensor, kFlatten},
    {"pixelshuffle.PixelShuffle", "aten::pixel_shuffle", "", "", kOneTensor, kShuffle},
    {"pixelshuffle.PixelUnshuffle", "aten::pixel_unshuffle", "", "", kOneTensor, kUnshuffle},
    {"padding.ConstantPad1d", "aten::pad aten::constant_pad_nd", "", "", kOneTensor, kConstantPad},
    {"padding.ConstantPad2d", "aten::pad aten::constant_pad_nd", "", "", kOneTensor, kConstantPad},
    {"padding.ConstantPad3d", "aten::pad aten::constant_pad_nd", "", "", kOneTensor, kConstantPad},
    {"padding.ReflectionPad1d", "aten::pad aten::reflection_pad1d", "", "", kOneTensor, kPad},
    {"padding.ReflectionPad2d", "aten::pad aten::reflection_pad2d", "", "", kOneTensor, kPad},
    {"padding.ReflectionPad3d", "aten::pad aten::reflection_pad3d", "", "", kOneTensor, kPad},
    {"padding.ReplicationPad1d", "aten::pad aten::replication_pad1d", "", "", kOneTensor, kPad},
    {"padding.ReplicationPad2d", "aten::pad aten::replication_pad2d", "", "", kOneTensor, kPad},
    {"padding.ReplicationPad3d", "aten::pad aten::replication_pad3d", "", "", kOneTensor, kPad},
    {"rnn.LSTM", "aten::lstm", "*", "*", "Tuple[Tensor, Tuple[Tensor, Tensor]]", kRecurrent},
    {"rnn.GRU", "aten::gru", "*", "*", "Tuple[Tensor, Tensor]", kRnn},
    {"activation.MultiheadAttention", "aten::softmax aten::scaled_dot_product_attention aten::bmm", "*", "*",
     "Tuple[Tensor, Optional[Tensor]]", kAttention},
});

}  // namespace

const LayerFact* find_layer(std::string_view name) {
  constexpr std::string_view kModules = "torch.nn.modules.";
  if (!name.starts_with(kModules)) return nullptr;
  const auto* const found = std::ranges::find(kLayers, name.substr(kModules.size()), &LayerFact::name);
  return found == kLayers.end() ? nullptr : found;
}

}  // namespace flambeau::script
