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

// A number that data decides, as a tensor of no dimensions that nobody else writes to.
Tensor element_of(const Tensor& tensor, DType dtype);
// With the example's numbers in the places of sizes.
void call_specialized(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);

void number_to_tensor(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void tensor_to_int(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void tensor_to_bool(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void tensor_to_float(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
// x.item(), x.select(), torch.equal(x, y), torch.allclose(x, y)
void element(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void select_part(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void is_nonzero(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void are_equal(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void are_close(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
// What looks at elements: they must be known.
void look(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);

}  // namespace flambeau::migration
