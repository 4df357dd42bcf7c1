// Calls that PyTorch's tests made, as files keep them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::torchscript_calls {

using script::IValue;

// A call's parts, by name. What cannot be read is left out.
std::map<std::string, IValue> read_call(const std::string& path,
                                        const std::shared_ptr<const script::OperatorTable>& operators);
// Python's lists and dicts have no types of their own: those that PyTorch infers.
IValue typed(const IValue& value);

}  // namespace flambeau::torchscript_calls
