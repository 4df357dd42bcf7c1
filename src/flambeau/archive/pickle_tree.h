// What a pickle says, as inert data: nothing in it is ever called or resolved.
//
// A Tree owns its nodes in an arena, so sharing, cycles and any depth cost nothing to own or destroy.
// Whoever walks a tree must expect cycles and any depth: keep an explicit stack or count levels.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau::pickle {

enum class Kind : uint8_t {
  kNone,
  kBool,
  kInt,
  kBigInt,
  kFloat,
  kString,
  kBytes,
  kByteArray,
  kList,
  kTuple,
  kDict,
  kSet,
  kFrozenSet,
  kGlobal,      // a name such as torch._utils._rebuild_tensor_v2
  kCall,        // what unpickling would call: callee, arguments, then items, pairs and state
  kPersistent,  // an object kept outside of the pickle
};
std::string_view kind_name(Kind kind);

// Which opcode made a call; writers must give the same one back.
enum class CallKind : uint8_t { kReduce, kNewObject, kNewObjectEx, kInst };

class Node;
struct Pair {
  Node* key;
  Node* value;
};

class Node {
 public:
  struct GlobalName {
    std::string_view module;
    std::string_view name;
    bool operator==(const GlobalName&) const = default;
    std::string dotted() const;  // "collections.OrderedDict"
  };
  struct Call {
    CallKind how = CallKind::kReduce;
    Node* callee = nullptr;    // usually a kGlobal
    Node* args = nullptr;      // usually a kTuple
    Node* kwargs = nullptr;    // kNewObjectEx only
    Node* state = nullptr;     // what BUILD gave; null when none
    std::vector<Node*> items;  // appended to the object
    std::vector<Pair> pairs;   // set on the object
  };

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }

  // Each throws Error(kCorrupt, "expected X, found Y") when the node is of another kind.
  bool as_bool() const;
  int64_t as_int() const;
  ByteSpan as_big_int() const;  // two's complement, little-endian, as LONG1 stores it
  double as_float() const;
  std::string_view as_string() const;  // UTF-8, surrogates possible
  ByteSpan as_bytes() const;           // kBytes and kByteArray
  const GlobalName& as_global() const;
  const Call& as_call() const;
  Node* persistent_id() const;
  // kList, kTuple, kSet, kFrozenSet.
  std::span<Node* const> items() const;
  // kDict, in order of insertion. A key set twice stands twice; the later one counts.
  std::span<const Pair> pairs() const;

  // Null when this is no dict or has no such string key.
  const Node* find(std::string_view key) const;
  // Whether this is the global with that dotted name.
  bool is_global(std::string_view dotted) const;

 private:
  friend class Tree;
  friend class Reader;
  Kind kind_ = Kind::kNone;
  std::variant<std::monostate, bool, int64_t, double, std::string_view, GlobalName, std::vector<Node*>,
               std::vector<Pair>, Node*, std::unique_ptr<Call>>
      data_;
};

class Tree {
 public:
  Tree() = default;
  Tree(Tree&&) noexcept = default;
  Tree& operator=(Tree&&) noexcept = default;

  Node* root() const { return root_; }
  void set_root(Node* root) { root_ = root; }
  size_t node_count() const { return nodes_.size(); }
  uint8_t protocol() const { return protocol_; }

  // Texts and bytes are copied into the tree.
  Node* none();
  Node* boolean(bool value);
  Node* integer(int64_t value);
  Node* big_integer(ByteSpan twos_complement);
  Node* real(double value);
  Node* string(std::string_view text);
  Node* bytes(ByteSpan data);
  Node* byte_array(ByteSpan data);
  Node* list(std::vector<Node*> items = {});
  Node* tuple(std::vector<Node*> items = {});
  Node* dict(std::vector<Pair> pairs = {});
  Node* set(std::vector<Node*> items = {});
  Node* frozen_set(std::vector<Node*> items = {});
  Node* global(std::string_view module, std::string_view name);
  Node* call(Node* callee, Node* args, CallKind how = CallKind::kReduce);
  Node* persistent(Node* id);

  // Editing, for whoever builds a tree.
  static void append(Node* sequence_or_call, Node* item);
  static void set_item(Node* dict_or_call, Node* key, Node* value);
  static void set_state(Node* call, Node* state);

 private:
  friend class Reader;
  Node* make(Kind kind);
  std::string_view keep(std::string_view text);

  std::deque<Node> nodes_;
  std::deque<std::string> texts_;
  std::vector<std::shared_ptr<const void>> keep_alive_;  // the bytes that views point into
  Node* root_ = nullptr;
  uint8_t protocol_ = 2;
};

}  // namespace flambeau::pickle
