// Changes of programs that leave what they compute as it is.
//
//   const ops::Library library;  // flambeau/operators.h
//   passes::simplify(package.model().program, library);
#pragma once

#include "flambeau/passes/passes.h"
