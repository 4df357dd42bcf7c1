#include "flambeau/script/operators/conversions.h"

#include <algorithm>
#include <iterator>

namespace flambeau::script {
namespace {

constexpr Conversion kConversions[] = {
    {TypeKind::kTensor, TypeKind::kFloat, "aten::FloatImplicit", TypeKind::kFloat},
    {TypeKind::kTensor, TypeKind::kComplex, "aten::ComplexImplicit", TypeKind::kComplex},
    {TypeKind::kTensor, TypeKind::kInt, "aten::IntImplicit", TypeKind::kInt},
    {TypeKind::kTensor, TypeKind::kNumber, "aten::ScalarImplicit", TypeKind::kNumber},
    {TypeKind::kNumber, TypeKind::kFloat, "aten::Float", TypeKind::kFloat},
    {TypeKind::kNumber, TypeKind::kComplex, "aten::Complex", TypeKind::kComplex},
    {TypeKind::kNumber, TypeKind::kInt, "aten::Int", TypeKind::kInt},
    {TypeKind::kBool, TypeKind::kFloat, "aten::Float", TypeKind::kFloat},
    {TypeKind::kBool, TypeKind::kInt, "aten::Int", TypeKind::kInt},
    {TypeKind::kBool, TypeKind::kNumber, "aten::Int", TypeKind::kInt},
    {TypeKind::kString, TypeKind::kDevice, "aten::device", TypeKind::kDevice},
};

}  // namespace

const Conversion* find_conversion(const Type& from, const Type& wanted) {
  const auto* const found = std::ranges::find_if(kConversions, [&](const Conversion& conversion) {
    return from.is(conversion.from) && wanted.is(conversion.wanted);
  });
  return found == std::end(kConversions) ? nullptr : found;
}

}  // namespace flambeau::script
