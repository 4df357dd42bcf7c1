"""Calls of operators with many arguments that must fit each other, and that no sample of tests/interop/opinfo makes."""


def f(*sizes):
    return {"tensor": ["float32", list(sizes)]}


def i(*sizes):
    return {"tensor": ["int64", list(sizes)]}


def flags(*sizes):
    return {"tensor": ["bool", list(sizes)]}


ONE, TENTH, SMALL = {"number": "1.0"}, {"number": "0.1"}, {"number": "1e-05"}
LSTM = [f(12, 4), f(12, 3), f(12), f(12)]
GRU = [f(9, 4), f(9, 3), f(9), f(9)]
RNN = [f(3, 4), f(3, 3), f(3), f(3)]
NO_DROPOUT = [True, 1, {"number": "0.0"}, False, False]
TWO_LAYERS = [[f(3, 4), f(3, 3), f(3, 3), f(3, 3)], False, 2, {"number": "0.5"}, True, False]

CALLS = {
    "aten::lstm_cell": [[[f(2, 4), [f(2, 3), f(2, 3)], *LSTM], {}]],
    "aten::gru_cell": [[[f(2, 4), f(2, 3), *GRU], {}]],
    "aten::rnn_tanh_cell": [[[f(2, 4), f(2, 3), *RNN], {}]],
    "aten::rnn_relu_cell": [[[f(4), f(3), *RNN[:2]], {}]],
    "aten::_thnn_fused_lstm_cell": [[[f(2, 12), f(2, 12), f(2, 3), f(12), f(12)], {}]],
    "aten::_thnn_fused_gru_cell": [[[f(2, 9), f(2, 9), f(2, 3), f(9), f(9)], {}]],
    "aten::lstm.input": [[[f(5, 2, 4), [f(1, 2, 3), f(1, 2, 3)], LSTM, *NO_DROPOUT, False], {}],
                         [[f(5, 2, 4), [f(1, 2, 2), f(1, 2, 3)], [f(12, 4), f(12, 2), f(12), f(12), f(2, 3)], *NO_DROPOUT, False], {}]],
    "aten::gru.input": [[[f(5, 2, 4), f(1, 2, 3), GRU, *NO_DROPOUT, False], {}]],
    "aten::rnn_relu.input": [[[f(5, 2, 4), f(2, 2, 3), *TWO_LAYERS, False], {}]],
    "aten::rnn_tanh.data": [[[f(3, 4), i(3), f(1, 1, 3), RNN, *NO_DROPOUT], {}]],
    "aten::_grouped_mm": [[[f(2, 4), f(4, 2), i(1)], {}], [[f(3, 2, 4), f(3, 4, 2)], {}], [[f(2, 4), f(1, 4, 2), i(1)], {}]],
    "transformers::grouped_mm_fallback": [[[f(2, 4), f(1, 4, 3), i(1)], {}]],
    "aten::bilinear": [[[f(2, 3), f(2, 4), f(5, 3, 4), f(5)], {}]],
    "aten::addr": [[[f(2, 3), f(2), f(3)], {}]],
    "aten::addbmm": [[[f(3, 5), f(2, 3, 4), f(2, 4, 5)], {}]],
    "aten::baddbmm": [[[f(2, 3, 5), f(2, 3, 4), f(2, 4, 5)], {}]],
    "aten::addmv": [[[f(3), f(3, 4), f(4)], {}]],
    "aten::addmm": [[[f(3, 5), f(3, 4), f(4, 5)], {}]],
    "aten::tensordot": [[[f(2, 3, 4), f(4, 3, 5), [1, 2], [1, 0]], {}]],
    "aten::linalg_multi_dot": [[[[f(2, 3), f(3, 4), f(4, 2)]], {}]],
    "aten::kron": [[[f(2, 3), f(3, 2)], {}]],
    "aten::embedding_bag": [[[f(5, 3), i(6), i(1), False, 0, False, f(6), False], {}], [[f(5, 3), i(6), i(1), False, 2], {}]],
    "aten::_embedding_bag": [[[f(5, 3), i(6), i(1), False, 1, False, None, True, 2], {}]],
    "aten::embedding_bag.padding_idx": [[[f(5, 3), i(6), i(1), False, 1, False, None, False, 1], {}]],
    "aten::scatter.src": [[[f(3, 4), 1, i(2, 3), f(2, 3)], {}]],
    "aten::scatter.value": [[[f(3, 4), 1, i(2, 3), 1], {}]],
    "aten::scatter_add": [[[f(3, 4), 0, i(2, 3), f(2, 3)], {}]],
    "aten::scatter_reduce.two": [[[f(3, 4), 1, i(2, 3), f(2, 3), "mean"], {"include_self": False}]],
    "aten::index_add": [[[f(3, 4), 1, i(2), f(3, 2)], {}]],
    "aten::index_copy": [[[f(3, 4), 0, i(2), f(2, 4)], {}]],
    "aten::index_reduce": [[[f(3, 4), 1, i(2), f(3, 2), "prod"], {}]],
    "aten::index_fill.int_Scalar": [[[f(3, 4), 1, i(2), 7], {}]],
    "aten::take_along_dim": [[[f(3, 4), i(3, 1), 1], {}], [[f(3, 4), i(5)], {}]],
    "aten::put": [[[f(3, 4), i(2), f(2), True], {}]],
    "aten::masked_scatter": [[[f(3, 4), flags(4), f(12)], {}]],
    "aten::_unsafe_masked_index": [[[f(3, 4), flags(2), [i(2), i(2)], 1], {}]],
    "aten::nll_loss_forward": [[[f(3, 4), i(3), f(4), 1, -100], {}], [[f(4), i(), None, 0, 1], {}]],
    "aten::nll_loss2d_forward": [[[f(2, 4, 3, 3), i(2, 3, 3), f(4), 0, -100], {}]],
    "aten::cross_entropy_loss": [[[f(2, 4, 3), i(2, 3), f(4), 1, -100, TENTH], {}], [[f(2, 4), f(2, 4)], {}]],
    "aten::instance_norm": [[[f(2, 3, 4), f(3), f(3), f(3), f(3), True, TENTH, SMALL, False], {}]],
    "aten::native_batch_norm": [[[f(2, 3, 4, 2), f(3), f(3), f(3), f(3), True, TENTH, SMALL], {}]],
    "aten::_native_batch_norm_legit_functional": [[[f(2, 3), f(3), f(3), f(3), f(3), True, TENTH, SMALL], {}]],
    "aten::_native_batch_norm_legit.no_stats": [[[f(2, 3, 4), f(3), f(3), True, TENTH, SMALL], {}]],
    "aten::_fused_rms_norm": [[[f(2, 3, 4), [3, 4], f(3, 4), SMALL], {}]],
    "aten::_weight_norm_interface": [[[f(3, 4), f(3, 1), 0], {}]],
    "aten::_scaled_dot_product_flash_attention_for_cpu": [[[f(2, 4, 3, 5), f(2, 2, 6, 5), f(2, 2, 6, 5)], {"attn_mask": f(3, 6)}]],
    "aten::_scaled_dot_product_attention_math": [
        [[f(2, 4, 3, 5), f(2, 2, 6, 5), f(2, 2, 6, 2), f(2, 1, 3, 6), TENTH, False, flags(2, 4, 3, 6)], {"enable_gqa": True}]],
    "aten::grid_sampler": [[[f(2, 3, 4, 5), f(2, 2, 3, 2), 0, 0, False], {}], [[f(1, 2, 3, 4, 5), f(1, 2, 2, 2, 3), 1, 2, True], {}]],
    "aten::grid_sampler_2d": [[[f(2, 3, 4, 5), f(2, 2, 3, 2), 2, 1, False], {}]],
    "aten::affine_grid_generator": [[[f(2, 2, 3), [2, 3, 4, 5], False], {}]],
    "aten::max_unpool2d": [[[f(2, 3, 2), i(2, 3, 2), [4, 5]], {}]],
    "aten::im2col": [[[f(2, 3, 6, 5), [2, 3], [1, 1], [1, 0], [2, 1]], {}]],
    "aten::col2im": [[[f(2, 12, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]], {}]],
    "aten::upsample_bicubic2d": [[[f(1, 2, 4, 5), [3, 7], False], {}]],
    "aten::_upsample_bilinear2d_aa": [[[f(1, 2, 4, 5), [3, 2], False], {}]],
    "aten::upsample_trilinear3d": [[[f(1, 2, 2, 3, 2), [3, 2, 4], True], {}]],
    "aten::upsample_nearest1d": [[[f(1, 2, 4), [3]], {}]],
    "aten::max_pool1d": [[[f(2, 3, 6), [3], [2], [1], [2], True], {}]],
    "aten::max_pool3d_with_indices": [[[f(1, 2, 4, 5, 3), [2, 2, 2], [1, 2, 1], [1, 0, 1], [1, 2, 1], True], {}]],
    "aten::avg_pool3d": [[[f(1, 2, 4, 5, 3), [2, 2, 2], [1, 2, 1], [1, 0, 1], True, False, 3], {}]],
    "aten::avg_pool1d": [[[f(2, 3, 6), [3], [2], [1], True, False], {}]],
    "aten::adaptive_max_pool2d": [[[f(2, 3, 5, 4), [2, 3]], {}]],
    "aten::adaptive_avg_pool3d": [[[f(2, 3, 5, 4, 2), [2, 3, 1]], {}]],
    "aten::conv3d": [[[f(1, 4, 3, 4, 3), f(6, 2, 2, 2, 2), f(6), [1, 2, 1], [0, 1, 1], [1, 1, 2], 2], {}]],
    "aten::conv_transpose1d": [[[f(2, 4, 5), f(4, 3, 3), f(6), [2], [1], [1], 2, [2]], {}]],
    "aten::conv_transpose3d.input": [[[f(1, 2, 2, 3, 2), f(2, 3, 2, 2, 1), f(3), [1, 2, 1]], {}]],
    "aten::_cdist_forward": [[[f(2, 3, 4), f(2, 5, 4), {"number": "3.0"}, None], {}]],
    "aten::_pdist_forward": [[[f(4, 3), ONE], {}]],
    "aten::searchsorted.Tensor": [[[f(2, 4), f(2, 3)], {"sorter": i(2, 4)}]],
    "aten::bucketize.Tensor": [[[f(2, 3), f(4)], {}]],
    "aten::quantile": [[[f(3, 4), f(2), 1, True], {}]],
    "aten::multinomial": [[[f(2, 4), 3, True], {}]],
    "aten::bincount": [[[i(5), f(5), 2], {}]],
    "aten::repeat_interleave.self_Tensor": [[[f(3, 2), i(3), 0], {}]],
    "aten::renorm": [[[f(3, 4), 2, 0, 1], {}]],
    "aten::linalg_cross": [[[f(2, 3), f(2, 3)], {"dim": -1}]],
    "aten::diff": [[[f(3, 4), 2, 1, f(3, 1), f(3, 2)], {}]],
    "aten::as_strided_scatter": [[[f(4, 4), f(2, 2), [2, 2], [4, 1], 1], {}]],
    "aten::slice_scatter": [[[f(4, 4), f(2, 4), 0, 1, 3, 1], {}]],
    "aten::select_scatter": [[[f(4, 4), f(4), 1, 2], {}]],
    "aten::diagonal_scatter": [[[f(4, 5), f(4), 1], {}]],
    "aten::pixel_shuffle": [[[f(1, 8, 2, 3), 2], {}]],
    "aten::channel_shuffle": [[[f(1, 6, 2, 3), 3], {}]],
    "aten::prelu": [[[f(2, 3, 4), f(3)], {}]],
    "aten::glu": [[[f(3, 4), 1], {}]],
    "aten::unfold": [[[f(3, 7), 1, 3, 2], {}]],
    "aten::bernoulli.Tensor": [[[f(3, 4), f(3, 4)], {}]],
    "aten::unique_dim": [[[f(3, 4), 1, True, True, True], {}]],
    "aten::tensor_split.tensor_indices_or_sections": [[[f(5, 2), i(2), 0], {}]],
    "aten::topk": [[[f(3, 4), 2, 0], {}]],
    "aten::logsumexp": [[[f(3, 4), [0, 1]], {}]],
    "aten::einsum": [[["ij,jk->ik", [f(2, 3), f(3, 4)]], {}]],
}
