// What layers refuse, and that they start as PyTorch's do. tests/interop/nn compares every layer with
// PyTorch.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional.h"
#include "flambeau/nn/init.h"
#include "flambeau/nn/layers.h"

namespace flambeau::nn {
namespace {

std::string error_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Layers, StartAsPyTorchsDo) {
  Session session({.seed = 0});
  const Linear linear(2, 1);  // torch.manual_seed(0); torch.nn.Linear(2, 1)
  EXPECT_EQ(linear.weight.data<float>()[0], -0.005293981172144413F);
  EXPECT_EQ(linear.weight.data<float>()[1], 0.37932288646698F);
  EXPECT_EQ(linear.bias.data<float>()[0], -0.5819807648658752F);
}

TEST(Layers, ClonesDrawNothingAndShareNothing) {
  Session session({.seed = 0});
  const TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 8});
  const auto before = session.generator().state();
  const TransformerEncoder encoder(layer, 2);
  EXPECT_EQ(session.generator().state(), before);
  const Tensor& a = encoder.layers[0].linear1.weight;
  const Tensor& b = encoder.layers[1].linear1.weight;
  EXPECT_EQ(a.data<float>()[3], b.data<float>()[3]);
  EXPECT_NE(a.storage(), b.storage());
}

TEST(Layers, SayWhatCannotBeBuilt) {
  Session session;
  EXPECT_EQ(error_of([] { Conv2d(3, 4, 3, {.groups = 2}); }),
            "3 channels to 4 cannot be convolved in 2 groups (both numbers of channels must be divisible by "
            "the groups)");
  EXPECT_EQ(error_of([] { Conv2d(3, 4, 3, {.padding = "full"}); }),
            "'full' is no padding of a convolution (give numbers, \"same\" or \"valid\")");
  EXPECT_EQ(error_of([] { GroupNorm(3, 4); }), "4 channels cannot be divided into 3 groups");
  EXPECT_EQ(error_of([] { MultiheadAttention(6, 4); }),
            "MultiheadAttention: 6 numbers cannot be divided among 4 heads");
  EXPECT_EQ(error_of([] { Dropout(1.5); }), "a dropout probability is between 0 and 1, not 1.5");
  EXPECT_EQ(error_of([] { RNN(2, 3, {}, "sin"); }), "'sin' is no nonlinearity of an RNN (take tanh or relu)");
  EXPECT_EQ(error_of([] { Embedding(3, 2, 3); }), "padding_idx is 3, the table has 3 rows");
  EXPECT_EQ(error_of([] { EmbeddingBag(3, 2, {.mode = "median"}); }),
            "an EmbeddingBag has no mode 'median' (take sum, mean or max)");
  EXPECT_EQ(error_of([] { TransformerEncoderLayer(4, 2, {.activation = "tanh"}); }),
            "'tanh' is no activation of a transformer (take relu or gelu)");
  EXPECT_NE(error_of([] { LSTM(2, 3, {}, 3); }).find("a projection is smaller than the hidden size"),
            std::string::npos);
  EXPECT_NE(error_of([] { init::kaiming_uniform_(init::zeros({3})); }).find("no fan in and fan out"),
            std::string::npos);
}

TEST(Layers, SayWhatTheyCannotTake) {
  Session session;
  EXPECT_EQ(error_of([] { BatchNorm2d(3)(ones({2, 3})); }),
            "BatchNorm2d takes an input of 4 dimensions, not 2");
  EXPECT_EQ(error_of([] { BatchNorm1d(3)(ones({1, 3})); }),
            "one value for each channel cannot be normalized (give a larger batch, or call eval() first)");
  EXPECT_EQ(error_of([] { LSTM(2, 3)(ones({5, 4, 2}), LSTM::State(ones({1, 1, 3}), ones({1, 1, 3}))); }),
            "LSTM: a state of the wrong sizes is given, [1, batch, 3] is expected");
  EXPECT_EQ(error_of([] { EmbeddingBag(3, 2)(zeros({4}, DType::kInt64)); }),
            "an EmbeddingBag needs the offsets of bags that stand one after the other");
}

TEST(Layers, BatchNormWithoutMomentumAverages) {
  Session session;
  BatchNorm1d norm(1, {.momentum = std::nullopt});
  norm(ones({2, 1}));
  norm(mul(ones({2, 1}), 3.0));
  EXPECT_EQ(norm.num_batches_tracked.data<int64_t>()[0], 2);
  EXPECT_EQ(norm.running_mean.data<float>()[0], 2.0F);
}

}  // namespace
}  // namespace flambeau::nn
