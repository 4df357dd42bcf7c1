// Everything at once. The headers it names are the table of contents; each begins with an example.
//
//   #include <flambeau/flambeau.h>
#pragma once

#include "flambeau/aot.h"
#include "flambeau/check.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "flambeau/json.h"
#include "flambeau/made_inputs.h"
#include "flambeau/nn.h"
#include "flambeau/operators.h"
#include "flambeau/passes.h"
#include "flambeau/program.h"
#include "flambeau/report.h"
#include "flambeau/runtime.h"
#include "flambeau/script.h"
#include "flambeau/script_build.h"
#include "flambeau/script_package.h"
#include "flambeau/tensor.h"
#include "flambeau/work.h"
