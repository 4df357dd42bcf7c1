// Elementwise functions of sparse tensors: those that leave zero as it is act on the values alone; sums unite
// the entries of two tensors, products are where both have one.
#include <fmt/format.h>

#include <string>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/sparse/sparse.h"

namespace flambeau::ops {
namespace {

// The operator itself on the values. A function of a sum is no sum of functions: places come together first.
template <bool kIsLinear>
std::vector<Value> on_values(Context& context, const Operator& op, std::span<const Value> arguments) {
  Tensor self = arguments[0].tensor();
  if (!is_sparse(self)) fail_argument("expected the first argument to be the sparse one");
  if (!kIsLinear && is_coo(self)) self = coalesced(context, self);
  std::vector<Value> plain(arguments.begin(), arguments.end());
  plain[0] = self.sparse_parts()->values;
  return {with_values(self, call(context, op, plain).at(0).tensor())};
}

Tensor scaled(Context& context, const Tensor& values, const Scalar& alpha, DType dtype) {
  Tensor made = retyped(context, values, dtype);
  if (alpha.is_int() && alpha.to_int() == 1) return made;
  return retyped(context, call(context, "aten::mul.Tensor", made, Value(alpha)), dtype);
}

Tensor add_coo(Context& context, const Tensor& a, const Tensor& b, const Scalar& alpha, DType dtype) {
  if (!(a.sizes() == b.sizes()) || sparse_dims(a) != sparse_dims(b))
    fail_argument(fmt::format("add: expected sizes of 'self' and 'other' to match, but {} != {}", a.summary(),
                              b.summary()));
  const SparseParts& left = *a.sparse_parts();
  const SparseParts& right = *b.sparse_parts();
  const Tensor indices = call(context, "aten::cat",
                              TensorList{retyped(context, left.indices, DType::kInt64),
                                         retyped(context, right.indices, DType::kInt64)},
                              1);
  const Tensor values =
      call(context, "aten::cat",
           TensorList{retyped(context, left.values, dtype), scaled(context, right.values, alpha, dtype)}, 0);
  const Tensor sum = make_coo(a.sizes(), indices, values, false);
  return left.is_coalesced && right.is_coalesced ? coalesced(context, sum) : sum;
}

// Back to the layout of another tensor.
Tensor as_layout(Context& context, const Tensor& coo, const Tensor& like) {
  return is_coo(like) ? coo : compressed_of(context, coo, like.layout(), block_sizes(like));
}

Tensor add(Context& context, const Tensor& self, const Tensor& other, Scalar alpha) {
  if (!is_sparse(self) || !is_sparse(other)) {
    if (is_sparse(self) && is_coo(self))
      fail_argument("add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
    if (!(self.sizes() == other.sizes()))
      fail_argument(fmt::format("add: expected 'self' and 'other' to have same size, but they are {} and {}",
                                self.summary(), other.summary()));
    return call_with(context, "aten::add.Tensor", {dense_of(context, self), dense_of(context, other)},
                     {{"alpha", Value(alpha)}});
  }
  if (self.layout() != other.layout() || (is_compressed(self) && block_sizes(self) != block_sizes(other)))
    fail_argument(fmt::format("add: {} of layout {} and {} of layout {} do not add up", self.summary(),
                              layout_name(self.layout()), other.summary(), layout_name(other.layout())));
  const DType dtype = result_type(self, other);
  return as_layout(context, add_coo(context, coo_of(context, self), coo_of(context, other), alpha, dtype),
                   self);
}
Tensor sub(Context& context, const Tensor& self, const Tensor& other, Scalar alpha) {
  if (alpha.is_int()) return add(context, self, other, Scalar((-Size(alpha.to_int())).value()));
  if (alpha.to_complex().imag() == 0) return add(context, self, other, Scalar(-alpha.to_double()));
  return add(context, self, other, Scalar(-alpha.to_complex()));
}

// Where the entries lie, one tensor for each indexed dimension.
TensorList places_of(const Tensor& coo) {
  TensorList places;
  entry_places(coo);  // checks them
  for (int64_t d = 0; d < sparse_dims(coo); ++d) places.push_back(index_row(coo.sparse_parts()->indices, d));
  return places;
}

// Each entry once for each place that its own stands for in larger sizes.
Tensor broadcast_coo(Context& context, const Tensor& self, std::span<const Size> wanted) {
  require_coo(self, "_sparse_broadcast_to");
  const Dims size(wanted);
  if (size == self.sizes()) return self;
  const size_t more = size.size() - std::min(size.size(), self.dim());
  const int64_t dims = sparse_dims(self);
  const int64_t count = entry_count(self);
  Tensor indices = retyped(context, self.sparse_parts()->indices, DType::kInt64);
  Tensor values = self.sparse_parts()->values;
  if (size.size() < self.dim())
    fail_argument("_sparse_broadcast_to: there must be at least as many dimensions");
  Size copies = 1;  // of each entry
  const auto split = more + static_cast<size_t>(dims);
  for (size_t d = 0; d < split; ++d) {
    const int64_t own = d < more ? 1 : self.sizes()[d - more];
    if (own != size[d] && own != 1)
      fail_argument(fmt::format("_sparse_broadcast_to: {} does not expand to {}", self.summary(),
                                Value(size).summary()));
    if (own != size[d]) copies *= size[d];
  }
  const Size total = copies * count;
  const Tensor made = context.allocate(DType::kInt64, Dims{static_cast<int64_t>(split), total});
  const Tensor from = indices.to_contiguous();
  int64_t* const to = total == 0 ? nullptr : made.mutable_data<int64_t>();
  WorkPoller poll;
  for (int64_t i = 0; i < total; ++i) {
    poll(split);
    int64_t rest = i / count;
    for (size_t d = split; d-- > 0;) {
      const int64_t own = d < more ? 1 : self.sizes()[d - more];
      int64_t index = d < more ? 0 : from.data<int64_t>()[static_cast<int64_t>(d - more) * count + i % count];
      if (own != size[d]) {
        index = rest % size[d];
        rest /= size[d];
      }
      to[static_cast<int64_t>(d) * total + i] = index;
    }
  }
  Dims value_sizes{count};
  for (size_t d = split; d < size.size(); ++d) value_sizes.push_back(size[d]);
  values = call(context, "aten::expand", values, value_sizes);
  Dims times(value_sizes.size(), 1);
  times[0] = copies;
  return make_coo(size, made, call(context, "aten::repeat", values, times), false);
}

Tensor mul_dense(Context& context, const Tensor& sparse, const Tensor& dense) {
  if (dense.dim() == 0)
    return with_values(sparse, call(context, "aten::mul.Tensor", sparse.sparse_parts()->values, dense));
  const Dims sizes = broadcast(sparse.sizes(), dense.sizes());
  Tensor self = sparse;
  if (!(sizes == sparse.sizes())) {
    if (!is_coo(sparse)) fail_argument("mul: a compressed tensor cannot be expanded");
    self = coalesced(context, broadcast_coo(context, sparse, checked(sizes)));
  }
  const Tensor shown = call(context, "aten::expand", dense, sizes);
  if (is_coo(self)) {
    const Tensor factors = sparse_dims(self) == 0
                               ? call(context, "aten::unsqueeze", shown, 0)
                               : call(context, "aten::index.Tensor", shown, places_of(self));
    return with_values(self, call(context, "aten::mul.Tensor", self.sparse_parts()->values, factors));
  }
  if (is_blocked(self.layout())) {
    const Tensor product = mul_dense(context, coo_of(context, self), dense);
    return as_layout(context, product, self);
  }
  const Tensor entries = stored_entries(context, self);
  const Tensor values = mul_dense(context, entries, dense).sparse_parts()->values;
  return with_values(self, reshaped_to(context, values, self.sparse_parts()->values.sizes()));
}

// Entries of both tensors at the same places.
Tensor mul_coo(Context& context, const Tensor& left, const Tensor& right) {
  const Tensor a = coalesced(context, left), b = coalesced(context, right);
  const auto dims = static_cast<size_t>(sparse_dims(a));
  bool fits = a.dim() == b.dim() && sparse_dims(a) == sparse_dims(b);
  for (size_t d = 0; fits && d < dims; ++d) fits = a.sizes()[d] == b.sizes()[d];
  if (!fits)
    fail_argument(
        "mul: expected sparse tensors of equal dimensionality, number of sparse dimensions, and shape "
        "of sparse dimensions");
  const ScratchVector<int64_t> p = entry_places(a), q = entry_places(b);
  ScratchVector<int64_t> from_a, from_b;
  WorkPoller poll;
  for (size_t i = 0, j = 0; i < p.size() && j < q.size();) {
    poll();
    if (p[i] == q[j]) {
      from_a.push_back(static_cast<int64_t>(i));
      from_b.push_back(static_cast<int64_t>(j));
    }
    const bool next_b = q[j] <= p[i];
    i += p[i] <= q[j] ? 1 : 0;
    j += next_b ? 1 : 0;
  }
  const Tensor chosen = int64_tensor(context, from_a);
  const auto pick = [&](const Tensor& values, const Tensor& rows) {
    return call(context, "aten::index_select", values, 0, rows);
  };
  const Tensor values = call(context, "aten::mul.Tensor", pick(a.sparse_parts()->values, chosen),
                             pick(b.sparse_parts()->values, int64_tensor(context, from_b)));
  Dims sizes(a.sizes().span().first(dims));
  for (size_t d = 1; d < values.dim(); ++d) sizes.push_back(values.sizes()[d]);
  const Tensor indices = call(context, "aten::index_select",
                              retyped(context, a.sparse_parts()->indices, DType::kInt64), 1, chosen);
  return make_coo(sizes, indices, values, true);
}

Tensor mul(Context& context, const Tensor& self, const Tensor& other) {
  Tensor made;
  if (!is_sparse(self)) {
    made = mul_dense(context, other, self);
  } else if (!is_sparse(other)) {
    made = mul_dense(context, self, other);
  } else {
    if (self.layout() != other.layout()) fail_argument("mul: expected two sparse tensors of the same layout");
    made = as_layout(context, mul_coo(context, coo_of(context, self), coo_of(context, other)), self);
  }
  return with_values(made, retyped(context, made.sparse_parts()->values, result_type(self, other)));
}

void require_divisor(const Tensor& self, const Tensor& other) {
  if (is_sparse(self) && !is_sparse(other) && other.dim() == 0) return;
  fail_argument(
      fmt::format("Sparse division requires a scalar or zero-dim dense tensor divisor (got {} for divisor)",
                  other.summary()));
}
template <bool kIsLinear>
std::vector<Value> divided(Context& context, const Operator& op, std::span<const Value> arguments) {
  require_divisor(arguments[0].tensor(), arguments[1].tensor());
  return on_values<kIsLinear>(context, op, arguments);
}
std::vector<Value> raised(Context& context, const Operator& op, std::span<const Value> arguments) {
  if (arguments[1].scalar().to_complex() == 0.0)
    fail_argument(
        "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense");
  return on_values<false>(context, op, arguments);
}

}  // namespace

void define_sparse_elementwise(Library& library) {
  for (const char* const name :
       {"abs",    "asin",       "asinh",   "atan", "atanh", "ceil",  "deg2rad",  "erf",
        "erfinv", "expm1",      "floor",   "frac", "isinf", "isnan", "isneginf", "isposinf",
        "log1p",  "nan_to_num", "rad2deg", "relu", "round", "sgn",   "sign",     "signbit",
        "sin",    "sinh",       "sqrt",    "tan",  "tanh",  "trunc"}) {
    library.extend(std::string("aten::") + name).sparse<&on_values<false>>();
  }
  for (const char* const name : {"neg", "mul.Scalar", "div.Scalar"})
    library.extend(std::string("aten::") + name).sparse<&on_values<true>>();
  library.extend("aten::pow.Tensor_Scalar").sparse<&raised>();
  library.extend("aten::add.Tensor").sparse<add>();
  library.extend("aten::sub.Tensor").sparse<sub>();
  library.extend("aten::mul.Tensor").sparse<mul>();
  library.extend("aten::div.Tensor").sparse<&divided<true>>();
  library.extend("aten::div.Tensor_mode").sparse<&divided<false>>();
  library.extend("aten::floor_divide").sparse<&divided<false>>();
  library.define("aten::_sparse_broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)")
      .function<broadcast_coo>()
      .sparse<broadcast_coo>();
}

}  // namespace flambeau::ops
