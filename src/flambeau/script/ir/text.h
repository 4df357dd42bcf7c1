// The text form of a graph, much as PyTorch prints one, and back:
//
//   graph(%x.1 : Tensor, %c : bool):
//     %0 : int = prim::Constant[value=1]()
//     %y : Tensor = prim::If(%c)
//       block0():
//         %1 : Tensor = aten::add.Tensor(%x.1, %x.1, %0)
//         -> (%1)
//       block1():
//         -> (%x.1)
//     return (%y)
//
// Tests of passes are written in it. Values without a name have numbers, in the order they are made. Tensors,
// objects and enumerators as constants are printed, but cannot be read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "flambeau/script/ir/graph.h"

namespace flambeau {
class SchemaTable;
}

namespace flambeau::script::ir {

std::string to_text(const Graph& graph);
// One line: what the node is, without blocks inside of it.
std::string to_text(const Node& node);
// A constant as it stands in the text: "1", "0.5", "\"a\"", "[1, 2]".
std::string to_text(const IValue& value);

constexpr size_t kMostGraphTextBytes = size_t{64} << 20;

// White space between words has no meaning. Throws Error(kCorrupt) located at the byte, Error(kNotFound) for
// operators that the table does not have, and Error(kLimit) for a text too long or too deep.
std::shared_ptr<Graph> parse_graph(std::string_view text, const SchemaTable& operators);

}  // namespace flambeau::script::ir
