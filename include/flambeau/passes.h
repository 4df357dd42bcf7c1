// Changes of programs that leave what they compute as it is.
#pragma once

#include "flambeau/passes/passes.h"
