// Distances and angles between vectors.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/norm/row_access.h"
#include "flambeau/ops/reduce/fold_loops.h"

namespace flambeau::ops {
namespace {

double distance(const double* a, const double* b, size_t length, double p) {
  double sum = 0;
  for (size_t i = 0; i < length; ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (p == 2) {
      sum += d * d;
    } else if (p == 1) {
      sum += d;
    } else if (p == 0) {
      sum += d != 0 ? 1 : 0;
    } else if (std::isinf(p)) {
      sum = d > sum || d != d ? d : sum;
    } else {
      sum += std::pow(d, p);
    }
  }
  if (p == 2) return std::sqrt(sum);
  return p == 0 || p == 1 || std::isinf(p) ? sum : std::pow(sum, 1 / p);
}

template <typename N>
Info<N> cdist_info(const Info<N>& x1, const Info<N>& x2) {
  if (x1.dim() < 2 || x2.dim() < 2) {
    throw Error(ErrorCode::kInvalidArgument, "cdist only supports at least 2D tensors, X1 and X2");
  }
  if (!(x1.sizes[x1.dim() - 1] == x2.sizes[x2.dim() - 1])) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("X1 and X2 must have the same number of columns. X1: {} X2: {}",
                            number_text(x1.sizes[x1.dim() - 1]), number_text(x2.sizes[x2.dim() - 1])));
  }
  if (!is_floating(x1.dtype) || !is_floating(x2.dtype)) {
    throw Error(ErrorCode::kInvalidArgument, "cdist only supports floating-point dtypes");
  }
  ShortList<N> a;
  ShortList<N> b;
  for (size_t d = 0; d + 2 < x1.dim(); ++d) a.push_back(x1.sizes[d]);
  for (size_t d = 0; d + 2 < x2.dim(); ++d) b.push_back(x2.sizes[d]);
  ShortList<N> sizes = broadcast(a, b);
  sizes.push_back(x1.sizes[x1.dim() - 2]);
  sizes.push_back(x2.sizes[x2.dim() - 2]);
  return contiguous<N>(promote(x1.dtype, x2.dtype), std::move(sizes), x1.device);
}
// Of floats [batch, rows, length] and [batch, columns, length]: many columns at once.
void run_euclidean(Context& context, const Tensor& first, const Tensor& second, size_t grain, Tensor& out) {
  const size_t rank = out.dim();
  const auto rows = static_cast<size_t>(out.sizes()[rank - 2]);
  const auto columns = static_cast<size_t>(out.sizes()[rank - 1]);
  const auto length = static_cast<size_t>(first.sizes().back());
  const Tensor a = first.to_contiguous();
  Dims turned_sizes = second.sizes(), turned_strides = second.strides();
  std::swap(turned_sizes[rank - 2], turned_sizes[rank - 1]);
  std::swap(turned_strides[rank - 2], turned_strides[rank - 1]);
  const Tensor b = context.allocate(contiguous<Size>(DType::kFloat32, turned_sizes, second.device()));
  copy_into(context, second.with_geometry({turned_sizes, turned_strides, second.offset()}), b);
  static const auto distances_of = FLAMBEAU_PICK(distances);
  const auto count = static_cast<size_t>(out.element_count()) / columns;
  context.pool().for_each_range(count, grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      poll_work();
      distances_of(a.data<float>() + i * length, b.data<float>() + i / rows * columns * length, length,
                   columns, out.mutable_data<float>() + i * columns);
    }
  });
}
void run_cdist(Context& context, const Tensor& x1, const Tensor& x2, double p, Tensor& out) {
  if (p < 0) throw Error(ErrorCode::kInvalidArgument, "cdist only supports non-negative p values");
  const size_t rank = out.dim();
  const auto rows = static_cast<size_t>(out.sizes()[rank - 2]);
  const auto columns = static_cast<size_t>(out.sizes()[rank - 1]);
  const auto length = static_cast<size_t>(x1.sizes().back());
  Dims own = out.sizes();
  own[rank - 1] = x1.sizes().back();
  const Tensor first = broadcast_view(x1, own);
  own[rank - 2] = out.sizes()[rank - 1];
  const Tensor second = broadcast_view(x2, own);
  const size_t grain = std::max<size_t>(static_cast<size_t>(kGrain) / std::max<size_t>(length, 1), 1);
  if (p == 2 && x1.dtype() == DType::kFloat32 && x2.dtype() == DType::kFloat32) {
    return run_euclidean(context, first, second, std::max<size_t>(grain / std::max<size_t>(columns, 1), 1),
                         out);
  }
  const std::vector<double> a = read_all<double>(&first);
  const std::vector<double> b = read_all<double>(&second);
  ScratchVector<double> result(static_cast<size_t>(out.element_count()));
  context.pool().for_each_range(result.size(), grain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t batch = i / (rows * columns);
      const size_t row = i / columns % rows;
      const size_t column = i % columns;
      result[i] = distance(a.data() + (batch * rows + row) * length,
                           b.data() + (batch * columns + column) * length, length, p);
    }
  });
  write_all(result, out);
}

template <typename N>
Info<N> cdist_shape(const Info<N>& x1, const Info<N>& x2, double, std::optional<Size>) {
  return cdist_info(x1, x2);
}
void cdist_kernel(Context& context, const Tensor& x1, const Tensor& x2, double p, std::optional<Size>,
                  Tensor& out) {
  run_cdist(context, x1, x2, p, out);
}
template <typename N>
Info<N> euclidean_shape(const Info<N>& x1, const Info<N>& x2) {
  return cdist_info(x1, x2);
}
void euclidean_kernel(Context& context, const Tensor& x1, const Tensor& x2, Tensor& out) {
  run_cdist(context, x1, x2, 2, out);
}

template <typename N>
Info<N> pdist_shape(const Info<N>& self, double) {
  if (self.dim() != 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("pdist only supports 2D tensors, got: {}D", self.dim()));
  }
  const N n = self.sizes[0];
  return contiguous<N>(self.dtype, {floor_div(n * (n - N(1)), N(2))}, self.device);
}
void pdist_kernel(Context&, const Tensor& self, double p, Tensor& out) {
  if (!is_floating(self.dtype())) fail_dtype("pdist", self.dtype());
  const std::vector<double> rows = read_all<double>(&self);
  const auto count = static_cast<size_t>(self.sizes()[0]);
  const auto length = static_cast<size_t>(self.sizes()[1]);
  ScratchVector<double> result;
  result.reserve(static_cast<size_t>(out.element_count()));
  WorkPoller poll;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j) {
      poll(length + 1);
      result.push_back(distance(rows.data() + i * length, rows.data() + j * length, length, p));
    }
  }
  write_all(result, out);
}

Tensor cdist_parts(Context& c, const Tensor& x1, const Tensor& x2, double p, std::optional<Size> mode) {
  return call(c, "aten::_cdist_forward", x1, x2, p, mode);
}

Tensor pairwise_distance(Context& c, const Tensor& x1, const Tensor& x2, double p, double eps, bool keep) {
  const Tensor moved = call(c, "aten::add.Scalar", parts::sub(c, x1, x2), eps);
  return call(c, "aten::linalg_vector_norm", moved, p, Dims{rank_of(moved) - 1}, keep);
}

template <typename N>
Info<N> cosine_similarity_shape(const Info<N>& x1, const Info<N>& x2, Size dim, double) {
  ShortList<N> sizes = broadcast(x1.sizes, x2.sizes);
  const size_t along = wrap_dim(dim, sizes.size());
  if (!sizes.empty()) sizes.erase(along);
  return contiguous<N>(result_type(x1, x2), std::move(sizes), x1.device);
}

Tensor cosine_similarity(Context& c, const Tensor& x1, const Tensor& x2, Size dim, double eps) {
  const DType common = result_type(symbolic_info(x1), symbolic_info(x2));
  if (!is_floating(common)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("expected common dtype to be floating point, yet common dtype is {}",
                            dtype_name(common)));
  }
  const TensorList same = call<TensorList>(
      c, "aten::broadcast_tensors",
      TensorList{call(c, "aten::to.dtype", x1, common), call(c, "aten::to.dtype", x2, common)});
  const int64_t along = wrapped_dim(dim, rank_of(same[0]));
  const Tensor least =
      call_with(c, "aten::scalar_tensor", {eps}, {{"dtype", common}, {"device", x1.device()}});
  TensorList units;
  for (const Tensor& x : same) {
    const Tensor norm = call(c, "aten::clone", call(c, "aten::linalg_vector_norm", x, 2, Dims{along}, true));
    units.push_back(parts::div(c, x, call(c, "aten::clamp.Tensor", norm, least)));
  }
  return call(c, "aten::sum.dim_IntList", parts::mul(c, units[0], units[1]), Dims{along});
}

}  // namespace

void define_distance(Library& library) {
  library.define("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor")
      .shape<cdist_shape<Size>, cdist_shape<SymInt>>()
      .kernel<cdist_kernel>()
      .composite<cdist_parts>();
  library.define("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor")
      .shape<cdist_shape<Size>, cdist_shape<SymInt>>()
      .kernel<cdist_kernel>();
  library.define("aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor")
      .shape<euclidean_shape<Size>, euclidean_shape<SymInt>>()
      .kernel<euclidean_kernel>();
  for (const char* const schema : {"aten::pdist(Tensor self, float p=2.) -> Tensor",
                                   "aten::_pdist_forward(Tensor self, float p=2.) -> Tensor"}) {
    library.define(schema).shape<pdist_shape<Size>, pdist_shape<SymInt>>().kernel<pdist_kernel>();
  }
  library
      .define(
          "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool "
          "keepdim=False) -> Tensor")
      .composite<pairwise_distance>();
  library.define("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")
      .shape<cosine_similarity_shape<Size>, cosine_similarity_shape<SymInt>>()
      .composite<cosine_similarity>();
}

}  // namespace flambeau::ops
