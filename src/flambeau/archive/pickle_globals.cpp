#include "flambeau/archive/pickle_globals.h"

#include <map>
#include <utility>

namespace flambeau::pickle {

std::vector<GlobalUse> list_globals(const Tree& tree) {
  std::vector<GlobalUse> uses;
  std::map<std::pair<std::string_view, std::string_view>, size_t> seen;
  for (const Node* global : tree.globals()) {
    const Node::GlobalName& name = global->as_global();
    const auto [place, is_new] = seen.try_emplace({name.module, name.name}, uses.size());
    if (is_new) uses.push_back({name, false});
    uses[place->second].called |= global->called();
  }
  return uses;
}

}  // namespace flambeau::pickle
