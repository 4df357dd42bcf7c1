// A tensor as C++ prints it: numbers in columns, and its type and sizes below them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::interpreter {
namespace {

constexpr int64_t kLineSize = 80;

// How all numbers of a tensor, or of one of its matrices, are written.
struct NumberStyle {
  enum class Form : uint8_t { kGeneral, kScientific, kFixed };
  Form form = Form::kGeneral;
  int width = 0;
  double scale = 1;

  void add(std::string& text, double number) const {
    number /= scale;
    switch (form) {
      case Form::kGeneral:
        text += fmt::format("{:>{}g}", number, width);
        return;
      case Form::kScientific:
        text += fmt::format("{:>{}.4e}", number, width);
        return;
      case Form::kFixed:
        text += fmt::format("{:>{}.4f}", number, width);
        return;
    }
  }
};

// Digits before the point; of zero one.
int digits_of(double magnitude) {
  return magnitude == 0 ? 1 : static_cast<int>(std::floor(std::log10(magnitude))) + 1;
}

NumberStyle style_of(std::span<const double> numbers) {
  using Form = NumberStyle::Form;
  bool are_whole = true, has_finite = false;
  double least = 0, greatest = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    are_whole = are_whole && number == std::ceil(number);
    const double magnitude = std::fabs(number);
    least = has_finite ? std::min(least, magnitude) : magnitude;
    greatest = has_finite ? std::max(greatest, magnitude) : magnitude;
    has_finite = true;
  }
  const int low = has_finite ? digits_of(least) : 1, high = has_finite ? digits_of(greatest) : 1;
  if (are_whole) {
    if (high > 9) return {Form::kScientific, 11};
    return {Form::kGeneral, high + 1};
  }
  if (high - low > 4) return {Form::kScientific, std::abs(high) > 99 || std::abs(low) > 99 ? 12 : 11};
  if (high > 5 || high < 0) return {Form::kFixed, 7, std::pow(10, high - 1)};
  return {Form::kFixed, high == 0 ? 7 : high + 6};
}

void add_matrix(std::string& text, std::span<const double> numbers, int64_t rows, int64_t columns,
                int64_t indent) {
  const NumberStyle style = style_of(numbers);
  const int64_t most = (kLineSize - indent) / (style.width + 1);
  const std::string margin(static_cast<size_t>(indent), ' ');
  for (int64_t first = 0; first < columns;) {
    const int64_t last = std::min(first + most, columns);
    if (most < columns) {
      if (first != 0) text += '\n';
      text += fmt::format("Columns {} to {}{}", first + 1, last, margin);
    }
    if (style.scale != 1) text += fmt::format("{} *\n{}", style.scale, margin);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = first; column < last; ++column) {
        style.add(text, numbers[static_cast<size_t>(row * columns + column)]);
        if (column + 1 < last) text += ' ';
      }
      text += '\n';
      if (row + 1 < rows) text += style.scale != 1 ? margin + ' ' : margin;
    }
    first = last;
  }
}

// Matrix by matrix, the first dimension running fastest.
void add_matrices(std::string& text, const Tensor& tensor) {
  const size_t outer = tensor.dim() - 2;
  const int64_t rows = tensor.sizes()[outer], columns = tensor.sizes()[outer + 1];
  std::vector<int64_t> place(outer, 0);
  for (bool is_first = true;; is_first = false) {
    if (!is_first) text += '\n';
    text += '(';
    int64_t offset = 0;
    for (size_t d = 0; d < outer; ++d) {
      offset += place[d] * tensor.strides()[d];
      text += fmt::format("{},", place[d] + 1);
    }
    text += ".,.) = \n";
    add_matrix(text, {tensor.data<double>() + offset, static_cast<size_t>(rows * columns)}, rows, columns, 1);
    size_t d = 0;
    while (d < outer && ++place[d] == tensor.sizes()[d]) place[d++] = 0;
    if (d == outer) return;
  }
}

std::string type_name(const Tensor& tensor) {
  std::string place = tensor.device().type == DeviceType::kCuda ? "CUDA" : tensor.is_meta() ? "Meta" : "CPU";
  if (tensor.quantizer() != nullptr) place = "Quantized" + place;
  return fmt::format("{}{}Type", place, dtype_word(tensor.dtype()));
}

}  // namespace

std::string tensor_text(Call& call, const Tensor& tensor) {
  if (!tensor.defined()) return "[ Tensor (undefined) ]";
  if (tensor.sparse_parts() != nullptr || tensor.is_meta()) return "[ " + tensor.summary() + " ]";
  require_room(static_cast<uint64_t>(tensor.element_count()), 32);
  Tensor numbers = tensor;
  if (tensor.quantizer() != nullptr) {
    const Value arguments[] = {tensor};
    numbers = call_tensor(call, "aten::dequantize.self", arguments);
  }
  const Value arguments[] = {numbers, DType::kFloat64};
  numbers = call_tensor(call, "aten::to.dtype", arguments).to_contiguous();
  std::string text;
  const auto count = static_cast<size_t>(numbers.element_count());
  if (tensor.dim() == 0) {
    text = fmt::format("{}\n", numbers.data<double>()[0]);
  } else if (count > 0 && tensor.dim() == 1) {
    const NumberStyle style = style_of({numbers.data<double>(), count});
    if (style.scale != 1) text += fmt::format("{} *\n", style.scale);
    for (size_t i = 0; i < count; ++i) {
      style.add(text, numbers.data<double>()[i]);
      text += '\n';
    }
  } else if (count > 0 && tensor.dim() == 2) {
    add_matrix(text, {numbers.data<double>(), count}, tensor.sizes()[0], tensor.sizes()[1], 0);
  } else if (count > 0) {
    add_matrices(text, numbers);
  }
  text += fmt::format("[ {}{{{}}}", type_name(tensor), fmt::join(tensor.sizes().span(), ","));
  if (const Quantizer* const quantizer = tensor.quantizer()) {
    text += fmt::format(", qscheme: {}", scheme_name(quantizer->scheme));
    if (quantizer->is_per_channel()) {
      text += ", scales: " + tensor_text(call, quantizer->scales);
      text += ", zero_points: " + tensor_text(call, quantizer->zero_points);
      text += fmt::format(", axis: {}", quantizer->axis);
    } else {
      text += fmt::format(", scale: {}, zero_point: {}", quantizer->scale, quantizer->zero_point);
    }
  }
  return text + " ]";
}

}  // namespace flambeau::interpreter
