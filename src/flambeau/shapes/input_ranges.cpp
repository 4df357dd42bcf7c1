// After the trace: the sizes it accepts.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/shapes/guard_text.h"
#include "flambeau/shapes/input_shapes.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Number;
using symbolic::ValueRange;

namespace {

std::string bound_text(const std::optional<int64_t>& bound, const char* none) {
  return bound ? std::to_string(*bound) : none;
}

std::string range_text(const ValueRange& range) {
  return fmt::format("[{}, {}]", to_text(range.lower()), to_text(range.upper()));
}

}  // namespace

ShapeConstraints InputShapes::make_constraints() {
  ShapeConstraints result;
  const auto range_at = [&](const Expr& expr) -> ValueRange& {
    auto found = std::ranges::find(result.ranges, expr, [](const auto& entry) { return entry.first; });
    if (found == result.ranges.end())
      found =
          result.ranges.insert(result.ranges.end(), {expr, ValueRange(Number(0), Number::int_infinity())});
    return found->second;
  };
  for (const auto& info : env_.symbols())
    if (!info->is_backed()) result.ranges.emplace_back(info->symbol, info->range);

  std::vector<std::string> conflicts;
  std::vector<Expr> symbols;
  const auto note_symbols = [&](const Expr& expr) {
    for (const Expr& symbol : free_symbols(expr))
      if (std::ranges::find(symbols, symbol) == symbols.end()) symbols.push_back(symbol);
  };
  const auto cut = [&](const Expr& expr, const ValueRange& range, const std::string& where) {
    ValueRange& now = range_at(expr);
    if (overlaps(now, range)) {
      now = now.intersect(range);
      return;
    }
    conflicts.push_back(fmt::format("{} is said to be in {}, but the trace needs {}", where,
                                    range_text(range), range_text(now)));
  };
  const auto apply_hint = [&](const Expr& expr, const symbolic::SymInt& original, const Dim& dim,
                              int64_t hint, const std::string& path) {
    const ValueRange given = {Number(dim.bounds().min.value_or(0)),
                              dim.bounds().max ? Number(*dim.bounds().max) : Number::int_infinity()};
    const ValueRange traced = expr.is_integer() ? ValueRange::single(expr.number()) : range_at(expr);
    if (!overlaps(traced, given)) {
      conflicts.push_back(fmt::format("{} is said to be from {} to {}, but the trace needs {}", path,
                                      bound_text(dim.bounds().min, "any size"),
                                      bound_text(dim.bounds().max, "any size"), range_text(traced)));
      return;
    }
    const ValueRange now = traced.intersect(given);
    if (!expr.is_integer()) {
      range_at(expr) = now;
      if (original.expr().is_symbol()) env_.narrow(original.expr(), given);
    }
    if (dim.kind() != DimKind::kDynamic || !now.is_single()) return;
    const bool is_small = traced.is_single() && (hint == 0 || hint == 1);
    conflicts.push_back(
        is_small
            ? fmt::format("{} is {}, and sizes 0 and 1 of an example are taken as they are: {} cannot be "
                          "dynamic",
                          path, hint, dim.to_string())
            : fmt::format("{} is said to be {}, but the trace needs it to be {}", path, dim.to_string(),
                          to_text(now.lower())));
  };
  if (!is_empty_) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const InputLeaf& leaf = leaves_[i];
      if (leaf.kind == InputLeaf::Kind::kInteger) {
        const Expr expr = env_.replace(symbols_[i].value.expr());
        if (expr.is_integer()) continue;
        cut(expr, env_.bounds(expr), "inputs" + leaf.path);
        apply_hint(expr, symbols_[i].value, specs_[i].dims()[0].second, leaf.value, "inputs" + leaf.path);
        note_symbols(expr);
      }
      if (leaf.kind != InputLeaf::Kind::kTensor) continue;
      for (size_t d = 0; d < leaf.sizes.size(); ++d) {
        const Expr expr = size_at({i, d});
        const auto said = dims_.find({i, d});
        const Dim dim = said == dims_.end() ? Dim() : said->second;
        const std::string path = fmt::format("inputs{}.shape[{}]", leaf.path, d);
        if (expr.is_symbol() && dim.kind() == DimKind::kNamed) {
          const std::pair<std::string, std::string> name(expr.name(), dim.name());
          if (std::ranges::find(result.names, name) == result.names.end()) result.names.push_back(name);
        }
        if (!expr.is_integer()) {
          cut(expr, dim.kind() == DimKind::kNone || dim.is_hint() ? env_.bounds(expr) : dim.range(), path);
          note_symbols(expr);
        }
        if (dim.is_hint()) apply_hint(expr, symbols_[i].sizes[d], dim, leaf.sizes[d], path);
      }
    }
  }
  if (!conflicts.empty()) {
    std::string message = "what was said of sizes contradicts what the trace needs:";
    for (const std::string& conflict : conflicts) message += "\n  - " + conflict;
    throw Error(ErrorCode::kInvalidArgument, std::move(message),
                "Change the bounds or the example, or use Dim::AUTO or Dim::STATIC");
  }
  for (const Expr& symbol : symbols) {
    const auto found =
        std::ranges::find(result.ranges, symbol, [](const auto& entry) { return entry.first; });
    if (found == result.ranges.end()) result.ranges.emplace_back(symbol, env_.info(symbol).range);
  }
  for (const ShapeGuard& guard : env_.guards()) {
    const std::vector<Expr> used = free_symbols(guard.condition);
    const bool is_of_inputs = std::ranges::all_of(used, [&](const Expr& symbol) {
      return !env_.info(symbol).sources.empty() && std::ranges::find(phantoms_, symbol) == phantoms_.end();
    });
    if (!is_of_inputs) continue;
    result.guards_code.push_back(
        guard_text(guard.condition, [&](const Expr& symbol) { return env_.info(symbol).sources[0]; }));
  }
  return result;
}

std::vector<std::pair<std::string, graph::RangeConstraint>> ShapeConstraints::range_constraints() const {
  std::vector<std::pair<std::string, graph::RangeConstraint>> result;
  for (const auto& [expr, range] : ranges) {
    graph::RangeConstraint constraint;
    if (range.lower().is_integer()) constraint.min = range.lower().numerator();
    if (range.upper().is_integer()) constraint.max = range.upper().numerator();
    result.emplace_back(symbolic::to_string(expr), constraint);
  }
  return result;
}

}  // namespace flambeau::trace
