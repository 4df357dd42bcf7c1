// Gradients of distances between vectors, and of vectors of a given length.
#include <cmath>

#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"

namespace flambeau::ops {
namespace {

// What a difference in one coordinate adds to the gradient of the distance.
template <typename T>
T slope_of(T difference, T distance, T p) {
  if (p == T(0)) return T(0);
  const T sign = difference > T(0) ? T(1) : difference < T(0) ? T(-1) : T(0);
  if (p == T(1)) return sign;
  if (std::isinf(p)) return std::abs(difference) == distance ? sign : T(0);
  if (distance == T(0) || (difference == T(0) && p < T(1))) return T(0);
  if (p == T(2)) return difference / distance;
  return sign * std::pow(std::abs(difference), p - T(1)) / std::pow(distance, p - T(1));
}

template <typename N>
Info<N> cdist_gradient_shape(const Info<N>& gradient, const Info<N>& x1, const Info<N>& x2, double,
                             const Info<N>& distances) {
  require(x1.dim() >= 2 && x2.dim() >= 2 && gradient.dim() >= 2,
          "_cdist_backward: expected tensors of at least two dimensions");
  require(x1.sizes[x1.dim() - 1] == x2.sizes[x2.dim() - 1],
          "_cdist_backward: expected vectors of the same length");
  const auto batch = [](const Info<N>& info) {
    ShortList<N> sizes;
    for (size_t d = 0; d + 2 < info.dim(); ++d) sizes.push_back(info.sizes[d]);
    return sizes;
  };
  ShortList<N> sizes = broadcast(batch(x1), batch(x2));
  ShortList<N> expected = sizes;
  expected.push_back(x1.sizes[x1.dim() - 2]);
  expected.push_back(x2.sizes[x2.dim() - 2]);
  require_same_sizes("_cdist_backward", gradient.sizes, expected);
  require_same_sizes("_cdist_backward", distances.sizes, expected);
  sizes.push_back(x1.sizes[x1.dim() - 2]);
  sizes.push_back(x1.sizes[x1.dim() - 1]);
  return contiguous<N>(x1.dtype, std::move(sizes), x1.device);
}
void cdist_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& x1, const Tensor& x2,
                           double p, const Tensor& distances, Tensor& out) {
  with_floats("cdist_backward", out.dtype(), [&]<typename T>(T, DType wide) {
    const size_t rank = out.dim();
    Dims second = out.sizes();
    second[rank - 2] = x2.sizes()[x2.dim() - 2];
    const Tensor a = packed_as(context, broadcast_view(x1, out.sizes()), wide);
    const Tensor b = packed_as(context, broadcast_view(x2, second), wide);
    const Tensor g = packed_as(context, gradient, wide);
    const Tensor far = packed_as(context, distances, wide);
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    const int64_t rows = out.sizes()[rank - 2], columns = second[rank - 2], length = out.sizes()[rank - 1];
    const auto power = static_cast<T>(p);
    for_each_part(context, product_of(out.sizes(), 0, rank - 1), columns * length * 4, [&](int64_t row) {
      const T* const from = a.data<T>() + row * length;
      for (int64_t column = 0; column < columns; ++column) {
        const T* const other = b.data<T>() + (row / rows * columns + column) * length;
        const T share = g.data<T>()[row * columns + column];
        const T distance = far.data<T>()[row * columns + column];
        for (int64_t k = 0; k < length; ++k) {
          to[row * length + k] += share * slope_of(from[k] - other[k], distance, power);
        }
      }
    });
    made.finish();
  });
}

// All pairs of rows, in their order.
template <typename N>
Info<N> pdist_gradient_shape(const Info<N>& gradient, const Info<N>& self, double, const Info<N>& distances) {
  require(self.dim() == 2, "_pdist_backward: expected a matrix");
  const N pairs = floor_div(self.sizes[0] * (self.sizes[0] - N(1)), N(2));
  require_same_sizes("_pdist_backward", gradient.sizes, {pairs});
  require_same_sizes("_pdist_backward", distances.sizes, {pairs});
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
void pdist_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& self, double p,
                           const Tensor& distances, Tensor& out) {
  with_floats("pdist_backward", out.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor x = packed_as(context, self, wide);
    const Tensor g = packed_as(context, gradient, wide);
    const Tensor far = packed_as(context, distances, wide);
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    const int64_t rows = self.sizes()[0], length = self.sizes()[1];
    int64_t pair = 0;
    WorkPoller poll;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = i + 1; j < rows; ++j, ++pair) {
        poll(static_cast<size_t>(length) + 1);
        for (int64_t k = 0; k < length; ++k) {
          const T difference = x.data<T>()[i * length + k] - x.data<T>()[j * length + k];
          const T change = g.data<T>()[pair] * slope_of(difference, far.data<T>()[pair], static_cast<T>(p));
          to[i * length + k] += change;
          to[j * length + k] -= change;
        }
      }
    }
    made.finish();
  });
}

// ---- weights as directions of a given length

template <typename N>
std::tuple<Info<N>, Info<N>> weight_norm_gradient_shape(const Info<N>& gradient, const Info<N>& v,
                                                        const Info<N>& g, const Info<N>& norms, Size dim) {
  require_same_sizes("_weight_norm_interface_backward", gradient.sizes, v.sizes);
  require(v.dim() > 0, "_weight_norm_interface_backward: expected weights with dimensions");
  if (dim != -1) wrap_dim(dim, v.dim());
  const N count = dim == -1 ? N(1) : v.sizes[wrap_dim(dim, v.dim())];
  require(g.element_count() == count && norms.element_count() == count,
          "_weight_norm_interface_backward: expected a length for each index of the dimension");
  return {contiguous<N>(v.dtype, v.sizes, v.device), contiguous<N>(g.dtype, g.sizes, g.device)};
}
void weight_norm_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& v, const Tensor& g,
                                 const Tensor& norms, Size dim, Tensor& of_v, Tensor& of_g) {
  with_floats("weight_norm_backward_first_dim_kernel", v.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor direction = packed_as(context, v, wide);
    const Tensor change = packed_as(context, gradient, wide);
    const Tensor lengths = packed_as(context, g, wide);
    const Tensor norm = packed_as(context, norms, wide);
    PackedOutput made(context, of_v, wide), scales(context, of_g, wide);
    const bool is_whole = dim == -1;
    const size_t at = is_whole ? 0 : wrap_dim(dim, v.dim());
    const int64_t outer = is_whole ? 1 : product_of(v.sizes(), 0, at);
    const int64_t size = is_whole ? 1 : v.sizes()[at];
    const int64_t inner = is_whole ? v.element_count() : product_of(v.sizes(), at + 1, v.dim());
    T* const to = made.data<T>();
    T* const lengths_to = scales.data<T>();
    for_each_part(context, size, outer * inner * 3, [&](int64_t i) {
      const auto each = [&](auto&& body) {
        for (int64_t o = 0; o < outer; ++o) {
          const int64_t first = (o * size + i) * inner;
          for (int64_t k = first; k < first + inner; ++k) body(k);
        }
      };
      double sum = 0;
      each([&](int64_t k) {
        sum += static_cast<double>(change.data<T>()[k]) * static_cast<double>(direction.data<T>()[k]);
      });
      const double whole = static_cast<double>(norm.data<T>()[i]);
      const double factor = static_cast<double>(lengths.data<T>()[i]) / whole;
      lengths_to[i] = static_cast<T>(sum / whole);
      const T straight = static_cast<T>(factor), along = static_cast<T>(factor * sum / (whole * whole));
      each([&](int64_t k) { to[k] = straight * change.data<T>()[k] - along * direction.data<T>()[k]; });
    });
    made.finish();
    scales.finish();
  });
}

}  // namespace

void define_distance_backward(Library& library) {
  library.define("aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor")
      .shape<cdist_gradient_shape<Size>, cdist_gradient_shape<SymInt>>()
      .kernel<cdist_gradient_kernel>();
  library.define("aten::_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor")
      .shape<pdist_gradient_shape<Size>, pdist_gradient_shape<SymInt>>()
      .kernel<pdist_gradient_kernel>();
  library
      .define(
          "aten::_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor "
          "saved_norms, int dim) -> (Tensor, Tensor)")
      .shape<weight_norm_gradient_shape<Size>, weight_norm_gradient_shape<SymInt>>()
      .kernel<weight_norm_gradient_kernel>();
}

}  // namespace flambeau::ops
