// Each backend of this build gives what the kernels give, with what follows a layer done in it.
#include "flambeau/backends/backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/tensor/elements/compare.h"

namespace flambeau::backends {
namespace {

using kernels::Epilogue;
using kernels::ImageOrder;
using Kind = Epilogue::Kind;

Tensor numbers(const Dims& sizes, uint32_t seed, DType dtype = DType::kFloat32) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  Tensor made = Tensor::zeros(dtype, sizes);
  for (int64_t i = 0; i < made.element_count(); ++i) {
    if (dtype == DType::kFloat64) {
      made.mutable_data<double>()[i] = between(random);
    } else {
      made.mutable_data<float>()[i] = between(random);
    }
  }
  return made;
}

Tensor copied(const Tensor& tensor) {
  Tensor made = Tensor::zeros(tensor.dtype(), tensor.sizes());
  std::copy_n(tensor.data(), tensor.byte_count(), made.mutable_data());
  return made;
}

class EachBackend : public testing::TestWithParam<std::string_view> {
 protected:
  // The layer's result; `before` is what its memory holds when it starts.
  Tensor run(const LayerPointer& layer, const Tensor& input, const Tensor& before) {
    const Value arguments[] = {Value(input)};
    Tensor outputs[] = {copied(before)};
    const std::shared_ptr<Storage> scratch = backend->allocate(layer->scratch_bytes());
    layer->run(context, arguments, outputs, *scratch);
    return outputs[0];
  }
  void finish(std::vector<Epilogue> epilogues, Tensor& values, const Tensor& before) {
    kernels::apply(epilogues, values.mutable_data<float>(), before.data<float>(),
                   static_cast<size_t>(values.element_count()));
  }
  Product product(int64_t rows, int64_t columns, int64_t depth, DType dtype = DType::kFloat32) {
    return {.shape = {.dtype = dtype,
                      .rows = rows,
                      .columns = columns,
                      .depth = depth,
                      .left = kernels::MatrixSteps::packed(rows, depth),
                      .right = {1, depth, 0},
                      .out = kernels::MatrixSteps::packed(rows, columns)},
            .weight = numbers(Dims{columns, depth}, 2, dtype),
            .bias = numbers(Dims{columns}, 3, dtype),
            .epilogues = {}};
  }

  std::shared_ptr<const Backend> backend = make_backend(GetParam());
  ops::Library library;
  ThreadPool pool{2};
  ops::Context context{library, pool};
  PackedWeights packed;
};

const std::vector<std::vector<Epilogue>> kChains = {
    {},
    {{.kind = Kind::kRelu}},
    {{.kind = Kind::kRelu, .alpha = 0.1F}},
    {{.kind = Kind::kClip, .alpha = -0.5F, .beta = 0.5F}},
    {{.kind = Kind::kGeluErf}},
    {{.kind = Kind::kGeluTanh}},
    {{.kind = Kind::kSilu}},
    {{.kind = Kind::kTanh}},
    {{.kind = Kind::kSigmoid}},
    {{.kind = Kind::kHardSwish}},
    {{.kind = Kind::kSum, .alpha = 1}},
    {{.kind = Kind::kSum, .alpha = 1}, {.kind = Kind::kRelu}},
    {{.kind = Kind::kGeluErf}, {.kind = Kind::kSum, .alpha = 1}}};

TEST_P(EachBackend, HasItsName) { EXPECT_EQ(backend->name(), GetParam()); }

TEST_P(EachBackend, WorksOnTheHost) {
  EXPECT_EQ(backend->device(), Device());
  const std::shared_ptr<Storage> storage = backend->allocate(100);
  EXPECT_EQ(storage->size(), 100U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->bytes().data()) % 64, 0U);
  const Tensor from = numbers(Dims{5}, 1), to = numbers(Dims{5}, 2);
  backend->copy(from, to);
  EXPECT_EQ(compare(from, to).max_abs, 0);
}

TEST_P(EachBackend, ProductsAndWhatFollowsThem) {
  for (const int64_t rows : {1, 5, 70}) {
    for (const std::vector<Epilogue>& chain : kChains) {
      Product wanted = product(rows, 45, 33);
      const Tensor input = numbers(Dims{rows, 33}, 1), before = numbers(Dims{rows, 45}, 4);
      Tensor plain = ops::call(context, "aten::linear", input, wanted.weight, wanted.bias);
      finish(chain, plain, before);
      wanted.epilogues = chain;
      const LayerPointer layer = backend->product(context, wanted, packed);
      ASSERT_NE(layer, nullptr);
      EXPECT_LT(compare(run(layer, input, before), plain).max_abs, 2e-5) << rows << " rows";
    }
  }
}

// A sum that is taken one after the other loses more digits the longer it is.
TEST_P(EachBackend, NarrowProductsOfManyAddUpInParts) {
  constexpr int64_t kDepth = 1280;
  double squares = 0, exact_squares = 0;
  for (const int64_t columns : {1, 2, 10}) {
    PackedWeights own;
    const Product wanted = product(4, columns, kDepth);
    const Tensor input = numbers(Dims{4, kDepth}, 1);
    const LayerPointer layer = backend->product(context, wanted, own);
    ASSERT_NE(layer, nullptr);
    const Tensor found = run(layer, input, numbers(Dims{4, columns}, 4));
    for (int64_t r = 0; r < 4; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        double exact = wanted.bias.data<float>()[c];
        for (int64_t k = 0; k < kDepth; ++k) {
          exact += static_cast<double>(input.data<float>()[r * kDepth + k]) *
                   static_cast<double>(wanted.weight.data<float>()[c * kDepth + k]);
        }
        const double error = static_cast<double>(found.data<float>()[r * columns + c]) - exact;
        squares += error * error;
        exact_squares += exact * exact;
      }
    }
  }
  EXPECT_LT(std::sqrt(squares / exact_squares), 2e-7);
}

TEST_P(EachBackend, ProductsOfDoubles) {
  const Product wanted = product(20, 7, 9, DType::kFloat64);
  const Tensor input = numbers(Dims{20, 9}, 1, DType::kFloat64);
  const LayerPointer layer = backend->product(context, wanted, packed);
  ASSERT_NE(layer, nullptr);
  const Tensor plain = ops::call(context, "aten::linear", input, wanted.weight, wanted.bias);
  EXPECT_LT(compare(run(layer, input, plain), plain).max_abs, 1e-12);
}

TEST_P(EachBackend, GivesTheSameBitsWithAnyNumberOfThreads) {
  struct Runner {
    Runner(const ops::Library& library, int threads) : pool(threads, 64), context(library, pool) {}
    ThreadPool pool;
    ops::Context context;
    PackedWeights packed;
  };
  const auto run_with = [&](int threads, auto&& make, const Tensor& input, const Dims& sizes) {
    Runner runner(library, threads);
    const LayerPointer layer = make(runner);
    const std::shared_ptr<Storage> scratch = backend->allocate(layer->scratch_bytes());
    const Value arguments[] = {Value(input)};
    Tensor outputs[] = {Tensor::zeros(DType::kFloat32, sizes)};
    layer->run(runner.context, arguments, outputs, *scratch);
    return outputs[0];
  };
  const auto check = [&](auto&& make, const Tensor& input, const Dims& sizes) {
    const Tensor alone = run_with(1, make, input, sizes);
    for (const int threads : {2, 5, 16})
      EXPECT_EQ(compare(run_with(threads, make, input, sizes), alone).max_abs, 0) << threads << " threads";
  };
  for (const int64_t rows : {1, 8, 65}) {
    const Product wanted = product(rows, 300, 700);
    check([&](Runner& runner) { return backend->product(runner.context, wanted, runner.packed); },
          numbers(Dims{rows, 700}, 1), Dims{rows, 300});
  }
  for (const auto& [channels, size] : {std::pair<int64_t, int64_t>{256, 4}, {64, 20}, {16, 50}}) {
    Convolution wanted;
    wanted.shape = {.in_channels = channels,
                    .out_channels = channels,
                    .input = {1, size, size},
                    .kernel = {1, 3, 3},
                    .padding = {0, 1, 1},
                    .input_order = ImageOrder::kChannelsLast,
                    .output_order = ImageOrder::kChannelsLast};
    wanted.weight = numbers(Dims{channels, channels, 3, 3}, 2);
    const Dims sizes{1, size, size, channels};
    check([&](Runner& runner) { return backend->convolution(runner.context, wanted); }, numbers(sizes, 1),
          sizes);
  }
}

TEST_P(EachBackend, HalvesAreLeftToTheirOperator) {
  Product wanted = product(20, 7, 9);
  wanted.shape.dtype = DType::kBFloat16;
  EXPECT_EQ(backend->product(context, wanted, packed), nullptr);
}

TEST_P(EachBackend, ConvolutionsAndWhatFollowsThem) {
  struct Case {
    int64_t groups, in, out, size, kernel, stride, padding;
  };
  for (const Case& c :
       {Case{1, 16, 24, 9, 3, 1, 1}, Case{1, 3, 8, 17, 7, 2, 3}, Case{1, 16, 32, 8, 1, 1, 0},
        Case{12, 12, 12, 10, 3, 1, 1}, Case{12, 12, 12, 10, 3, 2, 1}, Case{4, 16, 32, 6, 3, 1, 0}}) {
    for (const std::vector<Epilogue>& chain : kChains) {
      const Tensor input = numbers(Dims{2, c.in, c.size, c.size}, 1);
      Convolution wanted;
      wanted.shape = {.batch = 2,
                      .groups = c.groups,
                      .in_channels = c.in,
                      .out_channels = c.out,
                      .input = {1, c.size, c.size},
                      .kernel = {1, c.kernel, c.kernel},
                      .stride = {1, c.stride, c.stride},
                      .padding = {0, c.padding, c.padding}};
      wanted.weight = numbers(Dims{c.out, c.in / c.groups, c.kernel, c.kernel}, 2);
      wanted.bias = numbers(Dims{c.out}, 3);
      wanted.epilogues = chain;
      Tensor plain = ops::call(context, "aten::conv2d", input, wanted.weight, wanted.bias, Dims{c.stride},
                               Dims{c.padding}, Dims{1}, c.groups);
      const Tensor before = numbers(plain.sizes(), 4);
      finish(chain, plain, before);
      const LayerPointer layer = backend->convolution(context, wanted);
      ASSERT_NE(layer, nullptr);
      EXPECT_LT(compare(run(layer, input, before), plain).max_abs, 5e-5)
          << c.kernel << " groups " << c.groups;
    }
  }
}

TEST_P(EachBackend, ConvolutionsOfAnyDimensions) {
  const Tensor line = numbers(Dims{2, 5, 30}, 1), solid = numbers(Dims{1, 3, 4, 5, 6}, 1);
  Convolution wanted;
  wanted.space = 1;
  wanted.shape = {.batch = 2, .in_channels = 5, .out_channels = 6, .input = {1, 1, 30}, .kernel = {1, 1, 4}};
  wanted.weight = numbers(Dims{6, 5, 4}, 2);
  Tensor plain = ops::call(context, "aten::conv1d", line, wanted.weight);
  EXPECT_LT(compare(run(backend->convolution(context, wanted), line, plain), plain).max_abs, 1e-5);
  wanted.space = 3;
  wanted.shape = {.in_channels = 3, .out_channels = 4, .input = {4, 5, 6}, .kernel = {2, 3, 3}};
  wanted.weight = numbers(Dims{4, 3, 2, 3, 3}, 2);
  plain = ops::call(context, "aten::conv3d", solid, wanted.weight);
  EXPECT_LT(compare(run(backend->convolution(context, wanted), solid, plain), plain).max_abs, 1e-5);
  wanted.space = 2;
  wanted.shape = {.transposed = true,
                  .in_channels = 6,
                  .out_channels = 4,
                  .input = {1, 5, 5},
                  .kernel = {1, 3, 3},
                  .stride = {1, 2, 2},
                  .output_padding = {0, 1, 1}};
  wanted.weight = numbers(Dims{6, 4, 3, 3}, 2);
  const Tensor image = numbers(Dims{1, 6, 5, 5}, 1);
  plain = ops::call(context, "aten::conv_transpose2d.input", image, wanted.weight, Value(), Dims{2}, Dims{0},
                    Dims{1});
  EXPECT_LT(compare(run(backend->convolution(context, wanted), image, plain), plain).max_abs, 1e-5);
}

TEST_P(EachBackend, ConvolutionsWithChannelsLast) {
  Convolution wanted;
  wanted.shape = {.in_channels = 16,
                  .out_channels = 24,
                  .input = {1, 7, 7},
                  .kernel = {1, 3, 3},
                  .input_order = ImageOrder::kChannelsLast,
                  .output_order = ImageOrder::kChannelsLast};
  wanted.weight = numbers(Dims{24, 16, 3, 3}, 2);
  const Tensor rows = numbers(Dims{1, 7, 7, 16}, 1);  // as the image lies
  const Tensor image = rows.with_geometry({Dims{1, 16, 7, 7}, Dims{784, 1, 112, 16}, 0});
  const Tensor plain = ops::call(context, "aten::conv2d", image.to_contiguous(), wanted.weight);
  Tensor out = Tensor::zeros(DType::kFloat32, Dims{1, 5, 5, 24});
  out = run(backend->convolution(context, wanted), rows, out);
  EXPECT_LT(compare(out.with_geometry({Dims{1, 24, 5, 5}, Dims{600, 1, 120, 24}, 0}), plain).max_abs, 1e-5);
}

TEST_P(EachBackend, TheSameInEachRunAndThread) {
  Product wanted = product(64, 300, 200);
  wanted.epilogues = {{.kind = Kind::kGeluErf}};
  const Tensor input = numbers(Dims{64, 200}, 1), before = numbers(Dims{64, 300}, 4);
  const LayerPointer layer = backend->product(context, wanted, packed);
  const Tensor first = run(layer, input, before);
  std::vector<std::thread> runners;
  for (int i = 0; i < 4; ++i) {
    runners.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) EXPECT_EQ(compare(run(layer, input, before), first).max_abs, 0);
    });
  }
  for (std::thread& runner : runners) runner.join();
}

TEST_P(EachBackend, NetworksOfTheirWeights) {
  const Tensor input = numbers(Dims{4, 2, 5}, 1);
  const Tensor states[] = {numbers(Dims{1, 2, 3}, 2), numbers(Dims{1, 2, 3}, 3)};
  const Tensor parameters[] = {numbers(Dims{12, 5}, 4), numbers(Dims{12, 3}, 5), numbers(Dims{12}, 6),
                               numbers(Dims{12}, 7)};
  const ops::RecurrentCall call{.input = &input, .states = states, .parameters = parameters};
  const LayerPointer layer = backend->recurrent(context, call);
  ASSERT_NE(layer, nullptr);
  const Value arguments[] = {Value(input), Value(states[0]), Value(states[1])};
  Tensor outputs[] = {numbers(Dims{4, 2, 3}, 8), numbers(Dims{1, 2, 3}, 9), numbers(Dims{1, 2, 3}, 10)};
  const std::shared_ptr<Storage> scratch = backend->allocate(layer->scratch_bytes());
  layer->run(context, arguments, outputs, *scratch);
  const std::vector<Value> plain = ops::call(
      context, library.get("aten::lstm.input"),
      std::vector<Value>{Value(input), Value(TensorList{states[0], states[1]}),
                         Value(TensorList(std::begin(parameters), std::end(parameters))), Value(true),
                         Value(1), Value(0.0), Value(false), Value(false), Value(false)});
  for (size_t i = 0; i < 3; ++i) EXPECT_LT(compare(outputs[i], plain[i].tensor()).max_abs, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Backends, EachBackend, testing::ValuesIn(backend_names()),
                         [](const auto& given) { return std::string(given.param); });

TEST(Backends, TheBestIsTheFirst) {
  EXPECT_EQ(make_backend()->name(), backend_names().front());
  EXPECT_EQ(backend_names().back(), "portable");
}

TEST(Backends, AnUnknownNameIsRefused) {
  try {
    make_backend("abacus");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(error.message().starts_with("there is no backend 'abacus' in this build; it has "))
        << error.message();
    EXPECT_TRUE(error.message().ends_with("portable")) << error.message();
  }
}

TEST(Backends, OneThatHasNothingLeavesAllToTheOperators) {
  class Nothing final : public Backend {
    std::string_view name() const override { return "nothing"; }
  };
  const Nothing nothing;
  const ops::Library library;
  ThreadPool pool(1);
  ops::Context context(library, pool);
  PackedWeights packed;
  const Backend& backend = nothing;
  EXPECT_EQ(backend.convolution(context, {}), nullptr);
  EXPECT_EQ(backend.product(context, {}, packed), nullptr);
  EXPECT_EQ(backend.recurrent(context, {}), nullptr);
  EXPECT_EQ(backend.kernel(context, library.get("aten::relu"), {}, {}), nullptr);
  EXPECT_EQ(backend.image_order({}), ImageOrder::kChannelsFirst);
}

TEST(PackedWeights, AreKeptByTensorAndKind) {
  PackedWeights packed;
  const auto count = [&](const Tensor& weight) {
    return packed.with<int>(weight, [](int& n) { return ++n; });
  };
  const Tensor weight = numbers(Dims{4, 4}, 1);
  EXPECT_EQ(count(weight), 1);
  EXPECT_EQ(count(weight), 2);
  EXPECT_EQ(count(weight.with_geometry({Dims{4, 4}, Dims{1, 4}, 0})), 1) << "another view";
  EXPECT_EQ(packed.with<long>(weight, [](long& n) { return ++n; }), 1) << "another backend's";
  EXPECT_EQ(count(weight), 3);
}

TEST(PackedWeights, OfWeightsThatAreGoneAreGone) {
  PackedWeights packed;
  const auto kept = std::make_shared<int>(0);
  {
    const Tensor weight = numbers(Dims{4}, 1);
    packed.with<std::shared_ptr<int>>(weight, [&](auto& one) { one = kept; });
    EXPECT_EQ(kept.use_count(), 2);
  }
  // Whoever asks for weights at the same address finds nothing of the others'.
  for (int i = 0; i < 100 && kept.use_count() > 1; ++i) {
    const Tensor weight = numbers(Dims{4}, 1);
    packed.with<std::shared_ptr<int>>(weight, [&](auto& one) { EXPECT_EQ(one, nullptr); });
  }
}

}  // namespace
}  // namespace flambeau::backends
