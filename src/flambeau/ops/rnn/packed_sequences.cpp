// Sequences of several lengths in one tensor, step by step: those that have a step lie together.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

Tensor int64_tensor(Context& context, std::span<const int64_t> numbers) {
  Tensor made = context.allocate(DType::kInt64, Dims{static_cast<int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), made.mutable_data<int64_t>());
  return made;
}

Pair pack_padded_sequence(Context& context, const Tensor& given, const Tensor& lengths_tensor,
                          bool batch_first) {
  Context c = context.without_interceptor();
  if (lengths_tensor.dtype() != DType::kInt64)
    fail_view(fmt::format("'lengths' argument should be a 1D CPU int64 tensor, but got {}",
                          dtype_name(lengths_tensor.dtype())));
  if (given.dim() < 2 || given.element_count() == 0) fail_view("Cannot pack empty tensors.");
  const Tensor input = batch_first ? call(c, "aten::transpose.int", given, 0, 1) : given;
  const std::vector<int64_t> lengths = read_indices(lengths_tensor);
  const int64_t batch = input.sizes()[1];
  if (lengths_tensor.dim() != 1 || std::ssize(lengths) != batch)
    fail_view(fmt::format("Expected `len(lengths)` to be equal to batch_size, but got {} (batch_size={})",
                          lengths.size(), batch));
  for (size_t i = 1; i < lengths.size(); ++i) {
    if (lengths[i] > lengths[i - 1]) fail_view("`lengths` array must be sorted in decreasing order");
  }
  if (lengths.back() <= 0)
    fail_view(fmt::format(
        "Length of all samples has to be greater than 0, but found an element in 'lengths' that is {}",
        lengths.back()));
  if (lengths.front() > input.sizes()[0])
    fail_view(fmt::format("the longest sequence has {} steps, but the input has {}", lengths.front(),
                          input.sizes()[0]));
  std::vector<int64_t> batch_sizes;
  TensorList pieces;
  // As long as as many sequences go on, their steps are one piece.
  int64_t start = 0;
  WorkPoller poll;
  for (size_t last = lengths.size(); last-- > 0;) {
    poll();
    const int64_t steps = lengths[last] - start;
    if (steps <= 0) continue;
    const auto count = static_cast<int64_t>(last) + 1;
    const Tensor rows = call(c, "aten::narrow", call(c, "aten::narrow", input, 0, start, steps), 1, 0, count);
    Dims flat(input.sizes());
    flat.erase(0);
    flat[0] = steps * count;
    pieces.push_back(call(c, "aten::reshape", rows, flat));
    batch_sizes.insert(batch_sizes.end(), static_cast<size_t>(steps), count);
    start = lengths[last];
  }
  return {call(c, "aten::cat", pieces), int64_tensor(context, batch_sizes)};
}

DataShape pack_data_shape(DataNumbers& data, const Info<SymInt>& input, const Info<SymInt>& lengths,
                          bool batch_first) {
  if (input.dim() < 2) fail_view("Cannot pack empty tensors.");
  SymIntList sizes = input.sizes;
  if (!(lengths.dim() == 1 && lengths.sizes[0] == sizes[batch_first ? 0 : 1]))
    fail_view("Expected `len(lengths)` to be equal to batch_size");
  const SymInt steps = data.size(sizes[batch_first ? 1 : 0]);
  const SymInt rows = data.size(sizes[0] * sizes[1]);
  sizes.erase(0);
  sizes[0] = rows;
  return Infos<SymInt>{contiguous<SymInt>(input.dtype, std::move(sizes), input.device),
                       contiguous<SymInt>(DType::kInt64, {steps})};
}

Pair pad_packed_sequence(Context& context, const Tensor& data, const Tensor& batch_sizes_tensor,
                         bool batch_first, Scalar padding_value, Size total_length) {
  Context c = context.without_interceptor();
  const std::vector<int64_t> batch_sizes = read_indices(batch_sizes_tensor);
  if (batch_sizes_tensor.dim() != 1 || batch_sizes.empty() || data.dim() == 0)
    fail_view("expected data and the batch size of at least one step");
  int64_t rows = 0;
  for (size_t i = 0; i < batch_sizes.size(); ++i) {
    const int64_t left = data.sizes()[0] - rows;
    if (batch_sizes[i] <= 0 || batch_sizes[i] > left || (i > 0 && batch_sizes[i] > batch_sizes[i - 1])) {
      fail_view(fmt::format("batch size {} of step {} is not what packed data of {} rows can have",
                            batch_sizes[i], i, data.sizes()[0]));
    }
    rows += batch_sizes[i];
  }
  const auto longest = static_cast<int64_t>(batch_sizes.size());
  if (total_length > 0 && total_length < longest)
    fail_view(fmt::format(
        "Expected total_length to be at least the length of the longest sequence in input, but got "
        "total_length={} and max sequence length being {}",
        total_length, longest));
  Dims sizes(data.sizes());
  sizes[0] = total_length > 0 ? static_cast<int64_t>(total_length) : longest;
  sizes.insert(1, batch_sizes[0]);
  const Tensor out = call_with(c, "aten::full", {sizes, Value(padding_value)}, {{"dtype", data.dtype()}});
  std::vector<int64_t> lengths(static_cast<size_t>(batch_sizes[0]), 0);
  int64_t row = 0;
  WorkPoller poll;
  for (int64_t step = 0; step < longest; ++step) {
    const int64_t count = batch_sizes[static_cast<size_t>(step)];
    poll(static_cast<size_t>(count));
    const Tensor to = call(c, "aten::narrow", call(c, "aten::select.int", out, 0, step), 0, 0, count);
    call(c, "aten::copy_", to, call(c, "aten::narrow", data, 0, row, count));
    row += count;
    for (int64_t i = 0; i < count; ++i) lengths[static_cast<size_t>(i)] = step + 1;
  }
  return {batch_first ? call(c, "aten::transpose.int", out, 0, 1) : out, int64_tensor(context, lengths)};
}

}  // namespace

void define_packed_sequences(Library& library) {
  library
      .define(
          "aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)")
      .function<pack_padded_sequence>()
      .data_shape<pack_data_shape>();
  library
      .define(
          "aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar "
          "padding_value, int "
          "total_length) -> (Tensor, Tensor)")
      .function<pad_packed_sequence>();
}

}  // namespace flambeau::ops
