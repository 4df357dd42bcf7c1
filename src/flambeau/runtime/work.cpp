#include "flambeau/runtime/work.h"

#include <algorithm>

#include "flambeau/runtime/plan.h"

namespace flambeau::runtime {
namespace {

uint64_t count(const Tensor& tensor) {
  return static_cast<uint64_t>(std::max<int64_t>(tensor.element_count(), 0));
}
uint64_t size(const Tensor& tensor, size_t d) { return static_cast<uint64_t>(tensor.sizes()[d]); }

// The number of the argument of that name; nothing when it is none or no tensor.
const Tensor* find_tensor(const ops::Operator& op, std::span<const Value> arguments, std::string_view name) {
  const std::optional<size_t> index = op.schema.find_argument(name);
  if (!index || *index >= arguments.size()) return nullptr;
  const Tensor* const tensor = arguments[*index].get_if<Tensor>();
  return tensor != nullptr && tensor->defined() ? tensor : nullptr;
}

// Results times the length of the sums behind each.
uint64_t product_flops(const Tensor& out, const Tensor& left) {
  return left.dim() == 0 ? 0 : 2 * count(out) * size(left, left.dim() - 1);
}

uint64_t convolution_flops(const Tensor& out, const Tensor& input, const Tensor& weight, bool is_transposed) {
  if (weight.dim() < 2 || size(weight, 0) == 0) return 0;
  const uint64_t each = 2 * (count(weight) / size(weight, 0));
  return each * (is_transposed ? count(input) : count(out));
}

// Scores and their weighted sum.
uint64_t attention_flops(const Tensor& query, const Tensor& key, const Tensor& value) {
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2) return 0;
  const uint64_t rows = count(query) / std::max<uint64_t>(size(query, query.dim() - 1), 1);
  const uint64_t columns = size(key, key.dim() - 2);
  return 2 * rows * columns * (size(query, query.dim() - 1) + size(value, value.dim() - 1));
}

// Every weight meets every row of the input.
uint64_t recurrent_flops(const ops::Operator& op, std::span<const Value> arguments) {
  const Tensor* const input = find_tensor(op, arguments, "input");
  const std::optional<size_t> index = op.schema.find_argument("params");
  if (input == nullptr || !index || input->dim() < 2) return 0;
  uint64_t weights = 0;
  for (const Tensor& tensor : arguments[*index].get<TensorList>()) {
    if (tensor.dim() == 2) weights += count(tensor);
  }
  return 2 * weights * (count(*input) / std::max<uint64_t>(size(*input, input->dim() - 1), 1));
}

uint64_t flops_of(const ops::Operator& op, std::span<const Value> arguments,
                  std::span<const Tensor> outputs) {
  if (outputs.empty()) return 0;
  const std::string_view name = op.schema.name.name;
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  const Tensor* const first = arguments.empty() ? nullptr : arguments[0].get_if<Tensor>();
  if (is({"aten::mm", "aten::bmm", "aten::matmul", "aten::linear", "aten::mv", "aten::dot"}) &&
      first != nullptr)
    return product_flops(outputs[0], *first);
  if (is({"aten::addmm", "aten::baddbmm", "aten::addmv"})) {
    const Tensor* const left = arguments[1].get_if<Tensor>();
    return left == nullptr ? 0 : product_flops(outputs[0], *left);
  }
  if (name.starts_with("aten::conv") || name == "aten::_convolution") {
    const Tensor* const weight = find_tensor(op, arguments, "weight");
    const std::optional<size_t> flag = op.schema.find_argument("transposed");
    const bool is_transposed = flag ? arguments[*flag].get<bool>() : name.starts_with("aten::conv_transpose");
    return first == nullptr || weight == nullptr
               ? 0
               : convolution_flops(outputs[0], *first, *weight, is_transposed);
  }
  if (name.find("scaled_dot_product") != std::string_view::npos) {
    const Tensor* const query = find_tensor(op, arguments, "query");
    const Tensor* const key = find_tensor(op, arguments, "key");
    const Tensor* const value = find_tensor(op, arguments, "value");
    return query == nullptr || key == nullptr || value == nullptr ? 0 : attention_flops(*query, *key, *value);
  }
  if (is({"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"}))
    return recurrent_flops(op, arguments);
  const bool is_float =
      dtype_info(outputs[0].dtype()).is_floating || dtype_info(outputs[0].dtype()).is_complex;
  if (op.is_elementwise && is_float && !is({"aten::clone", "aten::_to_copy", "aten::copy", "aten::where"}))
    return count(outputs[0]);
  // What makes few numbers of many: once for each of the many.
  if (is_float && first != nullptr && count(outputs[0]) < count(*first) &&
      is({"aten::sum", "aten::mean", "aten::var", "aten::std", "aten::amax", "aten::amin", "aten::prod",
          "aten::logsumexp", "aten::norm", "aten::linalg_vector_norm", "aten::avg_pool2d", "aten::max_pool2d",
          "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d"}))
    return count(*first);
  return 0;
}

}  // namespace

Work work_of(const ops::Operator& op, std::span<const Value> arguments, std::span<const Tensor> outputs) {
  Work work;
  if (op.kind == ops::Kind::kView) return work;
  for (const Value& argument : arguments)
    for_each_tensor(argument, [&](const Tensor& tensor) { work.bytes += tensor.byte_count(); });
  for (const Tensor& output : outputs) {
    if (output.defined()) work.bytes += output.byte_count();
  }
  work.flops = flops_of(op, arguments, outputs);
  return work;
}

}  // namespace flambeau::runtime
