#include "flambeau/made_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <optional>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
#include "flambeau/graph/program.h"
#include "flambeau/graph/report/dimension_names.h"
#include "flambeau/graph/report/summary.h"
#include "flambeau/kernels/random/random.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/tensor/elements/convert.h"

namespace flambeau {
namespace {

std::string symbol_of(const std::string& name, const graph::DimensionNames& labels) {
  for (const auto& [symbol, label] : labels) {
    if (label == name) return symbol;
  }
  return name;
}

[[noreturn]] void fail_unknown(const std::string& name, const std::set<std::string>& known,
                               const graph::DimensionNames& labels) {
  std::vector<std::string> names, texts;
  for (const std::string& symbol : known) {
    std::string text = symbol;
    for (const auto& [labelled, label] : labels) {
      if (labelled != symbol) continue;
      names.push_back(label);
      text = fmt::format("{} ({})", label, symbol);
    }
    names.push_back(symbol);
    texts.push_back(std::move(text));
  }
  const std::string there =
      texts.empty() ? "all its sizes are fixed" : fmt::format("there is {}", fmt::join(texts, ", "));
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("no size of the program is called '{}'", printable(name)),
              did_you_mean(name, names, there));
}

// The symbol's value where the expression, which grows by the same amount with each step of it, is `size`.
std::optional<int64_t> solve_linear(const symbolic::Expr& size_expr, const std::string& symbol,
                                    int64_t size) {
  const auto at = [&](int64_t value) {
    return symbolic::evaluate(size_expr, {{symbol, symbolic::Number(value)}});
  };
  const symbolic::Number zero = at(0), one = at(1), two = at(2);
  if (!zero.is_integer() || !one.is_integer() || !two.is_integer()) return {};
  const int64_t step = one.numerator() - zero.numerator();
  if (step == 0 || two.numerator() - one.numerator() != step) return {};
  const int64_t rest = size - zero.numerator();
  if (rest % step != 0 || rest / step < 0) return {};
  // Floors look like steps in places; the answer must be one.
  const symbolic::Number found = at(rest / step);
  if (!found.is_integer() || found.numerator() != size) return {};
  return rest / step;
}

symbolic::Bindings bindings_for(const Program& program, const SymbolSizes& symbols) {
  symbolic::Bindings bindings;
  std::set<std::string> known;
  for (const graph::ProgramSummary::Symbol& symbol : summarize(program.exported()).symbols) {
    const bool is_expression = symbol.name.find_first_of(" +-*/(") != std::string::npos;
    if (!is_expression) known.insert(symbol.name);
    if (symbol.example) {
      bindings.emplace(symbol.name, *symbol.example);
    } else if (symbol.min) {
      bindings.emplace(symbol.name, *symbol.min);
    }
  }
  for (const Leaf& leaf : program.inputs()) {
    for (const graph::LeafSize& size : leaf.sizes()) {
      if (!size.expr) continue;
      for (const symbolic::Expr& symbol : symbolic::free_symbols(*size.expr)) known.emplace(symbol.name());
    }
  }
  const graph::DimensionNames labels = dimension_names(program.exported());
  for (const auto& [name, value] : symbols) {
    const std::string symbol = symbol_of(name, labels);
    if (!known.contains(symbol)) fail_unknown(name, known, labels);
    bindings.insert_or_assign(symbol, symbolic::Number(value));
  }
  return bindings;
}

}  // namespace

struct InputSizes::Bound {
  symbolic::Bindings symbols;
};

InputSizes::InputSizes(const Program& program, const SymbolSizes& symbols)
    : bound_(std::make_shared<const Bound>(bindings_for(program, symbols))) {}

Dims input_sizes(const Program& program, const Leaf& leaf, const SymbolSizes& symbols) {
  return InputSizes(program, symbols).of(leaf);
}

Dims InputSizes::of(const Leaf& leaf) const {
  std::vector<int64_t> sizes;
  for (const graph::LeafSize& wanted : leaf.sizes()) {
    const auto fail = [&](const std::string& why) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the size {} of input '{}' has no value: {}", printable(wanted.text),
                              printable(leaf.name), why),
                  "give the sizes");
    };
    if (!wanted.expr) fail("it is in a form that cannot be read");
    symbolic::Number size;
    try {
      size = symbolic::evaluate(*wanted.expr, bound_->symbols);
    } catch (const Error& error) {
      fail(error.message());
    }
    if (!size.is_integer() || size.numerator() < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the size {} of input '{}' would be {}", printable(wanted.text),
                              printable(leaf.name), size.to_double()));
    }
    sizes.push_back(size.numerator());
  }
  return Dims(sizes);
}

void learn_sizes(const Program& program, const Leaf& leaf, const Dims& sizes, SymbolSizes& symbols) {
  if (leaf.sizes().size() != sizes.size()) return;
  const graph::DimensionNames labels = dimension_names(program.exported());
  std::set<std::string> known;
  for (const auto& [name, value] : symbols) known.insert(symbol_of(name, labels));
  for (size_t d = 0; d < sizes.size(); ++d) {
    const std::shared_ptr<const symbolic::Expr>& size = leaf.sizes()[d].expr;
    const std::vector<symbolic::Expr> used =
        size ? symbolic::free_symbols(*size) : std::vector<symbolic::Expr>();
    if (used.size() != 1) continue;
    const std::string symbol(used[0].name());
    if (known.contains(symbol)) continue;
    try {
      const std::optional<int64_t> value = solve_linear(*size, symbol, sizes[d]);
      if (!value) continue;
      symbols[symbol] = *value;
      known.insert(symbol);
    } catch (const Error&) {
      continue;  // a size that has no value for small symbols says nothing
    }
  }
}

Tensor random_tensor(DType dtype, const Dims& sizes, Generator& generator,
                     std::pair<int64_t, int64_t> range) {
  Tensor tensor = Tensor::zeros(dtype, sizes);
  void* const data = tensor.mutable_data();
  const auto count = static_cast<size_t>(tensor.element_count());
  const DTypeInfo& info = dtype_info(dtype);
  if (info.is_complex) {
    // As PyTorch: both parts have half of the variance.
    const DType part = dtype == DType::kComplex128  ? DType::kFloat64
                       : dtype == DType::kComplex32 ? DType::kFloat16
                                                    : DType::kFloat32;
    kernels::normal(generator, 0, 0.70710678118654752440, part, data, 2 * count);
  } else if (info.is_floating) {
    kernels::normal(generator, 0, 1, dtype, data, count);
  } else {
    kernels::random_integers(generator, range.first, range.second, dtype, data, count);
  }
  return tensor;
}

Tensor filled_tensor(DType dtype, const Dims& sizes, const Scalar& number) {
  Tensor tensor = Tensor::zeros(dtype, sizes);
  Tensor one;
  if (dtype_info(dtype).is_complex || number.is_complex()) {
    one = Tensor::zeros(DType::kComplex128, Dims{});
    *one.mutable_data<std::complex<double>>() = number.to_complex();
  } else if (number.is_float()) {
    one = Tensor::zeros(DType::kFloat64, Dims{});
    *one.mutable_data<double>() = number.to_double();
  } else {
    one = Tensor::zeros(DType::kInt64, Dims{});
    *one.mutable_data<int64_t>() = number.to_int();
  }
  one = convert(one, dtype);
  uint8_t* const data = tensor.mutable_data();
  const size_t bytes = tensor.element_size();
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    std::memcpy(data + static_cast<size_t>(i) * bytes, one.data(), bytes);
  return tensor;
}

}  // namespace flambeau
