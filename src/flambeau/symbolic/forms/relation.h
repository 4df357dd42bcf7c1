// What is known of a comparison, and sympy's normal forms of relations.
#pragma once

#include "flambeau/symbolic/expr.h"

namespace flambeau::symbolic {

Fuzzy is_equal(const Expr& a, const Expr& b);
Fuzzy is_less(const Expr& a, const Expr& b);
Fuzzy is_greater_or_equal(const Expr& a, const Expr& b);

// The kind of a relation with its sides exchanged.
Kind mirrored(Kind kind);
Expr build_relation(Kind kind, const Expr& a, const Expr& b);
// The relation with its sides exchanged: a < b is b > a.
Expr reversed(const Expr& relation);
// The opposite: a < b is a >= b.
Expr negated(const Expr& relation);
// Relational.canonical: numbers on the right, sides in order, no leading minus.
Expr canonical(const Expr& relation);
// As canonical(), and the left side has no constant and no coefficient: 2*x + 1 < 5 is x < 2.
Expr canonical_coefficient(const Expr& relation);

}  // namespace flambeau::symbolic
