#include "flambeau/shapes/suggested_fixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/forms/algebra.h"
#include "flambeau/symbolic/forms/functions.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Kind;
using symbolic::Number;

namespace {

// What the guards leave of one Dim.
struct Result {
  std::optional<int64_t> constant;
  std::optional<Expr> expression;  // over the names of Dims
  bool has_range = false;
  std::optional<int64_t> min;
  std::optional<int64_t> max;
};
using Results = std::map<std::string, Result>;

Expr plain_symbol(std::string_view name) { return symbolic::symbol(name, {}); }

Expr expression_of(const std::string& name) {
  return symbolic::parse(name, [](std::string_view part) { return plain_symbol(part); });
}

// factor*dim + offset with a positive factor: what can be written with Dims.
std::optional<Linear> growing(const Expr& expr) {
  const std::vector<Expr> symbols = free_symbols(expr);
  if (symbols.size() != 1) return std::nullopt;
  const std::optional<Linear> linear = linear_in(expr, symbols[0]);
  if (!linear || !linear->factor.is_integer() || !linear->offset.is_integer() || linear->factor.sign() <= 0)
    return std::nullopt;
  return linear;
}

std::string root_of(const Expr& expr) { return std::string(free_symbols(expr)[0].name()); }

class Fixes {
 public:
  Fixes(const std::map<std::string, std::string>& names, std::map<std::string, Dim> dims,
        const std::map<std::string, std::string>& source_of_symbol)
      : names_(names), dims_(std::move(dims)), source_of_symbol_(source_of_symbol) {}

  void collect(const DimSolver& solver) {
    for (const auto& [symbol, value] : solver.values())
      if (const std::string* name = name_of(symbol)) results_[*name].constant = value;
    for (const DimSolver::Multiple& multiple : solver.multiples()) {
      const std::string* name = name_of(multiple.symbol);
      if (name == nullptr) continue;
      results_[*name].expression = symbolic::subtract(
          symbolic::mul(Expr(multiple.modulus), plain_symbol("_" + *name)), Expr(multiple.shift));
    }
    for (const auto& [symbol, range] : solver.ranges()) {
      const auto source = source_of_symbol_.find(symbol);
      const auto name = source == source_of_symbol_.end() ? names_.end() : names_.find(source->second);
      if (name == names_.end() || (!range.min && !range.max)) continue;
      Result& result = results_[name->second];
      if (range.min && range.min == range.max) {
        result.constant = range.min;
        continue;
      }
      result.has_range = true;
      result.min = range.min;
      result.max = range.max;
    }
    for (const auto& [source, expr] : solver.equalities()) add_equality(source, expr);
  }

  void unify_roots() {
    const std::map<std::string, std::string> introduced = introduce_roots();
    std::set<std::string> roots;
    for (const auto& [name, result] : results_) {
      const auto dim = dims_.find(name);
      if (dim == dims_.end()) continue;
      if (dim->second.kind() == DimKind::kNamed && result.has_range) {
        roots.insert(name);
      } else if (result.expression) {
        roots.insert(root_of(*result.expression));
      }
    }
    for (const auto& entry : introduced) roots.erase(entry.first);
    Results changed;
    for (const std::string& root : roots) settle_root(root, changed);
    // Derived names are never fixed themselves: their root is.
    std::erase_if(results_, [&](const auto& entry) {
      const auto dim = dims_.find(entry.first);
      return dim != dims_.end() && (dim->second.kind() == DimKind::kDerived || roots.contains(entry.first));
    });
    for (auto& [name, result] : changed) results_.insert_or_assign(name, result);
  }

  std::vector<SuggestedFix> list() const {
    std::vector<std::pair<std::string, SuggestedFix>> ranges;
    std::vector<std::pair<std::string, SuggestedFix>> others;
    for (const auto& [name, result] : results_) {
      if (!std::isalpha(static_cast<unsigned char>(name[0])) && name[0] != '_') continue;
      SuggestedFix fix;
      fix.name = name;
      if (result.constant) {
        fix.constant = result.constant;
        others.emplace_back(place_of(name), fix);
      } else if (result.expression) {
        // What cannot be said with Dims: no other fix helps then.
        if (!growing(*result.expression)) return {};
        fix.expression = symbolic::to_string(*result.expression);
        others.emplace_back(place_of(name), fix);
      } else {
        fix.bounds = {result.min, result.max};
        // Two is what a minimum is when none is given, as smaller sizes are not told apart.
        if (fix.bounds.min == 2 && !needs_minimum(name)) fix.bounds.min.reset();
        ranges.emplace_back(place_of(name), fix);
      }
    }
    const auto by_place = [](const auto& entry) { return entry.first; };
    std::ranges::stable_sort(ranges, {}, by_place);
    std::ranges::stable_sort(others, {}, by_place);
    std::vector<SuggestedFix> result;
    result.reserve(ranges.size() + others.size());
    for (auto& entry : ranges) result.push_back(std::move(entry.second));
    for (auto& entry : others) result.push_back(std::move(entry.second));
    return result;
  }

 private:
  const std::string* name_of(const Expr& symbol) const {
    const auto source = source_of_symbol_.find(std::string(symbol.name()));
    if (source == source_of_symbol_.end()) return nullptr;
    const auto name = names_.find(source->second);
    return name == names_.end() ? nullptr : &name->second;
  }

  void add_equality(const std::string& source, const Expr& expr) {
    const auto name = names_.find(source);
    if (name == names_.end()) return;
    if (expr.is_integer()) {
      results_[name->second].constant = expr.integer();
      return;
    }
    symbolic::Replacements replacements;
    for (const Expr& symbol : free_symbols(expr)) {
      const std::string* other = name_of(symbol);
      if (other == nullptr) return;
      replacements.emplace(symbol, expression_of(*other));
    }
    const Expr right = substitute(expr, replacements);
    if (right == expression_of(name->second)) return;
    if (right.is_integer()) {
      results_[name->second].constant = right.integer();
    } else {
      results_[name->second].expression = right;
    }
  }

  // A multiple brings a new root (a = 3*_a), which takes over the range; what was a function of the old root
  // becomes one of the new.
  std::map<std::string, std::string> introduce_roots() {
    std::map<std::string, std::string> introduced;  // new root -> name
    const Results before = results_;
    for (const auto& [name, old] : before) {
      if (!old.expression || free_symbols(*old.expression).size() != 1) continue;
      const std::string root = root_of(*old.expression);
      if (dims_.contains(root)) continue;
      const std::optional<Linear> linear = growing(*old.expression);
      if (!linear) continue;
      const int64_t factor = linear->factor.numerator();
      const int64_t offset = linear->offset.numerator();
      const int64_t least = -symbolic::floor_divide(-(old.min.value_or(2) - offset), factor);
      if (old.max && symbolic::floor_divide(*old.max - offset, factor) <= least) {
        make_constant(name, factor * least + offset);
        continue;
      }
      introduced.emplace(root, name);
      Result& range = results_[root];
      range.has_range = true;
      range.min = least;
      if (old.max) range.max = symbolic::floor_divide(*old.max - offset, factor);
      dims_.insert_or_assign(root, Dim(root));
      Result& result = results_[name];
      result.has_range = false;
      result.min.reset();
      result.max.reset();
    }
    for (const auto& entry : introduced) {
      const Expr old_root = plain_symbol(entry.second);
      const Expr new_root = *results_[entry.second].expression;
      for (auto& [name, result] : results_)
        if (result.expression) result.expression = substitute(*result.expression, {{old_root, new_root}});
    }
    return introduced;
  }

  // One multiple only is in the range.
  void make_constant(const std::string& name, int64_t value) {
    results_[name] = Result();
    results_[name].constant = value;
    for (auto& [other, result] : results_) {
      if (!result.expression) continue;
      const Expr right = substitute(*result.expression, {{plain_symbol(name), Expr(value)}});
      if (!right.is_integer()) continue;
      result = Result();
      result.constant = right.integer();
    }
  }

  bool is_unchanged(const Result& result, const Dim& dim) const {
    if (dim.kind() != DimKind::kNamed || !result.has_range) return false;
    const int64_t given = dim.bounds().min.value_or(0);
    const int64_t min = result.min.value_or(2);
    return ((given < 2 && min == 2) || given == min) && dim.bounds().max == result.max;
  }

  void settle_root(const std::string& root, Results& changed) {
    const auto dim = dims_.find(root);
    if (dim == dims_.end()) return;
    if (const auto found = results_.find(root);
        found != results_.end() && (found->second.has_range || found->second.constant)) {
      if (!is_unchanged(found->second, dim->second)) changed.insert_or_assign(root, found->second);
      return;
    }
    // The root became a function of what was derived from it: its range follows from that one's.
    for (const auto& [name, result] : results_) {
      const auto derived = dims_.find(name);
      if (derived == dims_.end() || derived->second.kind() != DimKind::kDerived ||
          derived->second.root_name() != root || !result.has_range)
        continue;
      const std::optional<Linear> linear = growing(expression_of(name));
      if (!linear) continue;
      const int64_t factor = linear->factor.numerator();
      const int64_t offset = linear->offset.numerator();
      Result range;
      range.has_range = true;
      if (result.min) range.min = -symbolic::floor_divide(-(*result.min - offset), factor);
      if (result.max) range.max = symbolic::floor_divide(*result.max - offset, factor);
      if (is_unchanged(range, dim->second)) continue;
      changed.insert_or_assign(root, range);
      return;
    }
  }

  // Is something subtracted from it?
  bool needs_minimum(const std::string& root) const {
    return std::ranges::any_of(results_, [&](const auto& entry) {
      const std::optional<Expr>& expression = entry.second.expression;
      if (!expression || free_symbols(*expression).size() != 1 || root_of(*expression) != root) return false;
      const std::optional<Linear> linear = growing(*expression);
      return linear && linear->offset.sign() < 0;
    });
  }

  // Where a name first stands; a new root stands where the old one does.
  std::string place_of(const std::string& name) const {
    for (const auto& [source, given] : names_) {
      if (given == name) return source;
      if ("_" + given == name) return "_" + source;
    }
    return name;
  }

  const std::map<std::string, std::string>& names_;
  std::map<std::string, Dim> dims_;
  const std::map<std::string, std::string>& source_of_symbol_;
  Results results_;
};

}  // namespace

std::string SuggestedFix::to_string() const {
  if (constant) return fmt::format("{} = {}", name, *constant);
  if (!expression.empty()) return fmt::format("{} = {}", name, expression);
  return fmt::format("{} = {}", name, dim_text(name, bounds.min, bounds.max));
}

Dim apply_fixes(const Dim& dim, const std::vector<SuggestedFix>& fixes,
                const std::map<std::string, Dim>& roots) {
  if (dim.kind() != DimKind::kNamed && dim.kind() != DimKind::kDerived) return dim;
  const auto fix_of = [&](const std::string& name) {
    const auto found = std::ranges::find(fixes, name, &SuggestedFix::name);
    return found == fixes.end() ? nullptr : &*found;
  };
  const auto grown = [](const Dim& root, int64_t factor, int64_t offset) {
    Dim result = root;
    if (factor != 1) result = result * factor;
    if (offset != 0) result = result + offset;
    return result;
  };
  const auto named = [&](const std::string& name) {
    if (const SuggestedFix* fix = fix_of(name); fix != nullptr && !fix->constant && fix->expression.empty())
      return Dim(name, fix->bounds);
    const auto found = roots.find(name);
    return found == roots.end() ? Dim(name) : found->second;
  };
  const SuggestedFix* fix = fix_of(dim.root_name());
  if (fix != nullptr && fix->constant) return Dim(dim.apply(Expr(*fix->constant)).integer());
  if (fix == nullptr || fix->expression.empty())
    return grown(named(dim.root_name()), dim.factor(), dim.offset());
  const Expr expression = expression_of(fix->expression);
  const Linear linear = growing(expression).value_or(Linear{.factor = Number(1), .offset = Number(0)});
  const Dim root = grown(named(root_of(expression)), linear.factor.numerator(), linear.offset.numerator());
  return grown(root, dim.factor(), dim.offset());
}

std::vector<SuggestedFix> suggested_fixes(const DimSolver& solver,
                                          const std::map<std::string, std::string>& names,
                                          std::map<std::string, Dim> dims,
                                          const std::map<std::string, std::string>& source_of_symbol) {
  if (names.empty()) return {};
  Fixes fixes(names, std::move(dims), source_of_symbol);
  fixes.collect(solver);
  fixes.unify_roots();
  return fixes.list();
}

}  // namespace flambeau::trace
