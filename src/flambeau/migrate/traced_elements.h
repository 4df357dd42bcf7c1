// Builtins between numbers and the elements of tensors, while a script is traced.
#pragma once

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/migrate/traced_calls.h"

namespace flambeau::migration {

using BuiltinRule = void (*)(TracedCalls& calls, const interpreter::Builtin& builtin,
                             interpreter::Call& call);

// Is it a number made of sizes?
bool is_size(const IValue& value);
SymInt number_of(const IValue& value);
IValue value_of(const SymInt& number);
IValue& argument(interpreter::Call& call, size_t i);

void number_to_tensor(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void tensor_to_int(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void tensor_to_bool(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void tensor_to_float(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
// x.item(), x.select(), x.tolist()
void element(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void select_part(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void to_list(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
// What looks at elements: they must be known.
void look(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);

}  // namespace flambeau::migration
