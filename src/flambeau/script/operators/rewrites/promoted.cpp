#include "flambeau/script/operators/rewrites/promoted.h"

#include <algorithm>
#include <array>

namespace flambeau::script {
namespace {

using bytecode::Opcode;

constexpr std::array<PromotedOperator, 11> kPromoted = {{
    {Opcode::kIs, "aten::__is__"},
    {Opcode::kIsNot, "aten::__isnot__"},
    {Opcode::kNot, "aten::__not__"},
    {Opcode::kDim, "aten::dim"},
    {Opcode::kFormat, "aten::format"},
    {Opcode::kDevice, "prim::device"},
    {Opcode::kDtype, "prim::dtype"},
    {Opcode::kIsCuda, "prim::is_cuda"},
    {Opcode::kNumberToTensor, "prim::NumToTensor", "Scalar"},
    {Opcode::kWarn, "aten::warn"},
    {Opcode::kWait, "aten::wait"},
}};

constexpr std::array<ir::NodeKind, 8> kKindsInBytecode = {
    ir::NodeKind::kTupleIndex,    ir::NodeKind::kTupleUnpack, ir::NodeKind::kUncheckedCast,
    ir::NodeKind::kUninitialized, ir::NodeKind::kPrint,       ir::NodeKind::kRaiseException,
    ir::NodeKind::kToList,        ir::NodeKind::kListUnpack,
};

}  // namespace

const PromotedOperator* find_promoted(Opcode opcode) {
  const auto* const found = std::ranges::find(kPromoted, opcode, &PromotedOperator::opcode);
  return found == kPromoted.end() ? nullptr : found;
}

const PromotedOperator* find_promoted(std::string_view name) {
  const auto* const found = std::ranges::find(kPromoted, name, &PromotedOperator::name);
  return found == kPromoted.end() ? nullptr : found;
}

std::string_view dict_index_overload(const Type& key) {
  switch (key.kind()) {
    case TypeKind::kString:
      return "Dict_str";
    case TypeKind::kInt:
      return "Dict_int";
    case TypeKind::kBool:
      return "Dict_bool";
    case TypeKind::kFloat:
      return "Dict_float";
    case TypeKind::kComplex:
      return "Dict_complex";
    case TypeKind::kTensor:
      return "Dict_Tensor";
    default:
      return {};
  }
}

bool is_dict_index(std::string_view name, std::string_view overload) {
  return name == kDictIndexOperator && overload.starts_with("Dict");
}

std::optional<ir::NodeKind> node_kind_in_bytecode(std::string_view operator_name) {
  for (const ir::NodeKind kind : kKindsInBytecode) {
    if (ir::node_kind_name(kind) == operator_name) return kind;
  }
  return std::nullopt;
}

}  // namespace flambeau::script
