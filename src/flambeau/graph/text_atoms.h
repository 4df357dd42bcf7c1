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

// "tensor" for as_tensor; "json" for kinds that are not known.
std::string_view kind_word(ArgumentKind kind);
// False when there is no such kind.
bool kind_from_word(std::string_view word, ArgumentKind& kind);

// How an argument referring to such a value alone would be read.
ArgumentKind kind_for_value(ValueKind kind);
// " : sym_int" and the like: what a reader could not know from the atom alone; empty when that is enough.
std::string kind_note(const Argument& argument);

}  // namespace flambeau::graph
