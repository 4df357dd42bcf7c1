// Builtins on lists of numbers made of sizes, or of numbers that data decides, while a script is traced.
#pragma once

#include "flambeau/migrate/traced_elements.h"

namespace flambeau::migration {

// [1, n] == [1, 2]: each number is a question of its own.
void same_lists(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void other_lists(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
// n in [1, 2]
void is_in_list(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void least_of_list(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void most_of_list(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
void sum_of_list(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
// torch.tensor([1, n])
void list_to_tensor(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);
// x.tolist()
void to_list(TracedCalls& calls, const interpreter::Builtin& builtin, interpreter::Call& call);

}  // namespace flambeau::migration
