// Einstein's sums: an equation over labels, made of permutations and batched matrix products.
#include <fmt/format.h>

#include <array>
#include <deque>
#include <numeric>
#include <vector>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/at_once.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::ops {
namespace {

// Labels are numbers: A to Z, then a to z.
constexpr int kLabels = 52;
constexpr int kEllipsis = kLabels;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
int label_of(char c) { return c <= 'Z' ? c - 'A' : c - 'a' + 26; }
char letter_of(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }

using Labels = std::vector<int>;

std::string text_of(const SymInt& size) { return symbolic::to_string(size.expr()); }

// The labels of one operand or of the result. `at` is its place in the equation.
Labels parse_labels(std::string_view text, size_t at, const std::string& whose) {
  Labels labels;
  bool has_ellipsis = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      if (has_ellipsis)
        fail_argument(
            fmt::format("einsum(): found '.' for {} for which an ellipsis was already found", whose));
      if (text.substr(i, 3) != "...")
        fail_argument(fmt::format("einsum(): found '.' for {} that is not part of any ellipsis", whose));
      labels.push_back(kEllipsis);
      has_ellipsis = true;
      i += 2;
    } else if (is_letter(text[i])) {
      labels.push_back(label_of(text[i]));
    } else {
      fail_argument(fmt::format(
          "einsum(): invalid subscript given at index {} in the equation string, subscripts must be "
          "in [a-zA-Z]",
          at + i));
    }
  }
  return labels;
}

struct Equation {
  std::vector<Labels> operands;
  std::optional<Labels> result;
};

Equation parse_equation(std::string_view text, size_t operand_count) {
  Equation equation;
  const size_t arrow = text.find("->");
  const std::string_view left = text.substr(0, arrow);
  for (size_t begin = 0;;) {
    const size_t comma = left.find(',', begin);
    equation.operands.push_back(parse_labels(left.substr(begin, comma - begin), begin,
                                             fmt::format("operand {}", equation.operands.size())));
    if (comma == std::string_view::npos) break;
    begin = comma + 1;
  }
  if (equation.operands.size() > operand_count)
    fail_argument("einsum(): fewer operands were provided than specified in the equation");
  if (equation.operands.size() < operand_count)
    fail_argument("einsum(): more operands were provided than specified in the equation");
  if (arrow != std::string_view::npos)
    equation.result = parse_labels(text.substr(arrow + 2), arrow + 2, "output");
  return equation;
}

// Where each label, and the dimensions of the ellipsis, come in the order of all dimensions: those of the
// result first, then those that are summed.
struct Order {
  std::array<int, kLabels> place;
  int ellipsis = 0;  // place of the first of its dimensions
  int ellipsis_dims = 0;
  int kept = 0;
  int all = 0;
};

Order make_order(const Equation& equation, std::span<const Tensor> tensors) {
  Order order;
  order.place.fill(-1);
  std::array<int, kLabels> uses{};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Labels& labels = equation.operands[i];
    int named = 0;
    bool has_ellipsis = false;
    for (const int label : labels) {
      if (label == kEllipsis) {
        has_ellipsis = true;
      } else {
        ++uses[static_cast<size_t>(label)];
        ++named;
      }
    }
    const auto rank = static_cast<int>(rank_of(tensors[i]));
    if (has_ellipsis ? named > rank : named != rank) {
      fail_argument(fmt::format(
          "einsum(): the number of subscripts in the equation ({}) {} the number of dimensions ({}) for "
          "operand {}{}",
          named, has_ellipsis ? "is more than" : "does not match", rank, i,
          has_ellipsis ? "" : " and no ellipsis was given"));
    }
    if (has_ellipsis) order.ellipsis_dims = std::max(order.ellipsis_dims, rank - named);
  }
  bool ellipsis_is_kept = true;
  if (!equation.result) {
    order.all = order.ellipsis_dims;
    for (size_t label = 0; label < kLabels; ++label) {
      if (uses[label] == 1) order.place[label] = order.all++;
    }
  } else {
    ellipsis_is_kept = false;
    for (const int label : *equation.result) {
      if (label == kEllipsis) {
        order.ellipsis = order.all;
        order.all += order.ellipsis_dims;
        ellipsis_is_kept = true;
        continue;
      }
      const auto at = static_cast<size_t>(label);
      if (order.place[at] >= 0)
        fail_argument(fmt::format("einsum(): output subscript {} appears more than once in the output",
                                  letter_of(label)));
      if (uses[at] == 0)
        fail_argument(
            fmt::format("einsum(): output subscript {} does not appear in the equation for any input operand",
                        letter_of(label)));
      order.place[at] = order.all++;
    }
  }
  order.kept = order.all;
  if (!ellipsis_is_kept) {
    order.ellipsis = order.all;
    order.all += order.ellipsis_dims;
  }
  for (size_t label = 0; label < kLabels; ++label) {
    if (uses[label] > 0 && order.place[label] < 0) order.place[label] = order.all++;
  }
  return order;
}

// A view with its dimensions in that order; a place without one, -1, becomes a dimension of size 1.
Tensor arranged(const Tensor& tensor, const Dims& order) {
  const Info<Size> from = info_of(tensor);
  Info<Size> info = from;
  info.sizes.clear();
  info.strides.clear();
  for (const int64_t dim : order) {
    info.sizes.push_back(dim < 0 ? Size(1) : from.sizes[static_cast<size_t>(dim)]);
    info.strides.push_back(dim < 0 ? Size(1) : from.strides[static_cast<size_t>(dim)]);
  }
  return viewed(tensor, info);
}
Tensor permuted(Context& context, const Tensor& tensor, const Dims& order) {
  return is_done_at_once(context, tensor) ? arranged(tensor, order)
                                          : call(context, "aten::permute", tensor, order);
}

// An operand with all dimensions in order; those it lacks are of size 1, repeated labels are its diagonal.
Tensor aligned(Context& context, const Tensor& tensor, const Labels& labels, const Order& order,
               size_t operand) {
  Tensor result = tensor;
  Dims permutation(static_cast<size_t>(order.all), -1);
  int64_t dim = 0;
  const auto named = static_cast<int>(
      labels.size() - static_cast<size_t>(std::count(labels.begin(), labels.end(), kEllipsis)));
  for (const int label : labels) {
    if (label == kEllipsis) {
      const int dims = static_cast<int>(rank_of(tensor)) - named;
      for (int j = order.ellipsis_dims - dims; j < order.ellipsis_dims; ++j) {
        permutation[static_cast<size_t>(order.ellipsis) + static_cast<size_t>(j)] = dim++;
      }
      continue;
    }
    int64_t& place = permutation[static_cast<size_t>(order.place[static_cast<size_t>(label)])];
    if (place < 0) {
      place = dim++;
      continue;
    }
    const SymInt a = sizes_of(result)[static_cast<size_t>(dim)];
    const SymInt b = sizes_of(result)[static_cast<size_t>(place)];
    if (a != b) {
      fail_argument(
          fmt::format("einsum(): subscript {} is repeated for operand {} but the sizes don't match, {} != {}",
                      letter_of(label), operand, text_of(a), text_of(b)));
    }
    result = call(context, "aten::diagonal", result, 0, place, dim);
    result = call(context, "aten::movedim.int", result, -1, place);
  }
  if (is_done_at_once(context, result)) return arranged(result, permutation);
  for (int64_t& place : permutation) {
    if (place >= 0) continue;
    result = call(context, "aten::unsqueeze", result, dim);
    place = dim++;
  }
  return call(context, "aten::permute", result, permutation);
}

// The sum over some dimensions of the product of two tensors of the same rank, as one batched matrix product;
// summed dimensions stay, of size 1.
Tensor sum_of_products(Context& context, Tensor left, Tensor right, const Dims& summed) {
  if (summed.empty()) return call(context, "aten::mul.Tensor", left, right);
  const SymIntList left_sizes = sizes_of(left), right_sizes = sizes_of(right);
  const size_t rank = left_sizes.size();
  std::vector<size_t> both, only_left, only_right;
  SymInt both_size = 1, left_size = 1, right_size = 1, sum_size = 1;
  for (size_t d = 0; d < rank; ++d) {
    const bool in_left = left_sizes[d] != 1;
    const bool in_right = right_sizes[d] != 1;
    require(!in_left || !in_right || left_sizes[d] == right_sizes[d], "non-broadcast dimensions must match");
    const auto dim = static_cast<int64_t>(d);
    if (std::find(summed.begin(), summed.end(), dim) != summed.end()) {
      if (in_left && in_right) {
        sum_size *= left_sizes[d];
      } else if (in_left) {
        left = call(context, "aten::sum.dim_IntList", left, Dims{dim}, true);
      } else if (in_right) {
        right = call(context, "aten::sum.dim_IntList", right, Dims{dim}, true);
      }
    } else if (in_left && in_right) {
      both.push_back(d);
      both_size *= left_sizes[d];
    } else if (in_left) {
      only_left.push_back(d);
      left_size *= left_sizes[d];
    } else {
      only_right.push_back(d);
      right_size *= right_sizes[d];
    }
  }
  // Exchanged where the product then lies as the result is ordered.
  if (!only_left.empty() && !only_right.empty() && only_right.back() < only_left.front()) {
    std::swap(left, right);
    std::swap(only_left, only_right);
    std::swap(left_size, right_size);
  }
  Dims left_order, right_order, back(rank, 0);
  SymIntList sizes;
  const auto place = [&](Dims& order, std::span<const size_t> dims) {
    for (const size_t d : dims) order.push_back(static_cast<int64_t>(d));
  };
  const auto place_summed = [&](Dims& order) {
    for (const int64_t d : summed) order.push_back(d);
  };
  place(left_order, both);
  place(left_order, only_left);
  place_summed(left_order);
  place(left_order, only_right);
  place(right_order, both);
  place_summed(right_order);
  place(right_order, only_right);
  place(right_order, only_left);
  for (const size_t d : both) sizes.push_back(sizes_of(left)[d]);
  for (const size_t d : only_left) sizes.push_back(sizes_of(left)[d]);
  for (size_t i = 0; i < summed.size(); ++i) sizes.push_back(1);
  for (const size_t d : only_right) sizes.push_back(sizes_of(right)[d]);
  for (size_t i = 0; i < rank; ++i) back[static_cast<size_t>(left_order[i])] = static_cast<int64_t>(i);

  left = call(context, "aten::reshape", permuted(context, left, left_order),
              SymIntList{both_size, left_size, sum_size});
  right = call(context, "aten::reshape", permuted(context, right, right_order),
               SymIntList{both_size, sum_size, right_size});
  const Tensor product = call(context, "aten::bmm", left, right);
  return permuted(context, call(context, "aten::view", product, sizes), back);
}

void check_sizes(std::span<const Tensor> aligned_tensors, const Order& order) {
  for (size_t d = 0; d < static_cast<size_t>(order.all); ++d) {
    SymInt seen = 1;
    for (const Tensor& tensor : aligned_tensors) {
      const SymInt size = sizes_of(tensor)[d];
      if (size == 1) continue;
      if (seen != 1 && size != seen) {
        fail_argument(fmt::format(
            "einsum(): a dimension has size {} which does not broadcast with previously seen size "
            "{}",
            text_of(size), text_of(seen)));
      }
      seen = size;
    }
  }
}

Tensor einsum(Context& context, std::string_view equation_text, std::span<const Tensor> tensors,
              std::optional<std::span<const Size>> path) {
  require(!tensors.empty(), "einsum(): must provide at least one operand");
  const size_t path_size = tensors.size() == 1 ? 1 : (tensors.size() - 1) * 2;
  if (path && path->size() != path_size) {
    fail_argument(
        fmt::format("einsum(): expected contraction path given in path parameter to have size {} but got {}",
                    path_size, path->size()));
  }
  const Equation equation = parse_equation(equation_text, tensors.size());
  const Order order = make_order(equation, tensors);
  std::vector<Tensor> list;
  for (size_t i = 0; i < tensors.size(); ++i) {
    list.push_back(aligned(context, tensors[i], equation.operands[i], order, i));
  }
  check_sizes(list, order);
  // How many operands have more than one element in each dimension: it is summed once none is left but two.
  std::vector<int> uses(static_cast<size_t>(order.all), 0);
  for (const Tensor& tensor : list) {
    for (size_t d = 0; d < uses.size(); ++d) uses[d] += sizes_of(tensor)[d] != 1 ? 1 : 0;
  }
  std::deque<Tensor> left_over(list.begin(), list.end());
  size_t at = 0;
  while (left_over.size() > 1) {
    int64_t i = 0, j = 1;
    if (path) {
      i = (*path)[at++];
      j = (*path)[at++];
      if (j < i) std::swap(i, j);
      if (i == j || i < 0 || j >= static_cast<int64_t>(left_over.size())) {
        fail_argument(fmt::format(
            "einsum(): invalid contraction ({}, {}{}", i, j,
            i == j ? ") cannot contract an operand with itself" : ") operand index is out of bounds"));
      }
    }
    Tensor a = left_over[static_cast<size_t>(i)];
    Tensor b = left_over[static_cast<size_t>(j)];
    left_over.erase(left_over.begin() + j);
    left_over.erase(left_over.begin() + i);
    Dims summed, of_a, of_b;
    for (auto d = static_cast<size_t>(order.kept); d < uses.size(); ++d) {
      const bool in_a = sizes_of(a)[d] != 1;
      const bool in_b = sizes_of(b)[d] != 1;
      const auto dim = static_cast<int64_t>(d);
      if (in_a && in_b) {
        if (--uses[d] == 1) {
          summed.push_back(dim);
          uses[d] = 0;
        }
      } else if (uses[d] == 1 && (in_a || in_b)) {
        (in_a ? of_a : of_b).push_back(dim);
        uses[d] = 0;
      }
    }
    if (!of_a.empty()) a = call(context, "aten::sum.dim_IntList", a, of_a, true);
    if (!of_b.empty()) b = call(context, "aten::sum.dim_IntList", b, of_b, true);
    Tensor product = sum_of_products(context, a, b, summed);
    path ? left_over.push_back(std::move(product)) : left_over.push_front(std::move(product));
  }
  const Tensor& result = left_over[0];
  if (order.all == order.kept) return result;
  if (tensors.size() > 1) {
    const SymIntList all = sizes_of(result);
    return call(context, "aten::view", result, SymIntList(all.span().first(static_cast<size_t>(order.kept))));
  }
  Dims summed;
  for (int d = order.kept; d < order.all; ++d) summed.push_back(d);
  return call(context, "aten::sum.dim_IntList", result, summed);
}

}  // namespace

void define_einsum(Library& library) {
  library.define("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")
      .composite<einsum>();
}

}  // namespace flambeau::ops
