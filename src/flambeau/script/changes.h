// Whether a call can change what objects hold: attributes, and the lists, dicts and tensors in them. Calls
// that cannot may run at the same time.
#pragma once

#include <memory>

#include "flambeau/script/unit.h"

namespace flambeau::script {

struct Changes {
  bool is_changing = false;
  // The same when no module is training: what stands behind `if self.training` does not run then.
  bool is_changing_in_eval = false;
  bool sets_training = false;  // it may set an attribute of that name
};

// Of a function and all that it may call, as far as the code shows where a value comes from: what is handed
// to a function as an argument counts as the caller's own. Compiles what it reaches; what cannot be compiled,
// and methods of interfaces, count as changing.
Changes changes_of(const Unit& unit, const std::shared_ptr<Function>& function);

}  // namespace flambeau::script
