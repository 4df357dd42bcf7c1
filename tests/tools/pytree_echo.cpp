// Reads tree specs, one a line, and prints for each a JSON object: its text as Flambeau prints it, its number
// of leaves, how it looks, and the paths of its leaves; or "error" and why not.
#include <iostream>
#include <string>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/value/pytree.h"

namespace {

using namespace flambeau;  // NOLINT: a test program

json::Value describe(const std::string& line) {
  json::Value result;
  try {
    const TreeSpec spec = parse_treespec(line);
    const std::vector<std::string> paths = leaf_paths(spec);
    result.set("text", dump_treespec(spec));
    result.set("leaves", static_cast<uint64_t>(spec.num_leaves()));
    result.set("nodes", static_cast<uint64_t>(spec.num_nodes()));
    result.set("shown", spec.to_string());
    result.set("paths", json::Array(paths.begin(), paths.end()));
  } catch (const Error& error) {
    result.set("error", error.what());
  }
  return result;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << json::dump(describe(line)) << '\n';
  return 0;
}
