#include "flambeau/archive/pickle/globals.h"

#include <algorithm>
#include <tuple>

namespace flambeau::pickle {

std::vector<GlobalUse> list_globals(const Tree& tree) {
  const std::span<Node* const> globals = tree.globals();
  const auto key = [&](size_t i) {
    const Node::GlobalName& name = globals[i]->as_global();
    return std::tuple(name.module, name.name, i);
  };
  const auto same_name = [&](size_t a, size_t b) {
    return globals[a]->as_global() == globals[b]->as_global();
  };
  // Sorted, not hashed: nobody can choose names that make it slow, and it takes little beside the tree.
  std::vector<size_t> order(globals.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });

  struct First {
    size_t index;
    bool called;
  };
  std::vector<First> firsts;
  for (const size_t i : order) {
    if (firsts.empty() || !same_name(firsts.back().index, i)) firsts.push_back({i, false});
    firsts.back().called |= globals[i]->called();
  }
  std::ranges::sort(firsts, {}, &First::index);
  std::vector<GlobalUse> uses;
  uses.reserve(firsts.size());
  for (const First& first : firsts) uses.push_back({globals[first.index]->as_global(), first.called});
  return uses;
}

}  // namespace flambeau::pickle
