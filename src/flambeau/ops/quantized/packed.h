// Weights as quantized layers take them: objects that operators make once and use often. They keep what they
// were made of, which is what files hold, beside the integers in the order of the products.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/quantized/numbers.h"

namespace flambeau::ops {

constexpr std::string_view kLinearClass = "__torch__.torch.classes.quantized.LinearPackedParamsBase";
constexpr std::string_view kConv2dClass = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
constexpr std::string_view kConv3dClass = "__torch__.torch.classes.quantized.Conv3dPackedParamsBase";
constexpr std::string_view kEmbeddingClass = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase";
constexpr std::string_view kCellClass = "__torch__.torch.classes.rnn.CellParamsBase";

// Rows of integers, less their zero point, each padded with zeros.
struct IntegerMatrix {
  IntegerMatrix() = default;
  IntegerMatrix(int64_t row_count, int64_t row_depth);
  int16_t* row(int64_t r) { return values.data() + static_cast<size_t>(r) * step; }
  const int16_t* row(int64_t r) const { return values.data() + static_cast<size_t>(r) * step; }

  int64_t rows = 0;
  int64_t depth = 0;
  size_t step = 0;
  ScratchVector<int16_t> values;
};

// Sums of products of rows that are made when they are needed with all rows of a matrix.
struct IntegerProduct {
  int64_t rows = 0;
  const IntegerMatrix* right = nullptr;
  std::function<void(int64_t row, int16_t* to)> fill;  // writes `depth` integers
  std::function<void(int64_t row, const int32_t* sums)> take;
};
void run_product(Context& context, const IntegerProduct& product);

// The scale of each row of a weight, and its zero point: one for all where it is quantized per tensor.
struct RowScales {
  RowScales(const Tensor& weight, int64_t axis, int64_t rows);
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
};

// How sums of products become quantized results: (sum + bias / products' scale) * scale / result's scale.
class Requantization {
 public:
  Requantization(const Quantizer& input, const RowScales& weight, const Tensor& bias, const Quantizer& output,
                 DType dtype, bool has_relu);
  // Sums of the rows [first, first + count).
  void operator()(const int32_t* sums, int64_t first, int64_t count, uint8_t* to) const;

 private:
  std::vector<float> bias_, multiplier_;
  float least_, most_, zero_point_;
};

struct PackedLinear {
  explicit PackedLinear(Tensor weight, Tensor bias);

  Tensor weight;  // qint8, or float32 for the layers of half precision
  Tensor bias;    // undefined for none
  bool is_half = false;
  std::unique_ptr<RowScales> scales;
  IntegerMatrix matrix;
};

struct PackedConvolution {
  struct Parameters {
    Dims stride, padding, output_padding, dilation;
    int64_t groups = 1;
    bool is_transposed = false;
    size_t dims() const { return stride.size(); }
  };
  PackedConvolution(Tensor weight, Tensor bias, Parameters parameters);

  Tensor weight;
  Tensor bias;
  Parameters parameters;
  int64_t in_channels = 0, out_channels = 0;
  std::unique_ptr<RowScales> scales;
  std::vector<IntegerMatrix> groups;  // a row for each channel of the result: taps, and channels in them
};

[[noreturn]] void fail_object(std::string_view class_name, const Value& value);
// Throws Error(kInvalidArgument) for what is no object of the class.
template <typename T>
const T& packed_object(const Value& value, std::string_view class_name) {
  const Object* const object = value.get_if<Object>();
  if (object == nullptr || object->class_name != class_name || object->pointer == nullptr)
    fail_object(class_name, value);
  return *static_cast<const T*>(object->pointer.get());
}
template <typename T, typename... A>
Object make_object(std::string_view class_name, A&&... arguments) {
  return {std::string(class_name), std::make_shared<T>(std::forward<A>(arguments)...)};
}

// Of a state in a file. Throw Error(kCorrupt).
[[noreturn]] void fail_state(std::string_view class_name, const Value& state);
// The tensor, or an undefined one for None.
Tensor state_tensor(std::string_view class_name, const Value& state);

// The layer with a real input and a real result; the input is quantized on the way.
Tensor linear_dynamic(Context& context, const PackedLinear& linear, const Tensor& input, bool reduce_range);

}  // namespace flambeau::ops
