// Any bytes: the reader gives a tree or an Error; a tree can be walked, listed, written and read again.
#include <cstdint>
#include <cstdlib>
#include <unordered_set>
#include <vector>

#include "flambeau/archive/pickle/globals.h"
#include "flambeau/archive/pickle/reader.h"
#include "flambeau/archive/pickle/writer.h"
#include "flambeau/base/error.h"

namespace {

using namespace flambeau;
using pickle::Kind;
using pickle::Node;

// Touches everything that can be reached; gives the number of nodes.
size_t walk(const Node* root) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> left;
  const auto visit = [&](const Node* node) {
    if (node != nullptr && seen.insert(node).second) left.push_back(node);
  };
  visit(root);
  uint64_t sum = 0;
  while (!left.empty()) {
    const Node* node = left.back();
    left.pop_back();
    switch (node->kind()) {
      case Kind::kString:
        for (const char byte : node->as_string()) sum += static_cast<unsigned char>(byte);
        break;
      case Kind::kBytes:
      case Kind::kByteArray:
        for (const uint8_t byte : node->as_bytes()) sum += byte;
        break;
      case Kind::kBigInt:
        for (const uint8_t byte : node->as_big_int()) sum += byte;
        break;
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kSet:
      case Kind::kFrozenSet:
        for (const Node* item : node->items()) visit(item);
        break;
      case Kind::kDict:
        for (const pickle::Pair& pair : node->pairs()) {
          visit(pair.key);
          visit(pair.value);
        }
        break;
      case Kind::kGlobal:
        sum += node->as_global().dotted().size();
        break;
      case Kind::kCall: {
        const Node::Call call = node->as_call();
        for (const Node* part : {call.callee, call.args, call.kwargs, call.state, call.state_setter})
          visit(part);
        for (const Node* item : call.items) visit(item);
        for (const pickle::Pair& pair : call.pairs) {
          visit(pair.key);
          visit(pair.value);
        }
        break;
      }
      case Kind::kPersistent:
        visit(node->persistent_id());
        break;
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        break;
    }
  }
  volatile uint64_t used = sum;
  (void)used;
  return seen.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pickle::Parsed parsed{};
  try {
    parsed = pickle::parse({data, size}, nullptr);
  } catch (const Error&) {
    return 0;
  }
  if (walk(parsed.tree.root()) > parsed.tree.node_count()) std::abort();
  pickle::list_globals(parsed.tree);
  for (const int protocol : {2, 4}) {
    try {
      const std::string text = pickle::write_python(*parsed.tree.root(), protocol);
      // What a writer wrote, the reader reads. In protocol 4 nothing changes the second time; in protocol 2
      // a set that leads back to itself is made from a new list on each way.
      const pickle::Parsed again = pickle::parse(as_bytes(text), nullptr);
      if (again.consumed != text.size()) std::abort();
      const std::string second = pickle::write_python(*again.tree.root(), protocol);
      if (protocol == 4 && second != text) std::abort();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument && error.code() != ErrorCode::kLimit) std::abort();
    }
  }
  try {
    const std::string text = pickle::write_torch(*parsed.tree.root());
    const pickle::Parsed again = pickle::parse(as_bytes(text), nullptr);
    if (pickle::write_torch(*again.tree.root()) != text) std::abort();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument && error.code() != ErrorCode::kLimit) std::abort();
  }
  return 0;
}
