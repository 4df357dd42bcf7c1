// Piecewise: conditions in normal form, pieces that cannot be reached dropped, equal neighbours joined.
#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/relation.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {
namespace {

using Piece = std::pair<Expr, Expr>;
// Neighbours with one value are joined one after the other.
constexpr size_t kMaxPieces = 512;

using Conditions = std::unordered_set<Expr, ExprHash>;

// Every relation inside a condition in its normal form, also those within the numbers it compares.
Expr normalize(const Expr& expr) {
  if (expr.args().empty()) return expr;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : expr.args()) {
    args.push_back(normalize(arg));
    changed = changed || !(args.back() == arg);
  }
  const Expr result = changed ? rebuild(expr, std::move(args)) : expr;
  return result.is_relation() ? canonical_coefficient(result) : result;
}

Expr weakened(const Expr& relation) {
  return make_node(relation.kind() == Kind::kLt ? Kind::kLe : Kind::kGe, {relation.arg(0), relation.arg(1)});
}

// What remains of a condition when all earlier ones are known to have failed.
Expr without_known(const Expr& condition, const Conditions& earlier) {
  const auto is_implied = [&](const Expr& part) {
    if (!part.is_relation()) return false;
    const Expr opposite = canonical(negated(part));
    return earlier.contains(opposite);
  };
  if (condition.is_relation()) return is_implied(condition) ? boolean(true) : condition;
  if (condition.kind() != Kind::kAnd) return condition;
  std::vector<Expr> kept;
  for (const Expr& part : condition.args()) {
    if (is_implied(part)) continue;
    if ((part.kind() == Kind::kLt || part.kind() == Kind::kGt) && earlier.contains(weakened(part)))
      return boolean(false);
    kept.push_back(part);
  }
  return and_(std::move(kept));
}

// A piece that is a Piecewise with the same condition inside is that inner piece.
Expr unnest(const Expr& value, const Expr& condition, const Conditions& earlier) {
  if (value.kind() != Kind::kPiecewise) return value;
  std::vector<Piece> before;
  for (const Expr& pair : value.args()) {
    if (earlier.contains(pair.arg(1))) continue;
    if (pair.arg(1) == condition) {
      if (condition.kind() == Kind::kTrue) break;
      if (before.empty()) return pair.arg(0);
      before.emplace_back(pair.arg(0), pair.arg(1));
      return piecewise(std::move(before));
    }
    before.emplace_back(pair.arg(0), pair.arg(1));
  }
  return value;
}

std::vector<Piece> collapse(const std::vector<Piece>& pieces) {
  std::vector<Piece> result;
  Conditions earlier;
  for (const auto& [original, raw_condition] : pieces) {
    Expr condition = normalize(raw_condition);
    const Expr value = unnest(original, condition, earlier);
    bool repeated = earlier.contains(condition);
    if (condition.kind() == Kind::kAnd)
      for (const Expr& part : condition.args()) repeated = repeated || earlier.contains(part);
    if (repeated) continue;
    condition = without_known(condition, earlier);
    earlier.insert(condition);
    if (!result.empty()) {
      if (result.back().first == value) {
        result.back().second = or_({condition, result.back().second});
        continue;
      }
      if (result.back().second == condition) continue;
    }
    result.emplace_back(value, condition);
  }
  return result;
}

std::vector<Piece> reachable(const std::vector<Piece>& pieces) {
  std::vector<Piece> result;
  for (const Piece& piece : pieces) {
    if (piece.second.kind() == Kind::kFalse) continue;
    result.push_back(piece);
    if (piece.second.kind() == Kind::kTrue) break;
  }
  return result;
}

}  // namespace

Expr piecewise(std::vector<std::pair<Expr, Expr>> pieces) {
  if (pieces.size() > kMaxPieces)
    throw Error(ErrorCode::kLimit, fmt::format("a Piecewise has more than {} pieces", kMaxPieces));
  for (Piece& piece : pieces) {
    if (piece.second.is(0)) piece.second = boolean(false);
    if (piece.second.is(1)) piece.second = boolean(true);
    if (!piece.second.is_boolean() && !piece.second.is_symbol())
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("a Piecewise condition is a number ({}), not a condition", piece.second.name()));
  }
  // Every round drops a piece or changes a condition towards its normal form; sympy settles as fast.
  for (int round = 0; round < 8; ++round) {
    pieces = reachable(pieces);
    if (pieces.empty()) return Expr(Number::of_kind(NumberKind::kNaN));
    if (pieces.size() == 1 && pieces[0].second.kind() == Kind::kTrue) return pieces[0].first;
    std::vector<Piece> collapsed = collapse(pieces);
    if (collapsed == pieces) break;
    pieces = std::move(collapsed);
  }
  std::vector<Expr> pairs;
  for (const auto& [value, condition] : pieces) pairs.push_back(make_node(Kind::kPair, {value, condition}));
  return make_node(Kind::kPiecewise, std::move(pairs));
}

}  // namespace flambeau::symbolic
