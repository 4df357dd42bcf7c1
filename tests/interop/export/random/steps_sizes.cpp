// Steps that use sizes: new tensors of given ones, sizes as numbers, sizes that come from data.
#include <fmt/format.h>

#include "steps.h"

namespace flambeau::random_modules {

using nn::Slice;

// New tensors whose sizes are those of a value, or computed of them.
Made make_created(Builder& b) {
  const auto x = pick_ranked(b, 1);
  if (!x) return {};
  const auto dim = static_cast<int64_t>(b.pick_dim(*x));
  struct Created {
    const char* text;
    Tensor (*run)(const Tensor&, const SymInt&);
  };
  static const Created kCreated[] = {
      {"zeros([{}, 3]) - 0.5",
       [](const Tensor&, const SymInt& n) { return nn::sub(nn::zeros({n, 3}), 0.5); }},
      {"ones([2, {} * 2])", [](const Tensor&, const SymInt& n) { return nn::ones({2, n * 2}); }},
      {"full([{} + 1], 0.25)", [](const Tensor&, const SymInt& n) { return nn::full({n + 1}, 0.25); }},
      {"arange({})", [](const Tensor&, const SymInt& n) { return nn::arange(n); }},
      {"arange(0, {} * 2, 2)", [](const Tensor&, const SymInt& n) { return nn::arange(0, n * 2, 2); }},
      {"arange({}, float32) / {}",
       [](const Tensor&, const SymInt& n) { return nn::div(nn::arange(n, DType::kFloat32), n); }},
      {"eye({})", [](const Tensor&, const SymInt& n) { return nn::eye(n); }},
      {"new_zeros($0, [{}])", [](const Tensor& t, const SymInt& n) { return nn::new_zeros(t, {n}); }},
      {"new_full($0, [2, {}], 1)",
       [](const Tensor& t, const SymInt& n) { return nn::new_full(t, {2, n}, 1); }},
      // Not n - 1: PyTorch does not load its own file of a size that would be negative where a named one is
      // 0.
      {"new_ones($0, [{} + 2, 2])",
       [](const Tensor& t, const SymInt& n) { return nn::new_ones(t, {n + 2, 2}); }},
      {"linspace(0, 1, 5)", [](const Tensor&, const SymInt&) { return nn::linspace(0, 1, 5); }},
      {"full([], {}, float32) / 10",
       [](const Tensor&, const SymInt& n) { return nn::div(nn::full({}, n, DType::kFloat32), 10); }},
      {"zeros([{} // 2 + 2], int64)",
       [](const Tensor&, const SymInt& n) { return nn::zeros({n / 2 + 2}, DType::kInt64); }},
  };
  const Created& created = b.random.choose(kCreated);
  std::string text = created.text;
  for (size_t at; (at = text.find("{}")) != std::string::npos;)
    text.replace(at, 2, fmt::format("size($0, {})", dim));
  return {{.text = text, .inputs = {*x}, .run = one([run = created.run, dim](const TensorList& in) {
                                           return run(in[0], nn::size(in[0], dim));
                                         })}};
}

// Sizes as numbers that operators compute with.
Made make_size_number(Builder& b) {
  const auto x = b.pick_float(1);
  if (!x) return {};
  const auto dim = static_cast<int64_t>(b.pick_dim(*x));
  switch (b.random.below(5)) {
    case 0:
      return {{.text = fmt::format("$0 / size($0, {})", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return in[0] / nn::size(in[0], dim); })}};
    case 1:
      return {{.text = fmt::format("$0 * (size($0, {}) // 3)", dim),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return in[0] * (nn::size(in[0], dim) / 3); })}};
    case 2:
      return {
          {.text = fmt::format("clamp_max($0, size($0, {}) % 3)", dim),
           .inputs = {*x},
           .run = one([=](const TensorList& in) { return nn::clamp_max(in[0], nn::size(in[0], dim) % 3); })}};
    case 3:
      return {{.text = "sum($0) / numel($0)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                                const Tensor total = nn::sum(in[0]);
                                                                return total / nn::numel(in[0]);
                                                              })}};
    default:
      if (b.number_count() == 0) return {};
      return {
          {.text = "$0 * n0 / size($0, 0)", .inputs = {*x}, .run = [](Frame& frame, const TensorList& in) {
             return TensorList{in[0] * frame.numbers[0] / nn::size(in[0], 0)};
           }}};
  }
}

// The first rows of a table, as many as a size that is no larger than the table.
Made make_table_rows(Builder& b) {
  const auto x = b.pick([&](size_t at) { return b.is_input(at) && b.rank(at) > 0; });
  if (!x) return {};
  const size_t at = b.pick_dim(*x);
  const InputDim& dim = b.input_dim(*x, at);
  if (dim.root == nullptr || (dim.root->kind == trace::DimKind::kNamed && !dim.root->max)) return {};
  const size_t table = b.parameter({64 * dim.factor + dim.offset, 3});
  return {{.text = fmt::format("p{}[:size($0, {})]", table, at),
           .inputs = {*x},
           .run = [=](Frame& frame, const TensorList& in) {
             const SymInt rows = nn::size(in[0], static_cast<int64_t>(at));
             return TensorList{nn::at(frame.module.parameter(table), {Slice({}, rows)})};
           }}};
}

// A size that comes from data; nothing that goes on has it.
Made make_counted(Builder& b) {
  const auto i = b.pick_integer(1);
  if (!i) return {};
  const bool is_range = b.random.chance(50);
  return {{.text = fmt::format("n = item(sum($0) % 4 + 2); sum of {}",
                               is_range ? "arange(n)" : "full([n, size($0, 0)])"),
           .inputs = {*i},
           .run = one([is_range](const TensorList& in) {
             const Tensor total = nn::sum(in[0]);
             const SymInt n = nn::item(nn::add(nn::remainder(total, 4), 2));
             nn::check(nn::ge(n, 2));
             nn::check(nn::le(n, 5));
             if (is_range) return nn::sum(nn::arange(n));
             return nn::mean(nn::full({n, nn::size(in[0], 0)}, 0.5));
           })}};
}

}  // namespace flambeau::random_modules
