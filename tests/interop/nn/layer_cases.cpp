// Every layer alone. nn_layers.py has the same ones under the same names.
#include <limits>

#include "cases.h"

namespace flambeau::nn_cases {
namespace {

using nn::Reduction;

template <typename T, typename... A>
Case layer(std::string name, A... arguments) {
  return {std::move(name), [=] { return std::make_shared<T>(arguments...); }};
}

nn::TransformerLayerOptions small_layer(bool batch_first, bool norm_first = false,
                                        std::string activation = "relu") {
  return {.dim_feedforward = 16,
          .activation = std::move(activation),
          .batch_first = batch_first,
          .norm_first = norm_first};
}

std::vector<Case> dense_cases() {
  return {
      layer<nn::Identity>("identity"),
      layer<nn::Linear>("linear", 5, 7),
      layer<nn::Linear>("linear_no_bias", 5, 7, false),
      layer<nn::Bilinear>("bilinear", 3, 4, 5),
      layer<nn::Conv1d>("conv1d", 4, 6, 3),
      layer<nn::Conv2d>("conv2d", 4, 6, 3),
      layer<nn::Conv2d>("conv2d_strided", 4, 6, 3,
                        nn::ConvOptions<2>{.stride = 2, .padding = {1, 2}, .dilation = 2, .groups = 2}),
      layer<nn::Conv2d>("conv2d_same", 4, 6, nn::Extent<2>{3, 4}, nn::ConvOptions<2>{.padding = "same"}),
      layer<nn::Conv2d>("conv2d_circular", 4, 6, 3,
                        nn::ConvOptions<2>{.padding = 1, .padding_mode = "circular"}),
      layer<nn::Conv2d>("conv2d_reflect_same", 4, 6, nn::Extent<2>{3, 4},
                        nn::ConvOptions<2>{.padding = "same", .padding_mode = "reflect"}),
      layer<nn::Conv3d>("conv3d", 2, 4, 3, nn::ConvOptions<3>{.bias = false}),
      layer<nn::ConvTranspose1d>("conv_transpose1d", 4, 6, 3),
      layer<nn::ConvTranspose2d>("conv_transpose2d", 4, 6, 3,
                                 nn::ConvTransposeOptions<2>{.stride = 2, .padding = 1, .output_padding = 1}),
      layer<nn::ConvTranspose3d>("conv_transpose3d", 2, 4, 3, nn::ConvTransposeOptions<3>{.groups = 2}),
      layer<nn::Embedding>("embedding", 10, 3),
      layer<nn::Embedding>("embedding_padding", 10, 4, -1),
      layer<nn::EmbeddingBag>("embedding_bag", 10, 3),
      layer<nn::EmbeddingBag>("embedding_bag_offsets", 10, 3, nn::EmbeddingBagOptions{.mode = "max"}),
      layer<nn::EmbeddingBag>("embedding_bag_weighted", 10, 3, nn::EmbeddingBagOptions{.mode = "sum"}),
  };
}

std::vector<Case> norm_cases() {
  return {
      layer<nn::BatchNorm1d>("batch_norm1d", 4),
      layer<nn::BatchNorm2d>("batch_norm2d", 4),
      layer<nn::BatchNorm2d>("batch_norm2d_plain", 4,
                             nn::BatchNormOptions{.affine = false, .track_running_stats = false}),
      layer<nn::BatchNorm3d>("batch_norm3d", 4),
      layer<nn::InstanceNorm1d>("instance_norm1d", 4),
      layer<nn::InstanceNorm2d>("instance_norm2d", 4, nn::BatchNormOptions{}),
      layer<nn::InstanceNorm2d>("instance_norm2d_single", 4),
      layer<nn::LayerNorm>("layer_norm", 5),
      layer<nn::LayerNorm>("layer_norm_2d", std::vector<int64_t>{4, 5}, nn::LayerNormOptions{.bias = false}),
      layer<nn::GroupNorm>("group_norm", 2, 4),
      layer<nn::RMSNorm>("rms_norm", 5),
      layer<nn::LocalResponseNorm>("local_response_norm", 2),
  };
}

std::vector<Case> activation_cases() {
  return {
      layer<nn::ReLU>("relu"),
      layer<nn::ReLU>("relu_inplace", true),
      layer<nn::ReLU6>("relu6"),
      layer<nn::ELU>("elu"),
      layer<nn::SELU>("selu"),
      layer<nn::CELU>("celu"),
      layer<nn::GELU>("gelu"),
      layer<nn::GELU>("gelu_tanh", "tanh"),
      layer<nn::SiLU>("silu"),
      layer<nn::Mish>("mish"),
      layer<nn::Hardswish>("hardswish"),
      layer<nn::Hardsigmoid>("hardsigmoid"),
      layer<nn::Hardtanh>("hardtanh"),
      layer<nn::LeakyReLU>("leaky_relu", 0.2),
      layer<nn::RReLU>("rrelu"),
      layer<nn::LogSigmoid>("log_sigmoid"),
      layer<nn::PReLU>("prelu", 4),
      layer<nn::Sigmoid>("sigmoid"),
      layer<nn::Softplus>("softplus"),
      layer<nn::Softshrink>("softshrink"),
      layer<nn::Hardshrink>("hardshrink"),
      layer<nn::Softsign>("softsign"),
      layer<nn::Tanh>("tanh"),
      layer<nn::Tanhshrink>("tanhshrink"),
      layer<nn::Threshold>("threshold", 0.1, 20),
      layer<nn::GLU>("glu"),
      layer<nn::Softmax>("softmax", 1),
      layer<nn::Softmin>("softmin", 1),
      layer<nn::LogSoftmax>("log_softmax", 1),
      layer<nn::Softmax2d>("softmax2d"),
      layer<nn::Dropout>("dropout"),
      layer<nn::Dropout>("dropout_inplace", 0.3, true),
      layer<nn::Dropout1d>("dropout1d"),
      layer<nn::Dropout2d>("dropout2d"),
      layer<nn::Dropout3d>("dropout3d"),
      layer<nn::AlphaDropout>("alpha_dropout"),
      layer<nn::FeatureAlphaDropout>("feature_alpha_dropout"),
  };
}

std::vector<Case> pooling_cases() {
  return {
      layer<nn::MaxPool1d>("max_pool1d", 2),
      layer<nn::MaxPool2d>("max_pool2d", 3,
                           nn::MaxPoolOptions<2>{.stride = 2, .padding = 1, .ceil_mode = true}),
      layer<nn::MaxPool3d>("max_pool3d", 2),
      layer<nn::MaxPoolWithIndices<2>>("max_pool2d_indices", 2),
      layer<nn::AvgPool1d>("avg_pool1d", 2),
      layer<nn::AvgPool2d>("avg_pool2d", 3,
                           nn::AvgPoolOptions<2>{.stride = 2,
                                                 .padding = 1,
                                                 .ceil_mode = true,
                                                 .count_include_pad = false,
                                                 .divisor_override = 5}),
      layer<nn::AvgPool3d>("avg_pool3d", 2),
      layer<nn::AdaptiveAvgPool1d>("adaptive_avg_pool1d", 3),
      layer<nn::AdaptiveAvgPool2d>("adaptive_avg_pool2d", nn::AdaptiveSize<2>{std::nullopt, 3}),
      layer<nn::AdaptiveAvgPool3d>("adaptive_avg_pool3d", 2),
      layer<nn::AdaptiveMaxPool1d>("adaptive_max_pool1d", 3),
      layer<nn::AdaptiveMaxPool2d>("adaptive_max_pool2d", nn::AdaptiveSize<2>{3, 2}),
      layer<nn::AdaptiveMaxPool3d>("adaptive_max_pool3d", 2),
      layer<nn::LPPool1d>("lp_pool1d", 2.0, 2),
      layer<nn::LPPool2d>("lp_pool2d", 2.0, 2),
      layer<nn::LPPool3d>("lp_pool3d", 2.0, 2),
  };
}

std::vector<Case> shape_cases() {
  return {
      layer<nn::ConstantPad1d>("constant_pad1d", 2, 0.5),
      layer<nn::ConstantPad2d>("constant_pad2d", nn::Extent<4>{1, 2, 0, 1}, 0.5),
      layer<nn::ConstantPad3d>("constant_pad3d", 1, 0.5),
      layer<nn::ZeroPad1d>("zero_pad1d", 1),
      layer<nn::ZeroPad2d>("zero_pad2d", 1),
      layer<nn::ZeroPad3d>("zero_pad3d", 1),
      layer<nn::ReflectionPad1d>("reflection_pad1d", 2),
      layer<nn::ReflectionPad2d>("reflection_pad2d", nn::Extent<4>{1, 2, 0, 1}),
      layer<nn::ReflectionPad3d>("reflection_pad3d", 1),
      layer<nn::ReplicationPad1d>("replication_pad1d", 2),
      layer<nn::ReplicationPad2d>("replication_pad2d", 1),
      layer<nn::ReplicationPad3d>("replication_pad3d", 1),
      layer<nn::CircularPad1d>("circular_pad1d", 2),
      layer<nn::CircularPad2d>("circular_pad2d", 1),
      layer<nn::CircularPad3d>("circular_pad3d", 1),
      layer<nn::Flatten>("flatten"),
      layer<nn::Unflatten>("unflatten", 1, std::vector<int64_t>{2, -1}),
      layer<nn::PixelShuffle>("pixel_shuffle", 2),
      layer<nn::PixelUnshuffle>("pixel_unshuffle", 2),
      layer<nn::ChannelShuffle>("channel_shuffle", 2),
      layer<nn::Fold>("fold", nn::Extent<2>{4, 5}, 2),
      layer<nn::Unfold>("unfold", nn::Extent<2>{2, 3}),
      layer<nn::Upsample>("upsample_nearest", nn::Interpolation{.scale_factor = {{2.0}}}),
      layer<nn::Upsample>("upsample_nearest_exact",
                          nn::Interpolation{.size = {{7}}, .mode = "nearest-exact"}),
      layer<nn::Upsample>("upsample_linear", nn::Interpolation{.scale_factor = {{2.0}}, .mode = "linear"}),
      layer<nn::Upsample>("upsample_bilinear", nn::Interpolation{.size = {{6, 7}}, .mode = "bilinear"}),
      layer<nn::Upsample>(
          "upsample_bilinear_corners",
          nn::Interpolation{.scale_factor = {{2.0}}, .mode = "bilinear", .align_corners = true}),
      layer<nn::Upsample>("upsample_bicubic", nn::Interpolation{.scale_factor = {{2.0}}, .mode = "bicubic"}),
      layer<nn::Upsample>("upsample_trilinear",
                          nn::Interpolation{.scale_factor = {{2.0}}, .mode = "trilinear"}),
      layer<nn::UpsamplingNearest2d>("upsampling_nearest_2d", std::nullopt, std::vector<double>{2.0}),
      layer<nn::UpsamplingBilinear2d>("upsampling_bilinear_2d", nn::Sizes{6, 7}),
      layer<nn::Upsample>("upsample_area", nn::Interpolation{.size = {{2}}, .mode = "area"}),
  };
}

std::vector<Case> recurrent_cases() {
  return {
      layer<nn::RNN>("rnn", 4, 5),
      layer<nn::RNN>("rnn_relu", 4, 5, nn::RecurrentOptions{.num_layers = 2, .bias = false}, "relu"),
      layer<nn::GRU>("gru", 4, 5, nn::RecurrentOptions{.num_layers = 2, .bidirectional = true}),
      layer<nn::GRU>("gru_single", 4, 5),
      layer<nn::LSTM>("lstm", 4, 5),
      layer<nn::LSTM>(
          "lstm_deep", 4, 5,
          nn::RecurrentOptions{.num_layers = 2, .batch_first = true, .dropout = 0.5, .bidirectional = true}),
      layer<nn::LSTM>("lstm_projected", 4, 5, nn::RecurrentOptions{}, 3),
      layer<nn::LSTM>("lstm_state", 4, 5),
      layer<nn::RNNCell>("rnn_cell", 4, 5),
      layer<nn::RNNCell>("rnn_cell_relu", 4, 5, false, "relu"),
      layer<nn::LSTMCell>("lstm_cell", 4, 5),
      layer<nn::LSTMCell>("lstm_cell_state", 4, 5),
      layer<nn::GRUCell>("gru_cell", 4, 5),
      layer<nn::GRUCell>("gru_cell_single", 4, 5),
  };
}

std::vector<Case> attention_cases() {
  return {
      layer<nn::MultiheadAttention>("attention", 8, 2),
      layer<nn::MultiheadAttention>("attention_self", 8, 2,
                                    nn::MultiheadAttentionOptions{.batch_first = true}),
      layer<nn::MultiheadAttention>("attention_masks", 8, 2,
                                    nn::MultiheadAttentionOptions{.batch_first = true}),
      layer<nn::MultiheadAttention>("attention_no_weights", 8, 2,
                                    nn::MultiheadAttentionOptions{.bias = false, .batch_first = true}),
      layer<nn::MultiheadAttention>(
          "attention_kdim", 8, 2,
          nn::MultiheadAttentionOptions{
              .add_bias_kv = true, .add_zero_attn = true, .kdim = 6, .vdim = 7, .batch_first = true}),
      layer<nn::MultiheadAttention>("attention_single", 8, 2),
      layer<nn::TransformerEncoderLayer>("encoder_layer", 8, 2, small_layer(true)),
      layer<nn::TransformerEncoderLayer>("encoder_layer_norm_first", 8, 2, small_layer(false, true, "gelu")),
      layer<nn::TransformerEncoderLayer>("encoder_layer_masked", 8, 2, small_layer(true)),
      layer<nn::TransformerDecoderLayer>("decoder_layer", 8, 2, small_layer(true)),
      layer<nn::TransformerDecoderLayer>("decoder_layer_norm_first", 8, 2, small_layer(false, true)),
      {"encoder",
       [] {
         const nn::TransformerEncoderLayer one(8, 2, small_layer(true));
         return std::make_shared<nn::TransformerEncoder>(one, 2, std::make_shared<nn::LayerNorm>(8));
       }},
      {"encoder_causal",
       [] {
         const nn::TransformerEncoderLayer one(8, 2, small_layer(true));
         return std::make_shared<nn::TransformerEncoder>(one, 2);
       }},
      {"decoder",
       [] {
         const nn::TransformerDecoderLayer one(8, 2, small_layer(true));
         return std::make_shared<nn::TransformerDecoder>(one, 2);
       }},
      {"transformer",
       [] {
         return std::make_shared<nn::Transformer>(
             8, 2,
             nn::TransformerOptions{
                 .num_encoder_layers = 2, .num_decoder_layers = 2, .layer = small_layer(true)});
       }},
  };
}

std::vector<Case> loss_cases() {
  return {
      layer<nn::L1Loss>("l1_loss"),
      layer<nn::MSELoss>("mse_loss"),
      layer<nn::MSELoss>("mse_loss_none", Reduction::kNone),
      layer<nn::SmoothL1Loss>("smooth_l1_loss"),
      layer<nn::HuberLoss>("huber_loss"),
      layer<nn::CrossEntropyLoss>("cross_entropy"),
      {"cross_entropy_weighted",
       [] {
         return std::make_shared<nn::CrossEntropyLoss>(nn::arange(1, 5, DType::kFloat32), 1, Reduction::kSum,
                                                       0.1);
       }},
      layer<nn::NLLLoss>("nll_loss"),
      layer<nn::BCELoss>("bce_loss"),
      {"bce_with_logits",
       [] {
         return std::make_shared<nn::BCEWithLogitsLoss>(Tensor(), Reduction::kMean,
                                                        nn::arange(1, 5, DType::kFloat32));
       }},
      layer<nn::KLDivLoss>("kl_div", Reduction::kMean, false, true),
      layer<nn::SoftMarginLoss>("soft_margin_loss"),
      layer<nn::MarginRankingLoss>("margin_ranking_loss", 0.5),
      layer<nn::HingeEmbeddingLoss>("hinge_embedding_loss", 0.7),
      layer<nn::TripletMarginLoss>("triplet_margin_loss", nn::TripletOptions{.margin = 0.5, .swap = true}),
      layer<nn::PoissonNLLLoss>("poisson_nll_loss"),
      layer<nn::CosineSimilarity>("cosine_similarity"),
      layer<nn::PairwiseDistance>("pairwise_distance"),
  };
}

std::vector<Case> container_cases() {
  return {
      {"sequential",
       [] {
         return std::make_shared<nn::Sequential>(std::initializer_list<std::shared_ptr<nn::Module>>{
             std::make_shared<nn::Linear>(4, 8), std::make_shared<nn::ReLU>(),
             std::make_shared<nn::Linear>(8, 2)});
       }},
      {"sequential_named",
       [] {
         auto net = std::make_shared<nn::Sequential>();
         net->add_named<nn::Conv2d>("conv", 3, 4, 3);
         net->add_named<nn::BatchNorm2d>("norm", 4);
         net->add_named<nn::Sequential>("head");
         auto& head = dynamic_cast<nn::Sequential&>((*net)[2]);
         head.add<nn::Flatten>();
         head.add<nn::Linear>(64, 5);
         return net;
       }},
  };
}

}  // namespace

std::span<const Case> layer_cases() {
  static const std::vector<Case> kCases = [] {
    std::vector<Case> all;
    for (const auto& family :
         {dense_cases(), norm_cases(), activation_cases(), pooling_cases(), shape_cases(), recurrent_cases(),
          attention_cases(), loss_cases(), container_cases()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return kCases;
}

}  // namespace flambeau::nn_cases
