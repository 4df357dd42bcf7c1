#include "flambeau/ops/quantized/packed.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "flambeau/ops/quantized/integer_rows.h"

namespace flambeau::ops {

IntegerMatrix::IntegerMatrix(int64_t row_count, int64_t row_depth)
    : rows(row_count),
      depth(row_depth),
      step((static_cast<size_t>(row_depth) + kIntegerLanes - 1) / kIntegerLanes * kIntegerLanes) {
  values.resize(static_cast<size_t>((Size(row_count) * static_cast<int64_t>(step)).value()));
}

void run_product(Context& context, const IntegerProduct& product) {
  const IntegerMatrix& right = *product.right;
  static const auto multiply = FLAMBEAU_PICK(integer_product);
  constexpr int64_t kMostRows = 32;
  constexpr int64_t kMostSums = 1 << 16;
  constexpr size_t kMostDepth = 32768;
  const int64_t block = std::clamp<int64_t>(kMostSums / std::max<int64_t>(right.rows, 1), 1, kMostRows);
  const int64_t blocks = (product.rows + block - 1) / block;
  const Cost cost{.operations = static_cast<double>(block * right.rows) * static_cast<double>(right.step),
                  .bytes = static_cast<double>(right.values.size()) * 2};
  context.pool().for_each_range(static_cast<size_t>(blocks), cost.grain(), [&](size_t begin, size_t end) {
    ScratchVector<int16_t> left(static_cast<size_t>(block) * right.step);
    ScratchVector<int32_t> sums(static_cast<size_t>(block * right.rows));
    for (size_t at = begin; at < end; ++at) {
      poll_work();
      const int64_t first = static_cast<int64_t>(at) * block;
      const int64_t rows = std::min(block, product.rows - first);
      for (int64_t r = 0; r < rows; ++r)
        product.fill(first + r, left.data() + static_cast<size_t>(r) * right.step);
      for (size_t d = 0; d < right.step; d += kMostDepth) {
        multiply(left.data() + d, static_cast<size_t>(rows), right.values.data() + d,
                 static_cast<size_t>(right.rows), std::min(kMostDepth, right.step - d), right.step,
                 sums.data(), d > 0);
      }
      if (right.step == 0) std::ranges::fill(sums, 0);
      for (int64_t r = 0; r < rows; ++r) product.take(first + r, sums.data() + r * right.rows);
    }
  });
}

RowScales::RowScales(const Tensor& weight, int64_t axis, int64_t rows) {
  const Quantizer& quantizer = quantizer_of(weight);
  if (!quantizer.is_per_channel()) {
    scales.assign(static_cast<size_t>(rows), static_cast<float>(quantizer.scale));
    zero_points.assign(static_cast<size_t>(rows), quantizer.zero_point);
    return;
  }
  if (quantizer.axis != axis || quantizer.scheme == Quantizer::Scheme::kPerChannelAffineFloatQParams) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("weights are quantized per channel of dimension {}, not {}", axis, quantizer.axis));
  }
  const std::vector<float> given = numbers_of<float>(quantizer.scales);
  const std::vector<int64_t> points = numbers_of<int64_t>(quantizer.zero_points);
  // The channels of each group of a transposed convolution share the scales.
  for (int64_t r = 0; r < rows; ++r) {
    scales.push_back(given[static_cast<size_t>(r) % given.size()]);
    zero_points.push_back(points[static_cast<size_t>(r) % points.size()]);
  }
}

Requantization::Requantization(const Quantizer& input, const RowScales& weight, const Tensor& bias,
                               const Quantizer& output, DType dtype, bool has_relu) {
  const IntegerRange range = integer_range(dtype);
  zero_point_ = static_cast<float>(output.zero_point);
  least_ = static_cast<float>(has_relu ? std::max(range.least, output.zero_point) : range.least);
  most_ = static_cast<float>(range.most);
  const std::vector<float> shifts = bias.defined() ? numbers_of<float>(bias) : std::vector<float>();
  const auto in = static_cast<float>(input.scale), out = static_cast<float>(output.scale);
  for (size_t i = 0; i < weight.scales.size(); ++i) {
    const float product = in * weight.scales[i];
    multiplier_.push_back(product / out);
    bias_.push_back(shifts.empty() ? 0.0F : shifts[i] / product);
  }
}

void Requantization::operator()(const int32_t* sums, int64_t first, int64_t count, uint8_t* to) const {
  const float* const bias = bias_.data() + first;
  const float* const multiplier = multiplier_.data() + first;
  for (int64_t i = 0; i < count; ++i) {
    const float value = (static_cast<float>(sums[i]) + bias[i]) * multiplier[i];
    float rounded = std::nearbyint(value) + zero_point_;
    rounded = rounded < most_ ? rounded : most_;
    rounded = rounded > least_ ? rounded : least_;
    to[i] = static_cast<uint8_t>(static_cast<int32_t>(rounded));
  }
}

void fail_object(std::string_view class_name, const Value& value) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("an object of {} is expected, not {}", class_name, value.summary()));
}

void fail_state(std::string_view class_name, const Value& state) {
  throw Error(ErrorCode::kCorrupt, fmt::format("{} is no state of {}", state.summary(), class_name));
}

Tensor state_tensor(std::string_view class_name, const Value& state) {
  if (state.is_none()) return {};
  if (const Tensor* const tensor = state.get_if<Tensor>()) return *tensor;
  fail_state(class_name, state);
}

}  // namespace flambeau::ops
