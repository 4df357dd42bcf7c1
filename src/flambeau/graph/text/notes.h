// What the lossless form adds to the lines of a graph.
#pragma once

#include <string>
#include <vector>

#include "flambeau/graph/text/atoms.h"
#include "flambeau/graph/text/graph.h"

namespace flambeau::graph {

// "  #| a; b" at the end of a line.
class Notes {
 public:
  void add(std::string note) {
    if (!note.empty()) notes_.push_back(std::move(note));
  }
  bool empty() const { return notes_.empty(); }
  std::string joined() const;
  // With the two spaces before it; empty when there are none.
  std::string text() const { return empty() ? "" : "  #| " + joined(); }

 private:
  std::vector<std::string> notes_;
};

// The strides that a tensor of these sizes has when nothing is said: contiguous as far as the sizes are
// numbers; fewer than there are sizes when they are not (the last ones).
std::vector<int64_t> usual_strides(const std::vector<SymInt>& sizes);

// "Sym(s0)", "f32[2, s0]", or nothing.
std::string type_text(TextContext& context, const Value& value);
// What the type leaves out.
void add_value_notes(TextContext& context, const Value& value, Notes& notes);
// What a call's line leaves out, except its value. `line_name` is the name it goes by.
void add_call_notes(TextContext& context, const Node& node, std::string_view line_name, Notes& notes);
// "stack_trace = @1; torch_fn = 'add'"; empty when there is no metadata.
std::string metadata_note(TextContext& context, const Node& node);
// "extra '{...}'"; empty when there are none.
std::string extras_note(std::string_view word, const Extras& extras);
// Whether the text passes it by name.
bool is_passed_by_name(const TextContext& context, const Node& node, const NamedArgument& input);
// "as (_, sym_int)" when one of them needs it.
std::string kinds_note(const std::vector<Argument>& arguments);

std::string sym_text(TextContext& context, const SymInt& number);

}  // namespace flambeau::graph
