// Operators that code does not show as a plain call: int(x), x[i], annotate(T, x).
#pragma once

#include <cstdint>
#include <string_view>

#include "flambeau/value/schema.h"

namespace flambeau::script {

enum class PrintForm : uint8_t {
  kCall,            // torch.add(x, y), ops.prim.device(x)
  kWord,            // int(x): all inputs behind the word
  kAnnotate,        // annotate(T, x)
  kIndex,           // x[i]
  kUnwrapOptional,  // a call, of annotate(Optional[T], None) where the input is None
  kCast,            // unchecked_cast(T, x)
  kEnumValue,       // (e).value
  kEnumName,        // (e).name
  kContainerIndex,  // y : T = x[i], always a statement of its own
};

struct PrintRule {
  PrintForm form = PrintForm::kCall;
  // What stands before the bracket; empty where the name of the operator does.
  std::string_view word;
  // Devices that are written out are "cpu", not torch.device("cpu").
  bool has_short_devices = false;
};
PrintRule print_rule(const OperatorName& name);
// "torch.add", "ops.quantized.linear".
std::string printed_operator(const OperatorName& name);

}  // namespace flambeau::script
