#include "flambeau/symbolic/expr.h"

#include <fmt/format.h>

#include <array>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/node.h"
#include "flambeau/symbolic/order.h"
#include "flambeau/symbolic/work_limit.h"

namespace flambeau::symbolic {
namespace {

// In the order of Kind. Ranks and precedences are those of sympy 1.14 and PyTorch 2.13.
constexpr std::array kInfos = {
    KindInfo{"Number", 1, 0, 1000},
    KindInfo{"BooleanTrue", 5, 0, 1000},
    KindInfo{"BooleanFalse", 5, 0, 1000},
    KindInfo{"Symbol", 2, 0, 1000},
    KindInfo{"Add", 3, 1, 40},
    KindInfo{"Mul", 3, 0, 50},
    KindInfo{"Pow", 3, 2, 60, 2},
    KindInfo{"Equality", 5, 0, 50, 2},
    KindInfo{"Unequality", 5, 0, 50, 2},
    KindInfo{"StrictLessThan", 5, 0, 35, 2},
    KindInfo{"LessThan", 5, 0, 35, 2},
    KindInfo{"StrictGreaterThan", 5, 0, 35, 2},
    KindInfo{"GreaterThan", 5, 0, 35, 2},
    KindInfo{"And", 5, 0, 30},
    KindInfo{"Or", 5, 0, 20},
    KindInfo{"Not", 5, 0, 100, 1},
    KindInfo{"ITE", 5, 0, 1000, 3},
    KindInfo{"Max", 5, 0, 1000},
    KindInfo{"Min", 5, 0, 1000},
    KindInfo{"Piecewise", 4, 0, 70},
    KindInfo{"ExprCondPair", 5, 0, 1000, 2},
    KindInfo{"FloorDiv", 4, 10000, 35, 2},
    KindInfo{"CleanDiv", 4, 10000, 35, 2},
    KindInfo{"Mod", 4, 10000, 35, 2},
    KindInfo{"PythonMod", 4, 10000, 35, 2},
    KindInfo{"ModularIndexing", 4, 10000, 35, 3},
    KindInfo{"Where", 4, 10000, 35, 3},
    KindInfo{"CeilToInt", 4, 10000, 70, 1},
    KindInfo{"FloorToInt", 4, 10000, 70, 1},
    KindInfo{"TruncToInt", 4, 10000, 70, 1},
    KindInfo{"TruncToFloat", 4, 10000, 70, 1},
    KindInfo{"IntTrueDiv", 4, 10000, 35, 2},
    KindInfo{"FloatTrueDiv", 4, 10000, 35, 2},
    KindInfo{"FloatPow", 4, 10000, 60, 2},
    KindInfo{"PowByNatural", 4, 10000, 50, 2},
    KindInfo{"ToFloat", 4, 10000, 70, 1},
    KindInfo{"RoundToInt", 4, 10000, 70, 1},
    KindInfo{"RoundDecimal", 4, 10000, 70, 2},
    KindInfo{"Identity", 4, 0, 10, 1},
    KindInfo{"ceiling", 4, 10000, 70, 1},
    KindInfo{"floor", 4, 10000, 70, 1},
    KindInfo{"Abs", 4, 10000, 70, 1},
    KindInfo{"OpaqueUnaryFn", 4, 10000, 70, 1},
    KindInfo{"BitwiseFn_bitwise_and", 4, 10000, 38, 2},
    KindInfo{"BitwiseFn_bitwise_or", 4, 10000, 36, 2},
    KindInfo{"BitwiseFn_bitwise_xor", 4, 10000, 37, 2},
    KindInfo{"IsNonOverlappingAndDenseIndicator", 4, 0, 70},
    KindInfo{"", 4, 10000, 70},
    KindInfo{"", 4, 0, 70},
};
static_assert(kInfos.size() == static_cast<size_t>(Kind::kUndefined) + 1);

uint64_t mix(uint64_t seed, uint64_t value) {
  seed = (seed ^ value) * 0xFF51AFD7ED558CCDu;
  return seed ^ (seed >> 29);
}

bool same_structure(const Node& a, const Node& b) {
  if (&a == &b) return true;
  if (a.hash != b.hash || a.kind != b.kind || a.size != b.size || a.args.size() != b.args.size())
    return false;
  if (a.name != b.name || !(a.number == b.number)) return false;
  // Symbols are equal when the same follows from their assumptions, however they are written.
  if (a.kind == Kind::kSymbol && !(a.facts == b.facts)) return false;
  for (size_t i = 0; i < a.args.size(); ++i)
    if (!(a.args[i] == b.args[i])) return false;
  return true;
}

void collect_symbols(const Expr& expr, std::vector<Expr>& found, std::unordered_set<Expr, ExprHash>& seen,
                     std::unordered_set<const Node*>& visited) {
  if (expr.is_constant() || !visited.insert(&expr.node()).second) return;
  if (expr.is_symbol()) {
    if (seen.insert(expr).second) found.push_back(expr);
    return;
  }
  for (const Expr& arg : expr.args()) collect_symbols(arg, found, seen, visited);
}

}  // namespace

const KindInfo& kind_info(Kind kind) { return kInfos[static_cast<size_t>(kind)]; }

Expr NodeMaker::make(Node node) {
  WorkLimit::spend(node.args.size());
  uint64_t hash = mix(static_cast<uint64_t>(node.kind) + 1, std::hash<std::string>()(node.name));
  if (node.kind == Kind::kNumber) {
    hash = mix(hash, node.number.hash());
    if (node.number.is_float()) node.weight = 1;
  }
  uint64_t size = 1;
  for (const Expr& arg : node.args) {
    const Node& inner = arg.node();
    hash = mix(hash, inner.hash);
    node.depth = std::max(node.depth, inner.depth + 1);
    size += inner.size;
    node.weight += inner.weight;
    node.constant = node.constant && inner.constant;
  }
  if (node.depth > kMaxDepth)
    throw Error(ErrorCode::kLimit,
                fmt::format("a symbolic expression is nested more than {} levels deep", kMaxDepth));
  if (size > kMaxNodes)
    throw Error(ErrorCode::kLimit, fmt::format("a symbolic expression has more than {} parts", kMaxNodes));
  if (node.kind == Kind::kSymbol || node.kind == Kind::kUndefined || node.kind == Kind::kFunction)
    node.constant = false;
  node.size = static_cast<uint32_t>(size);
  node.hash = hash;
  if (node.kind != Kind::kSymbol) node.facts = deduce_facts(node);
  if (node.kind == Kind::kAdd) node.print_order = order_of_terms(node.args);
  if (node.kind == Kind::kMul) node.print_order = order_of_factors(node.args);
  return Expr(std::make_shared<const Node>(std::move(node)));
}

Expr make_node(Kind kind, std::vector<Expr> args, std::string_view name) {
  Node node;
  node.kind = kind;
  node.args = std::move(args);
  node.name = std::string(name);
  return NodeMaker::make(std::move(node));
}

Expr::Expr() : Expr(int64_t{0}) {}

Expr::Expr(int64_t value) : Expr(Number(value)) {}

Expr::Expr(const Number& number) {
  // Small integers are everywhere; they are made once.
  constexpr int64_t kLeast = -8;
  constexpr int64_t kMost = 64;
  if (number.is_integer() && number.numerator() >= kLeast && number.numerator() <= kMost) {
    static const std::vector<std::shared_ptr<const Node>> small = [] {
      std::vector<std::shared_ptr<const Node>> nodes;
      for (int64_t value = kLeast; value <= kMost; ++value) {
        Node node;
        node.number = Number(value);
        nodes.push_back(NodeMaker::make(std::move(node)).node_);
      }
      return nodes;
    }();
    node_ = small[static_cast<size_t>(number.numerator() - kLeast)];
    return;
  }
  Node node;
  node.number = number;
  node_ = NodeMaker::make(std::move(node)).node_;
}

Kind Expr::kind() const { return node_->kind; }
std::span<const Expr> Expr::args() const { return node_->args; }
const Assumptions& Expr::assumptions() const { return node_->assumptions; }
const Facts& Expr::facts() const { return node_->facts; }
const Number& Expr::number() const { return node_->number; }
bool Expr::is_constant() const { return node_->constant; }
uint64_t Expr::hash() const { return node_->hash; }

std::string_view Expr::name() const {
  return node_->name.empty() ? kind_info(node_->kind).name : std::string_view(node_->name);
}

bool Expr::is_boolean() const {
  return kind() == Kind::kTrue || kind() == Kind::kFalse || (kind() >= Kind::kEq && kind() <= Kind::kIte);
}

int64_t Expr::integer() const {
  if (!is_integer())
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("expected an integer literal, found an expression of kind {}", name()));
  return number().numerator();
}

bool Expr::operator==(const Expr& other) const { return same_structure(*node_, *other.node_); }

std::vector<Expr> free_symbols(const Expr& expr) {
  std::vector<Expr> found;
  std::unordered_set<Expr, ExprHash> seen;
  std::unordered_set<const Node*> visited;
  collect_symbols(expr, found, seen, visited);
  return found;
}

}  // namespace flambeau::symbolic
