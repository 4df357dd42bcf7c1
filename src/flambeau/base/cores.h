// How much of the machine this process may use.
#pragma once

#include <string_view>

namespace flambeau {

// How many threads can work at once, at least 1: the processors that the process may run on, and no more than
// the time that its control group has been given.
int usable_cores();

// Of what a control group's "cpu.max" says, such as "200000 100000": 2, rounded up; 0 for no bound.
int cores_of_quota(std::string_view text);

}  // namespace flambeau
