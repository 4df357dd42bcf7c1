// What PyTorch gave beside what we give: values as torch.testing.assert_close compares them, and in addition
// types, strides and the order of dicts.
#pragma once

#include <string>

#include "flambeau/script/values/ivalue.h"

namespace flambeau::torchscript_calls {

// Empty where they are the same, else the kind of difference, and behind a colon what differs. `expected` is
// as Python saw it: a named tuple is a dict with its name, an enumerator too.
std::string difference(const script::IValue& ours, const script::IValue& expected);

}  // namespace flambeau::torchscript_calls
