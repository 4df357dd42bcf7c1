// Layers that are one operator after all: convolutions, embeddings, dropout.
#include "flambeau/base/error.h"
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

// As many as there are dimensions in space; a single number stands for all of them.
Value spread(const Value& value, int64_t count) {
  const Dims* const list = value.get_if<Dims>();
  if (list == nullptr || list->size() != 1) return value;
  return Dims(static_cast<size_t>(count), (*list)[0]);
}

Tensor with_batch(Context& context, const Tensor& input, int64_t space, auto&& convolve) {
  if (rank_of(input) != space + 1) return convolve(input);
  const Tensor output = convolve(call(context, "aten::unsqueeze", input, 0));
  return call(context, "aten::squeeze.dim", output, 0);
}

Decomposition convolution(int64_t space) {
  return [space](Context& context, const Arguments& given) {
    return gives(with_batch(context, given.tensor(0), space, [&](const Tensor& input) {
      return call(context, "aten::convolution", input, given[1], given[2], spread(given[3], space),
                  spread(given[4], space), spread(given[5], space), false,
                  Dims(static_cast<size_t>(space), 0), given[6]);
    }));
  };
}

Decomposition transposed_convolution(int64_t space) {
  return [space](Context& context, const Arguments& given) {
    return gives(with_batch(context, given.tensor(0), space, [&](const Tensor& input) {
      return call(context, "aten::convolution", input, given[1], given[2], spread(given[3], space),
                  spread(given[4], space), spread(given[7], space), true, spread(given[5], space), given[6]);
    }));
  };
}

// Padding by name.
Decomposition named_convolution(int64_t space) {
  return [space](Context& context, const Arguments& given) {
    const Dims stride = spread(given[3], space).get<Dims>();
    const Dims dilation = spread(given[5], space).get<Dims>();
    Dims padding(static_cast<size_t>(space), 0);
    Tensor input = given.tensor(0);
    if (given.text(4) == "same") {
      bool is_even = true;
      std::vector<int64_t> more(static_cast<size_t>(2 * space), 0);
      for (int64_t d = 0; d < space; ++d) {
        const SymInt kernel = size_of(given.tensor(1), d + 2);
        const SymInt total = SymInt(dilation[static_cast<size_t>(d)]) * (kernel - SymInt(1));
        const int64_t whole = total.literal();
        padding[static_cast<size_t>(d)] = whole / 2;
        if (whole % 2 != 0) {
          is_even = false;
          more[static_cast<size_t>(2 * (space - 1 - d) + 1)] = 1;
        }
      }
      if (!is_even) input = call(context, "aten::constant_pad_nd", input, integers(more), 0);
    }
    return gives(with_batch(context, input, space, [&](const Tensor& batch) {
      return call(context, "aten::convolution", batch, given[1], given[2], stride, padding, dilation, false,
                  Dims(static_cast<size_t>(space), 0), given[6]);
    }));
  };
}

void add_dropouts(DecompositionTable& table) {
  table.composite("aten::dropout", [](Context& context, const Arguments& given) {
    if (!given.flag(2)) return gives(call(context, "aten::clone", given.tensor(0)));
    return gives(
        call<std::vector<Value>>(context, "aten::native_dropout", given.tensor(0), given[1], true).at(0));
  });
  table.composite("aten::feature_dropout", [](Context& context, const Arguments& given) {
    const Tensor& input = given.tensor(0);
    const double p = given.real(1);
    if (!given.flag(2) || p == 0) return gives(input);
    SymIntList shape;
    for (int64_t d = 0; d < rank_of(input); ++d) shape.push_back(d < 2 ? size_of(input, d) : SymInt(1));
    const Tensor empty = call_with(context, "aten::empty.memory_format", {shape},
                                   {{"dtype", input.dtype()},
                                    {"layout", Layout::kStrided},
                                    {"device", input.device()},
                                    {"pin_memory", false}});
    const Tensor kept = call(context, "aten::bernoulli.p", empty, 1 - p);
    return gives(call(context, "aten::mul.Tensor", input, call(context, "aten::div.Scalar", kept, 1 - p)));
  });
  for (const char* const name : {"aten::alpha_dropout", "aten::feature_alpha_dropout"}) {
    table.composite(name, [](Context&, const Arguments& given) {
      if (!given.flag(2) || given.real(1) == 0) return gives(given.tensor(0));
      return std::vector<Value>();
    });
  }
}

}  // namespace

void add_layers(DecompositionTable& table) {
  table.composite("aten::conv1d", convolution(1));
  table.composite("aten::conv2d", convolution(2));
  table.composite("aten::conv3d", convolution(3));
  table.composite("aten::conv1d.padding", named_convolution(1));
  table.composite("aten::conv2d.padding", named_convolution(2));
  table.composite("aten::conv3d.padding", named_convolution(3));
  table.composite("aten::conv_transpose1d", transposed_convolution(1));
  table.composite("aten::conv_transpose2d.input", transposed_convolution(2));
  table.composite("aten::conv_transpose3d.input", transposed_convolution(3));
  table.composite("aten::embedding_bag.padding_idx", [](Context& context, const Arguments& given) {
    return call<std::vector<Value>>(context, "aten::_embedding_bag", given[0], given[1], given[2], given[3],
                                    given[4], given[5], given[6], given[7],
                                    given.has(8) ? given[8] : Value(-1));
  });
  table.composite("aten::grid_sampler", [](Context& context, const Arguments& given) {
    const bool is_flat = rank_of(given.tensor(0)) == 4;
    return gives(call(context, is_flat ? "aten::grid_sampler_2d" : "aten::grid_sampler_3d", given[0],
                      given[1], given[2], given[3], given[4]));
  });
  add_dropouts(table);
}

}  // namespace flambeau::trace
