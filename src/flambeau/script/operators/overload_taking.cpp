#include "flambeau/script/operators/overload_taking.h"

#include <optional>

#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/variables.h"

namespace flambeau::script {
namespace {

bool takes(const Unit& unit, const Signature& signature, std::span<ir::Value* const> inputs) {
  const size_t count = signature.arguments.size();
  if (inputs.size() < count || (inputs.size() > count && !signature.is_vararg)) return false;
  TypeBindings bindings;
  for (size_t i = 0; i < count; ++i) {
    const Type& formal = signature.arguments[i].type;
    const Type& actual = inputs[i]->type();
    if (!has_type_variables(formal)) {
      if (!is_subtype(&unit, actual, formal)) return false;
      continue;
    }
    if (!bind_type_variables(&unit, formal, actual, bindings).empty()) return false;
    const std::optional<Type> resolved = resolve_type_variables(formal, bindings);
    if (!is_subtype(&unit, actual, resolved.value_or(formal))) return false;
  }
  return true;
}

}  // namespace

const Overload* overload_taking(const Unit& unit, std::string_view name, std::span<ir::Value* const> inputs) {
  for (const Overload& overload : unit.operator_table().overloads(name))
    if (takes(unit, overload.signature, inputs)) return &overload;
  return nullptr;
}

}  // namespace flambeau::script
