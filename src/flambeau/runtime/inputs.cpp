#include "flambeau/runtime/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::runtime {
namespace {

using graph::Leaf;
using graph::LeafKind;
using graph::LeafSize;
using graph::LeafSizes;

// Python's equality, but a NaN is one.
bool is_same_number(const Scalar& a, const Scalar& b) {
  const std::complex<double> x = a.to_complex();
  const std::complex<double> y = b.to_complex();
  const auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  return same(x.real(), y.real()) && same(x.imag(), y.imag());
}

std::string text_of(const SymInt& number) { return symbolic::to_string(number.expr()); }

bool is_traced(const Value& value) {
  return value.is<SymInt>() || (value.is_tensor() && value.tensor().is_traced());
}

// An input that is a number, or nothing where it is none that can be compared.
std::optional<SymInt> number_of(const Value& value) {
  if (const auto* const symbol = value.get_if<SymInt>()) return *symbol;
  if (const auto* const number = value.get_if<int64_t>()) return SymInt(*number);
  return {};
}

}  // namespace

// What the symbols are in these inputs, and by which of them.
class InputChecker::Symbols {
 public:
  struct Known {
    SymInt value;
    size_t leaf;
    size_t dim;  // npos: the input is the number itself
  };

  // What the symbol was before; null when it is new.
  const Known* bind(std::string_view symbol, Known known) {
    const auto [found, is_new] = known_.try_emplace(std::string(symbol), known);
    if (is_new && known.value.is_literal()) numbers_.emplace(symbol, known.value.literal());
    return is_new ? nullptr : &found->second;
  }
  const Known* find(std::string_view symbol) const {
    const auto found = known_.find(symbol);
    return found == known_.end() ? nullptr : &found->second;
  }
  const symbolic::Bindings& numbers() const { return numbers_; }

 private:
  std::map<std::string, Known, std::less<>> known_;
  symbolic::Bindings numbers_;
};

InputChecker::InputChecker(const graph::Interface& interface, std::span<const std::string> guards,
                           Where where)
    : interface_(interface),
      guards_(interface, guards),
      where_(where),
      unknown_guards_(interface.unreadable) {
  unknown_guards_.insert(unknown_guards_.end(), guards_.unknown().begin(), guards_.unknown().end());
}

void InputChecker::check_count(size_t given) const {
  const size_t count = interface_.inputs.size();
  if (given == count) return;
  std::vector<std::string> names;
  for (const Leaf& each : interface_.inputs) names.push_back(each.to_string());
  const std::string problem =
      given < count ? fmt::format("{} of {} inputs are given, {} is missing", given, count, place(given))
                    : fmt::format("{} inputs are given, the program takes {}", given, count);
  throw Error(ErrorCode::kInvalidArgument, problem, fmt::format("it takes {}", fmt::join(names, "; ")));
}

void InputChecker::check_tensor(size_t index, const Tensor& tensor, Symbols& symbols) const {
  if (tensor.layout() != Layout::kStrided || dtype_info(tensor.dtype()).is_quantized) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is {}, a plain tensor is expected", place(index), tensor.summary()));
  }
  if (where_ == Where::kCpu && tensor.device().type != DeviceType::kCpu) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is on the device {}, and the program runs on the CPU", place(index),
                            tensor.device().to_string()),
                "copy it to the CPU first");
  }
  const DType wanted = leaf(index).dtype;
  if (tensor.dtype() != wanted) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has elements of type {}, {} is expected", place(index),
                            dtype_name(tensor.dtype()), dtype_name(wanted)),
                fmt::format("convert it to {}", dtype_name(wanted)));
  }
  check_sizes(index, ops::sizes_of(tensor), symbols);
}

void InputChecker::check_sizes(size_t index, const SymIntList& given, Symbols& symbols) const {
  const LeafSizes& sizes = leaf(index).sizes();
  if (given.size() != sizes.size()) {
    std::vector<std::string> found, wanted;
    for (const SymInt& size : given) found.push_back(text_of(size));
    for (const LeafSize& size : sizes) wanted.push_back(size.text);
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has {} dimensions [{}], {} are expected: [{}]", place(index), given.size(),
                            fmt::join(found, ", "), sizes.size(), fmt::join(wanted, ", ")));
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d].literal && !(given[d] == *sizes[d].literal)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: dimension {} is {}, and must be {}", place(index), d, text_of(given[d]),
                      *sizes[d].literal),
          "the program was exported with this size fixed; export it with a dynamic dimension to vary it");
    }
    if (sizes[d].symbol().empty()) continue;
    const Symbols::Known* const known = symbols.bind(sizes[d].symbol(), {given[d], index, d});
    if (known == nullptr || known->value == given[d]) continue;
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: dimension {} is {}, and must be {}, the same as dimension {} of {}", place(index), d,
                    text_of(given[d]), text_of(known->value), known->dim, place(known->leaf)));
  }
}

void InputChecker::check_constant(size_t index, const Value& value) const {
  const Value& constant = leaf(index).constant;
  const bool is_same =
      constant.is_none() ? value.is_none()
      : constant.is<std::string>()
          ? value.is<std::string>() && value.get<std::string>() == constant.get<std::string>()
          : value.is_number() && is_same_number(value.scalar(), constant.scalar());
  if (is_same) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} is {}, and must be {}", place(index), value.summary(), constant.summary()),
              "the program was exported for this value alone; export it again for another one");
}

void InputChecker::check_leaf(size_t index, const Value& value, Symbols& symbols) const {
  const Leaf& wanted = leaf(index);
  const auto fail = [&](std::string_view expected) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is {}, {} is expected", place(index),
                    value.is_none() ? "None" : fmt::format("{} {}", value.kind_name(), value.summary()),
                    expected));
  };
  if (wanted.is_tensor()) {
    if (!value.is_tensor() || !value.tensor().defined()) fail("a tensor");
    return check_tensor(index, value.tensor(), symbols);
  }
  const bool varies = !wanted.name.empty() && wanted.constant.is_none() && wanted.kind != LeafKind::kNone;
  if (!varies) return check_constant(index, value);
  if (wanted.kind == LeafKind::kObject) return;
  const std::optional<SymInt> number = number_of(value);
  if (!value.is_number() && !number) fail(graph::leaf_kind_name(wanted.kind));
  if (wanted.kind == LeafKind::kInt && !number) fail("int");
  if (wanted.number && !wanted.number->symbol().empty())
    symbols.bind(wanted.number->symbol(), {*number, index, std::string::npos});
}

// Sizes that are expressions: the first use of a symbol nobody knows yet solves it, where it is linear.
void InputChecker::check_expressions(std::span<const Value> leaves, Symbols& symbols) const {
  for (size_t i = 0; i < leaves.size(); ++i) {
    const LeafSizes& sizes = leaf(i).sizes();
    for (size_t d = 0; d < sizes.size(); ++d) {
      const LeafSize& size = sizes[d];
      if (size.literal || !size.expr || !size.symbol().empty()) continue;
      const int64_t given = leaves[i].tensor().sizes()[d];
      std::vector<std::string> unknown;
      for (const symbolic::Expr& symbol : symbolic::free_symbols(*size.expr)) {
        if (symbols.find(symbol.name()) == nullptr) unknown.emplace_back(symbol.name());
      }
      if (unknown.size() > 1) continue;
      if (unknown.size() == 1) {
        const auto at = [&](int64_t number) {
          symbolic::Bindings with = symbols.numbers();
          with.emplace(unknown[0], number);
          return symbolic::evaluate(*size.expr, with).to_double();
        };
        const double slope = at(3) - at(2);
        const double found = slope == 0 ? 0 : 2 + (static_cast<double>(given) - at(2)) / slope;
        symbols.bind(unknown[0], {static_cast<int64_t>(found), i, d});
      }
      const symbolic::Number expected = symbolic::evaluate(*size.expr, symbols.numbers());
      if (expected.is(given)) continue;
      std::vector<std::string> facts;
      for (const symbolic::Expr& symbol : symbolic::free_symbols(*size.expr)) {
        const Symbols::Known& known = *symbols.find(symbol.name());
        if (!unknown.empty()) continue;
        facts.push_back(fmt::format("{} is {} by dimension {} of {}", symbol.name(), text_of(known.value),
                                    known.dim, place(known.leaf)));
      }
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: dimension {} is {}, and must be {}{}{}", place(i), d, given, size.text,
                              facts.empty() ? "" : fmt::format(" = {}", expected.to_double()),
                              facts.empty() ? "" : fmt::format(" ({})", fmt::join(facts, ", "))));
    }
  }
}

// As PyTorch checks them: of what inputs are, not of the symbols in it, and no lower bound up to 2, which
// tracing assumes of every size; 0 and 1 are left to the operators.
void InputChecker::check_ranges(std::span<const Value> leaves) const {
  const auto check = [&](size_t index, const LeafSize& size, const SymInt& given, std::optional<size_t> dim) {
    if (size.range == nullptr) return;
    const bool is_low = size.range->min && *size.range->min > 2 && given < *size.range->min;
    if (!is_low && (!size.range->max || given <= *size.range->max)) return;
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}:{} is {}, and must fulfil {}", place(index),
                    dim ? fmt::format(" dimension {}", *dim) : "", text_of(given), size.range->to_string()),
        "the program was exported for sizes in this range");
  };
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& wanted = leaf(i);
    if (wanted.number) {
      if (const std::optional<SymInt> number = number_of(leaves[i])) check(i, *wanted.number, *number, {});
    }
    if (std::ranges::none_of(wanted.sizes(), [](const LeafSize& size) { return size.range != nullptr; }))
      continue;
    const SymIntList given = ops::sizes_of(leaves[i].tensor());
    for (size_t d = 0; d < wanted.sizes().size(); ++d) check(i, wanted.sizes()[d], given[d], d);
  }
}

void InputChecker::check(std::span<const Value> leaves) const {
  check_count(leaves.size());
  Symbols symbols;
  for (size_t i = 0; i < leaves.size(); ++i) check_leaf(i, leaves[i], symbols);
  const bool has_numbers = std::ranges::none_of(leaves, is_traced);
  if (has_numbers) check_expressions(leaves, symbols);
  check_ranges(leaves);
  if (has_numbers) guards_.check(leaves);
}

}  // namespace flambeau::runtime
