// The body of one function as Python: a second printer of graphs, with Python's rules.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/operators/python/rules.h"
#include "flambeau/script/printer/inlining.h"
#include "flambeau/script/python/file.h"
#include "flambeau/script/python/variables.h"

namespace flambeau::script {

struct PythonExpression {
  std::string text;
  PythonLevel level = kLevelAtom;
};

class PythonBody {
 public:
  explicit PythonBody(PythonFile& file);
  ~PythonBody();

  // "def forward(self, x: Tensor) -> Tensor:" and what follows, indented so many levels.
  std::string write(const Function& function, std::string_view name, size_t level);

 private:
  using Expression = PythonExpression;

  // body.cpp
  void prepare(ir::Graph& graph);
  void find_ranges(ir::Graph& graph);
  bool is_transparent(const ir::Node& node, int depth = 0) const;
  void write_block(const ir::Block& block);
  void line(std::string_view statement);
  bool return_last(const std::string& name);
  void flush();
  // The text that stands for a value, in brackets where it is bound less tightly than `level`.
  std::string use(const ir::Value* value, PythonLevel level = kLevelConditional);
  Expression take(const ir::Value* value);
  std::string uses(std::span<ir::Value* const> values);
  std::string name_for(const ir::Value* value, const ir::Node& node);
  void assign(const ir::Value* value, const std::string& name);
  const IValue* constant(const ir::Value* value) const;
  std::string builtin(std::string_view word) const;

  // statements.cpp
  void write_node(const ir::Node& node);
  void write_expression(const ir::Node& node, Expression expression);
  void write_results(const ir::Node& node, const std::string& expression);
  void write_if(const ir::Node& node);
  bool write_choice(const ir::Node& node, const Expression& condition, const std::string (&branches)[2],
                    const std::optional<Expression> (&results)[2]);
  void write_loop(const ir::Node& node);
  std::string range_arguments(const ir::Node& length);
  void write_closure(const ir::Node& node, std::string_view word);
  void write_raise(const ir::Node& node);
  bool is_parameter(const ir::Node& store) const;
  void write_assignments(std::span<const std::string> names, std::span<ir::Value* const> values);
  std::string with_body(const std::function<void()>& write);

  // expressions.cpp
  Expression expression(const ir::Node& node);
  Expression method_call(const ir::Node& node);
  Expression attribute(const ir::Node& node);
  Expression is_instance(const ir::Node& node);
  std::string arguments(std::span<ir::Value* const> values, const Signature* signature, size_t first);

  // calls.cpp
  std::optional<Expression> operation(const ir::Node& node);  // nothing where it was a statement
  Expression call(const ir::Node& node, const PythonRule& rule);
  Expression infix(const ir::Node& node, const PythonRule& rule);
  std::string operand(const ir::Node& node, size_t index);
  std::string operands(const ir::Node& node, size_t first, bool is_ops);
  bool is_object_of(const ir::Value* value, PythonForm form) const;
  bool is_type_comparison(const ir::Node& node, PythonForm form) const;
  bool gives_list(const ir::Node& node) const;
  std::string element_dtype(const ir::Node& node) const;

  // subscripts.cpp
  Expression subscript(const ir::Node& node);
  std::string index_text(const ir::Value* list);
  std::string range_text(const ir::Value* begin, const ir::Value* end, const ir::Value* step);

  PythonFile& file_;
  PythonVariables variables_;
  size_t level_ = 0;
  int depth_ = 0;
  std::string text_;
  std::shared_ptr<ir::Graph> graph_;
  std::vector<std::shared_ptr<ir::Graph>> inner_graphs_;
  Inlining inlining_;
  std::unordered_set<const ir::Value*> selves_;  // the method's object, also as closures know it
  std::unordered_map<const ir::Value*, std::string> names_;
  std::unordered_map<const ir::Value*, Expression> expressions_;
  std::vector<const ir::Value*> pending_;  // inlined, and not used yet
  // What a value would best be called, as the end of its block gives it that name, and what has it so far.
  struct Wanted {
    std::string name;
    const ir::Value* holder = nullptr;
  };
  std::unordered_map<const ir::Value*, Wanted> wanted_;
  std::unordered_set<const ir::Value*> deferred_;  // objects that their __init__ makes
  // Slices that are not over: what was sliced, and what stands in the brackets.
  struct Subscripts {
    std::string base;
    std::vector<std::string> items;
    std::vector<bool> is_index;
    std::vector<bool> is_whole;
    void add_whole() {
      items.emplace_back(":");
      is_index.push_back(false);
      is_whole.push_back(true);
    }
  };
  std::unordered_map<const ir::Value*, Subscripts> subscripts_;
  std::unordered_set<const ir::Node*> folded_;                    // written as a part of a loop's head
  std::unordered_map<const ir::Node*, const ir::Value*> ranges_;  // loops and what they count
};

}  // namespace flambeau::script
