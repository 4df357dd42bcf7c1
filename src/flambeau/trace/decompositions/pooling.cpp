// Pooling: along a line as along an image of one row.
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

Value with_row(const Value& value, int64_t number) {
  const Dims* const list = value.get_if<Dims>();
  if (list == nullptr || list->empty()) return value;
  return Dims{number, (*list)[0]};
}

Tensor raised(Context& context, const Tensor& input) { return call(context, "aten::unsqueeze", input, -2); }
Tensor lowered(Context& context, const Tensor& output) {
  return call(context, "aten::squeeze.dim", output, -2);
}

Decomposition first_of(const char* name) {
  return [name](Context& context, const Arguments& given) {
    const ops::Operator& op = context.library().get(name);
    return gives(ops::call(context, op, ops::bind_arguments(op.schema, given.values())).at(0));
  };
}

bool is_one(const Value& sizes) {
  for (const SymInt& size : to_syms(sizes)) {
    if (!(size.is_literal() && size.literal() == 1)) return false;
  }
  return true;
}

void add_lines(DecompositionTable& table) {
  table.composite("aten::max_pool1d", [](Context& context, const Arguments& given) {
    const Value stride = given[2].get<Dims>().empty() ? given[1] : given[2];
    const Tensor output =
        call(context, "aten::max_pool2d", raised(context, given.tensor(0)), with_row(given[1], 1),
             with_row(stride, 1), with_row(given[3], 0), with_row(given[4], 1), given[5]);
    return gives(lowered(context, output));
  });
  table.composite("aten::avg_pool1d", [](Context& context, const Arguments& given) {
    const Value stride = given[2].get<Dims>().empty() ? given[1] : given[2];
    const Tensor output =
        call(context, "aten::avg_pool2d", raised(context, given.tensor(0)), with_row(given[1], 1),
             with_row(stride, 1), with_row(given[3], 0), given[4], given[5]);
    return gives(lowered(context, output));
  });
  table.composite("aten::adaptive_avg_pool1d", [](Context& context, const Arguments& given) {
    const Tensor output =
        call(context, "aten::adaptive_avg_pool2d", raised(context, given.tensor(0)), with_row(given[1], 1));
    return gives(lowered(context, output));
  });
  table.composite("aten::adaptive_max_pool1d", [](Context& context, const Arguments& given) {
    const std::vector<Value> output = call<std::vector<Value>>(
        context, "aten::adaptive_max_pool2d", raised(context, given.tensor(0)), with_row(given[1], 1));
    return gives(lowered(context, output[0].tensor()), lowered(context, output[1].tensor()));
  });
}

// The places of a sliding window along one dimension: rows of the window, columns of its positions.
Tensor window_places(Context& context, int64_t size, int64_t kernel, int64_t dilation, int64_t padding,
                     int64_t stride, Device device) {
  const ops::KeywordArguments options = {{"dtype", DType::kInt64}, {"device", device}, {"pin_memory", false}};
  const int64_t end = size + 2 * padding - dilation * (kernel - 1);
  const Tensor starts = call_with(context, "aten::arange.start_step", {0, end, stride}, options);
  const Tensor row = call(context, "aten::unsqueeze", starts, 0);
  const Tensor steps =
      call_with(context, "aten::arange.start_step", {0, kernel * dilation, dilation}, options);
  return call(context, "aten::add.Tensor", row, call(context, "aten::unsqueeze", steps, -1));
}

std::vector<Value> im2col(Context& context, const Arguments& given) {
  const Tensor& input = given.tensor(0);
  if (rank_of(input) != 4) return {};
  const Dims& kernel = given[1].get<Dims>();
  const Dims& dilation = given[2].get<Dims>();
  const Dims& padding = given[3].get<Dims>();
  const Dims& stride = given[4].get<Dims>();
  const SymIntList sizes = sizes_of(input);
  if (!sizes[2].is_literal() || !sizes[3].is_literal()) return {};
  const auto places = [&](size_t d) {
    return window_places(context, sizes[d + 2].literal(), kernel[d], dilation[d], padding[d], stride[d],
                         input.device());
  };
  Tensor rows = places(0);
  const Tensor columns = places(1);
  const SymInt count = size_of(rows, 1) * size_of(columns, 1);
  const Tensor padded = call(context, "aten::constant_pad_nd", input,
                             Dims{padding[1], padding[1], padding[0], padding[0]}, 0.0);
  rows = call(context, "aten::unsqueeze", call(context, "aten::unsqueeze", rows, -1), -1);
  const Tensor windows =
      call(context, "aten::index.Tensor", padded, TensorList{Tensor(), Tensor(), rows, columns});
  const Tensor moved = call(context, "aten::permute", windows, Dims{0, 1, 2, 4, 3, 5});
  return gives(
      parts::reshape(context, moved, {sizes[0], sizes[1] * SymInt(kernel[0]) * SymInt(kernel[1]), count}));
}

}  // namespace

void add_pooling(DecompositionTable& table) {
  add_lines(table);
  table.functional("aten::im2col", im2col);
  table.composite("aten::max_pool2d", first_of("aten::max_pool2d_with_indices"));
  table.composite("aten::max_pool3d", first_of("aten::max_pool3d_with_indices"));
  const auto adaptive = [](const char* native, std::vector<int64_t> dims) {
    return [=](Context& context, const Arguments& given) {
      if (is_one(given[1]))
        return gives(call(context, "aten::mean.dim", given.tensor(0), integers(dims), true));
      return gives(call(context, native, given.tensor(0), given[1]));
    };
  };
  table.composite("aten::adaptive_avg_pool2d", adaptive("aten::_adaptive_avg_pool2d", {-1, -2}));
  table.composite("aten::adaptive_avg_pool3d", adaptive("aten::_adaptive_avg_pool3d", {-1, -2, -3}));
}

}  // namespace flambeau::trace
