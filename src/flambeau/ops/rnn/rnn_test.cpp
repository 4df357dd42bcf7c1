// Values are PyTorch 2.13's.
#include "flambeau/ops/dense/test_tensors.h"

namespace flambeau::ops {
namespace {

using Rnn = OperatorTest;

// Evenly spaced from -1/2.
Tensor weights(int64_t rows, int64_t columns, float factor = 1) {
  return ramp({rows, columns}, factor / static_cast<float>(rows * columns), -0.5F * factor);
}
Tensor input() { return ramp({3, 2, 2}, 1.0F / 6, -1); }
Tensor filled(std::initializer_list<int64_t> sizes, float value) { return ramp(sizes, 0, value); }

TEST_F(Rnn, LstmInBothDirections) {
  TensorList parameters;
  for (int direction = 0; direction < 2; ++direction) {
    parameters.push_back(weights(8, 2));
    parameters.push_back(weights(8, 2, 0.5F));
    parameters.push_back(ramp({8}, 0.125F));
    parameters.push_back(ramp({8}, -0.0625F));
  }
  const TensorList states = {filled({2, 2, 2}, 0.1F), filled({2, 2, 2}, -0.2F)};
  const auto [out, h, c] = call<std::tuple<Tensor, Tensor, Tensor>>(
      context, "aten::lstm.input", input(), states, parameters, true, 1, 0.0, false, true, false);
  expect_values(out, {0.00601F, -0.0376F, 0.10439F, 0.05891F, 0.00945F, -0.01183F, 0.10825F, 0.10785F,
                      0.07681F, 0.04545F, 0.07749F, 0.10085F, 0.07944F, 0.09498F,  0.07614F, 0.13576F,
                      0.11403F, 0.15707F, 0.00832F, 0.05819F, 0.10669F, 0.20027F,  0.00436F, 0.07014F});
  expect_values(h, {0.11403F, 0.15707F, 0.10669F, 0.20027F, 0.10439F, 0.05891F, 0.10825F, 0.10785F});
  expect_values(c, {0.17649F, 0.23129F, 0.15458F, 0.27445F, 0.22463F, 0.13657F, 0.21098F, 0.2177F});
}

TEST_F(Rnn, GruWithTheBatchFirst) {
  const Tensor batch_first = call(context, "aten::transpose.int", input(), 0, 1);
  const TensorList parameters = {weights(6, 2), weights(6, 2, 0.5F), ramp({6}, 0.125F), ramp({6}, -0.0625F)};
  const auto [out, h] =
      call<std::tuple<Tensor, Tensor>>(context, "aten::gru.input", batch_first, filled({1, 2, 2}, 0.1F),
                                       parameters, true, 1, 0.0, false, false, true);
  EXPECT_EQ(out.strides(), (Dims{2, 4, 1}));
  expect_values(out, {0.0449F, -0.05375F, 0.14013F, 0.09114F, 0.3342F, 0.35006F, 0.10906F, 0.06812F, 0.25061F,
                      0.26393F, 0.45393F, 0.49804F});
  expect_values(h, {0.3342F, 0.35006F, 0.45393F, 0.49804F});
}

TEST_F(Rnn, SequencesOfDifferentLengths) {
  const Tensor rows =
      call(context, "aten::slice.Tensor", call(context, "aten::view", input(), Dims{6, 2}), 0, 0, 5);
  const Tensor sizes = Tensor::zeros(DType::kInt64, Dims{3});
  for (int i = 0; i < 3; ++i) sizes.mutable_data<int64_t>()[i] = i < 2 ? 2 : 1;
  const auto [out, h] =
      call<std::tuple<Tensor, Tensor>>(context, "aten::rnn_tanh.data", rows, sizes, filled({1, 2, 2}, 0.1F),
                                       TensorList{weights(2, 2), weights(2, 2)}, false, 1, 0.0, false, false);
  expect_values(out, {0.56034F, -0.18131F, 0.3656F, -0.09967F, -0.02651F, -0.08677F, -0.19694F, 0.01675F,
                      -0.25123F, 0.10294F});
  expect_values(h, {-0.25123F, 0.10294F, -0.19694F, 0.01675F});
}

TEST_F(Rnn, SaysWhatDoesNotFit) {
  const TensorList states = {filled({1, 2, 2}, 0), filled({1, 2, 2}, 0)};
  EXPECT_EQ(
      error_of("aten::lstm.input", input(), states, TensorList{weights(8, 2)}, false, 1, 0.0, false, false,
               false),
      "operator 'aten::lstm.input': got an incorrect number of RNN parameters: 1 for 1 cells of 2 each");
  EXPECT_EQ(error_of("aten::lstm.input", input(), states, TensorList{weights(8, 3), weights(8, 2)}, false, 1,
                     0.0, false, false, false),
            "operator 'aten::lstm.input': input.size(-1) must be equal to input_size. Expected 3, got 2");
}

TEST_F(Rnn, StatesFitTheWeights) {
  const TensorList weights{ramp({9, 3}), ramp({9, 3})};
  EXPECT_EQ(
      error("aten::gru.input", ramp({2, 2, 3}), ramp({1, 2, 2}), weights, false, 1, 0.0, false, false, false),
      "the hidden state of an RNN, float32[1, 2, 2], does not fit 1 cells of 3 features");
  EXPECT_EQ(error("aten::lstm.input", ramp({2, 2, 3}), TensorList{ramp({2}), ramp({2})}, weights, false, 1,
                  0.0, false, false, false),
            "RNN: the hidden state must have 3 dimensions: layers, batch and features");
  // Nothing goes in, states come out all the same.
  const TensorList none{ramp({3, 0}), ramp({3, 3}, 0), ramp({3, 3}, 0), ramp({3, 3}, 0)};
  const auto [out, state] =
      call<std::tuple<Tensor, Tensor>>(context, "aten::rnn_tanh.input", ramp({2, 2, 0}), ramp({2, 2, 3}),
                                       none, false, 2, 0.0, false, false, false);
  EXPECT_EQ(values_of(out), std::vector<float>(12, 0));
}

TEST_F(Rnn, GatesFitTheState) {
  EXPECT_EQ(error("aten::_thnn_fused_lstm_cell", ramp({1, 12}), ramp({2, 12}), ramp({2, 3})),
            "the gates of an LSTM cell must have four times the size of its state");
  EXPECT_EQ(error("aten::_thnn_fused_gru_cell", ramp({2, 9}), ramp({1, 9}), ramp({2, 3})),
            "the gates of a GRU cell must have three times the size of its state");
}

}  // namespace
}  // namespace flambeau::ops
