// Picking and putting elements, and shuffles of them.
#include <algorithm>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

TensorList index_at(int64_t dim, const Tensor& index) {
  TensorList indices(static_cast<size_t>(dim) + 1);
  indices.back() = index;
  return indices;
}

std::vector<Value> select_scatter(Context& c, const Arguments& given) {
  const Tensor& self = given.tensor(0);
  const int64_t rank = rank_of(self);
  const int64_t dim = wrapped_dim(given.integer(2), rank);
  SymInt index = given.number(3);
  if (index < SymInt(0)) index += size_of(self, dim);
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(dim)] = -1;
  const Tensor line = parts::arange(c, 0, size_of(self, dim), {}, self.device());
  const Tensor is_there =
      call(c, "aten::eq.Scalar", call(c, "aten::view", line, integers(shape)), Value(index));
  const Tensor source = call(c, "aten::unsqueeze", given.tensor(1), dim);
  return gives(parts::where(c, is_there, call(c, "aten::expand", source, sizes_of(self)), self));
}

std::vector<Value> roll(Context& c, const Arguments& given) {
  const Tensor& self = given.tensor(0);
  const SymIntList shifts = given.numbers(1);
  const Dims& dims = given[2].get<Dims>();
  if (dims.empty()) {
    const Tensor flat = call(c, "aten::flatten.using_ints", self);
    const Tensor rolled = call(c, "aten::roll", flat, given[1], Dims{0});
    return gives(call(c, "aten::view", rolled, sizes_of(self)));
  }
  if (dims.size() > 1) {
    Tensor result = self;
    for (size_t i = 0; i < dims.size(); ++i)
      result = call(c, "aten::roll", result, SymIntList{shifts[i]}, Dims{dims[i]});
    return gives(result);
  }
  const int64_t dim = wrapped_dim(dims[0], rank_of(self));
  const SymInt size = size_of(self, dim);
  const SymInt start = modulo(size - shifts[0], size);
  const Tensor line = parts::arange(c, 0, size, {}, self.device());
  const Tensor places =
      call(c, "aten::fmod.Scalar", call(c, "aten::add.Tensor", line, Value(start)), Value(size));
  return gives(call(c, "aten::index_select", self, dim, places));
}

// Sizes without the last three, then those given.
SymIntList with_tail(const Tensor& tensor, const SymIntList& tail) {
  SymIntList sizes = sizes_of(tensor);
  SymIntList result;
  for (size_t d = 0; d + 3 < sizes.size(); ++d) result.push_back(sizes[d]);
  for (const SymInt& size : tail) result.push_back(size);
  return result;
}
std::vector<int64_t> order_with_tail(int64_t batch, std::initializer_list<int64_t> tail) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < batch; ++d) order.push_back(d);
  for (const int64_t d : tail) order.push_back(batch + d);
  return order;
}

Tensor shuffled(Context& c, const Tensor& self, const SymIntList& split, std::initializer_list<int64_t> order,
                const SymIntList& joined) {
  const Tensor wide = call(c, "aten::view", self, with_tail(self, split));
  const int64_t batch = rank_of(self) - 3;
  const Tensor moved = call(c, "aten::permute", wide, integers(order_with_tail(batch, order)));
  return parts::reshape(c, moved, with_tail(self, joined));
}

void add_shuffles(DecompositionTable& table) {
  table.functional("aten::pixel_shuffle", [](Context& c, const Arguments& given) {
    const Tensor& self = given.tensor(0);
    const SymInt r = given.integer(1);
    const SymInt channels = floor_div(size_of(self, -3), r * r);
    const SymInt height = size_of(self, -2);
    const SymInt width = size_of(self, -1);
    const Tensor result = shuffled(c, self, {channels, r, r, height, width}, {0, 3, 1, 4, 2},
                                   {channels, height * r, width * r});
    return gives(parts::packed(c, result));
  });
  table.functional("aten::pixel_unshuffle", [](Context& c, const Arguments& given) {
    const Tensor& self = given.tensor(0);
    const SymInt r = given.integer(1);
    const SymInt channels = size_of(self, -3);
    const SymInt height = floor_div(size_of(self, -2), r);
    const SymInt width = floor_div(size_of(self, -1), r);
    const Tensor result = shuffled(c, self, {channels, height, r, width, r}, {0, 2, 4, 1, 3},
                                   {channels * r * r, height, width});
    return gives(parts::packed(c, result));
  });
  table.functional("aten::channel_shuffle", [](Context& c, const Arguments& given) {
    const Tensor& self = given.tensor(0);
    const SymIntList sizes = sizes_of(self);
    const SymInt groups = given.number(1);
    const SymIntList parted = inserted(sizes, 1, groups);
    SymIntList split = parted;
    split[2] = floor_div(sizes[1], groups);
    const Tensor wide = call(c, "aten::view", self, split);
    std::vector<int64_t> order = {0, 2, 1};
    for (int64_t d = 3; d <= rank_of(self); ++d) order.push_back(d);
    return gives(parts::reshape(c, call(c, "aten::permute", wide, integers(order)), sizes));
  });
  for (const int64_t dim : {0, 1}) {
    table.composite(dim == 0 ? "aten::flipud" : "aten::fliplr", [dim](Context& c, const Arguments& given) {
      return gives(call(c, "aten::flip", given.tensor(0), Dims{dim}));
    });
  }
  table.functional("aten::diagonal_copy", [](Context& c, const Arguments& given) {
    return gives(parts::packed(c, call(c, "aten::diagonal", given[0], given[1], given[2], given[3])));
  });
  table.composite("aten::diag", [](Context& c, const Arguments& given) {
    if (rank_of(given.tensor(0)) != 2) return std::vector<Value>();
    return gives(call(c, "aten::diagonal_copy", given[0], given[1]));
  });
  table.composite("aten::diff", [](Context& c, const Arguments& given) {
    if (given.has(3) || given.has(4) || given.integer(1) != 1 || given.tensor(0).dtype() == DType::kBool)
      return std::vector<Value>();
    const int64_t dim = given.integer(2);
    const SymInt last = size_of(given.tensor(0), dim) - SymInt(1);
    const auto part = [&](const SymInt& start) {
      return call(c, "aten::narrow", given.tensor(0), dim, start, last);
    };
    const Tensor first = part(0);
    return gives(call(c, "aten::sub.Tensor", part(1), first));
  });
  table.functional("aten::rot90", [](Context& c, const Arguments& given) {
    const Tensor& self = given.tensor(0);
    const std::vector<int64_t> dims = given.dims(2, rank_of(self));
    const int64_t times = ((given.integer(1) % 4) + 4) % 4;
    const auto flip = [&](std::vector<int64_t> which) {
      return call(c, "aten::flip", self, integers(which));
    };
    const auto turn = [&](const Tensor& x) { return call(c, "aten::transpose.int", x, dims[0], dims[1]); };
    if (times == 1) return gives(turn(flip({dims[1]})));
    if (times == 2) return gives(flip(dims));
    if (times == 3) return gives(turn(flip({dims[0]})));
    return gives(call(c, "aten::clone", self, MemoryFormat::kContiguous));
  });
}

}  // namespace

void add_indexing(DecompositionTable& table) {
  table.functional("aten::select_scatter", select_scatter);
  table.functional("aten::roll", roll);
  table.functional("aten::index_add", [](Context& c, const Arguments& given) {
    const int64_t dim = wrapped_dim(given.integer(1), rank_of(given.tensor(0)));
    Tensor source = given.tensor(3);
    if (given.real(4) != 1) source = call(c, "aten::mul.Tensor", source, given[4]);
    return gives(call(c, "aten::index_put", given[0], index_at(dim, given.tensor(2)), source, true));
  });
  table.functional("aten::index_copy", [](Context& c, const Arguments& given) {
    const int64_t dim = wrapped_dim(given.integer(1), rank_of(given.tensor(0)));
    return gives(call(c, "aten::index_put", given[0], index_at(dim, given.tensor(2)), given[3]));
  });
  table.functional("aten::_unsafe_index.Tensor", [](Context& c, const Arguments& given) {
    return gives(call(c, "aten::index.Tensor", given[0], given[1]));
  });
  table.composite("aten::take_along_dim", [](Context& c, const Arguments& given) {
    if (!given.has(2)) return std::vector<Value>();
    const Tensor& self = given.tensor(0);
    const int64_t dim = wrapped_dim(given.integer(2), rank_of(self));
    const auto wide = [&](const Tensor& x, const Tensor& other) {
      SymIntList sizes = sizes_of(x);
      for (size_t d = 0; d < sizes.size(); ++d) {
        if (static_cast<int64_t>(d) != dim && sizes[d] == SymInt(1)) sizes[d] = sizes_of(other)[d];
      }
      return call(c, "aten::expand", x, sizes);
    };
    const Tensor index = wide(given.tensor(1), self);
    const Tensor source = wide(self, given.tensor(1));
    const Tensor places = call(c, "aten::remainder.Scalar", index, Value(size_of(self, dim)));
    return gives(call(c, "aten::gather", source, dim, places));
  });
  table.composite("aten::one_hot", [](Context& c, const Arguments& given) {
    const Tensor& self = given.tensor(0);
    const int64_t classes = given.integer(1);
    if (classes < 0) return std::vector<Value>();
    const auto require = [&](const Tensor& holds, const char* text) {
      call<std::vector<Value>>(c, "aten::_assert_async.msg", call(c, "aten::all", holds), text);
    };
    require(call(c, "aten::ge.Scalar", self, 0), "one_hot: Class values must be non-negative.");
    require(call(c, "aten::lt.Scalar", self, classes),
            "one_hot: Class values must be smaller than num_classes.");
    const Tensor line = parts::arange(c, 0, classes, self.dtype(), self.device());
    const Tensor is_it = call(c, "aten::eq.Tensor", call(c, "aten::unsqueeze", self, -1), line);
    return gives(parts::to_dtype(c, is_it, DType::kInt64));
  });
  table.composite("aten::_weight_norm", [](Context& c, const Arguments& given) {
    const Tensor& weight = given.tensor(0);
    std::vector<int64_t> others;
    for (int64_t d = 0; d < rank_of(weight); ++d) {
      if (d != given.integer(2)) others.push_back(d);
    }
    const Tensor norm = call(c, "aten::linalg_vector_norm", weight, 2, integers(others), true);
    return gives(call(c, "aten::mul.Tensor", weight, call(c, "aten::div.Tensor", given[1], norm)));
  });
  add_shuffles(table);
}

}  // namespace flambeau::trace
