// After the trace: does it accept every size that was said?
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/shapes/dim_solver.h"
#include "flambeau/shapes/guard_text.h"
#include "flambeau/shapes/input_shapes.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/approximate.h"
#include "flambeau/symbolic/forms/condition.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {

using symbolic::Expr;
using symbolic::Number;
using symbolic::ValueRange;

namespace {

bool is_dim(const std::string& source) { return source.find(".size()[") != std::string::npos; }

}  // namespace

void InputShapes::require_equalities() {
  for (const auto& [a, b] : pairs_) {
    if (env_.decide(symbolic::eq(size_at(a), size_at(b)))) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} and {} are both said to be {}, but are {} and {} in the example", source(a),
                            source(b), dims_.at(b).name(), leaves_[a.leaf].sizes[a.dim],
                            leaves_[b.leaf].sizes[b.dim]),
                "Export with an example in which they are equal, or give them two names");
  }
  for (const Relation& relation : relations_) {
    const Expr root = relation.root ? size_at(*relation.root) : env_.replace(*relation.phantom);
    if (env_.decide(symbolic::eq(size_at(relation.place), relation.dim.apply(root)))) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is said to be {}, which is {} where {} is {}, but it is {} in the example",
                            source(relation.place), relation.dim.name(), *env_.hint(relation.dim.apply(root)),
                            relation.dim.root_name(), *env_.hint(root),
                            leaves_[relation.place.leaf].sizes[relation.place.dim]),
                "Export with an example in which this holds, or say something else of the dimension");
  }
}

std::string InputShapes::text_of(const Expr& expr) const {
  return guard_text(expr, [this](const Expr& symbol) {
    const auto found = std::ranges::find(sources_, symbol, [](const auto& entry) { return entry.first; });
    if (found != sources_.end()) return found->second[0];
    const SymbolInfo& info = env_.info(symbol);
    return info.sources.empty() ? std::string(symbol.name()) : info.sources[0];
  });
}

void InputShapes::check_sizes(DimSolver& solver) {
  struct Tracked {
    std::string source;
    Expr expr;
  };
  std::vector<Tracked> tracked;
  const auto sources_of = [&](const Expr& symbol) -> std::vector<std::string>& {
    auto found = std::ranges::find(sources_, symbol, [](const auto& entry) { return entry.first; });
    if (found == sources_.end()) found = sources_.insert(sources_.end(), {symbol, {}});
    return found->second;
  };
  for (const Expr& phantom : phantoms_) sources_of(phantom).push_back(env_.info(phantom).sources[0]);
  const auto track = [&](const std::string& from, const symbolic::SymInt& value, const Dim& dim) {
    const Expr expr = env_.replace(value.expr());
    tracked.push_back({from, expr});
    const bool is_strict = dim.kind() == DimKind::kNamed || dim.kind() == DimKind::kDerived;
    if (expr.is_symbol()) {
      sources_of(expr).push_back(from);
      if (is_strict) said_[std::string(expr.name())].push_back(dim.range());
      return;
    }
    if (!expr.is_integer()) return;
    const bool is_unspecified = dim.kind() == DimKind::kDynamic && !expr.is(0) && !expr.is(1);
    if (!is_strict && !is_unspecified) return;
    std::string line;
    if (!value.is_literal() && value.expr().is_symbol()) line = env_.info(value.expr()).replacement_where;
    findings_.push_back({.kind = ShapeFinding::Kind::kSpecialized,
                         .name = name_of(from),
                         .source = from,
                         .detail = symbolic::to_string(expr),
                         .where = line});
  };
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const InputLeaf& leaf = leaves_[i];
    if (leaf.kind == InputLeaf::Kind::kInteger)
      track(leaf.source, symbols_[i].value, specs_[i].dims().empty() ? Dim() : specs_[i].dims()[0].second);
    if (leaf.kind != InputLeaf::Kind::kTensor) continue;
    for (size_t d = 0; d < leaf.sizes.size(); ++d) {
      const auto said = dims_.find({i, d});
      track(source({i, d}), symbols_[i].sizes[d], said == dims_.end() ? Dim() : said->second);
    }
    for (size_t d = 0; d < leaf.sizes.size(); ++d)
      track(fmt::format("{}.stride()[{}]", leaf.source, d), symbols_[i].strides[d], Dim());
    track(leaf.source + ".storage_offset()", symbols_[i].offset, Dim());
  }
  for (const Tracked& size : tracked) {
    if (size.expr.is_symbol() && sources_of(size.expr)[0] == size.source) continue;
    if (!is_dim(size.source)) continue;
    solver.add_equality(size.source, size.expr);
    const std::vector<Expr> symbols = free_symbols(size.expr);
    if (symbols.size() != 1 || !said_.contains(std::string(symbols[0].name()))) continue;
    const std::string root = sources_of(symbols[0])[0];
    ShapeFinding finding{.kind = ShapeFinding::Kind::kEqual,
                         .name = name_of(size.source),
                         .source = size.source,
                         .detail = name_of(root),
                         .other_source = root};
    // The line that tied them: one of the two was replaced there.
    for (const auto& info : env_.symbols())
      if (!info->replacement_where.empty() && !info->sources.empty() &&
          (info->sources[0] == size.source || info->sources[0] == root))
        finding.where = info->replacement_where;
    if (size.expr.is_symbol()) {
      if (is_said_equal(size.source, root)) continue;
    } else {
      if (definition(size.source) == substitute(size.expr, {{symbols[0], definition(root)}})) continue;
      finding.kind = ShapeFinding::Kind::kRelated;
      const Expr name = symbolic::parse(name_of(root) == root ? "root" : name_of(root),
                                        [](std::string_view part) { return symbolic::symbol(part, {}); });
      finding.detail = symbolic::to_string(substitute(size.expr, {{symbols[0], name}}));
    }
    findings_.push_back(std::move(finding));
  }
}

void InputShapes::check_guards(DimSolver& solver) {
  std::vector<Expr> issued;
  const size_t count = env_.guards().size();
  for (size_t i = 0; i < count; ++i) {
    const ShapeGuard guard = env_.guards()[i];
    if (env_.known_from_ranges(guard.condition) || env_.is_proved(guard.condition)) continue;
    const Expr condition = env_.simplify(guard.condition);
    if (std::ranges::find(issued, condition) != issued.end()) continue;
    issued.push_back(condition);
    const std::vector<Expr> symbols = free_symbols(condition);
    const auto entry_of = [&](const Expr& symbol) {
      return std::ranges::find(sources_, symbol, [](const auto& entry) { return entry.first; });
    };
    const bool has_dim = std::ranges::any_of(symbols, [&](const Expr& symbol) {
      const auto found = entry_of(symbol);
      return found != sources_.end() && std::ranges::any_of(found->second, is_dim);
    });
    if (has_dim && solver.add(condition)) continue;
    if (symbols.size() != 1) continue;
    const auto said = said_.find(std::string(symbols[0].name()));
    if (said == said_.end()) continue;
    const std::string root = entry_of(symbols[0])->second[0];
    findings_.push_back({.kind = ShapeFinding::Kind::kGuard,
                         .name = name_of(root),
                         .source = root,
                         .detail = text_of(condition),
                         .where = guard.where});
  }
}

// Assertions about sizes alone are no findings, but may leave a dimension one size only.
void InputShapes::check_assertions(DimSolver& solver) {
  for (const Assertion& assertion : env_.assertions())
    if (assertion.symbol.empty() && !env_.known_from_ranges(assertion.condition))
      solver.add(env_.simplify(assertion.condition));
}

void InputShapes::check_ranges(DimSolver& solver) {
  for (const auto& [symbol, from] : sources_) {
    const SymbolInfo& info = env_.info(symbol);
    const ValueRange& range = info.range;
    if (std::ranges::any_of(from, is_dim)) {
      if (range.lower().is_integer())
        solver.add(symbolic::make_node(symbolic::Kind::kGe, {symbol, Expr(range.lower())}));
      if (range.upper().is_integer())
        solver.add(symbolic::make_node(symbolic::Kind::kLe, {symbol, Expr(range.upper())}));
    }
    const auto said = said_.find(std::string(symbol.name()));
    if (said == said_.end()) continue;
    std::vector<ValueRange> seen;
    for (const ValueRange& given : said->second) {
      if (std::ranges::find(seen, given) != seen.end()) continue;
      seen.push_back(given);
      // Sizes 0 and 1 are never told apart.
      const ValueRange sizes = {Number(2), Number::int_infinity()};
      if (overlaps(given, sizes) && range.contains(given.intersect(sizes))) continue;
      std::string condition;
      const bool is_low = compare(given.lower(), range.lower()) < 0 && compare(range.lower(), Number(2)) > 0;
      const bool has_upper = range.upper().is_integer();
      if (!range.lower().is(2) || !has_upper)
        condition = fmt::format("{} <= {}", to_text(range.lower()), from[0]);
      if (has_upper)
        condition +=
            fmt::format("{}{} <= {}", condition.empty() ? "" : " and ", from[0], to_text(range.upper()));
      findings_.push_back({.kind = ShapeFinding::Kind::kGuard,
                           .name = name_of(from[0]),
                           .source = from[0],
                           .detail = condition,
                           .where = is_low ? info.lower_where : info.upper_where});
    }
  }
}

bool InputShapes::passes_with(const std::vector<SuggestedFix>& fixes,
                              const std::map<std::string, Dim>& dims) const {
  std::vector<ShapeSpec> specs = specs_;
  try {
    for (ShapeSpec& spec : specs) {
      if (spec.kind() != ShapeSpec::Kind::kDims && spec.kind() != ShapeSpec::Kind::kShape) continue;
      std::map<int64_t, Dim> fixed;
      for (const auto& [index, dim] : spec.dims()) fixed.emplace(index, apply_fixes(dim, fixes, dims));
      spec = ShapeSpec(std::move(fixed));
    }
    ShapeEnv env;
    env.set_prefers_assertions(env_.prefers_assertions());
    env.set_like_pytorch(env_.is_like_pytorch());
    InputShapes again(env, leaves_, std::move(specs));
    std::map<std::string, Expr> values;
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const InputSymbols& symbols = again.symbols()[i];
      values.emplace(leaves_[i].source, symbols.value.expr());
      values.emplace(leaves_[i].source + ".storage_offset()", symbols.offset.expr());
      for (size_t d = 0; d < symbols.sizes.size(); ++d) {
        values.emplace(source({i, d}), symbols.sizes[d].expr());
        values.emplace(fmt::format("{}.stride()[{}]", leaves_[i].source, d), symbols.strides[d].expr());
      }
    }
    for (size_t i = 0; i < traced_; ++i) {
      const Expr& condition = env_.learned()[i];
      symbolic::Replacements replacements;
      for (const Expr& symbol : free_symbols(condition))
        replacements.emplace(symbol, values.at(env_.info(symbol).sources[0]));
      if (!env.decide(substitute(condition, replacements))) return false;
    }
    again.finish();
    return true;
  } catch (const Error&) {
    return false;
  }
}

ShapeConstraints InputShapes::finish() {
  traced_ = env_.learned().size();
  env_.end_trace();
  require_equalities();
  env_.settle();
  findings_.clear();
  sources_.clear();
  said_.clear();
  DimSolver solver(env_);
  check_sizes(solver);
  check_guards(solver);
  check_assertions(solver);
  check_ranges(solver);
  solver.solve();
  std::map<std::string, std::string> source_of_symbol;
  for (const auto& [symbol, from] : sources_) source_of_symbol.emplace(symbol.name(), from[0]);
  for (const auto& [symbol, value] : solver.values()) {
    if (!said_.contains(std::string(symbol.name()))) continue;
    const std::string root = source_of_symbol.at(std::string(symbol.name()));
    findings_.push_back({.kind = ShapeFinding::Kind::kForced,
                         .name = name_of(root),
                         .source = root,
                         .detail = std::to_string(value)});
  }
  if (findings_.empty()) return make_constraints();
  std::vector<ShapeFinding> distinct;
  for (ShapeFinding& finding : findings_)
    if (std::ranges::find(distinct, finding.to_string(), &ShapeFinding::to_string) == distinct.end())
      distinct.push_back(std::move(finding));
  findings_ = std::move(distinct);

  std::map<std::string, Dim> dims;
  for (const auto& [place, dim] : dims_) {
    if (dim.kind() != DimKind::kNamed && dim.kind() != DimKind::kDerived) continue;
    dims.insert_or_assign(dim.name(), dim);
    dims.insert_or_assign(dim.root_name(), dim.root());
  }
  if (!is_replay_) {
    fixes_ = suggested_fixes(solver, names_, dims, source_of_symbol);
    // Fixes that do not mend everything would only lead to the next error.
    if (!fixes_.empty() && !passes_with(fixes_, dims)) fixes_.clear();
  }
  std::string message = "the trace does not accept all sizes that the dynamic shapes allow:";
  bool has_hint = false;
  for (const ShapeFinding& finding : findings_) {
    message += "\n  - " + finding.to_string();
    has_hint = has_hint || finding.name == finding.source;
  }
  std::string remedy;
  for (const SuggestedFix& fix : fixes_) remedy += "\n  " + fix.to_string();
  if (!remedy.empty()) {
    remedy = "Suggested fixes:" + remedy;
  } else {
    remedy = has_hint
                 ? "Use Dim::AUTO, which lets the trace choose, or Dim::STATIC"
                 : "Use Dim::AUTO, which lets the trace choose, or change the model so that it does not ask";
  }
  throw Error(ErrorCode::kInvalidArgument, std::move(message), std::move(remedy));
}

}  // namespace flambeau::trace
