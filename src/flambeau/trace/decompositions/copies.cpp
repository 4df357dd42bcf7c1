// Copies and conversions: to, contiguous, masks and fills.
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

// A conversion that changes nothing is none, unless a copy is wanted.
std::vector<Value> convert(Context& context, const Tensor& self, const ops::KeywordArguments& options,
                           bool copy) {
  bool is_same = !copy;
  ops::KeywordArguments given;
  for (const auto& [name, value] : options) {
    if (value.is_none()) continue;
    if (name == "dtype" && value.get<DType>() != self.dtype()) is_same = false;
    if (name == "device" && value.get<Device>().type != self.device().type) is_same = false;
    if (name == "memory_format" && value.get<MemoryFormat>() == MemoryFormat::kPreserve) continue;
    if (name == "memory_format")
      is_same = is_same && value.get<MemoryFormat>() == MemoryFormat::kContiguous && is_row_major(self);
    given.emplace_back(name, value);
  }
  if (is_same) return gives(self);
  return gives(call_with(context, "aten::_to_copy", {self}, given));
}

void add_conversions(DecompositionTable& table) {
  table.composite("aten::to.dtype", [](Context& context, const Arguments& given) {
    return convert(context, given.tensor(0), {{"dtype", given[1]}, {"memory_format", given[4]}},
                   given.flag(3));
  });
  table.composite("aten::to.device", [](Context& context, const Arguments& given) {
    return convert(context, given.tensor(0),
                   {{"dtype", given[2]}, {"device", given[1]}, {"memory_format", given[5]}}, given.flag(4));
  });
  table.composite("aten::to.dtype_layout", [](Context& context, const Arguments& given) {
    return convert(context, given.tensor(0),
                   {{"dtype", given[1]},
                    {"layout", given[2]},
                    {"device", given[3]},
                    {"pin_memory", given[4]},
                    {"memory_format", given[7]}},
                   given.flag(6));
  });
  table.composite("aten::to.other", [](Context& context, const Arguments& given) {
    return convert(context, given.tensor(0),
                   {{"dtype", given.tensor(1).dtype()},
                    {"layout", Layout::kStrided},
                    {"device", given.tensor(1).device()}},
                   given.flag(3));
  });
  table.composite("aten::type_as", [](Context& context, const Arguments& given) {
    return convert(context, given.tensor(0),
                   {{"dtype", given.tensor(1).dtype()},
                    {"layout", Layout::kStrided},
                    {"device", given.tensor(1).device()}},
                   false);
  });
  table.composite("aten::contiguous", [](Context& context, const Arguments& given) {
    const MemoryFormat format = given[1].get<MemoryFormat>();
    if (format == MemoryFormat::kContiguous && is_row_major(given.tensor(0))) return gives(given.tensor(0));
    return gives(call_with(context, "aten::clone", {given.tensor(0)}, {{"memory_format", format}}));
  });
  table.composite("aten::item", [](Context& context, const Arguments& given) {
    const Value arguments[] = {given.tensor(0)};
    return ops::call(context, context.library().get("aten::_local_scalar_dense"), arguments);
  });
  table.functional("aten::lift_fresh_copy", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::clone", given.tensor(0)));
  });
}

void add_masks(DecompositionTable& table) {
  const auto numbered_where = [](bool has_self, bool has_other) {
    return [=](Context& context, const Arguments& given) {
      const DType dtype = has_self    ? given.tensor(1).dtype()
                          : has_other ? given.tensor(2).dtype()
                                      : DType::kFloat32;
      const Tensor self = has_self ? given.tensor(1) : parts::scalar(context, given[1], dtype);
      const Tensor other = has_other ? given.tensor(2) : parts::scalar(context, given[2], dtype);
      return gives(parts::where(context, given.tensor(0), self, other));
    };
  };
  table.composite("aten::where.ScalarOther", numbered_where(true, false));
  table.composite("aten::where.ScalarSelf", numbered_where(false, true));
  table.composite("aten::where.Scalar", numbered_where(false, false));
  table.functional("aten::masked_fill.Scalar", [](Context& context, const Arguments& given) {
    const Tensor value = parts::scalar(context, given[2], given.tensor(0).dtype(), given.tensor(0).device());
    return gives(parts::where(context, given.tensor(1), value, given.tensor(0)));
  });
  table.functional("aten::masked_fill.Tensor", [](Context& context, const Arguments& given) {
    return gives(parts::where(context, given.tensor(1), given.tensor(2), given.tensor(0)));
  });
}

void add_fills(DecompositionTable& table) {
  table.functional("aten::fill.Scalar", [](Context& context, const Arguments& given) {
    return gives(call_with(context, "aten::full_like", {given.tensor(0), given[1]}, {{"pin_memory", false}}));
  });
  table.functional("aten::fill.Tensor", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::copy", given.tensor(0), given.tensor(1)));
  });
  table.functional("aten::zero", [](Context& context, const Arguments& given) {
    return gives(call_with(context, "aten::full_like", {given.tensor(0), 0}, {{"pin_memory", false}}));
  });
}

}  // namespace

void add_copies(DecompositionTable& table) {
  add_conversions(table);
  add_masks(table);
  add_fills(table);
}

}  // namespace flambeau::trace
