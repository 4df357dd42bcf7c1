// Losses as arithmetic and a reduction.
#include <limits>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

constexpr int64_t kNone = 0;
constexpr int64_t kMean = 1;
constexpr int64_t kSum = 2;

Tensor exp(Context& c, const Value& a) { return call(c, "aten::exp", a); }
Tensor log1p(Context& c, const Value& a) { return call(c, "aten::log1p", a); }
Tensor neg(Context& c, const Value& a) { return call(c, "aten::neg", a); }
Tensor distance(Context& c, const Value& a, const Value& b) { return call(c, "aten::abs", sub(c, a, b)); }

// The logarithm of each target's probability, and the weight of all together.
std::vector<Value> nll(Context& c, const Arguments& given) {
  Tensor self = given.tensor(0);
  const Tensor& target = given.tensor(1);
  const int64_t reduction = given.integer(3);
  const SymInt ignored = given.number(4);
  const int64_t rank = rank_of(self);
  const int64_t channel = rank < 2 ? 0 : 1;
  Tensor weight;
  if (given.has(2)) {
    weight = given.tensor(2);
    if (rank > 1) {
      SymIntList shape;
      for (int64_t d = 0; d < rank; ++d) shape.push_back(d == channel ? size_of(weight, 0) : SymInt(1));
      weight = call(c, "aten::view", weight, shape);
    }
    self = mul(c, self, weight);
  }
  const auto counts = [&] { return call(c, "aten::ne.Scalar", target, Value(ignored)); };
  const Tensor is_counted = counts();
  const Tensor safe =
      parts::where(c, is_counted, target, parts::scalar(c, 0, target.dtype(), target.device()));
  const Tensor place = call(c, "aten::unsqueeze", safe, channel);
  const auto picked = [&](const Tensor& from) {
    return call(c, "aten::squeeze.dim", call(c, "aten::gather", from, channel, place), channel);
  };
  const Tensor zero_of = neg(c, picked(self));
  Tensor result = parts::where(c, counts(), zero_of, parts::scalar(c, 0, self.dtype(), self.device()));
  if (reduction == kNone && rank > 1)
    return gives(result, parts::full(c, {}, 0.0, self.dtype(), self.device()));
  Tensor total;
  if (given.has(2)) {
    const Tensor wide = call(c, "aten::expand", weight, sizes_of(self));
    const Tensor own =
        parts::where(c, counts(), picked(wide), parts::scalar(c, 0, self.dtype(), self.device()));
    total = call(c, "aten::sum", own);
  } else {
    total = call(c, "aten::sum", counts());
    if (total.dtype() != self.dtype()) {
      total = call_with(c, "aten::_to_copy", {total}, {{"dtype", self.dtype()}, {"device", self.device()}});
    }
  }
  result = call(c, "aten::sum", result);
  if (reduction == kMean) result = div(c, result, total);
  return gives(result, total);
}

std::vector<Value> nll_nd(Context& c, const Arguments& given) {
  const int64_t rank = rank_of(given.tensor(0));
  if (rank == 3 || rank > 4) return {};
  const char* const name = rank == 4 ? "aten::nll_loss2d_forward" : "aten::nll_loss_forward";
  return gives(call<std::vector<Value>>(c, name, given[0], given[1], given[2], given[3], given[4]).at(0));
}

std::vector<Value> cross_entropy(Context& c, const Arguments& given) {
  const Tensor& self = given.tensor(0);
  const Tensor& target = given.tensor(1);
  const int64_t rank = rank_of(self);
  const int64_t reduction = given.integer(3);
  if (rank == rank_of(target) || rank == 3 || rank > 4) return {};  // of probabilities
  const int64_t channel = rank == 1 ? 0 : 1;
  const Tensor logarithms = call(c, "aten::log_softmax.int", self, channel);
  const Tensor loss = call(c, "aten::nll_loss_nd", logarithms, target, given[2], given[3], given[4]);
  const double smoothing = given.real(5);
  if (smoothing == 0) return gives(loss);
  if (given.has(2)) return {};
  Tensor smooth = neg(c, call(c, "aten::sum.dim_IntList", logarithms, Dims{channel}));
  const Tensor is_ignored = call(c, "aten::eq.Scalar", target, given[4]);
  smooth = call(c, "aten::masked_fill.Scalar", smooth, is_ignored, 0.0);
  if (reduction == kMean) {
    const Tensor count = call(c, "aten::sum", call(c, "aten::bitwise_not", is_ignored));
    smooth = div(c, call(c, "aten::sum", smooth), count);
  } else if (reduction == kSum) {
    smooth = call(c, "aten::sum", smooth);
  }
  const SymInt classes = size_of(self, channel);
  if (!classes.is_literal()) return {};
  const Tensor share =
      call(c, "aten::mul.Scalar", smooth, smoothing / static_cast<double>(classes.literal()));
  return gives(add(c, call(c, "aten::mul.Scalar", loss, 1 - smoothing), share));
}

Tensor at_least_zero(Context& c, const Tensor& x) { return call(c, "aten::clamp_min", x, 0); }

void add_distances(DecompositionTable& table) {
  table.functional("aten::mse_loss", [](Context& c, const Arguments& given) {
    const Tensor loss = call(c, "aten::pow.Tensor_Scalar", sub(c, given[0], given[1]), 2);
    return gives(parts::reduce(c, loss, given.integer(2)));
  });
  table.functional("aten::l1_loss", [](Context& c, const Arguments& given) {
    return gives(parts::reduce(c, distance(c, given[0], given[1]), given.integer(2)));
  });
  table.composite("aten::l1_loss", [](Context& c, const Arguments& given) {
    return gives(parts::reduce(c, distance(c, given[0], given[1]), given.integer(2)));
  });
  table.functional("aten::smooth_l1_loss", [](Context& c, const Arguments& given) {
    const double beta = given.real(3);
    const Tensor far = distance(c, given[0], given[1]);
    if (beta == 0) return gives(parts::reduce(c, far, given.integer(2)));
    const Tensor is_near = call(c, "aten::lt.Scalar", far, beta);
    const Tensor near = div(c, mul(c, call(c, "aten::pow.Tensor_Scalar", far, 2), 0.5), beta);
    const Tensor loss = parts::where(c, is_near, near, sub(c, far, 0.5 * beta));
    return gives(parts::reduce(c, loss, given.integer(2)));
  });
  table.functional("aten::huber_loss", [](Context& c, const Arguments& given) {
    const double delta = given.real(3);
    const Tensor far = distance(c, given[0], given[1]);
    const Tensor is_near = call(c, "aten::lt.Scalar", far, delta);
    const Tensor near = mul(c, mul(c, far, 0.5), far);
    const Tensor loss = parts::where(c, is_near, near, mul(c, sub(c, far, 0.5 * delta), delta));
    return gives(parts::reduce(c, loss, given.integer(2)));
  });
  table.composite("aten::hinge_embedding_loss", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    const Tensor& target = given.tensor(1);
    const Tensor zeros =
        call_with(c, "aten::zeros_like", {x}, {{"memory_format", MemoryFormat::kContiguous}});
    const Tensor empty = call(c, "aten::empty_like", x);
    const Tensor margin = call(c, "aten::fill.Scalar", empty, given.real(2));
    const Tensor far = at_least_zero(c, sub(c, margin, x));
    const Tensor negative = parts::where(c, call(c, "aten::ne.Scalar", target, 1), far, zeros);
    const Tensor positive = parts::where(c, call(c, "aten::ne.Scalar", target, -1), x, zeros);
    return gives(parts::reduce(c, add(c, negative, positive), given.integer(3)));
  });
  table.composite("aten::margin_ranking_loss", [](Context& c, const Arguments& given) {
    const Tensor product = mul(c, neg(c, given[2]), sub(c, given[0], given[1]));
    const Tensor loss = at_least_zero(c, call(c, "aten::add.Scalar", product, given[3]));
    return gives(parts::reduce(c, loss, given.integer(4)));
  });
  table.composite("aten::pairwise_distance", [](Context& c, const Arguments& given) {
    const Tensor moved = call(c, "aten::add.Scalar", sub(c, given[0], given[1]), given[3]);
    return gives(call(c, "aten::linalg_vector_norm", moved, given[2], Dims{rank_of(moved) - 1}, given[4]));
  });
  table.composite("aten::triplet_margin_loss", [](Context& c, const Arguments& given) {
    if (given.flag(6)) return std::vector<Value>();
    const auto far = [&](size_t index) {
      return call(c, "aten::pairwise_distance", given[0], given[index], given[4], given[5]);
    };
    const Tensor positive = far(1);
    const Tensor negative = far(2);
    const Tensor loss = at_least_zero(c, sub(c, call(c, "aten::add.Scalar", positive, given[3]), negative));
    return gives(parts::reduce(c, loss, given.integer(7)));
  });
  table.composite("aten::cosine_similarity", [](Context& c, const Arguments& given) {
    const int64_t dim = wrapped_dim(given.integer(2), rank_of(given.tensor(0)));
    const TensorList both =
        call<TensorList>(c, "aten::broadcast_tensors", TensorList{given.tensor(0), given.tensor(1)});
    const Tensor eps = call_with(c, "aten::scalar_tensor", {given.real(3)},
                                 {{"dtype", both[0].dtype()}, {"device", both[0].device()}});
    TensorList sides;
    for (const Tensor& x : both) {
      const Tensor norm = call(c, "aten::clone", call(c, "aten::linalg_vector_norm", x, 2, Dims{dim}, true));
      sides.push_back(div(c, x, call(c, "aten::clamp.Tensor", norm, eps)));
    }
    return gives(call(c, "aten::sum.dim_IntList", mul(c, sides[0], sides[1]), Dims{dim}));
  });
}

void add_likelihoods(DecompositionTable& table) {
  table.functional("aten::nll_loss_forward", nll);
  table.functional("aten::nll_loss2d_forward", nll);
  table.composite("aten::nll_loss_nd", nll_nd);
  table.composite("aten::cross_entropy_loss", cross_entropy);
  table.functional("aten::binary_cross_entropy", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    const auto bounded = [&](const Tensor& logarithm) {
      return call(c, "aten::maximum", logarithm, parts::full(c, {}, -100, x.dtype(), x.device()));
    };
    const Tensor others = mul(c, sub(c, given[1], 1), bounded(log1p(c, neg(c, x))));
    Tensor loss = sub(c, others, mul(c, given[1], bounded(call(c, "aten::log", x))));
    if (given.has(2)) loss = mul(c, loss, given[2]);
    return gives(parts::reduce(c, loss, given.integer(3)));
  });
  table.functional("aten::binary_cross_entropy_with_logits", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    Tensor log_sigmoid = call(c, "aten::log_sigmoid", x);
    if (given.has(3)) {
      const Tensor share = add(c, mul(c, sub(c, given[3], 1), given[1]), 1);
      log_sigmoid = mul(c, share, log_sigmoid);
    }
    Tensor loss = sub(c, mul(c, sub(c, 1, given[1]), x), log_sigmoid);
    if (given.has(2)) loss = mul(c, loss, given[2]);
    return gives(parts::reduce(c, loss, given.integer(4)));
  });
  table.composite("aten::kl_div", [](Context& c, const Arguments& given) {
    Tensor loss;
    if (given.flag(3)) {
      loss = mul(c, exp(c, given[1]), sub(c, given[1], given[0]));
    } else {
      const Tensor entropy = call(c, "aten::xlogy.Tensor", given[1], given[1]);
      loss = sub(c, entropy, mul(c, given[1], given[0]));
    }
    return gives(parts::reduce(c, loss, given.integer(2)));
  });
  table.functional("aten::soft_margin_loss", [](Context& c, const Arguments& given) {
    const Tensor loss = log1p(c, exp(c, mul(c, neg(c, given[0]), given[1])));
    return gives(parts::reduce(c, loss, given.integer(2)));
  });
  table.composite("aten::poisson_nll_loss", [](Context& c, const Arguments& given) {
    if (given.flag(3) || !given.flag(2)) return std::vector<Value>();
    const Tensor loss = sub(c, exp(c, given[0]), mul(c, given[1], given[0]));
    return gives(parts::reduce(c, loss, given.integer(5)));
  });
}

}  // namespace

void add_losses(DecompositionTable& table) {
  add_distances(table);
  add_likelihoods(table);
}

}  // namespace flambeau::trace
