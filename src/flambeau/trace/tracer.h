// Writes down what a model does: stands at the entry of every operator, answers with traced tensors instead
// of computing, and adds a node to the graph for each call, as PyTorch's tracer does for its training form.
// In-place operators stay; nothing is decomposed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flambeau/graph/graph.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/symbolic/listener.h"
#include "flambeau/trace/describe.h"

namespace flambeau::trace {

class ShapeEnv;

class Tracer : public ops::Interceptor {
 public:
  Tracer(graph::Graph& graph, ShapeEnv& env);
  ~Tracer() override;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override;

  // A tensor that the graph gets from outside: from now on its storage stands for that value.
  graph::Value& add_input(const std::string& name, const Tensor& tensor);
  graph::Value& add_number_input(const std::string& name, const symbolic::Expr& expr);
  // Sizes that are symbols alone, met for the first time, can be read from the tensor with that value.
  void bind_symbols(const Tensor& tensor, graph::Value& value);
  // What a tensor that nobody knows becomes: called once for each, it gives the input that holds it.
  std::function<graph::Value&(const Tensor& tensor)> lift;
  // Of a graph inside another one: makes a symbol known that nothing here has; gives false where it cannot.
  std::function<bool(const symbolic::Expr& symbol)> lift_symbol;
  // The strides of views as in PyTorch's first trace of a model (merged_strides.h).
  bool merges_strides = false;
  // The metadata of the nodes that are added now.
  std::function<graph::StringMap()> metadata;

  // A value of the model as an argument of a node or an output of the graph. Numbers made of symbols become
  // nodes that compute them.
  graph::Argument argument(const Value& value);
  // The value that holds the tensor now; null when the tracer does not know it.
  graph::Value* find(const Tensor& tensor) const;
  // The same, lifted if need be.
  graph::Value& value_of(const Tensor& tensor);
  // A tensor that has this symbol as one of its sizes.
  std::optional<Tensor> tensor_with(const symbolic::Expr& symbol) const;
  // The input that the tensor is a view of, or is; null when it is memory of its own. Of graphs inside alone.
  const graph::Value* aliased_input(const Tensor& tensor) const;

  // The model compared sizes: in Python that is a node, which is dropped again but keeps its name.
  void take_name(const symbolic::Expr& condition);
  // A comparison of sizes as an argument.
  graph::Argument condition_argument(const symbolic::Expr& condition);
  // A node of a higher-order operator, which gives these tensors one by one.
  void add_higher_order(std::string_view name, std::vector<graph::Argument> inputs,
                        std::span<const Tensor> results);
  // Of the next graph inside this one: "true_graph_0", then "true_graph_1".
  std::string graph_name(const std::string& base);
  // A node of no operator that gives the tensor: of a graph that nobody keeps.
  void add_result(const Tensor& tensor);
  // A tensor of one element that holds a number from data; nothing where it is not known here.
  std::optional<Tensor> number_tensor(const symbolic::Expr& symbol);
  // In a graph inside: the number is read from that tensor, which comes from outside.
  void read_number(const Tensor& tensor, const symbolic::Expr& symbol);
  // The tracer of a graph inside this one: finished when this one is.
  void keep_inner(std::unique_ptr<Tracer> inner) { inner_.push_back(std::move(inner)); }

  // The model asked for a size of the tensor, or for the number of its elements.
  void note_size(const Tensor& tensor, std::optional<size_t> dim);
  // How an expression came about, so that it is computed in the same steps.
  void note(symbolic::Arithmetic how, const symbolic::Expr& a, const symbolic::Expr& b,
            const symbolic::Expr& result);

  // A traced tensor that somebody else still holds, besides those in `held`; null when there is none.
  const graph::Value* find_held(std::span<const Value> held) const;
  // The tensor is that value from now on.
  void hold(const Tensor& tensor, graph::Value& value);
  // How many elements of a tensor are not zero.
  using Counts = std::unordered_map<const Storage*, std::pair<std::shared_ptr<Storage>, symbolic::SymInt>>;

  // Writes the tensor to an input, at the end of the graph.
  void add_copy(graph::Value& input, const Tensor& tensor);

  // Describes every value as it is known now, at the end, and drops the reading of sizes that nobody needs.
  void finish();

 private:
  // Is the graph inside another one?
  bool is_inner() const { return static_cast<bool>(lift_symbol); }

  struct Slot {
    graph::Value* value = nullptr;
    std::shared_ptr<Storage> storage;  // keeps the address from being used again
  };
  // Of an expression: computed of two others, or read from a tensor.
  struct Origin {
    symbolic::Arithmetic how;
    symbolic::Expr a;
    symbolic::Expr b;
    graph::Value* tensor = nullptr;
    std::optional<size_t> dim = {};
  };

  // Sets a flag while it lives.
  class Within {
   public:
    explicit Within(bool& flag) : flag_(flag), before_(flag) { flag_ = true; }
    ~Within() { flag_ = before_; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

   private:
    bool& flag_;
    bool before_;
  };

  std::vector<Value> fake_results(ops::Context& context, const ops::Operator& op,
                                  std::span<const Value> arguments);
  // What data decides: symbols of its own. Nothing where the operator is another one.
  std::optional<std::vector<Value>> results_from_data(const ops::Operator& op,
                                                      std::span<const Value> arguments);
  // At the end of the graph, or before the node at which assertions are put in.
  graph::Node& new_node(std::string_view target, std::string_view name);
  std::string fresh_name(std::string_view base);
  graph::Value& size_value(graph::Value& tensor, std::optional<size_t> dim, const symbolic::Expr& expr);
  // In a graph inside another one: which tensors share memory with an input. Throws where one is written.
  void note_aliases(const ops::Operator& op, std::span<const Value> arguments,
                    std::span<const Value> results);
  void add_assertions();
  void add_assertion(const symbolic::Expr& condition);
  graph::Node& last_number_of(const symbolic::Expr& condition, graph::Node& first) const;
  graph::Value& condition_value(const symbolic::Expr& condition);
  graph::SymBool describe_condition(const symbolic::Expr& condition) const;
  graph::SymInt describe_number(const symbolic::Expr& expr);
  void add_node(const ops::Operator& op, std::span<const Value> arguments, std::vector<Value>& results);
  // PyTorch traces operators over sequences as loops: the number of steps is the example's there.
  void fix_sequence_lengths(const ops::Operator& op, std::span<const Value> arguments);
  void join_equal_numbers();
  graph::Value& add_tensor_value(const std::string& name, const Tensor& tensor);
  graph::Argument tensor_argument(const Tensor& tensor);
  graph::Value& symbol_value(const symbolic::Expr& expr);
  graph::Value& computed_value(std::string_view function, const symbolic::Expr& a, const symbolic::Expr& b,
                               const symbolic::Expr& result);
  graph::SymArgument<int64_t> number_reference(const symbolic::SymInt& number);

  graph::Graph& graph_;
  ShapeEnv& env_;
  Describer describer_;
  std::unordered_map<const Storage*, Slot> slots_;
  std::vector<std::pair<graph::Value*, Tensor>> tensors_;
  std::vector<std::pair<graph::Value*, symbolic::Expr>> numbers_;
  std::unordered_map<symbolic::Expr, graph::Value*, symbolic::ExprHash> symbols_;
  std::unordered_map<symbolic::Expr, Origin, symbolic::ExprHash> origins_;
  std::unordered_map<symbolic::Expr, Tensor, symbolic::ExprHash> number_tensors_;
  std::unordered_set<std::string> names_;                // of nodes
  std::unordered_map<std::string, size_t> next_;         // the number to try next
  std::unordered_map<std::string, size_t> graph_names_;  // how many there are
  graph::Node* before_ = nullptr;
  std::unordered_map<const graph::Value*, const graph::Value*> aliases_;
  Counts counts_;
  std::vector<std::unique_ptr<Tracer>> inner_;
  bool is_inside_ = false;  // a rule is at work: its arithmetic is not the model's
};

}  // namespace flambeau::trace
