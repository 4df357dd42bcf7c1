// What a pickle says, as inert data: nothing in it is ever called or resolved.
//
// A Tree owns its nodes in an arena, so sharing, cycles and any depth cost nothing to own or destroy.
// Whoever walks a tree must expect cycles and any depth: keep an explicit stack or count levels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/pickle/arena.h"
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
// "dict", "call", as messages say it.
std::string_view kind_name(Kind kind);
// "a dict", "an int".
std::string a_kind(Kind kind);

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
    Node* callee = nullptr;        // usually a kGlobal
    Node* args = nullptr;          // usually a kTuple
    Node* kwargs = nullptr;        // kNewObjectEx only
    Node* state = nullptr;         // what BUILD gave; null when none
    Node* state_setter = nullptr;  // called with object and state instead of BUILD; null when BUILD was used
    std::span<Node* const> items;  // appended to the object
    std::span<const Pair> pairs;   // set on the object
  };

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }

  // Each throws Error(kCorrupt, "expected X, found Y") when the node is of another kind.
  bool as_bool() const { return need(Kind::kBool).first_.integer != 0; }
  int64_t as_int() const { return need(Kind::kInt).first_.integer; }
  ByteSpan as_big_int() const;  // two's complement, little-endian, as LONG1 stores it; over 8 bytes
  double as_float() const { return need(Kind::kFloat).first_.real; }
  std::string_view as_string() const { return need(Kind::kString).text(); }  // UTF-8, surrogates possible
  ByteSpan as_bytes() const;                                                 // kBytes and kByteArray
  const GlobalName& as_global() const;
  Call as_call() const;
  Node* persistent_id() const { return need(Kind::kPersistent).second_.node; }
  // kList, kTuple, kSet, kFrozenSet.
  std::span<Node* const> items() const;
  // kDict, in order of insertion. A key set twice stands twice; the later one counts.
  std::span<const Pair> pairs() const;

  // Null when this is no dict or has no such string key.
  const Node* find(std::string_view key) const;
  // Whether this is the global with that dotted name.
  bool is_global(std::string_view dotted) const;

  // Whether the file kept the node in its memo. PyTorch's C++ pickler does so for what has a second owner
  // in the running program, which the pickle alone cannot tell.
  bool memoized() const { return memoized_; }
  // Whether a call has this node (a global) as its callee.
  bool called() const { return called_; }
  // The strings that STACK_GLOBAL took; null when the name was given otherwise. CPython shares them.
  const Node* module_node() const;
  const Node* name_node() const;

 private:
  friend class Tree;
  friend class Reader;

  template <typename T>
  struct Array {
    T* data = nullptr;
    uint32_t size = 0;
    uint32_t capacity = 0;
  };
  struct Global {
    GlobalName name;
    const Node* module_node;
    const Node* name_node;
  };
  // Most calls are given nothing after they were made.
  struct CallExtra {
    Node* kwargs = nullptr;
    Node* state = nullptr;
    Node* state_setter = nullptr;
    Array<Node*> items;
    Array<Pair> pairs;
  };
  struct CallParts {
    Node* callee;
    Node* args;
    CallExtra* extra;
  };

  const Node& need(Kind kind) const {
    if (kind_ != kind) fail(kind_name(kind));
    return *this;
  }
  [[noreturn]] void fail(std::string_view expected) const;
  std::string_view text() const { return {second_.text, first_.size}; }

  Kind kind_;
  CallKind how_;
  bool memoized_;
  bool called_;
  uint32_t capacity_;  // of items or pairs
  union {
    int64_t integer;
    double real;
    uint64_t size;
  } first_;
  union {
    const char* text;
    Node** items;
    Pair* pairs;
    Global* global;
    CallParts* call;
    Node* node;
  } second_;
};

class Tree {
 public:
  Tree() = default;
  Tree(Tree&&) noexcept = default;
  Tree& operator=(Tree&&) noexcept = default;

  Node* root() const { return root_; }
  void set_root(Node* root) { root_ = root; }
  size_t node_count() const { return node_count_; }
  uint8_t protocol() const { return protocol_; }
  // The highest place of the memo that was used. Python makes room for as many, whatever lies below.
  uint64_t highest_memo_index() const { return highest_memo_index_; }
  uint64_t memory_bytes() const { return arena_.used(); }
  // Every global that was made, also one that nothing refers to any more: unpickling imports those too.
  std::span<Node* const> globals() const { return globals_; }
  // Every call that was made, also one whose result nothing refers to: unpickling makes those too.
  std::span<Node* const> calls() const { return calls_; }
  // Every reference to an object kept outside of the pickle, in the order of appearance.
  std::span<Node* const> persistents() const { return persistents_; }

  // Texts and bytes are copied into the tree.
  Node* none() { return make(Kind::kNone); }
  Node* boolean(bool value);
  Node* integer(int64_t value);
  // A kInt when it fits.
  Node* big_integer(ByteSpan twos_complement) { return make_integer(twos_complement, true); }
  Node* real(double value);
  Node* string(std::string_view text) { return make_text(Kind::kString, keep(text)); }
  Node* bytes(ByteSpan data) { return make_text(Kind::kBytes, keep(as_text(data))); }
  Node* byte_array(ByteSpan data) { return make_text(Kind::kByteArray, keep(as_text(data))); }
  Node* list(std::span<Node* const> items = {}) { return make_items(Kind::kList, items); }
  Node* tuple(std::span<Node* const> items = {}) { return make_items(Kind::kTuple, items); }
  Node* dict(std::span<const Pair> pairs = {});
  Node* set(std::span<Node* const> items = {}) { return make_items(Kind::kSet, items); }
  Node* frozen_set(std::span<Node* const> items = {}) { return make_items(Kind::kFrozenSet, items); }
  Node* list(std::initializer_list<Node*> items) { return list(std::span(items.begin(), items.size())); }
  Node* tuple(std::initializer_list<Node*> items) { return tuple(std::span(items.begin(), items.size())); }
  Node* set(std::initializer_list<Node*> items) { return set(std::span(items.begin(), items.size())); }
  Node* frozen_set(std::initializer_list<Node*> items) {
    return frozen_set(std::span(items.begin(), items.size()));
  }
  Node* dict(std::initializer_list<Pair> pairs) { return dict(std::span(pairs.begin(), pairs.size())); }
  Node* global(std::string_view module, std::string_view name);
  Node* call(Node* callee, Node* args, CallKind how = CallKind::kReduce);
  Node* call_with_keywords(Node* callee, Node* args, Node* kwargs);  // kNewObjectEx
  Node* persistent(Node* id);

  // Editing, for whoever builds a tree. Each throws Error(kInvalidArgument) for a node of another kind.
  void append(Node* sequence_or_call, Node* item);
  void set_item(Node* dict_or_call, Node* key, Node* value);
  void set_state(Node* call, Node* state, Node* state_setter = nullptr);
  // write_torch then gives the node a place in the memo even when it occurs once.
  static void set_memoized(Node* node) { node->memoized_ = true; }

 private:
  friend class Reader;
  Node* make(Kind kind) {
    ++node_count_;
    Node* node = arena_.allocate<Node>(1);
    *node = Node{};
    node->kind_ = kind;
    return node;
  }
  Node* make_text(Kind kind, std::string_view kept);
  Node* make_integer(ByteSpan twos_complement, bool copy);
  Node* make_items(Kind kind, std::span<Node* const> items);
  Node* make_global(Node::GlobalName kept, const Node* module_node, const Node* name_node);
  std::string_view keep(std::string_view text);
  Node::CallExtra& extra(Node* call);
  void extend_items(Node* sequence_or_call, std::span<Node* const> items);
  void extend_pairs(Node* dict_or_call, std::span<const Pair> pairs);

  Arena arena_;
  std::vector<Node*> globals_;
  std::vector<Node*> calls_;
  std::vector<Node*> persistents_;
  std::shared_ptr<const void> keep_alive_;  // the bytes that views point into
  size_t node_count_ = 0;
  Node* root_ = nullptr;
  uint64_t highest_memo_index_ = 0;
  uint8_t protocol_ = 2;
};

}  // namespace flambeau::pickle
