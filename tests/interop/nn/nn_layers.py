"""Every layer alone: the same ones as in layer_cases.cpp, under the same names, with inputs.

LAYERS maps a name to (make, inputs[, kwargs]): functions without arguments; inputs() gives the positional arguments.
"""

import torch
from torch import nn

R = torch.randn
LAYERS = {}


def add(name, make, *inputs, **kwargs):
    """Inputs are shapes (tuples of numbers, for normal numbers) or functions that make a value."""
    LAYERS[name] = (make, inputs, kwargs)


def ids(high, *shape):
    return lambda: torch.randint(0, high, shape)


def uniform(*shape):
    return lambda: torch.rand(shape)


def padding_mask():
    mask = torch.zeros(2, 5, dtype=torch.bool)
    mask[0, 3:] = True
    return mask


def causal_mask():
    return torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)


def small_layer(kind, batch_first, norm_first=False, activation="relu"):
    return kind(8, 2, 16, activation=activation, batch_first=batch_first, norm_first=norm_first)


add("identity", nn.Identity, (2, 3))
add("linear", lambda: nn.Linear(5, 7), (3, 5))
add("linear_no_bias", lambda: nn.Linear(5, 7, bias=False), (3, 2, 5))
add("bilinear", lambda: nn.Bilinear(3, 4, 5), (2, 3), (2, 4))
add("conv1d", lambda: nn.Conv1d(4, 6, 3), (2, 4, 9))
add("conv2d", lambda: nn.Conv2d(4, 6, 3), (2, 4, 9, 8))
add("conv2d_strided", lambda: nn.Conv2d(4, 6, 3, 2, (1, 2), 2, 2), (2, 4, 9, 8))
add("conv2d_same", lambda: nn.Conv2d(4, 6, (3, 4), padding="same"), (2, 4, 9, 8))
add("conv2d_circular", lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"), (2, 4, 9, 8))
add("conv2d_reflect_same", lambda: nn.Conv2d(4, 6, (3, 4), padding="same", padding_mode="reflect"), (2, 4, 9, 8))
add("conv3d", lambda: nn.Conv3d(2, 4, 3, bias=False), (2, 2, 5, 6, 7))
add("conv_transpose1d", lambda: nn.ConvTranspose1d(4, 6, 3), (2, 4, 9))
add("conv_transpose2d", lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1), (2, 4, 5, 6))
add("conv_transpose3d", lambda: nn.ConvTranspose3d(2, 4, 3, groups=2), (2, 2, 4, 4, 4))
add("embedding", lambda: nn.Embedding(10, 3), ids(10, 2, 4))
add("embedding_padding", lambda: nn.Embedding(10, 4, padding_idx=-1), ids(10, 2, 4))
add("embedding_bag", lambda: nn.EmbeddingBag(10, 3), ids(10, 2, 4))
add("embedding_bag_offsets", lambda: nn.EmbeddingBag(10, 3, mode="max"), ids(10, 7), lambda: torch.tensor([0, 3]))
add("embedding_bag_weighted", lambda: nn.EmbeddingBag(10, 3, mode="sum"), ids(10, 2, 4), lambda: None, (2, 4))

add("batch_norm1d", lambda: nn.BatchNorm1d(4), (3, 4))
add("batch_norm2d", lambda: nn.BatchNorm2d(4), (3, 4, 5, 5))
add("batch_norm2d_plain", lambda: nn.BatchNorm2d(4, affine=False, track_running_stats=False), (3, 4, 5, 5))
add("batch_norm3d", lambda: nn.BatchNorm3d(4), (3, 4, 2, 3, 4))
add("instance_norm1d", lambda: nn.InstanceNorm1d(4), (3, 4, 5))
add("instance_norm2d", lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), (3, 4, 5, 5))
add("instance_norm2d_single", lambda: nn.InstanceNorm2d(4), (4, 5, 5))
add("layer_norm", lambda: nn.LayerNorm(5), (3, 4, 5))
add("layer_norm_2d", lambda: nn.LayerNorm([4, 5], bias=False), (3, 4, 5))
add("group_norm", lambda: nn.GroupNorm(2, 4), (3, 4, 5, 5))
add("rms_norm", lambda: nn.RMSNorm(5), (3, 4, 5))
add("local_response_norm", lambda: nn.LocalResponseNorm(2), (3, 4, 5, 5))

add("relu", nn.ReLU, (3, 4))
add("relu_inplace", lambda: nn.ReLU(inplace=True), (3, 4))
add("relu6", nn.ReLU6, (3, 4))
add("elu", nn.ELU, (3, 4))
add("selu", nn.SELU, (3, 4))
add("celu", nn.CELU, (3, 4))
add("gelu", nn.GELU, (3, 4))
add("gelu_tanh", lambda: nn.GELU(approximate="tanh"), (3, 4))
add("silu", nn.SiLU, (3, 4))
add("mish", nn.Mish, (3, 4))
add("hardswish", nn.Hardswish, (3, 4))
add("hardsigmoid", nn.Hardsigmoid, (3, 4))
add("hardtanh", nn.Hardtanh, (3, 4))
add("leaky_relu", lambda: nn.LeakyReLU(0.2), (3, 4))
add("rrelu", nn.RReLU, (3, 4))
add("log_sigmoid", nn.LogSigmoid, (3, 4))
add("prelu", lambda: nn.PReLU(4), (3, 4))
add("sigmoid", nn.Sigmoid, (3, 4))
add("softplus", nn.Softplus, (3, 4))
add("softshrink", nn.Softshrink, (3, 4))
add("hardshrink", nn.Hardshrink, (3, 4))
add("softsign", nn.Softsign, (3, 4))
add("tanh", nn.Tanh, (3, 4))
add("tanhshrink", nn.Tanhshrink, (3, 4))
add("threshold", lambda: nn.Threshold(0.1, 20), (3, 4))
add("glu", nn.GLU, (3, 4))
add("softmax", lambda: nn.Softmax(1), (3, 4))
add("softmin", lambda: nn.Softmin(1), (3, 4))
add("log_softmax", lambda: nn.LogSoftmax(1), (3, 4))
add("softmax2d", nn.Softmax2d, (2, 3, 4, 5))
add("dropout", nn.Dropout, (3, 40))
add("dropout_inplace", lambda: nn.Dropout(0.3, inplace=True), (3, 40))
add("dropout1d", nn.Dropout1d, (6, 5))
add("dropout2d", nn.Dropout2d, (2, 6, 4, 5))
add("dropout3d", nn.Dropout3d, (2, 6, 4, 5, 3))
add("alpha_dropout", nn.AlphaDropout, (3, 40))
add("feature_alpha_dropout", nn.FeatureAlphaDropout, (2, 6, 4, 5))

add("max_pool1d", lambda: nn.MaxPool1d(2), (2, 3, 8))
add("max_pool2d", lambda: nn.MaxPool2d(3, 2, 1, ceil_mode=True), (2, 3, 8, 9))
add("max_pool3d", lambda: nn.MaxPool3d(2), (2, 3, 6, 7, 8))
add("max_pool2d_indices", lambda: nn.MaxPool2d(2, return_indices=True), (2, 3, 8, 9))
add("avg_pool1d", lambda: nn.AvgPool1d(2), (2, 3, 8))
add("avg_pool2d", lambda: nn.AvgPool2d(3, 2, 1, True, False, 5), (2, 3, 8, 9))
add("avg_pool3d", lambda: nn.AvgPool3d(2), (2, 3, 6, 7, 8))
add("adaptive_avg_pool1d", lambda: nn.AdaptiveAvgPool1d(3), (2, 3, 8))
add("adaptive_avg_pool2d", lambda: nn.AdaptiveAvgPool2d((None, 3)), (2, 3, 8, 9))
add("adaptive_avg_pool3d", lambda: nn.AdaptiveAvgPool3d(2), (2, 3, 6, 7, 8))
add("adaptive_max_pool1d", lambda: nn.AdaptiveMaxPool1d(3), (2, 3, 8))
add("adaptive_max_pool2d", lambda: nn.AdaptiveMaxPool2d((3, 2)), (2, 3, 8, 9))
add("adaptive_max_pool3d", lambda: nn.AdaptiveMaxPool3d(2), (2, 3, 6, 7, 8))
add("lp_pool1d", lambda: nn.LPPool1d(2, 2), (2, 3, 8))
add("lp_pool2d", lambda: nn.LPPool2d(2, 2), (2, 3, 8, 9))
add("lp_pool3d", lambda: nn.LPPool3d(2, 2), (2, 3, 6, 7, 8))

add("constant_pad1d", lambda: nn.ConstantPad1d(2, 0.5), (2, 3, 8))
add("constant_pad2d", lambda: nn.ConstantPad2d((1, 2, 0, 1), 0.5), (2, 3, 8, 9))
add("constant_pad3d", lambda: nn.ConstantPad3d(1, 0.5), (2, 3, 4, 5, 6))
add("zero_pad1d", lambda: nn.ZeroPad1d(1), (2, 3, 8))
add("zero_pad2d", lambda: nn.ZeroPad2d(1), (2, 3, 8, 9))
add("zero_pad3d", lambda: nn.ZeroPad3d(1), (2, 3, 4, 5, 6))
add("reflection_pad1d", lambda: nn.ReflectionPad1d(2), (2, 3, 8))
add("reflection_pad2d", lambda: nn.ReflectionPad2d((1, 2, 0, 1)), (2, 3, 8, 9))
add("reflection_pad3d", lambda: nn.ReflectionPad3d(1), (2, 3, 4, 5, 6))
add("replication_pad1d", lambda: nn.ReplicationPad1d(2), (2, 3, 8))
add("replication_pad2d", lambda: nn.ReplicationPad2d(1), (2, 3, 8, 9))
add("replication_pad3d", lambda: nn.ReplicationPad3d(1), (2, 3, 4, 5, 6))
add("circular_pad1d", lambda: nn.CircularPad1d(2), (2, 3, 8))
add("circular_pad2d", lambda: nn.CircularPad2d(1), (2, 3, 8, 9))
add("circular_pad3d", lambda: nn.CircularPad3d(1), (2, 3, 4, 5, 6))
add("flatten", nn.Flatten, (2, 3, 4))
add("unflatten", lambda: nn.Unflatten(1, (2, -1)), (2, 6, 3))
add("pixel_shuffle", lambda: nn.PixelShuffle(2), (2, 8, 3, 4))
add("pixel_unshuffle", lambda: nn.PixelUnshuffle(2), (2, 3, 4, 6))
add("channel_shuffle", lambda: nn.ChannelShuffle(2), (2, 6, 3, 4))
add("fold", lambda: nn.Fold((4, 5), 2), (2, 12, 12))
add("unfold", lambda: nn.Unfold((2, 3)), (2, 3, 4, 5))
add("upsample_nearest", lambda: nn.Upsample(scale_factor=2), (2, 3, 4, 5))
add("upsample_nearest_exact", lambda: nn.Upsample(size=7, mode="nearest-exact"), (2, 3, 5))
add("upsample_linear", lambda: nn.Upsample(scale_factor=2, mode="linear"), (2, 3, 5))
add("upsample_bilinear", lambda: nn.Upsample(size=(6, 7), mode="bilinear"), (2, 3, 4, 5))
add("upsample_bilinear_corners", lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), (2, 3, 4, 5))
add("upsample_bicubic", lambda: nn.Upsample(scale_factor=2, mode="bicubic"), (2, 3, 4, 5))
add("upsample_trilinear", lambda: nn.Upsample(scale_factor=2, mode="trilinear"), (2, 3, 3, 4, 5))
add("upsampling_nearest_2d", lambda: nn.UpsamplingNearest2d(scale_factor=2), (2, 3, 4, 5))
add("upsampling_bilinear_2d", lambda: nn.UpsamplingBilinear2d(size=(6, 7)), (2, 3, 4, 5))
add("upsample_area", lambda: nn.Upsample(size=2, mode="area"), (2, 3, 4, 5))

add("rnn", lambda: nn.RNN(4, 5), (7, 2, 4))
add("rnn_relu", lambda: nn.RNN(4, 5, 2, nonlinearity="relu", bias=False), (7, 2, 4), (2, 2, 5))
add("gru", lambda: nn.GRU(4, 5, 2, bidirectional=True), (7, 2, 4))
add("gru_single", lambda: nn.GRU(4, 5), (7, 4))
add("lstm", lambda: nn.LSTM(4, 5), (7, 2, 4))
add("lstm_deep", lambda: nn.LSTM(4, 5, 2, batch_first=True, dropout=0.5, bidirectional=True), (2, 7, 4))
add("lstm_projected", lambda: nn.LSTM(4, 5, proj_size=3), (7, 4))
add("lstm_state", lambda: nn.LSTM(4, 5), (7, 2, 4), lambda: (R(1, 2, 5), R(1, 2, 5)))
add("rnn_cell", lambda: nn.RNNCell(4, 5), (2, 4))
add("rnn_cell_relu", lambda: nn.RNNCell(4, 5, bias=False, nonlinearity="relu"), (2, 4), (2, 5))
add("lstm_cell", lambda: nn.LSTMCell(4, 5), (2, 4))
add("lstm_cell_state", lambda: nn.LSTMCell(4, 5), (4,), lambda: (R(5), R(5)))
add("gru_cell", lambda: nn.GRUCell(4, 5), (2, 4), (2, 5))
add("gru_cell_single", lambda: nn.GRUCell(4, 5), (4,))

add("attention", lambda: nn.MultiheadAttention(8, 2), (5, 2, 8), (6, 2, 8), (6, 2, 8))
X = R(2, 5, 8)
add("attention_self", lambda: nn.MultiheadAttention(8, 2, batch_first=True), lambda: X, lambda: X, lambda: X)
add("attention_masks", lambda: nn.MultiheadAttention(8, 2, batch_first=True), (2, 5, 8), (2, 5, 8), (2, 5, 8),
    padding_mask, lambda: True, causal_mask)
add("attention_no_weights", lambda: nn.MultiheadAttention(8, 2, bias=False, batch_first=True), (2, 5, 8), (2, 5, 8),
    (2, 5, 8), need_weights=lambda: False, attn_mask=causal_mask)
add("attention_kdim", lambda: nn.MultiheadAttention(8, 2, kdim=6, vdim=7, add_bias_kv=True, add_zero_attn=True,
                                                    batch_first=True), (2, 5, 8), (2, 5, 6), (2, 5, 7),
    key_padding_mask=padding_mask)
add("attention_single", lambda: nn.MultiheadAttention(8, 2), (5, 8), (5, 8), (5, 8))
add("encoder_layer", lambda: small_layer(nn.TransformerEncoderLayer, True), (2, 5, 8))
add("encoder_layer_norm_first", lambda: small_layer(nn.TransformerEncoderLayer, False, True, "gelu"), (5, 2, 8))
add("encoder_layer_masked", lambda: small_layer(nn.TransformerEncoderLayer, True), (2, 5, 8),
    src_key_padding_mask=padding_mask)
add("decoder_layer", lambda: small_layer(nn.TransformerDecoderLayer, True), (2, 5, 8), (2, 6, 8))
add("decoder_layer_norm_first", lambda: small_layer(nn.TransformerDecoderLayer, False, True), (5, 2, 8), (6, 2, 8))
add("encoder", lambda: nn.TransformerEncoder(small_layer(nn.TransformerEncoderLayer, True), 2, nn.LayerNorm(8)),
    (2, 5, 8))
add("encoder_causal", lambda: nn.TransformerEncoder(small_layer(nn.TransformerEncoderLayer, True), 2), (2, 5, 8),
    causal_mask, is_causal=lambda: True)
add("decoder", lambda: nn.TransformerDecoder(small_layer(nn.TransformerDecoderLayer, True), 2), (2, 5, 8), (2, 6, 8))
add("transformer", lambda: nn.Transformer(8, 2, 2, 2, 16, batch_first=True), (2, 5, 8), (2, 6, 8))

add("l1_loss", nn.L1Loss, (3, 4), (3, 4))
add("mse_loss", nn.MSELoss, (3, 4), (3, 4))
add("mse_loss_none", lambda: nn.MSELoss(reduction="none"), (3, 4), (3, 4))
add("smooth_l1_loss", nn.SmoothL1Loss, (3, 4), (3, 4))
add("huber_loss", nn.HuberLoss, (3, 4), (3, 4))
add("cross_entropy", nn.CrossEntropyLoss, (3, 4), ids(4, 3))
add("cross_entropy_weighted", lambda: nn.CrossEntropyLoss(torch.arange(1, 5, dtype=torch.float32), ignore_index=1,
                                                          reduction="sum", label_smoothing=0.1), (3, 4), ids(4, 3))
add("nll_loss", nn.NLLLoss, (3, 4), ids(4, 3))
add("bce_loss", nn.BCELoss, uniform(3, 4), uniform(3, 4))
add("bce_with_logits", lambda: nn.BCEWithLogitsLoss(pos_weight=torch.arange(1, 5, dtype=torch.float32)), (3, 4),
    uniform(3, 4))
add("kl_div", lambda: nn.KLDivLoss(reduction="batchmean"), (3, 4), uniform(3, 4))
add("soft_margin_loss", nn.SoftMarginLoss, (3, 4), (3, 4))
add("margin_ranking_loss", lambda: nn.MarginRankingLoss(0.5), (3, 4), (3, 4), (3, 4))
add("hinge_embedding_loss", lambda: nn.HingeEmbeddingLoss(0.7), (3, 4), (3, 4))
add("triplet_margin_loss", lambda: nn.TripletMarginLoss(margin=0.5, swap=True), (3, 4), (3, 4), (3, 4))
add("poisson_nll_loss", nn.PoissonNLLLoss, (3, 4), uniform(3, 4))
add("cosine_similarity", nn.CosineSimilarity, (3, 4), (3, 4))
add("pairwise_distance", nn.PairwiseDistance, (3, 4), (3, 4))

add("sequential", lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), (3, 4))


def sequential_named():
    net = nn.Sequential()
    net.add_module("conv", nn.Conv2d(3, 4, 3))
    net.add_module("norm", nn.BatchNorm2d(4))
    net.add_module("head", nn.Sequential(nn.Flatten(), nn.Linear(64, 5)))
    return net


add("sequential_named", sequential_named, (2, 3, 6, 6))
