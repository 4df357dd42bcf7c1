#include "flambeau/kernels/onednn/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "flambeau/kernels/gemm_scratch.h"

namespace flambeau::kernels::onednn {
namespace {

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(-0.5F, 0.5F);
  std::vector<float> result(static_cast<size_t>(count));
  for (float& value : result) value = between(random);
  return result;
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// PyTorch's formulas, one step and one element at a time.
struct Reference {
  RecurrentShape s;
  std::vector<float> wi, wh, bi, bh;

  float part(const std::vector<float>& weights, const std::vector<float>& bias, const float* x,
             int64_t inputs, int64_t gate, int64_t i) const {
    const int64_t row = gate * s.hidden + i;
    float sum = bias[static_cast<size_t>(row)];
    for (int64_t k = 0; k < inputs; ++k) sum += weights[static_cast<size_t>(row * inputs + k)] * x[k];
    return sum;
  }

  void run(const std::vector<float>& source, std::vector<float>& hidden, std::vector<float>& cell,
           std::vector<float>& result) const {
    for (int64_t step = 0; step < s.time; ++step) {
      const int64_t t = s.reverse ? s.time - 1 - step : step;
      const std::vector<float> before = hidden;
      for (int64_t n = 0; n < s.batch; ++n) {
        const float* const x = source.data() + (t * s.batch + n) * s.inputs;
        const float* const h = before.data() + n * s.hidden;
        for (int64_t i = 0; i < s.hidden; ++i) {
          const auto in = [&](int64_t gate) { return part(wi, bi, x, s.inputs, gate, i); };
          const auto back = [&](int64_t gate) { return part(wh, bh, h, s.hidden, gate, i); };
          const auto at = static_cast<size_t>(n * s.hidden + i);
          float value = 0;
          if (s.kind == RecurrentKind::kLstm) {
            cell[at] =
                sigmoid(in(1) + back(1)) * cell[at] + sigmoid(in(0) + back(0)) * std::tanh(in(2) + back(2));
            value = sigmoid(in(3) + back(3)) * std::tanh(cell[at]);
          } else if (s.kind == RecurrentKind::kGru) {
            const float reset = sigmoid(in(0) + back(0)), update = sigmoid(in(1) + back(1));
            value = (1 - update) * std::tanh(in(2) + reset * back(2)) + update * h[i];
          } else {
            value = in(0) + back(0);
            value = s.kind == RecurrentKind::kTanh ? std::tanh(value) : std::max(value, 0.0F);
          }
          hidden[at] = value;
          result[static_cast<size_t>((t * s.batch + n) * s.hidden + i)] = value;
        }
      }
    }
  }
};

void expect_near(const std::vector<float>& found, const std::vector<float>& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-5) << "at " << i;
}

TEST(OnednnRecurrent, EqualsTheFormulas) {
  if (!available()) GTEST_SKIP() << "built without oneDNN";
  for (const RecurrentKind kind :
       {RecurrentKind::kLstm, RecurrentKind::kGru, RecurrentKind::kTanh, RecurrentKind::kRelu}) {
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(static_cast<int>(kind));
      const RecurrentShape shape = {
          .kind = kind, .reverse = reverse, .time = 5, .batch = 3, .inputs = 7, .hidden = 10};
      const int64_t rows = shape.hidden * (kind == RecurrentKind::kLstm  ? 4
                                           : kind == RecurrentKind::kGru ? 3
                                                                         : 1);
      const Reference reference = {shape, numbers(rows * 7, 1), numbers(rows * 10, 2), numbers(rows, 3),
                                   numbers(rows, 4)};
      const std::vector<float> source = numbers(5 * 3 * 7, 5), hidden = numbers(30, 6), cell = numbers(30, 7);
      std::vector<float> wanted(150), wanted_hidden = hidden, wanted_cell = cell;
      reference.run(source, wanted_hidden, wanted_cell, wanted);

      const RecurrentLayer layer(shape, reference.wi.data(), reference.wh.data(), reference.bi.data(),
                                 reference.bh.data());
      const std::shared_ptr<void> scratch = aligned_memory(layer.scratch_bytes() + 1);
      std::vector<float> found(150), last_hidden(30), last_cell(30);
      layer.run(source.data(), hidden.data(), cell.data(), found.data(), last_hidden.data(), last_cell.data(),
                scratch.get());
      expect_near(found, wanted);
      expect_near(last_hidden, wanted_hidden);
      if (kind == RecurrentKind::kLstm) expect_near(last_cell, wanted_cell);
    }
  }
}

}  // namespace
}  // namespace flambeau::kernels::onednn
