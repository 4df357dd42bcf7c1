// Activation functions of two tensors: prelu with its slopes, glu with its gate.
#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

struct Prelu {
  static constexpr std::string_view kName = "prelu";
  static constexpr Hot kHot = Hot::kPrelu;
};

// The slopes as they broadcast: one for all, or one for each channel (dimension 1).
template <typename N>
Info<N> slopes(const Info<N>& self, const Info<N>& weight) {
  if (self.dtype != weight.dtype) {
    throw Error(ErrorCode::kInvalidArgument, "prelu: Type promoting not supported. Got " +
                                                 std::string(dtype_name(self.dtype)) + " and " +
                                                 std::string(dtype_name(weight.dtype)));
  }
  const N count = weight.element_count();
  if (weight.dim() > 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = " +
                    std::to_string(weight.dim()));
  }
  if (!(count == N(1))) {
    if (self.dim() == 0) {
      throw Error(ErrorCode::kInvalidArgument, "Not allow zero-dim input tensor.");
    }
    const N channels = self.dim() > 1 ? self.size(1) : N(1);
    if (!(channels == count)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "Mismatch of parameter numbers and input channel size. Found parameter numbers = " +
                      number_text(count) + " and channel size = " + number_text(channels));
    }
  }
  Info<N> seen = weight;
  if (self.dim() == weight.dim()) return seen;
  seen.sizes = ShortList<N>(self.dim(), N(1));
  seen.strides = ShortList<N>(self.dim(), N(1));
  if (self.dim() >= 2) {
    seen.sizes[1] = count;
    seen.strides[1] = weight.dim() == 0 ? N(1) : weight.strides[0];
    seen.strides[0] = count;
  }
  return seen;
}

template <typename N>
Info<N> prelu_shape(const Info<N>& self, const Info<N>& weight) {
  return elementwise_info<N>(self.dtype, self, slopes(self, weight));
}
Body prelu(const Tensor& self, const Tensor& weight, const Tensor& out) {
  Info<Size> seen = slopes(info_of(self), info_of(weight));
  std::vector<Tensor> views = {weight.with_geometry({seen.sizes, seen.strides, seen.offset})};
  Body body = binary<Prelu>(self, views[0], out);
  body.views = std::move(views);
  return body;
}

// a sigmoid(b)
struct Gate {
  static constexpr std::string_view kName = "glu";
  static constexpr int kCost = 6;
  static constexpr std::string_view kCode = "return a * sigmoid_of(b);";
  template <RealNumber T>
  void rows(const T* a, const T* b, T* y, size_t n) const {
    constexpr size_t kPiece = 256;
    T gates[kPiece];
    for (size_t done = 0; done < n; done += kPiece) {
      const size_t count = std::min(kPiece, n - done);
      kernels::vector_math::sigmoid(b + done, gates, count);
      for (size_t i = 0; i < count; ++i) y[done + i] = a[done + i] * gates[i];
    }
  }
};

template <typename N>
Info<N> half(const Info<N>& self, Size dim, bool is_second) {
  if (self.dim() == 0) throw Error(ErrorCode::kInvalidArgument, "glu does not support 0-dimensional tensors");
  const size_t d = wrap_dim(dim, self.dim());
  if (!(modulo(self.size(d), N(2)) == N(0))) {
    throw Error(ErrorCode::kInvalidArgument, "Halving dimension must be even, but dimension " +
                                                 std::to_string(d) + " is size " + number_text(self.size(d)));
  }
  Info<N> part = self;
  part.sizes[d] = floor_div(self.size(d), N(2));
  if (is_second) part.offset = part.offset + part.sizes[d] * part.strides[d];
  return part;
}
template <typename N>
Info<N> glu_shape(const Info<N>& self, Size dim) {
  return elementwise_info<N>(self.dtype, half(self, dim, false), half(self, dim, true));
}
Body glu(const Tensor& self, Size dim, const Tensor& out) {
  const auto part = [&](bool is_second) {
    const Info<Size> info = half(info_of(self), dim, is_second);
    return self.with_geometry({info.sizes, info.strides, info.offset});
  };
  std::vector<Tensor> views = {part(false), part(true)};
  Body body = binary<Gate>(views[0], views[1], out);
  body.views = std::move(views);
  return body;
}

// ---- as other operators
Tensor prelu_parts(Context& c, const Tensor& self, const Tensor& given) {
  Tensor weight = given;
  if (rank_of(weight) != rank_of(self)) {
    SymIntList shape(static_cast<size_t>(rank_of(self)), SymInt(1));
    if (rank_of(self) > 1 && rank_of(weight) == 1) shape[1] = size_of(weight, 0);
    weight = call(c, "aten::reshape", weight, shape);
  }
  return call(c, "aten::_prelu_kernel", self, weight);
}
Tensor prelu_kernel_parts(Context& c, const Tensor& self, const Tensor& weight) {
  const Tensor is_positive = call(c, "aten::gt.Scalar", self, 0);
  return parts::where(c, is_positive, self, parts::mul(c, weight, self));
}
Tensor glu_parts(Context& c, const Tensor& self, Size given_dim) {
  const int64_t dim = wrapped_dim(given_dim, rank_of(self));
  const SymInt size = size_of(self, dim);
  const SymInt half = floor_div(size, SymInt(2));
  const Tensor first = call(c, "aten::slice.Tensor", self, dim, 0, half);
  const Tensor second = call(c, "aten::slice.Tensor", self, dim, half, size);
  return parts::mul(c, first, call(c, "aten::sigmoid", second));
}

}  // namespace

void define_gated(Library& library) {
  library.define("aten::prelu(Tensor self, Tensor weight) -> Tensor")
      .shape<prelu_shape<Size>, prelu_shape<SymInt>>()
      .body<prelu>()
      .composite<prelu_parts>();
  elementwise<PromotedType, binary<Prelu>>(library,
                                           "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor")
      .core_decomposition<prelu_kernel_parts>();
  library.define("aten::glu(Tensor self, int dim=-1) -> Tensor")
      .shape<glu_shape<Size>, glu_shape<SymInt>>()
      .body<glu>()
      .core_decomposition<glu_parts>();
}

}  // namespace flambeau::ops
