// Steps that are products of matrices.
#include <fmt/format.h>

#include "steps.h"

namespace flambeau::random_modules {

Made make_product(Builder& b) {
  const auto x = b.pick_float(2, 4);
  if (!x) return {};
  const size_t rank = b.rank(*x);
  // Divided by the length, so that the numbers stay small.
  switch (b.random.below(4)) {
    case 0:
      return {{.text = "matmul($0, transpose($0, -1, -2)) / size($0, -1)",
               .inputs = {*x},
               .run = one([](const TensorList& in) {
                 const Tensor product = nn::matmul(in[0], nn::transpose(in[0], -1, -2));
                 return nn::div(product, nn::size(in[0], -1));
               })}};
    case 1: {
      if (rank != 3) return {};
      return {{.text = "bmm(transpose($0, 1, 2), $0) * 0.1",
               .inputs = {*x},
               .run = one([](const TensorList& in) {
                 return nn::mul(nn::bmm(nn::transpose(in[0], 1, 2), in[0]), 0.1);
               })}};
    }
    case 2: {
      if (rank != 2) return {};
      return {{.text = "mm(t($0), $0) * 0.1",
               .inputs = {*x},
               .run = one([](const TensorList& in) { return nn::mul(nn::mm(nn::t(in[0]), in[0]), 0.1); })}};
    }
    default: {
      const auto y = b.pick([&](size_t at) {
        return b.is_float(at) && b.rank(at) >= 2 && b.rank(at) <= rank &&
               b.same_size(*x, rank - 1, at, b.rank(at) - 2) && b.dtype(at) == b.dtype(*x) &&
               (b.rank(at) == 2 || (b.rank(at) == 3 && rank == 3 && b.same_size(*x, 0, at, 0)));
      });
      if (!y) return {};
      return {{.text = "matmul($0, $1) * 0.3",
               .inputs = {*x, *y},
               .run = one([](const TensorList& in) { return nn::mul(nn::matmul(in[0], in[1]), 0.3); })}};
    }
  }
}

Made make_product_with_parameter(Builder& b) {
  const auto x = b.pick([&](size_t at) {
    return b.dtype(at) == DType::kFloat32 && b.rank(at) >= 2 && b.rank(at) <= 4 &&
           b.is_static(at, b.rank(at) - 1);
  });
  if (!x) return {};
  const int64_t in_size = b.least(*x, b.rank(*x) - 1), out_size = b.random.between(1, 5);
  switch (b.random.below(4)) {
    case 0: {
      const size_t weight = b.parameter({out_size, in_size});
      const size_t bias = b.parameter({out_size});
      return {{.text = fmt::format("linear($0, p{}, p{})", weight, bias),
               .inputs = {*x},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{
                     nn::linear(in[0], frame.module.parameter(weight), frame.module.parameter(bias))};
               }}};
    }
    case 1: {
      if (b.rank(*x) != 2) return {};
      const size_t weight = b.parameter({in_size, out_size});
      const size_t bias = b.parameter({out_size});
      return {{.text = fmt::format("addmm(p{}, $0, p{}, 0.5)", bias, weight),
               .inputs = {*x},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{
                     nn::addmm(frame.module.parameter(bias), in[0], frame.module.parameter(weight), 0.5)};
               }}};
    }
    case 2: {
      if (b.rank(*x) != 3) return {};
      const size_t weight = b.parameter({out_size, in_size});
      return {{.text = fmt::format("einsum(bij,kj->bik, $0, p{})", weight),
               .inputs = {*x},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{nn::einsum("bij,kj->bik", {in[0], frame.module.parameter(weight)})};
               }}};
    }
    default: {
      const size_t weight = b.parameter({in_size});
      return {{.text = fmt::format("matmul($0, p{})", weight),
               .inputs = {*x},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{nn::matmul(in[0], frame.module.parameter(weight))};
               }}};
    }
  }
}

Made make_attention(Builder& b) {
  const auto x = b.pick_float(3, 4);
  if (!x) return {};
  const bool causal = b.random.chance(40);
  return {{.text = fmt::format("scaled_dot_product_attention($0, $0, $0{})", causal ? ", causal" : ""),
           .inputs = {*x},
           .run = one([causal](const TensorList& in) {
             return nn::scaled_dot_product_attention(in[0], in[0], in[0], {}, 0.0, causal);
           })}};
}

}  // namespace flambeau::random_modules
