// Tensors out of nothing: zeros and ones as full, ranges as start_step.
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

// dtype, layout, device and pin_memory stand at these places.
ops::KeywordArguments options_at(const Arguments& given, size_t first, const Value& dtype) {
  return {{"dtype", given.has(first) ? given[first] : dtype},
          {"layout", given.has(first + 1) ? given[first + 1] : Value(Layout::kStrided)},
          {"device", given.has(first + 2) ? given[first + 2] : Value(Device{})},
          {"pin_memory", given.has(first + 3) ? given[first + 3] : Value(false)}};
}

// Truths are filled with one.
Value number_for(int64_t number, const ops::KeywordArguments& options) {
  return options[0].second.get<DType>() == DType::kBool ? Value(number != 0) : Value(number);
}

Decomposition filled(int64_t number) {
  return [number](Context& context, const Arguments& given) {
    const ops::KeywordArguments options = options_at(given, 1, DType::kFloat32);
    return gives(call_with(context, "aten::full", {given[0], number_for(number, options)}, options));
  };
}

Decomposition filled_like(int64_t number) {
  return [number](Context& context, const Arguments& given) {
    return gives(call_with(context, "aten::full_like", {given[0], number},
                           {{"dtype", given[1]},
                            {"layout", given[2]},
                            {"device", given[3]},
                            {"pin_memory", given.has(4) ? given[4] : Value(false)},
                            {"memory_format", given.has(5) ? given[5] : Value(MemoryFormat::kPreserve)}}));
  };
}

ops::KeywordArguments options_of(const Tensor& self, const Arguments& given, size_t first) {
  ops::KeywordArguments options = options_at(given, first, self.dtype());
  if (!given.has(first + 2)) options[2].second = self.device();
  return options;
}

Decomposition filled_new(int64_t number) {
  return [number](Context& context, const Arguments& given) {
    return gives(call_with(context, "aten::full", {given[1], number}, options_of(given.tensor(0), given, 2)));
  };
}

void add_ranges(DecompositionTable& table) {
  table.functional("aten::arange", [](Context& context, const Arguments& given) {
    return gives(
        call_with(context, "aten::arange.start_step", {0, given[0], 1}, options_at(given, 1, Value())));
  });
  table.functional("aten::arange.start", [](Context& context, const Arguments& given) {
    return gives(call_with(context, "aten::arange.start_step", {given[0], given[1], 1},
                           options_at(given, 2, Value())));
  });
  table.functional("aten::eye", [](Context& context, const Arguments& given) {
    const Value count = given[0];
    const Tensor rows = parts::arange(context, 0, count, DType::kUInt8);
    const Tensor columns = parts::arange(context, 0, count, DType::kUInt8);
    const Tensor same = call(context, "aten::eq.Tensor", call(context, "aten::unsqueeze", rows, -1), columns);
    return gives(parts::to_dtype(context, same, given.has(1) ? given[1].get<DType>() : DType::kFloat32));
  });
  table.functional("aten::linspace", [](Context& context, const Arguments& given) {
    const DType dtype = given.has(3) ? given[3].get<DType>() : DType::kFloat32;
    const int64_t steps = given.integer(2);
    if (steps < 2) return std::vector<Value>();
    const Tensor line = parts::arange(context, 0, steps);
    const double step = (given.real(1) - given.real(0)) / static_cast<double>(steps - 1);
    const Tensor is_first = call(context, "aten::lt.Scalar", line, static_cast<double>(steps) / 2);
    const auto from = [&](const Tensor& places) {
      return call(context, "aten::mul.Tensor", parts::to_dtype(context, places, dtype), step);
    };
    const Tensor up = call(context, "aten::add.Tensor", from(line), given[0]);
    const Tensor left = call(context, "aten::sub.Tensor", steps - 1, line);
    const Tensor down = call(context, "aten::sub.Tensor", given[1], from(left));
    return gives(parts::where(context, is_first, up, down));
  });
}

}  // namespace

void add_factories(DecompositionTable& table) {
  table.functional("aten::zeros", filled(0));
  table.functional("aten::ones", filled(1));
  table.functional("aten::zeros_like", filled_like(0));
  table.functional("aten::ones_like", filled_like(1));
  table.functional("aten::new_zeros", filled_new(0));
  table.functional("aten::new_ones", filled_new(1));
  table.functional("aten::new_full", [](Context& context, const Arguments& given) {
    return gives(
        call_with(context, "aten::full", {given[1], given[2]}, options_of(given.tensor(0), given, 3)));
  });
  table.functional("aten::new_empty", [](Context& context, const Arguments& given) {
    return gives(
        call_with(context, "aten::empty.memory_format", {given[1]}, options_of(given.tensor(0), given, 2)));
  });
  table.functional("aten::empty_like", [](Context& context, const Arguments& given) {
    const int64_t rank = rank_of(given.tensor(0));
    std::vector<int64_t> order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    return gives(call_with(context, "aten::empty_permuted", {sizes_of(given.tensor(0)), integers(order)},
                           options_of(given.tensor(0), given, 1)));
  });
  add_ranges(table);
}

}  // namespace flambeau::trace
