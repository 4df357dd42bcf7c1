// Branches and loops, and modules whose calls are preserved: the same modules as in nn_flow.py.
#include "cases.h"

namespace flambeau::nn_cases {
namespace {

// What one branch, the other, and both close over: values, weights, a buffer.
class CondClosures : public nn::Layer<CondClosures> {
 public:
  CondClosures() : linear(3, 3), offset(nn::ones({3})) {
    add_module("linear", linear);
    add_buffer("offset", offset);
  }
  static constexpr std::array kArguments{"pred", "x", "y", "z"};
  Tensor forward(const Tensor& pred, const Tensor& x, const Tensor& y, const Tensor& z) {
    const Tensor next = x + 1;
    return nn::cond(
        pred,
        [&](const Tensor& a, const Tensor&) {
          const Tensor b = linear(a) + offset;
          return b + z * y;
        },
        [&](const Tensor&, const Tensor& b) { return b * 2 + z; }, x, next);
  }
  nn::Linear linear;
  Tensor offset;
};

// Several results, and a layer of its own in each branch.
class CondLayers : public nn::Layer<CondLayers> {
 public:
  CondLayers() : yes(3, 3), no(3, 3) {
    add_module("yes", yes);
    add_module("no", no);
  }
  static constexpr std::array kArguments{"x"};
  std::pair<Tensor, Tensor> forward(const Tensor& x) {
    const auto if_true = [this](const Tensor& a) {
      const Tensor first = yes(a);
      return std::pair(first, nn::sin(a));
    };
    const auto if_false = [this](const Tensor& a) {
      const Tensor first = no(a);
      return std::pair(first, nn::cos(a));
    };
    return nn::cond(nn::gt(nn::sum(x), 0), if_true, if_false, x);
  }
  nn::Linear yes, no;
};

class CondNested : public nn::Layer<CondNested> {
 public:
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const auto inner = [](const Tensor& a) {
      const Tensor is_large = nn::gt(nn::sum(a), 2);
      return nn::cond(
          is_large, [](const Tensor& b) { return b + 1; }, [](const Tensor& b) { return b + 2; }, a);
    };
    return nn::cond(nn::gt(nn::size(x, 0), 2), inner, [](const Tensor& a) { return a - 1; }, x);
  }
};

// Sizes read inside: of an operand, and of something closed over.
class CondSizes : public nn::Layer<CondSizes> {
 public:
  static constexpr std::array kArguments{"x", "y"};
  Tensor forward(const Tensor& x, const Tensor& y) {
    return nn::cond(
        nn::gt(nn::sum(x), 4), [&](const Tensor& a) { return a + nn::sum(y) * nn::size(y, 0); },
        [](const Tensor& a) { return a * nn::size(a, 0); }, x);
  }
};

class WhileClosures : public nn::Layer<WhileClosures> {
 public:
  static constexpr std::array kArguments{"x", "n", "k", "w"};
  std::tuple<Tensor, Tensor> forward(const Tensor& x, const Tensor& n, const Tensor& k, const Tensor& w) {
    return nn::while_loop(
        [&](const Tensor& i, const Tensor&) {
          const Tensor is_less = nn::lt(i, n);
          return is_less & nn::gt(nn::sum(w), -100);
        },
        [&](const Tensor& i, const Tensor& a) {
          const Tensor next = i + 1;
          return std::tuple(next, a * k + n);
        },
        nn::zeros({}, DType::kInt64), x);
  }
};

class MapRows : public nn::Layer<MapRows> {
 public:
  MapRows() : linear(3, 3) { add_module("linear", linear); }
  static constexpr std::array kArguments{"x", "k"};
  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& k) {
    return nn::map(
        [this](const Tensor& row, const Tensor& b) {
          const Tensor first = linear(row) * b;
          return std::pair(first, nn::sum(row));
        },
        x, k);
  }
  nn::Linear linear;
};

// A buffer that is replaced rather than written to.
class Replaced : public nn::Layer<Replaced> {
 public:
  Replaced() : total(nn::zeros({3})) { add_buffer("total", total); }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    total = total + nn::sum(x, {0});
    return x + total;
  }
  Tensor total;
};

// Numbers from data: what is required of them, and a slice that they end.
class SlicedByData : public nn::Layer<SlicedByData> {
 public:
  static constexpr std::array kArguments{"x", "count"};
  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& count) {
    const SymInt n = nn::item(count);
    nn::check(nn::ge(n, 0));
    nn::check(nn::le(n, nn::size(x, 0)));
    const Tensor first = nn::at(x, {nn::Slice({}, n)});
    return {first, nn::zeros({n, 2})};
  }
};

// A module that is called twice, with a number and several results.
class CalledTwice : public nn::Layer<CalledTwice> {
 public:
  class Block : public nn::Layer<Block> {
   public:
    Block() : linear(3, 3) { add_module("linear", linear); }
    static constexpr std::array kArguments{"x", "y", "scale"};
    std::pair<Tensor, std::vector<Tensor>> forward(const Tensor& x, const Tensor& y, double scale) {
      const Tensor z = linear(x) * scale;
      return {z, {z + y}};
    }
    nn::Linear linear;
  };
  CalledTwice() : last(3, 3) {
    add_module("block", block);
    add_module("last", last);
  }
  static constexpr std::array kArguments{"x"};
  std::pair<Tensor, Tensor> forward(const Tensor& x) {
    const Tensor y = x + 1;
    const auto first = block(x, y, 3.0);
    const auto second = block(first.first, x, 4.0);
    return {last(first.second.at(0)), second.first};
  }
  Block block;
  nn::Linear last;
};

// Sizes as numbers: Python's // and %.
class HalfTheRows : public nn::Layer<HalfTheRows> {
 public:
  static constexpr std::array kArguments{"x"};
  std::pair<Tensor, Tensor> forward(const Tensor& x) {
    const SymInt half = nn::size(x, 0) / 2;
    const Tensor scaled = x * half;
    return {scaled, nn::ones({(nn::size(x, 0) + 4) / 2})};
  }
};

class RestOfRows : public nn::Layer<RestOfRows> {
 public:
  static constexpr std::array kArguments{"x"};
  std::tuple<Tensor, Tensor, Tensor> forward(const Tensor& x) {
    const SymInt rest = nn::size(x, 0) % 2;
    const Tensor scaled = x * rest;
    const Tensor zeros = nn::zeros({rest + 2});
    return {scaled, zeros, nn::ones({min(nn::size(x, 0), 4)})};
  }
};

template <typename Module>
Case flow_case(std::string name) {
  return {std::move(name), [] { return std::make_shared<Module>(); }};
}

}  // namespace

std::span<const Case> flow_cases() {
  static const std::vector<Case> kCases = {
      flow_case<CondClosures>("cond_closures"),
      flow_case<CondLayers>("cond_layers"),
      flow_case<CondNested>("cond_nested"),
      flow_case<CondSizes>("cond_sizes"),
      flow_case<WhileClosures>("while_closures"),
      flow_case<MapRows>("map_rows"),
      flow_case<Replaced>("replaced"),
      flow_case<SlicedByData>("sliced_by_data"),
      flow_case<CalledTwice>("called_twice"),
      flow_case<HalfTheRows>("half_the_rows"),
      flow_case<RestOfRows>("rest_of_rows"),
  };
  return kCases;
}

}  // namespace flambeau::nn_cases
