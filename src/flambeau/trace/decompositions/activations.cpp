// Activations as arithmetic.
#include <cmath>
#include <limits>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

Tensor gt(Context& c, const Value& a, const Value& b) { return call(c, "aten::gt.Scalar", a, b); }

Tensor clamped(Context& c, const Tensor& x, const Value& least, const Value& most) {
  return call(c, "aten::clamp", call(c, "aten::clamp", x, least), Value(), most);
}

Tensor softplus(Context& c, const Tensor& x, const Value& beta, const Value& threshold) {
  const bool is_plain = beta.scalar().to_double() == 1;
  const Tensor scaled = is_plain ? x : mul(c, x, beta);
  Tensor soft = call(c, "aten::log1p", call(c, "aten::exp", scaled));
  if (!is_plain) soft = div(c, soft, beta);
  return parts::where(c, gt(c, scaled, threshold), x, soft);
}

Tensor log_sigmoid(Context& c, const Tensor& x) {
  const Tensor zero = parts::full(c, {}, 0, x.dtype(), x.device());
  const Tensor least = call(c, "aten::minimum", zero, x);
  const Tensor exp = call(c, "aten::exp", call(c, "aten::neg", call(c, "aten::abs", x)));
  return sub(c, least, call(c, "aten::log1p", exp));
}

Tensor celu(Context& c, const Tensor& x, const Value& alpha) {
  Tensor below;
  if (alpha.is_none() || alpha.scalar().to_double() == 1) {
    below = call(c, "aten::expm1", x);
  } else {
    below = mul(c, call(c, "aten::expm1", div(c, x, alpha)), alpha);
  }
  return parts::where(c, gt(c, x, 0), x, below);
}

void add_soft(DecompositionTable& table) {
  table.functional("aten::silu", [](Context& c, const Arguments& given) {
    return gives(mul(c, given.tensor(0), call(c, "aten::sigmoid", given.tensor(0))));
  });
  table.functional("aten::mish", [](Context& c, const Arguments& given) {
    const Tensor soft = softplus(c, given.tensor(0), 1, 20);
    return gives(mul(c, given.tensor(0), call(c, "aten::tanh", soft)));
  });
  table.functional("aten::softplus", [](Context& c, const Arguments& given) {
    return gives(softplus(c, given.tensor(0), given[1], given[2]));
  });
  table.functional("aten::celu", [](Context& c, const Arguments& given) {
    return gives(celu(c, given.tensor(0), given[1]));
  });
  table.composite("aten::selu", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::elu", given.tensor(0), 1.6732632423543772848170429916717,
                      1.0507009873554804934193349852946));
  });
  table.composite("aten::log_sigmoid", [](Context& c, const Arguments& given) {
    return gives(call<std::vector<Value>>(c, "aten::log_sigmoid_forward", given.tensor(0)).at(0));
  });
  table.functional("aten::log_sigmoid_forward", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    return gives(log_sigmoid(c, x), parts::full(c, {SymInt(0)}, 0, x.dtype(), x.device()));
  });
  table.functional("aten::glu", [](Context& c, const Arguments& given) {
    const int64_t dim = wrapped_dim(given.integer(1), rank_of(given.tensor(0)));
    const SymInt size = size_of(given.tensor(0), dim);
    const SymInt half = floor_div(size, SymInt(2));
    const Tensor first = call(c, "aten::slice.Tensor", given.tensor(0), dim, 0, half);
    const Tensor second = call(c, "aten::slice.Tensor", given.tensor(0), dim, half, size);
    return gives(mul(c, first, call(c, "aten::sigmoid", second)));
  });
}

void add_hard(DecompositionTable& table) {
  table.composite("aten::relu6", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::hardtanh", given.tensor(0), 0, 6));
  });
  table.functional("aten::hardsigmoid", [](Context& c, const Arguments& given) {
    return gives(div(c, clamped(c, add(c, given.tensor(0), 3), 0, 6), 6));
  });
  table.functional("aten::hardswish", [](Context& c, const Arguments& given) {
    return gives(div(c, mul(c, given.tensor(0), clamped(c, add(c, given.tensor(0), 3), 0, 6)), 6));
  });
  table.functional("aten::softshrink", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    const Tensor is_large = gt(c, call(c, "aten::abs", x), given[1]);
    const Tensor moved = sub(c, x, mul(c, call(c, "aten::sign", x), given[1]));
    return gives(parts::where(c, is_large, moved, mul(c, x, 0)));
  });
  table.functional("aten::hardshrink", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    const Tensor is_small = call(c, "aten::le.Scalar", call(c, "aten::abs", x), given[1]);
    return gives(parts::where(c, is_small, parts::scalar(c, 0, x.dtype(), x.device()), x));
  });
  table.functional("aten::threshold", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    const Tensor is_small = call(c, "aten::le.Scalar", x, given[1]);
    return gives(parts::where(c, is_small, parts::scalar(c, given[2], x.dtype(), x.device()), x));
  });
  table.composite("aten::prelu", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    Tensor weight = given.tensor(1);
    if (rank_of(weight) != rank_of(x)) {
      SymIntList shape;
      for (int64_t d = 0; d < rank_of(x); ++d)
        shape.push_back(d == 1 && rank_of(weight) == 1 ? size_of(weight, 0) : SymInt(1));
      weight = parts::reshape(c, weight, shape);
    }
    return gives(call(c, "aten::_prelu_kernel", x, weight));
  });
  table.functional("aten::_prelu_kernel", [](Context& c, const Arguments& given) {
    const Tensor is_positive = gt(c, given.tensor(0), 0);
    return gives(parts::where(c, is_positive, given.tensor(0), mul(c, given.tensor(1), given.tensor(0))));
  });
}

Decomposition softmax(const char* native) {
  return [native](Context& c, const Arguments& given) {
    Tensor input = given.tensor(0);
    if (given.has(2) && given[2].get<DType>() != input.dtype()) {
      input = call_with(c, "aten::_to_copy", {input},
                        {{"dtype", given[2]}, {"layout", Layout::kStrided}, {"device", input.device()}});
    }
    return gives(call(c, native, input, given[1], false));
  };
}

}  // namespace

void add_activations(DecompositionTable& table) {
  add_soft(table);
  add_hard(table);
  table.composite("aten::softmax.int", softmax("aten::_softmax"));
  table.composite("aten::log_softmax.int", softmax("aten::_log_softmax"));
}

}  // namespace flambeau::trace
