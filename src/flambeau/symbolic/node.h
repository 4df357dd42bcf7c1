// The inside of an expression, for the files of this room: nodes are made as given, with no canonicalization.
#pragma once

#include <string>
#include <vector>

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

struct Node {
  Kind kind = Kind::kNumber;
  bool constant = true;  // no symbol and no undefined function inside
  uint32_t depth = 1;
  uint32_t size = 1;    // nodes of the tree
  uint32_t weight = 2;  // twice sympy's node count, in which a float is half a node
  uint64_t hash = 0;
  Facts facts;
  Number number;
  std::string name;
  Assumptions assumptions;
  std::vector<Expr> args;
  // The order in which sympy prints the terms of an Add or the factors of a Mul (its number aside). Kept here
  // because finding it at every print would take exponential time in nested sums.
  std::vector<uint32_t> print_order;
};

// What sympy's tables say of a kind.
struct KindInfo {
  std::string_view name;       // class name, as srepr prints it
  int class_rank = 5;          // class_key()[0], for sort keys
  int class_order = 0;         // class_key()[1]
  int precedence = 70;         // StrPrinter
  int argument_count = -1;     // -1: any number
};
const KindInfo& kind_info(Kind kind);

struct NodeMaker {
  static Expr make(Node node);
};

// A node of these arguments, in this order, without evaluation; facts and print order are computed.
Expr make_node(Kind kind, std::vector<Expr> args, std::string_view name = {});

// facts of a node whose arguments have theirs (deduce_*.cpp).
Facts deduce_facts(const Node& node);

}  // namespace flambeau::symbolic
