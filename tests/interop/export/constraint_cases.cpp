// Exports small models that ask about their sizes, for test_constraints.py:
//
//   constraint_cases CASES.json FOLDER
//
// writes FOLDER/0.pt2, 1.pt2, ...: a program for each case of the list, of the form of
// tests/golden/generate_dynamic_shapes.py, and a line "NUMBER: REASON" for each that is refused.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/json.h"
#include "flambeau/nn.h"
#include "flambeau/shapes/dim_solver.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/parse.h"

namespace {

using namespace flambeau;  // NOLINT: a program of its own
using symbolic::Expr;

// Asks what the steps say and gives every tensor plus one.
class Asking : public nn::Module {
 public:
  Asking(std::vector<std::string> names, std::vector<std::string> steps)
      : names_(std::move(names)), steps_(std::move(steps)) {}
  std::string class_name() const override { return "Asking"; }
  std::vector<std::string> argument_names() const override { return names_; }

  nn::Tree call(std::span<const nn::Tree> positional, const nn::Keywords&) override {
    numbers_.clear();
    std::vector<Tensor> tensors;
    std::optional<Tensor> data;
    for (size_t i = 0; i < names_.size(); ++i) {
      const Value& value = positional[i].leaves[0];
      if (!value.is_tensor()) {
        numbers_[names_[i]] = nn::from_tree<SymInt>(positional[i]);
        continue;
      }
      tensors.push_back(value.tensor());
      if (names_[i] == "w") data = value.tensor();
      for (size_t d = 0; d < nn::sizes(value.tensor()).size(); ++d)
        numbers_[fmt::format("{}{}", names_[i], d)] = nn::size(value.tensor(), static_cast<int64_t>(d));
    }
    int64_t items = 0;
    for (const std::string& step : steps_) {
      if (step == "item") {
        numbers_[fmt::format("u{}", items)] = nn::item(nn::select(*data, 0, items));
        ++items;
      } else if (step.starts_with("check ")) {
        nn::check(condition(step.substr(6)));
      } else if (step.starts_with("size ")) {
        nn::check(nn::ge(numbers_.at(step.substr(5)), 0));
      } else {
        ask(step);
      }
    }
    for (Tensor& tensor : tensors) tensor = tensor + 1;
    return nn::to_tree(tensors);
  }

 private:
  static Expr parse(const std::string& text) {
    return symbolic::parse(text, [](std::string_view name) {
      return symbolic::symbol(name, {{symbolic::Fact::kInteger, true}});
    });
  }

  SymInt number(const Expr& expr) const {
    using symbolic::Kind;
    if (expr.is_integer()) return expr.integer();
    if (expr.is_symbol()) return numbers_.at(std::string(expr.name()));
    const SymInt first = number(expr.arg(0));
    SymInt result = first;
    for (size_t i = 1; i < expr.args().size(); ++i) {
      const SymInt next = number(expr.arg(i));
      if (expr.kind() == Kind::kAdd)
        result = result + next;
      else if (expr.kind() == Kind::kMul)
        result = result * next;
      else if (expr.kind() == Kind::kFloorDiv)
        result /= next;
      else if (expr.kind() == Kind::kMod || expr.kind() == Kind::kPythonMod)
        result %= next;
      else if (expr.kind() == Kind::kMax)
        result = max(result, next);
      else if (expr.kind() == Kind::kMin)
        result = min(result, next);
      else if (expr.kind() == Kind::kPow && next.literal() == 2)
        result = first * first;
      else
        throw Error(ErrorCode::kUnsupported, "a step is made of something else");
    }
    return result;
  }

  nn::Condition condition(const std::string& text) const {
    using symbolic::Kind;
    const Expr asked = parse(text);
    const SymInt a = number(asked.arg(0));
    const SymInt b = number(asked.arg(1));
    switch (asked.kind()) {
      case Kind::kEq:
        return nn::eq(a, b);
      case Kind::kNe:
        return nn::ne(a, b);
      case Kind::kLt:
        return nn::lt(a, b);
      case Kind::kLe:
        return nn::le(a, b);
      case Kind::kGt:
        return nn::gt(a, b);
      default:
        return nn::ge(a, b);
    }
  }

  void ask(const std::string& text) const {
    using symbolic::Kind;
    const Expr asked = parse(text);
    if (!asked.is_relation()) return;
    const SymInt a = number(asked.arg(0));
    const SymInt b = number(asked.arg(1));
    if (asked.kind() == Kind::kEq || asked.kind() == Kind::kNe) {
      static_cast<void>(a == b);
    } else if (asked.kind() == Kind::kLt || asked.kind() == Kind::kGe) {
      static_cast<void>(a < b);
    } else {
      static_cast<void>(a <= b);
    }
  }

  std::vector<std::string> names_, steps_;
  std::map<std::string, SymInt> numbers_;
};

using NamedBounds = std::map<std::string, trace::Bounds>;

std::optional<int64_t> bound(const json::Value& value) {
  return value.is_null() ? std::nullopt : std::optional(value.as_int());
}

// "a", "2*a + 1", "4", "AUTO", "DYNAMIC(min=2,max=16)".
Dim dim_of(const std::string& text, const NamedBounds& bounds) {
  for (const trace::DimHint& hint : {Dim::AUTO, Dim::DYNAMIC, Dim::STATIC}) {
    if (!text.starts_with(Dim(hint).to_string().substr(4))) continue;
    trace::Bounds given;
    if (const size_t at = text.find("min="); at != std::string::npos)
      given.min = std::stoll(text.substr(at + 4));
    if (const size_t at = text.find("max="); at != std::string::npos)
      given.max = std::stoll(text.substr(at + 4));
    return given.min || given.max ? hint(given) : hint;
  }
  const Expr expr = symbolic::parse(text, [](std::string_view name) { return symbolic::symbol(name, {}); });
  if (expr.is_integer()) return expr.integer();
  const Expr root = free_symbols(expr)[0];
  const trace::Linear linear = *trace::linear_in(expr, root);
  const std::string name(root.name());
  Dim dim(name, bounds.contains(name) ? bounds.at(name) : trace::Bounds());
  if (!linear.factor.is(1)) dim = dim * linear.factor.numerator();
  if (!linear.offset.is(0)) dim = dim + linear.offset.numerator();
  return dim;
}

ShapeSpec spec_of(const json::Value& dims, const NamedBounds& bounds) {
  if (dims.is_string()) return dim_of(dims.as_string(), bounds);
  std::map<int64_t, Dim> spec;
  for (const auto& [index, text] : dims.as_object())
    spec.emplace(std::stoll(index), dim_of(text.as_string(), bounds));
  return spec;
}

nn::Tree input_of(const std::string& name, const json::Value& value, bool is_transposed) {
  if (value.is_integer()) return nn::to_tree(value.as_int());
  if (name == "w") return nn::to_tree(nn::randint(3, 9, {value.as_array()[0].as_int()}));
  std::vector<SymInt> sizes;
  for (const json::Value& size : value.as_array()) sizes.emplace_back(size.as_int());
  if (is_transposed) std::ranges::reverse(sizes);
  const Tensor made = nn::randn(sizes);
  return nn::to_tree(is_transposed ? nn::transpose(made, 0, 1) : made);
}

void export_case(const json::Value& test, const std::string& path) {
  NamedBounds bounds;
  for (const auto& [name, ends] : test.find("bounds")->as_object())
    bounds[name] = {bound(ends.as_array()[0]), bound(ends.as_array()[1])};
  const bool is_transposed = test.find("transposed") != nullptr;
  std::vector<std::string> names;
  std::vector<nn::Tree> inputs;
  std::vector<std::pair<std::string, ShapeSpec>> specs;
  for (const auto& [name, value] : test.find("inputs")->as_object()) {
    names.push_back(name);
    inputs.push_back(input_of(name, value, is_transposed));
    const json::Value* const dims = test.find("dims")->find(name);
    specs.emplace_back(name, dims == nullptr ? ShapeSpec() : spec_of(*dims, bounds));
  }
  std::vector<std::string> steps;
  for (const json::Value& step : test.find("steps")->as_array()) steps.push_back(step.as_string());
  Asking module(std::move(names), std::move(steps));
  const ExportOptions options = {.dynamic = DynamicShapes::by_name(std::move(specs)),
                                 .is_like_pytorch = true};
  save_program(export_program(module, inputs, {}, options), path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: constraint_cases CASES.json FOLDER\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  const json::Value cases = json::parse(text.str());
  nn::Session session({.seed = 0});
  for (size_t i = 0; i < cases.as_array().size(); ++i) {
    try {
      export_case(cases.as_array()[i], fmt::format("{}/{}.pt2", argv[2], i));
    } catch (const std::exception& error) {
      fmt::print("{}: {}\n", i, error.what());
    }
  }
  return 0;
}
