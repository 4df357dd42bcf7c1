// Views of other views: transpose as permute, chunk as split, flatten as view.
#include <algorithm>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

Tensor permuted(Context& context, const Tensor& self, const std::vector<int64_t>& order) {
  return call(context, "aten::permute", self, integers(order));
}

Tensor transposed(Context& context, const Tensor& self, int64_t first, int64_t second) {
  const int64_t rank = rank_of(self);
  const int64_t a = wrapped_dim(first, rank);
  const int64_t b = wrapped_dim(second, rank);
  if (rank <= 1 || a == b) return call(context, "aten::alias", self);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d == a ? b : d == b ? a : d);
  return permuted(context, self, order);
}

Tensor flattened(Context& context, const Tensor& self, int64_t first, int64_t last) {
  const int64_t rank = rank_of(self);
  const int64_t start = wrapped_dim(first, rank);
  const int64_t end = wrapped_dim(last, rank);
  if (rank == 0) return parts::reshape(context, self, {SymInt(1)});
  if (start == end) return self;
  SymIntList shape;
  SymInt inner = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const SymInt size = size_of(self, d);
    if (d < start || d > end) {
      shape.push_back(size);
    } else {
      inner *= size;
      if (d == end) shape.push_back(inner);
    }
  }
  return parts::reshape(context, self, shape);
}

Tensor moved(Context& context, const Tensor& self, const std::vector<int64_t>& from,
             const std::vector<int64_t>& to) {
  const int64_t rank = rank_of(self);
  std::vector<int64_t> order(static_cast<size_t>(rank), -1);
  for (size_t i = 0; i < from.size(); ++i) order[static_cast<size_t>(to[i])] = from[i];
  int64_t next = 0;
  for (int64_t& place : order) {
    if (place >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    place = next++;
  }
  return permuted(context, self, order);
}

TensorList split(Context& context, const Tensor& self, const SymInt& each, int64_t dim) {
  const SymInt size = size_of(self, dim);
  if (each == SymInt(0)) return {call(context, "aten::detach", self)};
  SymInt rest = size;
  SymIntList sizes;
  while (rest > each) {
    sizes.push_back(each);
    rest -= each;
  }
  sizes.push_back(rest);
  return call<TensorList>(context, "aten::split_with_sizes", self, sizes, dim);
}

Tensor at_least(Context& context, const Tensor& tensor, int64_t rank) {
  Tensor result = tensor;
  if (rank_of(result) == 0) result = call(context, "aten::view", result, Dims{1});
  if (rank == 2 && rank_of(result) == 1) result = call(context, "aten::unsqueeze", result, 0);
  return result;
}

TensorList broadcast(Context& context, const TensorList& tensors) {
  SymIntList sizes;
  for (const Tensor& tensor : tensors) {
    const SymIntList own = sizes_of(tensor);
    while (sizes.size() < own.size()) sizes = inserted(sizes, 0, 1);
    for (size_t i = 0; i < own.size(); ++i) {
      SymInt& size = sizes[sizes.size() - own.size() + i];
      if (size == SymInt(1)) size = own[i];
    }
  }
  TensorList results;
  for (const Tensor& tensor : tensors) {
    const SymIntList own = sizes_of(tensor);
    bool is_same = own.size() == sizes.size();
    for (size_t i = 0; is_same && i < own.size(); ++i) is_same = own[i] == sizes[i];
    results.push_back(is_same ? tensor : call(context, "aten::expand", tensor, sizes));
  }
  return results;
}

void add_orders(DecompositionTable& table) {
  table.functional("aten::transpose.int", [](Context& context, const Arguments& given) {
    return gives(transposed(context, given.tensor(0), given.integer(1), given.integer(2)));
  });
  table.functional("aten::t", [](Context& context, const Arguments& given) {
    if (rank_of(given.tensor(0)) < 2) return gives(call(context, "aten::alias", given.tensor(0)));
    return gives(call(context, "aten::transpose.int", given.tensor(0), 0, 1));
  });
  for (const char* const name : {"aten::mT", "aten::mH", "aten::adjoint"}) {
    table.composite(name, [](Context& context, const Arguments& given) {
      return gives(call(context, "aten::transpose.int", given.tensor(0), -2, -1));
    });
  }
  for (const char* const name : {"aten::swapaxes", "aten::swapdims"}) {
    table.composite(name, [](Context& context, const Arguments& given) {
      return gives(call(context, "aten::transpose.int", given.tensor(0), given.integer(1), given.integer(2)));
    });
  }
  for (const char* const name : {"aten::numpy_T"}) {
    table.composite(name, [](Context& context, const Arguments& given) {
      std::vector<int64_t> order;
      for (int64_t d = rank_of(given.tensor(0)); d-- > 0;) order.push_back(d);
      return gives(permuted(context, given.tensor(0), order));
    });
  }
  for (const char* const name :
       {"aten::movedim.int", "aten::moveaxis.int", "aten::movedim.intlist", "aten::moveaxis.intlist"}) {
    table.composite(name, [](Context& context, const Arguments& given) {
      const int64_t rank = rank_of(given.tensor(0));
      return gives(moved(context, given.tensor(0), given.dims(1, rank), given.dims(2, rank)));
    });
  }
}

void add_shapes(DecompositionTable& table) {
  table.composite("aten::reshape", [](Context& context, const Arguments& given) {
    return gives(parts::reshape(context, given.tensor(0), given.numbers(1)));
  });
  table.composite("aten::reshape_as", [](Context& context, const Arguments& given) {
    return gives(parts::reshape(context, given.tensor(0), sizes_of(given.tensor(1))));
  });
  table.composite("aten::view_as", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::view", given.tensor(0), sizes_of(given.tensor(1))));
  });
  table.composite("aten::ravel", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::view", call(context, "aten::contiguous", given.tensor(0)), Dims{-1}));
  });
  table.composite("aten::flatten.using_ints", [](Context& context, const Arguments& given) {
    return gives(flattened(context, given.tensor(0), given.integer(1), given.integer(2)));
  });
  table.composite("aten::unflatten.int", [](Context& context, const Arguments& given) {
    const int64_t rank = rank_of(given.tensor(0));
    const int64_t dim = wrapped_dim(given.integer(1), rank);
    SymIntList inner = given.numbers(2);
    SymInt known = 1;
    for (const SymInt& size : inner) {
      if (!(size.is_literal() && size.literal() == -1)) known *= size;
    }
    SymIntList shape;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != dim) {
        shape.push_back(size_of(given.tensor(0), d));
        continue;
      }
      for (const SymInt& size : inner) {
        const bool is_open = size.is_literal() && size.literal() == -1;
        shape.push_back(is_open ? floor_div(size_of(given.tensor(0), d), known) : size);
      }
    }
    return gives(call(context, "aten::view", given.tensor(0), shape));
  });
  table.functional("aten::_unsafe_view", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::view", given.tensor(0), given[1]));
  });
  table.functional("aten::_reshape_alias", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::view", given.tensor(0), given[1]));
  });
  table.functional("aten::squeeze", [](Context& context, const Arguments& given) {
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < rank_of(given.tensor(0)); ++d) dims.push_back(d);
    return gives(call(context, "aten::squeeze.dims", given.tensor(0), integers(dims)));
  });
  table.functional("aten::squeeze.dim", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::squeeze.dims", given.tensor(0), Dims{given.integer(1)}));
  });
  for (const char* const name : {"aten::expand_as"}) {
    table.composite(name, [](Context& context, const Arguments& given) {
      return gives(call(context, "aten::expand", given.tensor(0), sizes_of(given.tensor(1))));
    });
  }
  table.composite("aten::broadcast_to", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::expand", given.tensor(0), given[1]));
  });
  table.composite("aten::broadcast_tensors", [](Context& context, const Arguments& given) {
    return gives(broadcast(context, given.tensors(0)));
  });
  table.composite("aten::detach_", [](Context&, const Arguments& given) { return gives(given.tensor(0)); });
  table.functional("aten::detach", [](Context& context, const Arguments& given) {
    return gives(call(context, "aten::alias", given.tensor(0)));
  });
}

void add_pieces(DecompositionTable& table) {
  table.composite("aten::narrow", [](Context& context, const Arguments& given) {
    const SymInt start = given.number(2);
    return gives(call(context, "aten::slice.Tensor", given.tensor(0), given.integer(1), start,
                      start + given.number(3)));
  });
  table.functional("aten::split.Tensor", [](Context& context, const Arguments& given) {
    return gives(split(context, given.tensor(0), given.number(1), given.integer(2)));
  });
  table.composite("aten::split.sizes", [](Context& context, const Arguments& given) {
    return gives(call<TensorList>(context, "aten::split_with_sizes", given.tensor(0), given[1], given[2]));
  });
  table.composite("aten::chunk", [](Context& context, const Arguments& given) {
    const int64_t chunks = given.integer(1);
    const SymInt size = size_of(given.tensor(0), given.integer(2));
    const SymInt each = floor_div(size + SymInt(chunks - 1), SymInt(chunks));
    return gives(call<TensorList>(context, "aten::split.Tensor", given.tensor(0), each, given.integer(2)));
  });
  table.composite("aten::tensor_split.sections", [](Context& context, const Arguments& given) {
    return gives(parts::tensor_split(context, given.tensor(0), given.integer(1), given.integer(2)));
  });
  table.functional("aten::unbind.int", [](Context& context, const Arguments& given) {
    return gives(parts::unbind(context, given.tensor(0), given.integer(1)));
  });
}

void add_joins(DecompositionTable& table) {
  table.composite("aten::concat", [](Context& context, const Arguments& given) {
    return gives(parts::cat(context, given.tensors(0), given.integer(1)));
  });
  table.composite("aten::concatenate", [](Context& context, const Arguments& given) {
    return gives(parts::cat(context, given.tensors(0), given.integer(1)));
  });
  table.functional("aten::stack", [](Context& context, const Arguments& given) {
    const TensorList& tensors = given.tensors(0);
    const int64_t rank = rank_of(tensors.at(0));
    const int64_t dim = wrapped_dim(given.integer(1), rank + 1);
    if (dim < rank) {
      const SymIntList sizes =
          inserted(sizes_of(tensors[0]), static_cast<size_t>(dim), static_cast<int64_t>(tensors.size()));
      return gives(call(context, "aten::view", parts::cat(context, tensors, dim), sizes));
    }
    TensorList raised;
    for (const Tensor& tensor : tensors) raised.push_back(call(context, "aten::unsqueeze", tensor, dim));
    return gives(parts::cat(context, raised, given.integer(1)));
  });
  table.composite("aten::hstack", [](Context& context, const Arguments& given) {
    TensorList raised;
    for (const Tensor& tensor : given.tensors(0)) raised.push_back(at_least(context, tensor, 1));
    return gives(parts::cat(context, raised, rank_of(raised.at(0)) == 1 ? 0 : 1));
  });
  table.composite("aten::vstack", [](Context& context, const Arguments& given) {
    TensorList raised;
    for (const Tensor& tensor : given.tensors(0)) raised.push_back(at_least(context, tensor, 2));
    return gives(parts::cat(context, raised, 0));
  });
  table.composite("aten::tile", [](Context& context, const Arguments& given) {
    SymIntList repeats = given.numbers(1);
    while (static_cast<int64_t>(repeats.size()) < rank_of(given.tensor(0))) repeats = inserted(repeats, 0, 1);
    return gives(call(context, "aten::repeat", given.tensor(0), repeats));
  });
  table.composite("aten::repeat_interleave.self_int", [](Context& context, const Arguments& given) {
    Tensor input = given.tensor(0);
    int64_t dim = 0;
    if (given.has(2)) {
      dim = wrapped_dim(given.integer(2), rank_of(input));
    } else {
      input = flattened(context, input, 0, -1);
    }
    const SymIntList sizes = inserted(sizes_of(input), static_cast<size_t>(dim) + 1, given.number(1));
    const Tensor wide =
        call(context, "aten::expand", call(context, "aten::unsqueeze", input, dim + 1), sizes);
    return gives(flattened(context, parts::packed(context, wide), dim, dim + 1));
  });
  for (const char* const name : {"aten::meshgrid", "aten::meshgrid.indexing"}) {
    table.composite(name, [](Context& context, const Arguments& given) {
      const bool is_swapped = given.size() > 1 && given.text(1) == "xy" && given.tensors(0).size() > 1;
      TensorList tensors = given.tensors(0);
      if (is_swapped) std::swap(tensors[0], tensors[1]);
      SymIntList shape;
      for (const Tensor& tensor : tensors) shape.push_back(count_of(tensor));
      TensorList grids;
      for (size_t i = 0; i < tensors.size(); ++i) {
        std::vector<int64_t> view(tensors.size(), 1);
        view[i] = -1;
        const Tensor line = call(context, "aten::view", tensors[i], integers(view));
        grids.push_back(call(context, "aten::expand", line, shape));
      }
      if (is_swapped) {
        for (Tensor& grid : grids) grid = call(context, "aten::transpose.int", grid, 0, 1);
        std::swap(grids[0], grids[1]);
      }
      return gives(grids);
    });
  }
}

}  // namespace

void add_views(DecompositionTable& table) {
  add_orders(table);
  add_shapes(table);
  add_pieces(table);
  add_joins(table);
}

}  // namespace flambeau::trace
