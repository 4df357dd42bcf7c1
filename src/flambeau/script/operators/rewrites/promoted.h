// Operators that bytecode has instructions of their own for, since version 8.
#pragma once

#include <optional>
#include <string_view>

#include "flambeau/script/bytecode/bytecode.h"
#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

struct PromotedOperator {
  bytecode::Opcode opcode;
  std::string_view name;  // "aten::__is__"
  std::string_view overload = {};
};

// Null for an instruction that stands for no operator.
const PromotedOperator* find_promoted(bytecode::Opcode opcode);
// By the operator's name, whatever the overload.
const PromotedOperator* find_promoted(std::string_view name);
// The overload of "aten::__getitem__" for dicts with keys of that type; empty for what is no key.
std::string_view dict_index_overload(const Type& key);
// Whether it is one of those that a dict is asked with.
bool is_dict_index(std::string_view name, std::string_view overload);
constexpr std::string_view kDictIndexOperator = "aten::__getitem__";

// The node that bytecode calls by an operator's name, where graphs have a kind of their own:
// "prim::TupleIndex".
std::optional<ir::NodeKind> node_kind_in_bytecode(std::string_view operator_name);

}  // namespace flambeau::script
