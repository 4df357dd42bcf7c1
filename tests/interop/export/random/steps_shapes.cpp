// Steps that rearrange: views, slices, joining and splitting, picking, padding.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "steps.h"

namespace flambeau::random_modules {
namespace {

using nn::Index, nn::Slice;

Made make_view(Builder& b) {
  const auto x = pick_ranked(b, 2);
  if (!x) return {};
  const auto rank = static_cast<int64_t>(b.rank(*x));
  const int64_t start = b.random.below(rank - 1), end = b.random.between(start + 1, rank - 1);
  switch (b.random.below(6)) {
    case 0:
      return {{.text = fmt::format("flatten($0, {}, {})", start, end),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::flatten(in[0], start, end); })}};
    case 1:
      return {
          {.text = "reshape($0, [size($0, 0), -1])",
           .inputs = {*x},
           .run = one([](const TensorList& in) { return nn::reshape(in[0], {nn::size(in[0], 0), -1}); })}};
    case 2:
      return {{.text = "view($0, [-1])", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                           return nn::view(in[0], {-1});
                                                         })}};
    case 3:
      return {{.text = "reshape($0, [size($0, 0) * size($0, 1), ...])",
               .inputs = {*x},
               .run = one([](const TensorList& in) {
                 const SymIntList sizes = nn::sizes(in[0]);
                 nn::Sizes wanted{sizes[0] * sizes[1]};
                 for (size_t i = 2; i < sizes.size(); ++i) wanted.push_back(sizes[i]);
                 return nn::reshape(in[0], wanted);
               })}};
    case 4:
      return {{.text = "view(contiguous($0), [numel // size($0, 0), size($0, 0)])",
               .inputs = {*x},
               .run = one([](const TensorList& in) {
                 const Tensor dense = nn::contiguous(in[0]);
                 const SymInt first = nn::size(dense, 0);
                 return nn::view(dense, {nn::numel(dense) / first, first});
               })}};
    default:
      return {
          {.text = "reshape($0, [-1, size($0, -1)])",
           .inputs = {*x},
           .run = one([](const TensorList& in) { return nn::reshape(in[0], {-1, nn::size(in[0], -1)}); })}};
  }
}

// A static dimension taken apart.
Made make_unflatten(Builder& b) {
  const auto x = pick_ranked(b, 1, 4);
  if (!x) return {};
  const size_t at = b.pick_dim(*x);
  const auto dim = static_cast<int64_t>(at);
  if (!b.is_static(*x, at) || b.least(*x, at) % 2 != 0) return {};
  return {{.text = fmt::format("unflatten($0, {}, [2, -1])", dim),
           .inputs = {*x},
           .run = one([=](const TensorList& in) { return nn::unflatten(in[0], dim, {2, -1}); })}};
}

Made make_order(Builder& b) {
  const auto x = pick_ranked(b, 2);
  if (!x) return {};
  const auto first = static_cast<int64_t>(b.pick_dim(*x)), second = static_cast<int64_t>(b.pick_dim(*x));
  std::vector<int64_t> order(b.rank(*x));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<size_t>(b.random.below(static_cast<int64_t>(i) + 1))]);
  const Dims dims{std::span<const int64_t>(order)};
  switch (b.random.below(5)) {
    case 0:
      return {{.text = fmt::format("permute($0, [{}])", fmt::join(order, ", ")),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::permute(in[0], dims); })}};
    case 1:
      return {{.text = fmt::format("movedim($0, {}, {})", first, second),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::movedim(in[0], first, second); })}};
    case 2:
      return {
          {.text = "mT($0)", .inputs = {*x}, .run = one([](const TensorList& in) { return nn::mT(in[0]); })}};
    case 3:
      return {{.text = fmt::format("contiguous(transpose($0, {}, -1))", first),
               .inputs = {*x},
               .run = one(
                   [=](const TensorList& in) { return nn::contiguous(nn::transpose(in[0], first, -1)); })}};
    default:
      return {{.text = fmt::format("transpose($0, {}, {})", first, second),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::transpose(in[0], first, second); })}};
  }
}

Made make_axis(Builder& b) {
  const auto x = pick_ranked(b, 1, 4);
  if (!x) return {};
  const auto rank = static_cast<int64_t>(b.rank(*x));
  const int64_t dim = b.random.between(-rank - 1, rank);
  const auto ones = b.pick([&](size_t at) {
    for (size_t i = 0; i < b.rank(at); ++i) {
      if (b.least(at, i) == 1) return true;
    }
    return false;
  });
  switch (b.random.below(4)) {
    case 0:
      if (!ones) return {};
      return {{.text = "squeeze($0)", .inputs = {*ones}, .run = one([](const TensorList& in) {
                                                           return nn::squeeze(in[0]);
                                                         })}};
    case 1: {
      if (!ones) return {};
      int64_t axis = 0;
      while (b.least(*ones, static_cast<size_t>(axis)) != 1) ++axis;
      return {{.text = fmt::format("squeeze($0, {})", axis),
               .inputs = {*ones},
               .run = one([=](const TensorList& in) { return nn::squeeze(in[0], axis); })}};
    }
    case 2: {
      const int64_t times = b.random.between(2, 3);
      return {{.text = fmt::format("expand(unsqueeze($0, 0), [{}, -1, ...])", times),
               .inputs = {*x},
               .run = one([=](const TensorList& in) {
                 nn::Sizes wanted(static_cast<size_t>(nn::dim(in[0])) + 1, -1);
                 wanted[0] = times;
                 return nn::expand(nn::unsqueeze(in[0], 0), wanted);
               })}};
    }
    default:
      return {{.text = fmt::format("unsqueeze($0, {})", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::unsqueeze(in[0], dim); })}};
  }
}

// To the size of another value.
Made make_expand(Builder& b) {
  const auto x = pick_ranked(b, 1);
  const auto y = pick_ranked(b, 1);
  if (!x || !y || b.rank(*x) + 1 > 4) return {};
  const auto dim = static_cast<int64_t>(b.pick_dim(*y));
  if (b.random.chance(50)) {
    if (!b.broadcasts(*x, *y) || b.rank(*x) > b.rank(*y)) return {};
    return {{.text = "expand_as($0, $1)", .inputs = {*x, *y}, .run = one([](const TensorList& in) {
                                                                return nn::expand_as(in[0], in[1]);
                                                              })}};
  }
  return {{.text = fmt::format("expand(unsqueeze($0, 0), [size($1, {}), ...])", dim),
           .inputs = {*x, *y},
           .run = one([=](const TensorList& in) {
             nn::Sizes wanted{nn::size(in[1], dim)};
             for (const SymInt& size : nn::sizes(in[0])) wanted.push_back(size);
             return nn::expand(nn::unsqueeze(in[0], 0), wanted);
           })}};
}

Made make_slice(Builder& b) {
  const auto x = pick_ranked(b, 1);
  if (!x) return {};
  const size_t at = b.pick_dim(*x);
  const auto dim = static_cast<int64_t>(at);
  const int64_t least = b.least(*x, at), first = b.random.below(least);
  std::vector<Index> before(at, Index(Slice()));
  const auto indexed = [&](std::string text, const std::vector<Index>& indices) -> Made {
    return {{.text = "$0[" + std::string(at, ':') + " " + std::move(text) + "]",
             .inputs = {*x},
             .run = one([indices](const TensorList& in) { return nn::at(in[0], indices); })}};
  };
  const auto with = [&](const Index& index) {
    std::vector<Index> all = before;
    all.push_back(index);
    return all;
  };
  switch (b.random.below(9)) {
    case 0:
      return indexed(fmt::format("{}:", first), with(Slice(first)));
    case 1:
      return indexed(fmt::format(":{}", first + 1), with(Slice({}, first + 1)));
    case 2:
      if (least < 2) return {};
      return indexed(":-1", with(Slice({}, -1)));
    case 3:
      return indexed("::2", with(Slice({}, {}, 2)));
    case 4:
      return indexed(fmt::format("{}", first), with(first));
    case 5:
      return indexed("-1", with(-1));
    case 6:
      if (b.rank(*x) > 4) return {};
      return indexed("None, ..., -2:", [&] {
        std::vector<Index> all = before;
        all.emplace_back(nn::NewAxis);
        if (at + 1 < b.rank(*x) && b.least(*x, b.rank(*x) - 1) >= 2) {
          all.emplace_back(nn::Ellipsis);
          all.emplace_back(Slice(-2));
        }
        return all;
      }());
    case 7:
      return {{.text = fmt::format("narrow($0, {}, {}, 1)", dim, first),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::narrow(in[0], dim, first, 1); })}};
    default:
      // To the half of it, which is a size that the program computes.
      if (least < 4) return {};
      return {{.text = fmt::format("slice($0, {}, 0, size // 2)", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) {
                 return nn::slice(in[0], dim, 0, nn::size(in[0], dim) / 2);
               })}};
  }
}

Made make_join(Builder& b) {
  const auto x = pick_ranked(b, 1, 4);
  if (!x) return {};
  const size_t at = b.pick_dim(*x);
  const auto dim = static_cast<int64_t>(at);
  const auto y = b.pick([&](size_t other) {
    if (b.rank(other) != b.rank(*x) || b.dtype(other) != b.dtype(*x)) return false;
    for (size_t i = 0; i < b.rank(other); ++i) {
      if (i != at && !b.same_size(*x, i, other, i)) return false;
    }
    return true;
  });
  if (b.random.chance(60))
    return {{.text = fmt::format("cat([$0, $1], {})", dim),
             .inputs = {*x, *y},
             .run = one([=](const TensorList& in) { return nn::cat({in[0], in[1]}, dim); })}};
  if (!b.same_shape(*x, *y)) return {};
  return {{.text = fmt::format("stack([$0, $1], {})", dim),
           .inputs = {*x, *y},
           .run = one([=](const TensorList& in) { return nn::stack({in[0], in[1]}, dim); })}};
}

// Into a number of parts that does not depend on sizes that vary.
Made make_parts(Builder& b) {
  const auto x = pick_ranked(b, 1);
  if (!x) return {};
  const size_t at = b.pick_dim(*x);
  const auto dim = static_cast<int64_t>(at);
  const int64_t least = b.least(*x, at);
  if (!b.is_static(*x, at)) {
    if (least < 3) return {};
    return {{.text = fmt::format("split($0, [1, size - 1], {})", dim),
             .inputs = {*x},
             .run = [=](Frame&, const TensorList& in) {
               return nn::split(in[0], nn::Sizes{1, nn::size(in[0], dim) - 1}, dim);
             }}};
  }
  if (least < 2 || least > 6) return {};
  switch (b.random.below(4)) {
    case 0:
      return {{.text = fmt::format("chunk($0, 2, {})", dim),
               .inputs = {*x},
               .run = [=](Frame&, const TensorList& in) { return nn::chunk(in[0], 2, dim); }}};
    case 1:
      return {
          {.text = fmt::format("split($0, {}, {})", least - 1, dim),
           .inputs = {*x},
           .run = [=](Frame&, const TensorList& in) { return nn::split(in[0], SymInt(least - 1), dim); }}};
    case 2:
      if (least > 3) return {};
      return {{.text = fmt::format("unbind($0, {})", dim),
               .inputs = {*x},
               .run = [=](Frame&, const TensorList& in) { return nn::unbind(in[0], dim); }}};
    default:
      return {{.text = fmt::format("split($0, [{}, 1], {})", least - 1, dim),
               .inputs = {*x},
               .run = [=](Frame&, const TensorList& in) {
                 return nn::split(in[0], nn::Sizes{least - 1, 1}, dim);
               }}};
  }
}

Made make_repeat(Builder& b) {
  const auto x = pick_ranked(b, 1, 4);
  if (!x) return {};
  const auto dim = static_cast<int64_t>(b.pick_dim(*x));
  switch (b.random.below(7)) {
    case 0:
      return {{.text = fmt::format("repeat($0, [.. 2 at {} ..])", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) {
                 nn::Sizes times(static_cast<size_t>(nn::dim(in[0])), 1);
                 times[static_cast<size_t>(dim)] = 2;
                 return nn::repeat(in[0], times);
               })}};
    case 1:
      return {{.text = fmt::format("repeat_interleave($0, 2, {})", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::repeat_interleave(in[0], 2, dim); })}};
    case 2:
      return {{.text = fmt::format("flip($0, [{}])", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::flip(in[0], {dim}); })}};
    case 3:
      return {{.text = fmt::format("roll($0, 1, {})", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::roll(in[0], {1}, {dim}); })}};
    case 4:
      if (b.rank(*x) < 2) return {};
      return {{.text = "tril($0, 1)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                        return nn::tril(in[0], 1);
                                                      })}};
    case 5:
      if (b.rank(*x) < 2) return {};
      return {{.text = "triu($0)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                     return nn::triu(in[0]);
                                                   })}};
    default: {
      const int64_t size = std::min<int64_t>(2, b.least(*x, static_cast<size_t>(dim)));
      return {{.text = fmt::format("unfold($0, {}, {}, 1)", dim, size),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::unfold(in[0], dim, size, 1); })}};
    }
  }
}

Made make_padding(Builder& b) {
  const auto x = b.pick_float(2, 4);
  if (!x) return {};
  const int64_t before = b.random.between(0, 2), after = b.random.between(0, 2);
  constexpr const char* kModes[] = {"constant", "constant", "reflect", "replicate", "circular"};
  const std::string mode = b.random.choose(kModes);
  // Others pad no more than what is there.
  if (mode != "constant" && b.least(*x, b.rank(*x) - 1) < 3) return {};
  if (mode == "constant" && b.random.chance(30)) {
    return {{.text = fmt::format("pad($0, [1, 0, {}, {}], value=0.5)", before, after),
             .inputs = {*x},
             .run = one([=](const TensorList& in) {
               return nn::pad(in[0], {1, 0, before, after}, "constant", 0.5);
             })}};
  }
  return {{.text = fmt::format("pad($0, [{}, {}], {})", before, after, mode),
           .inputs = {*x},
           .run = one([=](const TensorList& in) { return nn::pad(in[0], {before, after}, mode); })}};
}

// Picking by numbers, which are brought into the range first.
Made make_picking(Builder& b) {
  const auto i = b.pick_integer(1);
  const auto x = b.pick_float(1, 3);
  if (!i || !x) return {};
  const size_t at = b.pick_dim(*x);
  const auto dim = static_cast<int64_t>(at);
  const auto places = [dim](const TensorList& in) { return nn::remainder(in[1], nn::size(in[0], dim)); };
  switch (b.random.below(7)) {
    case 0:
      if (b.rank(*i) != 1) return {};
      return {{.text = fmt::format("index_select($0, {}, $1 % size)", dim),
               .inputs = {*x, *i},
               .run = one([=](const TensorList& in) { return nn::index_select(in[0], dim, places(in)); })}};
    case 1:
      return {{.text = "$0[$1 % size($0, 0)]", .inputs = {*x, *i}, .run = one([](const TensorList& in) {
                                                                     const Tensor index = nn::remainder(
                                                                         in[1], nn::size(in[0], 0));
                                                                     return nn::at(in[0], {Index(index)});
                                                                   })}};
    case 2:
      if (!b.same_shape(*x, *i)) return {};
      return {{.text = fmt::format("gather($0, {}, $1 % size)", dim),
               .inputs = {*x, *i},
               .run = one([=](const TensorList& in) { return nn::gather(in[0], dim, places(in)); })}};
    case 3:
      if (!b.same_shape(*x, *i)) return {};
      return {{.text = fmt::format("scatter($0, {}, $1 % size, 0.5)", dim),
               .inputs = {*x, *i},
               .run = one([=](const TensorList& in) { return nn::scatter(in[0], dim, places(in), 0.5); })}};
    case 4:
      return {{.text = "one_hot($1 % 4, 4)",
               .inputs = {*x, *i},
               .run = one([](const TensorList& in) { return nn::one_hot(nn::remainder(in[1], 4), 4); })}};
    case 5: {
      const size_t table = b.parameter({6, 4});
      return {{.text = fmt::format("embedding($0 % 6, p{})", table),
               .inputs = {*i},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{nn::embedding(nn::remainder(in[0], 6), frame.module.parameter(table))};
               }}};
    }
    default: {
      if (b.rank(*i) != 1 || !b.same_size(*i, 0, *x, at)) return {};
      return {{.text = fmt::format("index_add($0, {}, $1 % size, tanh($0))", dim),
               .inputs = {*x, *i},
               .run = one([=](const TensorList& in) {
                 const Tensor index = places(in);
                 return nn::index_add(in[0], dim, index, nn::tanh(in[0]));
               })}};
    }
  }
}

constexpr Maker kShapesMakers[] = {
    make_counted, make_view,    make_view,        make_unflatten,  make_order,   make_axis,    make_axis,
    make_expand,  make_slice,   make_slice,       make_join,       make_parts,   make_repeat,  make_padding,
    make_created, make_created, make_size_number, make_table_rows, make_picking, make_picking, make_picking,
};

}  // namespace

std::span<const Maker> shape_makers() { return kShapesMakers; }

}  // namespace flambeau::random_modules
