// Arguments as the text writes them, and what a reader takes them for when nothing else is said.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "flambeau/graph/argument.h"
#include "flambeau/graph/graph.h"

namespace flambeau::graph {

// How an argument's values and graphs are called in the text.
struct AtomNames {
  std::function<std::string(const Value&)> value;
  std::function<std::string(const GraphArgument&)> graph;
  bool lossless = false;
};

void append_atom(std::string& to, const Argument& argument, const AtomNames& names);
// "device(type='cuda', index=0)".
std::string device_atom(const DeviceSpec& device);

// A value's name in the lossless form: as it is, or %'...' where it could be taken for something else.
std::string name_token(std::string_view name);
// A target that can stand as it is: "torch.ops.aten.add.Tensor".
bool is_dotted_name(std::string_view text);

// What "torch.float32" and the like are, by the word behind the point; kOperator for everything else.
ArgumentKind kind_for_torch_word(std::string_view word);

// "tensor" for as_tensor; "json" for kinds that are not known.
std::string_view kind_word(ArgumentKind kind);
// False when there is no such kind.
bool kind_from_word(std::string_view word, ArgumentKind& kind);

// What a list holds, as far as its text shows it.
struct ListShape {
  bool has_none = false;
  bool has_name = false;
  bool has_integer = false;
  bool has_real = false;
  bool has_bool = false;
  bool has_string = false;
  bool has_tuple = false;
  bool has_other = false;
  ValueKind first_name = ValueKind::kUnknown;
  void add_name(ValueKind kind) {
    if (!has_name) first_name = kind;
    has_name = true;
  }
};
// What such a list is read as; kUnknown when that cannot be told.
ArgumentKind kind_for_list(const ListShape& shape);

// How an argument referring to such a value alone would be read.
ArgumentKind kind_for_value(ValueKind kind);
// " : sym_int" and the like: what a reader could not know from the atom alone; empty when that is enough.
std::string kind_note(const Argument& argument);

}  // namespace flambeau::graph
