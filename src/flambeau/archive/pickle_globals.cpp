#include "flambeau/archive/pickle_globals.h"

#include <functional>
#include <unordered_map>

namespace flambeau::pickle {
namespace {

struct HashName {
  size_t operator()(const Node::GlobalName& global) const {
    return std::hash<std::string_view>()(global.module) * 31 + std::hash<std::string_view>()(global.name);
  }
};

}  // namespace

std::vector<GlobalUse> list_globals(const Tree& tree) {
  std::vector<GlobalUse> uses;
  std::unordered_map<Node::GlobalName, size_t, HashName> seen;
  for (const Node* global : tree.globals()) {
    const Node::GlobalName& name = global->as_global();
    const auto [place, is_new] = seen.try_emplace(name, uses.size());
    if (is_new) uses.push_back({name, false});
    uses[place->second].called |= global->called();
  }
  return uses;
}

}  // namespace flambeau::pickle
