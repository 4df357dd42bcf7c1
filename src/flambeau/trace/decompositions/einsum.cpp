// Einstein's sums of two operands whose sizes may be symbols, as one batched product. Other equations are
// left to the library.
#include <algorithm>
#include <string>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

struct Equation {
  std::string left;
  std::string right;
  std::string result;
};

std::optional<Equation> parse(std::string text) {
  std::erase(text, ' ');
  const size_t comma = text.find(',');
  const size_t arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos ||
      text.find(',', comma + 1) != std::string::npos)
    return std::nullopt;
  Equation equation{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
  for (const std::string* const labels : {&equation.left, &equation.right, &equation.result}) {
    std::string sorted = *labels;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end() || sorted.find('.') != std::string::npos)
      return std::nullopt;
  }
  return equation;
}

// All dimensions in the order of `all`; those it lacks are of size 1.
Tensor aligned(Context& c, const Tensor& tensor, const std::string& labels, const std::string& all) {
  Tensor result = tensor;
  std::vector<int64_t> order;
  auto next = static_cast<int64_t>(labels.size());
  for (const char label : all) {
    const size_t place = labels.find(label);
    if (place != std::string::npos) {
      order.push_back(static_cast<int64_t>(place));
    } else {
      result = call(c, "aten::unsqueeze", result, next);
      order.push_back(next++);
    }
  }
  return call(c, "aten::permute", result, integers(order));
}

std::vector<Value> einsum(Context& c, const Arguments& given) {
  const std::optional<Equation> equation = parse(given.text(0));
  if (!equation || given.tensors(1).size() != 2 || given.has(2)) return {};
  const auto has = [](const std::string& labels, char label) {
    return labels.find(label) != std::string::npos;
  };
  std::string summed;
  for (const char label : equation->left + equation->right) {
    if (!has(equation->result, label) && !has(summed, label)) summed += label;
  }
  // Capitals first, as characters are ordered.
  std::ranges::sort(summed);
  const std::string all = equation->result + summed;
  // Sums over one operand alone come before the product: those are left out here.
  for (const char label : summed) {
    if (!has(equation->left, label) || !has(equation->right, label)) return {};
  }
  Tensor left = aligned(c, given.tensors(1)[0], equation->left, all);
  Tensor right = aligned(c, given.tensors(1)[1], equation->right, all);
  for (const Tensor& tensor : given.tensors(1)) {
    for (const SymInt& size : sizes_of(tensor)) {
      if (size.is_literal() && size.literal() == 1) return {};
    }
  }
  if (summed.empty()) return gives(call(c, "aten::mul.Tensor", left, right));

  std::vector<int64_t> both, only_left, only_right, sums;
  SymInt both_size = 1, left_size = 1, right_size = 1, sum_size = 1;
  for (size_t d = 0; d < all.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    const bool in_left = has(equation->left, all[d]);
    const bool in_right = has(equation->right, all[d]);
    if (d >= equation->result.size()) {
      sums.push_back(dim);
      sum_size *= size_of(left, dim);
    } else if (in_left && in_right) {
      both.push_back(dim);
      both_size *= size_of(left, dim);
    } else if (in_left) {
      only_left.push_back(dim);
      left_size *= size_of(left, dim);
    } else {
      only_right.push_back(dim);
      right_size *= size_of(right, dim);
    }
  }
  // Exchanged where the product then lies as the result is ordered.
  if (!only_left.empty() && !only_right.empty() && only_right.back() < only_left.front()) {
    std::swap(left, right);
    std::swap(only_left, only_right);
    std::swap(left_size, right_size);
  }
  const auto joined = [](std::initializer_list<const std::vector<int64_t>*> parts) {
    std::vector<int64_t> order;
    for (const auto* const part : parts) order.insert(order.end(), part->begin(), part->end());
    return order;
  };
  const std::vector<int64_t> left_order = joined({&both, &only_left, &sums, &only_right});
  const std::vector<int64_t> right_order = joined({&both, &sums, &only_right, &only_left});
  SymIntList sizes;
  for (const int64_t d : both) sizes.push_back(size_of(left, d));
  for (const int64_t d : only_left) sizes.push_back(size_of(left, d));
  for (size_t i = 0; i < sums.size(); ++i) sizes.push_back(1);
  for (const int64_t d : only_right) sizes.push_back(size_of(right, d));
  std::vector<int64_t> back(all.size());
  for (size_t i = 0; i < left_order.size(); ++i)
    back[static_cast<size_t>(left_order[i])] = static_cast<int64_t>(i);
  left = parts::reshape(c, call(c, "aten::permute", left, integers(left_order)),
                        {both_size, left_size, sum_size});
  right = parts::reshape(c, call(c, "aten::permute", right, integers(right_order)),
                         {both_size, sum_size, right_size});
  const Tensor product = call(c, "aten::view", call(c, "aten::bmm", left, right), sizes);
  const Tensor result = call(c, "aten::permute", product, integers(back));
  SymIntList kept;
  for (size_t d = 0; d < equation->result.size(); ++d)
    kept.push_back(size_of(result, static_cast<int64_t>(d)));
  return gives(call(c, "aten::view", result, kept));
}

}  // namespace

void add_einsum(DecompositionTable& table) { table.composite("aten::einsum", einsum); }

}  // namespace flambeau::trace
