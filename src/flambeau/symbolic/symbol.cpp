// Symbols and the assumptions PyTorch gives them by their names.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {

Expr symbol(std::string_view name, const Assumptions& assumptions) {
  Node node;
  node.kind = Kind::kSymbol;
  node.name = std::string(name);
  for (const auto& [fact, value] : assumptions) {
    if (node.facts.is_known(fact) && node.facts.is(fact) != value)
      throw Error(ErrorCode::kInvalidArgument, fmt::format("symbol '{}' is said to be {} and not to be",
                                                           printable(name), fact_name(fact)));
    node.facts.learn(fact, value);
  }
  node.facts.learn(Fact::kCommutative, true);
  node.assumptions = assumptions;
  if (!node.facts.deduce())
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the assumptions about symbol '{}' contradict each other", printable(name)));
  return NodeMaker::make(std::move(node));
}

Expr symbol(std::string_view name) {
  // A size, stride or offset named by its source, as guards do.
  if (name.find('[') != std::string_view::npos)
    return symbol(name, {{Fact::kInteger, true}, {Fact::kNonnegative, true}});
  // z: a float, u: unbacked, s: the size of an input.
  if (name.starts_with("zf") || name.starts_with("zuf")) return symbol(name, {{Fact::kReal, true}});
  if (name.starts_with("s")) return symbol(name, {{Fact::kPositive, true}, {Fact::kInteger, true}});
  return symbol(name, {{Fact::kInteger, true}});
}

}  // namespace flambeau::symbolic
