// A graph as PyTorch holds it after loading, where every line of the printed text gives one thing: an input,
// a subgraph, a call, or one item of what a call gave. Calls with several results have a line for themselves
// and one for each result.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/graph/program.h"

namespace flambeau::graph {

// What Node::outputs() says about how results follow in the text.
enum class OutputForm : uint8_t {
  kOne,      // one value, which the call's own line gives
  kNothing,  // no outputs
  kNone,     // one output, which is None
  kList,     // one output, a list: a line for each item
  kMany,     // a line for each output
};
OutputForm output_form(const Node& node);

// The values of a list of outputs, which get lines of their own; null when the argument is no such list.
const std::vector<ValueRef>* value_list(const Argument& argument);

struct TextLine {
  enum class Kind : uint8_t { kInput, kSubgraph, kCall, kItem };
  static constexpr uint32_t kNoLine = std::numeric_limits<uint32_t>::max();

  Kind kind = Kind::kCall;
  std::string name;
  std::string input_name;              // of inputs that are constants: the name they are called by
  const Value* value = nullptr;        // what it gives, unless that is a tuple, a list or a constant
  const Node* node = nullptr;          // of calls, their items and the subgraphs they take
  const Argument* argument = nullptr;  // of inputs and items
  uint32_t base = kNoLine;             // of items: the line they are taken from
  size_t index = 0;
  std::vector<uint32_t> uses;  // each line once
  bool is_used = false;
};

class TextLines {
 public:
  // In plain naming the names are those of PyTorch's loader; otherwise values keep the names they have and
  // the other lines get names that no value has. `signature` names inputs that are constants; may be null.
  TextLines(const Graph& graph, const GraphSignature* signature, bool plain_names);

  const std::vector<TextLine>& lines() const { return lines_; }
  const TextLine& operator[](uint32_t line) const { return lines_[line]; }
  // The line that gives it; kNoLine when none does.
  uint32_t line_of(const Value& value) const;
  uint32_t line_of(const GraphArgument& graph) const;
  size_t input_count() const { return input_count_; }

 private:
  friend class LineMaker;
  std::vector<TextLine> lines_;
  std::unordered_map<const void*, uint32_t> by_thing_;
  size_t input_count_ = 0;
};

}  // namespace flambeau::graph
