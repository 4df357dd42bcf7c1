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

}  // namespace

void add_pooling(DecompositionTable& table) {
  add_lines(table);
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
