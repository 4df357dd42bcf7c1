// How graphs name the nodes that are no operators.
#include <array>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script::ir {

std::string_view node_kind_name(NodeKind kind) {
  static constexpr std::array<std::string_view, 38> kNames = {
      "",
      "prim::Constant",
      "prim::If",
      "prim::Loop",
      "prim::TupleConstruct",
      "prim::TupleUnpack",
      "prim::TupleIndex",
      "prim::TupleSlice",
      "prim::ListConstruct",
      "prim::ListUnpack",
      "prim::DictConstruct",
      "prim::GetAttr",
      "prim::SetAttr",
      "prim::CallMethod",
      "prim::CallFunction",
      "prim::CreateObject",
      "prim::isinstance",
      "prim::unchecked_cast",
      "prim::Uninitialized",
      "prim::fork",
      "prim::awaitable",
      "prim::Enter",
      "prim::Exit",
      "prim::RaiseException",
      "prim::Print",
      "prim::tolist",
      "prim::Store",
      "prim::Load",
      "prim::ReturnStmt",
      "prim::BreakStmt",
      "prim::ContinueStmt",
      "prim::LoopContinuation",
      "prim::Closure",
      "prim::ComprehensionScope",
      "prim::EmptyListLiteral",
      "prim::With",
      "prim::Param",
      "prim::Return",
  };
  static_assert(kNames.size() == static_cast<size_t>(NodeKind::kReturn) + 1);
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace flambeau::script::ir
