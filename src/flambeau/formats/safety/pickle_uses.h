// How a pickle uses names that only build data: even those do harm when they are called with other arguments
// than torch.save writes. A storage of a number of elements takes that much memory; encode() imports codecs.
#pragma once

#include <string>
#include <vector>

#include "flambeau/archive/pickle/tree.h"

namespace flambeau {

// What Python would do that no file of torch.save asks for, in the order of the pickle: "calls
// torch.FloatStorage with 1 argument, ...". Calls of names that are on no list are not among them: the name
// says enough.
std::vector<std::string> find_misuses(const pickle::Tree& tree, size_t most = 100);

}  // namespace flambeau
