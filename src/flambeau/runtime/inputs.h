// What a program takes, and whether what a caller gives fits it: counts, kinds, types, sizes, and the
// program's symbols solved from the sizes, with their ranges and guards.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/runtime/guards.h"
#include "flambeau/symbolic/expr.h"
#include "flambeau/value/pytree.h"
#include "flambeau/value/value.h"

namespace flambeau::runtime {

// One input or output of a program, as its user sees it.
struct Leaf {
  std::string name;  // what the program calls it: "x", "add_3"
  std::string path;  // how a caller reaches it: "args[0]", "kwargs['mask']"
  std::string kind;  // "tensor", "int", "float", "bool", "str", "None"
  DType dtype = DType::kFloat32;
  std::vector<std::string> sizes;  // of a tensor: "4", "s77", "2*s0"
  std::string range;               // of symbols in them: "2 <= s77 <= 9"
  Value constant;                  // of an input that must have a certain value

  // "x: float32[s77, 4], 2 <= s77 <= 9".
  std::string to_string() const;
};

class InputChecker {
 public:
  explicit InputChecker(const graph::ExportedProgram& program);

  const TreeSpec& spec() const { return spec_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  // Guards, ranges and sizes that are in a form nobody here knows; they are not checked.
  const std::vector<std::string>& unknown_guards() const { return unknown_guards_; }

  // Throws Error(kInvalidArgument) that names the input, the dimension, the rule and the value.
  void check(std::span<const Value> leaves) const;

 private:
  struct Size {
    std::optional<int64_t> literal;
    std::string symbol;                  // when it is nothing but a symbol
    std::optional<symbolic::Expr> expr;  // otherwise; nothing when it is not understood
    std::string text;
    std::optional<size_t> range = {};  // of ranges_
  };
  struct Range {
    std::string symbol;  // or an expression, as sizes have it
    std::optional<int64_t> min;
    std::optional<int64_t> max;
  };
  struct Bindings;

  static Size size_of(const graph::SymInt& size);
  void describe(const graph::ExportedProgram& program);
  void read_ranges(const graph::ExportedProgram& program);
  void read_guards(const graph::ExportedProgram& program);
  void check_count(size_t given) const;
  void check_leaf(size_t index, const Value& value, Bindings& bindings) const;
  void check_tensor(size_t index, const Tensor& tensor, Bindings& bindings) const;
  void check_expressions(std::span<const Value> leaves, Bindings& bindings) const;
  void check_ranges(std::span<const Value> leaves) const;
  std::string place(size_t index) const;
  // The leaf that a guard calls so; leaves_.size() when there is none.
  size_t leaf_of(const std::string& local_name) const;

  TreeSpec spec_;
  std::vector<Leaf> leaves_;
  std::vector<std::vector<Size>> sizes_;                   // beside leaves_
  std::unordered_map<std::string, size_t> by_local_name_;  // "L['x'][0]", to leaves_
  std::vector<Range> ranges_;
  std::unordered_map<std::string, size_t> by_symbol_;  // to ranges_
  std::vector<Guard> guards_;
  std::vector<std::string> unknown_guards_;
};

// The outputs the user gets, described.
std::vector<Leaf> describe_outputs(const graph::ExportedProgram& program);

}  // namespace flambeau::runtime
