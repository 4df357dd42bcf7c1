// An expression: an immutable handle to a shared node in sympy's canonical form. Built only by the functions
// of build.h and parse.h, so that equal expressions have equal structure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/symbolic/facts/facts.h"
#include "flambeau/symbolic/number.h"

namespace flambeau::symbolic {

enum class Kind : uint8_t {
  kNumber,  // number() says which
  kTrue,
  kFalse,
  kSymbol,
  kAdd,
  kMul,
  kPow,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kNot,
  kIte,  // a condition chosen by a condition
  kMax,
  kMin,
  kPiecewise,  // its arguments are kPair
  kPair,       // value, condition
  kFloorDiv,
  kCleanDiv,
  kMod,
  kPythonMod,
  kModularIndexing,
  kWhere,
  kCeilToInt,
  kFloorToInt,
  kTruncToInt,
  kTruncToFloat,
  kIntTrueDiv,
  kFloatTrueDiv,
  kFloatPow,
  kPowByNatural,
  kToFloat,
  kRoundToInt,
  kRoundDecimal,
  kIdentity,
  kCeiling,
  kFloor,
  kAbs,
  kOpaqueUnary,  // OpaqueUnaryFn_sqrt and its family; name() has the whole name
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kIsNonOverlappingAndDense,
  kFunction,   // a class this engine does not know, kept verbatim: name(args)
  kUndefined,  // sympy's Function('name')(args)
};

// Deeper or larger expressions are refused with Error(kLimit).
inline constexpr uint32_t kMaxDepth = 640;
inline constexpr uint32_t kMaxNodes = 1 << 17;

struct Node;

class Expr {
 public:
  Expr();  // the integer 0
  Expr(int64_t value);
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}
  Expr(const Number& number);
  Expr(bool) = delete;  // boolean(true) is not the number 1

  Kind kind() const;
  std::span<const Expr> args() const;
  const Expr& arg(size_t index) const { return args()[index]; }
  // The name of a symbol or of a function; sympy's class name for all other kinds.
  std::string_view name() const;
  // As written at the symbol; empty for other kinds.
  const Assumptions& assumptions() const;
  // What is known of the value.
  const Facts& facts() const;
  // The value of a kNumber; 0 for other kinds.
  const Number& number() const;

  bool is_number() const { return kind() == Kind::kNumber; }
  bool is_integer() const { return is_number() && number().is_integer(); }
  bool is_symbol() const { return kind() == Kind::kSymbol; }
  bool is_relation() const { return kind() >= Kind::kEq && kind() <= Kind::kGe; }
  // True, false, a relation, And, Or, Not or ITE.
  bool is_boolean() const;
  // The value of an integer literal; throws Error(kInvalidArgument) for anything else.
  int64_t integer() const;
  // Does the expression hold no symbol and no undefined function?
  bool is_constant() const;
  bool is(int64_t value) const { return is_number() && number().is(value); }

  bool operator==(const Expr& other) const;
  uint64_t hash() const;

  const Node& node() const { return *node_; }

 private:
  friend struct NodeMaker;
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  std::shared_ptr<const Node> node_;
};

struct ExprHash {
  size_t operator()(const Expr& expr) const { return static_cast<size_t>(expr.hash()); }
};

// The symbols in an expression, each once, in order of first appearance.
std::vector<Expr> free_symbols(const Expr& expr);

}  // namespace flambeau::symbolic
