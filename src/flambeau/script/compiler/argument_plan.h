// How a given argument becomes what a signature wants: found out by types alone, so that candidates which do
// not fit leave nothing in the graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/compiler/matching.h"
#include "flambeau/script/types/variables.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/type.h"

namespace flambeau::script {

struct ArgumentPlan {
  enum class Action : uint8_t {
    kGiven,      // value or constant as it is
    kRepeat,     // part 0, `count` times, as a list
    kList,       // the parts as a list
    kEmptyList,  // a literal that has found its type
    kUnpackToList,
    kUnpackToTuple,  // part 0 is the tuple, the others say what becomes of its elements, which are kElement
    kElement,        // of the tuple that is being unpacked: the one at `count`
    kConvert,        // part 0 through the operator `name`
  };

  Action action = Action::kGiven;
  Type type = TypeKind::kTensor;     // of what it gives
  ir::Value* value = nullptr;        // null for a constant
  const IValue* constant = nullptr;  // of the call or of the signature, which live longer
  bool is_empty_literal = false;
  int64_t count = 0;
  std::string_view name = {};
  std::vector<ArgumentPlan> parts = {};

  ArgumentPlan with_name(std::string_view given) && {
    name = given;
    return std::move(*this);
  }
};

ArgumentPlan plan_given(const GivenArgument& given);
ArgumentPlan plan_constant(const IValue& constant);

// What convert_implicitly does, by types.
ArgumentPlan plan_conversion(const Unit& unit, const Type& wanted, ArgumentPlan plan, bool allow_conversions);

// A single number for "int[2]", type variables, conversions, and whether the result is what the argument
// wants. Nothing when it is not: `why_not`, when given, then says why.
std::optional<ArgumentPlan> plan_argument(const Unit& unit, const Argument& argument, ArgumentPlan plan,
                                          bool allow_conversions, TypeBindings& bindings,
                                          std::string* why_not);

// Puts the nodes of a plan into the graph.
ir::Value* emit_plan(CallContext& context, const ArgumentPlan& plan, const SourceRange& range);

}  // namespace flambeau::script
