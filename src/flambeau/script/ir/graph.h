// The graph of a function: values that are assigned once, nodes that make them, blocks inside of nodes. A
// graph owns all of it; pointers into it stay as long as it lives, also those of what was taken out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/script/source.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau {
struct OperatorEntry;
}

namespace flambeau::script::ir {

class Block;
class Graph;
class Node;

enum class NodeKind : uint8_t {
  kOperator,  // Node::op says which
  kConstant,  // Node::constant; of a function, its qualified name in Node::name
  kIf,        // (condition), two blocks without inputs
  kLoop,  // (most turns, first condition, carried...), a block (turn, carried...) -> (condition, carried...)
  kTupleConstruct,
  kTupleUnpack,
  kTupleIndex,  // (tuple, index)
  kTupleSlice,  // Node::begin, Node::end
  kListConstruct,
  kListUnpack,
  kDictConstruct,  // (key, value, ...)
  kGetAttr,        // Node::name
  kSetAttr,        // (object, value), Node::name
  kCallMethod,     // (object, arguments...), Node::name
  kCallFunction,   // (function, arguments...)
  kCreateObject,
  kIsInstance,     // Node::types
  kUncheckedCast,  // to the type of its output
  kUninitialized,
  kFork,       // Node::subgraph; while compiled, (closure)
  kAwaitable,  // as kFork
  kEnter,
  kExit,
  kRaiseException,  // (message, class)
  kPrint,
  kToList,  // (tensor, dimensions, kind of elements)
  // Only while a function is compiled.
  kStore,  // (value), Node::name
  kLoad,   // Node::name
  kReturnStatement,
  kBreakStatement,
  kContinueStatement,
  kLoopContinuation,
  kClosure,  // one block; becomes kFork's or kAwaitable's subgraph
  kComprehensionScope,
  kEmptyListLiteral,
  kWith,  // two blocks: what is between kEnter and kExit, and the kExit
  // A block's beginning and end; they are not among its nodes.
  kParameters,
  kReturn,
};
// How deep blocks may stand inside of each other.
constexpr int kMostBlockDepth = 1000;
// How many nodes a graph may ever have had, those that were taken out and the ends of blocks among them.
constexpr size_t kMostNodes = size_t{1} << 20;
// "prim::If"; empty for an operator.
std::string_view node_kind_name(NodeKind kind);

struct Use {
  Node* user = nullptr;
  size_t index = 0;  // of its inputs; of a block's outputs, user is the block's return node
};

class Value {
 public:
  const Type& type() const { return type_; }
  void set_type(Type type) { type_ = std::move(type); }
  Node* node() const { return node_; }  // that makes it; a block's parameter node for its inputs
  size_t index() const { return index_; }
  std::span<const Use> uses() const { return uses_; }
  bool has_uses() const { return !uses_.empty(); }
  // The name that a person or the compiler gave: "x", "x.1"; empty for none. Unique in its graph.
  const std::string& name() const { return name_; }
  // Takes the name. Whoever has it gets another number behind it ("x" -> "x.1"), as in PyTorch. An empty one
  // leaves it without. Throws Error(kInvalidArgument) for a name that is a number.
  void set_name(std::string name);
  bool has_name() const { return !name_.empty(); }
  // "x" of "x.1".
  std::string_view base_name() const;

  // Whoever uses this one uses the other from now on.
  void replace_uses_with(Value* other);
  // Those alone that come behind `node` in the order of execution, not those inside of it.
  void replace_uses_after(Node* node, Value* other);

 private:
  friend class Node;
  friend class Graph;
  friend class Block;
  Node* node_ = nullptr;
  size_t index_ = 0;
  Type type_ = TypeKind::kTensor;
  std::string name_;
  std::vector<Use> uses_;  // in no particular order
};

// A call that was inlined: which function, and from where.
struct CallFrame {
  std::string function;     // "__torch__.M.forward"
  std::string module_path;  // "layer1.0"; empty when it is no module's
  SourceRange called_at;
  std::shared_ptr<const CallFrame> outer;  // null for the outermost
};

class Node {
 public:
  NodeKind kind() const { return kind_; }
  bool is(NodeKind kind) const { return kind_ == kind; }
  // Whether it is that operator, whatever the overload: "aten::add".
  bool is(std::string_view operator_name) const;

  Graph& graph() const { return *graph_; }
  Block* block() const { return block_; }  // that it stands in; null when it was taken out
  Node* next() const { return next_; }     // null behind the last one of its block
  Node* previous() const { return previous_; }

  std::span<Value* const> inputs() const { return inputs_; }
  Value* input(size_t index) const { return inputs_.at(index); }
  std::span<Value* const> outputs() const { return outputs_; }
  Value* output(size_t index = 0) const { return outputs_.at(index); }
  std::span<Block* const> blocks() const { return blocks_; }
  Block* block(size_t index) const { return blocks_.at(index); }

  Value* add_input(Value* value);
  void insert_input(size_t index, Value* value);
  void replace_input(size_t index, Value* value);
  void remove_input(size_t index);
  void remove_all_inputs();
  // The input that was at order[i] goes to i; of outputs likewise. `order` has each index at most once; those
  // that it does not name are removed.
  void reorder_inputs(std::span<const size_t> order);
  void reorder_outputs(std::span<const size_t> order);
  Value* add_output(Type type = TypeKind::kTensor);
  Value* insert_output(size_t index, Type type);
  void remove_output(size_t index);  // which has no uses
  Block* add_block();
  void remove_block(size_t index);
  // Sets kind-specific fields, range and frame as the other has them.
  void copy_fields(const Node& from);

  // Into a block, or to another place.
  void insert_before(Node* place);
  void insert_after(Node* place);
  void move_before(Node* place);
  void move_after(Node* place);
  // Takes it out for good; its outputs have no uses.
  void destroy();
  // In the order of execution, whichever blocks they are in: a node comes before what is inside of it, and a
  // first block before a second one. False for the same node.
  bool is_before(const Node* other) const;
  // Whether it is inside of a block of the other, however deep.
  bool is_inside(const Node* other) const;

  // What the kind needs beside inputs; the comments of NodeKind say which.
  const OperatorEntry* op = nullptr;
  IValue constant;
  std::string name;
  std::vector<Type> types;
  int64_t begin = 0;
  int64_t end = 0;
  std::shared_ptr<Graph> subgraph;
  // Of aten::warn: its number in the unit.
  int64_t warn_id = -1;

  SourceRange range;
  std::shared_ptr<const CallFrame> frame;  // null where nothing was inlined

 private:
  friend class Graph;
  friend class Block;
  friend class Value;
  NodeKind kind_ = NodeKind::kConstant;
  Graph* graph_ = nullptr;
  Block* block_ = nullptr;
  Node* next_ = nullptr;
  Node* previous_ = nullptr;
  void unlink();
  void take_position();
  void spread_positions();
  void drop_use(size_t input);
  void note_use(size_t input);

  std::vector<Value*> inputs_;
  std::vector<size_t> places_;  // of each input: where in the value's uses this one stands
  std::vector<Value*> outputs_;
  std::vector<Block*> blocks_;
  uint64_t position_ = 0;  // grows along its block
};

class Block {
 public:
  Graph& graph() const { return *graph_; }
  Node* owner() const { return owner_; }  // the node it is inside of; null for a graph's own
  std::span<Value* const> inputs() const { return parameters_->outputs(); }
  std::span<Value* const> outputs() const { return returns_->inputs(); }
  Value* input(size_t index) const { return inputs()[index]; }
  Value* output(size_t index) const { return outputs()[index]; }
  Value* add_input(Type type, const std::string& name = {});
  Value* insert_input(size_t index, Type type);
  void remove_input(size_t index);
  void add_output(Value* value);
  void insert_output(size_t index, Value* value);
  void replace_output(size_t index, Value* value);
  void remove_output(size_t index);

  bool is_empty() const { return first_ == nullptr; }
  Node* first() const { return first_; }
  Node* last() const { return last_; }
  // Stand for the beginning and the end: outputs of the one are the block's inputs, inputs of the other its
  // outputs. They are not among the nodes; inserting before the return node appends.
  Node* parameter_node() const { return parameters_; }
  Node* return_node() const { return returns_; }
  void append(Node* node);
  void prepend(Node* node);
  // How many nodes it is inside of.
  int depth() const;
  // Takes out all nodes, inputs and outputs.
  void clear();

 private:
  friend class Graph;
  friend class Node;
  Graph* graph_ = nullptr;
  Node* owner_ = nullptr;
  Node* parameters_ = nullptr;
  Node* returns_ = nullptr;
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Block& block() { return *block_; }
  const Block& block() const { return *block_; }
  std::span<Value* const> inputs() const { return block_->inputs(); }
  std::span<Value* const> outputs() const { return block_->outputs(); }

  // A node that stands nowhere yet, with so many outputs of type Tensor. Throws Error(kLimit) beyond
  // kMostNodes.
  Node* make(NodeKind kind, std::span<Value* const> inputs = {}, size_t outputs = 1);
  Node* make_operator(const OperatorEntry& op, std::span<Value* const> inputs);  // outputs as its schema has
  Node* make_constant(IValue value, Type type);

  // How many nodes were ever made, as kMostNodes counts them.
  size_t made_nodes() const { return nodes_.size(); }

  // Where insert() puts nodes: before a node, or at the end of a block.
  Node* insert(Node* node);
  void set_insert_point(Node* before);
  void set_insert_point(Block& at_end_of);
  Node* insert_point() const { return insert_point_; }  // maybe a return node

  std::shared_ptr<Graph> copy() const;
  // Copies the nodes of `from` to the insert point, with `arguments` for its inputs; gives what its outputs
  // became. `frame` is added to those of the copied nodes, outermost.
  std::vector<Value*> inline_graph(const Graph& from, std::span<Value* const> arguments,
                                   const std::shared_ptr<const CallFrame>& frame = nullptr);
  // Copies the nodes of a block to the end of another. `values` says what values of the outside and the
  // block's inputs became, and afterwards what those of the block did. Values that it does not name stay as
  // they are, which needs `from` to be of this graph.
  using ValueMap = std::unordered_map<const Value*, Value*>;
  void copy_block(const Block& from, Block& to, ValueMap& values);

  // Throws Error(kInternal) for a graph that no pass may leave behind: uses, order, arity, blocks.
  void check() const;

 private:
  friend class Node;
  friend class Block;
  friend class Value;
  Value* make_value(Node* node, Type type);
  Block* make_block(Node* owner);
  std::deque<Node> nodes_;
  std::deque<Value> values_;
  std::deque<Block> blocks_;
  Block* block_ = nullptr;
  Node* insert_point_ = nullptr;
  struct Names;
  std::unique_ptr<Names> names_;
};

}  // namespace flambeau::script::ir
