// Products of matrices: everything becomes mm, bmm and addmm.
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

Tensor transposed(Context& context, const Tensor& tensor) {
  return call(context, "aten::transpose.int", tensor, -2, -1);
}

// The batch of the larger one can be folded into its rows without a copy.
bool can_fold(const Tensor& first, const Tensor& second) {
  const bool is_first_larger = rank_of(first) >= rank_of(second);
  const Tensor& large = is_first_larger ? first : second;
  const Tensor& small = is_first_larger ? second : first;
  if (rank_of(large) < 3 || rank_of(small) > 2) return false;
  if (small.requires_grad()) return true;
  if (rank_of(first) == 2) return false;
  return is_row_major(large);
}

Tensor folded_product(Context& context, const Tensor& first, const Tensor& second) {
  const bool is_swapped = rank_of(second) > rank_of(first);
  const Tensor large = is_swapped ? transposed(context, second) : first;
  const Tensor small = !is_swapped ? second : rank_of(first) == 2 ? call(context, "aten::t", first) : first;
  const SymIntList sizes = sizes_of(large);
  SymIntList shape;
  SymInt rows = sizes[0];
  for (size_t d = 0; d + 1 < sizes.size(); ++d) {
    shape.push_back(sizes[d]);
    if (d > 0) rows *= sizes[d];
  }
  const Tensor flat = parts::reshape(context, large, {rows, sizes[sizes.size() - 1]});
  if (rank_of(small) == 1)
    return call(context, "aten::_unsafe_view", call(context, "aten::mv", flat, small), shape);
  shape.push_back(size_of(small, 1));
  const Tensor product = call(context, "aten::_unsafe_view", call(context, "aten::mm", flat, small), shape);
  if (!is_swapped) return product;
  return call(context, "aten::contiguous", transposed(context, product));
}

SymIntList broadcast(const SymIntList& a, const SymIntList& b) {
  SymIntList result;
  const size_t rank = std::max(a.size(), b.size());
  for (size_t i = 0; i < rank; ++i) {
    const SymInt left = i + a.size() < rank ? SymInt(1) : a[i + a.size() - rank];
    const SymInt right = i + b.size() < rank ? SymInt(1) : b[i + b.size() - rank];
    result.push_back(left == SymInt(1) ? right : left);
  }
  return result;
}

SymIntList batch_of(const Tensor& tensor) {
  const SymIntList sizes = sizes_of(tensor);
  SymIntList batch;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) batch.push_back(sizes[d]);
  return batch;
}

Tensor batched_product(Context& context, const Tensor& first, const Tensor& second) {
  const int64_t first_rank = rank_of(first);
  const int64_t second_rank = rank_of(second);
  const SymInt rows = first_rank > 1 ? size_of(first, -2) : SymInt(1);
  const SymInt columns = second_rank > 1 ? size_of(second, -1) : SymInt(1);
  const SymIntList batch = broadcast(batch_of(first), batch_of(second));
  SymInt count = 1;
  for (const SymInt& size : batch) count *= size;
  const auto flat = [&](const Tensor& tensor, const SymIntList& tail) {
    SymIntList wide = batch;
    SymIntList packed = {count};
    for (const SymInt& size : tail) {
      wide.push_back(size);
      packed.push_back(size);
    }
    return parts::reshape(context, call(context, "aten::expand", tensor, wide), packed);
  };
  const Tensor left = flat(first, {rows, size_of(first, -1)});
  Tensor right =
      second_rank > 1 ? flat(second, {size_of(second, -2), columns}) : flat(second, {size_of(second, -1)});
  if (second_rank == 1) right = call(context, "aten::unsqueeze", right, 2);
  SymIntList shape = batch;
  if (first_rank > 1) shape.push_back(rows);
  if (second_rank > 1) shape.push_back(columns);
  Tensor product = call(context, "aten::bmm", left, right);
  if (second_rank == 1) product = call(context, "aten::squeeze.dim", product, -1);
  return call(context, "aten::view", product, shape);
}

Tensor matmul(Context& context, const Tensor& first, const Tensor& second) {
  const int64_t first_rank = rank_of(first);
  const int64_t second_rank = rank_of(second);
  if (first_rank == 1 && second_rank == 1) return call(context, "aten::dot", first, second);
  if (first_rank == 2 && second_rank == 1) return call(context, "aten::mv", first, second);
  if (first_rank == 1 && second_rank == 2) {
    const Tensor row = call(context, "aten::unsqueeze", first, 0);
    return call(context, "aten::squeeze.dim", call(context, "aten::mm", row, second), 0);
  }
  if (first_rank == 2 && second_rank == 2) return call(context, "aten::mm", first, second);
  if (can_fold(first, second)) return folded_product(context, first, second);
  return batched_product(context, first, second);
}

Tensor linear(Context& context, const Arguments& given) {
  const Tensor& input = given.tensor(0);
  const int64_t rank = rank_of(input);
  const auto weight = [&] { return call(context, "aten::t", given.tensor(1)); };
  if (given.has(2)) {
    const Tensor& bias = given.tensor(2);
    if (rank == 2) return call(context, "aten::addmm", bias, input, weight());
    if (rank > 0 && is_row_major(input) && rank_of(bias) == 1) {
      SymIntList shape;
      SymInt rows = 1;
      for (int64_t d = 0; d + 1 < rank; ++d) {
        shape.push_back(size_of(input, d));
        rows = d == 0 ? shape[0] : rows * size_of(input, d);
      }
      const Tensor flat = parts::reshape(context, input, {rows, size_of(input, -1)});
      const Tensor product = call(context, "aten::addmm", bias, flat, weight());
      shape.push_back(size_of(product, 1));
      return call(context, "aten::view", product, shape);
    }
  }
  const Tensor product = call(context, "aten::matmul", input, weight());
  return given.has(2) ? call(context, "aten::add.Tensor", product, given.tensor(2)) : product;
}

}  // namespace

void add_products(DecompositionTable& table) {
  table.composite("aten::linear",
                  [](Context& context, const Arguments& given) { return gives(linear(context, given)); });
  table.composite("aten::matmul", [](Context& context, const Arguments& given) {
    return gives(matmul(context, given.tensor(0), given.tensor(1)));
  });
  table.functional("aten::dot", [](Context& context, const Arguments& given) {
    return gives(
        call(context, "aten::sum", call(context, "aten::mul.Tensor", given.tensor(0), given.tensor(1))));
  });
  table.functional("aten::mv", [](Context& context, const Arguments& given) {
    const Tensor product = call(context, "aten::mul.Tensor", given.tensor(0), given.tensor(1));
    return gives(call(context, "aten::sum.dim_IntList", product, Dims{1}));
  });
  table.functional("aten::baddbmm", [](Context& context, const Arguments& given) {
    Tensor self = given.tensor(0);
    Tensor product = call(context, "aten::bmm", given.tensor(1), given.tensor(2));
    if (given.real(4) != 1) product = call(context, "aten::mul.Tensor", product, given[4]);
    if (given.real(3) == 0) return gives(product);
    if (given.real(3) != 1) self = call(context, "aten::mul.Tensor", self, given[3]);
    return gives(call(context, "aten::add.Tensor", self, product));
  });
  table.composite("aten::outer", [](Context& context, const Arguments& given) {
    const Tensor column = parts::reshape(context, given.tensor(0), {size_of(given.tensor(0), 0), SymInt(1)});
    return gives(call(context, "aten::mul.Tensor", column, given.tensor(1)));
  });
  table.composite("aten::bilinear", [](Context& context, const Arguments& given) {
    const Tensor& left = given.tensor(0);
    const Tensor& right = given.tensor(1);
    SymIntList shape = sizes_of(left);
    shape[shape.size() - 1] = size_of(given.tensor(2), 0);
    const Tensor a = parts::reshape(context, left, {SymInt(-1), size_of(left, -1)});
    const Tensor b = parts::reshape(context, right, {SymInt(-1), size_of(right, -1)});
    const Tensor product =
        call(context, "aten::_trilinear", a, given.tensor(2), b, Dims{1, 3}, Dims{0}, Dims{1, 2}, Dims{2, 3});
    const Tensor result = parts::reshape(context, product, shape);
    return gives(given.has(3) ? call(context, "aten::add.Tensor", result, given.tensor(3)) : result);
  });
}

}  // namespace flambeau::trace
